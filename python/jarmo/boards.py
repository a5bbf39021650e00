"""Jarmo on boards that a policy has never seen: the track ``jarmo-boards-v1`` of the benchmark.

A random board has as many lines at each circle as the standard board, so features and actions have the same shapes, but an
action leads elsewhere: `Game.lines` has the lines of a board, `Game.action_names` says where each action leads. The track
has `TRAINING` boards to train on and `JUDGED` ones to be judged on, with exact tables of each.

>>> from jarmo import boards
>>> env = jarmo.VecEnv("jarmo", 1024, boards=boards.TRAINING)
>>> print(boards.evaluate(lambda game: "greedy"))

Training must not use the judged boards. Only a result that is called adapted may: there the function given to `evaluate`
trains for one more CPU minute (of a machine of speed 1) on each board before it returns the policy.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path as FilePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jarmo import _benchmark, yardstick
from jarmo._jarmo import Game
from jarmo._types import Path

__all__ = ["JUDGED", "NAME", "TRAINING", "Result", "evaluate", "verify"]

NAME = "jarmo-boards-v1"

TRAINING = tuple(f"random:{seed}" for seed in range(64))
"""The boards to train on."""

JUDGED = tuple(f"random:{seed}" for seed in range(64, 96))
"""The boards to be judged on."""

SETTINGS: dict[str, Any] = {
    "seed": int.from_bytes(hashlib.sha256(NAME.encode()).digest()[:4], "big"),
    "fresh": 500,
    "games": 0,
    "starts": 0,
    "positions": 0,
}
"""How a board is measured: 500 critical positions of up to 6 archers and marks, judged by exact tables."""


class Result:
    """What was measured on each board, with a row for each number of simulations."""

    boards: tuple[str, ...]
    rows: list[list[dict[str, Any]]]
    """``[boards][simulations]``, each as `yardstick.Result.rows` has it."""

    def __init__(self, boards: Sequence[str], rows: Sequence[Sequence[dict[str, Any]]]) -> None:
        self.boards, self.rows = tuple(boards), [list(row) for row in rows]

    @property
    def wrong(self) -> NDArray[np.float64]:
        """The shares of critical positions in which the policy decided wrongly, ``[boards, simulations]``."""
        return np.array([[row["fresh"]["share"] for row in rows] for rows in self.rows])

    def summary(self) -> list[dict[str, Any]]:
        """For each number of simulations the mean of the boards with its 95 % interval by bootstrap over the boards, and the
        lowest and the highest."""
        chosen = np.random.default_rng(1).integers(len(self.boards), size=(2000, len(self.boards)))
        rows = []
        for row, wrong in zip(self.rows[0], self.wrong.T, strict=True):
            low, high = np.percentile(wrong[chosen].mean(axis=1), [2.5, 97.5])
            mean = (float(wrong.mean()), float(low), float(high))
            rows.append({"simulations": row["nodes"], "wrong": mean, "range": (float(wrong.min()), float(wrong.max()))})
        return rows

    def to_json(self, path: Path | None = None) -> str:
        """Everything as JSON, which is also written to a file if there is a path; `verify` reads it."""
        text = json.dumps({"version": NAME, "boards": self.boards, "rows": self.rows})
        if path is not None:
            FilePath(path).write_text(text, encoding="utf-8")
        return text

    def __str__(self) -> str:
        count = f"{len(self.boards)} of {len(JUDGED)}" if len(self.boards) < len(JUDGED) else len(JUDGED)
        where = f"{count} boards" if set(self.boards) <= set(JUDGED) else "boards outside `JUDGED`, so it is not ranked"
        lines = [f"{NAME}: {self.rows[0][0]['agent']}, wrong critical decisions on {where}"]
        for row in self.summary():
            what = "its own search" if row["simulations"] is None else f"{row['simulations']} simulations"
            mean, low, high, least, most = (f"{100 * share:.1f}" for share in (*row["wrong"], *row["range"]))
            lines.append(f"  {what}: {mean} % ({low} to {high}), on single boards {least} to {most} %")
        return "\n".join(lines) + "\n"

    def __repr__(self) -> str:
        return f"<boards.Result on {len(self.boards)} boards>"


def evaluate(
    make: Callable[[Game], yardstick.Policy],
    *,
    boards: Sequence[str] = JUDGED,
    simulations: Sequence[int] = (0,),
    threats: bool = False,
    name: str | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Result:
    """Measures a policy on boards.

    Args:
        make: Is called with the game on each board, and returns the policy for it: what `yardstick.evaluate` takes.
        boards: The boards, such as `TRAINING`; by default those that results are about.
        simulations: Budgets per decision, as in `yardstick.evaluate`.
        threats: Features have the threat planes.
        name: A name for the policy.
        progress: Called as ``progress(board, done, total)``.
    """
    rows = []
    for done, board in enumerate(boards):
        if progress is not None:
            progress(board, done, len(boards))
        game = Game("jarmo", board=board)
        measured = yardstick.evaluate(make(game), game, simulations=simulations, threats=threats, name=name, **SETTINGS)
        rows.append(measured.rows)
    return Result(boards, rows)


def verify(path: Path) -> Result:
    """Recomputes every share in a file of `Result.to_json` from the answers in it; raises ``ValueError`` if one
    differs. The boards are different ones of `JUDGED`, or of `TRAINING`: then the result says that it is not ranked. It cannot
    verify whose answers they are, as with `yardstick.verify`."""
    file = _benchmark.read(FilePath(path).read_text(encoding="utf-8"))
    if not isinstance(file, dict) or set(file) != {"version", "boards", "rows"} or file["version"] != NAME:
        raise ValueError(f"not a result of {NAME}")
    names, every = file["boards"], file["rows"]
    if not (isinstance(names, list) and isinstance(every, list) and names and len(names) == len(every)):
        raise ValueError("it must have a list of boards, and one of rows for each board")
    if not any(all(name in known for name in names) for known in (JUDGED, TRAINING)) or len(set(names)) < len(names):
        raise ValueError("the boards must be different ones, all of `JUDGED` or all of `TRAINING`")
    try:
        asked = [[(row["agent"], row["nodes"]) for row in rows] for rows in every]
        agents, searches = ({pair[part] for pair in asked[0]} for part in (0, 1))
    except (KeyError, TypeError):
        raise ValueError("a row lacks its agent or its number of simulations") from None
    if len(agents) != 1 or len(searches) < len(asked[0]) or asked != len(asked) * asked[:1]:
        raise ValueError("every board must have the same agent and numbers of simulations, each once")
    result = Result(names, every)
    for board, rows in zip(result.boards, result.rows, strict=True):
        measure = yardstick._yardstick(Game("jarmo", board=board), None, *SETTINGS.values())
        for row in rows:
            try:
                if row["settings"] != SETTINGS:
                    raise ValueError(f"the settings are {row['settings']}, and those of {NAME} are {SETTINGS}")
                measure.verify(json.dumps(row))
            except (KeyError, TypeError, ValueError) as error:
                raise ValueError(f"board {board}: {error}") from None
    return result
