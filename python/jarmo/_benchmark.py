"""Versions of the benchmark, and what the files of its board may say. Nothing here measures: `jarmo.yardstick` does."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import math
import re
import zlib
from collections.abc import Sequence
from datetime import date
from typing import Any, NamedTuple

import numpy as np

SEEDS = 10
"""Training seeds of a complete entry: 1 to 10, so that nobody picks the best ones."""

SIMULATIONS = (0, 64, 256)
"""Simulations per decision of a trained policy."""

BUDGETS: dict[str, tuple[float, ...]] = {
    "steps": (100_000, 1_000_000, 10_000_000),
    "evaluations": (1_000_000, 10_000_000, 100_000_000),
    "minutes": (1, 10, 60),
}
"""The budgets of training, by what they count."""

OVERRUN = 1.1
"""A training may use this much of its budget, because it ends after a batch."""

MEASURES = ("fresh_wrong", "exam_wrong", "mistakes_per_game", "points", "held", "median_plies")

UNVERIFIED = """Every measure follows from the answers in the file. It cannot be verified who gave the answers, whether
tables or exams were used in training, or whether name, simulations, budget, training, date and machine are true.
"""

MOST_BYTES = 1 << 26
MOST_ANSWERS = 1 << 20

PARTS = ("exam", "fresh", "games", "worst")
KEYS = ("version", "code", "command", "rows")
MACHINE = ("jarmo", "python", "numpy", "processor", "speed")

NAME = re.compile(r"\w[\w .,:()+/-]{0,59}")
CODE = re.compile(r"https?://[\w./:?&=%#~@+-]{1,300}|(?!/)(?!.*\.\.)[\w./-]{1,300}")


class Version(NamedTuple):
    """A version of the benchmark: a game, and how it is measured. A version never changes; a new one gets a new name."""

    name: str
    game: str
    rules: int
    """The version of the rules."""
    exam: str
    """The checksum of the exam of the package."""
    ranked: str
    """The checksum of the positions by which policies are ranked. They are drawn from `seed` and are in no file."""
    fresh: int
    games: int
    starts: int
    positions: int

    @property
    def seed(self) -> int:
        """The seed that positions are drawn with. It follows from the name, so that nobody chose it."""
        return int.from_bytes(hashlib.sha256(self.name.encode()).digest()[:4], "big")

    @property
    def settings(self) -> dict[str, int]:
        """The settings of a measurement, as in a row."""
        counts = {"fresh": self.fresh, "games": self.games, "starts": self.starts, "positions": self.positions}
        return {"seed": self.seed, **counts}

    def check(self, row: dict[str, Any]) -> None:
        """Raises ``ValueError`` if a row was not measured by this version."""
        measured = {"game": row["game"], "rules_version": row["rules_version"], **row["settings"]}
        for part in ("exam", "fresh"):
            measured[part + " positions"] = row[part] and row[part]["checksum"]
        wanted = {"game": self.game, "rules_version": self.rules, **self.settings}
        wanted |= {"exam positions": self.exam, "fresh positions": self.ranked}
        for name, value in wanted.items():
            if measured[name] != value:
                raise ValueError(f"{name} is {measured[name]}, and {self.name} has {value}")


# In connect four a solver measures a quarter of `fresh`. Games and worst case would take it minutes, so there are none.
VERSIONS = {
    version.name: version
    for version in (
        Version("jarmo-v1", "jarmo", 1, "32b8c458f5821118", "c9ecd8ecc0447bb3", 2000, 100, 50, 1000),
        Version("connect_four-v1", "connect_four", 1, "77ef3a5c93cb0108", "6c4ad883302113ed", 2000, 0, 0, 0),
        Version("tammi-v1", "tammi", 1, "a64c08bfcc045a79", "0df2ebda36a411cf", 2000, 100, 50, 1000),
    )
}


def read(text: str) -> Any:
    """JSON, without what JSON does not have (NaN) and without what hides something (a key that stands twice)."""
    if len(text) > MOST_BYTES:
        raise ValueError(f"a file of results has at most {MOST_BYTES} characters")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in pairs]
        for key in keys:
            if keys.count(key) > 1:
                raise ValueError(f"the key `{key}` stands twice")
        return dict(pairs)

    def number(text: str) -> float:
        if not math.isfinite(value := float(text)):
            raise ValueError(f"{text} is not a finite number")
        return value

    try:
        return json.loads(text, object_pairs_hook=unique, parse_float=number, parse_constant=number)
    except RecursionError:
        raise ValueError("not a result of the yardstick: it is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error}") from None


def pack(actions: Sequence[int]) -> str:
    """Answers as a text: 16 bits each, compressed."""
    return base64.b64encode(zlib.compress(np.asarray(actions, "<u2").tobytes(), 9)).decode()


def unpack(part: str, text: Any) -> list[int]:
    """The answers of a text of `pack`."""
    try:
        unpacker = zlib.decompressobj()
        raw = unpacker.decompress(base64.b64decode(text, validate=True), 2 * MOST_ANSWERS)
    except (TypeError, ValueError, binascii.Error, zlib.error) as error:
        raise ValueError(f"answers.{part}: not packed answers: {error}") from None
    if not unpacker.eof or unpacker.unused_data or len(raw) % 2:
        raise ValueError(f"answers.{part}: not packed answers, or more than {MOST_ANSWERS}")
    actions: list[int] = np.frombuffer(raw, "<u2").tolist()
    return actions


def read_entry(file: Any) -> tuple[list[dict[str, Any]], str, str, str]:
    """The rows of an entry with their answers unpacked, version, code and command."""
    if set(file) != set(KEYS):
        wrong = set(file) ^ set(KEYS)
        raise ValueError(f"an entry has the keys {', '.join(KEYS)}; missing or unknown: {', '.join(sorted(wrong))}")
    if not isinstance(file["rows"], list) or not file["rows"]:
        raise ValueError("it has no rows, so there is nothing to verify")
    rows = []
    for number, row in enumerate(file["rows"], 1):
        answers = row.get("answers") if isinstance(row, dict) else None
        if not isinstance(answers, dict) or set(answers) != set(PARTS):
            raise ValueError(f"row {number}: answers has the keys {', '.join(PARTS)}")
        rows.append({**row, "answers": {part: unpack(part, answers[part]) for part in PARTS}})
    return rows, file["version"], file["code"], file["command"]


def check_entry(version: Version, code: Any, command: Any, runs: Sequence[Sequence[dict[str, Any]]]) -> None:
    """Raises ``ValueError`` unless an entry is complete, its runs belong together, and its claims can be true. `runs` has
    the rows of each training seed."""
    _text("code", code, CODE)
    _text("command", command)
    seen: dict[Any, int] = {}
    for index, rows in enumerate(runs):
        first = runs[0][0]
        trainings = [row["claims"].get("training") for row in rows]
        if any(training != trainings[0] for training in trainings):
            raise ValueError(f"seed {index + 1}: its rows are of different trainings")
        if trainings[0] is None and len(runs) > 1:
            raise ValueError("without training there is one result, because the version fixes the seed")
        searches = [row["nodes"] for row in rows]
        if searches != [row["nodes"] for row in runs[0]] or len(set(searches)) < len(searches):
            raise ValueError(f"seed {index + 1}: every seed has each number of simulations once")
        if trainings[0] is not None:
            _check_training(trainings[0], index + 1, first["claims"]["training"]["budget"], rows[0]["claims"])
        for row in rows:
            version.check(row)
            _text("agent", row["agent"], NAME)
            if row["agent"] != first["agent"]:
                raise ValueError(f"rows of {first['agent']} and {row['agent']} in one entry")
            if row["nodes"] not in (None, *SIMULATIONS):
                raise ValueError(f"{row['nodes']} simulations, and the board has {', '.join(map(str, SIMULATIONS))}")
            _check_claims(row["claims"])
            answers = (row["nodes"], *row["answers"]["exam"], *row["answers"]["fresh"])
            if (other := seen.setdefault(answers, index)) != index:
                raise ValueError(f"seeds {other + 1} and {index + 1} gave the same answers, so they are one run")


def _check_training(training: dict[str, Any], seed: int, budget: dict[str, float], claims: dict[str, Any]) -> None:
    if training["seed"] != seed:
        raise ValueError(f"training seed {training['seed']} where seed {seed} comes: they are 1, 2, 3 and so on")
    if training["budget"] != budget:
        raise ValueError(f"seed {seed}: a budget of {training['budget']} among those of {budget}")
    ((unit, limit),) = budget.items()
    if limit not in BUDGETS[unit]:
        allowed = ", ".join(f"{one:,}" for one in BUDGETS[unit])
        raise ValueError(f"a budget of {limit:,} {unit}, and the board has {allowed}")
    minutes = training["cpu_seconds"] * claims["machine"].get("speed", 0) / 60
    used = minutes if unit == "minutes" else training[unit]
    if not 0 < used <= OVERRUN * limit:
        raise ValueError(f"seed {seed}: it used {used:,} {unit} of a budget of {limit:,}")


def _check_claims(claims: dict[str, Any]) -> None:
    try:
        date.fromisoformat(claims["date"])
    except ValueError:
        raise ValueError(f"date {claims['date']!r} is not a day such as 2026-11-28") from None
    if claims.get("inputs") is not None:
        _text("inputs", claims["inputs"])
    machine = claims["machine"]
    for name in MACHINE:
        if name not in machine:
            raise ValueError(f"machine lacks {name}")
    for name, value in machine.items():
        _text("machine", f"{name} {value}")
    if not (isinstance(machine["speed"], float) and 0 < machine["speed"] < 100):
        raise ValueError(f"machine.speed is {machine['speed']}, and must be above 0")


def _text(name: str, value: Any, pattern: re.Pattern[str] | None = None) -> None:
    """A text of a claim is one short line; what the board shows is free of markup, too."""
    if not isinstance(value, str) or not 0 < len(value) <= 300 or not value.isprintable():
        raise ValueError(f"{name} must be one line of 1 to 300 characters, not {value!r:.40}")
    if pattern and not pattern.fullmatch(value):
        raise ValueError(f"{name} {value!r:.60} has characters that the board does not show")
