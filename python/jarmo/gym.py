"""Environments for Gymnasium.

Importing this module registers ``jarmo/Jarmo-v1``, ``jarmo/Guard-v1``, ``jarmo/Tammi-v1`` and ``jarmo/ConnectFour-v1``
for ``gymnasium.make`` and ``gymnasium.make_vec``. Without the import, ``"jarmo.gym:jarmo/Jarmo-v1"`` is an id, too.

The agent plays one side of a two-player game. The other side is played by an opponent, or the agent plays both sides
(``opponent=None``). Observations are dictionaries: ``observation``, the features of the position
(``[planes, rows, columns]``, 0 or 1), and ``action_mask`` (``[actions]``, 1 where an action is legal).
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any, Literal, SupportsIndex

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiDiscrete, Space
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

import jarmo
from jarmo import _raster
from jarmo._types import Player, Step

Observation = dict[str, NDArray[Any]]
Seat = Literal["white", "black", "random"]
RenderMode = Literal["ansi", "svg", "rgb_array"]

RENDER_MODES: list[str] = ["ansi", "svg", "rgb_array"]
"""Text, a picture as SVG text, and a picture as an array, ``[height, width, 3]``."""

IDS = {
    "jarmo": "jarmo/Jarmo-v1",
    "guard": "jarmo/Guard-v1",
    "tammi": "jarmo/Tammi-v1",
    "connect_four": "jarmo/ConnectFour-v1",
}
"""The ids of environments by game."""

_MODES: dict[AutoresetMode, Literal["next_step", "same_step", "disabled"]] = {
    AutoresetMode.NEXT_STEP: "next_step",
    AutoresetMode.SAME_STEP: "same_step",
    AutoresetMode.DISABLED: "disabled",
}


def register() -> None:
    """Registers the environments of all games that are not registered yet."""
    for game, name in IDS.items():
        if name not in gymnasium.registry:
            gymnasium.register(
                name,
                entry_point="jarmo.gym:JarmoEnv",
                vector_entry_point="jarmo.gym:JarmoVectorEnv",
                kwargs={"game": game},
            )


def checked_mode(mode: str | None) -> str | None:
    """A render mode; raises ``ValueError`` if there is none of this name."""
    if mode is not None and mode not in RENDER_MODES:
        raise ValueError(f"render_mode must be one of {', '.join(RENDER_MODES)}, not {mode!r}")
    return mode


def rendered(position: jarmo.Position, mode: str | None) -> Any:
    """A position as the mode asks for, as text without one."""
    if mode == "rgb_array":
        return _raster.draw(position.svg())
    return position.svg() if mode == "svg" else str(position)


def _spaces(env: jarmo.VecEnv) -> tuple[Dict[Any], Discrete[np.int64]]:
    actions = env.game.num_actions
    observation = Dict(
        {
            "observation": Box(0, 1, env.observation_shape, np.float32),
            "action_mask": Box(0, 1, (actions,), np.int8),
        }
    )
    return observation, Discrete(actions)


class JarmoEnv(gymnasium.Env[Observation, np.int64]):
    """One game against an opponent, or of both sides in turns.

    The reward is that of the caller at the end of the game, +1, 0 or -1; in turns it is that of the player who acted.
    An illegal action loses the game at once, as in PettingZoo, and ``info["illegal_action"]`` says why it is illegal.
    ``info`` also has ``action_mask``, ``to_move`` and ``seat`` (0 for White, 1 for Black; the player to move, in
    turns).
    """

    metadata: dict[str, Any] = {"render_modes": RENDER_MODES, "render_fps": 1}

    def __init__(
        self,
        game: jarmo.Game | str = "jarmo",
        *,
        opponent: Player | None = "random",
        seat: Seat | None = None,
        random_plies: int = 0,
        threats: bool = False,
        render_mode: RenderMode | None = None,
    ) -> None:
        """Makes the environment.

        Args:
            game: A game or its name.
            opponent: An agent, its spec, such as ``"random"``, ``"rollout:100"`` or ``"trained:16"``, or a function of
                positions, or of features and masks; None for both sides in turns.
            seat: The side of the caller, drawn for each game by default.
            random_plies: Random plies at the start of each game.
            threats: Adds the threat planes to observations.
            render_mode: ``"ansi"`` for text, ``"svg"`` for a picture as SVG text, ``"rgb_array"`` for one as an array.
        """
        self.render_mode: str | None = checked_mode(render_mode)
        self._env = jarmo.VecEnv(
            game,
            1,
            threads=1,
            autoreset="disabled",
            opponent=opponent,
            seat=seat,
            random_plies=random_plies,
            threats=threats,
        )
        self._in_turns = opponent is None
        self._over = True
        self._step: Step | None = None
        observation_space, action_space = _spaces(self._env)
        self.action_space: Discrete[np.int64] = action_space
        self.observation_space = observation_space  # type: ignore[assignment]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Starts another game."""
        super().reset(seed=seed)
        self._step = self._env.reset(seed=None if seed is None else int(self.np_random.integers(2**63)))
        self._over = False
        return self._observation(), self._info()

    def step(self, action: SupportsIndex) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Plays an action, and the opponent's actions after it."""
        if self._over:
            raise RuntimeError("the game is over; reset the environment first")
        chosen = index(action)
        if not (0 <= chosen < self._env.game.num_actions and self._last.mask[0, chosen]):
            self._over = True
            info = self._info()
            info["illegal_action"] = self._refusal(chosen)
            return self._observation(), -1.0, True, False, info
        self._step = step = self._env.step(np.array([chosen]))
        terminated, truncated = bool(step.terminated[0]), bool(step.truncated[0])
        self._over = terminated or truncated
        reward = float(step.seat_reward[0])
        return self._observation(), reward, terminated, truncated, self._info()

    def action_masks(self) -> NDArray[np.bool_]:
        """``[actions]``: the legal actions, in the form that ``sb3_contrib.MaskablePPO`` asks for."""
        return np.array(self._last.mask[0], dtype=np.bool_)

    def render(self) -> Any:
        """The position as text, as SVG, or as an array."""
        return rendered(self._env.position(0), self.render_mode)

    def close(self) -> None:
        """Frees the game and its opponent."""
        self._env.close()

    @property
    def _last(self) -> Step:
        """What the last call gave back."""
        if self._step is None:
            raise RuntimeError("reset the environment first")
        return self._step

    def _observation(self) -> Observation:
        return {
            "observation": np.array(self._last.observation[0], dtype=np.float32),
            "action_mask": self._last.mask[0].astype(np.int8),
        }

    def _info(self) -> dict[str, Any]:
        to_move = int(self._last.to_move[0])
        return {
            "action_mask": self._last.mask[0].astype(np.int8),
            "to_move": to_move,
            "seat": to_move if self._in_turns else int(self._env.seats[0]),
        }

    def _refusal(self, action: int) -> str:
        try:
            self._env.step(np.array([action]))
        except ValueError as error:
            return str(error)
        raise AssertionError("the mask and the rules disagree")


class JarmoVectorEnv(VectorEnv[Observation, NDArray[np.int64], NDArray[Any]]):
    """Many games at once, with any of Gymnasium's three ways to begin the next game.

    Everything is as in `JarmoEnv`, except that an illegal action raises ``ValueError``, which names the slot and the
    reason, and changes nothing. All arrays are new in each step. ``info`` has ``action_mask`` (``[N, actions]``),
    ``to_move`` and ``seat`` (``[N]``), and with ``SAME_STEP`` ``final_obs`` and ``final_info`` where a game ended.
    """

    metadata: dict[str, Any] = {
        "render_modes": RENDER_MODES,
        "render_fps": 1,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        game: jarmo.Game | str = "jarmo",
        num_envs: int = 1,
        *,
        opponent: Player | None = "random",
        seat: Seat | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        random_plies: int = 0,
        threats: bool = False,
        threads: int | None = None,
        render_mode: RenderMode | None = None,
    ) -> None:
        """Makes the environments; the arguments are those of `JarmoEnv`.

        Args:
            game: A game or its name.
            num_envs: The number of games, ``N``.
            opponent: An agent, its spec, or a function of positions, or of features and masks; None for both sides in
                turns.
            seat: The side of the caller, drawn for each game by default.
            autoreset_mode: When the next game of a slot begins.
            random_plies: Random plies at the start of each game.
            threats: Adds the threat planes to observations.
            threads: The most threads to use, by default one per core.
            render_mode: ``"ansi"`` for text, ``"svg"`` for pictures as SVG text, ``"rgb_array"`` for arrays.
        """
        self.render_mode: str | None = checked_mode(render_mode)
        self.autoreset_mode: AutoresetMode = AutoresetMode(autoreset_mode)
        self._env = jarmo.VecEnv(
            game,
            num_envs,
            threads=threads,
            autoreset=_MODES[self.autoreset_mode],
            opponent=opponent,
            seat=seat,
            random_plies=random_plies,
            threats=threats,
        )
        self._in_turns = opponent is None
        self._step: Step | None = None
        self.num_envs = num_envs
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        observation_space, action_space = _spaces(self._env)
        self.single_observation_space: Space[Any] = observation_space
        self.single_action_space: Space[Any] = action_space
        self.observation_space: Space[Any] = batch_space(observation_space, num_envs)
        self.action_space: Space[Any] = MultiDiscrete([self._env.game.num_actions] * num_envs)

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Starts other games: all, or those where ``options["reset_mask"]`` (``[N]``, ``bool``) is set. With a list of
        seeds each slot plays as a `JarmoEnv` with its seed."""
        mask = (options or {}).get("reset_mask")
        if mask is not None:
            if seed is not None:
                raise ValueError("a seed starts all games again; give either seed or options['reset_mask']")
            self._step = self._env.reset(mask=mask)
        elif isinstance(seed, Sequence):
            self._step = self._env.reset(seed=[int(np_random(one)[0].integers(2**63)) for one in seed])
        else:
            super().reset(seed=seed)
            self._step = self._env.reset(seed=None if seed is None else int(self.np_random.integers(2**63)))
        return self._observation(self._step), self._info(self._step)

    def step(
        self, actions: ArrayLike
    ) -> tuple[Observation, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Plays an action in every game, and the opponents' actions after it."""
        self._step = step = self._env.step(actions)
        rewards = step.seat_reward.astype(np.float64)
        info = self._info(step)
        if self.autoreset_mode == AutoresetMode.SAME_STEP and len(step.finished):
            self._add_final(info, step)
        return self._observation(step), rewards, step.terminated, step.truncated, info

    def sample_actions(self) -> NDArray[np.int64]:
        """``[N]``: legal actions, uniformly at random; 0 where the game is over."""
        return np.maximum(self._env.sample_actions(), 0)

    def action_masks(self) -> NDArray[np.bool_]:
        """``[N, actions]``: the legal actions."""
        if self._step is None:
            raise RuntimeError("reset the environments first")
        return np.array(self._step.mask, dtype=np.bool_)

    def render(self) -> tuple[Any, ...]:
        """All positions as text, as SVG, or as arrays."""
        return tuple(rendered(position, self.render_mode) for position in self._env.positions())

    def close_extras(self, **kwargs: Any) -> None:
        """Frees the games and their opponents."""
        self._env.close()

    def _observation(self, step: Step) -> Observation:
        return {"observation": step.observation, "action_mask": step.mask.astype(np.int8)}

    def _info(self, step: Step) -> dict[str, Any]:
        seat = step.to_move if self._in_turns else self._env.seats
        info: dict[str, Any] = {
            "action_mask": step.mask.astype(np.int8),
            "to_move": step.to_move.astype(np.int64),
            "seat": seat.astype(np.int64),
        }
        for key in list(info):
            info[f"_{key}"] = np.ones(self.num_envs, dtype=np.bool_)
        return info

    def _add_final(self, info: dict[str, Any], step: Step) -> None:
        """Adds the last observation and info of the games that ended, as `gymnasium.vector.SyncVectorEnv` does."""
        ended = np.zeros(self.num_envs, dtype=np.bool_)
        ended[step.finished] = True
        actions = self._env.game.num_actions
        final = np.full(self.num_envs, None, dtype=object)
        for slot, observation in zip(step.finished, step.final_observation, strict=True):
            final[slot] = {"observation": observation, "action_mask": np.zeros(actions, np.int8)}
        to_move = np.zeros(self.num_envs, np.int64)
        for slot, position in self._env.final_positions().items():
            to_move[slot] = position.to_move
        info["final_obs"], info["_final_obs"] = final, ended
        info["final_info"] = {
            "action_mask": np.zeros((self.num_envs, actions), np.int8),
            "_action_mask": ended.copy(),
            "to_move": to_move,
            "_to_move": ended.copy(),
            "seat": to_move.copy() if self._in_turns else np.where(ended, step.seat, 0).astype(np.int64),
            "_seat": ended.copy(),
        }
        info["_final_info"] = ended.copy()


register()
