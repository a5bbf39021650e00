"""What notebooks show of results and runs."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import jarmo
from jarmo import _notebook, _train

LINE: dict[str, Any] = {"step": 20, "loss": 2.5, "loss_policy": 1.5, "loss_result": 1.0, "timing": {"seconds": 3.5}}
EXAM = {"decisions": 10, "right": 9, "critical": 4, "critical_right": 3}


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter() if element.tag.endswith("text")]


def test_the_tables_of_a_tournament_are_tables() -> None:
    result = jarmo.arena(["greedy", "random"], game="connect_four", games=2)
    page = result.agents._repr_html_()
    assert page.count("<tr>") == 3 and "<th>elo</th>" in page and ">greedy<" in page
    assert "<th>superiority</th>" in result.matches._repr_html_()


def test_an_exam_is_a_table_by_phase() -> None:
    result = jarmo.exam("random", game="connect_four")
    page = result._repr_html_()
    assert [name for name in result._fields if f">{name}<" in page] == ["all", "opening", "middle", "end"]
    assert f">{result.all.critical_share:.1%}<" in page


def test_an_agent_is_a_table_of_what_it_is() -> None:
    agent = jarmo.Agent("trained:8", game="connect_four")
    page = agent._repr_html_()
    assert f">{agent.spec}<" in page and ">connect_four<" in page and "weights" in page
    assert ">none<" in jarmo.Agent("greedy")._repr_html_()


def test_an_environment_shows_its_first_games() -> None:
    page = jarmo.VecEnv("guard", 6, seed=1)._repr_html_()
    assert page.count("<svg") == 4 and "6 games of guard, of which the first 4 are shown" in page
    assert "1 game of tammi<" in jarmo.VecEnv("tammi", 1)._repr_html_()


def test_texts_are_escaped_and_shares_of_nothing_are_dashes() -> None:
    assert "<td style=\"text-align: left\">&lt;b&gt;</td>" in _notebook.table(["name"], [["<b>"]])
    assert _notebook.percent(0, 0) == "–"


def test_an_event_is_a_table_of_its_numbers() -> None:
    page = jarmo.Event(20, {**LINE, "calibration": [1, 2]})._repr_html_()
    assert "timing.seconds" in page and ">3.5<" in page and "calibration" not in page


def test_curves_have_a_panel_for_what_was_measured() -> None:
    assert _train._Curves([])._repr_svg_() is None
    curves = _train._Curves([LINE])
    picture = curves._repr_svg_()
    assert picture is not None and "step 20" in texts(picture) and "policy" in texts(picture)
    assert "Elo" not in texts(picture)
    curves.add({**LINE, "step": 40, "accuracy": EXAM, "strength": {"step": 40, "elo": 120.0}})
    picture = curves._repr_svg_()
    assert picture is not None and {"loss", "exam: critical decisions right", "Elo", "step 40"} <= set(texts(picture))


def test_a_long_run_has_no_more_points_than_can_be_seen() -> None:
    curves = _train._Curves({**LINE, "step": step} for step in range(20, 200_020, 20))
    picture = curves._repr_svg_()
    assert picture is not None and len(picture) < 20_000


def test_training_in_a_notebook_draws_its_curves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn: list[Any] = []

    class Handle:
        def update(self, picture: Any) -> None:
            drawn.append(picture)

    def display(picture: Any, *, display_id: bool) -> Handle:
        assert display_id and drawn == []
        drawn.append(picture)
        return Handle()

    ipython = types.SimpleNamespace(SVG=str, display=display)
    monkeypatch.setitem(sys.modules, "ipykernel", types.ModuleType("ipykernel"))
    monkeypatch.setitem(sys.modules, "IPython.display", ipython)
    run = jarmo.Run(
        tmp_path / "run", game="connect_four", steps=60, batch=128, first_samples=4096, threads=1,
        net={"width": 32, "blocks": 1}, selfplay={"games": 256, "simulations": 2}, evaluation={"every": 0, "exam": "none"},
    )
    assert run._repr_svg_() is None
    run.train()
    assert len(drawn) >= 2 and "step 60" in texts(drawn[-1])
    assert run._repr_svg_() == drawn[-1]
    assert "connect_four" in capsys.readouterr().out
    run.train(progress=False, steps=80)
    assert "step 60" in texts(drawn[-1])
