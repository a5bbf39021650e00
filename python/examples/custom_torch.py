"""A custom network in PyTorch, here of convolutions, learns connect four by self-play and is rated.

    pip install torch
    python custom_torch.py 5        # minutes of CPU time
"""

import sys
import time

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy

import jarmo


class Network(nn.Module):
    def __init__(self, game, channels=32):
        super().__init__()
        planes, rows, columns = game.feature_shape()
        widths = [planes, channels, channels, channels]
        layers = [(nn.Conv2d(one, other, 3, padding=1), nn.ReLU()) for one, other in zip(widths, widths[1:])]
        self.trunk = nn.Sequential(*(layer for pair in layers for layer in pair), nn.Flatten())
        self.policy = nn.Linear(channels * rows * columns, game.num_actions)
        self.result = nn.Linear(channels * rows * columns, 3)  # win, draw and loss of the player to move

    def forward(self, features):
        hidden = self.trunk(features)
        return self.policy(hidden), self.result(hidden)

    @torch.inference_mode()
    def evaluate(self, features, masks):
        policy, result = self(torch.from_numpy(features))
        return policy.numpy(), result.softmax(1).numpy()


torch.set_num_threads(1)  # the other cores grow trees
torch.manual_seed(1)
game = jarmo.Game("connect_four")
network, window, generator = Network(game), [], np.random.default_rng(1)
optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
end = time.process_time() + 60 * float(sys.argv[1])
for samples in jarmo.self_play(game, network.evaluate, simulations=32, max_random_plies=4, min_samples=4096, seed=1):
    window = [*window[-9:], samples]
    for _ in range(4 * len(samples.features) // 512):  # each position is learned about four times
        chosen = window[generator.integers(len(window))]
        rows = generator.integers(len(chosen.features), size=512)
        features, masks, policies, outcomes = (torch.from_numpy(array[rows]) for array in chosen[:4])
        policy, result = network(features)
        loss = cross_entropy(policy.masked_fill(~masks, -1e9), policies) + cross_entropy(result, outcomes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"{end - time.process_time():4.0f} s left  loss {loss.item():.3f}", flush=True)
    if time.process_time() > end:
        break


def custom(positions):
    return jarmo.search(positions, network.evaluate, simulations=64).actions


print(jarmo.arena([custom, "rollout:1000", "random"], game=game, games=100, random_plies=2))
