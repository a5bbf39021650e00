"""Search and self-play with the user's own function."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import Any

import numpy as np
import pytest

import jarmo


def even(features: np.ndarray[Any, Any], masks: np.ndarray[Any, Any]) -> tuple[Any, Any]:
    """Uniform policies and even values."""
    return np.zeros(masks.shape, np.float32), np.zeros(len(masks), np.float32)


def guess(features: np.ndarray[Any, Any], masks: np.ndarray[Any, Any]) -> tuple[Any, Any]:
    """Some fixed function of the position."""
    flat = features.reshape(len(features), -1)
    weights = np.random.default_rng(3).normal(size=(flat.shape[1], masks.shape[1] + 1)).astype(np.float32)
    out = flat @ weights
    return out[:, 1:], np.tanh(out[:, 0])


def some_positions(name: str, count: int) -> list[jarmo.Position]:
    env = jarmo.VecEnv(name, count, seed=1, random_plies=6)
    return env.positions()


@pytest.mark.parametrize("root", ["gumbel", "puct"])
def test_a_win_in_one_is_found_and_proven(root: Any) -> None:
    position = jarmo.Game("connect_four").start.play("D", "A", "D", "A", "D", "B")
    found = jarmo.search(position, even, simulations=100, root=root)
    assert found.actions.tolist() == [3]
    assert found.proven.tolist() == [True] and found.values.tolist() == [1.0]
    assert found.policies[0, 3] == 1.0 and found.simulations[0] < 100
    assert found.action_values[0, 3] == 1.0


@pytest.mark.parametrize("name", jarmo.GAMES)
@pytest.mark.parametrize("root", ["gumbel", "puct"])
def test_results_have_their_shapes_and_do_not_depend_on_batches_or_threads(name: str, root: Any) -> None:
    positions = some_positions(name, 150)
    game = jarmo.Game(name)
    found = jarmo.search(positions, guess, simulations=24, root=root, noise=True, seed=5)
    same = jarmo.search(positions, guess, simulations=24, root=root, noise=True, seed=5, batch=7, threads=1)
    for one, two in zip(found, same, strict=True):
        assert np.allclose(np.asarray(one), np.asarray(two), atol=1e-5, equal_nan=True)
    masks = game.masks(positions)
    assert found.policies.shape == found.visits.shape == masks.shape
    assert np.allclose(found.policies.sum(axis=1), 1, atol=1e-5)
    assert not found.policies[~masks].any() and not found.visits[~masks].any()
    assert (found.visits.sum(axis=1) > 0).all() and (-found.visits <= 0).all(), "visits have a sign"
    assert masks[np.arange(150), found.actions].all()
    other = jarmo.search(positions, guess, simulations=24, root=root, noise=True, seed=6)
    assert not np.array_equal(other.visits, found.visits), "the seed matters"


def test_the_function_gets_what_is_documented() -> None:
    game = jarmo.Game("jarmo")
    seen = []
    thread = threading.get_ident()

    def evaluate(features: Any, masks: Any) -> tuple[Any, Any]:
        assert threading.get_ident() == thread
        assert features.dtype == np.float32 and masks.dtype == np.bool_
        assert features.shape == (len(masks), *game.feature_shape(threats=True))
        assert masks.shape[1] == game.num_actions
        assert features.flags.owndata or features.base is not None
        features += 1  # it may do with its arrays what it likes
        seen.append(len(masks))
        return np.zeros(masks.shape), np.full((len(masks), 3), 1 / 3)

    jarmo.search(some_positions("jarmo", 100), evaluate, simulations=8, threats=True, batch=40)
    assert max(seen) <= 40 and sum(seen) > 500
    first = jarmo.search(game.start, lambda f, m: even(f, m), simulations=1)
    assert np.array_equal(first.simulations, [1])


def test_logits_and_values_may_be_a_list_and_values_a_column() -> None:
    positions = some_positions("connect_four", 20)

    def evaluate(features: Any, masks: Any) -> list[Any]:
        logits, values = guess(features, masks)
        return [logits, values[:, None]]

    ours, theirs = (jarmo.search(positions, one, simulations=20) for one in (evaluate, guess))
    assert np.array_equal(ours.visits, theirs.visits)


def test_batches_can_be_padded() -> None:
    sizes = set()

    def evaluate(features: Any, masks: Any) -> tuple[Any, Any]:
        sizes.add(len(masks))
        logits, values = guess(features, masks)
        return logits, np.where(masks.any(axis=1), values, np.nan)  # rows in excess are ignored

    positions = some_positions("connect_four", 50)
    padded = jarmo.search(positions, evaluate, simulations=20, batch=64, pad=True)
    plain = jarmo.search(positions, guess, simulations=20)
    assert sizes == {64}
    assert np.allclose(padded.policies, plain.policies, atol=1e-5)


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (lambda f, m: np.zeros(m.shape), TypeError, r"evaluate must return a tuple \(logits, values\), not ndarray"),
        (lambda f, m: (np.zeros((len(m), 3)), np.zeros(len(m))), ValueError, r"logits must have shape \[\d, 7\]"),
        (lambda f, m: (np.zeros(m.shape), np.zeros(9)), ValueError, r"values must have shape \[\d\], or \[\d, 3\]"),
        (lambda f, m: (np.zeros(m.shape), np.zeros((len(m), 2))), ValueError, r"values must have shape \[\d\], or .*\[\d, 2\]"),
        (lambda f, m: (np.zeros(m.shape, complex), np.zeros(len(m))), TypeError, "logits must be real numbers, not complex128"),
        (lambda f, m: (np.zeros(m.shape), np.zeros(len(m), "c8")), TypeError, "values must be real numbers, not complex64"),
        (lambda f, m: (np.full(m.shape, np.nan), np.zeros(len(m))), ValueError, r"logits\[0, 0\] is NaN"),
        (lambda f, m: (np.zeros(m.shape), np.full(len(m), np.nan)), ValueError, r"values\[0\] is NaN"),
        (lambda f, m: (np.zeros(m.shape), np.full(len(m), 7.0)), ValueError, r"values\[0\] is 7"),
        (lambda f, m: (np.zeros(m.shape), np.ones((len(m), 3))), ValueError, "must be probabilities"),
        (lambda f, m: ("no", 1), ValueError, "could not convert"),
        (lambda f, m: 1 / 0, ZeroDivisionError, "division by zero"),
    ],
)
def test_wrong_answers_are_errors(answer: Any, error: type[Exception], message: str) -> None:
    positions = some_positions("connect_four", 5)
    with pytest.raises(error, match=message):
        jarmo.search(positions, answer, simulations=10)
    games = jarmo.self_play("connect_four", answer, games=5, simulations=4, threads=1)
    for _ in range(2):
        with pytest.raises(error, match=message):
            next(games)


def test_an_error_late_in_a_search_ends_it() -> None:
    calls = 0

    def evaluate(features: Any, masks: Any) -> tuple[Any, Any]:
        nonlocal calls
        calls += 1
        if calls == 20:
            raise LookupError("late")
        return even(features, masks)

    with pytest.raises(LookupError, match="late"):
        jarmo.search(some_positions("tammi", 200), evaluate, simulations=1000)
    assert calls == 20, "the function is not called again"


def test_illegal_actions_may_have_any_logit() -> None:
    full = jarmo.Game("connect_four").start.play(*"DDDDDD")

    def evaluate(features: Any, masks: Any) -> tuple[Any, Any]:
        return np.where(masks, 0.0, -np.inf), np.zeros(len(masks))

    assert jarmo.search(full, evaluate, simulations=50).visits[0, 3] == 0


def test_wrong_arguments() -> None:
    start = jarmo.Game("connect_four").start
    over = start.play(*"DADADAD")
    for positions, arguments, message in [
        ([start, over], {}, r"positions\[1\]: the game is over"),
        ([start, jarmo.Game().start], {}, r"positions\[1\] is of jarmo"),
        (start, {"simulations": 0}, "simulations must be 1 to"),
        (start, {"root": "best"}, 'root must be "gumbel" or "puct"'),
        (start, {"c_puct": 1.0}, 'c_puct is a setting of root="puct"'),
        (start, {"root": "puct", "considered": 4}, 'considered is a setting of root="gumbel"'),
        (start, {"root": "puct", "temperature": 0.0}, "temperature must be"),
        (start, {"batch": 0}, "batch must be 1 to 16777216, not 0"),
    ]:
        with pytest.raises(ValueError, match=message):
            jarmo.search(positions, even, **arguments)  # type: ignore[arg-type]


def test_search_answers_a_threat() -> None:
    game = jarmo.Game("connect_four")
    # Black must answer in D, or White wins there.
    position = game.start.play("D", "A", "D", "A", "D")
    found = jarmo.search(position, even, simulations=300, root="puct")
    assert position.action_text(int(found.actions[0])) == "D"


@pytest.mark.parametrize("name", jarmo.GAMES)
def test_samples_are_positions_of_finished_games(name: str) -> None:
    games = jarmo.self_play(name, guess, games=20, simulations=4, seed=2, min_samples=300, threads=2)
    samples = next(games)
    count, game = len(samples.masks), jarmo.Game(name)
    assert count >= 300
    assert samples.features.shape == (count, *game.feature_shape())
    assert samples.policies.shape == samples.masks.shape == (count, game.num_actions)
    assert np.allclose(samples.policies.sum(axis=1), 1, atol=1e-4)
    assert not samples.policies[~samples.masks].any()
    assert samples.outcomes.shape == (count, 3) and np.allclose(samples.outcomes.sum(axis=1), 1)
    assert samples.scores.dtype == np.int8
    again = next(jarmo.self_play(name, guess, games=20, simulations=4, seed=2, min_samples=300, threads=1))
    assert np.array_equal(again.features.sum(axis=0), samples.features.sum(axis=0)), "threads do not matter"
    stats = games.stats()
    assert stats["games"] > 0 and stats["simulations"] > stats["positions"]
    assert len(next(games).masks) >= 300


def test_self_play_forgets_evaluations_between_steps() -> None:
    weights = [0]

    def evaluate(features: Any, masks: Any) -> tuple[Any, Any]:
        weights[0] += len(masks)
        return even(features, masks)

    games = jarmo.self_play("connect_four", evaluate, games=8, simulations=8, min_samples=1)
    next(games)
    first = weights[0]
    next(games)
    assert weights[0] > first, "the network is asked again after it may have learned"


@pytest.mark.parametrize("kind", ["search", "self_play", "arena", "agent"])
def test_ctrl_c_is_honoured(kind: str) -> None:
    # A program that was started in the background ignores Ctrl-C, and Python then leaves it ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        check_ctrl_c(kind)
    finally:
        signal.signal(signal.SIGINT, before)


def check_ctrl_c(kind: str) -> None:
    def interrupt() -> None:
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGINT)

    positions = some_positions("tammi", 400)
    thread = threading.Thread(target=interrupt)
    start = time.monotonic()
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        if kind == "search":
            jarmo.search(positions, even, simulations=20_000)
        elif kind == "self_play":
            next(jarmo.self_play("tammi", even, games=64, simulations=2000, min_samples=10**9))
        elif kind == "arena":
            jarmo.arena(["rollout:2000", "rollout:2001"], game="tammi", games=1000)
        else:
            jarmo.Agent("rollout:100000", game="tammi").choose(positions)
    thread.join()
    assert time.monotonic() - start < 10


@pytest.mark.parametrize("name", jarmo.GAMES)
def test_self_play_goes_on_after_an_error_and_from_what_was_saved(name: str) -> None:
    calls, fails_at = 0, -1

    def sometimes(features: Any, masks: Any) -> tuple[Any, Any]:
        nonlocal calls
        calls += 1
        if calls == fails_at:
            raise KeyError("out of memory")
        return guess(features, masks)

    def games(evaluate: Any, seed: int = 3) -> jarmo.SelfPlay:
        return jarmo.self_play(name, evaluate, games=16, simulations=6, min_samples=200, seed=seed, threads=1)

    straight, broken = games(guess), games(sometimes)
    expected = [next(straight) for _ in range(3)]
    ours = [next(broken)]
    for later in (1, 4):
        fails_at = calls + later
        with pytest.raises(KeyError, match="out of memory"):
            next(broken)
    ours.append(next(broken))
    resumed = games(guess)
    resumed.restore(broken.save())
    ours.append(next(resumed))
    for one, two in zip(expected, ours, strict=True):
        for array, same in zip(one, two, strict=True):
            assert np.array_equal(np.asarray(array), np.asarray(same))
    assert resumed.stats() == straight.stats()
    with pytest.raises(ValueError, match='not this self-play: it was made with .*"seed":3'):
        games(guess, seed=4).restore(broken.save())
    with pytest.raises(ValueError, match="not this self-play"):
        resumed.restore(b"{}")


def test_no_positions_are_searched_in_the_game_of_the_agent() -> None:
    agent = jarmo.Agent("trained:8", game="connect_four")
    assert jarmo.search([], agent).policies.shape == (0, agent.game.num_actions)
