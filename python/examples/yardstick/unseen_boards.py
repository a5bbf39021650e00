"""Baselines of the track of boards never seen (`jarmo.boards`).

    pip install torch
    python unseen_boards.py --steps 1000000

A graph network, whose layers pass numbers along the lines of the board that a position is on, learns by the PPO of `ppo`:
on one board alone, or on 64 boards. It is measured on the 32 boards that nobody trains on, and on the first 8 of
them also after one more minute of training on each. For comparison: random play, greedy play, and the
shipped agent, which treats every position as one on the standard board and chooses among the actions that are legal on
both.
"""

import argparse
import copy
import os
import pathlib

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before PyTorch is imported: budgets are time of one core

import numpy as np
import ppo
import torch
from torch import nn
from torch.nn import functional

import jarmo
from jarmo import boards, yardstick

CIRCLES, PLANES = 25, 8  # planes of pieces and last moves, and then two of numbers
WHITE_MOVES = PLANES * CIRCLES  # the first of the numbers
ADAPTED = 8  # boards


class Web(nn.Module):
    """A graph network over circles, with the interface of `common.Network`. The last input is the number of a board."""

    def __init__(self, games, width=48, rounds=3, seed=1):
        super().__init__()
        torch.set_num_threads(1)
        torch.manual_seed(seed)
        self.numbers, self.circles = nn.Linear(2 * CIRCLES, width), nn.Linear(PLANES + 5, width)  # with the row
        self.own = nn.ModuleList(nn.Linear(width, width) for _ in range(rounds))
        self.near = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(rounds))
        self.every = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(rounds))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(rounds))
        self.sources, self.targets = nn.Linear(width, width), nn.Linear(width, width)
        self.logit, self.value = nn.Linear(width, 1), nn.Linear(width, 1)
        for last in (self.logit, self.value):
            nn.init.normal_(last.weight, 0, 0.01)
        self.optimizer = torch.optim.Adam(self.parameters())
        self.lines, self.ends = [], []
        for game in games:
            self.add(game)

    def add(self, game):
        """Adds a board, and returns its number."""
        circle = {f"{column}{row}": 5 * row - 5 + "ABCDE".index(column) for row in range(1, 6) for column in "ABCDE"}
        ends = np.full((2, game.num_actions, 2), CIRCLES)  # for White and Black; no circle where there is none
        for action, name in enumerate(game.action_names):
            if "-" in name:
                ends[:, action] = [circle[end] for end in name.split("-")]
            elif name[0] == "@":
                ends[:, action, 1] = circle[name[1:]], circle[name[1:]] + 20  # each player's home row
        self.lines.append(torch.from_numpy(game.lines.astype("f4")))
        self.ends.append(torch.from_numpy(ends))
        return len(self.lines) - 1

    def forward(self, inputs):
        """The outputs of the heads as arrays, by name."""
        inputs = torch.from_numpy(inputs)
        board, planes = inputs[:, -1].long(), inputs[:, :WHITE_MOVES].view(-1, PLANES, CIRCLES)
        lines = torch.stack(self.lines)[board]
        ends = torch.stack(self.ends)[board, 1 - inputs[:, WHITE_MOVES].long()]
        rows = torch.eye(5).repeat_interleave(5, dim=0).expand(len(inputs), -1, -1)
        numbers = self.numbers(inputs[:, WHITE_MOVES:-1])
        hidden = functional.relu(self.circles(torch.cat([planes.transpose(1, 2), rows], 2)) + numbers[:, None])
        for own, near, every, norm in zip(self.own, self.near, self.every, self.norms, strict=True):
            change = own(hidden) + near(lines @ hidden) / 2 + every(hidden.mean(1, keepdim=True))
            hidden = hidden + functional.relu(norm(change))
        places = torch.cat([hidden, hidden.mean(1, keepdim=True)], 1)  # the mean stands for no circle
        number, sources, targets = torch.arange(len(inputs))[:, None], self.sources(places), self.targets(places)
        pairs = functional.relu(sources[number, ends[..., 0]] + targets[number, ends[..., 1]])
        self.outputs = {"policy": self.logit(pairs)[..., 0], "value": self.value(places[:, -1])}
        return {head: one.detach().numpy() for head, one in self.outputs.items()}

    def learn(self, errors, rate):
        """A step of Adam: `errors` are the gradients of the loss by the outputs of the last call."""
        gradients = [torch.from_numpy((error / len(error)).astype("f4")) for error in errors.values()]
        self.optimizer.zero_grad()
        torch.autograd.backward([self.outputs[head] for head in errors], gradients)
        nn.utils.clip_grad_norm_(self.parameters(), 1.0)
        self.optimizer.param_groups[0]["lr"] = rate
        self.optimizer.step()


class Numbered:
    """An environment whose observations end with the number of the slot's board in the network."""

    def __init__(self, env, numbers):
        self.env, self.numbers = env, np.repeat(numbers, env.num_envs // len(numbers))[:, None].astype("f4")

    def numbered(self, step):
        return step._replace(observation=with_number(step.observation, self.numbers))

    def reset(self):
        return self.numbered(self.env.reset())

    def step(self, actions):
        return self.numbered(self.env.step(actions))


def with_number(features, numbers):
    return np.concatenate([features.reshape(len(features), -1), numbers], axis=1)


def learn(network, where, numbers, budget, seed):
    """Trains a network by PPO on boards, of which it has these numbers."""
    env = jarmo.VecEnv("jarmo", ppo.GAMES, boards=where, seed=seed, random_plies=4, threads=1)
    ppo.train(None, budget, seed, network=network, env=Numbered(env, numbers))


def on_its_board(network):
    """The network's policy on each board, for `boards.evaluate`."""
    def make(game):
        number = network.add(game)
        return lambda features, masks: network(with_number(features, np.full((len(features), 1), number, "f4")))["policy"]
    return make


def shipped(game):
    """The shipped agent, for which every board is the standard one."""
    standard, agent = jarmo.Game("jarmo"), jarmo.Agent("trained:0")
    known = {name: action for action, name in enumerate(standard.action_names)}
    same = np.array([known.get(name, -1) for name in game.action_names])

    def policy(positions):
        texts = [position.text.split(" ") for position in positions]  # last moves may be none of the standard board
        policies = agent.evaluate([standard.position(" ".join([*text[:2], "-", "-", text[-1]])) for text in texts]).policies
        chances = np.where(same >= 0, policies[:, same], 0)
        return np.where(game.masks(positions), chances, -1).argmax(axis=1)

    return policy


def measured(policies, where, folder):
    """Measures policies, a function of the game by name, board by board: the tables of a board take most of the time."""
    rows = {name: [] for name in policies}
    for board in where:
        for name, make in policies.items():
            rows[name] += boards.evaluate(make, boards=[board], name=name).rows
    for name in policies:
        result = boards.Result(where, rows[name])
        result.to_json(folder / f"boards-{name.replace(' ', '-').replace(',', '')}.json")
        print(result, end="", flush=True)


def main():
    parser = argparse.ArgumentParser(description="Baselines of the track of boards never seen")
    parser.add_argument("--steps", type=int, default=1_000_000, help="environment steps of each training")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--boards", type=int, default=32, help="boards to be judged on")
    parser.add_argument("--out", default="results", help="the folder for the results")
    given = parser.parse_args()
    folder = pathlib.Path(given.out)
    folder.mkdir(parents=True, exist_ok=True)
    names = {jarmo.Game("jarmo", board=board).lines.tobytes(): board for board in boards.JUDGED}

    def adapted(network):
        def make(game):
            network.outputs = None  # tensors of a graph cannot be copied
            own = copy.deepcopy(network)
            learn(own, [names[game.lines.tobytes()]], [own.add(game)], yardstick.Budget(minutes=1), given.seed)
            return on_its_board(own)(game)

        return make

    learned = {}
    for name, where in (("one board", boards.TRAINING[:1]), ("64 boards", boards.TRAINING)):
        games = [jarmo.Game("jarmo", board=board) for board in where]
        learned[name] = Web(games, seed=given.seed)
        learn(learned[name], where, np.arange(len(games)), yardstick.Budget(steps=given.steps), given.seed)

    known = {f"{name}, on training boards": on_its_board(network) for name, network in learned.items()}
    measured(known, boards.TRAINING[:8], folder)
    fixed = {"random": lambda game: "random", "greedy": lambda game: "greedy", "shipped agent": shipped}
    unseen = {**fixed, **{name: on_its_board(network) for name, network in learned.items()}}
    judged = boards.JUDGED[: given.boards]
    measured(unseen, judged, folder)
    measured({f"{name}, adapted": adapted(network) for name, network in learned.items()}, judged[:ADAPTED], folder)


if __name__ == "__main__":
    main()
