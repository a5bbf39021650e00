#!/usr/bin/env python3
"""Exact scores of connect four, by BitBully with its book of 12 plies: the solver behind `lab exam`.

    python3 -m venv target/tools/perfect
    target/tools/perfect/bin/pip install bitbully==0.0.79 bitbully-databases==0.0.2
    echo "7/7/7/7/7/3w3 b 1" | target/tools/perfect/bin/python tools/bitbully_scores.py

The first line of the output names the solver. A line of the input is a position as jarmo writes it; its answer is the
score of each column, with `-` for a full one: n where the player to move wins with its n-th last stone, -n where the
other player does, 0 for a draw.
"""

import sys
from importlib.metadata import version

from bitbully import BitBully, Board


def read(position):
    rows = []
    for row in position.split()[0].split("/"):
        row = "".join("." * int(letter) if letter.isdigit() else letter for letter in row)
        rows.append([".wb".index(letter) for letter in row])
    return Board(rows)


def main():
    solver = BitBully(opening_book="12-ply-dist")
    print(f"BitBully {version('bitbully')} with its book of 12 plies", flush=True)
    for line in sys.stdin:
        scores = solver.score_all_moves(read(line))
        print(*(scores.get(column, "-") for column in range(7)), flush=True)


main()
