"""Many games at once for Stable-Baselines3, whose algorithms take a vector environment of its own kind::

    from sb3_contrib import MaskablePPO
    import jarmo.sb3

    model = MaskablePPO("MlpPolicy", jarmo.sb3.JarmoVecEnv("jarmo", 256), n_steps=32, batch_size=1024)
    model.learn(100_000)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from gymnasium.spaces import Box, Discrete
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

import jarmo
from jarmo import gym
from jarmo._types import Player, Step


class JarmoVecEnv(VecEnv):  # type: ignore[misc]
    """Games against an opponent. Observations are the features in one row, ``[N, features]``; the reward is that of the
    caller at the end of a game, +1, 0 or -1.

    ``MaskablePPO`` finds the legal actions by ``action_masks``. An illegal action raises ``ValueError``, so algorithms
    without masks cannot train on it.
    """

    def __init__(
        self,
        game: jarmo.Game | str,
        num_envs: int,
        *,
        opponent: Player = "random",
        seat: Literal["white", "black", "random"] | None = None,
        random_plies: int = 0,
        threats: bool = True,
        seed: int | None = None,
        threads: int | None = 1,
        render_mode: Literal["rgb_array"] | None = None,
    ) -> None:
        """Makes the environments.

        Args:
            game: A game or its name.
            num_envs: The number of games, ``N``.
            opponent: An agent, its spec, or a function of positions, or of features and masks.
            seat: The side of the caller, drawn for each game by default.
            random_plies: Random plies at the start of each game.
            threats: Adds the threat planes to observations.
            seed: The seed of all randomness, by default another one each time.
            threads: The most threads to use, None for one per core.
            render_mode: ``"rgb_array"`` for pictures as arrays; Stable-Baselines3 has no other form.
        """
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f"render_mode must be None or 'rgb_array', not {render_mode!r}")
        self.render_mode: str | None = render_mode
        self._env = jarmo.VecEnv(
            game,
            num_envs,
            seed=seed,
            opponent=opponent,
            seat=seat,
            random_plies=random_plies,
            threats=threats,
            threads=threads,
        )
        self._step: Step | None = None
        self._actions: NDArray[np.int64] = np.zeros(num_envs, np.int64)
        self._features = int(np.prod(self._env.observation_shape))
        super().__init__(num_envs, Box(0, 1, (self._features,), np.float32), Discrete(self._env.num_actions))

    def reset(self) -> NDArray[np.float32]:
        """Starts all games again, with the seed of ``seed()`` if it was called since the last reset."""
        self._step = self._env.reset(seed=self._seeds[0])
        self._reset_seeds()
        self._reset_options()
        return self._rows(self._step.observation)

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Keeps the actions for ``step_wait``."""
        self._actions = actions

    def step_wait(self) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Plays an action in every game, and the opponents' actions after it."""
        self._step = step = self._env.step(self._actions)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        # The last observation is the caller's, so that the value of a truncated game is, too.
        for slot, observation in zip(step.finished, self._rows(step.final_observation), strict=True):
            infos[slot] = {
                "terminal_observation": observation,
                "TimeLimit.truncated": bool(step.truncated[slot]),
            }
        return self._rows(step.observation), step.seat_reward, step.terminated | step.truncated, infos

    def action_masks(self) -> NDArray[np.bool_]:
        """``[N, actions]``: the legal actions."""
        if self._step is None:
            raise RuntimeError("reset the environments first")
        return np.asarray(self._step.mask, np.bool_)

    def get_images(self) -> list[Any]:
        """All positions as arrays, ``[height, width, 3]``."""
        return [gym.rendered(position, "rgb_array") for position in self._env.positions()]

    def has_attr(self, attr_name: str) -> bool:
        """Whether ``get_attr`` and ``env_method`` know this name."""
        return hasattr(self, attr_name)

    def get_attr(self, attr_name: str, indices: None | int | Iterable[int] = None) -> list[Any]:
        """An attribute, which all games have in common."""
        return [getattr(self, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: None | int | Iterable[int] = None) -> None:
        """The games have no attributes of their own."""
        raise NotImplementedError("the games of a JarmoVecEnv have no attributes of their own")

    def env_method(
        self, method_name: str, *method_args: Any, indices: None | int | Iterable[int] = None, **method_kwargs: Any
    ) -> list[Any]:
        """The rows of a call for all games: ``MaskablePPO`` asks for ``action_masks`` in this way."""
        rows = getattr(self, method_name)(*method_args, **method_kwargs)
        return [rows[slot] for slot in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type[Any], indices: None | int | Iterable[int] = None) -> list[bool]:
        """No game has a wrapper."""
        return [False] * len(list(self._get_indices(indices)))

    def close(self) -> None:
        """Frees the games and their opponents."""
        self._env.close()

    def _rows(self, features: NDArray[Any]) -> NDArray[np.float32]:
        return features.reshape(len(features), self._features)
