"""What a network knows at each of its layers, and since when: linear probes on exact labels.

    pip install jarmo
    jarmo train --game connect_four --run runs/probed --cpu-minutes 4 --set run.keep=100000
    python probes.py connect_four runs/probed

A probe is a linear model that reads one fact about a position from the activations of one layer. The facts come from
the exam, so they are exact. If a probe is right more often at a later layer than at the inputs, the layers before it
compute something about that fact. Three quarters of the exam teach the probes, and the rest judges them.
"""

import argparse
import json
from pathlib import Path

import numpy as np

import jarmo
from jarmo import yardstick

STRENGTHS = [1.0, 10.0, 100.0, 1000.0]  # of the ridge penalty; a fifth of the positions that teach chooses one


def facts(exam):
    """By name, a label for every position of the exam, -1 where the question makes no sense."""
    best = np.where(exam.masks, exam.results, -2).max(axis=1)

    def wins_at_once(position):
        after = (position.play(action) for action in position.legal)
        return any(next.is_over and next.outcome.winner == position.to_move for next in after)

    right = (exam.results == best[:, None]) & exam.masks
    labels = {
        "win, draw or loss": best + 1,
        "a move wins at once": np.array([wins_at_once(position) for position in exam.positions], int),
        "only one move is right": ((right.sum(axis=1) == 1) & exam.critical).astype(int),
    }
    fastest = np.where((exam.results == 1) & (exam.plies >= 0), exam.plies, 1000).min(axis=1)
    won = (fastest > 1) & (fastest < 1000)  # a win at once has a probe of its own
    if won.any():  # the exam of tammi has no distances
        labels["the win is far away"] = np.where(won, fastest > np.median(fastest[won]), -1)
    return labels


def activations(tensors, inputs):
    """The activations of every layer, by name, first the inputs themselves."""
    yield "inputs", inputs
    hidden = np.maximum(inputs @ tensors["stem.weight"] + tensors["stem.bias"], 0)
    yield "first layer", hidden
    for block in range(sum(name.startswith("blocks.") for name in tensors) // 2):
        hidden = np.maximum(hidden + hidden @ tensors[f"blocks.{block}.weight"] + tensors[f"blocks.{block}.bias"], 0)
        yield f"block {block + 1}", hidden


class Probe:
    """Linear models for any number of facts about the same activations."""

    def __init__(self, numbers, teaches):
        used = numbers[teaches].std(axis=0) > 0
        numbers = numbers[:, used]
        mean, spread = numbers[teaches].mean(axis=0), numbers[teaches].std(axis=0)
        self.numbers = np.hstack([(numbers - mean) / spread, np.ones((len(numbers), 1), "f4")])
        self.teaches = teaches

    def right(self, labels):
        """The share of the positions that judge in which the best linear model names the label."""
        known = labels >= 0
        wanted = np.eye(labels.max() + 1, dtype="f4")[np.maximum(labels, 0)]
        fifth = np.arange(len(labels)) % 5 == 0
        chooses, teaches = (known & self.teaches & part for part in (fifth, ~fifth))
        choices = [self._right(teaches, chooses, strength, wanted, labels) for strength in STRENGTHS]
        return self._right(known & self.teaches, known & ~self.teaches, STRENGTHS[np.argmax(choices)], wanted, labels)

    def _right(self, teaches, judges, strength, wanted, labels):
        rows = self.numbers[teaches]
        products = (rows.T @ rows).astype("f8") + strength * np.eye(rows.shape[1])
        model = np.linalg.solve(products, (rows.T @ wanted[teaches]).astype("f8")).astype("f4")
        return float(((self.numbers[judges] @ model).argmax(axis=1) == labels[judges]).mean())


def shuffled(tensors, seed=1):
    """A network that has learned nothing: the weights of each tensor in random order."""
    generator = np.random.default_rng(seed)
    return {name: generator.permuted(tensor.ravel()).reshape(tensor.shape) for name, tensor in tensors.items()}


def study(networks, game, say=print):
    """For each network and layer, the share of right answers for each fact. `networks` has tensors by name."""
    exam = yardstick.load_exam(game)
    labels = facts(exam)
    inputs = game.features(exam.positions, threats=True).reshape(len(exam.positions), -1)
    teaches = np.random.default_rng(1).random(len(inputs)) < 0.75
    most = {name: float(np.bincount(label[label >= 0]).max() / (label >= 0).sum()) for name, label in labels.items()}
    rows = [{"network": "always the most frequent answer", "layer": "", **most}]
    say(rows[0])
    known_inputs = None
    for name, tensors in networks.items():
        for layer, numbers in activations(tensors, inputs):
            if layer == "inputs" and known_inputs:
                continue  # they do not depend on the network
            probe = Probe(numbers, teaches)
            row = {fact: probe.right(label) for fact, label in labels.items()}
            known_inputs = known_inputs or layer == "inputs"
            rows.append({"network": "" if layer == "inputs" else name, "layer": layer, **row})
            say(rows[-1])
    return rows


def checkpoints(run, count):
    """The first checkpoint of a run, the last one, and some between them, at growing distances."""
    files = sorted((Path(run) / "checkpoints").glob("step-*.safetensors"))
    picked = sorted({int(round(place)) for place in np.geomspace(1, len(files), count)})
    return [files[place - 1] for place in picked]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("game")
    parser.add_argument("run", help="the folder of a run")
    parser.add_argument("--count", type=int, default=5, help="of checkpoints")
    parser.add_argument("--json", help="writes the figures to this file")
    options = parser.parse_args()
    game = jarmo.Game(options.game)
    files = checkpoints(options.run, options.count)
    networks = {f"step {int(file.stem[5:])}": jarmo.Agent(f"{file}:0", game=game).network() for file in files}
    shipped = jarmo.Agent("trained:0", game=game).network()
    networks = {"shuffled weights": shuffled(shipped), **networks, "shipped": shipped}

    def say(row):
        numbers = [f"{value:6.1%} {fact}" for fact, value in row.items() if isinstance(value, float)]
        print(f"{row['network']:>32} {row['layer']:12}", "   ".join(numbers), flush=True)

    rows = study(networks, game, say)
    if options.json:
        Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
