#!/usr/bin/env python3
"""Measures the themes of the shipped puzzles by the rules alone, and writes them into the files.

    tools/puzzle_themes.py checkpoints/*.puzzles

A theme is measured on the solution of a puzzle. `T` is a turn of the player who solves it.

- double_threat (connect four): after a T, the player threatens four, and has four after every reply.
- zugzwang (connect four): after a T, the player threatens nothing, but has four after every reply.
- block (connect four): the first T takes the place at which the opponent would have won.
- return (jarmo): a T brings an archer back.
- fork (jarmo): after a T, lines lead from the archer that moved to two enemy archers.
- race (jarmo): nobody captures, and the player wins.
- promotion (tammi): a T makes a king.
- sacrifice (tammi): the first T captures nothing, and the reply captures.
"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BOARD = next(line for line in (ROOT / "checkpoints/jarmo.openings").read_text().splitlines() if line.startswith("# board: "))
LINES = [line.split("-") for line in BOARD.removeprefix("# board: ").split()]


def rows(position):
    """The rows of a board from the lowest up, with "." where nothing stands."""
    text = position.split()[0]
    return [list("".join("." * int(one) if one.isdigit() else one for one in row)) for row in reversed(text.split("/"))]


def other(player):
    return "b" if player == "w" else "w"


class Four:
    """A board of connect four as columns, each from the lowest stone up."""

    def __init__(self, position):
        board = rows(position)
        self.columns = [[row[column] for row in board if row[column] != "."] for column in range(7)]

    def after(self, column, player):
        next = Four.__new__(Four)
        next.columns = [[*stones, player] if index == column else stones for index, stones in enumerate(self.columns)]
        return next

    def open(self):
        return [column for column in range(7) if len(self.columns[column]) < 6]

    def at(self, column, row):
        return self.columns[column][row] if 0 <= column < 7 and 0 <= row < len(self.columns[column]) else None

    def wins(self, player):
        """The columns in which the player would have four at once."""

        def four(column):
            board, row = self.after(column, player), len(self.columns[column])
            for across, up in [(1, 0), (0, 1), (1, 1), (1, -1)]:
                length = 1
                for sign in (1, -1):
                    step = 1
                    while board.at(column + sign * step * across, row + sign * step * up) == player:
                        length, step = length + 1, step + 1
                if length >= 4:
                    return True
            return False

        return [column for column in self.open() if four(column)]


def connect_four(puzzle):
    board, player = Four(puzzle["position"]), puzzle["position"].split()[1]
    line = ["ABCDEFG".index(text) for text in puzzle["line"]]
    themes = set()
    if line[0] in board.wins(other(player)) and line[0] not in board.wins(player):
        themes.add("block")
    for index, column in enumerate(line):
        ends = column in board.wins(player)
        board = board.after(column, player if index % 2 == 0 else other(player))
        if index % 2 == 0 and not ends and not board.wins(other(player)):
            if all(board.after(reply, other(player)).wins(player) for reply in board.open()):
                themes.add("double_threat" if board.wins(player) else "zugzwang")
    return themes


def jarmo(puzzle):
    player, line = puzzle["position"].split()[1], puzzle["line"]
    themes = set()
    if any(text.startswith("@") for text in line[::2]):
        themes.add("return")
    if puzzle["goal"] == "win" and not any("x" in text for text in line):
        themes.add("race")
    board = {"ABCDE"[column] + str(row + 1): letter.lower() for row, letters in enumerate(rows(puzzle["position"])) for column, letter in enumerate(letters)}
    goal = "5" if player == "w" else "1"
    for index, text in enumerate(line):
        mover = player if index % 2 == 0 else other(player)
        if text == "pass":
            continue
        if text.startswith("@"):
            board[text[1:]] = mover
            continue
        start, end = text[:2], text[3:]
        board[end], board[start] = mover, "."
        ends = {b if a == end else a for a, b in LINES if end in (a, b)}
        if mover == player and end[1] != goal and sum(board[one] == other(player) for one in ends) >= 2:
            themes.add("fork")
    return themes


def tammi(puzzle):
    player, line = puzzle["position"].split()[1], puzzle["line"]
    board = {"abcdefgh"[column] + str(row + 1): letter for row, letters in enumerate(rows(puzzle["position"])) for column, letter in enumerate(letters)}
    goal = "8" if player == "w" else "1"
    themes = set()
    if "x" not in line[0] and len(line) > 1 and "x" in line[1]:
        themes.add("sacrifice")
    for text in line:
        start, end = text[:2], text[3:]
        if board[start] == player and end[1] == goal:
            themes.add("promotion")
        board[end], board[start] = board[start], "."
    return themes


MEASURES = {"connect_four": connect_four, "jarmo": jarmo, "tammi": tammi}


def main():
    for path in map(Path, sys.argv[1:]):
        counts, lines = {}, []
        for line in path.read_text().splitlines():
            puzzle = json.loads(line)
            puzzle.pop("themes", None)
            themes = sorted(MEASURES[puzzle["game"]](puzzle))
            for theme in themes:
                counts[theme] = counts.get(theme, 0) + 1
            lines.append(json.dumps({**puzzle, **({"themes": themes} if themes else {})}, separators=(",", ":")))
        path.write_text("\n".join(lines) + "\n")
        print(path.name, len(lines), counts)


if __name__ == "__main__":
    main()
