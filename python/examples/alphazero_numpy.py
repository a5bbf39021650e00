"""AlphaZero in NumPy alone: learns connect four from nothing and writes an agent file.

    python alphazero_numpy.py --minutes 8 --out connect_four.safetensors
    jarmo arena connect_four.safetensors:64 rollout:1000 --game connect_four

The library plays and searches, thousands of trees at a time; the network and its training are below. Another framework
replaces `Network`: self-play asks for `evaluate(features, masks)` and gives back arrays.
"""

import argparse
import os
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the products are small, and the other cores grow trees

import numpy as np

import jarmo

HEADS = {"policy": 7, "result": 3}


class Network:
    """The network of an agent file, with Adam: a layer, residual blocks, and linear heads for policy and result."""

    def __init__(self, inputs, width=128, blocks=2, seed=1):
        generator = np.random.default_rng(seed)
        layers = {"stem": (inputs, width, inputs / 10)}  # about a tenth of the inputs are set
        layers |= {f"blocks.{block}": (width, width, 4 * width) for block in range(blocks)}
        layers |= {head: (width, outputs, 100 * width) for head, outputs in HEADS.items()}
        self.blocks, self.steps, self.tensors = blocks, 0, {}
        for name, (rows, columns, fan_in) in layers.items():
            self.tensors[f"{name}.weight"] = generator.normal(0, (2 / fan_in) ** 0.5, (rows, columns)).astype("f4")
            self.tensors[f"{name}.bias"] = np.zeros(columns, "f4")
        self.first, self.second = ({key: np.zeros_like(one) for key, one in self.tensors.items()} for _ in "ab")

    def layer(self, name, numbers):
        return numbers @ self.tensors[f"{name}.weight"] + self.tensors[f"{name}.bias"]

    def trunk(self, features):
        hidden = [np.maximum(self.layer("stem", features), 0)]
        for block in range(self.blocks):
            hidden.append(np.maximum(hidden[-1] + self.layer(f"blocks.{block}", hidden[-1]), 0))
        return hidden

    def evaluate(self, features, masks):
        hidden = self.trunk(features.reshape(len(features), -1))[-1]
        return self.layer("policy", hidden), softmax(self.layer("result", hidden))

    def learn(self, samples, rate):
        """One step on samples; returns the cross-entropies of policy and result."""
        features = samples.features.reshape(len(samples.features), -1)
        hidden = self.trunk(features)
        policy = softmax(np.where(samples.masks, self.layer("policy", hidden[-1]), -1e9))
        result = softmax(self.layer("result", hidden[-1]))
        gradients, back = {}, 0
        for head, found, wanted in [("policy", policy, samples.policies), ("result", result, samples.outcomes)]:
            error = (found - wanted) / len(features)
            gradients[f"{head}.weight"], gradients[f"{head}.bias"] = hidden[-1].T @ error, error.sum(axis=0)
            back = back + error @ self.tensors[f"{head}.weight"].T
        for block in reversed(range(self.blocks)):
            back = back * (hidden[block + 1] > 0)
            name = f"blocks.{block}"
            gradients[f"{name}.weight"], gradients[f"{name}.bias"] = hidden[block].T @ back, back.sum(axis=0)
            back = back + back @ self.tensors[f"{name}.weight"].T
        back = back * (hidden[0] > 0)
        gradients["stem.weight"], gradients["stem.bias"] = features.T @ back, back.sum(axis=0)
        self.steps += 1
        for key, gradient in gradients.items():  # Adam
            self.first[key] += 0.1 * (gradient - self.first[key])
            self.second[key] += 0.001 * (gradient**2 - self.second[key])
            first = self.first[key] / (1 - 0.9**self.steps)
            second = self.second[key] / (1 - 0.999**self.steps)
            self.tensors[key] -= rate * first / (np.sqrt(second) + 1e-8)
        losses = [-(wanted * np.log(found + 1e-9)).sum(axis=1).mean() for found, wanted in
                  [(policy, samples.policies), (result, samples.outcomes)]]
        return losses


def softmax(logits):
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=8.0)
    parser.add_argument("--out", default="connect_four.safetensors")
    given = parser.parse_args()

    game = jarmo.Game("connect_four")
    network = Network(int(np.prod(game.feature_shape(threats=True))))
    games = jarmo.self_play(
        game, network.evaluate, games=512, simulations=32, max_random_plies=4, threats=True, min_samples=8192, seed=1
    )
    window, generator, start = [], np.random.default_rng(1), time.monotonic()
    for number, samples in enumerate(games):
        window = [*window[-7:], samples]  # about 65,000 positions
        done = min((time.monotonic() - start) / (60 * given.minutes), 1)
        rate = 2e-3 * (1 - done) + 1e-5
        for _ in range(4 * len(samples.features) // 512):  # each position is learned about four times
            chosen = window[generator.integers(len(window))]
            rows = generator.integers(len(chosen.features), size=512)
            losses = network.learn(jarmo.Samples(*(array[rows] for array in chosen)), rate)
        if number % 10 == 0 or done == 1:
            stats = games.stats()
            print(f"{done:4.0%}  {stats['positions']:,} positions  policy {losses[0]:.3f}  result {losses[1]:.3f}  "
                  f"White wins {stats['white']:.0%}", flush=True)
        if done == 1:
            break
    jarmo.save_agent(given.out, game, network.tensors, run="alphazero_numpy", step=network.steps,
                     games=int(games.stats()["games"]))
    print(jarmo.arena([f"{given.out}?sims=64", "rollout:1000"], game=game, games=100, random_plies=2))


if __name__ == "__main__":
    main()
