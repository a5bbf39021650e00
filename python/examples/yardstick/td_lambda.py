"""TD(lambda) with an n-tuple network: a value function of tables over tuples of cells, learned from self-play with a
look-ahead of one action.

    python td_lambda.py --steps 1000000
"""

from common import run

import numpy as np

import jarmo

TUPLES, CELLS, LAMBDA, EXPLORE, GAMES = 200, 5, 0.7, 0.1, 64

# The planes that say what stands on a cell, and their weights in its code.
PLANES = {"jarmo": ([0, 1, 4, 5], [1, 1, 3, 1]), "tammi": ([0, 1, 2, 3], [1, 2, 3, 4]), "connect_four": ([0, 1], [1, 2])}
CODES = 5


class Values:
    """The expected result of the player to move: the tanh of a sum of table entries."""

    def __init__(self, game, seed):
        generator = np.random.default_rng(seed)
        self.game, (self.planes, weights) = game, PLANES[game.name]
        self.weights = np.array(weights).reshape(-1, 1)
        rows, columns = game.feature_shape()[1:]
        used = np.arange(rows * columns)
        if game.name == "tammi":  # only dark squares are used
            used = used[(used // columns + used % columns) % 2 == 0]
        # Neighbours tell more than distant cells, so each tuple is a cell and some of those around it.
        self.cells = np.empty((TUPLES, CELLS), int)
        for row in range(TUPLES):
            place = generator.choice(used)
            far = np.hypot(used // columns - place // columns, used % columns - place % columns)
            self.cells[row] = used[np.argsort(far + generator.random(len(used)))[:CELLS]]
        self.base = CODES ** np.arange(CELLS)
        self.tables = np.zeros((TUPLES, 2 * CODES**CELLS), np.float32)
        self.mover = game.name == "jarmo"  # its planes belong to White and Black, so the mover is part of each index

    def entries(self, positions):
        """The entries of some positions, [positions, tuples]."""
        features = self.game.features(positions)
        flat = features.reshape(len(positions), features.shape[1], -1)
        codes = (flat[:, self.planes] * self.weights).sum(axis=1).astype(int)
        found = codes[:, self.cells] @ self.base
        if self.mover:
            found += CODES**CELLS * np.array([position.to_move for position in positions])[:, None]
        return found

    def of(self, entries):
        return np.tanh(self.tables[np.arange(TUPLES), entries].sum(axis=1))

    def learn(self, entries, targets, rate):
        errors = targets - self.of(entries)
        change = np.repeat((rate / TUPLES * errors).astype(np.float32), TUPLES)
        np.add.at(self.tables, (np.tile(np.arange(TUPLES), len(entries)), entries.ravel()), change)

    def choose(self, positions):
        """The action with the best value after it, for each position."""
        actions, after, owners = [], [], []
        for owner, position in enumerate(positions):
            for action in position.legal:
                actions.append(action)
                after.append(position.play(action))
                owners.append(owner)
        values = self.of(self.entries(after))
        for index, (position, owner) in enumerate(zip(after, owners, strict=True)):
            mover = positions[owner].to_move
            if (outcome := position.outcome) is not None:
                values[index] = 0 if outcome.winner is None else 2 if outcome.winner == mover else -2
            elif position.to_move != mover:
                values[index] = -values[index]
        order = np.lexsort((values, owners))  # the best of each owner comes last
        last = np.append(np.flatnonzero(np.diff(np.array(owners)[order])), len(order) - 1)
        return np.array(actions)[order[last]]


def train(game, budget, seed):
    values, generator = Values(game, seed), np.random.default_rng(seed)
    env = jarmo.VecEnv(game, GAMES, seed=seed, random_plies=4, threads=1)
    played = [[] for _ in range(GAMES)]  # by slot: entries and movers
    while budget:
        positions = env.positions()
        for slot, entries in enumerate(values.entries(positions)):
            played[slot].append((entries, positions[slot].to_move))
        actions = np.where(generator.random(GAMES) < EXPLORE, env.sample_actions(), values.choose(positions))
        step = env.step(actions)
        budget.step(GAMES, evaluations=sum(len(position.legal) for position in positions))
        for slot in step.finished:
            entries = np.array([entries for entries, _ in played[slot]])
            movers = [mover for _, mover in played[slot]]
            guesses, targets = values.of(entries), np.empty(len(entries))
            budget.step(0, evaluations=len(entries))
            target = step.reward[slot, movers[-1]]  # of the mover
            for row in reversed(range(len(entries))):
                if row + 1 < len(entries):
                    sign = 1 if movers[row] == movers[row + 1] else -1
                    target = sign * (LAMBDA * target + (1 - LAMBDA) * guesses[row + 1])
                targets[row] = target
            values.learn(entries, targets, 2.0 * (1 - budget.done) + 0.05)
            played[slot] = []
    return values.choose


if __name__ == "__main__":
    run(train, "n-tuple TD(lambda)")
