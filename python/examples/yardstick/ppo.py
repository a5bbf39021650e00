"""PPO with masked actions, in self-play: one network plays both sides, and values and advantages change their sign where
the mover changes.

    python ppo.py --steps 1000000
"""

from common import Network, inputs_of, run, softmax

import numpy as np

import jarmo

GAMES, LENGTH, EPOCHS, BATCH = 128, 32, 3, 512
DISCOUNT, LAMBDA, CLIP, ENTROPY = 0.995, 0.95, 0.2, 0.01


def train(game, budget, seed, network=None, env=None):
    generator = np.random.default_rng(seed)
    if network is None:
        network = Network(inputs_of(game), {"policy": game.num_actions, "value": 1}, seed=seed)
        env = jarmo.VecEnv(game, GAMES, seed=seed, random_plies=4, threats=True, threads=1)
    step = env.reset()
    while budget:
        kept = {name: [] for name in ("features", "masks", "actions", "chances", "values", "rewards", "signs")}
        for _ in range(LENGTH):
            out = network(step.observation)
            policy = softmax(out["policy"], step.mask)
            noisy = policy.cumsum(axis=1) > generator.random((GAMES, 1)) * policy.sum(axis=1, keepdims=True)
            actions = noisy.argmax(axis=1)
            kept["features"].append(step.observation.reshape(GAMES, -1))
            kept["masks"].append(step.mask)
            kept["actions"].append(actions)
            kept["chances"].append(policy[np.arange(GAMES), actions])
            kept["values"].append(np.tanh(out["value"][:, 0]))
            step = env.step(actions)
            over = step.terminated | step.truncated
            kept["rewards"].append(step.seat_reward)
            kept["signs"].append(np.where(over, 0, np.where(step.to_move == step.seat, 1, -1)))
        budget.step(GAMES * LENGTH, evaluations=GAMES * (LENGTH + 1))
        following = np.tanh(network(step.observation)["value"][:, 0])
        advantage, advantages = np.zeros(GAMES), []
        for row in reversed(range(LENGTH)):
            sign = DISCOUNT * kept["signs"][row]
            delta = kept["rewards"][row] + sign * following - kept["values"][row]
            advantage = delta + LAMBDA * sign * advantage
            advantages.append(advantage)
            following = kept["values"][row]
        features, masks, actions, chances, values = (
            np.concatenate(kept[name]) for name in ("features", "masks", "actions", "chances", "values")
        )
        advantages = np.concatenate(advantages[::-1])
        returns = np.clip(advantages + values, -1, 1)
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-6)
        rate = 1e-3 * (1 - budget.done) + 1e-5
        for _ in range(EPOCHS):
            order = generator.permutation(len(features))
            for some in order.reshape(-1, BATCH):
                out = network(features[some])
                policy = softmax(out["policy"], masks[some])
                number = np.arange(len(some))
                ratio = policy[number, actions[some]] / chances[some]
                gain = advantages[some]
                # Where the clipped objective is the smaller one, it has no gradient.
                clipped = np.where(gain > 0, ratio > 1 + CLIP, ratio < 1 - CLIP)
                weight = np.where(clipped, 0, ratio * gain)[:, None]
                chosen = np.zeros_like(policy)
                chosen[number, actions[some]] = 1
                logs = np.log(policy + 1e-9)
                entropy = -(policy * logs).sum(axis=1, keepdims=True)
                error = weight * (policy - chosen) + ENTROPY * policy * (logs + entropy)
                value = np.tanh(out["value"][:, 0])
                slope = (value - returns[some]) * (1 - value**2)
                network.learn({"policy": error, "value": slope[:, None]}, rate)

    def policy(features, masks):
        out = network(features)
        return out["policy"], np.tanh(out["value"][:, 0])

    return policy


if __name__ == "__main__":
    run(train, "PPO")
