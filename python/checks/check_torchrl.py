"""TorchRL's own check of every environment through its wrapper of Gymnasium, and rollouts with masks and without."""

import warnings

import gymnasium
import torch
from torchrl.envs import GymWrapper
from torchrl.envs.utils import check_env_specs

from jarmo.gym import IDS

warnings.simplefilter("ignore")  # TorchRL's own
torch.manual_seed(1)
for name in IDS.values():
    env = GymWrapper(gymnasium.make(name, opponent="random", action_mask=True))
    check_env_specs(env, seed=1)
    ended = 0
    for _ in range(5):
        games = env.rollout(1000)
        ended += int(games["next", "done"].sum())
    print(name, f"{ended} games")
    assert ended == 5
