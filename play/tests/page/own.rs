//! A game of one's own in the browser: on squares, by drops, or by its drawing and buttons.

use std::fmt;
use std::net::SocketAddr;

use crate::chromium::Browser;
use crate::http::{request, serve_options};
use crate::web::{JSON, command, open};
use jarmo::Games;
use jarmo::encode::{Encode, set_bits};
use jarmo::game::{
    Action, ActionError, ActionMask, BoardText, Game, Outcome, Player, PositionError, Reason, Wording, parse_board,
    write_board,
};
use jarmo::games::Scripted;
use jarmo::games::scripted::Node;
use jarmo::games::text::{fields, parse_player};
use jarmo::search::HasHeuristic;
use jarmo::search::heuristic::NoHeuristic;
use jarmo::tables::HasEndgames;
use jarmo::view::GameView;
use play::server::ServerLimits;
use play::specs::Store;
use serde_json::json;

/// Three in a row of a board with nine squares.
#[derive(Clone)]
struct Three {
    drops: bool, // a stone falls to the lowest free square of its column
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Stones {
    of: [u16; 2], // by player; bit 3 * row + column
    to_move: Player,
}

const BOARD: BoardText = BoardText { columns: 3, rows: 3, letters: "xo" };
const NO: Wording = Wording { key: "three", english: "expected a free square" };
const LINES: [u16; 8] = [0o7, 0o70, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124];

impl Stones {
    fn taken(&self) -> u16 {
        self.of[0] | self.of[1]
    }
}

impl Game for Three {
    type Position = Stones;
    type Mask = ActionMask<1>;

    fn id(&self) -> &'static str {
        match self.drops {
            true => "three_drops",
            false => "three",
        }
    }

    fn rules_version(&self) -> u32 {
        1
    }

    fn actions(&self) -> usize {
        9
    }

    fn start(&self) -> Stones {
        Stones { of: [0; 2], to_move: Player::White }
    }

    fn to_move(&self, position: &Stones) -> Player {
        position.to_move
    }

    fn ply(&self, position: &Stones) -> u32 {
        position.taken().count_ones()
    }

    fn max_plies(&self) -> u32 {
        0
    }

    fn with_max_plies(self, _: u32) -> Three {
        self
    }

    fn legal(&self, position: &Stones) -> ActionMask<1> {
        let free = !position.taken() & 0o777;
        let lowest = match self.drops {
            true => free & !(free << 3),
            false => free,
        };
        match self.outcome(position) {
            Some(_) => ActionMask::default(),
            None => ActionMask([lowest.into()]),
        }
    }

    fn play(&self, position: &mut Stones, action: Action) {
        position.of[position.to_move.index()] |= 1 << action.index();
        position.to_move = !position.to_move;
    }

    fn outcome(&self, position: &Stones) -> Option<Outcome> {
        let won = |player: &Player| LINES.iter().any(|line| position.of[player.index()] & line == *line);
        let winner = Player::BOTH.into_iter().find(won);
        (winner.is_some() || position.taken() == 0o777).then(|| Outcome::plain(winner))
    }

    fn why_illegal(&self, _: &Stones, _: Action) -> Reason {
        NO.reason()
    }

    fn position_text(&self, position: &Stones) -> String {
        let letter = |square: usize| {
            let has = |player: &Player| position.of[player.index()] >> square & 1 == 1;
            let owner = Player::BOTH.into_iter().find(has);
            owner.map(|player| ['x', 'o'][player.index()])
        };
        format!("{} {}", write_board(BOARD, letter), position.to_move.letter())
    }

    fn parse_position(&self, text: &str) -> Result<Stones, PositionError> {
        let [board, to_move] = fields(text, &["board", "to move"])?;
        let mut position = Stones { of: [0; 2], to_move: parse_player(to_move)? };
        for (square, letter) in parse_board(BOARD, board)? {
            position.of[usize::from(letter == 'o')] |= 1 << square;
        }
        Ok(position)
    }

    fn action_text(&self, _: &Stones, action: Action) -> String {
        let column = char::from(b'a' + (action.index() % 3) as u8);
        match self.drops {
            true => column.to_string(),
            false => format!("{column}{}", action.index() / 3 + 1),
        }
    }

    fn parse_action(&self, position: &Stones, text: &str) -> Result<Action, ActionError> {
        let is_meant = |action: &Action| self.action_text(position, *action) == text;
        let legal = |action: &Action| self.legal(position).0[0] >> action.index() & 1 == 1;
        let mut all = (0..9).map(Action).filter(is_meant);
        let found = match self.drops {
            true => all.find(legal),
            false => all.next(),
        };
        found.ok_or_else(|| ActionError::unreadable(text, NO.reason()))
    }

    fn draw(&self, position: &Stones, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "{}", self.position_text(position))
    }
}

impl Encode for Three {
    fn planes(&self) -> usize {
        2
    }

    fn board_planes(&self) -> usize {
        2
    }

    fn grid(&self) -> (usize, usize) {
        (3, 3)
    }

    fn features(&self, position: &Stones, mut set: impl FnMut(usize)) {
        let mover = position.to_move.index();
        set_bits(0, position.of[mover].into(), &mut set);
        set_bits(9, position.of[1 - mover].into(), &mut set);
    }

    fn seen_by(&self, position: &Stones, viewer: Player) -> Stones {
        Stones { to_move: viewer, ..*position }
    }

    fn threat_planes(&self) -> usize {
        0
    }

    fn threats(&self, _: &Stones, _: impl FnMut(usize)) {}
}

impl HasHeuristic for Three {
    type Heuristic = NoHeuristic;
}

impl HasEndgames for Three {}

/// Only the game of drops brings its rules and a piece.
impl GameView for Three {
    fn rules_text(&self) -> Option<&str> {
        self.drops.then_some("# Aim\nThree of your stones in a row.\n# Move\nDrop a stone into a column.")
    }

    fn piece_svg(&self, letter: char) -> Option<&str> {
        (self.drops && letter == 'x').then_some("<rect class=\"own\" x=\"-30\" y=\"-30\" width=\"60\" height=\"60\"/>")
    }
}

/// A server for games that are not of jarmo, beginning with one of them.
fn serve_own(first: &str) -> SocketAddr {
    let scripted = Scripted::new(&Node::white([
        Node::black([Node::end(0, 1), Node::end(0, 2)]),
        Node::black([Node::end(2, 0), Node::end(1, 0)]),
    ]));
    let games = Games::empty().register(Three { drops: false }).register(Three { drops: true }).register(scripted);
    serve_options(["human", "human"], |options| {
        options.bounds = ServerLimits::default();
        options.defaults.game = first.to_owned();
        options.defaults.store = Store { games, ..Store::default() };
    })
}

#[test]
fn the_server_shows_games_without_cells_and_draws_no_pictures_of_them() {
    let address = serve_own("scripted");
    let texts = request(address, "GET", "/api/texts?lang=en", &[], "").json();
    assert_eq!(texts["games"], json!(["three", "three_drops", "scripted"]));
    assert_eq!(texts["puzzles"], json!([]));
    assert_eq!(texts["starts"]["three"], "3/3/3 w");
    let (id, view) = open(address, json!({}));
    assert_eq!(view["drawing"], "node 0, ply 0\n");
    let headers = [JSON, ("X-Session", id.as_str())];
    for (method, path) in [("GET", "/api/picture"), ("POST", "/api/setup")] {
        let answer = request(address, method, path, &headers, "{}");
        assert_eq!(answer.status, 422, "{path}: {}", answer.body);
    }
    let scene = request(address, "GET", "/api/scene?moves=1", &headers, "").json();
    assert_eq!(scene["drawing"], "node 4, ply 1\n");
    assert_eq!(command(address, &id, json!({"do": "play", "text": "1"})).status, 200);
    let lesson = request(address, "POST", "/api/lesson", &headers, r#"{"game":"three","step":0}"#);
    assert_eq!(lesson.status, 422);
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn a_game_of_squares_is_played_by_clicks() {
    let browser = Browser::at(serve_own("three"));
    assert_eq!(browser.text("title"), "three");
    for (number, square) in [4_u64, 0, 2, 6, 3].into_iter().enumerate() {
        browser.cell(square);
        browser.wait_for_moves(number as u64 + 1);
    }
    assert_eq!(browser.text("status"), "Black to move");
    assert!(browser.label(4).starts_with("b2, White, x"), "{}", browser.label(4));
    assert_eq!(browser.run("return document.querySelectorAll('#board .letter').length"), json!(5));
    for hidden in ["#puzzles", "#learn", "#editor-open", "#drawing"] {
        assert!(!browser.shows(hidden), "{hidden}");
    }
    browser.click("#hint");
    browser.wait("return document.querySelectorAll('#ideas tr').length > 0");
    assert_eq!(browser.run("return document.querySelectorAll('.arrow .place').length > 0"), json!(true));
    browser.run("document.querySelector('#ideas .move').click()");
    browser.wait_for_text("status", "Line: ");
    browser.click("#line-leave");
    browser.cell(5);
    browser.wait_for_moves(6);
    browser.cell(1);
    browser.cell(7);
    browser.wait_for_moves(8);
    browser.cell(8);
    browser.wait("return document.documentElement.dataset.turn === 'over'");
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn a_game_of_drops_and_one_without_squares_are_played() {
    let browser = Browser::at(serve_own("three_drops"));
    browser.cell(7); // the top of the middle column: the stone falls
    browser.wait_for_moves(1);
    assert!(browser.label(1).starts_with("b1, White, x, last move"), "{}", browser.label(1));
    browser.choose("game", "scripted");
    browser.wait_for_text("drawing", "node 0, ply 0");
    assert!(!browser.shows("#board"));
    browser.click("#others button:last-child");
    browser.wait_for_moves(1);
    browser.wait_for_text("drawing", "node 4, ply 1");
    browser.click("#others button");
    browser.wait("return document.documentElement.dataset.turn === 'over'");
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn a_game_brings_its_own_rules_and_pieces_or_nothing_is_said_about_them() {
    let browser = Browser::at(serve_own("three"));
    browser.click("#menu-open");
    for hidden in ["#rules", "#learn"] {
        assert!(!browser.shows(hidden), "{hidden}");
    }
    assert_eq!(browser.text("agent"), "", "there is no evaluation, so nothing is said about alpha-beta");
    assert_eq!(
        browser.run("return document.querySelector('#strip-top .glyph')"),
        json!(null),
        "no piece of another game"
    );
    browser.click("#welcome-open");
    browser.wait("return document.getElementById('welcome-box').open");
    for hidden in ["#welcome-hint", "#welcome-text", "#welcome-learn"] {
        assert!(!browser.shows(hidden), "{hidden}");
    }
    let other = Browser::at(serve_own("three_drops"));
    other.cell(7);
    other.wait_for_moves(1);
    assert_eq!(other.run("return document.querySelectorAll('#board .piece .own').length"), json!(1));
    assert_eq!(other.run("return document.querySelectorAll('#board .piece .letter').length"), json!(0));
    other.cell(0);
    other.wait_for_moves(2);
    assert_eq!(other.text("agent"), "");
    other.click("#rules");
    other.wait_for_text("rules-text", "Three of your stones in a row.");
    assert_eq!(other.run("return document.querySelector('#board .letter').textContent"), json!("o"));
}
