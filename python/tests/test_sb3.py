"""The environment for Stable-Baselines3."""

from __future__ import annotations

import numpy as np
import pytest

import jarmo

pytest.importorskip("stable_baselines3")

from jarmo.sb3 import JarmoVecEnv  # noqa: E402


@pytest.mark.parametrize("game", jarmo.GAMES)
def test_it_plays_the_games_of_the_environment(game: str) -> None:
    env, plain = JarmoVecEnv(game, 8, seed=3), jarmo.VecEnv(game, 8, seed=3, opponent="random", threats=True)
    observation, step = env.reset(), plain.reset()
    ends = 0
    for _ in range(300):
        assert np.array_equal(observation, step.observation.reshape(8, -1))
        assert np.array_equal(env.action_masks(), step.mask)
        assert np.array_equal(env.env_method("action_masks", indices=[2])[0], step.mask[2])
        actions = plain.sample_actions()
        observation, rewards, done, infos = env.step(actions)
        step = plain.step(actions)
        assert np.array_equal(rewards, step.seat_reward)
        assert np.array_equal(done, step.terminated | step.truncated)
        last = {int(slot): row.reshape(-1) for slot, row in zip(step.finished, step.final_observation, strict=True)}
        for slot, info in enumerate(infos):
            assert ("terminal_observation" in info) == done[slot] == (slot in last)
            if slot in last:
                assert np.array_equal(info["terminal_observation"], last[slot])
                assert info["TimeLimit.truncated"] == step.truncated[slot]
        ends += int(done.sum())
    assert ends > 10
    env.close()


def test_a_seed_counts_from_the_next_reset() -> None:
    env = JarmoVecEnv("jarmo", 4)
    env.seed(7)
    first = env.reset().copy()
    env.step(np.array([np.flatnonzero(mask)[0] for mask in env.action_masks()]))
    env.seed(7)
    assert np.array_equal(first, env.reset())
    assert env.has_attr("action_masks") and not env.has_attr("action_mask")
    assert env.get_attr("num_envs", 1) == [4]
    with pytest.raises(NotImplementedError, match="no attributes"):
        env.set_attr("num_envs", 5)


def test_it_draws_its_games_and_needs_a_reset() -> None:
    env = JarmoVecEnv("connect_four", 2, render_mode="rgb_array")
    with pytest.raises(RuntimeError, match="reset"):
        env.action_masks()
    env.reset()
    assert [image.shape[2] for image in env.get_images()] == [3, 3]
    for mode in ("human", "ansi", "svg"):
        with pytest.raises(ValueError, match="render_mode must be None or 'rgb_array'"):
            JarmoVecEnv("connect_four", 2, render_mode=mode)  # type: ignore[arg-type]
