"""Self-play with your own network, and exams."""

from __future__ import annotations

from typing import Literal, NamedTuple

from jarmo import _jarmo, _notebook
from jarmo._arena import game_of
from jarmo._jarmo import Game, SelfPlay
from jarmo._types import Evaluate, Path, Player, Progress


def self_play(
    game: Game | str,
    evaluate: Evaluate,
    *,
    games: int = 512,
    simulations: int = 32,
    root: Literal["gumbel", "puct"] = "gumbel",
    max_random_plies: int = 0,
    value_lambda: float = 1.0,
    seed: int | None = None,
    threats: bool = False,
    min_samples: int = 1024,
    threads: int | None = None,
    considered: int | None = None,
    least_range: float | None = None,
    c_puct: float | None = None,
    fpu: float | None = None,
    temperature: float | None = None,
) -> SelfPlay:
    """Plays games against itself without end and yields their positions as `jarmo.Samples`.

    Args:
        game: A game or its name.
        evaluate: Your network, called as in `jarmo.search`. Evaluations are remembered within one step of the
            iterator and forgotten between two, so the network may learn from each step.
        games: Games at a time. Their trees are searched together.
        simulations: Simulations per action.
        root: Gumbel AlphaZero, which needs few simulations, or AlphaZero's PUCT.
        max_random_plies: A game starts with 0 to this many random plies, which are not samples.
        value_lambda: Lambda of TD(lambda): 1 learns the results of games, 0 what search expected.
        seed: The seed of all randomness, by default another one each time.
        threats: Adds the threat planes to the features.
        min_samples: Each step of the iterator yields at least this many positions.
        threads: Threads that grow trees, by default one per core.
        considered: These five are settings of the search, as in `jarmo.search`.
        least_range: See there.
        c_puct: See there.
        fpu: See there.
        temperature: See there.
    """
    return SelfPlay(
        game,
        evaluate,
        games=games,
        simulations=simulations,
        root=root,
        max_random_plies=max_random_plies,
        value_lambda=value_lambda,
        seed=seed,
        threats=threats,
        min_samples=min_samples,
        threads=threads,
        considered=considered,
        least_range=least_range,
        c_puct=c_puct,
        fpu=fpu,
        temperature=temperature,
    )


class Tally(NamedTuple):
    """Decisions, and those that kept the best possible result."""

    decisions: int
    right: int
    critical: int
    """Decisions in positions in which some action loses the best result."""
    critical_right: int

    @property
    def share(self) -> float:
        """The share of all decisions that were right."""
        return self.right / max(self.decisions, 1)

    @property
    def critical_share(self) -> float:
        """The share of critical decisions that were right."""
        return self.critical_right / max(self.critical, 1)


class ExamResult(NamedTuple):
    """How often an agent kept the best possible result, in all and by phase of the game. A notebook shows it as a table."""

    all: Tally
    opening: Tally
    middle: Tally
    end: Tally

    def _repr_html_(self) -> str:
        rows = [
            (
                name,
                tally.decisions,
                _notebook.percent(tally.right, tally.decisions),
                tally.critical,
                _notebook.percent(tally.critical_right, tally.critical),
            )
            for name, tally in self._asdict().items()
        ]
        return _notebook.table(("phase", "decisions", "right", "critical", "critical right"), rows)


def exam(
    agent: Player,
    *,
    game: Game | str | None = None,
    file: Path | None = None,
    nodes: int | None = None,
    seed: int | None = 1,
    threats: bool = False,
    progress: Progress | None = None,
) -> ExamResult:
    """Examines an agent in solved positions. Ctrl-C ends it at once.

    Args:
        agent: An agent, its spec, or a function of positions, or of features and masks.
        game: A game or its name, by default the game of an `Agent`, else jarmo. Without `file`, a game whose exam the
            package does not have is an error.
        file: Another exam than the one in the package.
        nodes: Simulations or nodes per position, in place of the spec's.
        seed: The seed of the agent; None for another one each time.
        threats: The features of a function have the threat planes.
        progress: Called as ``progress("exam", done, total)``.
    """
    rules = game_of([agent]) if game is None else game
    counts = _jarmo.exam(agent, rules, file=file, nodes=nodes, seed=seed, threats=threats, progress=progress)
    tallies = {name: Tally(*tally) for name, tally in counts}
    return ExamResult(*(tallies.get(name, Tally(0, 0, 0, 0)) for name in ExamResult._fields))
