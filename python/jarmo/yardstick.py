"""How good a policy is, measured by exact results. docs/yardstick.md says what the measures mean.

>>> from jarmo import yardstick
>>> result = yardstick.evaluate("greedy", "jarmo")
>>> print(result)

`VERSIONS` are the versions of the benchmark, an `Entry` is what its board has of one algorithm.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import platform
import re
from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from functools import lru_cache, partial
from pathlib import Path as FilePath
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

import jarmo
from jarmo import _benchmark, _jarmo, _solver
from jarmo._benchmark import VERSIONS, Version
from jarmo._jarmo import Agent, Game, Position, Yardstick
from jarmo._types import Path, Player, Progress, name_of, takes_positions

__all__ = [
    "VERSIONS",
    "Budget",
    "Entry",
    "ExamData",
    "Result",
    "Version",
    "Yardstick",
    "calibrate",
    "evaluate",
    "interval",
    "load_exam",
    "plot",
    "summary",
    "verify",
]

Policy: TypeAlias = Player
"""The spec of an agent, an agent, a function of positions that gives actions, or a function of features and masks that
gives actions, logits, or a tuple of logits and values."""

REFERENCE = 35e6
"""Plies of connect four per second of CPU time on the machine of the published results: AMD EPYC (Zen 4)."""


class Result:
    """What was measured of a policy, with one row per budget. A notebook shows it as a picture, ``print`` as text."""

    rows: list[dict[str, Any]]
    """Everything, as ``jarmo yardstick --json`` writes it."""
    text: str
    svg: str

    def __init__(self, rows: Sequence[str | dict[str, Any]]) -> None:
        self.rows = [json.loads(row) if isinstance(row, str) else row for row in rows]
        names = {row["game"] for row in self.rows}
        title = f"Yardstick of {', '.join(sorted(names))}"
        self.text, self.svg = _jarmo.yardstick_report([json.dumps(row) for row in self.rows], title)

    @staticmethod
    def load(path: Path) -> Result:
        """The result in a file of `to_json` or ``jarmo yardstick --json``, as the file has it; `verify` checks it."""
        return Result(_jarmo.yardstick_rows(FilePath(path).read_text(encoding="utf-8")))

    @property
    def table(self) -> list[dict[str, Any]]:
        """The measures as numbers, one row per budget; None where something was not measured."""
        return [_numbers(row) for row in self.rows]

    @property
    def machine(self) -> dict[str, Any]:
        """Where it was measured: versions, the CPU, its speed."""
        return dict(self.rows[0]["claims"]["machine"])

    @property
    def training(self) -> dict[str, Any] | None:
        """How the policy was trained: ``budget``, ``seed``, ``steps`` of the environment, ``evaluations``,
        ``cpu_seconds``."""
        training: dict[str, Any] | None = self.rows[0]["claims"].get("training")
        return training

    def to_json(self, path: Path | None = None) -> str:
        """Everything as JSON, which is also written to a file if there is a path; `verify` reads it."""
        text = json.dumps({"rows": self.rows})
        if path is not None:
            FilePath(path).write_text(text, encoding="utf-8")
        return text

    def _repr_svg_(self) -> str:
        return self.svg

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<yardstick.Result of {self.rows[0]['agent']}>"


def evaluate(
    policy: Policy,
    game: Game | str = "jarmo",
    *,
    simulations: Sequence[int] = (0,),
    tables: Path | None = None,
    seed: int = 1,
    fresh: int = 2000,
    games: int = 100,
    starts: int = 50,
    positions: int = 1000,
    threats: bool = False,
    name: str | None = None,
    budget: Budget | None = None,
    training_seed: int | None = None,
    inputs: str | None = None,
    progress: Progress | None = None,
) -> Result:
    """Measures a policy by the exam of the package, and by exact tables. Ctrl-C ends it at once.

    ``evaluate(policy, "jarmo-v1")`` measures by this version of the benchmark, which fixes `tables`, `seed`, `fresh`,
    `games`, `starts` and `positions`; do not pass these.

    Args:
        policy: The spec of an agent, an agent, or a function: of a list of positions, which gives an action for each; or
            of features ``[B, planes, rows, columns]`` and masks ``[B, actions]``, which gives actions ``[B]``, logits
            ``[B, actions]``, or a tuple of logits and values as for `jarmo.search`. Logits of legal actions must be finite.
        game: A game or its name, or the name of a version.
        simulations: Simulations per decision, such as ``(0, 64, 256)``. 0 is the policy alone. Others need a network:
            an agent file, or a function that gives values. An agent without a network has the budget of its spec.
        tables: A folder of tables, which judge what is not in the exam; by default those that take seconds to build:
            force 6 of jarmo, 4 pieces of tammi.
        seed: The seed of the fresh exam, the starts, and the agent.
        fresh: Number of critical questions in the fresh exam.
        games: Starting positions of games against the perfect player; each is played from both sides.
        starts: Starting positions of the worst case of the policy without search; each is played from both sides.
        positions: In the worst case, a start counts as held after this many positions without a mistake.
        threats: Features have the threat planes.
        name: A name for the policy.
        budget: The budget of its training. Measure directly after it: the result notes the CPU time since its start.
        training_seed: The seed of its training.
        inputs: What the policy sees, where it is a function of positions that makes features itself.
        progress: Called as ``progress(part, done, total)``; the parts are ``exam``,
            ``fresh``, ``games`` and ``worst``.

    In connect four a solver measures what tables measure in other games, if it is installed: a quarter of the questions
    and games, and a fifth of the starts and positions.
    """
    if budget is None and training_seed is not None:
        raise ValueError("training_seed is that of a training, whose budget is missing")
    training = None if budget is None else budget.used(training_seed)
    folder = None if tables is None else str(tables)
    version = VERSIONS.get(game) if isinstance(game, str) else None
    if version is not None:
        if (folder, seed, fresh, games, starts, positions) != (None, 1, 2000, 100, 50, 1000):
            raise ValueError(f"{version.name} fixes tables, seed, fresh, games, starts and positions")
        game, (seed, fresh, games, starts, positions) = version.game, version.settings.values()
        if game == "connect_four" and not _solver.available():
            raise ValueError(_solver.NEEDED)
    yardstick = _yardstick(game, folder, seed, fresh, games, starts, positions)
    solved = None
    if yardstick.game.name == "connect_four" and _solver.available():
        solved = _solved(yardstick.game, seed, fresh, games, starts, positions)
    rows: list[str] = []

    def measured(player: Any, choose: Callable[[list[Position]], Any], nodes: int | None, name: str) -> None:
        row = json.loads(yardstick.measure(player, nodes=nodes, threats=threats, progress=progress))
        row["agent"] = name
        row["claims"] = {
            "date": datetime.now(timezone.utc).date().isoformat(),
            "machine": machine(),
            "inputs": inputs,
            "training": training,
        }
        if solved is not None:
            parts = solved.measure(choose, with_worst_case=not nodes)
            row["answers"].update(parts.pop("answers"))
            row.update(parts)
        rows.append(_jarmo.yardstick_seal(json.dumps(row)))

    if isinstance(policy, (str, os.PathLike, Agent)):
        agent = policy if isinstance(policy, Agent) else Agent(policy, game=yardstick.game)
        has_network = agent.spec.startswith("trained") or ".safetensors" in agent.spec
        for nodes in simulations if has_network else [None]:
            chosen = partial(_alone(agent) if nodes == 0 else agent.choose, nodes=nodes or None, seed=seed)
            measured(agent, chosen, nodes, name or agent.spec)
        return Result(rows)
    if inputs is None:
        shape = "x".join(map(str, yardstick.game.feature_shape(threats=threats)))
        features = f"features {shape}, {'with' if threats else 'without'} threats"
        inputs = "positions" if takes_positions(policy) else features
    searching = {nodes: _searching(policy, yardstick.game, nodes, threats) for nodes in simulations if nodes != 0}
    for nodes in simulations:
        if nodes == 0:
            measured(policy, partial(_jarmo.decide, policy, threats=threats), 0, name or name_of(policy))
        else:
            measured(searching[nodes], searching[nodes], nodes, name or name_of(policy))
    return Result(rows)


def _alone(agent: Agent) -> Callable[..., Any]:
    """The decision of an agent's network without search."""
    kernel = re.search(r"[?&](kernel=\w+)", agent.spec)
    settings = f"?sims=0&{kernel[1]}" if kernel else "?sims=0"
    return Agent(re.split(r"[?]|:\d+$", agent.spec)[0] + settings, game=agent.game).choose


def _searching(
    policy: Callable[..., Any], game: Game, simulations: int, threats: bool
) -> Callable[[list[Position]], NDArray[np.int64]]:
    """A function of features and masks as one of positions, with search."""
    start = [game.start]
    gives_values = not takes_positions(policy) and isinstance(
        policy(game.features(start, threats=threats), game.masks(start)), tuple
    )
    if not gives_values:
        raise ValueError("search needs a function of features and masks that gives logits and values")

    def searching(positions: list[Position]) -> NDArray[np.int64]:
        return jarmo.search(positions, policy, simulations=simulations, threats=threats).actions

    return searching


@lru_cache(maxsize=2)
def _yardstick(
    game: Game | str, tables: str | None, seed: int, fresh: int, games: int, starts: int, positions: int
) -> Yardstick:
    """Tables and exams are made once for calls with the same arguments."""
    return Yardstick(game, tables=tables, seed=seed, fresh=fresh, games=games, starts=starts, positions=positions)


@lru_cache(maxsize=2)
def _solved(game: Game, seed: int, fresh: int, games: int, starts: int, positions: int) -> _solver.Measures:
    """The same for the solver of connect four, which is slower."""
    return _solver.Measures(game, seed, fresh // 4, games // 4, starts // 5, positions // 5)


def _numbers(row: dict[str, Any]) -> dict[str, Any]:
    exam, fresh, games, worst = (row[name] or {} for name in ("exam", "fresh", "games", "worst"))
    count = max(games.get("games", 0), 1)
    held = worst.get("proven", 0) + worst.get("held", 0)
    return {
        "agent": row["agent"],
        "simulations": row["nodes"],
        "exam_wrong": exam.get("share"),
        "fresh_wrong": fresh.get("share"),
        "mistakes_per_game": games["mistakes"] / count if games else None,
        "points": games["points"] / count if games else None,
        "held": held / max(worst["starts"], 1) if worst else None,
        "median_plies": worst.get("median_plies"),
    }


def verify(path: Path, *, tables: Path | None = None) -> Result | Entry:
    """Recomputes every measure in a file of results, or of an entry, from the answers in it; raises ``ValueError`` if
    one differs.

    It measures again with the answers in place of the policy: it grades the exams, draws the fresh questions and the
    starts, replays the games against the perfect player, and repeats the search for the worst case. If the result was
    measured with a folder of tables, give it again. The printed result also lists what is not verified: whose answers
    they are, and what the file says of budget, training, date and machine. A checksum detects only accidental changes.
    """
    begins = FilePath(path).read_text(encoding="utf-8")[:100]
    verified = Entry.load(path) if re.match(r'\s*{\s*"version"', begins) else Result.load(path)
    folder = None if tables is None else str(tables)
    for number, row in enumerate(verified.rows, 1):
        by_solver = row["game"] == "connect_four" and any(row[part] for part in ("fresh", "games", "worst"))
        names = ("seed", "fresh", "games", "starts", "positions")
        settings = [row["settings"][name] for name in names]
        try:
            if by_solver and not _solver.available():
                raise ValueError(_solver.NEEDED)
            _yardstick(row["game"], folder, *settings).verify(json.dumps(row), solved=by_solver)
            if by_solver:
                _solved(Game("connect_four"), *settings).verify(row)
        except ValueError as error:
            raise ValueError(f"row {number}: {error}") from None
    verified.text += _benchmark.UNVERIFIED
    return verified


def interval(numbers: Sequence[float], *, draws: int = 2000, seed: int = 1) -> tuple[float, float, float]:
    """The median of the results of several seeds, and its 95 % interval by bootstrap."""
    given = np.asarray(numbers, float)
    chosen = np.random.default_rng(seed).integers(len(given), size=(draws, len(given)))
    low, high = np.percentile(np.median(given[chosen], axis=1), [2.5, 97.5])
    return float(np.median(given)), float(low), float(high)


def summary(results: Sequence[Result]) -> list[dict[str, Any]]:
    """The measures of one algorithm over its seeds, one result each: medians with their intervals, one row per budget."""
    rows = []
    for same in zip(*(result.table for result in results), strict=True):
        row: dict[str, Any] = {"simulations": same[0]["simulations"], "seeds": len(same)}
        for measure in same[0]:
            values = [one[measure] for one in same if one[measure] is not None]
            if measure not in ("agent", "simulations"):
                row[measure] = interval(values) if values else None
        rows.append(row)
    return rows


class Entry:
    """What the board has of one algorithm with one budget: the results of its training seeds, measured by one version.

    >>> Entry(results, code="https://example.org/mine", command="python mine.py").save("mine.json")

    Raises ``ValueError`` unless the results belong together: the seeds are 1, 2, 3 and so on, and name, budget and
    simulations are the same.
    """

    results: list[Result]
    """One for each seed."""
    version: Version
    code: str
    """Where the code is."""
    command: str
    """What trained and measured the first seed, or all."""

    def __init__(self, results: Sequence[Result], *, code: str, command: str) -> None:
        settings = results[0].rows[0]["settings"]
        found = [version for version in VERSIONS.values() if version.settings == settings]
        if not found:
            raise ValueError(f"not measured by a version of the benchmark, which are {', '.join(VERSIONS)}")
        self.results, self.version, self.code, self.command = list(results), found[0], code, command
        _benchmark.check_entry(self.version, code, command, [result.rows for result in results])
        self.text = self._text()

    @staticmethod
    def load(path: Path) -> Entry:
        """The entry in a file of `save`, as the file has it; `verify` checks its measures, too."""
        rows, version, code, command = _benchmark.read_entry(_benchmark.read(FilePath(path).read_text(encoding="utf-8")))
        read = [json.loads(_jarmo.yardstick_rows(json.dumps(row))[0]) for row in rows]
        seeds: dict[Any, list[dict[str, Any]]] = {}
        for row in read:
            seeds.setdefault((row["claims"].get("training") or {}).get("seed"), []).append(row)
        entry = Entry([Result(rows) for rows in seeds.values()], code=code, command=command)
        if version != entry.version.name:
            raise ValueError(f"version is {version!r}, and the settings are those of {entry.version.name}")
        return entry

    def save(self, path: Path) -> None:
        """Writes a file for the board. The file's name does not matter."""
        rows = []
        for row in self.rows:
            rows.append({**row, "answers": {part: _benchmark.pack(row["answers"][part]) for part in _benchmark.PARTS}})
        values = (self.version.name, self.code, self.command, rows)
        text = json.dumps(dict(zip(_benchmark.KEYS, values, strict=True)), indent=1)
        FilePath(path).write_text(text + "\n", encoding="utf-8")

    @property
    def name(self) -> str:
        """The name of the algorithm."""
        return str(self.rows[0]["agent"])

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows of all seeds."""
        return [row for result in self.results for row in result.rows]

    @property
    def budget(self) -> tuple[str, float] | None:
        """What the budget of the training counts (``steps``, ``evaluations`` or ``minutes``), and how much it is."""
        training = self.results[0].training
        return None if training is None else next(iter(training["budget"].items()))

    def used(self) -> dict[str, float]:
        """The medians over the seeds of what the training used: ``steps``, ``evaluations``, and ``minutes`` of CPU time of
        a machine of speed 1."""
        trainings = [(result.training or {}, result.machine["speed"]) for result in self.results]
        used = {name: np.median([training.get(name, 0) for training, _ in trainings]) for name in ("steps", "evaluations")}
        used["minutes"] = np.median([training.get("cpu_seconds", 0) * speed / 60 for training, speed in trainings])
        return {name: float(value) for name, value in used.items()}

    def summary(self) -> list[dict[str, Any]]:
        """The measures as medians over the seeds with their intervals, one row for each number of simulations."""
        return summary(self.results)

    def _text(self) -> str:
        trained = "no training"
        if self.budget is not None:
            trained = "{1:,} {0}, ".format(*self.budget) + f"{len(self.results)} of {_benchmark.SEEDS} seeds"
        lines = [f"{self.version.name}: {self.name}, {trained}"]
        for row in self.summary():
            lines.append("its own search" if row["simulations"] is None else f"{row['simulations']} simulations")
            for name in _benchmark.MEASURES:
                if row[name]:
                    median, low, high = (f"{number:.4g}" for number in row[name])
                    lines.append(f"  {name}: {median}" + (f" ({low} to {high})" if low != high else ""))
        return "\n".join(lines) + "\n"

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<yardstick.Entry of {self.name} in {self.version.name}>"


def plot(
    entries: Sequence[Entry], *, measure: str = "fresh_wrong", by: str = "steps", simulations: int | None = 0, axes: Any = None
) -> Any:
    """Draws a measure over what the training used: medians, with their intervals as bands. Entries without training
    are drawn as horizontal lines. Needs matplotlib; returns its axes.

    Args:
        entries: Entries of one version, such as ``map(Entry.load, glob("yardstick/results/*.json"))``.
        measure: A name in the rows of `Entry.summary`.
        by: ``steps``, ``evaluations`` or ``minutes``, as in `Entry.used`. Entries that did not count it are left out.
        simulations: The row of each entry; those of agents that search by their own spec have None.
        axes: Where to draw, a new figure by default.
    """
    if axes is None:
        axes = importlib.import_module("matplotlib.pyplot").subplots()[1]
    curves: dict[str, list[tuple[float, tuple[float, float, float]]]] = {}
    for entry in entries:
        rows = [row for row in entry.summary() if row["simulations"] in (simulations, None) and row[measure]]
        for row in rows:
            if entry.budget is None:
                axes.axhline(row[measure][0], linestyle=":", linewidth=1, color="gray")
                axes.annotate(entry.name, (1, row[measure][0]), xycoords=("axes fraction", "data"), fontsize=8)
            elif used := entry.used()[by]:
                curves.setdefault(entry.name, []).append((used, row[measure]))
    for name, points in sorted(curves.items()):
        amounts, measures = zip(*sorted(points), strict=True)
        median, low, high = zip(*measures, strict=True)
        (line,) = axes.plot(amounts, median, marker="o", markersize=4, label=name)
        axes.fill_between(amounts, low, high, alpha=0.2, color=line.get_color())
    axes.set(xscale="log", yscale="log", xlabel=by, ylabel=measure.replace("_", " "))
    if curves:
        axes.legend(frameon=False)
    return axes


@lru_cache(maxsize=1)
def calibrate() -> float:
    """How fast one core of this machine steps the environment, relative to the machine of the published results."""
    speeds = [_jarmo.bench_env("connect_four", 100, seconds=0.15)["plies_per_cpu_s"] for _ in range(3)]
    return float(np.median(speeds) / REFERENCE)


def machine() -> dict[str, Any]:
    """What was used: versions, the CPU, its speed."""
    return {
        "jarmo": jarmo.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "processor": _processor(),
        "speed": round(calibrate(), 3),
    }


def _processor() -> str:
    """The model of the CPU where the system tells it, else its architecture."""
    try:
        found = re.search(r"^model name\s*: (.+)$", FilePath("/proc/cpuinfo").read_text(encoding="utf-8"), re.M)
    except OSError:
        found = None
    return found[1] if found else platform.processor() or platform.machine()


def _cpu_seconds() -> float:
    """The CPU time of this process and of its child processes that have ended."""
    return sum(os.times()[:4])


class Budget:
    """A limit for training: environment steps, evaluations, or minutes of CPU time on a machine of speed 1.

    An environment step is an action in a game that the training plays, an evaluation a position that its network or
    another function judges, in order to act, to search or to make targets; gradient steps do not count.

    >>> budget = Budget(steps=1_000_000)
    >>> while budget:
    ...     ...
    ...     budget.step(count)
    """

    def __init__(
        self, *, minutes: float | None = None, steps: int | None = None, evaluations: int | None = None
    ) -> None:
        if sum(limit is not None for limit in (minutes, steps, evaluations)) != 1:
            raise ValueError("a budget is one of minutes, steps and evaluations")
        if minutes is not None and not 0 < minutes < math.inf:
            raise ValueError(f"minutes must be above 0, not {minutes}")
        if steps is not None and steps < 1:
            raise ValueError(f"steps must be at least 1, not {steps}")
        if evaluations is not None and evaluations < 1:
            raise ValueError(f"evaluations must be at least 1, not {evaluations}")
        self.minutes: float | None = minutes
        self.steps: int | None = steps
        self.evaluations: int | None = evaluations
        self.taken: int = 0
        self.evaluated: int = 0
        self.speed: float = calibrate() if minutes is not None else 1.0
        self.start: float = _cpu_seconds()

    def step(self, count: int = 1, *, evaluations: int = 0) -> None:
        """Counts steps of the environment, and evaluations."""
        self.taken += int(count)
        self.evaluated += int(evaluations)

    @property
    def done(self) -> float:
        """The share that is used up."""
        if self.steps is not None:
            return self.taken / self.steps
        if self.evaluations is not None:
            return self.evaluated / self.evaluations
        assert self.minutes is not None
        return (_cpu_seconds() - self.start) * self.speed / (60 * self.minutes)

    def used(self, seed: int | None = None) -> dict[str, Any]:
        """What results record about the training: the budget, its seed, steps, evaluations, and the CPU time since its
        start, including ended child processes."""
        limits = {"minutes": self.minutes, "steps": self.steps, "evaluations": self.evaluations}
        return {
            "budget": {name: limit for name, limit in limits.items() if limit is not None},
            "seed": seed,
            "steps": self.taken,
            "evaluations": self.evaluated,
            "cpu_seconds": round(_cpu_seconds() - self.start, 1),
        }

    def __bool__(self) -> bool:
        return self.done < 1


class ExamData(NamedTuple):
    """The questions of an exam, ``N`` positions with the exact result of every action."""

    positions: list[Position]
    """``[N]``."""
    features: NDArray[np.float32]
    """``[N, planes, rows, columns]``."""
    masks: NDArray[np.bool_]
    """``[N, actions]``: the legal actions."""
    results: NDArray[np.int8]
    """``[N, actions]``: 1 won, 0 drawn, -1 lost for the player who acts; -2 for illegal actions."""
    plies: NDArray[np.int32]
    """``[N, actions]``: plies to the end after the action, -1 where there are none."""
    phases: NDArray[np.int8]
    """``[N]``: 0 opening, 1 middle, 2 end."""
    critical: NDArray[np.bool_]
    """``[N]``: whether some action loses the best result."""
    checksum: str
    """The name of the exam."""
    made: str
    """How it was drawn and solved."""

    def wrong(self, actions: Any) -> float:
        """The share of critical decisions that are wrong with these actions, ``[N]``."""
        got = self.results[np.arange(len(self.results)), np.asarray(actions)]
        return float((got < self.results.max(axis=1))[self.critical].mean())

    def save(self, path: Path) -> None:
        """Writes an NPZ file with an array for each field; positions are texts."""
        arrays = {name: value for name, value in self._asdict().items() if name != "positions"}
        arrays["features"] = self.features.astype(np.uint8)
        texts = np.array([position.text for position in self.positions])
        with open(path, "wb") as file:
            np.savez_compressed(file, positions=texts, **arrays)


def load_exam(game: Game | str = "jarmo", path: Path | None = None) -> ExamData:
    """The exam of the package for a game, or that of a file: an exam of jarmo, or an NPZ file of `ExamData.save`."""
    rules = Game(game) if isinstance(game, str) else game
    if path is not None and str(path).endswith(".npz"):
        with np.load(path) as arrays:
            fields = {name: arrays[name] for name in ExamData._fields}
        texts = fields["positions"].tolist()
        fields.update(
            positions=[rules.position(text) for text in texts],
            features=fields["features"].astype(np.float32),
            checksum=str(fields["checksum"]),
            made=str(fields["made"]),
        )
        return ExamData(**fields)
    positions, results, plies, phases, critical, checksum, made = _jarmo.exam_questions(rules, path)
    features, masks = rules.features(positions), rules.masks(positions)
    return ExamData(positions, features, masks, results, plies, phases, critical, checksum, made)
