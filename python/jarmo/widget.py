"""A board to play on in notebooks: Jupyter, VS Code and Colab. It needs ``pip install jarmo[widget]``::

    import jarmo.widget

    board = jarmo.widget.Board("connect_four", opponent="trained:64")
    board                       # the last line of a cell shows it
    board.position              # in a later cell: the position that is shown

Colab shows widgets after ``google.colab.output.enable_custom_widget_manager()``.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path as FilePath
from typing import Any, Literal

import anywidget
import numpy as np
import traitlets

from jarmo import _board, _jarmo
from jarmo._jarmo import Agent, Game, Position
from jarmo._types import Player

_NAMES = ("White", "Black")
_MOST_HINTS = 3


def _file(name: str) -> str:
    return (FilePath(__file__).parent / name).read_text(encoding="utf-8")


def _style() -> str:
    """The style sheet of the page for a shadow root, where the host takes the place of the root."""
    def hosted(rule: re.Match[str]) -> str:
        return re.sub(r":root(\[[^\]]+\])", r":host(\1)", rule[0]).replace(":root", ":host")

    return re.sub(r"^:root[^{]*{", hosted, _file("_board.css"), flags=re.M)


class Board(anywidget.AnyWidget):  # type: ignore[misc]
    """A game on a board, with the drawing of ``jarmo play``. Moves are clicked, dragged, or made with the arrow keys and
    Enter; the buttons step through the game. Playing in an earlier position replaces the actions after it."""

    _esm = f"{_file('_board.js')}\nconst STYLE = {json.dumps(_style())};\n{_file('_widget.js')}"
    _shown: traitlets.Dict[str, Any] = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        game: Game | str | Position = "jarmo",
        actions: Sequence[int | str] = (),
        *,
        opponent: Player | None = None,
        seat: Literal["white", "black"] | None = None,
        adviser: Agent | str = "trained:64",
        evaluation: bool = False,
    ) -> None:
        """Makes a board.

        Args:
            game: A game, its name, or the position that the game starts from.
            actions: The actions of a game to step through, as indices or texts.
            opponent: Who plays the other side: an agent, its spec, or a function of positions, or of features and masks.
                By default both sides are played on the board.
            seat: The side that is played on the board against an opponent, by default White.
            adviser: The agent that gives hints and evaluations.
            evaluation: Shows the adviser's evaluation from the start; there is a button for it.
        """
        if seat not in (None, "white", "black"):
            raise ValueError(f'seat must be "white" or "black", not {seat!r}')
        if seat is not None and opponent is None:
            raise ValueError("seat is the side against an opponent; without one both sides are played on the board")
        super().__init__()
        start = game if isinstance(game, Position) else (Game(game) if isinstance(game, str) else game).start
        self._seat = None if opponent is None else 1 if seat == "black" else 0
        self._opponent = Agent(opponent, game=start.game) if isinstance(opponent, (str, os.PathLike)) else opponent
        self._adviser = adviser  # made when it is first asked, because not every board has one
        self._evaluates, self._hints, self._message = evaluation, False, ""
        self._positions, self._actions, self._cursor = [start], list[str](), 0
        for action in actions:
            self._append(action)
        self._show()
        self._reply()
        self.on_msg(self._told)

    @property
    def position(self) -> Position:
        """The position that is shown."""
        return self._positions[self._cursor]

    @property
    def actions(self) -> list[str]:
        """The actions of the game as texts, from its start to its end."""
        return list(self._actions)

    def play(self, action: int | str) -> None:
        """Plays an action in the position that is shown, and the opponent's actions after it. The error says why it is
        illegal."""
        self.position.play(action)
        del self._actions[self._cursor :], self._positions[self._cursor + 1 :]
        self._append(action)
        self._hints, self._message = False, ""
        self._show()
        self._reply()

    def go(self, ply: int) -> None:
        """Shows the position after this many actions of the game; from the end with a negative number."""
        plies = range(len(self._positions))
        self._cursor, self._message = plies[ply], ""
        self._show()

    def new_game(self) -> None:
        """Starts the game again."""
        del self._actions[:], self._positions[1:]
        self._cursor, self._hints, self._message = 0, False, ""
        self._show()
        self._reply()

    def _append(self, action: int | str) -> None:
        """Plays an action at the end of the game, and shows it."""
        last = self._positions[-1]
        self._positions.append(last.play(action))
        self._actions.append(last.action_text(last.parse_action(action) if isinstance(action, str) else action))
        self._cursor = len(self._actions)

    def _reply(self) -> None:
        """Lets the opponent play until the other side is to move."""
        while self._seat is not None and not self.position.is_over and self.position.to_move != self._seat:
            if isinstance(self._opponent, Agent):
                [action] = self._opponent.choose(self.position).tolist()
            else:
                assert self._opponent is not None and not isinstance(self._opponent, str)
                [action] = _jarmo.decide(self._opponent, [self.position])
            self._append(action)
            self._show()

    def _told(self, _: Any, content: dict[str, Any], __: Any) -> None:
        """What the user does on the board."""
        try:
            match content:
                case {"do": "play", "text": str(text)}:
                    self.play(text)
                case {"do": "go", "ply": int(ply)} if 0 <= ply < len(self._positions):
                    self.go(ply)
                case {"do": "new"}:
                    self.new_game()
                case {"do": "hints"}:
                    self._hints = not self._hints
                    self._show()
                case {"do": "evaluation"}:
                    self._evaluates = not self._evaluates
                    self._show()
        except ValueError as error:
            self._message = str(error)
            self._show()

    def _show(self) -> None:
        position = self.position
        last = None
        if self._cursor > 0:
            last = _board.gesture(self._positions[self._cursor - 1], self._actions[self._cursor - 1])
        ideas, evaluation = self._advice()
        self._shown = {
            "view": {
                "game": position.game.name,
                "layout": _board.layout_of(position.game).view(),
                "scene": _board.scene(position, last),
                "cursor": self._cursor,
                "human": not position.is_over and self._seat in (None, position.to_move),
            },
            "ideas": ideas,
            "evaluation": evaluation,
            "plies": len(self._actions),
            "action": self._actions[self._cursor - 1] if self._cursor > 0 else "",
            "status": _status(position),
            "message": self._message,
            "hints": self._hints,
            "seat": self._seat or 0,
        }

    def _advice(self) -> tuple[list[dict[str, Any]], float | None]:
        """Arrows for the adviser's best actions with their shares of its policy, and White's expected points, 0 to 1."""
        position = self.position
        if position.is_over:
            winner = position.outcome.winner if position.outcome else None
            return [], (0.5 if winner is None else 1.0 - winner) if self._evaluates else None
        if not (self._hints or self._evaluates):
            return [], None
        if isinstance(self._adviser, str):
            try:
                self._adviser = Agent(self._adviser, game=position.game)
            except ValueError as error:
                self._message, self._hints, self._evaluates = str(error), False, False
                return [], None
        judged = self._adviser.evaluate(position, seed=1)
        value = float(judged.values[0]) * (1 if position.to_move == 0 else -1)
        ideas = []
        if self._hints:
            policy = judged.policies[0]
            best = [int(judged.actions[0])]
            best += [int(action) for action in np.argsort(-policy) if action != best[0] and policy[action] > 0.02]
            for rank, action in enumerate(best[:_MOST_HINTS]):
                source, target = _board.gesture(position, position.action_text(action))
                text = f"{rank + 1} {policy[action]:.0%}" if policy.any() else f"{rank + 1}"
                ideas.append({"gesture": {"from": source, "to": target}, "rank": rank, "text": text})
        return ideas, (1 + value) / 2 if self._evaluates else None


def _status(position: Position) -> str:
    outcome = position.outcome
    if outcome is None:
        return f"{_NAMES[position.to_move]} to move"
    points = " to ".join(map(str, sorted(outcome.score, reverse=True))) if outcome.score else ""
    if outcome.winner is None:
        return "Draw by the move limit" if outcome.truncated else "Draw"
    return f"{_NAMES[outcome.winner]} wins {points}".strip()
