"""Small board games for reinforcement learning.

Environments, batched tree search with your own network, trained agents and exact tables, on NumPy arrays::

    import jarmo

    env = jarmo.VecEnv("connect_four", 4096, seed=1)
    step = env.reset()                      # observations, masks, … of 4096 games
    for _ in range(100):
        step = env.step(env.sample_actions())

`jarmo.gym` has environments for Gymnasium and registers them, `jarmo.zoo` for PettingZoo, `jarmo.openspiel` registers games with
OpenSpiel. None of them is imported before it is needed.
"""

from __future__ import annotations

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
