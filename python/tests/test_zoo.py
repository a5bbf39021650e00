"""The environments for PettingZoo."""

from __future__ import annotations

import warnings

import pytest

import jarmo

pytest.importorskip("pettingzoo")

from pettingzoo.test import api_test, seed_test  # noqa: E402

import jarmo.zoo  # noqa: E402


@pytest.mark.parametrize("game", jarmo.GAMES)
def test_pettingzoos_own_checks(game: str) -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*observation space.*")
        api_test(jarmo.zoo.env(game), num_cycles=500)
        seed_test(lambda: jarmo.zoo.env(game, random_plies=4), num_cycles=50)


def test_a_game_to_its_end() -> None:
    env = jarmo.zoo.env("connect_four")
    env.reset(seed=1)
    for column in [0, 1, 0, 1, 0, 1, 0]:
        env.step(column)
    assert env.terminations == {"player_0": True, "player_1": True}
    assert env.rewards == {"player_0": 1.0, "player_1": -1.0}
    for _ in range(2):
        env.step(None)
    assert env.agents == []


def test_the_same_agent_may_act_twice() -> None:
    env = jarmo.zoo.env("guard")
    twice = 0
    for seed in range(20):
        env.reset(seed=seed)
        before = None
        for agent in env.agent_iter(400):
            observation, _, terminated, truncated, _ = env.last()
            twice += agent == before and not (terminated or truncated)
            before = agent
            env.step(None if terminated or truncated else env.action_space(agent).sample(observation["action_mask"]))
    assert twice > 0


def test_an_illegal_action_loses() -> None:
    env = jarmo.zoo.env("connect_four")
    env.reset(seed=1)
    for _ in range(6):
        env.step(3)
    env.step(3)
    assert env.rewards["player_0"] == -1 and env.terminations["player_0"]


def test_only_the_player_to_move_has_legal_actions() -> None:
    env = jarmo.zoo.raw_env("jarmo", render_mode="ansi")
    env.reset(seed=1)
    assert env.observe("player_0")["action_mask"].any() and not env.observe("player_1")["action_mask"].any()
    assert "to move" in (env.render() or "")
