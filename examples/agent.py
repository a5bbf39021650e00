"""Reads an agent file with nothing but the safetensors package and numpy, and evaluates a position.

    jarmo inspect FILE --position start --json | python3 examples/agent.py FILE

The position comes as the JSON that `jarmo inspect` prints: the set features, and the logits that the
program itself computed. This script computes the same logits by the formulas in docs/formats.md and
fails if any of them differs by more than one part in ten thousand of the largest.
"""

import json
import sys

import numpy as np
from safetensors import safe_open


def layer(weights, name, numbers):
    return numbers @ weights[f"{name}.weight"] + weights[f"{name}.bias"]


def trunk(header, weights, features):
    """What the heads see, from the features of a position, each 0 or 1."""
    hidden = np.maximum(layer(weights, "stem", features), 0.0)
    for block in range(header["net"]["blocks"]):
        hidden = np.maximum(hidden + layer(weights, f"blocks.{block}", hidden), 0.0)
    return hidden


def main():
    with safe_open(sys.argv[1], framework="numpy") as file:
        header = json.loads(file.metadata()["jarmo"])
        if "width" not in header["net"]:
            sys.exit("this script computes only networks of the kind mlp")
        weights = {name: file.get_tensor(name).astype(np.float64) for name in file.keys()}
    output = json.load(sys.stdin)["output"]
    features = np.zeros(header["shape"]["features"])
    features[output["features"]] = 1.0
    seen = trunk(header, weights, features)
    computed, expected = [], []
    for head in ["policy", "result", "score"]:
        if f"{head}.weight" in weights:
            computed.append(layer(weights, head, seen))
            expected.append(output[f"{head}_logits"])
    computed, expected = np.concatenate(computed), np.concatenate(expected)
    worst = np.abs(computed - expected).max() / np.abs(expected).max()
    print(f"{header['game']}: {len(computed)} logits, largest difference {worst:.1e} of the largest")
    if worst > 1e-4:
        sys.exit("the logits differ")


if __name__ == "__main__":
    main()
