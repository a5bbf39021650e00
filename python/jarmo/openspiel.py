"""Jarmo, guard and tammi as games of OpenSpiel, so that its algorithms run on them::

    import pyspiel
    import jarmo.openspiel

    game = pyspiel.load_game("jarmo")

Importing this module registers ``jarmo``, ``guard``, ``tammi`` and ``jarmo_connect_four`` (OpenSpiel has a
``connect_four`` of its own). It needs the package ``open_spiel``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyspiel
from numpy.typing import NDArray

import jarmo

NAMES = {"jarmo": "jarmo", "guard": "guard", "tammi": "tammi", "jarmo_connect_four": "connect_four"}
"""The games by their names in OpenSpiel."""

if TYPE_CHECKING:  # OpenSpiel has no types.

    class _Game:
        def __init__(self, *arguments: Any) -> None: ...

    class _State:
        def __init__(self, *arguments: Any) -> None: ...

else:
    _Game, _State = pyspiel.Game, pyspiel.State

_ENDLESS = 10_000
"""The length of games without a limit, for OpenSpiel, which asks for one. Games of connect four have 42 plies."""


def _game_type(name: str, game: str) -> Any:
    return pyspiel.GameType(
        short_name=name,
        long_name=f"Jarmo's {game}",
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.DETERMINISTIC,
        information=pyspiel.GameType.Information.PERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=2,
        min_num_players=2,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        provides_factored_observation_string=False,
        parameter_specification={"position": ""},
    )


class JarmoGame(_Game):
    """A game of the package. The parameter ``position`` is the text of another position to start from."""

    name: str
    """The name in OpenSpiel."""

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        name, given = self.name, dict(params or {})
        self.rules: jarmo.Game = jarmo.Game(NAMES[name])
        text = given.get("position", "")
        self.first: jarmo.Position = self.rules.position(text) if text else self.rules.start
        length = self.rules.max_plies or (42 if self.rules.name == "connect_four" else _ENDLESS)
        info = pyspiel.GameInfo(
            num_distinct_actions=self.rules.num_actions,
            max_chance_outcomes=0,
            num_players=2,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=length,
        )
        super().__init__(_game_type(name, self.rules.name), info, given)

    def new_initial_state(self) -> JarmoState:
        """The state a game starts from."""
        return JarmoState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> JarmoObserver:
        """What a player sees: everything."""
        return JarmoObserver(self.rules)


# OpenSpiel frees what is registered after the interpreter has ended, which only a class survives.
_CLASSES = {name: type(f"{name}_game", (JarmoGame,), {"name": name, "__module__": __name__}) for name in NAMES}
globals().update({one.__name__: one for one in _CLASSES.values()})  # so that they can be pickled


class _Place(NamedTuple):
    """A position with the way there, which is what is pickled: texts of tammi leave out earlier positions."""

    start: jarmo.Position
    actions: tuple[int, ...]
    position: jarmo.Position

    def play(self, action: int) -> _Place:
        return _Place(self.start, (*self.actions, action), self.position.play(action))

    def __reduce__(self) -> tuple[Any, ...]:
        return _replay, (self.start, self.actions)

    def __deepcopy__(self, memo: object) -> _Place:
        return self


def _replay(start: jarmo.Position, actions: tuple[int, ...]) -> _Place:
    return _Place(start, actions, start.play(*actions))


class JarmoState(_State):
    """A position in OpenSpiel's form. Player 0 is White, player 1 Black."""

    def __init__(self, game: JarmoGame) -> None:
        super().__init__(game)
        self._place = _Place(game.first, (), game.first)

    @property
    def position(self) -> jarmo.Position:
        """The position."""
        return self._place.position

    def current_player(self) -> int:
        """The player to move, who may have made the last move, too."""
        return int(pyspiel.PlayerId.TERMINAL) if self.position.is_over else self.position.to_move

    def _legal_actions(self, player: int) -> list[int]:
        return self.position.legal

    def _apply_action(self, action: int) -> None:
        self._place = self._place.play(action)

    def _action_to_string(self, player: int, action: int) -> str:
        return self.position.action_text(action)

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return self.position.is_over

    def returns(self) -> list[float]:
        """The results of White and Black: +1, 0 or -1."""
        outcome = self.position.outcome
        if outcome is None or outcome.winner is None:
            return [0.0, 0.0]
        return [1.0, -1.0] if outcome.winner == 0 else [-1.0, 1.0]

    def __str__(self) -> str:
        return self.position.text


class JarmoObserver:
    """The features of a position as OpenSpiel's tensor."""

    def __init__(self, rules: jarmo.Game) -> None:
        self._rules = rules
        self._shape = rules.feature_shape()
        self.tensor: NDArray[np.float32] = np.zeros(int(np.prod(self._shape)), np.float32)
        self.dict: dict[str, NDArray[np.float32]] = {"observation": self.tensor.reshape(self._shape)}

    def set_from(self, state: JarmoState, player: int) -> None:
        """Writes the features, as this player sees them; as the player to move does for anybody else."""
        viewer = player if player in (0, 1) else None
        self.dict["observation"][:] = self._rules.features(state.position, viewer=viewer)[0]

    def string_from(self, state: JarmoState, player: int) -> str:
        """The position as text."""
        return state.position.text


def register() -> None:
    """Registers the games that are not registered yet."""
    known = set(pyspiel.registered_names())
    for name, game in NAMES.items():
        if name not in known:
            pyspiel.register_game(_game_type(name, game), _CLASSES[name])


register()
