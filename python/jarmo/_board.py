"""Positions in the form that the drawing of the page takes (``board.js``): cells, lines, pieces, and what actions do."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from jarmo._jarmo import Game, Position

STYLES = {"jarmo": "board", "guard": "board", "tammi": "squares", "connect_four": "slots"}
"""How boards are drawn: circles with lines, dark squares, or a frame with holes."""

PLAYERS = {"w": "white", "b": "black"}


class Gesture(NamedTuple):
    """The cells that an action names: a move has both, a placement only a target, a pass neither."""

    source: int | None
    target: int | None


class Layout:
    """The board of a game, which is the same in every position."""

    def __init__(self, game: Game) -> None:
        self.style = STYLES[game.name]
        _, self.rows, self.columns = game.feature_shape()
        letters = "abcdefgh" if self.style == "squares" else "ABCDEFGH"
        self.cells = [
            {"name": f"{letters[column]}{row + 1}", "column": column, "row": row}
            for row in range(self.rows)
            for column in range(self.columns)
            if self.style != "squares" or (column + row) % 2 == 0
        ]
        self.index = {cell["name"]: index for index, cell in enumerate(self.cells)}
        self.lines = [(int(one), int(other)) for one, other in np.argwhere(np.triu(game.lines))]

    def at(self, column: int, row: int) -> int | None:
        """The cell at a column and row, if there is one."""
        letter = chr(ord(str(self.cells[0]["name"])[0]) + column)
        return self.index.get(f"{letter}{row + 1}")

    def view(self) -> dict[str, Any]:
        return {
            "style": self.style,
            "columns": self.columns,
            "rows": self.rows,
            "cells": self.cells,
            "lines": self.lines,
        }


@lru_cache
def layout_of(game: Game) -> Layout:
    return Layout(game)


def pieces(position: Position) -> list[dict[str, Any]]:
    """The pieces, which are the letters in the first field of the text; capitals are strong."""
    layout = layout_of(position.game)
    fields = position.text.split()
    jumped = re.findall(r"[a-h]\d", fields[2].partition("x")[2]) if layout.style == "squares" else []
    found = []
    for below, line in enumerate(fields[0].split("/")):
        column = 0
        for letter in line:
            if letter.isdigit():
                column += int(letter)
                continue
            cell = layout.at(column, layout.rows - 1 - below)
            assert cell is not None, "pieces stand on cells"
            found.append(
                {
                    "cell": cell,
                    "player": PLAYERS[letter.lower()],
                    "strong": letter.isupper(),
                    "leaving": layout.cells[cell]["name"] in jumped,
                }
            )
            column += 1
    return found


def gesture(position: Position, text: str) -> Gesture:
    """The cells of a legal action with this text."""
    layout = layout_of(position.game)
    if layout.style == "slots":
        column = ord(text) - ord("A")
        taken = {piece["cell"] for piece in pieces(position)}
        free = [cell for row in range(layout.rows) if (cell := layout.at(column, row)) not in taken]
        return Gesture(None, free[0])
    cells = [layout.index[name] for name in re.findall(r"[A-Ha-h]\d", text)]
    source = cells[0] if len(cells) == 2 else None
    return Gesture(source, cells[-1] if cells else None)


def winning_cells(position: Position) -> list[int]:
    """The cells of four or more stones in a line, in connect four."""
    layout = layout_of(position.game)
    if layout.style != "slots":
        return []
    owners = {piece["cell"]: piece["player"] for piece in pieces(position)}
    cells: set[int] = set()
    for cell, owner in owners.items():
        column, row = cell % layout.columns, cell // layout.columns
        for right, up in ((1, 0), (0, 1), (1, 1), (1, -1)):
            line = [layout.at(column + far * right, row + far * up) for far in range(4)]
            if all(one is not None and owners.get(one) == owner for one in line):
                cells.update(one for one in line if one is not None)
    return sorted(cells)


def forbidden(position: Position) -> list[dict[str, Any]]:
    """The move that jarmo's rule against shuttling forbids to the player to move: the last one reversed, if its streak
    is 4."""
    if position.game.name != "jarmo" or position.is_over:
        return []
    last, _, streak = position.text.split()[2 + position.to_move].partition("*")
    if streak != "4":
        return []
    source, target = re.findall(r"[A-Z]\d", last)
    player = ("white", "black")[position.to_move]
    return [{"key": "note_shuttle", "player": player, "what": f"{target}-{source}"}]


def scene(position: Position, last: Gesture | None) -> dict[str, Any]:
    """Everything that is drawn on the board; ``last`` is the action before."""
    legal = []
    for text in position.legal_texts:
        source, target = gesture(position, text)
        legal.append({"text": text, "from": source, "to": target})
    return {
        "pieces": pieces(position),
        "legal": legal,
        "last": None if last is None else {"from": last.source, "to": last.target},
        "winning": winning_cells(position),
        "notes": forbidden(position),
        "to_move": ("white", "black")[position.to_move],
        "outcome": position.is_over,
    }
