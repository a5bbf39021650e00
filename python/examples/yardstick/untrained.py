"""Policies that do not learn here: random, greedy, tree search with playouts, and the shipped network. One result each,
because a version fixes the seed.

    python untrained.py --version jarmo-v1
"""

import argparse
import pathlib

from common import save

from jarmo import yardstick

POLICIES = {
    "random": "random",
    "greedy": "greedy",
    "rollout:64": "MCTS with playouts (64)",
    "rollout:1000": "MCTS with playouts (1000)",
    "trained": "the shipped network",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--version", default="jarmo-v1")
    parser.add_argument("--policies", default=",".join(POLICIES), help="some of them")
    parser.add_argument("--simulations", default="0,64,256", help="simulations of the shipped network")
    parser.add_argument("--out", default="results")
    given = parser.parse_args()
    for spec in given.policies.split(","):
        searches = [int(count) for count in given.simulations.split(",")]
        result = yardstick.evaluate(spec, given.version, simulations=searches, name=POLICIES[spec])
        options = f"--version {given.version} --policies {spec} --simulations {given.simulations}"
        path = pathlib.Path(given.out) / f"{given.version}-{spec.replace(':', '')}.json"
        print(save([result], options, path))


if __name__ == "__main__":
    main()
