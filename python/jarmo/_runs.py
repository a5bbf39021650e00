"""Many runs: ``jarmo runs``, ``jarmo runs compare`` and ``jarmo sweep`` from Python."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from jarmo._types import Path


def _program(*arguments: str, shows: bool = False) -> Any:
    """The JSON that the program prints. It is a process of its own, which Ctrl-C reaches, too, so that it saves its work. Its
    progress is shown on standard error if that is asked for."""
    command = [sys.executable, "-m", "jarmo", *arguments]
    errors = None if shows else subprocess.PIPE
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, encoding="utf-8") as process:
        try:
            output, problem = process.communicate()
        except KeyboardInterrupt:
            process.communicate()
            raise
    if process.returncode != 0:
        text = (problem or "").strip().removeprefix("error: ") or f"jarmo {arguments[0]} failed; see standard error"
        raise (ValueError if process.returncode == 2 else RuntimeError)(text)
    return json.loads(output)


def runs(folder: Path = "runs") -> list[dict[str, Any]]:
    """The training runs below a folder, by name, without locking them.

    Each has the keys ``name``, ``folder``, ``game``, ``state`` (``"running"``, ``"stopped"``, ``"finished"`` or ``"broken"``),
    ``steps``, ``cpu_minutes``, ``right`` and ``right_at_64`` (the share of right decisions in the exam, without
    search and with 64 simulations), ``elo``, ``elo_low``, ``elo_high`` and ``age`` in seconds. What is not known is None, so
    ``pandas.DataFrame(jarmo.runs())`` has a column for each.
    """
    return [_row(run) for run in _program("runs", "--json", "--", os.fspath(folder))]


def _row(run: dict[str, Any]) -> dict[str, Any]:
    def share(score: dict[str, Any] | None) -> float | None:
        return score["right"] / max(1, score["decisions"]) if score else None

    searched, strength = run["searched"], run["strength"] or {}
    return {
        "name": run["name"],
        "folder": run["folder"],
        "game": run["game"] or None,
        "state": run["state"],
        "steps": run["steps"],
        "cpu_minutes": run["cpu_seconds"] / 60,
        "right": share(run["exam"]),
        "right_at_64": share(searched["score"] if searched else None),
        "elo": strength.get("elo"),
        "elo_low": strength.get("elo_low"),
        "elo_high": strength.get("elo_high"),
        "age": run["age"],
    }


def compare(*folders: Path, match: bool = False, games: int = 200, simulations: int = 64) -> dict[str, Any]:
    """Compares runs of one game, as ``jarmo runs compare`` does.

    Args:
        folders: The folders of the runs. Runs that differ only in seed and limits are one group.
        match: Whether the newest checkpoints play a match.
        games: Games per match, an even number.
        simulations: Simulations per move of the match.

    Returns:
        ``game``, ``settings`` (the keys in which groups differ), ``groups`` (each with ``label``, ``settings``, ``runs``, and
        the medians and intervals ``right``, in percent, and ``elo``), ``verdict``, and ``match`` if one was played.
    """
    options = ["--match", "--games", str(games), "--nodes", str(simulations)] if match else []
    compared: dict[str, Any] = _program("runs", "compare", "--json", *options, "--", *(os.fspath(folder) for folder in folders))
    return compared


def sweep(file: Path, folder: Path | None = None) -> dict[str, Any]:
    """Trains the runs that a file describes, or continues them, and compares them, as ``jarmo sweep`` does.

    Args:
        file: The TOML file of the sweep.
        folder: The folder of the sweep; by default ``runs/`` and the name of the file.

    Returns:
        ``runs`` (what is known of each run), ``comparison`` (see `compare`), and ``halvings``: with halving, the comparisons
        after which the worse half was dropped.
    """
    place = [] if folder is None else ["--run", os.fspath(folder)]
    result: dict[str, Any] = _program("sweep", "--json", *place, "--", os.fspath(file), shows=True)
    return result
