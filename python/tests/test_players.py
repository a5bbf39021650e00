"""Opponents, functions as players, and whose results a step reports."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import threading
import time
from typing import Any, Literal

import numpy as np
import pytest

import jarmo
import jarmo.zoo

Mode = Literal["same_step", "next_step", "disabled"]
MODES: list[Mode] = ["same_step", "next_step", "disabled"]


def first(positions: list[jarmo.Position]) -> list[int]:
    """Plays the lowest action."""
    return [position.legal[0] for position in positions]


@pytest.mark.parametrize("mode", MODES)
def test_results_are_those_of_the_seat_in_the_game_that_ended(mode: Mode) -> None:
    env = jarmo.VecEnv("connect_four", 200, seed=3, opponent="random", autoreset=mode)
    slots, other = np.arange(200), 0
    step = env.reset()
    for _ in range(60):
        over = ~step.mask.any(axis=1)
        if mode == "disabled" and over.any():
            step = env.reset(mask=over)
        sides = env.seats
        step = env.step(env.sample_actions())
        assert np.array_equal(step.seat, sides)
        assert np.array_equal(step.seat_reward, step.reward[slots, sides])
        other += int((env.seats != sides).sum())
    assert (other > 100) == (mode != "disabled"), "the next game may be played from the other side"


def test_in_turns_results_are_those_of_the_player_who_acted() -> None:
    env = jarmo.VecEnv("guard", 200, seed=3)
    step = env.reset()
    assert np.array_equal(step.seat, step.to_move)
    wins = 0
    for _ in range(80):
        movers = step.to_move
        step = env.step(env.sample_actions())
        assert np.array_equal(step.seat, movers)
        assert np.array_equal(step.seat_reward, step.reward[np.arange(200), movers])
        wins += int((step.seat_reward > 0).sum())
    assert wins > 20


def test_a_game_that_the_caller_never_acts_in_is_no_result() -> None:
    env = jarmo.VecEnv("connect_four", 400, seed=3, opponent="greedy", random_plies=18)
    env.reset()
    twice = 0
    for _ in range(60):
        actions = env.sample_actions()
        before, sides = env.positions(), env.seats
        step = env.step(actions)
        assert len(set(step.finished.tolist())) == len(step.finished)
        for slot in step.finished:
            after = before[slot].play(int(actions[slot]))
            if after.outcome is not None and after.outcome.winner is not None:
                assert step.seat_reward[slot] == (1 if after.outcome.winner == sides[slot] else -1)
                twice += 1
    assert twice > 100


def test_openings_that_leave_the_caller_no_action_end() -> None:
    env = jarmo.VecEnv("connect_four", 20, seed=3, opponent="greedy", seat="white", random_plies=41)
    assert (env.reset().to_move == 0).all()


@pytest.mark.parametrize("game", jarmo.GAMES)
@pytest.mark.parametrize("opponent", [None, "random"])
def test_last_positions_are_seen_by_the_caller(game: str, opponent: str | None) -> None:
    env = jarmo.VecEnv(game, 200, seed=3, opponent=opponent, max_plies=9, threats=True)
    still = jarmo.VecEnv(game, 200, seed=3, opponent=opponent, max_plies=9, threats=True, autoreset="next_step")
    views = set()
    for _ in range(12):
        for one in (env, still):
            step = one.step(one.sample_actions())
            for slot, seen in zip(step.finished, step.final_observation, strict=True):
                position, viewer = one.final_positions()[slot], int(step.seat[slot])
                assert np.array_equal(seen, env.game.features(position, threats=True, viewer=viewer)[0])
                views.add(position.to_move == viewer)
                if one is still:
                    assert np.array_equal(step.observation[slot], seen)
    assert False in views, "some end while the other side is to move"


def test_a_viewer_sees_the_position_as_if_to_move() -> None:
    game = jarmo.Game("connect_four")
    position = game.start.play("D", "A", "D")
    white, black = (game.features(position, viewer=viewer)[0] for viewer in (0, 1))
    assert white[0].sum() == 2 and black[0].sum() == 1
    assert np.array_equal(white[::-1], black)
    assert np.array_equal(black, game.features(position)[0])
    for name in jarmo.GAMES:
        start = jarmo.Game(name).start
        assert np.array_equal(start.game.features(start), start.game.features(start, viewer=0)), name
        other = start.game.features(start, viewer=1)
        assert np.array_equal(other, start.game.features(start)) == (name in ("tammi", "connect_four")), name
    with pytest.raises(ValueError, match="viewer must be 0 to 1, not 2"):
        game.features(position, viewer=2)


def test_an_agent_of_pettingzoo_observes_with_its_own_eyes() -> None:
    env = jarmo.zoo.raw_env("connect_four")
    env.reset(seed=1)
    env.step(3)
    white, black = (env.observe(agent)["observation"] for agent in env.agents)
    assert white[0].sum() == 1 and white[1].sum() == 0
    assert black[0].sum() == 0 and black[1].sum() == 1


def test_no_action_is_an_action_where_the_game_is_over() -> None:
    env = jarmo.VecEnv("connect_four", 30, seed=1, autoreset="disabled")
    for _ in range(60):
        actions = env.sample_actions()
        step = env.step(actions)
    assert (actions == -1).all() and not step.mask.any()


def test_an_agent_and_its_spec_are_the_same_opponent() -> None:
    agent = jarmo.Agent("greedy", game="guard")
    ours, theirs = (jarmo.VecEnv("guard", 20, seed=2, opponent=opponent) for opponent in (agent, "greedy"))
    for _ in range(40):
        actions = ours.sample_actions()
        assert np.array_equal(ours.step(actions).observation, theirs.step(actions).observation)
    assert ours.save() == theirs.save()
    with pytest.raises(ValueError, match=r'"greedy" is an agent of jarmo.Game\("guard", .*\), not of jarmo.Game\("jarmo", '):
        jarmo.VecEnv("jarmo", 2, opponent=agent)
    with pytest.raises(TypeError, match="a player must be a jarmo.Agent, the spec of one, or a function .*, not int"):
        jarmo.VecEnv("jarmo", 2, opponent=3)  # type: ignore[arg-type]


@pytest.mark.parametrize("game", jarmo.GAMES)
def test_a_function_is_an_opponent(game: str) -> None:
    callers = set()

    def last(positions: list[jarmo.Position]) -> list[int]:
        callers.add(threading.get_ident())
        assert all(position.to_move == 1 for position in positions)
        return [position.legal[-1] for position in positions]

    env = jarmo.VecEnv(game, 300, seed=2, opponent=last, seat="white", threads=2)
    position = env.game.start
    for _ in range(30):
        played = position.play(position.legal[0])
        while not played.is_over and played.to_move == 1:
            played = played.play(played.legal[-1])
        position = env.game.start if played.is_over else played
        step = env.step(env.game.masks(env.positions()).argmax(axis=1))
        assert env.position(7) == position
    assert callers == {threading.get_ident()} and (step.to_move == 0).all()


def test_what_goes_wrong_in_a_function_is_raised_and_changes_nothing() -> None:
    wrong: Any = None

    def sometimes(positions: list[jarmo.Position]) -> Any:
        if isinstance(wrong, Exception):
            raise wrong
        return wrong or first(positions)

    env = jarmo.VecEnv("connect_four", 3, opponent=sometimes, seat="white")
    env.step([3, 3, 3])
    before, out = env.save(), env.buffers()
    for wrong, error, message in [
        (KeyError("lost"), KeyError, "lost"),
        ([7, 0, 0], ValueError, r"opponent: action 7 is illegal in positions\[0\]: "),
        ([0, -1, 0], ValueError, r"opponent: action -1 is illegal in positions\[1\]"),
        ([0, 0], ValueError, r"opponent: the actions must have shape \[3\], not \[2\]"),
        ("left", TypeError, "opponent: the actions must be an array of whole numbers"),
    ]:
        with pytest.raises(error, match=message):
            env.step([3, 3, 3], out=out)
        with pytest.raises(error, match=message):
            env.reset(positions=[env.position(0).play(0)] * 3)
        assert env.save() == before and not out.observation.any()
    wrong = None
    assert env.step([3, 3, 3]).to_move.tolist() == [0, 0, 0]
    wrong = RuntimeError("at the start")
    with pytest.raises(RuntimeError, match="at the start"):
        jarmo.VecEnv("connect_four", 3, opponent=sometimes, seat="black")


def test_an_environment_at_work_says_so() -> None:
    def curious(positions: list[jarmo.Position]) -> list[int]:
        env.steps
        return first(positions)

    env = jarmo.VecEnv("connect_four", 3, opponent=curious, seat="white")
    with pytest.raises(RuntimeError, match="this environment is at work"):
        env.step([3, 3, 3])


def test_functions_and_agents_play_tournaments() -> None:
    callers = set()

    def lowest(positions: list[jarmo.Position]) -> Any:
        callers.add(threading.get_ident())
        return np.array(first(positions))

    agents: list[Any] = [lowest, jarmo.Agent("rollout:50", game="connect_four"), "random"]
    result = jarmo.arena(agents, game="connect_four", games=40, threads=2)
    assert sorted(result.agents["name"].tolist()) == ["lowest", "random", "rollout:50"]
    assert result.agents["name"][0] == "rollout:50" and callers == {threading.get_ident()}
    again = jarmo.arena(agents, game="connect_four", games=40, threads=1)
    assert np.array_equal(result.agents["elo"], again.agents["elo"]), "threads do not matter"

    def broken(positions: list[jarmo.Position]) -> list[int]:
        raise KeyError("broken")

    with pytest.raises(KeyError, match="broken"):
        jarmo.arena([broken, "random"], game="connect_four", games=4)
    with pytest.raises(ValueError, match=r"is an agent of jarmo\.Game\(.connect_four"):
        jarmo.arena(agents, game="jarmo", games=4)


def test_functions_and_agents_take_exams() -> None:
    agent = jarmo.Agent("greedy")
    assert jarmo.exam(agent) == jarmo.exam("greedy")
    by_function = jarmo.exam(agent.choose).all.share
    assert abs(by_function - jarmo.exam(agent).all.share) < 0.01, "ties are broken by other random numbers"
    with pytest.raises(ZeroDivisionError):
        jarmo.exam(lambda positions: [1 // 0])


def test_ctrl_c_interrupts_an_opponent_and_changes_nothing() -> None:
    env = jarmo.VecEnv("jarmo", 8, opponent="random", seat="white")
    env.step(env.sample_actions())
    env = jarmo.VecEnv("connect_four", 8, opponent="rollout:3000000", seat="white", threads=2)
    before, out = env.save(), env.buffers()
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    begun = time.monotonic()
    # A process that was started in the background ignores the signal.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            env.step([3] * 8, out=out)
    finally:
        signal.signal(signal.SIGINT, handler)
    assert time.monotonic() - begun < 3
    assert env.save() == before and not out.observation.any()


@pytest.mark.parametrize("game", jarmo.GAMES)
@pytest.mark.parametrize("opponent", [None, "random", first])
def test_a_copy_of_an_environment_goes_on_like_it(game: str, opponent: Any) -> None:
    env = jarmo.VecEnv(game, 50, seed=3, opponent=opponent, random_plies=2, dtype="uint8", max_plies=60)
    for _ in range(20):
        env.step(env.sample_actions())
    others = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    for _ in range(60):
        actions = env.sample_actions()
        expected = env.step(actions)
        for other in others:
            assert np.array_equal(other.sample_actions(), actions)
            for one, two in zip(expected, other.step(actions), strict=True):
                assert np.array_equal(np.asarray(one), np.asarray(two))


def test_a_copy_of_an_agent_chooses_like_it() -> None:
    game = jarmo.Game("jarmo", max_plies=70)
    agent = jarmo.Agent("alphabeta:500", game=game)
    positions = jarmo.VecEnv(game, 20, random_plies=8).positions()
    for other in (copy.deepcopy(agent), pickle.loads(pickle.dumps(agent))):
        assert (other.spec, other.game) == (agent.spec, game)
        assert np.array_equal(other.choose(positions), agent.choose(positions))


def test_games_start_from_given_positions() -> None:
    env = jarmo.VecEnv("jarmo", 4, random_plies=3)
    place = env.game.position("5/5/1b3/5/w1B2 w - - 0")
    others = env.positions()
    step = env.reset(mask=[False, True, False, True], positions=[place, place.play("A1-C2")])
    assert env.positions() == [others[0], place, others[2], place.play("A1-C2")]
    assert step.to_move.tolist()[1::2] == [0, 1]
    saved, actions = env.save(), env.sample_actions()
    expected = env.step(actions)
    env.restore(saved)
    assert np.array_equal(env.step(actions).observation, expected.observation)
    env.reset(positions=[env.position(0)] * 4)
    assert len(set(env.positions())) == 1, "copies of one game"
    before = env.save()
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"positions": [place]}, "positions must be as many as the games that start, not 1"),
        ({"positions": []}, "positions must be as many as the games that start, not 0"),
        ({"positions": [place.play("A1xB3")] * 4}, r"positions\[0\]: the game is over"),
        ({"positions": [jarmo.Game("guard").start] * 4}, r'positions\[0\] is of jarmo.Game\("guard"'),
        ({"positions": [place] * 4, "seed": 1}, "give either seed or mask and positions"),
    ]
    for arguments, message in wrong:
        with pytest.raises(ValueError, match=message):
            env.reset(**arguments)
    assert env.save() == before
    black = jarmo.VecEnv("jarmo", 4, opponent="greedy", seat="black")
    assert (black.reset(positions=[place] * 4).to_move == 1).any() or len(black.final_positions()) == 4


def test_large_arrays_are_aligned() -> None:
    for dtype, packed in [("float32", False), ("uint8", True)]:
        env = jarmo.VecEnv("jarmo", 3000, dtype=dtype, packed=packed)  # type: ignore[arg-type]
        for _ in range(5):
            step = env.step(env.sample_actions())
            assert step.observation.ctypes.data % 64 == 0 and step.mask.ctypes.data % 64 == 0
            assert step.observation.flags.c_contiguous and step.observation.flags.writeable
        assert env.buffers().observation.ctypes.data % 64 == 0


def test_an_environment_can_be_closed() -> None:
    with jarmo.VecEnv("jarmo", 4) as env:
        assert env.num_actions == env.game.num_actions
        env.step(env.sample_actions())
    for call in (env.save, env.sample_actions, env.reset, env.positions):
        with pytest.raises(ValueError, match="this environment is closed"):
            call()
    env.close()


def test_errors_name_the_argument() -> None:
    start = jarmo.Game().start
    agent = jarmo.Agent("random")
    env = jarmo.VecEnv("jarmo", 2)
    wrong: list[tuple[Any, type[Exception], str]] = [
        (lambda: jarmo.VecEnv("jarmo", -1), ValueError, "num_envs must be 1 to 16777216, not -1"),
        (lambda: jarmo.VecEnv("jarmo", 2, seed=-1), ValueError, "seed must be at least 0, not -1"),
        (lambda: jarmo.VecEnv("jarmo", 2, seed=2**64), ValueError, r"seed must be at most 2\*\*64 - 1, not 18446744073709551616"),
        (lambda: jarmo.VecEnv("jarmo", 2, seed="1"), TypeError, "seed must be a whole number, not str"),  # type: ignore[arg-type]
        (lambda: jarmo.VecEnv("jarmo", 2, dtype=np.uint8), TypeError, 'dtype must be "float32" or "uint8", not <class'),  # type: ignore[arg-type]
        (lambda: jarmo.VecEnv("jarmo", 2, opponent="random", seat=0), TypeError, 'seat must be "white", .* or "random", not 0'),  # type: ignore[arg-type]
        (lambda: jarmo.VecEnv("jarmo", 2, autoreset=None), TypeError, 'autoreset must be "next_step", .*, not None'),  # type: ignore[arg-type]
        (lambda: jarmo.VecEnv("jarmo", 2, autoreset="never"), ValueError, "autoreset must be .*, not 'never'"),  # type: ignore[arg-type]
        (lambda: jarmo.VecEnv("jarmo", 2, packed=3), TypeError, "packed must be True or False, not int"),  # type: ignore[arg-type]
        (lambda: jarmo.search(start, first, root=1), TypeError, 'root must be "gumbel" or "puct", not 1'),  # type: ignore[arg-type]
        (lambda: jarmo.Agent(3), TypeError, "spec must be a text such as .*, not int"),  # type: ignore[arg-type]
        (lambda: jarmo.VecEnv("jarmo", 2, threads=0), ValueError, "threads must be 1 to 1024, not 0"),
        (lambda: jarmo.VecEnv("jarmo", 2, random_plies=1000), ValueError, "random_plies must be 0 to 100, not 1000"),
        (lambda: jarmo.VecEnv("jarmo", 2, seat="white"), ValueError, "seat is the caller's side against an opp"),
        (lambda: env.reset(seed=-5), ValueError, "seed must be at least 0, not -5"),
        (lambda: env.position(-1), ValueError, "slot must be at least 0, not -1"),
        (lambda: env.step([1.5, 2.0]), TypeError, "actions must be an array of whole numbers"),
        (lambda: agent.choose(start, seed=-1), ValueError, "seed must be at least 0, not -1"),
        (lambda: agent.choose(env), TypeError, r"positions must be .* sequence of them, not .*VecEnv.*; an environment has"),  # type: ignore[arg-type]
        (lambda: jarmo.search(env, first), TypeError, r"positions must be a jarmo.Position or a sequence"),  # type: ignore[arg-type]
        (lambda: jarmo.arena(["random", "greedy"], games=-2), ValueError, "games must be 1 to 1048576, not -2"),
        (lambda: jarmo.Game(max_plies=-1), ValueError, "max_plies must be at least 0, not -1"),
    ]
    for call, error, message in wrong:
        with pytest.raises(error, match=message):
            call()


def test_a_mask_can_be_a_list() -> None:
    env = jarmo.VecEnv("connect_four", 2)
    env.step([3, 3])
    env.reset(mask=[True, False])
    assert [position.ply for position in env.positions()] == [0, 1]


def test_no_positions_are_searched_without_an_error() -> None:
    found = jarmo.search([], lambda features, masks: (masks, masks))
    assert found.actions.shape == found.values.shape == (0,) and len(found.policies) == 0
