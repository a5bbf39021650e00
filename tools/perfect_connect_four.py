#!/usr/bin/env python3
"""Agents of jarmo against a perfect player of connect four: results, and moves that throw a result away.

    python3 -m venv target/tools/perfect
    target/tools/perfect/bin/pip install bitbully==0.0.79 bitbully-databases==0.0.2
    target/tools/perfect/bin/python tools/perfect_connect_four.py target/release/jarmo trained:0 trained:64

The agent moves first, and the first player of connect four wins with best play. The opponent is BitBully with its book
of 12 plies: it plays a move with the best score, the quickest win or the longest defence, and draws equal ones at
random. A mistake turns a win into a draw or a loss, or a draw into a loss.

With `--random-plies 4` games start after 4 random plies, and the agent plays the second side in every other game.
"""

import argparse
import random
import subprocess
from math import sqrt

from bitbully import BitBully, Board


class Engine:
    """`jarmo engine`, asked for one move at a time."""

    def __init__(self, program, agent, seed):
        command = [program, "engine", "--game", "connect_four", "--agent", agent, "--seed", str(seed)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def new_game(self):
        self.process.stdin.write("uginewgame\n")

    def choose(self, moves):
        place = "startpos" + (" moves " + " ".join("ABCDEFG"[move] for move in moves) if moves else "")
        self.process.stdin.write(f"position {place}\ngo\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith("bestmove"):
                return "ABCDEFG".index(line.split()[1])
        raise SystemExit("the engine ended")


def sign(score):
    return (score > 0) - (score < 0)


def play(engine, solver, draws, side, random_plies):
    """One game of the agent on a side, 0 or 1: whether it won (1), lost (-1) or drew (0), and its mistakes."""
    board, moves, mistakes = Board(), [], 0
    engine.new_game()
    while not board.is_game_over():
        scores = solver.score_all_moves(board)
        if len(moves) < random_plies:
            move = draws.choice(sorted(scores))
        elif len(moves) % 2 == side:
            move = engine.choose(moves)
            mistakes += sign(scores[move]) < sign(max(scores.values()))
        else:
            best = max(scores.values())
            move = draws.choice([move for move, score in scores.items() if score == best])
        if not board.play(move):
            raise SystemExit(f"column {move} after {moves} is illegal")
        moves.append(move)
    if not board.has_win():
        return 0, mistakes
    return (1 if (len(moves) - 1) % 2 == side else -1), mistakes


def mean(counts):
    """The mean of some counts and half its 95 % interval."""
    middle = sum(counts) / len(counts)
    variance = sum((count - middle) ** 2 for count in counts) / max(len(counts) - 1, 1)
    return f"{middle:.3f} ± {1.96 * sqrt(variance / len(counts)):.3f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("agents", nargs="+")
    parser.add_argument("--games", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--random-plies", type=int, default=0, choices=range(7))
    options = parser.parse_args()
    solver = BitBully(opening_book="12-ply-dist")
    for agent in options.agents:
        engine, draws = Engine(options.program, agent, options.seed), random.Random(options.seed)
        sides = [number % 2 if options.random_plies else 0 for number in range(options.games)]
        games = [play(engine, solver, draws, side, options.random_plies) for side in sides]
        engine.process.kill()
        outcomes, mistakes = zip(*games)
        results = f"{outcomes.count(1)} won, {outcomes.count(0)} drawn, {outcomes.count(-1)} lost"
        print(f"{agent}: {results}; {mean(mistakes)} mistakes a game, none in {mistakes.count(0)}", flush=True)


if __name__ == "__main__":
    main()
