"""The results of calls, as named tuples of NumPy arrays."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from jarmo import Agent, Game, Position, VecEnv

Path: TypeAlias = str | os.PathLike[str]

Evaluate: TypeAlias = Callable[[NDArray[np.float32], NDArray[np.bool_]], tuple[Any, Any] | list[Any]]
"""A network: features and masks in, logits and values out. See `jarmo.search`."""

Player: TypeAlias = "Path | Agent | Callable[..., Any]"
"""Who plays: the spec or the path of an agent, an agent, or a function. A function that needs one argument gets a list
of positions and returns an action for each. Any other gets features ``[B, planes, rows, columns]`` and masks ``[B,
actions]``, and returns actions ``[B]``, logits ``[B, actions]``, or a tuple of logits and values."""

Progress: TypeAlias = Callable[[str, int, int], Any]
"""Called now and then in the caller's thread, with the part of the measurement, how much of it is done, and the
total."""

Positions: TypeAlias = "Position | Sequence[Position] | NDArray[np.object_]"
"""A position or several."""

Features: TypeAlias = NDArray[Any]


class Outcome(NamedTuple):
    """How a game ended."""

    winner: int | None
    """0 for White, 1 for Black, None for a draw."""
    score: tuple[int, int] | None
    """Points of White and Black, in games that have points."""
    truncated: bool
    """The game was truncated by the move limit, which counts as a draw."""


class Step(NamedTuple):
    """The result of a step: one row per slot, ``N`` slots.

    The rows of ``observation``, ``mask`` and ``to_move`` are those of the positions to act in next. ``reward``,
    ``terminated``, ``truncated``, ``seat`` and ``seat_reward`` describe the game of the last step, even if the next
    one has begun.
    """

    observation: Features
    """``[N, planes, rows, columns]``, ``float32`` or ``uint8``: features of the positions, 0 or 1."""
    mask: NDArray[Any]
    """``[N, actions]``, ``bool``: the legal actions. With ``packed=True`` ``[N, ceil(actions / 8)]``, ``uint8``, eight
    actions per byte; ``numpy.unpackbits(mask, axis=1, count=actions, bitorder="little")`` unpacks them."""
    reward: NDArray[np.float32]
    """``[N, 2]``: +1, 0 or -1 for White and for Black where a game ended, else 0."""
    terminated: NDArray[np.bool_]
    """``[N]``: a game ended by its rules."""
    truncated: NDArray[np.bool_]
    """``[N]``: a game was truncated by the move limit."""
    to_move: NDArray[np.int8]
    """``[N]``: 0 if White is to move, 1 if Black is. The same player may act twice in a row."""
    seat: NDArray[np.int8]
    """``[N]``: the side whose action the last step played: the caller's against an opponent, else the player who was to
    move. After a reset: whose action the next step will play."""
    seat_reward: NDArray[np.float32]
    """``[N]``: the reward of that side, ``reward[numpy.arange(N), seat]``."""
    finished: NDArray[np.int64]
    """``[F]``: the slots whose games ended in the last step."""
    final_observation: Features
    """``[F, planes, rows, columns]``: the last positions of those games, in the order of ``finished``, as ``seat``
    sees them: as if that side were to move. So is the row of ``observation`` where a game is over."""


class SearchResult(NamedTuple):
    """The results of a search from ``N`` positions, from the point of view of the player to move."""

    actions: NDArray[np.int64]
    """``[N]``: the action to play."""
    policies: NDArray[np.float32]
    """``[N, actions]``: the policy after search: Gumbel's improved policy, or the shares of visits of PUCT. Illegal
    actions have 0, and so do actions that are proven to be worse than another."""
    values: NDArray[np.float32]
    """``[N]``: the expected result of the position, -1 to 1: the mean of its simulations, or the proven result. That of
    the action to play is in ``action_values``."""
    visits: NDArray[np.int32]
    """``[N, actions]``: evaluations at or below each action."""
    action_values: NDArray[np.float32]
    """``[N, actions]``: the expected result of each action, NaN where it was not visited."""
    proven: NDArray[np.bool_]
    """``[N]``: whether the value is certain, because search reached the ends of the game."""
    simulations: NDArray[np.int32]
    """``[N]``: the simulations made; fewer than asked for where the result was proven before."""


class Evaluation(NamedTuple):
    """An agent's judgement of ``N`` positions, from the point of view of the player to move."""

    actions: NDArray[np.int64]
    """``[N]``: the action it would play."""
    values: NDArray[np.float32]
    """``[N]``: the expected result of the action it would play, -1 to 1; 0 from agents without an opinion."""
    results: NDArray[np.float32]
    """``[N, 3]``: probabilities of win, draw and loss."""
    policies: NDArray[np.float32]
    """``[N, actions]``: its policy; zeros from agents without one."""
    visits: NDArray[np.int32]
    """``[N, actions]``: simulations or nodes by action; zeros from agents without search."""
    proven: NDArray[np.bool_]
    """``[N]``: whether the value is certain."""
    lines: list[list[str]]
    """The play that it expects, as texts of actions."""


class Samples(NamedTuple):
    """Positions of finished games with what to learn from them, from the point of view of the player to move."""

    features: NDArray[np.float32]
    """``[N, planes, rows, columns]``."""
    masks: NDArray[np.bool_]
    """``[N, actions]``: the legal actions."""
    policies: NDArray[np.float32]
    """``[N, actions]``: the policy after search."""
    outcomes: NDArray[np.float32]
    """``[N, 3]``: win, draw and loss; one of them is 1 unless ``value_lambda`` is below 1. The expected result is
    ``outcomes[:, 0] - outcomes[:, 2]``."""
    scores: NDArray[np.int8]
    """``[N]``: own points minus the opponent's at the end; 0 in games without points."""
    games: NDArray[np.int64]
    """``[N]``: the number of the game, counted from 0 over all steps of the iterator."""
    plies: NDArray[np.int32]
    """``[N]``: the actions played before."""
    actions: NDArray[np.int64]
    """``[N]``: the action that was played."""
    values: NDArray[np.float32]
    """``[N]``: the result that the search of this root expected of the action played, -1 to 1."""
    positions: NDArray[np.object_]
    """``[N]``: a `Position` each."""

    def save(self, path: Path) -> None:
        """Writes an NPZ file with an array for each field; positions are texts."""
        arrays = {name: array for name, array in self._asdict().items() if name != "positions"}
        arrays["features"] = self.features.astype(np.uint8)
        texts = np.array([position.text for position in self.positions])
        with open(path, "wb") as file:
            np.savez_compressed(file, positions=texts, **arrays)

    @staticmethod
    def load(path: Path, game: Game | str) -> Samples:
        """Reads what ``save`` wrote. ``game`` is that of the samples."""
        from jarmo import Game

        rules = Game(game) if isinstance(game, str) else game
        with np.load(path) as arrays:
            fields = {name: arrays[name] for name in Samples._fields}
        fields["features"] = fields["features"].astype(np.float32)
        texts = fields["positions"].tolist()
        fields["positions"] = np.array([rules.position(text) for text in texts], object)
        return Samples(**fields)


class Symmetry(NamedTuple):
    """A symmetry of a game, as permutations: ``features.reshape(N, -1)[:, symmetry.features]`` are the features of the
    mirrored positions, ``masks[:, symmetry.actions]`` their masks, and policies follow in the same way."""

    features: NDArray[np.int64]
    """``[planes x rows x columns]``."""
    actions: NDArray[np.int64]
    """``[actions]``."""


class Lookup(NamedTuple):
    """Exact results of ``N`` positions for the player to move."""

    known: NDArray[np.bool_]
    """``[N]``: whether the tables know the position; if not, the other fields mean nothing."""
    values: NDArray[np.int8]
    """``[N]``: 1 won, 0 drawn, -1 lost."""
    plies: NDArray[np.int32]
    """``[N]``: plies to the win or loss under best play; -1 for draws, and where the tables have no distances."""


def takes_positions(policy: Callable[..., Any]) -> bool:
    """Whether a function is one of positions: it needs one argument."""
    try:
        parameters = inspect.signature(policy).parameters.values()
    except (TypeError, ValueError):
        return False
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(one.kind in kinds and one.default is one.empty for one in parameters) == 1


def name_of(policy: Callable[..., Any]) -> str:
    """The name of a function."""
    return str(getattr(policy, "__name__", type(policy).__name__))


def restored(arguments: dict[str, Any], saved: bytes) -> VecEnv:
    """An environment as it was pickled."""
    from jarmo import VecEnv

    env = VecEnv(**arguments)
    env.restore(saved)
    return env
