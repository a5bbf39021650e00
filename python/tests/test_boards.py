"""Random boards, environments whose slots have different boards, and the track of boards never seen."""

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jarmo
from jarmo import boards

THREE = ["random:1", "random:2", "random:3"]


def env(games: int = 10, seed: int = 5, threads: int | None = None) -> jarmo.VecEnv:
    return jarmo.VecEnv("jarmo", games, boards=THREE, seed=seed, random_plies=4, threads=threads)


def test_a_random_board_has_lines_of_its_own() -> None:
    standard, one, other = (jarmo.Game("jarmo", board=board) for board in (None, *THREE[:2]))
    assert len({game.lines.tobytes() for game in (standard, one, other)}) == 3
    for game in (one, other):
        assert game.lines.shape == (25, 25) and game.lines.sum() == 78
        assert (game.lines == game.lines.T).all()
        assert (game.lines.sum(axis=0) == standard.lines.sum(axis=0)).all()
        assert game != standard and game.num_actions == standard.num_actions
        for name in (name for name in game.action_names if "-" in name):
            source, target = (5 * int(circle[1]) - 5 + "ABCDE".index(circle[0]) for circle in name.split("-"))
            assert game.lines[source, target]
    assert not jarmo.Game("connect_four").lines.any()
    with pytest.raises(ValueError, match="random:SEED"):
        jarmo.Game("jarmo", board="random:x")


def test_each_board_has_its_part_of_the_slots() -> None:
    games = env()
    own = [3, 3, 4]  # slots
    rules = [jarmo.Game("jarmo", board=board) for board in THREE]
    lines = [game.lines for game, slots in zip(rules, own, strict=True) for _ in range(slots)]
    alone = jarmo.VecEnv("jarmo", 3, boards=THREE[:1], seed=5, random_plies=4)
    step, first = games.reset(), alone.reset()
    over = 0
    for _ in range(300):
        assert np.array_equal(step.observation[:3], first.observation) and np.array_equal(step.mask[:3], first.mask)
        places = games.positions()
        for slot, place in enumerate(places):
            assert (place.game.lines == lines[slot]).all() and games.position(slot) == place
            assert np.array_equal(place.game.masks([place])[0], step.mask[slot])
            assert np.array_equal(place.game.features([place])[0], step.observation[slot])
        actions = games.sample_actions()
        assert np.array_equal(alone.sample_actions(), actions[:3])
        step, first = games.step(actions), alone.step(actions[:3])
        ended = games.final_positions()
        assert list(ended) == step.finished.tolist() == np.flatnonzero(step.terminated | step.truncated).tolist()
        for row, (slot, place) in zip(step.final_observation, ended.items(), strict=True):
            assert place.outcome is not None and (place.game.lines == lines[slot]).all()
            assert np.array_equal(place.game.features([place], viewer=int(step.seat[slot]))[0], row)
        over += len(ended)
    assert over > 5 and games.steps == 300
    assert not np.array_equal(step.observation[3:6], step.observation[:3]), "each board has games of its own"


def test_threads_do_not_matter_and_games_continue_from_a_save() -> None:
    one, two = env(400, threads=1), env(400, threads=2)
    for _ in range(30):
        actions = one.sample_actions()
        step, other = one.step(actions), two.step(actions)
        assert all(np.array_equal(np.asarray(a), np.asarray(b)) for a, b in zip(step, other, strict=True))
    saved = one.save()
    copy = pickle.loads(pickle.dumps(one))
    restored = env(400, seed=9)
    restored.restore(saved)
    actions = one.sample_actions()
    assert restored.seed == copy.seed == one.seed == 5
    expected = one.step(actions)
    for again in (copy, restored):
        assert np.array_equal(again.step(actions).observation, expected.observation)
    before = restored.save()
    with pytest.raises(ValueError, match="has 3 boards, this one 1"):
        jarmo.VecEnv("jarmo", 400).restore(saved)
    broken = json.loads(saved)
    broken[2]["state"]["games"][5]["actions"][0] = 999
    with pytest.raises(ValueError, match="saved game"):
        restored.restore(json.dumps(broken).encode())
    assert restored.save() == before


def test_games_begin_again_by_seed_mask_and_position() -> None:
    games = env()
    first = games.reset().observation
    games.step(games.sample_actions())
    assert np.array_equal(games.reset(seed=5).observation, first)
    seeds = list(range(10))
    assert np.array_equal(games.reset(seed=seeds).observation, games.reset(seed=seeds).observation)
    assert games.seed == seeds
    before = games.positions()
    mask = [slot in (2, 7) for slot in range(10)]
    games.reset(mask=mask)
    after = games.positions()
    assert all(after[slot] == before[slot] for slot in range(10) if not mask[slot])
    games.reset(mask=[slot == 2 for slot in range(10)], positions=after[2].game.start)
    assert games.position(2) == after[2].game.start
    places = [after[slot].game.start for slot in (2, 7)]
    games.reset(mask=mask, positions=places)
    assert [games.position(slot) for slot in (2, 7)] == places
    before_all = games.save()
    for arguments, message in (
        ({"positions": places[::-1]}, r"positions\[0\] is on another board than slot 2"),
        ({"positions": places[:1]}, "as many as the games that start, not 1"),
    ):
        with pytest.raises(ValueError, match=message):
            games.reset(mask=mask, **arguments)  # type: ignore[arg-type]
    actions = games.sample_actions()
    actions[8] = games.observe().mask[8].argmin()
    with pytest.raises(ValueError, match=r"actions\[8\]"):
        games.step(actions)
    assert games.save() == before_all


def test_boards_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "board.toml"
    places = [f"{column}{row}" for row in range(1, 6) for column in "ABCDE"]
    lines = ", ".join(f'"{places[a]}-{places[b]}"' for a, b in np.argwhere(np.triu(jarmo.Game("jarmo").lines)))
    other.write_text(f'name = "more"\nlines = [{lines}, "A1-A2"]')
    for arguments, message in (
        ({"boards": [], "num_envs": 4}, "0 boards for 4 games"),
        ({"boards": THREE, "num_envs": 2}, "3 boards for 2 games"),
        ({"boards": [THREE[0], str(other)], "num_envs": 4}, "as many lines"),
        ({"boards": THREE, "num_envs": 4, "opponent": "random"}, "no opponent"),
        ({"boards": THREE, "num_envs": 4, "game": "tammi"}, "tammi has no board"),
    ):
        with pytest.raises(ValueError, match=message):
            jarmo.VecEnv(**{"game": "jarmo", **arguments})  # type: ignore[arg-type]


def test_the_track_measures_and_verifies(tmp_path: Path) -> None:
    asked = []

    def make(game: jarmo.Game) -> str:
        asked.append(game.lines.tobytes())
        return "greedy"

    two = boards.JUDGED[:2]
    result = boards.evaluate(make, boards=two)
    assert len(set(asked)) == 2 and result.wrong.shape == (2, 1)
    assert 0.05 < result.wrong.mean() < 0.6, str(result)
    assert not set(boards.JUDGED) & set(boards.TRAINING)
    path = tmp_path / "result.json"
    result.to_json(path)
    assert np.array_equal(boards.verify(path).wrong, result.wrong)
    assert "greedy, wrong critical decisions on 2 of 32 boards" in str(result)
    assert "on 32 boards" in str(boards.Result(boards.JUDGED, 32 * result.rows[:1]))
    wrong: list[tuple[Callable[[Any], object], str]] = [
        (lambda file: file["boards"].reverse(), "board random:65"),
        (lambda file: file["rows"][1][0]["fresh"].update(share=0.0), "board random:65"),
        (lambda file: file["rows"][0][0]["settings"].update(fresh=100), "the settings are"),
        (lambda file: file["rows"].pop(), "rows for each board"),
        (lambda file: file.update(version="jarmo-v1"), "not a result"),
        (lambda file: file.update(boards=2 * file["boards"][:1], rows=2 * file["rows"][:1]), "must be different"),
        (lambda file: file.update(boards=["random:64", "random:63"]), "all of `JUDGED` or all of `TRAINING`"),
        (lambda file: file.update(boards=["random:1000", "random:65"]), "all of `JUDGED`"),
        (lambda file: file.update(rows=[[], []]), "same agent"),
        (lambda file: file.update(rows=[[1], [1]]), "lacks its agent"),
        (lambda file: file["rows"][1][0].update(nodes=64), "same agent"),
        (lambda file: file["rows"][1][0].update(agent="other"), "same agent"),
        (lambda file: [rows.append(rows[0]) for rows in file["rows"]], "each once"),
    ]
    for change, message in wrong:
        file = json.loads(result.to_json())
        change(file)
        path.write_text(json.dumps(file))
        with pytest.raises(ValueError, match=message):
            boards.verify(path)
    path.write_text(result.to_json().replace('"boards"', '"boards": [], "boards"', 1))
    with pytest.raises(ValueError, match="stands twice"):
        boards.verify(path)
    boards.evaluate(make, boards=boards.TRAINING[:1]).to_json(path)
    assert "not ranked" in str(boards.verify(path))
