//! Parsing text: every error names the field, and no text makes a parser panic.

use crate::common;
use jarmo::Games;
use jarmo::catalog::{CatalogGame, GAMES, GameSettings, GameTask, with_game};
use jarmo::game::{Game, Mask, conformance};
use jarmo::games::board::Board;
use jarmo::games::{ConnectFour, Guard, Jarmo, Tammi};
use proptest::prelude::*;

/// The field an error names, and the whole message.
fn refusal<G: Game>(game: &G, text: &str) -> (&'static str, String) {
    let error = game.parse_position(text).expect_err(text);
    (error.field, error.to_string())
}

fn check_refusals<G: Game>(game: &G, cases: &[(&str, &str, &str)]) {
    for (text, field, part) in cases {
        let (named, message) = refusal(game, text);
        assert_eq!(named, *field, "{text}: {message}");
        assert!(message.contains(part), "{text}: {message}");
    }
}

#[test]
fn jarmo_positions_are_refused_by_field() {
    check_refusals(
        &Jarmo::standard(),
        &[
            ("", "position", "expected 5 fields separated by single spaces"),
            ("bbbbb/5/5/5/wwwww w - - 0 0", "position", "found 6"),
            ("bbbbb/5/5/5/wwwww  w - - 0", "position", "found 6"),
            ("bbbbb/5/5/wwwww w - - 0", "board", "4 rows, expected 5"),
            ("bbbbb/5/5/5/wwww w - - 0", "board", "row 1 has only 4 places"),
            ("bbbbb/5/6/5/wwwww w - - 0", "board", "row 3 has at least 6 places"),
            ("bbbbb/5/5/5/wwxww w - - 0", "board", "`x`"),
            ("bbbbb/5/5/0/wwwww w - - 0", "board", "`0`"),
            ("5/2b2/5/w4/wwwww w - - 0", "board", "white has 6 archers"),
            ("bbbbb/5/5/5/wwwwW w - - 0", "board", "10 archers and 1 marks"),
            ("bbbbb/5/5/5/wwwww x - - 0", "to move", "expected `w` or `b`"),
            ("bbbbb/5/5/5/wwwww w A1-C2 - 0", "white's shuttle", "A1-C2*3"),
            ("bbbbb/5/5/5/wwwww w A1-C1*2 - 0", "white's shuttle", "no line leads"),
            ("bbbbb/5/5/5/wwwww w A1xC2*2 - 0", "white's shuttle", "expected"),
            ("bbbbb/5/5/5/wwwww w - A1-C2*5 0", "black's shuttle", "1 to 4"),
            ("bbbbb/5/5/5/wwwww w - A1-C2*0 0", "black's shuttle", "1 to 4"),
            ("bbbbb/5/5/5/wwwww w A1-C2*04 - 0", "white's shuttle", "expected"),
            ("bbbbb/5/5/5/wwwww w A1-C2*+4 - 0", "white's shuttle", "expected"),
            ("bbbbb/5/5/5/wwwww w A5-B3*1 - 0", "white's shuttle", "never moves again"),
            ("bbbb1/5/5/5/wwwww w D3-E5*2 - 0", "white's shuttle", "never moves again"),
            ("bbbbb/5/5/5/wwwww w - - 007", "ply", "expected a number"),
            ("bbbbb/5/5/5/wwwww w - - -1", "ply", "expected a number"),
            ("bbbbb/5/5/5/wwwww w - - 99999999999", "ply", "expected a number"),
        ],
    );
}

#[test]
fn guard_positions_are_refused_by_field() {
    check_refusals(
        &Guard::standard(),
        &[
            ("bbbbb/5/5/5/wwwww w start 0,0 0,0 0", "position", "found 6"),
            ("bbbbb/5/5/5/wwwww w begin 0,0 0,0 0 0", "start/moved", "`start` or `moved`"),
            ("bbbbb/5/5/5/wwwww w start 0 0,0 0 0", "captured archers", "two numbers"),
            ("bbbbb/5/5/5/wwwww w start 1,0 0,0 0 0", "captured archers", "below zero"),
            ("5/2b2/5/5/ww3 w start 6,0 0,0 0 0", "captured archers", "from 0 to 5"),
            ("bbbbb/5/5/5/wwwww w start 0,0 1,0 0 0", "placements in hand", "at most 0 placements"),
            ("5/5/3W1/2b2/5 w start 4,0 1,0 0 0", "placements in hand", "at most 0 placements"),
            ("bbbbb/5/5/5/wwwww w moved 0,0 0,0 0 1", "start/moved", "ended with the move"),
            ("2W2/5/2b2/2w2/1w3 w moved 1,0 1,0 1 9", "passes", "expected 0"),
            ("bbbbb/5/5/5/wwwww w start 0,0 0,0 3 0", "passes", "at most 2"),
            ("5/w1b2/5/5/wwwww w start 0,0 0,0 0 0", "board", "6 pieces"),
        ],
    );
}

#[test]
fn tammi_positions_are_refused_by_field() {
    check_refusals(
        &Tammi::standard(),
        &[
            ("8/8/8/8/8/8/8/1w6 w - 0 0", "board", "b1 is a light square"),
            ("5w2/8/8/8/8/8/8/8 w - 0 0", "board", "it would be a king"),
            ("8/8/8/8/8/8/8/b7 w - 0 0", "board", "a1 is on its far row"),
            ("8/8/8/8/8/8/8/w7 w - 61 0", "plies without capture", "at most 30"),
            ("8/8/5b2/4w3/3b4/8/8/w7 w e5xd4 30 1", "plies without capture", "at most 29"),
            ("8/8/5b2/4w3/3b4/8/8/w7 w e5xd4,d4 3 1", "capture in progress", "named twice"),
            ("8/8/8/8/8/8/8/w7 w e5 0 0", "capture in progress", "e5xd4,f6"),
            ("8/8/8/8/8/8/8/w7 w a1xb2 0 0", "capture in progress", "black has no piece on b2"),
            ("8/8/8/8/8/8/1b6/w7 w c3xb2 0 0", "capture in progress", "white has no piece on c3"),
            ("8/8/8/8/8/2b5/1b6/w7 w a1xb2 0 0", "capture in progress", "would be over"),
            ("8/w1w1w1w1/1w1w1w1w/w1w1w1w1/1w6/8/8/8 w - 0 0", "board", "13 pieces"),
        ],
    );
}

#[test]
fn connect_four_positions_are_refused_by_field() {
    check_refusals(
        &ConnectFour::new(0),
        &[
            ("7/7/7/7/7 w 0", "board", "5 rows"),
            ("7/7/7/7/w6/7 b 1", "board", "column A has a stone above"),
            ("7/7/7/7/7/ww5 w 2", "board", "2 stones of the first player and 0 of the second"),
            ("7/7/7/7/7/w6 w 1", "to move", "it is `b`"),
            ("7/7/7/7/7/w6 b 2", "ply", "there are 1 stones"),
            ("7/7/7/7/bbb4/wwwwb2 w 8", "board", "already has four in a line"),
        ],
    );
}

#[test]
fn moves_are_read_leniently_where_the_rules_say_so() {
    let game = Jarmo::standard();
    let position = game.parse_position("5/2b2/5/1b3/w4 w - - 0").unwrap();
    let read = |text: &str| game.parse_action(&position, text);
    assert_eq!(read("a1-b3"), read("A1-B3"));
    let capture = game.parse_position("5/2b2/1b3/5/w4 w - - 0").unwrap();
    assert_eq!(game.parse_action(&capture, "a1-b3"), game.parse_action(&capture, "A1xB3"));
    assert!(read("A1xB3").is_err(), "nothing to capture");
    for (text, part) in [
        ("A1-C1", "no line leads from A1 to C1"),
        ("A1-F9", "expected a move"),
        ("@F1", "not a circle"),
        ("@A5", "row 1 only"),
        ("", "expected a move"),
        ("A1–C2", "expected a move"),
    ] {
        let message = read(text).unwrap_err().to_string();
        assert!(message.contains(part), "{text}: {message}");
    }
}

#[test]
fn a_board_with_errors_is_refused_with_the_line() {
    let standard = include_str!("../../crates/core/src/games/board/standard.toml");
    let with = |old: &str, new: &str| {
        assert!(standard.contains(old));
        Board::from_toml(&standard.replacen(old, new, 1)).expect_err(new).to_string()
    };
    let cases = [
        ("\"A1-B3\"", "\"A1-F3\"", "line 1 `A1-F3`: `F3` is not a circle"),
        ("\"A1-B3\"", "\"A1-A1\"", "two different circles"),
        ("\"A1-B3\"", "\"A1B3\"", "expected two circles"),
        ("\"A1-C2\"", "\"B3-A1\"", "line 2 `B3-A1` repeats line 1 `A1-B3`"),
        ("name", "title", "title"),
        ("\"A1-B3\",", "\"A1-B3\"; ", "not a board file"),
    ];
    for (old, new, part) in cases {
        let message = with(old, new);
        assert!(message.contains(part), "{message}");
    }
    let lonely = standard.replace("\"A1-B3\", \"A1-C2\",", "");
    let message = Board::from_toml(&lonely).unwrap_err().to_string();
    assert_eq!(message, "circle A1 has no line");
    let mut rows = Vec::new();
    for row in 1..=5 {
        let columns = ["A", "B", "C", "D", "E"];
        rows.extend(columns.windows(2).map(|pair| format!("\"{}{row}-{}{row}\"", pair[0], pair[1])));
    }
    let rows = format!("name = \"rows\"\nlines = [{}]", rows.join(","));
    let message = Board::from_toml(&rows).unwrap_err().to_string();
    assert_eq!(message, "white's goal row 5 cannot be reached from A1");
    let mut every = Vec::new();
    for column in "ABCDE".chars() {
        for row in 1..=5 {
            every.extend(
                "ABCDE".chars().filter(|other| *other > column).map(|other| format!("\"{column}{row}-{other}{row}\"")),
            );
            every.extend((row + 1..=5).map(|above| format!("\"{column}{row}-{column}{above}\"")));
        }
    }
    let with_lines = |count: usize| {
        Board::from_toml(&format!("name = \"many\"\nlines = [{}]", every[every.len() - count..].join(",")))
    };
    assert_eq!(every.len(), 100);
    let message = with_lines(62).unwrap_err().to_string();
    assert_eq!(message, "62 lines; a board has at most 61");
    let escape = "name = \"x\"\nlines = [\"A1-\\u001b[31m\"]";
    assert!(!Board::from_toml(escape).unwrap_err().to_string().contains('\u{1b}'));
}

#[test]
fn the_drawn_board_shows_pieces_lines_and_bans() {
    let game = Jarmo::standard();
    let position = game.parse_position("2B2/w3b/5/4b/2b2 w C3-A4*4 - 20").unwrap();
    let drawn = game.display(&position).to_string();
    assert_eq!(drawn.lines().count(), 17 + 1 + 1 + 1);
    assert!(drawn.starts_with("5  ( )"));
    assert!(drawn.contains("(B)") && drawn.contains("(w)"));
    assert!(drawn.contains("white may not play A4-C3"));
    assert!(drawn.chars().filter(|c| ('\u{2800}'..'\u{28ff}').contains(c)).count() > 100);
    assert!(drawn.lines().all(|line| line.chars().count() <= 80 && line == line.trim_end()));
}

/// Feeds texts near a legal position and near a legal action to the parsers.
struct Fuzz<'a> {
    text: &'a str,
    cut: usize,
    steps: usize,
}

impl GameTask for Fuzz<'_> {
    type Output = ();

    fn run<G: CatalogGame>(self, game: G) {
        let start = game.start();
        let _ = game.parse_position(self.text);
        let _ = game.parse_action(&start, self.text);
        let mut choose = common::chooser(self.steps as u64);
        let mut position = start;
        for _ in 0..self.steps {
            let legal = game.legal(&position);
            if legal.is_empty() {
                break;
            }
            game.play(&mut position, legal.nth(choose(legal.count() as usize) as u32));
        }
        // The text of a legal position with other text inserted.
        let real = game.position_text(&position);
        let cut = self.cut % real.len();
        let mixed = format!("{}{}{}", &real[..cut], self.text, &real[cut..]);
        let swapped = format!("{}{}", &real[..cut], self.text);
        for text in [mixed, swapped] {
            if let Ok(read) = game.parse_position(&text) {
                // An accepted position must be playable and survive a round trip.
                let again = game.parse_position(&game.position_text(&read)).unwrap();
                assert_eq!(game.position_text(&again), game.position_text(&read));
                for action in game.legal(&read).iter() {
                    let mut next = read;
                    game.play(&mut next, action);
                    conformance::check_position(&game, &next);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(3000) })]

    #[test]
    fn no_text_makes_a_parser_panic(
        text in prop_oneof![".{0,12}", "[a-hA-Ewbx@*,0-9 /-]{0,12}", "[wbWB1-8/]{0,6}"],
        cut in 0_usize..100,
        steps in 0_usize..80,
        game in prop::sample::select(&GAMES[..]),
    ) {
        let fuzz = Fuzz { text: &text, cut, steps };
        with_game(game, &GameSettings::default(), fuzz).unwrap();
        let _ = Board::from_toml(&text);
        let mut out = Vec::new();
        let line = format!("{{\"game\":\"{game}\",\"position\":{text:?},\"moves\":[{text:?}]}}");
        for input in [text.as_bytes(), line.as_bytes()] {
            jarmo::probe::trace(&Games::shipped(), &GameSettings::default(), input, &mut out).unwrap();
        }
    }
}
