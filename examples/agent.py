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


def relu(numbers):
    return np.maximum(numbers, 0.0)


def conv3(board, kernel):
    """A 3x3 cross-correlation of [input, rows, columns] with zeros around the board."""
    _, rows, columns = board.shape
    padded = np.pad(board, ((0, 0), (1, 1), (1, 1)))
    out = np.zeros((kernel.shape[0], rows, columns))
    for y in range(3):
        for x in range(3):
            seen = padded[:, y : y + rows, x : x + columns]
            out += np.einsum("oi,irc->orc", kernel[:, :, y, x], seen)
    return out


def trunk(header, weights, features):
    """What the heads see, from the features of a position, each 0 or 1."""
    net, shape = header["net"], header["shape"]
    if net["kind"] == "mlp":
        hidden = relu(features @ weights["stem.weight"] + weights["stem.bias"])
        for block in range(net["blocks"]):
            name = f"blocks.{block}"
            step = hidden @ weights[f"{name}.weight"] + weights[f"{name}.bias"]
            hidden = relu(hidden + step)
        return hidden
    rows, columns = shape["rows"], shape["columns"]
    split = shape["board_planes"] * rows * columns
    board = features[:split].reshape(-1, rows, columns)
    everywhere = features[split:] @ weights["stem.numbers.weight"] + weights["stem.bias"]
    hidden = relu(conv3(board, weights["stem.board.weight"]) + everywhere[:, None, None])
    for block in range(net["blocks"]):
        layer = lambda name, board: (
            conv3(board, weights[f"blocks.{block}.{name}.weight"])
            + weights[f"blocks.{block}.{name}.bias"][:, None, None]
        )
        hidden = relu(hidden + layer("second", relu(layer("first", hidden))))
    by_cell = hidden.reshape(hidden.shape[0], -1).T  # [cells, width]
    return relu(by_cell @ weights["head.weight"] + weights["head.bias"]).reshape(-1)


def main():
    with safe_open(sys.argv[1], framework="numpy") as file:
        header = json.loads(file.metadata()["jarmo"])
        weights = {name: file.get_tensor(name).astype(np.float64) for name in file.keys()}
    opinion = json.load(sys.stdin)["opinion"]
    shape = header["shape"]
    features = np.zeros(shape["planes"] * shape["rows"] * shape["columns"])
    # A network from before the threats (encoder version 1) knows only the first of the set inputs.
    features[[index for index in opinion["features"] if index < len(features)]] = 1.0
    seen = trunk(header, weights, features)
    computed, expected = [], []
    for head in ["policy", "result", "score"]:
        if f"{head}.weight" in weights:
            computed.append(seen @ weights[f"{head}.weight"] + weights[f"{head}.bias"])
            expected.append(opinion[f"{head}_logits"])
    computed, expected = np.concatenate(computed), np.concatenate(expected)
    worst = np.abs(computed - expected).max() / np.abs(expected).max()
    print(f"{header['game']}: {len(computed)} logits, largest difference {worst:.1e} of the largest")
    if worst > 1e-4:
        sys.exit("the logits differ")


if __name__ == "__main__":
    main()
