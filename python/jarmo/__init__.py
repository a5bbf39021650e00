"""Small board games for reinforcement learning.

Environments, batched tree search with your own network, trained agents and exact tables, on NumPy arrays::

    import jarmo

    env = jarmo.VecEnv("connect_four", 4096, seed=1)
    step = env.reset()                      # observations, masks, … of 4096 games
    for _ in range(100):
        step = env.step(env.sample_actions())

`jarmo.gym` registers environments with Gymnasium, `jarmo.zoo` has environments for PettingZoo, and `jarmo.openspiel`
registers the games with OpenSpiel. Each is imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jarmo._arena import ArenaResult, arena
from jarmo._jarmo import (
    GAMES,
    Agent,
    Game,
    Position,
    SelfPlay,
    Tables,
    VecEnv,
    __version__,
    bench_env,
    save_agent,
    search,
)
from jarmo._play import ExamResult, exam, self_play
from jarmo._runs import compare, runs, sweep
from jarmo._train import Event, Run, train
from jarmo._types import Evaluation, Lookup, Outcome, Samples, SearchResult, Step, Symmetry

if TYPE_CHECKING:
    from types import ModuleType

    from jarmo import boards as boards
    from jarmo import gym as gym
    from jarmo import openspiel as openspiel
    from jarmo import sb3 as sb3
    from jarmo import widget as widget
    from jarmo import yardstick as yardstick
    from jarmo import zoo as zoo

__all__ = [
    "GAMES",
    "Agent",
    "ArenaResult",
    "Evaluation",
    "Event",
    "ExamResult",
    "Game",
    "Lookup",
    "Outcome",
    "Position",
    "Run",
    "Samples",
    "SearchResult",
    "SelfPlay",
    "Step",
    "Symmetry",
    "Tables",
    "VecEnv",
    "__version__",
    "arena",
    "bench_env",
    "compare",
    "exam",
    "runs",
    "save_agent",
    "search",
    "self_play",
    "sweep",
    "train",
]

_MODULES = ("boards", "gym", "openspiel", "sb3", "widget", "yardstick", "zoo")

if not TYPE_CHECKING:  # a type checker knows which names there are

    def __getattr__(name: str) -> ModuleType:
        """A module of the package, imported when it is first used, because most need another package."""
        if name in _MODULES:
            from importlib import import_module

            return import_module(f"jarmo.{name}")
        raise AttributeError(f"module 'jarmo' has no attribute {name!r}")
