#!/usr/bin/env python3
"""An agent of jarmo, moving first, against a perfect player of connect four: how often it keeps the win.

    python3 -m venv target/tools/perfect
    target/tools/perfect/bin/pip install bitbully==0.0.79 bitbully-databases==0.0.2
    target/tools/perfect/bin/python tools/perfect_connect_four.py target/release/jarmo trained:64 --games 200

The first player of connect four wins with best play. The opponent is BitBully with its book of 12 plies: it plays a
move with the best score, the quickest win or the longest defence, and draws equal ones at random.
"""

import argparse
import random
import subprocess

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


def play(engine, solver, draws):
    """The winner of one game: 1 for the agent, 2 for the opponent, 0 for a draw."""
    board, moves = Board(), []
    while not board.is_game_over():
        if len(moves) % 2 == 0:
            move = engine.choose(moves)
        else:
            scores = solver.score_all_moves(board)
            best = max(scores.values())
            move = draws.choice([move for move, score in scores.items() if score == best])
        if not board.play(move):
            raise SystemExit(f"column {move} after {moves} is illegal")
        moves.append(move)
    return 0 if not board.has_win() else 1 + (len(moves) + 1) % 2


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("agents", nargs="+")
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    solver = BitBully(opening_book="12-ply-dist")
    for agent in options.agents:
        engine, draws = Engine(options.program, agent, options.seed), random.Random(options.seed)
        results = [play(engine, solver, draws) for _ in range(options.games)]
        engine.process.kill()
        print(f"{agent}: {results.count(1)} won, {results.count(0)} drawn, {results.count(2)} lost", flush=True)


if __name__ == "__main__":
    main()
