"""Steps a second of connect four with observation and mask, by system and number of environments.

    python env.py jarmo 1 64 1024 16384

Actions are legal and random; only the calls that step, and that make the results NumPy can read, are timed. Prints one
JSON object per line. Systems: jarmo, jarmo-out (into the caller's arrays), jarmo-uint8, jarmo-rust (no Python in the
loop), envpool, pgx, openspiel, pettingzoo. Each needs its package and nothing else.
"""

import json
import sys
import time

import numpy as np

SECONDS = 2.0
generator = np.random.default_rng(1)


def legal(masks):
    """A random legal action by row."""
    return (generator.random(masks.shape, dtype=np.float32) * masks).argmax(axis=1)


class Clock:
    """Time in the calls that are measured."""

    def __init__(self):
        self.wall = self.cpu = 0.0

    def __enter__(self):
        self.start = time.perf_counter(), time.process_time()

    def __exit__(self, *_):
        self.wall += time.perf_counter() - self.start[0]
        self.cpu += time.process_time() - self.start[1]


def jarmo(count, kind="jarmo"):
    import jarmo

    env = jarmo.VecEnv("connect_four", count, seed=1, dtype="uint8" if kind == "jarmo-uint8" else "float32")
    out = env.buffers() if kind == "jarmo-out" else None
    env.reset()

    def step(clock):
        actions = env.sample_actions()
        with clock:
            env.step(actions, out=out)

    return step


def envpool(count):
    import envpool

    env = envpool.make("ConnectFour-v1", env_type="gymnasium", num_envs=count, num_threads=0)
    state = {"info": env.reset()[1]}

    def step(clock):
        info = state["info"]
        masks = np.empty_like(info["legal_action_mask"])
        masks[info["env_id"]] = info["legal_action_mask"]
        actions = legal(masks).astype(np.int32)
        with clock:
            state["info"] = env.step(actions)[4]

    return step


def pgx(count):
    import jax
    import pgx
    from pgx.experimental import auto_reset

    env = pgx.make("connect_four")
    play = jax.jit(jax.vmap(auto_reset(env.step, env.init)))
    state = {"state": jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(1), count))}
    key = {"key": jax.random.PRNGKey(2)}

    def step(clock):
        actions = legal(np.asarray(state["state"].legal_action_mask))
        key["key"], some = jax.random.split(key["key"])
        keys = jax.random.split(some, count)
        with clock:
            after = play(state["state"], actions, keys)
            np.asarray(after.observation), np.asarray(after.legal_action_mask)
        state["state"] = after

    return step


def openspiel(count):
    import pyspiel

    game = pyspiel.load_game("connect_four")
    states = [game.new_initial_state() for _ in range(count)]

    def step(clock):
        actions = [generator.choice(state.legal_actions()) for state in states]
        with clock:
            for slot, action in enumerate(actions):
                state = states[slot]
                state.apply_action(action)
                if state.is_terminal():
                    state.returns()
                    state = states[slot] = game.new_initial_state()
                state.observation_tensor(0), state.legal_actions_mask()

    return step


def pettingzoo(count):
    from pettingzoo.classic import connect_four_v3

    envs = [connect_four_v3.raw_env() for _ in range(count)]
    for env in envs:
        env.reset(seed=1)

    def step(clock):
        masks = np.stack([env.observe(env.agent_selection)["action_mask"] for env in envs])
        actions = legal(masks)
        with clock:
            for env, action in zip(envs, actions):
                env.step(int(action))
                if any(env.terminations.values()):
                    env.reset()
                env.observe(env.agent_selection)

    return step


def measure(system, count):
    if system == "jarmo-rust":
        from jarmo import bench_env

        speed = bench_env("connect_four", count, observe=True, seconds=SECONDS / 5)
        return speed["plies_per_s"], speed["plies_per_cpu_s"]
    step = jarmo(count, system) if system.startswith("jarmo") else globals()[system](count)
    warm = Clock()
    while warm.wall < SECONDS / 10:
        step(warm)
    clock, steps = Clock(), 0
    while clock.wall < SECONDS:
        step(clock)
        steps += 1
    return steps * count / clock.wall, steps * count / clock.cpu


if __name__ == "__main__":
    for number in map(int, sys.argv[2:]):
        wall, cpu = measure(sys.argv[1], number)
        line = {"system": sys.argv[1], "environments": number, "per_s": round(wall), "per_cpu_s": round(cpu)}
        print(json.dumps(line), flush=True)
