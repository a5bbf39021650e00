"""Games and positions as values."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import jarmo


def test_a_game_of_connect_four() -> None:
    game = jarmo.Game("connect_four")
    position = game.start
    assert position.legal == list(range(7)) and position.legal_texts == list("ABCDEFG")
    won = position.play("D", "A", 3, 0, "D", "A", "D")
    assert won.is_over and won.legal == [] and won.ply == 7
    assert won.outcome == (0, None, False)
    assert position == game.start, "a position never changes"
    with pytest.raises(ValueError, match="the game is over"):
        won.play("B")
    with pytest.raises(ValueError, match="action 9: the game has only actions 0 to 6"):
        position.play(9)
    with pytest.raises(ValueError, match="action `Z`"):
        position.play("Z")
    with pytest.raises(TypeError, match="an action is its index"):
        position.play(1.5)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", jarmo.GAMES)
def test_text_goes_both_ways(name: str) -> None:
    game = jarmo.Game(name)
    generator = np.random.default_rng(1)
    position = game.start
    while not position.is_over:
        again = game.position(position.text)
        assert again.text == position.text and again.to_move == position.to_move
        for action, text in zip(position.legal, position.legal_texts, strict=True):
            assert position.parse_action(text) == action and position.action_text(action) == text
        position = position.play(int(generator.choice(position.legal)))
    assert position.outcome is not None
    with pytest.raises(ValueError):
        game.position("nonsense")


def test_positions_are_values() -> None:
    game = jarmo.Game("connect_four")
    one, two = game.start.play("A", "B", "C"), game.start.play("C", "B", "A")
    assert one == two and hash(one) == hash(two) and {one: 1}[two] == 1
    assert one != game.start and one != "text"
    assert copy.deepcopy(one) == one
    assert one == jarmo.Game("connect_four").start.play(0, 1, 2)
    assert one != jarmo.Game("connect_four", max_plies=30).start.play(0, 1, 2), "other rules"
    short = jarmo.Game("connect_four", max_plies=30)
    assert eval(repr(one)) == one and eval(repr(short.start)) == short.start
    assert repr(jarmo.Agent("greedy", game=short)) == f'jarmo.Agent("greedy", game={short!r})'

    class Equal:
        def __eq__(self, other: object) -> bool:
            return True

    assert one == Equal() and one.__eq__(1) is NotImplemented


def test_games_are_values() -> None:
    assert jarmo.Game("jarmo") == jarmo.Game() != jarmo.Game("guard")
    assert jarmo.Game("jarmo", max_plies=7) != jarmo.Game()
    with pytest.raises(ValueError, match="tammi has no board"):
        jarmo.Game("tammi", board="x.txt")
    with pytest.raises(ValueError, match="quiet limit"):
        jarmo.Game("tammi", quiet_limit=0)


def test_positions_of_another_game_are_refused_by_number() -> None:
    game = jarmo.Game("jarmo")
    with pytest.raises(ValueError, match=r'positions\[1\] is of jarmo.Game\("guard", .*\), not of jarmo.Game\("jarmo", '):
        game.features([game.start, jarmo.Game("guard").start])
    with pytest.raises(ValueError, match=r"is of .*max_plies=7\), not of .*max_plies=200\)$"):
        game.features(jarmo.Game(max_plies=7).start)
    with pytest.raises(ValueError, match="their boards differ"):
        jarmo.Game(board="random:1").masks(jarmo.Game(board="random:2").start)
    with pytest.raises(TypeError, match=r"positions\[0\] is not a jarmo.Position"):
        game.masks(["start"])  # type: ignore[list-item]


@pytest.mark.parametrize("name", jarmo.GAMES)
def test_pictures(name: str) -> None:
    start = jarmo.Game(name).start
    plain, arrows = start._repr_svg_(), start.svg(start.legal_texts[:2], title="two moves")
    assert plain.startswith("<svg") and plain.rstrip().endswith("</svg>")
    assert "two moves" in arrows and len(arrows) > len(plain)
    assert "to move" in str(start)


def test_positions_can_be_pickled_where_nothing_is_lost() -> None:
    for name in jarmo.GAMES:
        game = jarmo.Game(name, max_plies=50)
        position = game.start.play(game.start.legal[0])
        assert pickle.loads(pickle.dumps(position)) == position
        assert pickle.loads(pickle.dumps(game)) == game


@pytest.mark.parametrize("name", jarmo.GAMES)
def test_planes_and_actions_have_names(name: str) -> None:
    game = jarmo.Game(name)
    plain, threats = game.plane_names(), game.plane_names(threats=True)
    assert len(plain) == game.feature_shape()[0] and len(threats) == game.feature_shape(threats=True)[0]
    assert threats[: len(plain)] == plain and not any(text.startswith("plane ") for text in threats)
    assert len(set(game.action_names)) == game.num_actions
    start = game.start
    assert [game.action_names[action] for action in start.legal] == start.legal_texts


def test_planes_hold_what_their_names_say() -> None:
    game = jarmo.Game("jarmo")
    planes = dict(zip(game.plane_names(), game.features(game.start.play("A1-C2"))[0], strict=False))
    assert planes["White: archers"].sum() == 5 and planes["Black: archers"].sum() == 5
    assert planes["White: source of the last move"][0, 0] == 1 and planes["White: target of the last move"][1, 2] == 1


@pytest.mark.parametrize("name", jarmo.GAMES)
@pytest.mark.parametrize("threats", [False, True])
def test_symmetries_keep_the_rules(name: str, threats: bool) -> None:
    game = jarmo.Game(name)
    symmetries = game.symmetries(threats=threats)
    assert len(symmetries) == (2 if name == "connect_four" else 1)
    generator = np.random.default_rng(1)
    for symmetry in symmetries:
        ours = theirs = game.start
        while not ours.is_over:
            features, mirrored = (game.features(one, threats=threats).reshape(-1) for one in (ours, theirs))
            assert np.array_equal(features[symmetry.features], mirrored)
            assert np.array_equal(game.masks(ours)[0][symmetry.actions], game.masks(theirs)[0])
            action = int(generator.choice(ours.legal))
            ours, theirs = ours.play(action), theirs.play(int(symmetry.actions[action]))
        assert ours.outcome == theirs.outcome


def test_a_game_on_another_board_is_copied_and_says_so() -> None:
    game = jarmo.Game("jarmo", board="random:1")
    assert copy.copy(game) is game and copy.deepcopy(jarmo.VecEnv(game, 2).game) == game
    assert repr(game) == 'jarmo.Game("jarmo", max_plies=200, board=...)'
    assert repr(jarmo.Game("tammi", quiet_limit=5)).endswith(", quiet_limit=5)")
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(game)
