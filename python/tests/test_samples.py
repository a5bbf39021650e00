"""Samples of self-play: where they come from, files, and the end of self-play."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jarmo


def even(features: Any, masks: Any) -> tuple[Any, Any]:
    """A network that knows nothing."""
    return np.zeros(masks.shape), np.zeros(len(masks))


def games(name: str, **settings: Any) -> jarmo.SelfPlay:
    return jarmo.self_play(name, even, games=12, simulations=6, min_samples=150, seed=4, **settings)


@pytest.mark.parametrize("name", jarmo.GAMES)
@pytest.mark.parametrize("max_random_plies", [0, 5])
def test_samples_say_where_they_come_from(name: str, max_random_plies: int) -> None:
    game = jarmo.Game(name)
    playing = games(name, max_random_plies=max_random_plies)
    both = [next(playing), next(playing)]
    assert both[1].games[0] == both[0].games[-1] + 1
    for samples in both:
        assert np.array_equal(samples.features, game.features(samples.positions))
        some = jarmo.Samples._make(array[[2, 5]] for array in samples)
        assert some.positions[1] == samples.positions[5]
        assert np.array_equal(samples.masks, game.masks(samples.positions))
        assert samples.masks[np.arange(len(samples.actions)), samples.actions].all()
        assert np.array_equal(samples.plies, [position.ply for position in samples.positions])
        assert (np.abs(samples.values) <= 1).all() and samples.values.std() > 0
        for number in np.unique(samples.games):
            rows = np.flatnonzero(samples.games == number)
            assert samples.plies[rows[0]] <= max_random_plies
            for row, after in zip(rows, rows[1:], strict=False):
                assert samples.positions[row].play(int(samples.actions[row])) == samples.positions[after]
            last = samples.positions[rows[-1]]
            outcome = last.play(int(samples.actions[rows[-1]])).outcome
            assert outcome is not None
            result = 0 if outcome.winner is None else 1 if outcome.winner == last.to_move else -1
            assert samples.outcomes[rows[-1]] @ [1, 0, -1] == result


def test_samples_go_to_a_file_and_back(tmp_path: Path) -> None:
    samples = next(games("jarmo"))
    samples.save(tmp_path / "samples.npz")
    again = jarmo.Samples.load(tmp_path / "samples.npz", "jarmo")
    for name, ours, theirs in zip(samples._fields, samples, again, strict=True):
        assert np.array_equal(np.asarray(ours), np.asarray(theirs)), name
    with np.load(tmp_path / "samples.npz") as arrays:
        assert str(arrays["positions"][0]) == samples.positions[0].text
        assert arrays["features"].dtype == np.uint8


def test_an_evaluation_cannot_end_self_play() -> None:
    def ends(features: Any, masks: Any) -> tuple[Any, Any]:
        raise StopIteration

    with pytest.raises(RuntimeError, match="evaluate raised StopIteration") as error:
        list(jarmo.self_play("connect_four", ends, games=2))
    assert isinstance(error.value.__cause__, StopIteration)


def test_self_play_can_be_closed() -> None:
    with games("connect_four") as playing:
        assert len(next(playing).games) >= 150
        saved = playing.save()
    for call in (lambda: next(playing), playing.stats, playing.save, lambda: playing.restore(saved)):
        with pytest.raises(ValueError, match="this self-play is closed"):
            call()
    playing.close()
