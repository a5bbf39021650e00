#!/usr/bin/env python3
"""Mistakes of agents of jarmo in Pascal Pons' six test sets of connect four, 1,000 positions each.

    python3 -m venv target/tools/perfect
    target/tools/perfect/bin/pip install bitbully==0.0.79 bitbully-databases==0.0.2
    target/tools/perfect/bin/python tools/pons_sets.py target/release/jarmo FOLDER trained:0 trained:64

FOLDER has the sets under their names, Test_L1_R1 to Test_L3_R1, as they are published at
http://blog.gamesolver.org/solving-connect-four/02-test-protocol/. A line is a position, by its moves as columns from 1
to 7, and its score: positive where the player to move wins, 0 for a draw.

A mistake is a move that turns a win into a draw or a loss, or a draw into a loss. BitBully scores all moves; where its
best score is not that of the line, nothing is measured. Every position is a new game of the agent.
"""

import argparse
from math import sqrt
from pathlib import Path

from bitbully import BitBully, Board

from perfect_connect_four import Engine

SETS = {
    "Test_L3_R1": "end, easy",
    "Test_L2_R1": "middle, easy",
    "Test_L2_R2": "middle, medium",
    "Test_L1_R1": "beginning, easy",
    "Test_L1_R2": "beginning, medium",
    "Test_L1_R3": "beginning, hard",
}


def sign(score):
    return (score > 0) - (score < 0)


def read(path, solver):
    """The positions of a set: moves, and the outcome that each legal move leads to (1 a win, 0 a draw, -1 a loss)."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        columns, score = line.split()
        board, moves = Board(), [int(column) - 1 for column in columns]
        if not all(board.play(move) for move in moves) or board.is_game_over():
            raise SystemExit(f"{path}:{number}: no position of a game under way")
        scores = solver.score_all_moves(board)
        if max(scores.values()) != int(score):
            raise SystemExit(f"{path}:{number}: the score is {max(scores.values())}")
        yield moves, {move: sign(score) for move, score in scores.items()}


def mistakes(engine, positions):
    count = 0
    for moves, outcomes in positions:
        engine.new_game()
        count += outcomes[engine.choose(moves)] < max(outcomes.values())
    return count


def interval(count, total):
    """Wilson's 95 % interval of a rate."""
    z, rate = 1.96, count / total
    middle, half = rate + z * z / (2 * total), z * sqrt(rate * (1 - rate) / total + (z / (2 * total)) ** 2)
    return [(middle + side * half) / (1 + z * z / total) for side in (-1, 1)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("folder", type=Path)
    parser.add_argument("agents", nargs="+")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    solver = BitBully(opening_book="12-ply-dist")
    sets = {}
    for name in SETS:
        positions = sets[name] = list(read(options.folder / name, solver))
        critical = sum(min(outcomes.values()) < max(outcomes.values()) for _, outcomes in positions)
        print(f"{name} ({SETS[name]}): {len(positions)} positions, a mistake is possible in {critical}", flush=True)
    for agent in options.agents:
        engine = Engine(options.program, agent, options.seed)
        counts = [mistakes(engine, positions) for positions in sets.values()]
        engine.process.kill()
        count, total = sum(counts), sum(map(len, sets.values()))
        rate = "{:.2%}, 95 % interval {:.2%} to {:.2%}".format(count / total, *interval(count, total))
        print(f"{agent}: {', '.join(map(str, counts))} mistakes; {count} of {total}, {rate}", flush=True)


main()
