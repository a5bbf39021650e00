"""AlphaZero: the library searches and plays, and the network of `common` learns from policies and results.

    python alphazero.py --evaluations 1000000 --simulations 0,64
"""

from common import Network, inputs_of, run, softmax

import numpy as np

import jarmo

WINDOW, BATCH, TIMES = 100, 256, 4


def train(game, budget, seed, network_class=Network):
    network = network_class(inputs_of(game), {"policy": game.num_actions, "result": 3}, seed=seed)

    def policy(features, masks):
        budget.step(0, evaluations=len(features))
        out = network(features)
        return out["policy"], softmax(out["result"])

    window, generator = [], np.random.default_rng(seed)
    with jarmo.self_play(game, policy, games=128, simulations=16, max_random_plies=4, threats=True, min_samples=512,
                         seed=seed, threads=1) as games:
        for samples in games:
            budget.step(len(samples.actions))
            window = [*window[-WINDOW:], samples]
            for _ in range(TIMES * len(samples.actions) // BATCH):  # each position is learned some times
                chosen = window[generator.integers(len(window))]
                rows = generator.integers(len(chosen.actions), size=BATCH)
                out = network(chosen.features[rows])
                errors = {
                    "policy": softmax(out["policy"], chosen.masks[rows]) - chosen.policies[rows],
                    "result": softmax(out["result"]) - chosen.outcomes[rows],
                }
                network.learn(errors, 2e-3 * max(1 - budget.done, 0) + 1e-5)
            if not budget:
                return policy


if __name__ == "__main__":
    run(train, "AlphaZero")
