"""MaskablePPO of sb3_contrib learns jarmo against random play, on the CPU.

    pip install sb3-contrib
    python maskable_ppo.py --minutes 1
"""

import argparse
import time

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from jarmo.sb3 import JarmoVecEnv


class Progress(BaseCallback):
    """Prints the share of wins, and ends the training after some CPU time."""

    def __init__(self, seconds):
        super().__init__()
        self.end, self.ended, self.won = time.process_time() + seconds, 0, 0

    def _on_step(self):
        self.ended += int(self.locals["dones"].sum())
        self.won += int((self.locals["rewards"] > 0).sum())
        return time.process_time() < self.end

    def _on_rollout_end(self):
        if self.ended >= 5000:
            print(f"{self.num_timesteps:,} steps  {time.process_time():.0f} s of CPU time  "
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
    parser.add_argument("--minutes", type=float, default=1.0, help="CPU time")
    parser.add_argument("--out", help="where to save the model")
    given = parser.parse_args()

    torch.set_num_threads(1)
    model = MaskablePPO(
        "MlpPolicy", JarmoVecEnv("jarmo", 256, seed=1), n_steps=32, batch_size=1024, n_epochs=4, learning_rate=1e-3,
        gamma=0.99, ent_coef=0.01, policy_kwargs={"net_arch": [128, 128]}, seed=1, device="cpu",
    )
    model.learn(10**9, callback=Progress(60 * given.minutes))
    if given.out:
        model.save(given.out)
    wins, draws, losses = play(model, JarmoVecEnv("jarmo", 100, seed=2), 500)
    print(f"{model.num_timesteps:,} steps, {time.process_time():.0f} s of CPU time")
    print(f"500 games against random: {wins} won, {draws} drawn, {losses} lost ({wins / 500:.1%})")


if __name__ == "__main__":
    main()
