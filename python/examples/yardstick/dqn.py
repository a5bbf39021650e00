"""Double DQN with masks, in self-play: the value of an action is for the player who takes it, and changes its sign where
the mover changes. The network reads only the 700 inputs that are set most often, because its many small steps pay for
every input.

    python dqn.py --steps 1000000
"""

import copy

from common import Network, inputs_of, run

import numpy as np

import jarmo

GAMES, ROOM, BATCH, TARGET_EVERY, INPUTS = 64, 1 << 17, 256, 200, 700


def often_set(game, budget, seed):
    """The inputs that are set most often in random games."""
    env = jarmo.VecEnv(game, GAMES, seed=seed, threads=1, threats=True, dtype="uint8")
    counts, step = np.zeros(inputs_of(game)), env.reset()
    for _ in range(400):
        counts += step.observation.reshape(GAMES, -1).sum(axis=0)
        step = env.step(env.sample_actions())
        budget.step(GAMES)
    return np.sort(np.argsort(-counts, kind="stable")[:INPUTS])


def train(game, budget, seed):
    generator = np.random.default_rng(seed)
    often = often_set(game, budget, seed)
    network = Network(len(often), {"values": game.num_actions}, seed=seed)
    target = copy.deepcopy(network)
    env = jarmo.VecEnv(game, GAMES, seed=seed, random_plies=4, threats=True, dtype="uint8", threads=1)
    before, after = (np.zeros((ROOM, len(often)), np.uint8) for _ in "ab")
    chosen, signs, rewards = (np.zeros(ROOM, kind) for kind in (np.int64, np.float32, np.float32))
    masks = np.zeros((ROOM, game.num_actions), bool)

    def inputs(features):
        return features.reshape(len(features), -1)[:, often]

    rows, step = 0, env.reset()
    while budget:
        values = np.where(step.mask, network(inputs(step.observation))["values"], -np.inf)
        explore = max(0.05, 0.5 * (1 - 2 * budget.done))
        taken = np.where(generator.random(GAMES) < explore, env.sample_actions(), values.argmax(axis=1))
        places = np.arange(rows, rows + GAMES) % ROOM
        before[places], chosen[places] = inputs(step.observation), taken
        step = env.step(taken)
        after[places], masks[places] = inputs(step.observation), step.mask
        over = step.terminated | step.truncated
        signs[places] = np.where(over, 0, np.where(step.to_move == step.seat, 1, -1))
        rewards[places] = step.seat_reward
        rows += GAMES
        budget.step(GAMES, evaluations=GAMES)
        if rows < 4096:
            continue
        some = generator.integers(min(rows, ROOM), size=BATCH)
        budget.step(0, evaluations=2 * BATCH)
        best = np.where(masks[some], network(after[some])["values"], -np.inf).argmax(axis=1)
        number = np.arange(BATCH)
        wanted = rewards[some] + 0.995 * signs[some] * target(after[some])["values"][number, best]
        found = network(before[some])["values"][number, chosen[some]]
        errors = np.zeros((BATCH, game.num_actions), np.float32)
        errors[number, chosen[some]] = np.clip(found - np.clip(wanted, -1, 1), -1, 1)
        network.learn({"values": errors}, 1e-3 * (1 - budget.done) + 1e-5)
        if network.steps % TARGET_EVERY == 0:
            target.tensors = {key: one.copy() for key, one in network.tensors.items()}
    return lambda features, masks: network(inputs(features))["values"]


if __name__ == "__main__":
    run(train, "double DQN")
