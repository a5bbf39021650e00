"""What the solver BitBully measures of a policy of connect four, in place of tables: ``pip install bitbully
bitbully-databases``."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np

from jarmo._jarmo import Game, Position, exam_questions

Choose = Callable[[list[Position]], Any]

NEEDED = "a solver judges connect four: `pip install bitbully bitbully-databases`"


class Recording:
    """A policy whose answers are kept, by the part of the measurement."""

    def __init__(self, choose: Choose) -> None:
        self.choose = choose
        self.answers: dict[str, list[int]] = {"fresh": [], "games": [], "worst": []}

    def part(self, name: str) -> Choose:
        """The policy in a part."""

        def choose(positions: list[Position]) -> list[int]:
            chosen = [int(action) for action in self.choose(positions)]
            self.answers[name] += chosen
            return chosen

        return choose


class Replay:
    """Recorded answers as a policy."""

    def __init__(self, answers: dict[str, list[int]]) -> None:
        self.left = iter([action for part in ("fresh", "games", "worst") for action in answers[part]])

    def __call__(self, positions: list[Position]) -> list[int]:
        chosen = list(islice(self.left, len(positions)))
        if len(chosen) < len(positions):
            raise ValueError("answers are missing")
        for position, action in zip(positions, chosen, strict=True):
            if action not in position.legal:
                raise ValueError(f"action {action} is illegal in {position.text}")
        return chosen


OPENING_PLIES = 8
"""Random actions before games and the worst case begin."""


class Solver:
    """Exact results of every action, remembered by position."""

    def __init__(self, game: Game) -> None:
        import bitbully

        self.game, self.board = game, bitbully.Board
        self.solver = bitbully.BitBully(opening_book="12-ply-dist")
        self.known: dict[str, dict[int, int]] = {}

    def scores(self, position: Position) -> dict[int, int]:
        """The score of every legal action: above 0 if it wins, and the higher the sooner."""
        text = position.text.rsplit(" ", 1)[0]
        if text not in self.known:
            mover, other = self.game.features(position)[0, :2].astype(int)
            stones = [mover, other] if position.to_move == 0 else [other, mover]
            rows = (stones[0] + 2 * stones[1])[::-1]  # the highest row comes first
            self.known[text] = self.solver.score_all_moves(self.board(rows.tolist()))
        return self.known[text]

    def loses(self, position: Position, action: int) -> bool:
        """Whether an action makes the result worse."""
        scores = self.scores(position)
        return bool(np.sign(scores[action]) < np.sign(max(scores.values())))


def available() -> bool:
    """Whether the solver is installed."""
    try:
        import bitbully
        import bitbully_databases
    except ImportError:
        return False
    return bool(bitbully and bitbully_databases)


class Measures:
    """What is drawn for a seed, and the measures."""

    def __init__(self, game: Game, seed: int, fresh: int, games: int, starts: int, positions: int) -> None:
        self.game, self.seed, self.solver = game, seed, Solver(game)
        self.positions, self.counts = positions, (games, starts)
        generator = np.random.default_rng([seed, 4])
        published = set(exam_questions(game)[0])
        self.questions: list[Position] = []
        while len(self.questions) < fresh:
            position = self._random(generator, int(generator.integers(14, 37)))
            if position is not None:
                signs = {np.sign(score) for score in self.solver.scores(position).values()}
                if len(signs) > 1 and position not in self.questions and position not in published:
                    self.questions.append(position)
        self.starts: list[Position] = []
        while len(self.starts) < max(games, starts):
            position = self._random(generator, OPENING_PLIES)
            if position is not None and max(self.solver.scores(position).values()) == 0:
                self.starts.append(position)

    def _random(self, generator: np.random.Generator, plies: int) -> Position | None:
        """A position after so many random actions; None if the game ended before."""
        position = self.game.start
        for _ in range(plies):
            position = position.play(int(generator.choice(position.legal)))
            if position.is_over:
                return None
        return position

    def measure(self, choose: Choose, with_worst_case: bool) -> dict[str, Any]:
        """The parts of a row that tables give in other games."""
        games, starts = self.counts
        policy = Recording(choose)
        return {
            "starts": f"drawn positions after {OPENING_PLIES} random plies",
            "fresh": self.fresh(policy.part("fresh")) if self.questions else None,
            "games": self.against(policy.part("games"), self.starts[:games]) if games else None,
            "worst": self.worst(policy.part("worst"), self.starts[:starts]) if starts and with_worst_case else None,
            "answers": policy.answers,
        }

    def verify(self, row: dict[str, Any]) -> None:
        """Measures once more with the answers of a row; raises ``ValueError`` unless everything is as it says."""
        found = self.measure(Replay(row["answers"]), with_worst_case=not row["nodes"])
        found["answers"]["exam"] = row["answers"]["exam"]
        for part, measure in found.items():
            if row[part] != measure:
                said = "" if part == "answers" else f": it claims {row[part]}, and its answers give {measure}"
                raise ValueError(part + said)

    def fresh(self, choose: Choose) -> dict[str, Any]:
        chosen = [int(action) for action in choose(self.questions)]
        wrong = sum(map(self.solver.loses, self.questions, chosen))
        count, z = len(chosen), 1.96
        middle = (wrong + z * z / 2) / (count + z * z)
        texts = "\n".join(position.text for position in self.questions)
        return {
            "checksum": hashlib.sha256(texts.encode()).hexdigest()[:16],
            "made": f"{count} critical positions after 14 to 36 random plies, by BitBully; seed {self.seed}",
            "critical": count,
            "wrong": wrong,
            "share": wrong / count,
            "error": z * (middle * (1 - middle) / (count + z * z)) ** 0.5,
        }

    def against(self, choose: Choose, starts: list[Position]) -> dict[str, Any]:
        """Games against the perfect player, which draws among equal actions; each start from both sides."""
        generator = np.random.default_rng([self.seed, 5])
        playing = [(start, seat) for start in starts for seat in (0, 1)]
        mistakes, points, decisions = np.zeros(len(playing), int), np.zeros(len(playing)), 0
        open_games = list(range(len(playing)))
        while open_games:
            ours = [slot for slot in open_games if playing[slot][0].to_move == playing[slot][1]]
            chosen = dict(zip(ours, choose([playing[slot][0] for slot in ours]) if ours else [], strict=True))
            for slot in open_games:
                position, seat = playing[slot]
                if slot in chosen:
                    action = int(chosen[slot])
                    decisions += 1
                    mistakes[slot] += self.solver.loses(position, action)
                else:
                    scores = self.solver.scores(position)
                    best = [action for action, score in scores.items() if score == max(scores.values())]
                    action = int(generator.choice(best))
                position = position.play(action)
                playing[slot] = position, seat
                if (outcome := position.outcome) is not None:
                    points[slot] = 0.5 if outcome.winner is None else float(outcome.winner == seat)
            open_games = [slot for slot in open_games if not playing[slot][0].is_over]
        return {
            "games": len(playing),
            "points": float(points.sum()),
            "decisions": decisions,
            "mistakes": int(mistakes.sum()),
            "flawless": int((mistakes == 0).sum()),
        }

    def worst(self, choose: Choose, starts: list[Position]) -> dict[str, Any]:
        """Everything that an adversary can play, breadth first, from each start against both sides."""
        counts, lengths = {"proven": 0, "held": 0}, []
        for start in starts:
            for seat in (0, 1):
                end = self._search(choose, start, seat)
                if isinstance(end, int):
                    lengths.append(end)
                else:
                    counts[end] += 1
        median = sorted(lengths)[len(lengths) // 2] if lengths else None
        return {"starts": 2 * len(starts), **counts, "positions": self.positions, "median_plies": median}

    def _search(self, choose: Choose, start: Position, seat: int) -> int | str:
        frontier, seen, plies = [start], {start}, 0
        while frontier:
            plies += 1
            ours = [position for position in frontier if position.to_move == seat]
            chosen = list(zip(ours, map(int, choose(ours)) if ours else [], strict=True))
            if any(self.solver.loses(position, action) for position, action in chosen):
                return plies
            after = [position.play(action) for position, action in chosen]
            theirs = (position for position in frontier if position.to_move != seat)
            after += [position.play(action) for position in theirs for action in position.legal]
            frontier = [position for position in dict.fromkeys(after) if not position.is_over and position not in seen]
            seen.update(frontier)
            if len(seen) > self.positions:
                return "held"
        return "proven"
