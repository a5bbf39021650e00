"""TorchRL's own check of every environment through its wrapper of Gymnasium, and whole games of random legal actions."""

import warnings

import gymnasium
from torchrl.envs import ActionMask, GymWrapper, TransformedEnv
from torchrl.envs.utils import check_env_specs

from jarmo.gym import IDS

warnings.simplefilter("ignore")  # TorchRL's own
for name in IDS.values():
    env = TransformedEnv(GymWrapper(gymnasium.make(name, opponent="random")), ActionMask())
    check_env_specs(env, seed=1)
    plies = 0
    for _ in range(5):
        game = env.rollout(1000)
        assert game["next", "done"].sum() == 1, "a game ends once"
        plies += len(game)
    print(name, f"5 games, {plies} plies")
