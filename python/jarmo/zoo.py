"""Environments for PettingZoo: ``jarmo.zoo.env("jarmo")``, with the agents ``player_0`` (White) and ``player_1``.

They follow the agent-environment cycle. The same agent may act twice in a row, as the rules of guard and tammi have it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.spaces import Space
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

import jarmo
from jarmo.gym import RENDER_MODES, RenderMode, _spaces, checked_mode, rendered

AGENTS = ("player_0", "player_1")
"""White and Black."""


def env(game: jarmo.Game | str = "jarmo", **settings: Any) -> Any:
    """The environment with PettingZoo's usual wrappers: an illegal action loses the game, and calls in a wrong order
    are errors. The arguments are those of `raw_env`."""
    wrapped: Any = raw_env(game, **settings)
    wrapped = wrappers.TerminateIllegalWrapper(wrapped, illegal_reward=-1)
    wrapped = wrappers.AssertOutOfBoundsWrapper(wrapped)
    return wrappers.OrderEnforcingWrapper(wrapped)


class raw_env(AECEnv):  # type: ignore[misc]
    """A game of two agents."""

    def __init__(
        self,
        game: jarmo.Game | str = "jarmo",
        *,
        random_plies: int = 0,
        threats: bool = False,
        render_mode: RenderMode | None = None,
    ) -> None:
        """Makes the environment.

        Args:
            game: A game or its name.
            random_plies: Random plies at the start of each game.
            threats: Adds the threat planes to observations.
            render_mode: ``"ansi"`` for text, ``"svg"`` for a picture as SVG text, ``"rgb_array"`` for one as an array.
        """
        super().__init__()
        self.render_mode: str | None = checked_mode(render_mode)
        self._env = jarmo.VecEnv(
            game, 1, threads=1, autoreset="disabled", random_plies=random_plies, threats=threats
        )
        self._threats = threats
        self.metadata: dict[str, Any] = {
            "render_modes": RENDER_MODES,
            "render_fps": 1,
            "name": f"{self._env.game.name}_v1",
            "is_parallelizable": False,
        }
        self.possible_agents: list[str] = list(AGENTS)
        self.agents: list[str] = list(AGENTS)
        spaces = {agent: _spaces(self._env) for agent in AGENTS}  # each has random numbers of its own
        self.observation_spaces: dict[str, Space[Any]] = {agent: space for agent, (space, _) in spaces.items()}
        self.action_spaces: dict[str, Space[Any]] = {agent: space for agent, (_, space) in spaces.items()}

    def observation_space(self, agent: str) -> Space[Any]:
        """The space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Space[Any]:
        """The space of an agent's actions."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Starts another game."""
        self._step = self._env.reset(seed=seed)
        self.agents = list(self.possible_agents)
        self.rewards: dict[str, float] = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations: dict[str, bool] = dict.fromkeys(self.agents, False)
        self.truncations: dict[str, bool] = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection: str = AGENTS[self._step.to_move[0]]

    def step(self, action: int | None) -> None:
        """Plays an action of the agent to move."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        self._step = step = self._env.step(np.array([action]))
        for index, name in enumerate(AGENTS):
            self.rewards[name] = float(step.reward[0, index])
            self.terminations[name] = bool(step.terminated[0])
            self.truncations[name] = bool(step.truncated[0])
        self.agent_selection = AGENTS[step.to_move[0]]
        self._accumulate_rewards()

    def observe(self, agent: str) -> dict[str, NDArray[Any]]:
        """The position as the agent sees it, as if it were to move. Only the mask of the one to move has legal actions."""
        acts = agent == self.agent_selection
        mask = self._step.mask[0].astype(np.int8)
        position, viewer = self._env.position(0), AGENTS.index(agent)
        return {
            "observation": self._env.game.features(position, threats=self._threats, viewer=viewer)[0],
            "action_mask": mask if acts else np.zeros_like(mask),
        }

    def render(self) -> Any:
        """The position as text, as SVG, or as an array."""
        return rendered(self._env.position(0), self.render_mode)

    def close(self) -> None:
        """Frees the game."""
        self._env.close()
