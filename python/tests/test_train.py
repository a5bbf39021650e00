"""Training with the built-in trainer: runs, their settings, and what stops them."""

from __future__ import annotations

import _thread
import json
import pickle
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pytest

import jarmo
from jarmo import _train

TINY: dict[str, Any] = {
    "net": {"width": 32, "blocks": 1},
    "selfplay": {"games": 256, "simulations": 2},
    "evaluation": {"every": 0, "exam": "none"},
    "batch": 128,
    "first_samples": 4096,
    "threads": 1,
}


def jarmo_train(*arguments: str | Path) -> str:
    """The command ``jarmo train``."""
    command = [sys.executable, "-m", "jarmo", "train", *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def same(first: jarmo.Agent, second: jarmo.Agent) -> bool:
    pairs = zip(first.network().items(), second.network().items(), strict=True)
    return all(one[0] == other[0] and np.array_equal(one[1], other[1]) for one, other in pairs)


def test_an_agent_is_trained_and_can_be_used_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    agent = jarmo.train("connect_four", steps=40, **TINY)
    out = capsys.readouterr().out
    assert "connect_four, mlp 32x1" in out and "stops after 40 steps" in out and "step 40: checkpoint" in out
    start = agent.game.start
    assert agent.game.name == "connect_four" and agent.choose(start)[0] in start.legal
    result = jarmo.arena([agent, "random"], game="connect_four", games=2)
    assert result.agents["games"].tolist() == [2, 2]
    assert jarmo.exam(agent, game="connect_four", nodes=1).all.decisions > 0
    found = jarmo.search([start], agent, simulations=20)
    assert found.visits.sum() > 0
    copy = pickle.loads(pickle.dumps(agent))
    assert same(agent, copy)
    assert not same(agent, jarmo.train("connect_four", steps=40, seed=2, progress=False, **TINY))
    assert capsys.readouterr().out == ""


def test_search_takes_only_an_agent_with_a_network_for_its_game() -> None:
    start = jarmo.Game("connect_four").start
    with pytest.raises(ValueError, match="agent `greedy` has no network"):
        jarmo.search([start], jarmo.Agent("greedy", game="connect_four"))
    with pytest.raises(ValueError, match=r'agent of jarmo.Game\("jarmo", .*, not of jarmo.Game\("connect_four"'):
        jarmo.search([start], jarmo.Agent("trained"))


def test_a_run_starts_from_an_agent_of_its_game_by_name(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="game must be the name of a game"):
        jarmo.train(jarmo.Game("connect_four"))  # type: ignore[arg-type]
    trained = jarmo.Agent("trained:8", game="connect_four")
    with pytest.raises(ValueError, match="from_agent is an agent of connect_four, not of jarmo"):
        jarmo.Run(tmp_path / "run", from_agent=trained)
    trained.save(tmp_path / "first.safetensors")
    for number, first in enumerate([trained, jarmo.Agent(tmp_path / "first.safetensors", game="connect_four")]):
        run = jarmo.Run(tmp_path / str(number), game="connect_four", from_agent=first)
        assert run.game == first.game


def test_a_run_yields_its_lines_of_metrics(tmp_path: Path) -> None:
    run = jarmo.Run(tmp_path / "run", game="connect_four", steps=60, **TINY)
    with pytest.raises(ValueError, match="there is no checkpoint yet"):
        run.agent()
    events = list(run)
    lines = [json.loads(line) for line in (run.folder / "metrics.jsonl").read_text().splitlines()]
    assert [event.step for event in events] == [line["step"] for line in lines]
    for event, line in zip(events, lines, strict=True):
        assert event.metrics.items() <= line.items()
    assert run.agent().spec.endswith("step-00000060.safetensors?sims=64")
    assert jarmo.Run.resume(run.folder).game == run.game == jarmo.Game("connect_four")


def test_events_are_told_and_an_error_stops_the_run(tmp_path: Path) -> None:
    settings = {**TINY, "steps": 40}
    steps: list[int] = []

    def note(event: jarmo.Event) -> None:
        steps.append(event.step)

    jarmo.train("connect_four", run=tmp_path / "told", progress=False, on_event=note, **settings)
    assert steps and steps == sorted(steps) and steps[-1] == 40

    def fail(event: jarmo.Event) -> None:
        raise RuntimeError(f"step {event.step}")

    run = jarmo.Run(tmp_path / "failed", game="connect_four", **settings)
    with pytest.raises(RuntimeError, match="step"):
        run.train(progress=False, on_event=fail)
    assert run.train(progress=False).spec.endswith("?sims=64")  # it was saved, so that it can go on


def test_the_last_line_comes_again_with_the_final_match(tmp_path: Path) -> None:
    matches: Any = {"every": 1000, "exam": "none", "games": 2, "opponents": ["random"], "past": 0, "simulations": 2}
    run = jarmo.Run(tmp_path / "run", game="connect_four", steps=40, **{**TINY, "evaluation": matches})
    *_, before, last = run
    lines = (run.folder / "metrics.jsonl").read_text().splitlines()
    assert before.step == last.step and "final_match" not in before.metrics
    assert last.metrics["final_match"] == json.loads(lines[-1])["final_match"]


def test_python_and_the_command_line_continue_each_others_runs(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    jarmo.Run(one, game="connect_four", **TINY).train(steps=128, progress=False)
    out = jarmo_train("--resume", one, "--steps", "256")
    assert "resumed at step 128" in out and f"jarmo train --resume {one}" in out
    settings = [f"--set={text}" for text in _train._texts(TINY)]
    jarmo_train("--run", other, "--game", "connect_four", *settings, "--steps", "128")
    last = jarmo.Run.resume(other).train(steps=256, progress=False)
    assert same(last, jarmo.Run.resume(one).agent())


def test_leaving_the_loop_saves_and_the_next_one_continues(tmp_path: Path) -> None:
    run = jarmo.Run(tmp_path / "run", game="connect_four", **TINY)
    for event in run:
        if event.step >= 100:
            break
    stopped = int(run.agent().spec.split("step-")[1][:8])
    assert stopped >= 100
    event = next(iter(run))
    assert event.step > stopped


def test_one_run_trains_at_a_time(tmp_path: Path) -> None:
    first = jarmo.Run(tmp_path / "first", game="connect_four", **TINY)
    second = jarmo.Run(tmp_path / "second", game="connect_four", steps=20, **TINY)
    events = iter(first)
    next(events)
    with pytest.raises(RuntimeError, match="only one can be at a time"):
        second.train()
    with pytest.raises(subprocess.CalledProcessError) as refused:
        jarmo_train("--resume", first.folder)
    assert "another process is training in this folder" in refused.value.stderr
    first.close()
    assert list(events) == []
    second.train(progress=False)
    assert "resumed at step" in jarmo_train("--resume", first.folder, "--steps", "1000")


def test_ctrl_c_saves_and_returns_the_agent(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored in the background
    try:
        check_ctrl_c(tmp_path)
    finally:
        signal.signal(signal.SIGINT, before)


def check_ctrl_c(tmp_path: Path) -> None:
    run = jarmo.Run(tmp_path / "run", game="connect_four", **TINY)
    timer = threading.Timer(1.0, _thread.interrupt_main)
    timer.start()
    agent = run.train(progress=False)
    assert agent.game == run.game and "step-" in agent.spec
    timer = threading.Timer(0.5, _thread.interrupt_main)
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        for _ in run:
            pass
    assert run.agent().spec >= agent.spec


def test_a_run_at_its_limit_says_that_there_is_nothing_to_do(tmp_path: Path) -> None:
    run = jarmo.Run(tmp_path / "run", game="connect_four", steps=20, **TINY)
    agent = run.train(progress=False)
    with pytest.warns(UserWarning, match=r"nothing to do: .* its limit \(20 steps\)"):
        again = run.train(progress=False)
    assert agent.spec == again.spec


def test_wrong_settings_are_reported_as_on_the_command_line(tmp_path: Path) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"width": 64}, r"unknown setting width; did you mean net\.width\?"),
        ({"net": {"widht": 64}}, r"unknown setting net\.widht; the nearest is net\.width"),
        ({"net": {"width": 33}}, "width"),
        ({"net": 64}, "net is a group of settings"),
        ({"batch": 0}, r"run\.batch = 0: it must be"),
        ({"minutes": "long"}, r"run\.minutes = long: it must be"),
        ({"selfplay": {"root": "best"}}, r"selfplay\.root = best"),
        ({"game": "chess"}, r"game\.name = chess: it must be one of jarmo"),
        ({"evaluation": {"opponents": ["nobody"]}}, "nobody"),
        ({"board": tmp_path / "none"}, r"game\.board: "),
        ({"from_agent": "none.safetensors"}, "none.safetensors: No such file"),
        ({"from_agent": Path(__file__).parents[2] / "checkpoints/guard.safetensors"}, "from_agent: .*guard"),
        ({"from_agent": "trained", "net": {"width": 32}}, "from_agent: its network is mlp 256x2"),
    ]
    for arguments, message in wrong:
        with pytest.raises(ValueError, match=message):
            jarmo.Run(tmp_path / "run", **arguments)
        assert not (tmp_path / "run").exists()
    jarmo.Run(tmp_path / "run", **TINY)
    with pytest.raises(ValueError, match="already contains a run"):
        jarmo.Run(tmp_path / "run", **TINY)
    with pytest.raises(ValueError, match="no run was started here"):
        jarmo.Run.resume(tmp_path)
    with pytest.raises(ValueError, match=r"run\.steps = -1: it must be"):
        jarmo.Run.resume(tmp_path / "run").train(steps=-1)


def test_values_of_all_kinds_become_settings() -> None:
    assert _train._texts({"seed": np.int64(3), "minutes": np.float32(0.5), "steps": None}) == [
        "run.seed=3",
        "run.minutes=0.5",
    ]
    assert _train._texts({"evaluation": {"opponents": ["random"]}, "board": Path("b.toml"), "net": {}}) == [
        'evaluation.opponents=["random"]',
        'game.board="b.toml"',
    ]
    assert _train._texts({"selfplay": {"c_puct": 1e-05}}) == ["selfplay.c_puct=1e-05"]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="tomllib")
def test_the_types_name_every_setting() -> None:
    import tomllib

    defaults = tomllib.loads((Path(__file__).parents[2] / "configs/default.toml").read_text())
    groups = {name: set(group) for name, group in defaults.items() if name not in ("game", "fleet")}
    assert set(_train.RunSettings.__annotations__) == groups.pop("run")
    typed = get_type_hints(_train.Settings)
    for name, settings in groups.items():
        assert set(typed[name].__annotations__) == settings, name
    assert set(typed) == {"board", *_train.RunSettings.__annotations__, *groups}
