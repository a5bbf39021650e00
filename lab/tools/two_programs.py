"""Plays an agent of one version of the program against one of another, over the Universal Game Interface, from all
openings of two random plies, each from both sides:

    python3 lab/tools/two_programs.py GAME OPENINGS PROGRAM AGENT OTHER_PROGRAM OTHER_AGENT

OPENINGS is at most the number of openings that the game has (guard: 121). Prints games won, drawn and lost by the first
agent, and the Elo difference with half the 95 % interval, which counts the two games of an opening as one.
"""

import math
import random
import subprocess
import sys

PLIES = 2


class Engine:
    def __init__(self, program, game, agent):
        command = [program, "engine", "--game", game, "--agent", agent]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def tell(self, line):
        self.process.stdin.write(line + "\n")

    def ask(self, line, answer):
        """The word behind `answer`, in the line that begins with it."""
        self.tell(line)
        for reply in self.process.stdout:
            if reply.startswith(answer):
                return reply.split()[1]
        sys.exit("an engine ended")


def opening(judge, draws):
    moves = []
    for _ in range(PLIES):
        judge.tell(f"setoption name Seed value {draws.randrange(1 << 30)}")
        judge.tell(" ".join(["position startpos moves", *moves]) if moves else "position startpos")
        moves.append(judge.ask("go", "bestmove"))
    return tuple(moves)


def play(judge, white, black, moves):
    """The result for White: 1, 0.5 or 0."""
    moves = list(moves)
    for engine in (white, black):
        engine.tell("uginewgame")
    while True:
        position = " ".join(["position startpos moves", *moves])
        judge.tell(position)
        if judge.ask("query gameover", "response") == "true":
            return {"p1win": 1, "draw": 0.5, "p2win": 0}[judge.ask("query result", "response")]
        engine = white if judge.ask("query p1turn", "response") == "true" else black
        engine.tell(position)
        moves.append(engine.ask("go", "bestmove"))


def elo(score):
    return 400 * math.log10(score / (1 - score)) if 0 < score < 1 else math.copysign(math.inf, score - 0.5)


def main():
    game, openings, program, agent, other_program, other_agent = sys.argv[1:]
    first, second = Engine(program, game, agent), Engine(other_program, game, other_agent)
    judge, draws = Engine(program, game, "random"), random.Random(7)
    seen, results = set(), []
    while len(seen) < int(openings):
        moves = opening(judge, draws)
        if moves not in seen:
            seen.add(moves)
            results += [play(judge, first, second, moves), 1 - play(judge, second, first, moves)]
    pairs = [(one + other) / 2 for one, other in zip(results[::2], results[1::2])]
    score = sum(pairs) / len(pairs)
    spread = 1.96 * math.sqrt(sum((pair - score) ** 2 for pair in pairs)) / len(pairs)
    print(results.count(1), "won,", results.count(0.5), "drawn,", results.count(0), "lost")
    print(f"{elo(score):+.0f} Elo, {elo(score - spread):+.0f} to {elo(score + spread):+.0f}")


if __name__ == "__main__":
    main()
