"""AlphaZero with PyTorch: learns connect four from nothing and writes an agent file.

    pip install torch
    python alphazero_torch.py --minutes 5 --out connect_four.safetensors
    jarmo arena connect_four.safetensors:64 rollout:1000 --game connect_four

The library plays and searches, thousands of trees at a time; the network and its training are PyTorch, on the
CPU. The network is that of an agent file, so that its tensors can be saved as one.
"""

import argparse
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional

import jarmo


class Network(nn.Module):
    """A layer, residual blocks, and linear heads for policy and result (win, draw, loss of the player to move)."""

    def __init__(self, inputs, actions, width=128, blocks=2):
        super().__init__()
        self.stem = nn.Linear(inputs, width)
        self.blocks = nn.ModuleList(nn.Linear(width, width) for _ in range(blocks))
        self.policy = nn.Linear(width, actions)
        self.result = nn.Linear(width, 3)
        deviations = {self.stem: (20 / inputs) ** 0.5}  # about a tenth of the inputs are set
        deviations |= {block: (0.5 / width) ** 0.5 for block in self.blocks}
        deviations |= {head: (0.02 / width) ** 0.5 for head in (self.policy, self.result)}
        for layer, deviation in deviations.items():
            nn.init.normal_(layer.weight, 0, deviation)
            nn.init.zeros_(layer.bias)

    def forward(self, features):
        hidden = functional.relu(self.stem(features.flatten(1)))
        for block in self.blocks:
            hidden = functional.relu(hidden + block(hidden))
        return self.policy(hidden), self.result(hidden)

    @torch.inference_mode()
    def evaluate(self, features, masks):
        """What search and self-play ask: logits `[B, actions]` and results `[B, 3]`, as arrays."""
        policy, result = self(torch.from_numpy(features))
        return policy.numpy(), result.softmax(1).numpy()

    def losses(self, samples):
        """The cross-entropies of policy and result."""
        features, masks, policies, outcomes = map(torch.from_numpy, samples[:4])
        policy, result = self(features)
        policy = policy.masked_fill(~masks, -1e9)
        return functional.cross_entropy(policy, policies), functional.cross_entropy(result, outcomes)

    def arrays(self):
        """The tensors of an agent file, whose weights are `[inputs, outputs]`; PyTorch's are `[outputs, inputs]`."""
        return {name: np.ascontiguousarray(one.detach().numpy().T) for name, one in self.state_dict().items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--out", default="connect_four.safetensors")
    given = parser.parse_args()

    torch.set_num_threads(1)  # the products are small, and the other cores grow trees
    torch.manual_seed(1)
    game = jarmo.Game("connect_four")
    network = Network(int(np.prod(game.feature_shape(threats=True))), game.num_actions)
    optimizer = torch.optim.Adam(network.parameters())
    games = jarmo.self_play(
        game, network.evaluate, games=512, simulations=32, max_random_plies=4, threats=True, min_samples=8192, seed=1
    )
    window, generator, steps, start = [], np.random.default_rng(1), 0, time.monotonic()
    for number, samples in enumerate(games):
        window = [*window[-7:], samples]  # about 65,000 positions
        done = min((time.monotonic() - start) / (60 * given.minutes), 1)
        optimizer.param_groups[0]["lr"] = 2e-3 * (1 - done) + 1e-5
        for _ in range(4 * len(samples.features) // 512):  # each position is learned about four times
            chosen = window[generator.integers(len(window))]
            rows = generator.integers(len(chosen.features), size=512)
            policy, result = network.losses([array[rows] for array in chosen])
            optimizer.zero_grad()
            (policy + result).backward()
            optimizer.step()
            steps += 1
        if number % 10 == 0 or done == 1:
            stats = games.stats()
            print(f"{done:4.0%}  {stats['positions']:,} positions  policy {policy.item():.3f}  "
                  f"result {result.item():.3f}  White wins {stats['white']:.0%}", flush=True)
        if done == 1:
            break
    jarmo.save_agent(given.out, game, network.arrays(), run="alphazero_torch", step=steps,
                     games=int(games.stats()["games"]))
    print(jarmo.arena([f"{given.out}?sims=64", "rollout:1000"], game=game, games=100, random_plies=2))


if __name__ == "__main__":
    main()
