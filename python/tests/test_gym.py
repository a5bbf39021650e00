"""The environments for Gymnasium."""

from __future__ import annotations

import sys
import types
import warnings
from typing import Any

import numpy as np
import pytest

import jarmo
from jarmo import _raster

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env, data_equivalence  # noqa: E402
from gymnasium.vector import AutoresetMode, SyncVectorEnv  # noqa: E402

from jarmo.gym import IDS, JarmoEnv, JarmoVectorEnv  # noqa: E402


@pytest.mark.parametrize("name", IDS.values())
@pytest.mark.parametrize("opponent", ["random", "greedy", None])
def test_gymnasiums_own_check(name: str, opponent: str | None) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(name, opponent=opponent).unwrapped
        check_env(env)


@pytest.mark.parametrize("game", jarmo.GAMES)
@pytest.mark.parametrize("opponent", ["random", None])
def test_games_are_played_to_their_ends(game: str, opponent: str | None) -> None:
    env = JarmoEnv(game, opponent=opponent)
    generator = np.random.default_rng(1)
    rewards = []
    sides = set()
    for seed in range(30):
        observation, info = env.reset(seed=seed)
        sides.add(info["seat"])
        ended = False
        while not ended:
            assert env.observation_space.contains(observation)
            assert np.array_equal(observation["action_mask"], info["action_mask"])
            assert np.array_equal(observation["action_mask"].astype(bool), env.action_masks())
            action = generator.choice(np.flatnonzero(info["action_mask"]))
            observation, reward, terminated, truncated, info = env.step(action)
            ended = terminated or truncated
        assert not info["action_mask"].any()
        rewards.append(reward)
        with pytest.raises(RuntimeError, match="reset the environment first"):
            env.step(0)
    assert set(rewards) <= {-1.0, 0.0, 1.0} and len(sides) == (1 if opponent is None else 2)


def test_an_illegal_action_loses_and_says_why() -> None:
    env = JarmoEnv("connect_four", opponent=None)
    env.reset(seed=1)
    for _ in range(6):
        env.step(3)
    _, reward, terminated, truncated, info = env.step(3)
    assert (reward, terminated, truncated) == (-1.0, True, False)
    assert "column D is full" in info["illegal_action"]
    env.reset()
    assert env.step(99)[4]["illegal_action"].endswith("only actions 0 to 6")


def test_both_sides_in_turns_earn_their_own_rewards() -> None:
    env = JarmoEnv("connect_four", opponent=None)
    env.reset(seed=1)
    for action in [0, 1, 0, 1, 0, 1]:
        assert env.step(action)[1] == 0.0
    assert env.step(0)[1:4] == (1.0, True, False)


def test_renders() -> None:
    env = gymnasium.make("jarmo/ConnectFour-v1", render_mode="ansi")
    env.reset(seed=1)
    assert "A B C D E F G" in env.render()
    picture = JarmoEnv(render_mode="svg")
    picture.reset()
    assert picture.render().startswith("<svg")


@pytest.mark.parametrize("dtype", ["float32", "uint8"])
def test_a_vec_env_has_the_spaces_of_one_game(dtype: Any) -> None:
    env = jarmo.VecEnv("guard", 3, dtype=dtype, threats=True)
    step = env.reset()
    assert env.single_observation_space.contains(step.observation[0])
    assert env.single_action_space.n == env.num_actions == step.mask.shape[1]


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("game", ["connect_four", "guard"])
def test_many_games_are_what_many_environments_are(mode: Any, game: str) -> None:
    """In turns nothing is random, so both must agree in everything that Gymnasium defines."""
    count = 6
    ours = JarmoVectorEnv(game, count, opponent=None, autoreset_mode=mode)
    theirs = SyncVectorEnv([lambda: JarmoEnv(game, opponent=None)] * count, autoreset_mode=mode)
    assert ours.single_observation_space == theirs.single_observation_space
    assert ours.single_action_space == theirs.single_action_space
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert ours.metadata["autoreset_mode"] == theirs.metadata["autoreset_mode"]
    left, left_info = ours.reset(seed=1)
    right, right_info = theirs.reset(seed=1)
    ends = 0
    for _ in range(400):
        assert data_equivalence(left, right)
        for key in ("action_mask", "_action_mask", "to_move", "seat", "_final_obs"):
            assert (key in left_info) == (key in right_info)
            assert key not in left_info or np.array_equal(left_info[key], right_info[key])
        if "final_info" in left_info:
            ours_last, theirs_last = left_info["final_info"], right_info["final_info"]
            for key in ("action_mask", "to_move", "seat"):
                assert np.array_equal(ours_last[f"_{key}"], theirs_last[f"_{key}"])
                ended = ours_last[f"_{key}"]
                assert np.array_equal(ours_last[key][ended], np.array(theirs_last[key])[ended])
        if "final_obs" in left_info:
            for one, two in zip(left_info["final_obs"], right_info["final_obs"], strict=True):
                assert (one is None) == (two is None)
                assert one is None or data_equivalence(one, two)
        actions = ours.sample_actions()
        left, rewards, terminated, truncated, left_info = ours.step(actions)
        right, rewards_too, terminated_too, truncated_too, right_info = theirs.step(actions)
        assert rewards.dtype == rewards_too.dtype and np.array_equal(rewards, rewards_too)
        assert np.array_equal(terminated, terminated_too) and np.array_equal(truncated, truncated_too)
        ended = terminated | truncated
        ends += int(ended.sum())
        if mode == AutoresetMode.DISABLED and ended.any():
            left, left_info = ours.reset(options={"reset_mask": ended})
            right, _ = theirs.reset(options={"reset_mask": ended.copy()})
            right_info = left_info  # Gymnasium fills in only the slots that were reset
    assert ends > 20


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_opponents_in_many_games(mode: Any) -> None:
    env = gymnasium.make_vec("jarmo/Jarmo-v1", num_envs=50, opponent="greedy", autoreset_mode=mode)
    observation, info = env.reset(seed=3)
    again = JarmoVectorEnv("jarmo", 50, opponent="greedy", autoreset_mode=mode)
    same, _ = again.reset(seed=3)
    total = 0.0
    for _ in range(100):
        assert data_equivalence(observation, same)
        assert env.observation_space.contains(observation)
        playing = info["action_mask"].any(axis=1)
        assert np.array_equal(info["to_move"][playing], info["seat"][playing])
        actions = env.unwrapped.sample_actions()
        observation, rewards, terminated, truncated, info = env.step(actions)
        same = again.step(actions)[0]
        total += rewards.sum()
        ended = terminated | truncated
        if mode == AutoresetMode.DISABLED and ended.any():
            observation, info = env.reset(options={"reset_mask": ended})
            same, _ = again.reset(options={"reset_mask": ended})
    assert total < -50, "random play loses against the greedy agent"


def test_wrong_calls() -> None:
    env = JarmoVectorEnv("connect_four", 3)
    env.reset(seed=1)
    with pytest.raises(ValueError, match=r"actions\[1\] is 7"):
        env.step([0, 7, 0])
    with pytest.raises(ValueError, match="seed must be one number, or one for each of 3 slots, not 2"):
        env.reset(seed=[1, 2])
    with pytest.raises(ValueError):
        JarmoVectorEnv("connect_four", 3, autoreset_mode="never")


def test_a_slot_with_a_seed_is_an_environment_with_that_seed() -> None:
    seeds = [11, 4, 4]
    many = JarmoVectorEnv("guard", 3, random_plies=6)
    single = JarmoEnv("guard", random_plies=6)
    together, _ = many.reset(seed=seeds)
    for slot, seed in enumerate(seeds):
        alone, _ = single.reset(seed=seed)
        assert np.array_equal(together["observation"][slot], alone["observation"])


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("opponent", ["random", "greedy"])
def test_a_slot_with_a_seed_plays_on_as_an_environment_with_that_seed(mode: Any, opponent: str) -> None:
    """Over many games, against an opponent that draws random numbers."""
    seeds = [11, 4, 5, 4]
    settings: dict[str, Any] = {"opponent": opponent, "random_plies": 3}
    many = JarmoVectorEnv("connect_four", 4, autoreset_mode=mode, **settings)
    singles = [JarmoEnv("connect_four", **settings) for _ in seeds]
    alone = [single.reset(seed=seed) for single, seed in zip(singles, seeds, strict=True)]
    observation, info = many.reset(seed=seeds)
    over = np.zeros(4, bool)
    games = 0
    for _ in range(150):
        for slot, (expected, told) in enumerate(alone):
            assert np.array_equal(observation["observation"][slot], expected["observation"])
            assert info["seat"][slot] == told["seat"]
        actions = np.array([mask.argmax() if mask.any() else 0 for mask in info["action_mask"]])
        observation, rewards, terminated, truncated, info = many.step(actions)
        for slot, single in enumerate(singles):
            if over[slot]:  # with NEXT_STEP, this step begins the next game
                alone[slot] = single.reset()
                continue
            expected, reward, ended, cut, told = single.step(int(actions[slot]))
            assert (reward, ended, cut) == (rewards[slot], terminated[slot], truncated[slot])
            alone[slot] = expected, told
            if (ended or cut) and mode == AutoresetMode.SAME_STEP:
                alone[slot] = single.reset()
        ended_now = terminated | truncated
        games += int(ended_now.sum())
        over = ended_now if mode == AutoresetMode.NEXT_STEP else np.zeros(4, bool)
        if mode == AutoresetMode.DISABLED and ended_now.any():
            observation, info = many.reset(options={"reset_mask": ended_now})
            for slot in np.flatnonzero(ended_now).tolist():
                alone[slot] = singles[slot].reset()
    assert games > 20


@pytest.mark.parametrize("game", jarmo.GAMES)
def test_pictures_are_arrays(game: str) -> None:
    env = JarmoEnv(game, render_mode="rgb_array", random_plies=8)
    env.reset(seed=1)
    picture = env.render()
    assert picture.dtype == np.uint8 and picture.shape[2] == 3
    assert picture.shape[0] % 2 == picture.shape[1] % 2 == 0, "videos need even sizes"
    assert np.array_equal(picture, env.render())
    colours = {tuple(colour) for colour in picture.reshape(-1, 3).tolist()}
    for colour in ("#fffdf6", "#343a40", "#efe3cc"):  # both players' pieces, and wood
        assert tuple(int(colour[start : start + 2], 16) for start in (1, 3, 5)) in colours
    env.step(int(env.action_masks().argmax()))
    assert not np.array_equal(picture, env.render())
    position = env._env.position(0)
    with_arrows = _raster.draw(position.svg(position.legal))
    assert position.is_over or not np.array_equal(with_arrows, env.render())


def test_a_picture_is_where_the_pieces_are() -> None:
    game = jarmo.Game("connect_four")
    picture = _raster.draw(game.start.play("D", "A").svg())
    middle = [round((84 + 100 * number) * _raster.SCALE) for number in range(7)]
    bottom = picture[middle[5], middle]
    assert bottom[3].tolist() == [0xFF, 0xFD, 0xF6] and bottom[0].tolist() == [0x34, 0x3A, 0x40]
    assert bottom[1].tolist() == [0x27, 0x45, 0x6D], "an empty slot"


def test_unknown_render_modes_are_refused() -> None:
    makes: list[Any] = [JarmoEnv, JarmoVectorEnv]
    for make in makes:
        with pytest.raises(ValueError, match="render_mode must be one of ansi, svg, rgb_array, not 'human'"):
            make("connect_four", render_mode="human")
    pytest.importorskip("pettingzoo")
    import jarmo.zoo

    with pytest.raises(ValueError, match="render_mode must be one of"):
        jarmo.zoo.raw_env("connect_four", render_mode="human")  # type: ignore[arg-type]
    many = gymnasium.make_vec("jarmo/ConnectFour-v1", num_envs=2, render_mode="rgb_array")
    many.reset(seed=1)
    pictures = many.render()
    assert len(pictures) == 2 and pictures[0].ndim == 3


def test_gymnasium_records_videos(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    clips = []

    class Clip:
        def __init__(self, frames: Any, fps: float) -> None:
            clips.append(frames)

        def write_videofile(self, path: str, **_: Any) -> None:
            pass

    # Only what writes the file is another one: moviepy is large.
    for name in ("moviepy", "moviepy.video", "moviepy.video.io"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    module = types.ModuleType("moviepy.video.io.ImageSequenceClip")
    module.ImageSequenceClip = Clip  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    env = gymnasium.wrappers.RecordVideo(
        gymnasium.make("jarmo/ConnectFour-v1", render_mode="rgb_array"), str(tmp_path), episode_trigger=lambda _: True
    )
    for seed in (1, 2):
        _, info = env.reset(seed=seed)
        ended = False
        while not ended:
            _, _, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
            ended = terminated or truncated
    env.close()
    assert len(clips) == 2 and all(len(frames) > 4 and frames[0].shape[2] == 3 for frames in clips)


def test_masks_before_the_first_reset() -> None:
    for env in (JarmoEnv("connect_four"), JarmoVectorEnv("connect_four", 2)):
        with pytest.raises(RuntimeError, match="reset the environment"):
            env.action_masks()
    with pytest.raises(RuntimeError, match="reset the environment first"):
        JarmoEnv("connect_four").step(0)
