"""Memory does not grow: ten million steps, and thousands of searches, agents and games."""

import gc

import numpy as np

import jarmo


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def even(features, masks):
    return np.zeros(masks.shape, np.float32), np.zeros(len(masks), np.float32)


def grows(name, work, rounds, allowed=16 << 20):
    for _ in range(max(1, rounds // 10)):
        work()
    gc.collect()
    before = resident()
    for _ in range(rounds):
        work()
    gc.collect()
    more = resident() - before
    print(f"{name}: {more / 1024:.0f} KiB more after {rounds} rounds")
    assert more < allowed, name


for game in jarmo.GAMES:
    env = jarmo.VecEnv(game, 1000, threads=1)
    grows(f"{game}: 1000 games, one step", lambda env=env: env.step(env.sample_actions()), 2500)
buffers = env.buffers()
grows("the caller's arrays", lambda: env.step(env.sample_actions(), out=buffers), 2500)
grows("an environment made and dropped", lambda: jarmo.VecEnv("jarmo", 500, opponent="random").reset(), 500)
positions = env.positions()[:200]
grows("positions", lambda: [one.play(one.legal[0]).text for one in positions], 200)
grows("search", lambda: jarmo.search(positions, even, simulations=16), 50)
games = jarmo.self_play("connect_four", even, games=64, simulations=8, min_samples=200)
grows("self-play", lambda: next(games), 50)
agent = jarmo.Agent("trained:8", game="connect_four")
grows("an agent", lambda: agent.evaluate(positions), 50)


def failing():
    try:
        env.step(np.full(1000, 99))
    except ValueError:
        pass


grows("errors", failing, 5000)
