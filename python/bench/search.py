"""Simulations a second of tree search with the same network: ours, called from Python, and mctx.

    python search.py jarmo-torch 1024
    python search.py jarmo-jax 1024
    python search.py mctx 1024

The network is a 2x128 MLP with random weights on the processor, in PyTorch or in JAX, jitted for the batch; 32
simulations with Gumbel roots, from connect four after random plies. Prints one JSON object per line.
"""

import json
import sys
import time

import numpy as np

SIMULATIONS, SECONDS = 32, 5.0


def parameters(inputs, width=128, actions=7):
    generator = np.random.default_rng(0)
    sizes = [(inputs, width), (width, width), (width, actions + 1)]
    return [(generator.normal(size=size) / np.sqrt(size[0])).astype(np.float32) for size in sizes]


def network(weights, features):
    import jax
    import jax.numpy as jnp

    hidden = features.reshape(features.shape[0], -1).astype(jnp.float32)
    hidden = jax.nn.relu(hidden @ weights[0])
    hidden = jax.nn.relu(hidden @ weights[1])
    out = hidden @ weights[2]
    return out[:, 1:], jnp.tanh(out[:, 0])


def timed(search):
    """Simulations, and the time that they took; `search` returns how many it made."""
    search()
    count, start, cpu = 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - start < SECONDS:
        count += search()
    return count, time.perf_counter() - start, time.process_time() - cpu


def with_jax(weights):
    """The network for our search, in JAX."""
    import jax

    evaluate = jax.jit(lambda features: network(weights, features))
    return lambda features, masks: evaluate(features)


def with_torch(weights):
    """The network for our search, in PyTorch."""
    import torch

    torch.set_num_threads(1)  # the other core grows trees
    first, second, last = map(torch.from_numpy, weights)

    @torch.inference_mode()
    def evaluate(features, masks):
        hidden = torch.relu(torch.from_numpy(features).flatten(1) @ first)
        hidden = torch.relu(hidden @ second)
        out = hidden @ last
        return out[:, 1:].numpy(), torch.tanh(out[:, 0]).numpy()

    return evaluate


def ours(trees, made_with):
    import jarmo

    call = made_with(parameters(84))
    env = jarmo.VecEnv("connect_four", trees, seed=1, random_plies=8)
    positions = env.positions()
    batch = max(trees // 2, 1)

    def search():
        found = jarmo.search(positions, call, simulations=SIMULATIONS, batch=batch, pad=True, noise=True)
        return int(found.simulations.sum())

    return timed(search)


def mctx(trees):
    import jax
    import jax.numpy as jnp
    import mctx as library
    import pgx

    env = pgx.make("connect_four")
    weights = [jnp.asarray(one) for one in parameters(84)]
    init, play = jax.vmap(env.init), jax.vmap(env.step)

    def recurrent(weights, key, action, state):
        player = state.current_player
        state = play(state, action)
        logits, value = network(weights, state.observation)
        logits = jnp.where(state.legal_action_mask, logits, jnp.finfo(jnp.float32).min)
        reward = state.rewards[jnp.arange(trees), player]
        value = jnp.where(state.terminated, 0.0, value)
        discount = jnp.where(state.terminated, 0.0, -1.0)
        out = library.RecurrentFnOutput(reward=reward, discount=discount, prior_logits=logits, value=value)
        return out, state

    @jax.jit
    def search(weights, state, key):
        logits, value = network(weights, state.observation)
        root = library.RootFnOutput(prior_logits=logits, value=value, embedding=state)
        out = library.gumbel_muzero_policy(
            weights, key, root, recurrent, SIMULATIONS, invalid_actions=~state.legal_action_mask
        )
        return out.action_weights

    state = jax.jit(init)(jax.random.split(jax.random.PRNGKey(1), trees))
    generator = np.random.default_rng(1)
    for _ in range(6):
        masks = np.asarray(state.legal_action_mask)
        state = jax.jit(play)(state, (generator.random(masks.shape) * masks).argmax(axis=1))
    key = jax.random.PRNGKey(3)

    def all_trees():
        search(weights, state, key).block_until_ready()
        return trees * SIMULATIONS

    return timed(all_trees)


if __name__ == "__main__":
    for trees in map(int, sys.argv[2:]):
        systems = {
            "jarmo-jax": lambda trees: ours(trees, with_jax),
            "jarmo-torch": lambda trees: ours(trees, with_torch),
            "mctx": mctx,
        }
        count, wall, cpu = systems[sys.argv[1]](trees)
        line = {"system": sys.argv[1], "trees": trees, "per_s": round(count / wall), "per_cpu_s": round(count / cpu)}
        print(json.dumps(line), flush=True)
