"""What a seed means: an integer gives the same again, None another one each time."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import jarmo


def guess(features: Any, masks: Any) -> tuple[Any, Any]:
    flat = features.reshape(len(features), -1)
    weights = np.random.default_rng(3).normal(size=(flat.shape[1], masks.shape[1] + 1)).astype(np.float32)
    out = flat @ weights
    return out[:, 1:], np.tanh(out[:, 0])


def differ(make: Any) -> bool:
    """Whether two of four results differ: by chance they may be the same."""
    return len({np.asarray(make()).tobytes() for _ in range(4)}) > 1


def test_noise_is_another_one_in_each_search() -> None:
    positions = jarmo.VecEnv("connect_four", 30, seed=1, random_plies=4).positions()
    assert differ(lambda: jarmo.search(positions, guess, simulations=8, noise=True).visits)
    assert not differ(lambda: jarmo.search(positions, guess, simulations=8, noise=True, seed=0).visits)
    assert not differ(lambda: jarmo.search(positions, guess, simulations=8).visits)


def test_an_agent_carries_a_generator() -> None:
    positions = jarmo.VecEnv("jarmo", 30, seed=1).positions()
    agent = jarmo.Agent("random")
    assert differ(lambda: agent.choose(positions))
    assert differ(lambda: agent.evaluate(positions).actions)
    assert differ(lambda: jarmo.Agent("random").choose(positions))
    assert not differ(lambda: agent.choose(positions, seed=7))
    one, two = jarmo.Agent("random", seed=5), jarmo.Agent("random", seed=5)
    expected = [one.choose(positions) for _ in range(3)]
    assert np.array_equal(two.choose(positions), expected[0])
    for other in (copy.deepcopy(two), pickle.loads(pickle.dumps(two)), two):
        assert np.array_equal(other.choose(positions), expected[1]), "a copy continues like it"
        assert np.array_equal(other.choose(positions), expected[2])


def test_environments_without_a_seed_are_others() -> None:
    def texts(**settings: Any) -> Any:
        env = jarmo.VecEnv("jarmo", 20, random_plies=4, **settings)
        return [position.text for position in env.positions()]

    assert differ(texts)
    assert not differ(lambda: texts(seed=0))
    env = jarmo.VecEnv("jarmo", 20, random_plies=4)
    assert texts(seed=env.seed) == [position.text for position in env.positions()]


def test_environments_of_pettingzoo_begin_differently_in_each_process() -> None:
    pytest.importorskip("pettingzoo")
    program = """
import jarmo.zoo
env = jarmo.zoo.env("jarmo", random_plies=4)
env.reset()
print(env.render())
"""
    starts = {subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout for _ in range(4)}
    assert len(starts) > 1


def test_the_first_reset_keeps_the_games_of_the_seed() -> None:
    env = jarmo.VecEnv("jarmo", 20, seed=5, random_plies=4, opponent="random")
    first = env.positions()
    step = env.reset()
    assert env.positions() == first
    again = env.reset(seed=5)
    assert env.positions() == first and np.array_equal(step.observation, again.observation)
    env.reset()
    assert env.positions() != first, "the next reset starts other games"
    played = jarmo.VecEnv("jarmo", 20, seed=5, random_plies=4)
    played.step(played.sample_actions())
    played.reset()
    assert played.positions() != first
    part = jarmo.VecEnv("jarmo", 20, seed=5, random_plies=4)
    before = part.positions()
    part.reset(mask=[True] * 10 + [False] * 10)
    assert part.positions()[10:] == before[10:] and part.positions() != before


def test_self_play_without_a_seed_goes_on_elsewhere() -> None:
    def games(**settings: Any) -> jarmo.SelfPlay:
        return jarmo.self_play("connect_four", guess, games=8, simulations=4, min_samples=50, **settings)

    assert differ(lambda: next(games()).actions[:40])
    assert not differ(lambda: next(games(seed=0)).actions[:40])
    one = games()
    next(one)
    other = games()
    other.restore(one.save())
    for _ in range(2):
        for ours, theirs in zip(next(one), next(other), strict=True):
            assert np.array_equal(np.asarray(ours), np.asarray(theirs))
    with pytest.raises(ValueError, match="not this self-play"):
        games(seed=4).restore(one.save())


@pytest.mark.parametrize("seed", [1.5, "1", -1, 2**64])
def test_a_seed_is_a_whole_number_of_64_bits(seed: Any) -> None:
    position = jarmo.Game("connect_four").start
    calls: list[Any] = [
        lambda: jarmo.VecEnv("jarmo", 2, seed=seed),
        lambda: jarmo.Agent("random", seed=seed),
        lambda: jarmo.Agent("random", game="connect_four").choose(position, seed=seed),
        lambda: jarmo.search(position, guess, seed=seed),
        lambda: jarmo.self_play("connect_four", guess, seed=seed),
        lambda: jarmo.exam("random", seed=seed),
    ]
    for call in calls:
        with pytest.raises((TypeError, ValueError), match=r"seed must be (a whole|at least 0|at most 2\*\*64 - 1)"):
            call()


def test_a_copy_begins_with_the_games_of_the_original() -> None:
    """Also where they have just begun, and the first reset keeps them."""
    new = jarmo.VecEnv("jarmo", 4, seed=1, random_plies=4)
    for _ in range(2):
        copied = pickle.loads(pickle.dumps(new))
        assert (copied.reset().observation == new.reset().observation).all()
