"""MaskablePPO of sb3_contrib learns jarmo against random play, on the processor.

    pip install sb3-contrib
    python maskable_ppo.py --minutes 1

Stable-Baselines3 has a class of its own for many games at once; `Games` makes one of `jarmo.VecEnv`.
"""

import argparse
import time

import numpy as np
import torch
from gymnasium.spaces import Box, Discrete
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecEnv

import jarmo


class Games(VecEnv):
    """Games against an opponent. Observations are the features in one row, with the planes of threats; the reward is
    that of the caller."""

    render_mode = None

    def __init__(self, game, num_envs, opponent="random", seed=1):
        self.games = jarmo.VecEnv(game, num_envs, seed=seed, opponent=opponent, threads=1, threats=True)
        inputs = int(np.prod(self.games.observation_shape))
        super().__init__(num_envs, Box(0, 1, (inputs,), np.float32), Discrete(self.games.game.num_actions))

    def reset(self):
        self.now = self.games.reset()
        return self.now.observation.reshape(self.num_envs, -1)

    def step_async(self, actions):
        self.actions = actions

    def step_wait(self):
        self.now = now = self.games.step(self.actions)
        infos = [{} for _ in range(self.num_envs)]
        # What the value of a game that was cut off stands for must be the caller's, and so is the last observation.
        for slot, observation in zip(now.finished, now.final_observation, strict=True):
            infos[slot] = {"terminal_observation": observation.reshape(-1),
                           "TimeLimit.truncated": bool(now.truncated[slot])}
        return now.observation.reshape(self.num_envs, -1), now.seat_reward, now.terminated | now.truncated, infos

    def action_masks(self):
        return self.now.mask

    def has_attr(self, name):
        return hasattr(self, name)

    def get_attr(self, name, indices=None):
        return [getattr(self, name)] * len(self._get_indices(indices))

    def set_attr(self, name, value, indices=None):
        raise NotImplementedError("the games of a VecEnv have no attributes of their own")

    def env_method(self, name, *arguments, indices=None, **named):
        """The rows of what one call for all games gives; MaskablePPO asks for `action_masks`."""
        rows = getattr(self, name)(*arguments, **named)
        return [rows[index] for index in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class, indices=None):
        return [False] * len(self._get_indices(indices))

    def close(self):
        pass


class Progress(BaseCallback):
    """Prints the share of wins, and ends the training after some processor time."""

    def __init__(self, seconds):
        super().__init__()
        self.end, self.ended, self.won = time.process_time() + seconds, 0, 0

    def _on_step(self):
        self.ended += int(self.locals["dones"].sum())
        self.won += int((self.locals["rewards"] > 0).sum())
        return time.process_time() < self.end

    def _on_rollout_end(self):
        if self.ended >= 5000:
            print(f"{self.num_timesteps:,} steps  {time.process_time():.0f} s of processor time  "
                  f"won {self.won / self.ended:.1%} of {self.ended:,} games", flush=True)
            self.ended, self.won = 0, 0


def play(model, games, count):
    """Wins, draws and losses of the policy in the first `count` games: as many from each slot."""
    share, slots = divmod(count, games.num_envs)
    assert slots == 0, "the games are shared out equally, so that short ones do not count more"
    observation, played, results = games.reset(), np.zeros(games.num_envs, int), {1: 0, 0: 0, -1: 0}
    while played.min() < share:
        actions, _ = model.predict(observation, action_masks=games.action_masks(), deterministic=True)
        observation, rewards, done, _ = games.step(actions)
        for slot in np.flatnonzero(done & (played < share)):
            results[int(rewards[slot])] += 1
            played[slot] += 1
    return results[1], results[0], results[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=1.0, help="processor time")
    parser.add_argument("--out", help="where to save the model")
    given = parser.parse_args()

    torch.set_num_threads(1)
    model = MaskablePPO(
        "MlpPolicy", Games("jarmo", 256), n_steps=32, batch_size=1024, n_epochs=4, learning_rate=1e-3, gamma=0.99,
        ent_coef=0.01, policy_kwargs={"net_arch": [128, 128]}, seed=1, device="cpu",
    )
    model.learn(10**9, callback=Progress(60 * given.minutes))
    if given.out:
        model.save(given.out)
    wins, draws, losses = play(model, Games("jarmo", 100, seed=2), 500)
    print(f"{model.num_timesteps:,} steps, {time.process_time():.0f} s of processor time")
    print(f"500 games against random: {wins} won, {draws} drawn, {losses} lost ({wins / 500:.1%})")


if __name__ == "__main__":
    main()
