"""Agents, tournaments, exams and tables."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

import jarmo

CHECKPOINTS = Path(__file__).parents[2] / "checkpoints"


@pytest.mark.parametrize("game", jarmo.GAMES)
@pytest.mark.parametrize("spec", ["random", "greedy", "rollout:20", "alphabeta:200", "trained:8", "trained:0"])
def test_agents_choose_legal_actions_and_judge(game: str, spec: str) -> None:
    agent = jarmo.Agent(spec, game=game)
    positions = jarmo.VecEnv(game, 40, seed=1, random_plies=6).positions()
    actions = agent.choose(positions, seed=3)
    assert np.array_equal(actions, agent.choose(positions, seed=3, threads=1))
    masks = jarmo.Game(game).masks(positions)
    assert actions.dtype == np.int64 and masks[np.arange(40), actions].all()
    judged = agent.evaluate(positions, seed=3)
    assert np.array_equal(judged.actions, actions)
    assert judged.policies.shape == judged.visits.shape == masks.shape
    assert np.allclose(judged.results.sum(axis=1), 1, atol=1e-4)
    assert np.allclose(judged.values, judged.results[:, 0] - judged.results[:, 2], atol=1e-5)
    for position, action, line in zip(positions, actions.tolist(), judged.lines, strict=True):
        assert line[0] == position.action_text(action)
        position.play(*line)


def test_an_agent_file_is_the_agent_in_the_package() -> None:
    file = CHECKPOINTS / "jarmo.safetensors"
    positions = jarmo.VecEnv("jarmo", 30, seed=2, random_plies=8).positions()
    inside, outside = jarmo.Agent("trained:64"), jarmo.Agent(f"{file}?sims=64")
    assert np.array_equal(inside.choose(positions), outside.choose(positions))
    assert outside.spec == f"{file}?sims=64" and outside.game == jarmo.Game("jarmo")
    fewer = inside.evaluate(positions, nodes=5)
    assert fewer.visits.sum(axis=1).max() <= 6


def test_a_run_stands_for_its_newest_checkpoint(tmp_path: Path) -> None:
    checkpoints = tmp_path / "run" / "checkpoints"
    checkpoints.mkdir(parents=True)
    for step in (100, 2000):
        shutil.copy(CHECKPOINTS / "jarmo.safetensors", checkpoints / f"step-{step:08}.safetensors")
    run = tmp_path / "run"
    assert jarmo.Agent(f"{run}?sims=8").spec == f"{checkpoints}/step-00002000.safetensors?sims=8"
    assert jarmo.Agent(f"run:{run}@100").spec == f"{checkpoints}/step-00000100.safetensors"
    env = jarmo.VecEnv("jarmo", 2, opponent=f"{run}?sims=2", seat="white")
    env.reset()
    with pytest.raises(ValueError, match="the steps are 100, 2000"):
        jarmo.Agent(f"run:{run}@7")


def test_wrong_agents_say_what_is_wrong() -> None:
    for spec, message in [
        ("nobody", "unknown agent"),
        ("rollout:0", "0 simulations are only possible for agent files"),
        ("missing.safetensors", "no such file"),
        (f"{CHECKPOINTS}/guard.safetensors", "guard"),
    ]:
        with pytest.raises(ValueError, match=message):
            jarmo.Agent(spec)
    agent = jarmo.Agent("greedy", game="connect_four")
    with pytest.raises(ValueError, match=r"positions\[0\]: the game is over"):
        agent.choose(jarmo.Game("connect_four").start.play(*"DADADAD"))
    with pytest.raises(ValueError, match="nodes must be at least 1"):
        agent.choose(jarmo.Game("connect_four").start, nodes=0)


def test_a_tournament_is_a_table_and_a_picture() -> None:
    result = jarmo.arena(["alphabeta:300", "random"], game="connect_four", games=40, seed=1)
    assert result.agents["name"].tolist() == ["alphabeta:300", "random"]
    assert result.agents["elo"][0] > 100 > result.agents["elo"][1]
    assert result.agents["games"].tolist() == [40, 40]
    assert result.matches["score"][0] > 0.8
    assert result.svg.startswith("<svg") and result._repr_svg_() == result.svg
    assert "alphabeta:300" in str(result) and "alphabeta" in repr(result)
    again = jarmo.arena(["alphabeta:300", "random"], game="connect_four", games=40, seed=1, threads=1)
    assert again.report == result.report, "threads do not matter"
    with pytest.raises(ValueError, match="even number"):
        jarmo.arena(["random", "greedy"], games=3)
    with pytest.raises(ValueError, match="at least two agents"):
        jarmo.arena(["random"])


def test_the_game_of_an_agent_is_that_of_its_tournament_and_exam() -> None:
    agent = jarmo.Agent("random", game="connect_four")
    ours, theirs = jarmo.arena(["greedy", agent], games=2), jarmo.arena(["greedy", "random"], game="connect_four", games=2)
    assert ours.report == theirs.report
    with pytest.raises(ValueError, match="not of jarmo.Game"):
        jarmo.arena([agent, jarmo.Agent("random")], games=2)
    assert jarmo.exam(agent) == jarmo.exam("random", game="connect_four")


def test_a_tournament_is_a_frame_where_pandas_is() -> None:
    pytest.importorskip("pandas")
    frame = jarmo.arena(["greedy", "random"], games=4).to_frame()
    assert list(frame.columns)[:3] == ["name", "elo", "margin"] and len(frame) == 2


def test_exams() -> None:
    weak, strong = jarmo.exam("random"), jarmo.exam("trained:0")
    assert weak.all.decisions == strong.all.decisions == 20_000
    assert strong.all.critical_share > 0.8 > weak.all.critical_share
    assert strong.opening.decisions + strong.middle.decisions + strong.end.decisions == 20_000
    with pytest.raises(ValueError, match="no exam for guard"):
        jarmo.exam("random", game="guard")


def test_tables_know_small_endgames() -> None:
    folder = os.environ.get("JARMO_TABLES")
    if not folder:
        pytest.skip("JARMO_TABLES names no folder of exact tables")
    tables = jarmo.Tables(folder)
    game = jarmo.Game("jarmo")
    position = game.position("1b3/5/5/5/w4 w - - 0")
    found = tables.lookup([position, game.start])
    assert found.known.tolist() == [True, False]
    actions = tables.actions(position)
    assert actions is not None and [action for action, _, _ in actions] == position.legal
    assert max(value for _, value, _ in actions) == found.values[0]
    assert tables.actions(game.start) is None
    perfect = jarmo.Agent(f"rollout?tables={folder}")
    best = {action for action, value, _ in actions if value == found.values[0]}
    assert int(perfect.choose(position)[0]) in best


def test_tables_that_cannot_be_opened() -> None:
    with pytest.raises(ValueError, match="tables for jarmo and tammi only, not for guard"):
        jarmo.Tables("tables", game="guard")
    with pytest.raises(ValueError):
        jarmo.Tables("no-such-folder")


def test_a_search_with_few_nodes_does_not_know_of_one_with_many() -> None:
    positions = jarmo.VecEnv("connect_four", 60, seed=3, random_plies=8).positions()
    used, new = (jarmo.Agent("alphabeta", game="connect_four") for _ in range(2))
    used.evaluate(positions[:3], nodes=100_000, threads=1)
    few = [agent.evaluate(positions, nodes=300, threads=1) for agent in (used, new)]
    assert (few[0].actions == few[1].actions).all() and (few[0].values == few[1].values).all()
