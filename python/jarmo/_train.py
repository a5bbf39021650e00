"""Training with the built-in trainer, the one of ``jarmo train``."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from pathlib import Path as FilePath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict

from jarmo import _jarmo, _notebook
from jarmo._jarmo import Agent, Game, Training
from jarmo._types import Path

if TYPE_CHECKING:
    from typing_extensions import Unpack

NetSettings = TypedDict(
    "NetSettings", {"kind": Literal["mlp", "tower"], "width": int, "blocks": int}, total=False
)

SelfPlaySettings = TypedDict(  # by a call, because one of its keys is a keyword of Python
    "SelfPlaySettings",
    {
        "games": int,
        "simulations": int,
        "root": Literal["gumbel", "puct"],
        "considered": int,
        "least_range": float,
        "c_puct": float,
        "fpu": float,
        "temperature": float,
        "max_random_plies": int,
        "endgames": float,
        "endgame_force": int,
        "lambda": float,
    },
    total=False,
)


class ReplaySettings(TypedDict, total=False):
    """The replay buffer."""

    capacity: int


class LearnerSettings(TypedDict, total=False):
    """The optimizer."""

    rate: float
    warm_up: int
    decay: int
    average: float


class EvaluationSettings(TypedDict, total=False):
    """Matches and exams during the run."""

    every: int
    games: int
    simulations: int
    random_plies: int
    opponents: list[str]
    past: int
    exam: str


class Limits(TypedDict, total=False):
    """When a training stops: the first limit that is reached. All count from the start of the run; 0 is no limit."""

    steps: int | None
    games: int | None
    minutes: float | None
    cpu_minutes: float | None


class RunSettings(Limits, total=False):
    """The settings of the group ``run``."""

    seed: int
    threads: int
    kernel: Literal["fastest", "portable", "int8"]
    batch: int
    reuse: float
    first_samples: int
    checkpoint: int
    keep: int


class Settings(RunSettings, total=False):
    """The settings of a run, as in ``configs/default.toml``: those of its group ``run`` by their names, those of the other
    groups as dicts."""

    board: Path
    net: NetSettings
    selfplay: SelfPlaySettings
    replay: ReplaySettings
    learner: LearnerSettings
    evaluation: EvaluationSettings


class Event(NamedTuple):
    """A line of metrics. A notebook shows its numbers as a table."""

    step: int
    """Training steps so far."""
    metrics: dict[str, Any]
    """The line, as in ``metrics.jsonl``. After a final match, the last line is repeated with its result."""

    def _repr_html_(self) -> str:
        return _notebook.table(("metric", "value"), _numbers("", self.metrics))


def _numbers(group: str, metrics: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """The numbers of a line with their names, such as ``timing.seconds``."""
    for name, value in metrics.items():
        if isinstance(value, Mapping):
            yield from _numbers(f"{group}{name}.", value)
        elif isinstance(value, int | float):
            yield f"{group}{name}", value


class Run:
    """A training run in a folder, as ``jarmo train`` makes it. Either can continue a run that the other
    started. A notebook shows its learning curves.

    Iterating over a run trains it and yields its lines of metrics; leaving the loop saves and stops it::

        run = jarmo.Run("runs/c4", game="connect_four", net={"width": 128}, cpu_minutes=10)
        for event in run:
            print(event.step, event.metrics["loss"])
        agent = run.agent()

    Args:
        folder: A new folder.
        game: The name of a game.
        from_agent: An agent or its file, whose weights the run starts from, or ``trained`` for the agent of the package.
        settings: The limits ``steps``, ``games``, ``minutes`` and ``cpu_minutes``; ``seed``, ``threads``, ``batch`` and the
            rest of the group ``run``; and the other groups as dicts. ``jarmo config`` prints them all.

    Raises:
        ValueError: A setting is unknown or out of its bounds, or the folder has a run already.
    """

    folder: FilePath

    def __init__(
        self,
        folder: Path,
        *,
        game: str = "jarmo",
        from_agent: Path | Agent | None = None,
        **settings: Unpack[Settings],
    ) -> None:
        if isinstance(game, Game):
            raise TypeError(f"game must be the name of a game, such as {game.name!r}; a board is a setting: board=FILE")
        if isinstance(from_agent, Agent):
            if from_agent.game.name != game:
                raise ValueError(f"from_agent is an agent of {from_agent.game.name}, not of {game}")
            from_agent = from_agent.spec.partition("?")[0]
        _jarmo.create_run(folder, game, _texts(settings), from_agent)
        self._open(folder)

    @classmethod
    def resume(cls, folder: Path) -> Run:
        """The run in a folder, with its own settings."""
        run = cls.__new__(cls)
        run._open(folder)
        return run

    def _open(self, folder: Path) -> None:
        self.folder = FilePath(folder)
        self._game, _ = _jarmo.read_run(folder)
        self._training: Training | None = None

    @property
    def game(self) -> Game:
        """The rules of its game."""
        return self._game

    def __iter__(self) -> Iterator[Event]:
        return self._events({}, None)

    def train(
        self, *, progress: bool = True, on_event: Callable[[Event], object] | None = None, **limits: Unpack[Limits]
    ) -> Agent:
        """Trains until a limit is reached, and returns the agent. Ctrl-C saves and returns it, too.

        Args:
            progress: Prints progress, and draws the learning curves in a notebook.
            on_event: Called with each line of metrics. If it raises an exception, the run is saved and stops.
            limits: Replace the run's limits for this call.
        """
        shown = _Progress() if progress else None
        curve = _LiveCurve(self._lines()) if progress and _notebook.is_running() else None
        events = self._events(limits, shown)
        try:
            for event in events:
                if curve is not None:
                    curve.add(event.metrics)
                if on_event is not None:
                    on_event(event)
        except KeyboardInterrupt:
            pass
        finally:
            events.close()
            if curve is not None:
                curve.draw()
        return self.agent()

    def agent(self, *, simulations: int = 64) -> Agent:
        """The agent of the newest checkpoint."""
        _, path = _jarmo.read_run(self.folder)
        if path is None:
            raise ValueError(f"{self.folder}: there is no checkpoint yet")
        return Agent(f"{path}?sims={simulations}", game=self._game)

    def close(self) -> None:
        """Saves and stops a training that a loop has left unfinished."""
        if self._training is not None:
            self._training.finish()
            self._training = None

    def _events(self, limits: Limits, shown: _Progress | None) -> Generator[Event, None, None]:
        self.close()
        training = self._training = Training(self.folder, _texts(limits))
        try:
            while (told := training.next()) is not None:
                metrics, warning, line = told
                if warning is not None:
                    warnings.warn(warning, stacklevel=3)
                if shown is not None and line is not None:
                    shown.line(line, is_step=metrics is not None)
                if metrics is not None:
                    step, text = metrics
                    yield Event(step, json.loads(text))
        finally:
            training.finish()
            if shown is not None:
                shown.end()

    def _lines(self) -> list[dict[str, Any]]:
        """The lines of metrics so far."""
        file = self.folder / "metrics.jsonl"
        if not file.exists():
            return []
        complete, _, _ = file.read_text(encoding="utf-8").rpartition("\n")  # another process may be writing
        return [json.loads(line) for line in complete.splitlines()]

    def _repr_svg_(self) -> str | None:
        return _Curves(self._lines())._repr_svg_()

    def __repr__(self) -> str:
        return f"jarmo.Run.resume({os.fspath(self.folder)!r})"


def train(
    game: str = "jarmo",
    *,
    run: Path | None = None,
    progress: bool = True,
    on_event: Callable[[Event], object] | None = None,
    from_agent: Path | Agent | None = None,
    **settings: Unpack[Settings],
) -> Agent:
    """Trains an agent by self-play until a limit is reached, and returns it. Ctrl-C returns it, too.

    >>> agent = jarmo.train("connect_four", minutes=4)
    >>> jarmo.arena([agent, "rollout:1000"], game="connect_four")

    Args:
        game: The name of a game.
        run: A new folder for the run, which `jarmo.Run.resume` and ``jarmo train --resume`` continue. Without one, only
            the agent is kept, in a temporary file until the end of the process.
        progress: Prints progress, and draws the learning curves in a notebook.
        on_event: Is called with each line of metrics, as in `jarmo.Run.train`.
        from_agent: An agent or its file, whose weights the training starts from, or ``trained`` for the agent of the
            package.
        settings: See `jarmo.Run`.
    """
    if run is not None:
        return Run(run, game=game, from_agent=from_agent, **settings).train(progress=progress, on_event=on_event)
    with TemporaryDirectory(prefix="jarmo-run-") as folder:
        agent = Run(folder, game=game, from_agent=from_agent, **settings).train(progress=progress, on_event=on_event)
        file = agent.spec.partition("?")[0]
        kept = TemporaryDirectory(prefix="jarmo-agent-")
        _kept.append(kept)
        copy = shutil.copy(file, os.path.join(kept.name, f"{game}.safetensors"))
        return Agent(agent.spec.replace(file, copy), game=agent.game)


_kept: list[TemporaryDirectory[str]] = []
"""The folders of agents without a run, deleted when the process ends."""


def _texts(settings: Mapping[str, Any]) -> list[str]:
    """Settings as texts ``KEY=VALUE``, as on the command line."""
    texts = []
    for name, value in settings.items():
        if isinstance(value, Mapping):
            texts += [f"{name}.{key}={_text(one)}" for key, one in value.items()]
        elif value is not None:
            group = "game." if name == "board" else "run." if name in RunSettings.__annotations__ else ""
            texts.append(f"{group}{name}={_text(value)}")
    return texts


def _text(value: object) -> str:
    """A value in TOML, which writes numbers, texts and lists of them as JSON does."""

    def plain(other: Any) -> Any:
        return os.fspath(other) if isinstance(other, os.PathLike) else other.item()  # a scalar of NumPy

    try:
        return json.dumps(value, default=plain, ensure_ascii=False)
    except AttributeError:
        return repr(value)


class _Progress:
    """Prints the lines of a run. On a terminal and in a notebook, a line about training steps replaces the one before."""

    EVERY = 2.0
    """Seconds between two lines about training steps."""

    def __init__(self) -> None:
        self.redraws = sys.stdout.isatty() or _notebook.is_running()
        self.next = 0.0
        self.open = 0  # characters of the line that the next one may replace

    def line(self, line: str, *, is_step: bool) -> None:
        now = time.monotonic()
        if is_step and now < self.next:
            return
        if is_step:
            self.next = now + self.EVERY
        if not self.redraws:
            print(line, flush=True)
            return
        if is_step:
            line = line[: shutil.get_terminal_size().columns - 1]
        print("\r" + line.ljust(self.open), end="" if is_step else "\n", flush=True)
        self.open = len(line) if is_step else 0

    def end(self) -> None:
        if self.open:
            print(flush=True)
            self.open = 0


class _Curves:
    """The learning curves of some lines of metrics: losses, exams and ratings, as far as there are any."""

    def __init__(self, lines: Iterable[Mapping[str, Any]]) -> None:
        losses: dict[str, _notebook.Points] = {"policy": [], "result": []}
        exams: _notebook.Points = []
        ratings: _notebook.Points = []
        self.panels = [
            _notebook.Panel("loss", losses),
            _notebook.Panel("exam: critical decisions right", {"": exams}),
            _notebook.Panel("Elo", {"": ratings}),
        ]
        for line in lines:
            self.add(line)

    def add(self, line: Mapping[str, Any]) -> None:
        losses, exams, ratings = (panel.lines for panel in self.panels)
        for name, points in losses.items():
            points.append((line["step"], line[f"loss_{name}"]))
        if (exam := line.get("accuracy")) and exam["critical"]:
            exams[""].append((line["step"], exam["critical_right"] / exam["critical"]))
        if match := line.get("final_match") or line.get("strength"):
            ratings[""].append((match["step"], match["elo"]))

    def _repr_svg_(self) -> str | None:
        full = [panel for panel in self.panels if any(panel.lines.values())]
        return _notebook.curves(full) if full else None


class _LiveCurve:
    """Learning curves below a cell of a notebook, redrawn during training."""

    EVERY = 2.0
    """Seconds between two drawings."""

    def __init__(self, lines: Iterable[Mapping[str, Any]]) -> None:
        self.curves = _Curves(lines)
        self.handle: Any = None
        self.next = 0.0

    def add(self, line: Mapping[str, Any]) -> None:
        self.curves.add(line)
        if time.monotonic() >= self.next:
            self.draw()

    def draw(self) -> None:
        self.next = time.monotonic() + self.EVERY
        svg = self.curves._repr_svg_()
        if svg is None:
            return
        from IPython.display import SVG, display

        if self.handle is None:
            self.handle = display(SVG(svg), display_id=True)
        else:
            self.handle.update(SVG(svg))
