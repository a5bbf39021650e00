"""The board for notebooks: the view that the page's drawing gets, games on it, a notebook, and a browser."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jarmo
from jarmo import _board

pytest.importorskip("anywidget")

from jarmo.widget import Board  # noqa: E402


def told(board: Board, **content: Any) -> None:
    """Does what the user does on the board."""
    board._told(board, content, [])


def random_positions(game: str, count: int) -> list[jarmo.Position]:
    """The positions of some random games."""
    env = jarmo.VecEnv(game, 4, seed=3, threads=1)
    env.reset()
    positions = []
    for _ in range(count):
        positions += env.positions()
        env.step(env.sample_actions())
        positions += env.final_positions().values()
    return positions


@pytest.mark.parametrize("game", jarmo.GAMES)
def test_the_view_has_the_lines_and_pieces_of_the_picture(game: str) -> None:
    layout = _board.layout_of(jarmo.Game(game))
    margin = 70 if layout.style == "board" else 84

    def point(cell: int) -> tuple[int, int]:
        at: Any = layout.cells[cell]
        return margin + 100 * at["column"], margin + 100 * (layout.rows - 1 - at["row"])

    for position in random_positions(game, 40):
        picture = position.svg()
        lines = re.findall(r'<line x1="(\d+)" y1="(\d+)" x2="(\d+)" y2="(\d+)"', picture)
        drawn = [tuple(map(int, line)) for line in lines[::2]]  # each line has a gap below it
        assert [(*point(one), *point(other)) for one, other in layout.lines] == drawn
        places = re.findall(r'<g transform="translate\((\d+) (\d+)\)"( opacity="0.4")?>.*?fill="(#\w+)"', picture)
        seen = [(point(piece["cell"]), piece["leaving"], piece["player"]) for piece in _board.pieces(position)]
        colours = {"#fffdf6": "white", "#343a40": "black"}
        assert sorted(seen) == sorted(((int(x), int(y)), bool(faint), colours[fill]) for x, y, faint, fill in places)


@pytest.mark.parametrize("game", jarmo.GAMES)
def test_legal_actions_start_at_own_pieces_and_end_at_cells(game: str) -> None:
    for position in random_positions(game, 40):
        scene = _board.scene(position, None)
        owners = {piece["cell"]: piece["player"] for piece in scene["pieces"]}
        assert [move["text"] for move in scene["legal"]] == position.legal_texts
        for move in scene["legal"]:
            assert move["from"] is None or owners[move["from"]] == scene["to_move"]
            assert move["to"] is not None or move["text"] == "pass"
            assert owners.get(move["to"]) != scene["to_move"]
        assert scene["outcome"] == position.is_over


def test_the_forbidden_move_of_a_shuttle_is_marked() -> None:
    game = jarmo.Game("jarmo")
    assert _board.forbidden(game.start) == []
    position = game.position("bbbbb/5/5/5/wwwww w C2-A1*4 - 20")
    assert _board.forbidden(position) == [{"key": "note_shuttle", "player": "white", "what": "A1-C2"}]
    assert "A1-C2" not in position.legal_texts


def test_four_stones_in_a_line_are_marked() -> None:
    position = jarmo.Game("connect_four").start.play(*"AABBCCD")
    assert position.is_over
    assert _board.winning_cells(position) == [0, 1, 2, 3]
    assert _board.winning_cells(jarmo.Game("connect_four").start) == []


def test_a_game_against_an_agent_and_stepping_through_it() -> None:
    board = Board("connect_four", opponent="greedy", seat="black")
    assert len(board.actions) == 1, "White begins"
    assert board._shown["view"]["human"]
    told(board, do="play", text="D")
    assert len(board.actions) == 3 and board.actions[1] == "D"
    told(board, do="go", ply=0)
    assert board.position == jarmo.Game("connect_four").start
    assert not board._shown["view"]["human"], "White is to move"
    told(board, do="go", ply=1)
    told(board, do="play", text="A")
    assert board.actions[1] == "A" and len(board.actions) == 3, "the game has another continuation"
    told(board, do="go", ply=77)
    assert board.position.ply == 3
    board.go(-1)
    assert board.position.ply == 3
    told(board, do="new")
    assert len(board.actions) == 1


def test_a_seat_is_a_side_against_an_opponent() -> None:
    assert not Board("connect_four", opponent="greedy").actions, "White is played on the board by default"
    with pytest.raises(ValueError, match='seat must be "white" or "black", not \'red\''):
        Board("connect_four", opponent="greedy", seat="red")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="seat is the side against an opponent"):
        Board("connect_four", seat="white")


def test_an_illegal_move_says_why_and_changes_nothing() -> None:
    board = Board("jarmo", actions=["A1-C2", "A5-B3"])
    assert board.actions == ["A1-C2", "A5-B3"] and board.position.ply == 2
    told(board, do="play", text="A1-A2")
    assert "A1" in board._shown["message"]
    assert board.actions == ["A1-C2", "A5-B3"]
    with pytest.raises(ValueError, match="A1"):
        board.play("A1-A2")
    told(board, do="go", ply=1)
    assert board._shown["message"] == ""
    told(board, do="nonsense")


def test_hints_and_evaluation_come_from_the_adviser() -> None:
    winning = jarmo.Game("connect_four").start.play(*"AABBCC")
    board = Board(winning, adviser="alphabeta:2000")
    assert board._shown["ideas"] == [] and board._shown["evaluation"] is None
    told(board, do="hints")
    assert board._shown["ideas"][0]["gesture"] == {"from": None, "to": 3}
    told(board, do="evaluation")
    assert board._shown["evaluation"] == pytest.approx(1, abs=0.1)
    told(board, do="play", text="D")
    assert board._shown["evaluation"] == 1 and board._shown["ideas"] == []
    assert "White wins" in board._shown["status"]


def test_a_function_can_be_the_opponent() -> None:
    def last(positions: list[jarmo.Position]) -> list[int]:
        return [position.legal[-1] for position in positions]

    board = Board("connect_four", opponent=last)
    board.play("A")
    assert board.actions == ["A", "G"]
    json.dumps(board._shown)


def test_a_guard_game_waits_for_the_whole_turn_of_the_opponent() -> None:
    board = Board("guard", opponent="random")
    generator = np.random.default_rng(1)
    while not board.position.is_over:
        assert board.position.to_move == 0
        board.play(int(generator.choice(board.position.legal)))


def test_a_notebook_shows_board_tables_and_curves(tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    cells = [
        "import jarmo, jarmo.widget",
        "jarmo.widget.Board('connect_four', opponent='greedy')",
        "jarmo.arena(['greedy', 'random'], game='connect_four', games=2).agents",
        "run = jarmo.Run('run', game='connect_four', steps=60, threads=1, net={'width': 32, 'blocks': 1}, batch=128,\n"
        "    first_samples=4096, selfplay={'games': 256, 'simulations': 2}, evaluation={'every': 0, 'exam': 'none'})\n"
        "agent = run.train()",
        "run",
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(book, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    kinds = [{kind for output in cell.outputs for kind in output.get("data", {})} for cell in book.cells]
    assert "application/vnd.jupyter.widget-view+json" in kinds[1]
    assert "text/html" in kinds[2]
    assert "image/svg+xml" in kinds[3]
    assert "image/svg+xml" in kinds[4]


PAGE = """<!doctype html><meta charset="utf-8"><body><div id="place"></div>
<script type="module">
import widget from "./widget.mjs";
const shown = %s, sent = [];
const model = { get: () => shown, on() {}, off() {}, send: (message) => sent.push(message) };
widget.render({ model, el: document.getElementById("place") });
const root = document.querySelector("#place > div").shadowRoot;
await new Promise((done) => setTimeout(done, 50));
const cell = (index) => root.querySelector(`[data-cell="${index}"]`);
const point = (node) => {
  const { left, top, width, height } = node.getBoundingClientRect();
  return { clientX: left + width / 2, clientY: top + height / 2, button: 0, buttons: 1, bubbles: true };
};
const tell = (node, kind, at) => node.dispatchEvent(new PointerEvent(kind, point(at)));
tell(cell(0), "pointerdown", cell(0)); tell(cell(0), "pointerup", cell(0));
tell(cell(7), "pointerdown", cell(7)); tell(cell(7), "pointerup", cell(7));
// The same by dragging.
tell(cell(0), "pointerdown", cell(0)); tell(cell(0), "pointermove", cell(7)); tell(cell(0), "pointerup", cell(7));
root.querySelector("[aria-label='Previous position']").click();
const colour = getComputedStyle(root.querySelector(".piece.white .body")).fill;
document.body.dataset.told = JSON.stringify({ sent, colour, status: root.getElementById("status").textContent });
</script>
"""


@pytest.mark.skipif(
    shutil.which("chromium") is None and "JARMO_BROWSER" not in os.environ, reason="there is no Chromium"
)
def test_a_browser_draws_the_board_and_sends_what_is_clicked_and_dragged(tmp_path: Path) -> None:
    board = Board("jarmo", actions=["E1-D3", "E5-C4"], evaluation=True)
    (tmp_path / "widget.mjs").write_text(str(Board._esm), encoding="utf-8")
    (tmp_path / "page.html").write_text(PAGE % json.dumps(board._shown), encoding="utf-8")
    browser = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files"]
    command = [*browser, f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=5000", "--dump-dom"]
    page = subprocess.run([*command, f"file://{tmp_path / 'page.html'}"], check=True, capture_output=True, text=True)
    found = re.search(r'data-told="([^"]*)"', page.stdout)
    assert found, page.stdout[-2000:]
    seen = json.loads(found[1].replace("&quot;", '"'))
    assert seen["sent"] == [{"do": "play", "text": "A1-C2"}] * 2 + [{"do": "go", "ply": 1}]
    assert seen["colour"] not in ("rgb(0, 0, 0)", "none"), "the style sheet of the page applies"
    assert seen["status"].endswith("White to move")


def test_a_board_without_an_adviser_says_so_when_it_is_asked() -> None:
    board = Board(jarmo.Game("jarmo", board="random:1"))
    told(board, do="hints")
    assert "another board" in board._message
