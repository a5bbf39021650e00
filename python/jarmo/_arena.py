"""Tournaments as tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jarmo import _jarmo, _notebook
from jarmo._jarmo import Agent, Game
from jarmo._types import Path, Player


class Table(dict[str, NDArray[Any]]):
    """Columns of equal length by name, which a notebook shows as a table."""

    def _repr_html_(self) -> str:
        return _notebook.table(list(self), zip(*self.values(), strict=True))


class ArenaResult:
    """The ratings of agents after a tournament. A notebook shows them as a picture, ``print`` as text."""

    agents: Table
    """One row per agent, strongest first: ``name``, ``elo`` with its 95 % ``margin``, ``games``, ``wins``, ``draws``,
    ``losses``, ``score``."""
    matches: Table
    """One row per match: ``first``, ``second``, ``elo`` of the first over the second with its ``margin``,
    ``superiority``, ``games``, ``wins``, ``draws``, ``losses``, ``score``."""
    report: dict[str, Any]
    """Everything that ``jarmo arena --json`` writes."""
    svg: str
    """The ratings as a picture."""

    def __init__(self, report: str, text: str, svg: str) -> None:
        self.report = json.loads(report)
        self.svg = svg
        self._text = text
        results = ("games", "wins", "draws", "losses", "score")
        self.agents = _table(
            [
                {"name": row["name"], **row["rating"], **{key: row[key] for key in results}}
                for row in self.report["agents"]
            ],
            ("name", "elo", "margin", *results),
        )
        self.matches = _table(
            [
                {
                    "first": row["first"],
                    "second": row["second"],
                    **row["elo"],
                    "superiority": row["superiority"],
                    **{key: row[key] for key in results},
                }
                for row in self.report["matches"]
            ],
            ("first", "second", "elo", "margin", "superiority", *results),
        )

    def to_frame(self) -> Any:
        """The table of agents as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame(self.agents)

    def _repr_svg_(self) -> str:
        return self.svg

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        names = ", ".join(self.agents["name"].tolist())
        return f"<ArenaResult of {names}>"


def arena(
    agents: Sequence[Player],
    *,
    game: Game | str | None = None,
    games: int = 100,
    nodes: int | None = None,
    random_plies: int | None = None,
    openings: Path | None = None,
    gauntlet: bool = False,
    anchor: str | None = None,
    seed: int | None = 1,
    threads: int | None = None,
    threats: bool = False,
) -> ArenaResult:
    """Lets agents play each other and rates them.

    Args:
        agents: Two or more: an agent, its spec, or a function of positions, or of features and masks. A function is named
            after itself and called in the thread of the caller.
        game: A game or its name, by default the game of the first `Agent`, or jarmo if there is none.
        games: Games per match, an even number: each opening is played from both sides.
        nodes: Simulations or nodes per action for every agent, in place of their specs'.
        random_plies: Random plies at the start of each game; by default the game's balanced openings, or 2 random
            plies in a game without a list.
        openings: A file with openings.
        gauntlet: The first agent plays all others, which do not play each other.
        anchor: An agent with a fixed rating, such as ``"random=0"``; by default the mean of all ratings is 0.
        seed: The seed of openings and agents; None for another one each time.
        threads: Threads, by default one per core. Their number changes no result.
        threats: The features of functions have the threat planes.
    """
    players = list(agents)
    return ArenaResult(
        *_jarmo.arena(
            players,
            game_of(players) if game is None else game,
            games=games,
            nodes=nodes,
            random_plies=random_plies,
            openings=openings,
            gauntlet=gauntlet,
            anchor=anchor,
            seed=seed,
            threads=threads,
            threats=threats,
        )
    )


def game_of(players: Sequence[Player]) -> Game | str:
    """The game that is meant where none is given."""
    return next((player.game for player in players if isinstance(player, Agent)), "jarmo")


def _table(rows: list[dict[str, Any]], columns: tuple[str, ...]) -> Table:
    return Table({column: np.array([row[column] for row in rows]) for column in columns})
