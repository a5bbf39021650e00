"""Games of `jarmo.VecEnv` inside a jitted JAX program: actor-critic learns connect four against random play.

    pip install jax
    python jax_step.py --updates 300

A whole update, 32 steps of 256 games and the gradient, is one jitted call: the games are a callback with known shapes.
"""

import argparse

import jax
import jax.numpy as jnp
from jax.experimental import io_callback

import jarmo

STEPS, GAMES, WIDTH = 32, 256, 128


class Games:
    """Games against an opponent, as functions that can be jitted and scanned."""

    def __init__(self, game, opponent, seed):
        self.env = jarmo.VecEnv(game, GAMES, opponent=opponent, seed=seed, threads=1)
        self.first = self.seen(self.env.reset())
        self.shapes = {name: jax.ShapeDtypeStruct(one.shape, one.dtype) for name, one in self.first.items()}

    def seen(self, step):
        return {"features": step.observation.reshape(GAMES, -1), "mask": step.mask, "reward": step.seat_reward,
                "done": step.terminated | step.truncated}

    def step(self, actions):
        # `jax.pure_callback` may leave a call out or repeat it, which is wrong for games, whose state changes.
        return io_callback(lambda chosen: self.seen(self.env.step(chosen)), self.shapes, actions, ordered=True)


def start(key, inputs, actions):
    def layer(key, rows, columns, scale):
        return scale * jax.random.normal(key, (rows, columns)), jnp.zeros(columns)

    stem, head = jax.random.split(key)
    return {"stem": layer(stem, inputs, WIDTH, (10 / inputs) ** 0.5), "head": layer(head, WIDTH, actions + 1, 0.01)}


def judge(weights, features, mask):
    """Logits and the expected reward."""
    hidden = jax.nn.relu(features @ weights["stem"][0] + weights["stem"][1])
    out = hidden @ weights["head"][0] + weights["head"][1]
    return jnp.where(mask, out[:, :-1], -1e9), out[:, -1]


def rollout(games, weights, seen, key):
    """The next steps of all games, with the reward that each action led to."""
    def play(seen, key):
        logits, _ = judge(weights, seen["features"], seen["mask"])
        action = jax.random.categorical(key, logits)
        after = games.step(action)
        return after, (seen["features"], seen["mask"], action, after["reward"], after["done"])

    seen, (features, mask, action, reward, done) = jax.lax.scan(play, seen, jax.random.split(key, STEPS))
    _, unfinished = judge(weights, seen["features"], seen["mask"])

    def backward(later, step):
        now = jnp.where(step[1], step[0], 0.99 * later)
        return now, now

    _, returns = jax.lax.scan(backward, unfinished, (reward, done), reverse=True)
    rows = [one.reshape(STEPS * GAMES, *one.shape[2:]) for one in (features, mask, action, returns)]
    return seen, rows, (reward > 0).sum() / jnp.maximum(done.sum(), 1)


def loss(weights, features, mask, action, returns):
    logits, value = judge(weights, features, mask)
    policy = jax.nn.log_softmax(logits)
    better = jax.lax.stop_gradient(returns - value)
    chosen = jnp.take_along_axis(policy, action[:, None], axis=1)[:, 0]
    entropy = -(jnp.exp(policy) * jnp.where(mask, policy, 0)).sum(axis=1)
    return (-better * chosen + 0.5 * (returns - value) ** 2 - 0.01 * entropy).mean()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--updates", type=int, default=300)
    given = parser.parse_args()

    games = Games("connect_four", "random", seed=1)
    key = jax.random.key(1)
    weights = start(key, games.first["features"].shape[1], games.env.num_actions)

    @jax.jit
    def update(weights, speed, seen, key):
        seen, rows, won = rollout(games, weights, seen, key)
        gradient = jax.grad(loss)(weights, *rows)
        speed = jax.tree.map(lambda old, new: 0.9 * old + new, speed, gradient)
        return jax.tree.map(lambda one, change: one - 0.05 * change, weights, speed), speed, seen, won

    speed, seen = jax.tree.map(jnp.zeros_like, weights), games.first
    for number in range(1, given.updates + 1):
        key, own = jax.random.split(key)
        weights, speed, seen, won = update(weights, speed, seen, own)
        if number % 25 == 0:
            print(f"{number * STEPS * GAMES:,} steps  won {won:.1%} of the last games", flush=True)


if __name__ == "__main__":
    main()
