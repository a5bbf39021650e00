"""Many runs: the list, the comparison, and a sweep."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import jarmo

TINY: dict[str, Any] = {
    "net": {"width": 32, "blocks": 1},
    "selfplay": {"games": 256, "simulations": 2},
    "evaluation": {"every": 0},
    "batch": 128,
    "first_samples": 4096,
    "threads": 1,
}


def test_runs_are_listed_and_compared(tmp_path: Path) -> None:
    for seed in (1, 2):
        jarmo.train("connect_four", run=tmp_path / f"seed{seed}", seed=seed, steps=60, checkpoint=20, progress=False, **TINY)
    listed = jarmo.runs(tmp_path)
    assert [(run["name"], run["state"], run["steps"]) for run in listed] == [("seed1", "finished", 60), ("seed2", "finished", 60)]
    assert 0.3 < listed[0]["right"] < 1 and listed[0]["right_at_64"] is None and listed[0]["elo"] is None
    compared = jarmo.compare(*(run["folder"] for run in listed))
    (group,) = compared["groups"]
    assert compared["settings"] == [] and [run["seed"] for run in group["runs"]] == [1, 2]
    assert group["right"]["low"] <= group["right"]["median"] <= group["right"]["high"]
    assert jarmo.compare(tmp_path)["groups"] == compared["groups"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(RuntimeError, match="no run was started here"):
        jarmo.compare(tmp_path / "empty")
    with pytest.raises(ValueError, match="the same settings"):
        jarmo.compare(*(run["folder"] for run in listed), match=True)


def test_a_sweep_trains_its_runs(tmp_path: Path) -> None:
    file = tmp_path / "widths.toml"
    file.write_text(
        'game = "connect_four"\nset = ["evaluation.every=0", "selfplay.simulations=2", "run.threads=1"]\n'
        'seeds = [1]\ncpu_minutes = 0.05\n[vary]\n"net.width" = [32, 64]\n'
    )
    result = jarmo.sweep(file, tmp_path / "sweep")
    assert [run["name"] for run in result["runs"]] == ["01-seed1", "02-seed1"]
    assert result["comparison"]["settings"] == ["net.width"]
    assert jarmo.sweep(file, tmp_path / "sweep")["runs"][0]["steps"] == result["runs"][0]["steps"]
