#!/usr/bin/env python3
"""Writes tests/data/mctx/cases.json: what DeepMind's mctx answers in fixed search problems.

    python -m venv venv && venv/bin/pip install mctx==0.0.71 jax
    venv/bin/python lab/tools/mctx_cases.py > tests/data/mctx/cases.json

A problem is a table of positions. Each has a mover, legal actions, logits, a value for its mover, and for
every action the position that follows; the game never ends. The mover may stay the same from position to
position: the discount is then +1, and -1 where the mover changes.
"""

import json
import sys

import jax
import jax.numpy as jnp
import mctx
import numpy as np

# Illegal actions inside the tree get this logit: mctx masks them at the root only.
ILLEGAL = -1e9

PROBLEMS = [
    # actions, share of legal actions, chance that the mover repeats, simulations, considered, seed
    (4, 1.0, 0.0, 2, 16, 1),
    (4, 1.0, 0.0, 8, 16, 2),
    (4, 1.0, 0.0, 32, 16, 3),
    (9, 0.6, 0.0, 2, 16, 4),
    (9, 0.6, 0.0, 8, 16, 5),
    (9, 0.6, 0.0, 32, 16, 6),
    (9, 0.6, 0.4, 32, 4, 7),
    (24, 0.9, 0.0, 2, 16, 8),
    (24, 0.9, 0.3, 8, 16, 9),
    (24, 0.9, 0.3, 32, 16, 10),
    (24, 0.3, 0.5, 32, 5, 11),
    (2, 1.0, 0.5, 32, 16, 12),
    (3, 0.34, 0.0, 8, 16, 13),
    (64, 0.5, 0.2, 32, 16, 14),
    (9, 1.0, 0.3, 100, 3, 15),
]
POSITIONS = 24


def rounded(array, digits=6):
    return [round(float(x), digits) for x in np.asarray(array).ravel()]


def problem(actions, share, repeat, simulations, considered, seed):
    rng = np.random.default_rng(seed)
    mover = np.zeros(POSITIONS, dtype=np.int32)
    for p in range(1, POSITIONS):
        mover[p] = rng.integers(2)
    legal = rng.random((POSITIONS, actions)) < share
    legal[np.arange(POSITIONS), rng.integers(actions, size=POSITIONS)] = True
    # Numbers that a decimal fraction holds exactly enough for both sides.
    logits = np.round(rng.normal(0.0, 1.5, (POSITIONS, actions)), 4).astype(np.float32)
    values = np.round(rng.uniform(-1.0, 1.0, POSITIONS), 4).astype(np.float32)
    noise = np.round(rng.gumbel(size=actions), 4).astype(np.float32)
    following = np.zeros((POSITIONS, actions), dtype=np.int32)
    for p in range(POSITIONS):
        for a in range(actions):
            same = rng.random() < repeat
            wanted = mover[p] if same else 1 - mover[p]
            following[p, a] = rng.choice(np.flatnonzero(mover == wanted))

    masked = jnp.where(legal, logits, ILLEGAL)

    def recurrent(_, __, action, embedding):
        child = jnp.asarray(following)[embedding, action]
        turns = jnp.asarray(mover)[child] != jnp.asarray(mover)[embedding]
        output = mctx.RecurrentFnOutput(
            reward=jnp.zeros_like(action, dtype=jnp.float32),
            discount=jnp.where(turns, -1.0, 1.0),
            prior_logits=masked[child],
            value=jnp.asarray(values)[child],
        )
        return output, child

    root = mctx.RootFnOutput(
        prior_logits=jnp.asarray(logits)[:1],
        value=jnp.asarray(values)[:1],
        embedding=jnp.zeros(1, dtype=jnp.int32),
    )
    # The noise is handed in: mctx draws its own with this function.
    drawn = jax.random.gumbel
    jax.random.gumbel = lambda *_, **__: jnp.asarray(noise)[None]
    try:
        output = mctx.gumbel_muzero_policy(
            params=(),
            rng_key=jax.random.PRNGKey(0),
            root=root,
            recurrent_fn=recurrent,
            num_simulations=simulations,
            invalid_actions=jnp.asarray(~legal)[:1],
            max_num_considered_actions=considered,
        )
    finally:
        jax.random.gumbel = drawn
    summary = output.search_tree.summary()
    return {
        "actions": actions,
        "simulations": simulations,
        "considered": considered,
        "movers": [int(x) for x in mover],
        "legal": ["".join("01"[int(x)] for x in row) for row in legal],
        "logits": [rounded(row, 4) for row in logits],
        "values": rounded(values, 4),
        "following": [[int(x) for x in row] for row in following],
        "noise": rounded(noise, 4),
        "action": int(output.action[0]),
        "weights": rounded(output.action_weights),
        "visits": [int(x) for x in np.asarray(summary.visit_counts)[0]],
        "q": rounded(summary.qvalues),
        "value": round(float(summary.value[0]), 6),
    }


def main():
    cases = [problem(*each) for each in PROBLEMS]
    lines = [json.dumps(case, separators=(",", ":")) for case in cases]
    sys.stdout.write("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
