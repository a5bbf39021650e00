"""Gymnasium's own check of every environment, and of many at once with every way to begin the next game."""

import warnings

import gymnasium
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

from jarmo.gym import IDS

warnings.simplefilter("error")
for name in IDS.values():
    for opponent in ("random", "greedy", "rollout:20", None):
        check_env(gymnasium.make(name, opponent=opponent).unwrapped)
        print("check_env", name, opponent)
    for mode in AutoresetMode:
        env = gymnasium.make_vec(name, num_envs=32, opponent="random", autoreset_mode=mode)
        observation, info = env.reset(seed=1)
        ends = 0
        for _ in range(500):
            assert env.observation_space.contains(observation)
            observation, rewards, terminated, truncated, info = env.step(env.unwrapped.sample_actions())
            assert rewards.shape == terminated.shape == truncated.shape == (32,)
            ended = terminated | truncated
            ends += ended.sum()
            assert not rewards[~ended].any()
            if mode == AutoresetMode.DISABLED and ended.any():
                observation, info = env.reset(options={"reset_mask": ended})
        print("make_vec", name, mode.value, f"{ends} games")
        assert ends > 50
