"""Descent (Cohen-Solal): search without a policy. It follows the best actions to the end of the game and backs values
up by minimax; the network learns the values of all positions in its trees.

    python descent.py --evaluations 1000000
"""

from common import Network, inputs_of, run

import numpy as np

import jarmo

GAMES, DESCENTS, LENGTH, RANDOM_PLIES = 64, 1, 100, 4
ROOM, BATCH, TIMES = 1 << 16, 256, 2


class Node:
    """A position with the value of every action for the player to move. Known values are exact."""

    __slots__ = ("position", "after", "nodes", "values", "known")

    def __init__(self, position):
        self.position = position
        self.after = [position.play(action) for action in position.legal]
        self.nodes = [None] * len(self.after)
        self.values = self.known = None  # `Judge.expand` sets them

    def value(self):
        """The minimax value, and whether it is known."""
        value = max(self.values)
        return value, value == 1 or all(self.known)

    def tree(self, left_out=None):
        """All nodes of the tree but those from `left_out` on."""
        found, left = [], [self]
        while left:
            node = left.pop()
            if node is not left_out and node.values:
                found.append(node)
                left.extend(filter(None, node.nodes))
        return found


class Judge:
    """The values of the network, and exact ones where the game is over."""

    def __init__(self, game, seed):
        self.game, self.network = game, Network(inputs_of(game), {"value": 1}, seed=seed)

    def expand(self, nodes):
        """Judges all actions of some nodes. 1 and -1 are left to exact values."""
        after = [position for node in nodes for position in node.after]
        movers = [node.position.to_move for node in nodes for _ in node.after]
        values, known = np.clip(self.of(after), -0.999, 0.999).tolist(), [False] * len(after)
        for index, (position, mover) in enumerate(zip(after, movers, strict=True)):
            if (outcome := position.outcome) is not None:
                known[index] = True
                values[index] = 0.0 if outcome.winner is None else 1.0 if outcome.winner == mover else -1.0
            elif position.to_move != mover:
                values[index] = -values[index]
        start = 0
        for node in nodes:
            end = start + len(node.after)
            node.values, node.known, start = values[start:end], known[start:end], end

    def of(self, positions):
        """The network's expected result of the player to move."""
        return np.tanh(self.network(self.game.features(positions, threats=True))["value"][:, 0])

    def choose(self, positions):
        """The action with the best value after it, for each position."""
        nodes = [Node(position) for position in positions]
        self.expand(nodes)
        return np.array([node.position.legal[int(np.argmax(node.values))] for node in nodes])

    def learn(self, positions, values, rate):
        found = self.of(positions)
        self.network.learn({"value": ((found - values) * (1 - found**2))[:, None]}, rate)


class Match:
    """Games against itself, one after another, and the tree of the search in the current one."""

    def __init__(self, game, generator):
        self.game, self.generator, self.played = game, generator, 0
        self.finished = []  # nodes that have left the tree
        self.begin()

    def begin(self):
        position = self.game.start
        for _ in range(self.generator.integers(RANDOM_PLIES + 1)):
            position = position.play(self.generator.choice(position.legal))
        self.root = self.leaf = Node(position)
        self.path, self.descents = [], 0

    def advance(self, greedy):
        """Goes on from the leaf, which is expanded now, to the next leaf."""
        node = self.leaf
        while node.values:
            if node.value()[1] or len(self.path) == LENGTH:  # the end of a descent
                self.back_up()
                if self.descents == DESCENTS or self.root.value()[1]:
                    self.play(greedy)
                node = self.root
                continue
            index = max((value, index) for index, value in enumerate(node.values) if not node.known[index])[1]
            self.path.append((node, index))
            node.nodes[index] = node.nodes[index] or Node(node.after[index])
            node = node.nodes[index]
        self.leaf = node

    def back_up(self):
        """Minimax along the path."""
        for node, index in reversed(self.path):
            below = node.nodes[index]
            value, node.known[index] = below.value()
            node.values[index] = value if below.position.to_move == node.position.to_move else -value
        self.path, self.descents = [], self.descents + 1

    def play(self, greedy):
        """Plays by the ordinal law: each action, best first, is taken with a chance that grows with `greedy`."""
        root, order = self.root, np.argsort(self.root.values)[::-1]
        left = np.arange(len(order), 0, -1)
        index = order[np.argmax(self.generator.random(len(order)) < greedy + (1 - greedy) / left)]
        self.played += 1
        if root.value()[1] or root.after[index].is_over:
            self.finished += root.tree()
            self.begin()
        else:
            self.root, self.descents = root.nodes[index] or Node(root.after[index]), 0
            self.finished += root.tree(self.root)


def train(game, budget, seed):
    generator, judge = np.random.default_rng(seed), Judge(game, seed)
    matches = [Match(game, generator) for _ in range(GAMES)]
    positions, values, count, learned = [None] * ROOM, np.zeros(ROOM, np.float32), 0, 0
    while budget:
        done = min(budget.done, 1)
        leaves = [match.leaf for match in matches]
        judge.expand(leaves)
        budget.step(0, evaluations=sum(len(leaf.after) for leaf in leaves))
        for match in matches:
            match.advance(done)
            for node in match.finished:
                positions[count % ROOM], values[count % ROOM] = node.position, node.value()[0]
                count += 1
            budget.step(match.played)
            match.finished, match.played = [], 0
        while learned + BATCH <= TIMES * count:  # each position is learned some times
            some = generator.integers(min(count, ROOM), size=BATCH)
            judge.learn([positions[index] for index in some], values[some], 2e-3 * (1 - done) + 1e-5)
            learned += BATCH
    return judge.choose


if __name__ == "__main__":
    run(train, "Descent")
