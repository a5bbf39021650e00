"""`jarmo.VecEnv`: the same games as in Rust, and no harm done by wrong calls."""

from __future__ import annotations

import gc
import json
import resource
import threading
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import jarmo

STREAMS = Path(__file__).parents[2] / "tests" / "data" / "golden" / "env_streams.json"
MODULUS = 2**64


def record(env: jarmo.VecEnv, steps: int) -> list[list[int]]:
    """The actions of random play."""
    played = []
    for _ in range(steps):
        actions = env.sample_actions()
        env.step(actions)
        played.append(actions.tolist())
    return played


@pytest.mark.parametrize("game", jarmo.GAMES)
@pytest.mark.parametrize("threads", [1, 3])
def test_a_seed_gives_the_games_that_it_gives_in_rust(game: str, threads: int) -> None:
    golden = json.loads(STREAMS.read_text())
    env = jarmo.VecEnv(game, golden["games"], seed=golden["seed"], threads=threads)
    total, ends = 0, 0
    for _ in range(golden["steps"]):
        actions = env.sample_actions()
        for action in actions.tolist():
            total = (total * 31 + action) % MODULUS
        ends += len(env.step(actions).finished)
    assert (str(total), ends) == (golden["hash"][game], golden["ends"][game])


@pytest.mark.parametrize("game", jarmo.GAMES)
def test_arrays_say_what_positions_say(game: str) -> None:
    env = jarmo.VecEnv(game, 64, seed=3, threads=1)
    step = env.reset()
    rules = env.game
    for _ in range(60):
        positions = env.positions()
        assert np.array_equal(step.observation, rules.features(positions))
        assert np.array_equal(step.mask, rules.masks(positions))
        assert step.to_move.tolist() == [position.to_move for position in positions]
        actions = env.sample_actions()
        before = [position.play(action) for position, action in zip(positions, actions.tolist(), strict=True)]
        step = env.step(actions)
        over = [slot for slot, position in enumerate(before) if position.is_over]
        assert step.finished.tolist() == over
        assert env.final_positions() == {slot: before[slot] for slot in over}
        for slot, seen in zip(over, step.final_observation, strict=True):
            assert np.array_equal(seen, rules.features(before[slot], viewer=int(step.seat[slot]))[0])
        for slot, position in enumerate(before):
            outcome = position.outcome
            reward = [0.0, 0.0]
            if outcome is not None and outcome.winner is not None:
                reward = [1.0, -1.0] if outcome.winner == 0 else [-1.0, 1.0]
            assert step.reward[slot].tolist() == reward
            assert step.truncated[slot] == (outcome is not None and outcome.truncated)
            assert step.terminated[slot] == (outcome is not None and not outcome.truncated)


def test_shapes_and_types_are_as_documented() -> None:
    env = jarmo.VecEnv("connect_four", 5, threads=1)
    step = env.reset()
    assert step.observation.shape == (5, *env.observation_shape) == (5, 2, 6, 7)
    assert [step.observation.dtype, step.mask.dtype] == [np.dtype("float32"), np.dtype("bool")]
    assert (step.mask.shape, step.reward.shape, step.to_move.shape) == ((5, 7), (5, 2), (5,))
    types = [str(array.dtype) for array in (step.reward, step.to_move, step.finished)]
    assert types == ["float32", "int8", "int64"]
    small = jarmo.VecEnv("jarmo", 5, threads=1, dtype="uint8", packed=True, threats=True)
    step = small.reset()
    assert step.observation.dtype == step.mask.dtype == np.uint8
    assert step.observation.shape[1:] == small.game.feature_shape(threats=True)
    actions = small.game.num_actions
    unpacked = np.unpackbits(step.mask, axis=1, count=actions, bitorder="little").astype(bool)
    assert np.array_equal(unpacked, small.game.masks(small.positions()))
    assert np.array_equal(step.observation, small.game.features(small.positions(), threats=True))


def test_the_same_arrays_can_be_written_again_and_new_ones_are_new() -> None:
    env = jarmo.VecEnv("jarmo", 32, seed=5, threads=1)
    other = jarmo.VecEnv("jarmo", 32, seed=5, threads=1)
    out = env.buffers()
    for _ in range(100):
        ours, theirs = env.step(env.sample_actions(), out=out), other.step(other.sample_actions())
        assert ours.observation is out.observation and ours.mask is out.mask
        for one, two in zip(ours, theirs, strict=True):
            assert np.array_equal(np.asarray(one), np.asarray(two))
    kept = other.step(other.sample_actions())
    copies = [np.array(array) for array in kept]
    for _ in range(30):
        other.step(other.sample_actions())
    for array, copy in zip(kept, copies, strict=True):
        assert np.array_equal(np.asarray(array), copy), "no array is written behind the caller's back"


def unchanged(env: jarmo.VecEnv, before: bytes) -> bool:
    return env.save() == before


def test_wrong_actions_name_the_slot_and_the_reason_and_change_nothing() -> None:
    env = jarmo.VecEnv("connect_four", 8, seed=1, threads=1)
    env.reset()
    for _ in range(6):
        env.step([3] * 8)
    before = env.save()
    actions = np.zeros(8, np.int64)
    actions[5] = 3
    with pytest.raises(ValueError, match=r"actions\[5\] is 3: action `D`: column D is full"):
        env.step(actions)
    actions[5] = 7
    with pytest.raises(ValueError, match=r"actions\[5\] is 7; the game has only actions 0 to 6"):
        env.step(actions)
    actions[5] = -1
    with pytest.raises(ValueError, match=r"actions\[5\] is -1"):
        env.step(actions)
    actions[5] = 2**40
    with pytest.raises(ValueError, match=r"actions\[5\] is 1099511627776"):
        env.step(actions)
    with pytest.raises(ValueError, match=r"actions must have shape \[8\], not \[7\]"):
        env.step(np.zeros(7, np.int64))
    with pytest.raises(TypeError, match=r"actions must be an array of whole numbers with shape \[8\], not float64"):
        env.step(np.zeros(8))
    with pytest.raises(TypeError, match=r"actions must be .* not int64 with shape \[8, 1\]"):
        env.step(np.zeros((8, 1), np.int64))
    with pytest.raises(TypeError, match="actions must be"):
        env.step("left")
    assert unchanged(env, before)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_actions_may_have_any_integer_type_and_layout(dtype: str) -> None:
    env = jarmo.VecEnv("jarmo", 16, seed=2, threads=1)
    same = jarmo.VecEnv("jarmo", 16, seed=2, threads=1)
    wide = np.repeat(env.sample_actions().astype(dtype), 2)
    odd = np.frombuffer(b"x" + wide[::2].tobytes(), dtype, offset=1)
    assert odd.flags.aligned == (odd.itemsize == 1)
    env.reset(seed=2)
    env.step(odd)
    env.reset(seed=2)
    ours = env.step(wide[::2])
    theirs = same.step(same.sample_actions().tolist())
    assert np.array_equal(ours.observation, theirs.observation)


def test_wrong_out_arrays_are_named_and_change_nothing() -> None:
    env = jarmo.VecEnv("connect_four", 4, seed=1, threads=1)
    env.reset()
    before, actions = env.save(), env.sample_actions()
    good = env.buffers()
    read_only = np.zeros_like(good.mask)
    read_only.flags.writeable = False
    shared = np.zeros((4, 2), np.float32)
    wrong: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"mask": read_only}, ValueError, "out.mask is read-only"),
        ({"mask": np.zeros((4, 6), bool)}, ValueError, r"out.mask must be an array of bool with shape \[4, 7\]"),
        ({"mask": np.zeros((7, 4), bool).T}, ValueError, "out.mask must be contiguous"),
        ({"reward": np.zeros(33, np.uint8)[1:].view(np.float32).reshape(4, 2)}, ValueError, "out.reward must be aligned"),
        ({"reward": np.zeros((4, 2))}, TypeError, "out.reward must be an array of float32 .*, not float64"),
        ({"reward": [0.0]}, TypeError, "out.reward must be an array of float32 .*, not list"),
        ({"to_move": np.zeros(4, np.int16)}, TypeError, "out.to_move"),
        ({"terminated": good.truncated}, ValueError, "shares its memory"),
        ({"observation": np.zeros((4, 2, 6, 7), np.uint8)}, TypeError, "out.observation"),
    ]
    for fields, error, message in wrong:
        with pytest.raises(error, match=message):
            env.step(actions, out=good._replace(**fields))
    with pytest.raises(TypeError, match="out has no array `observation`"):
        env.step(actions, out=shared)  # type: ignore[arg-type]
    assert unchanged(env, before)


def test_arguments_are_checked() -> None:
    wrong: list[dict[str, Any]] = [
        {"num_envs": 0},
        {"threads": 0},
        {"autoreset": "never"},
        {"dtype": "float64"},
        {"seat": "red"},
        {"opponent": "nobody"},
    ]
    for arguments in wrong:
        with pytest.raises(ValueError):
            jarmo.VecEnv(**{"game": "jarmo", "num_envs": 1, **arguments})
    with pytest.raises(ValueError, match="unknown game `chess`"):
        jarmo.VecEnv("chess", 1)
    with pytest.raises(TypeError, match="game must be"):
        jarmo.VecEnv(1, 1)  # type: ignore[arg-type]


@pytest.mark.parametrize("game", jarmo.GAMES)
def test_saved_games_continue_as_they_would_have(game: str) -> None:
    env = jarmo.VecEnv(game, 300, seed=9, threads=2, random_plies=3)
    for _ in range(40):
        env.step(env.sample_actions())
    saved = env.save()
    expected = record(env, 40)
    again = jarmo.VecEnv(game, 300, seed=1, threads=1, random_plies=3)
    again.restore(saved)
    assert record(again, 40) == expected
    env.restore(saved)
    assert record(env, 40) == expected


def test_saved_games_of_another_kind_are_refused() -> None:
    env = jarmo.VecEnv("jarmo", 4)
    before = env.save()
    with pytest.raises(ValueError, match='game "connect_four", this one "jarmo"'):
        env.restore(jarmo.VecEnv("connect_four", 4).save())
    with pytest.raises(ValueError, match="games 5, this one 4"):
        env.restore(jarmo.VecEnv("jarmo", 5).save())
    with pytest.raises(ValueError, match="not a saved environment"):
        env.restore(b"{}")
    damaged = jarmo.VecEnv("jarmo", 4)
    damaged.step(damaged.sample_actions())
    state = json.loads(damaged.save())
    state[0]["state"]["games"][2]["actions"] = [0, 0]
    with pytest.raises(ValueError, match="saved game"):
        env.restore(json.dumps(state).encode())
    assert unchanged(env, before)


Mode = Literal["same_step", "next_step", "disabled"]


def play_until_end(mode: Mode) -> tuple[jarmo.VecEnv, jarmo.Step]:
    """Slot 0 of two wins by a column of four; slot 1 has a game that goes on."""
    env = jarmo.VecEnv("connect_four", 2, autoreset=mode)
    for left, right in [(0, 0), (1, 1), (0, 0), (1, 1), (0, 0), (1, 1), (0, 2)]:
        step = env.step([left, right])
    assert step.finished.tolist() == [0]
    assert step.reward.tolist() == [[1, -1], [0, 0]]
    return env, step


def test_the_next_game_begins_in_the_same_step() -> None:
    env, step = play_until_end("same_step")
    assert env.position(0) == env.game.start
    assert step.mask[0].all() and step.to_move.tolist() == [0, 1]
    assert step.final_observation[0].sum() == 7


def test_the_next_game_begins_in_the_next_step() -> None:
    env, step = play_until_end("next_step")
    assert not step.mask[0].any() and step.observation[0].sum() == 7
    step = env.step([-1, 3])  # the action of a game that is over is ignored
    assert env.position(0) == env.game.start
    assert step.mask[0].all() and not step.terminated.any()
    assert step.reward.tolist() == [[0, 0], [0, 0]] and len(step.finished) == 0


def test_the_next_game_begins_when_the_caller_says_so() -> None:
    env, step = play_until_end("disabled")
    assert not step.mask[0].any()
    with pytest.raises(ValueError, match=r"actions\[0\]: the game in this slot is over; reset it first"):
        env.step([0, 0])
    assert env.sample_actions()[0] == -1
    going_on = env.position(1)
    step = env.reset(mask=np.array([True, False]))
    assert env.position(0) == env.game.start and env.position(1) == going_on
    with pytest.raises(TypeError, match="mask must be an array of bool"):
        env.reset(mask=np.array([1, 0]))
    assert len(env.reset().finished) == 0
    assert env.position(1) == env.game.start


@pytest.mark.parametrize("game", jarmo.GAMES)
@pytest.mark.parametrize("mode", ["same_step", "next_step", "disabled"])
def test_against_an_opponent_the_caller_is_always_to_move(game: str, mode: Mode) -> None:
    env = jarmo.VecEnv(game, 400, seed=4, opponent="random", autoreset=mode, threads=1)
    twin = jarmo.VecEnv(game, 400, seed=4, opponent="random", autoreset=mode, threads=3)
    step = env.observe()
    ends = 0
    sides = set()
    for _ in range(120):
        open_ = np.asarray(step.mask.any(axis=1))
        assert np.array_equal(step.to_move[open_], env.seats[open_])
        actions = env.sample_actions()
        step = env.step(actions) if mode != "disabled" or open_.all() else env.reset(mask=~open_)
        same = twin.step(actions) if mode != "disabled" or open_.all() else twin.reset(mask=~open_)
        assert np.array_equal(step.observation, same.observation), "threads do not matter"
        ends += len(step.finished)
        sides |= set(env.seats.tolist())
    assert ends > 400 and sides == {0, 1}


def test_an_opponent_with_search_and_a_fixed_side() -> None:
    env = jarmo.VecEnv("connect_four", 40, seed=1, opponent="rollout:30", seat="black")
    step = env.reset()
    assert (step.to_move == 1).all() and (step.observation.sum(axis=(1, 2, 3)) == 1).all()
    wins = np.zeros(2)
    for _ in range(60):
        step = env.step(env.sample_actions())
        wins += (step.reward > 0).sum(axis=0)
    assert wins[0] > 10 * max(wins[1], 1), "search beats random play"
    saved = env.save()
    expected = record(env, 10)
    env.restore(saved)
    assert record(env, 10) == expected


def test_resets_and_seeds() -> None:
    env = jarmo.VecEnv("jarmo", 64, seed=1, random_plies=4)
    first = [position.text for position in env.positions()]
    assert len(set(first)) > 32
    env.reset()
    assert [position.text for position in env.positions()] == first, "they have not been played yet"
    env.reset()
    assert [position.text for position in env.positions()] != first, "a reset starts other games"
    env.step(env.sample_actions())
    env.reset(seed=1)
    assert [position.text for position in env.positions()] == first and env.steps == 0
    assert jarmo.VecEnv("jarmo", 2, max_plies=6).game.max_plies == 6
    with pytest.raises(ValueError, match="either seed or mask"):
        env.reset(seed=1, mask=np.ones(64, bool))


@pytest.mark.parametrize("opponent", [None, "random"])
def test_a_slot_with_a_seed_plays_as_an_environment_of_one_game(opponent: str | None) -> None:
    def made(count: int, seed: int = 0) -> jarmo.VecEnv:
        return jarmo.VecEnv("connect_four", count, seed=seed, random_plies=5, opponent=opponent, threads=3)

    seeds = [7, 2**64 - 1, 7, 0] * 100
    env = made(400, 5)
    assert [env.seed] == [5]
    env.reset(seed=seeds)
    assert [env.seed] == [seeds]
    singles = [made(1, seed) for seed in seeds[:4]]
    ended = 0
    for ply in range(60):
        if ply == 20:
            saved = env.save()
            env = made(400)
            env.restore(saved)
        actions = env.sample_actions()
        step = env.step(actions)
        for slot, single in enumerate(singles):
            alone = single.step(single.sample_actions())
            for name in step._fields[:8]:
                ours, theirs = np.asarray(getattr(step, name)), np.asarray(getattr(alone, name))
                assert np.array_equal(ours[slot], theirs[0]) and np.array_equal(ours[slot], ours[slot + 396])
            ended += len(alone.finished)
    assert ended > 8
    env.reset(seed=5)
    assert env.positions() == made(400, 5).positions() and env.seed == 5
    for wrong, message in [([1, 2], "one for each of 400 slots, not 2"), ([5], "not 1"), ([], "not 0")]:
        with pytest.raises(ValueError, match=message):
            env.reset(seed=wrong)


def test_games_can_be_cut_off() -> None:
    env = jarmo.VecEnv("jarmo", 16, max_plies=5)
    for _ in range(5):
        step = env.step(env.sample_actions())
    assert step.truncated.all() and not step.terminated.any() and not step.reward.any()


def test_the_lock_of_python_is_released() -> None:
    env = jarmo.VecEnv("tammi", 20_000, threads=1)
    counted = 0
    done = threading.Event()

    def count() -> None:
        nonlocal counted
        while not done.is_set():
            counted += 1

    out = env.buffers()
    actions = env.sample_actions()
    thread = threading.Thread(target=count)
    thread.start()
    before = counted
    env.step(actions, out=out)
    during = counted - before
    done.set()
    thread.join()
    assert during > 0


def test_memory_does_not_grow() -> None:
    env = jarmo.VecEnv("connect_four", 1000, threads=1)
    for _ in range(300):
        env.step(env.sample_actions())
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(1000):
        env.step(env.sample_actions())
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < 8_000, f"{after - before} KiB more"


@pytest.mark.parametrize("autoreset", ["next_step", "same_step", "disabled"])
def test_after_a_reset_every_game_waits_for_an_action(autoreset: Any) -> None:
    """After twelve random plies the opponent can often win at once."""
    env = jarmo.VecEnv(
        "connect_four", 64, seed=1, opponent="alphabeta:200", random_plies=12, autoreset=autoreset
    )
    for step in (env.reset(), env.reset(), env.reset(seed=5), env.reset(mask=np.arange(64) < 32)):
        assert step.mask.any(axis=1).all()
        assert not step.terminated.any() and len(step.finished) == 0


def test_a_save_belongs_to_its_rules() -> None:
    short = jarmo.VecEnv(jarmo.Game("tammi", quiet_limit=5), 2, seed=1)
    with pytest.raises(ValueError, match="quiet_limit 5, this one 50"):
        jarmo.VecEnv(jarmo.Game("tammi", quiet_limit=50), 2, seed=1).restore(short.save())
    one, other = (jarmo.Game("jarmo", board=f"random:{seed}") for seed in (1, 2))
    with pytest.raises(ValueError, match="another board"):
        jarmo.VecEnv(other, 2, seed=1).restore(jarmo.VecEnv(one, 2, seed=1).save())


def test_a_game_from_a_position_with_a_past_is_not_saved() -> None:
    env = jarmo.VecEnv("tammi", 64, seed=2)
    past: list[jarmo.Position] = []
    while not past:  # kings that have moved
        env.step(env.sample_actions())
        past = [one for one in env.positions() if one.game.position(one.text) != one]
    other = jarmo.VecEnv("tammi", 1)
    other.reset(mask=np.array([True]), positions=past[:1])
    assert other.position(0) == past[0]
    with pytest.raises(ValueError, match="slot 0 cannot be saved: .*earlier positions that count"):
        other.save()
    again = jarmo.VecEnv("tammi", 64)
    again.restore(env.save())  # games that were played have their actions
    assert again.positions() == env.positions()
