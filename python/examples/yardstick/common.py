"""Shared by the baselines: a network in NumPy, and the run over seeds. A baseline is a function `train(game, budget,
seed)` that returns a policy for `jarmo.yardstick.evaluate`.
"""

import argparse
import json
import os
import pathlib
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported: budgets are time of one core

import numpy as np

import jarmo
from jarmo import yardstick


class Network:
    """A layer, residual blocks, and linear heads, with Adam."""

    def __init__(self, inputs, heads, width=128, blocks=1, seed=1):
        generator = np.random.default_rng(seed)
        layers = {"stem": (inputs, width, inputs / 10)}  # about a tenth of the inputs are set
        layers |= {f"block{block}": (width, width, 4 * width) for block in range(blocks)}
        layers |= {head: (width, outputs, 100 * width) for head, outputs in heads.items()}
        self.heads, self.blocks, self.steps, self.tensors = list(heads), blocks, 0, {}
        for name, (rows, columns, fan_in) in layers.items():
            self.tensors[name] = generator.normal(0, (2 / fan_in) ** 0.5, (rows, columns)).astype("f4")
            self.tensors[f"{name}.bias"] = np.zeros(columns, "f4")
        self.first, self.second = ({key: np.zeros_like(one) for key, one in self.tensors.items()} for _ in "ab")

    def layer(self, name, numbers):
        return numbers @ self.tensors[name] + self.tensors[f"{name}.bias"]

    def __call__(self, features):
        """The outputs of the heads, by name."""
        self.inputs = features.reshape(len(features), -1).astype("f4", copy=False)
        self.hidden = [np.maximum(self.layer("stem", self.inputs), 0)]
        for block in range(self.blocks):
            self.hidden.append(np.maximum(self.hidden[-1] + self.layer(f"block{block}", self.hidden[-1]), 0))
        return {head: self.layer(head, self.hidden[-1]) for head in self.heads}

    def learn(self, errors, rate):
        """A step of Adam: `errors` are the gradients of the loss by the outputs of the last call."""
        gradients, back = {}, 0
        for head, error in errors.items():
            error = (error / len(error)).astype("f4")
            gradients[head], gradients[f"{head}.bias"] = self.hidden[-1].T @ error, error.sum(axis=0)
            back = back + error @ self.tensors[head].T
        for block in reversed(range(self.blocks)):
            back = back * (self.hidden[block + 1] > 0)
            name = f"block{block}"
            gradients[name], gradients[f"{name}.bias"] = self.hidden[block].T @ back, back.sum(axis=0)
            back = back + back @ self.tensors[name].T
        back = back * (self.hidden[0] > 0)
        gradients["stem"], gradients["stem.bias"] = self.inputs.T @ back, back.sum(axis=0)
        self.steps += 1
        for key, gradient in gradients.items():
            self.first[key] += 0.1 * (gradient - self.first[key])
            self.second[key] += 0.001 * (gradient**2 - self.second[key])
            first = self.first[key] / (1 - 0.9**self.steps)
            second = self.second[key] / (1 - 0.999**self.steps)
            self.tensors[key] -= (rate * first / (np.sqrt(second) + 1e-8)).astype("f4")


def softmax(logits, masks=None):
    if masks is not None:
        logits = np.where(masks, logits, -1e9)
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def inputs_of(game):
    """The number of features with threats."""
    return int(np.prod(game.feature_shape(threats=True)))


def run(train, name):
    """Trains and measures one policy for each seed, and writes an entry of the board."""
    parser = argparse.ArgumentParser(description=f"Baseline of the yardstick: {name}")
    parser.add_argument("--version", default="jarmo-v1", help="a version of the benchmark")
    limit = parser.add_mutually_exclusive_group(required=True)
    limit.add_argument("--steps", type=int, help="a budget of environment steps")
    limit.add_argument("--evaluations", type=int, help="a budget of evaluations")
    limit.add_argument("--minutes", type=float, help="a budget of CPU time of one core")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--simulations", default="0", help="simulations of the measurement, such as 0,64,256")
    parser.add_argument("--out", default="results", help="the folder for the entry")
    given = parser.parse_args()
    limits = {unit: getattr(given, unit) for unit in ("steps", "evaluations", "minutes")}
    unit, number = next((unit, number) for unit, number in limits.items() if number)
    searches = [int(count) for count in given.simulations.split(",")]
    game, results = jarmo.Game(yardstick.VERSIONS[given.version].game), []
    for seed in range(1, given.seeds + 1):
        budget = yardstick.Budget(**limits)
        policy = train(game, budget, seed)
        results.append(yardstick.evaluate(
            policy, given.version, simulations=searches, threats=True, name=name, budget=budget, training_seed=seed
        ))
        print(json.dumps({**results[-1].training, **results[-1].table[0]}), flush=True)
        options = f"--version {given.version} --{unit} {number} --seeds {given.seeds} --simulations {given.simulations}"
        name_of_file = f"{given.version}-{pathlib.Path(sys.argv[0]).stem}-{number}-{unit}.json"
        save(results, options, pathlib.Path(given.out) / name_of_file)


def save(results, options, path):
    """Writes an entry of these results: again after each seed, so that an interruption loses only one."""
    script = pathlib.Path(sys.argv[0]).name
    entry = yardstick.Entry(
        results, code=f"python/examples/yardstick/{script}", command=f"python {script} {options}"
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    entry.save(path)
    return entry
