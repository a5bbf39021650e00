"""Policies that do not learn: random, greedy, tree search with playouts, and the shipped network alone.

    python untrained.py --game jarmo
"""

import common
import jarmo
from jarmo import yardstick

SPECS = ["random", "greedy", "rollout:64", "rollout:1000", "trained"]


def main():
    import argparse

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--game", default="jarmo")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", default="results")
    given = parser.parse_args()
    folder = common.pathlib.Path(given.out)
    folder.mkdir(parents=True, exist_ok=True)
    for spec in SPECS:
        results = []
        for seed in range(1, given.seeds + 1):
            result = yardstick.evaluate(jarmo.Agent(spec, game=given.game), given.game, seed=seed)
            result.to_json(folder / f"{spec.replace(':', '')}-{given.game}-0min-{seed}.json")
            results.append(result)
        print(spec, yardstick.summary(results)[0], flush=True)


if __name__ == "__main__":
    main()
