//! Every game against its recorded games, its perft counts and the contract of `Game`.

use std::collections::BTreeMap;
use std::path::Path;

use crate::common;
use jarmo::Games;
use jarmo::catalog::{CatalogGame, GAMES, GameSettings, GameTask, with_game};
use jarmo::game::{Game, Mask, Outcome, Player, conformance, divide, perft};
use jarmo::games::scripted::Node;
use jarmo::games::{Guard, Jarmo, Scripted};
use jarmo::probe;

#[test]
fn golden_games_are_traced_byte_for_byte() {
    for (name, games) in [("jarmo", 32), ("guard", 32), ("tammi", 32)] {
        let path = Path::new("tests/data/golden").join(format!("{name}.jsonl"));
        let input = std::fs::read_to_string(&path).unwrap();
        assert_eq!(input.lines().count(), games);
        let expected: Vec<String> = input
            .lines()
            .flat_map(|line| {
                // The trace is the last key of the line, and its objects are written like the probe's.
                let trace = line.split_once("\"trace\":[").unwrap().1;
                let trace = trace.strip_suffix("]}").unwrap();
                trace.replace("},{\"position\"", "}\n{\"position\"").lines().map(str::to_owned).collect::<Vec<_>>()
            })
            .collect();
        let mut out = Vec::new();
        assert!(probe::trace(&Games::shipped(), &GameSettings::default(), input.as_bytes(), &mut out).unwrap());
        let written = String::from_utf8(out).unwrap();
        assert_eq!(written.lines().count(), expected.len(), "{name}");
        for (written, expected) in written.lines().zip(&expected) {
            assert_eq!(written, expected, "{name}");
        }
    }
}

#[derive(serde::Deserialize)]
struct PerftTable {
    counts: BTreeMap<String, Vec<u64>>,
}

struct PerftTask<'a>(&'a [u64]);

impl GameTask for PerftTask<'_> {
    type Output = ();

    fn run<G: CatalogGame>(self, game: G) {
        let start = game.start();
        for (turns, &count) in (1..).zip(self.0) {
            assert_eq!(perft(&game, &start, turns), count, "{} {turns}", game.id());
            let split: u64 = divide(&game, &start, turns).map(|part| part.1).sum();
            assert_eq!(split, count, "{} {turns} divided", game.id());
        }
        assert_eq!(perft(&game, &start, 0), 1);
    }
}

#[test]
fn perft_counts_are_those_of_the_table() {
    let table = std::fs::read_to_string("tests/data/perft.toml").unwrap();
    let table: PerftTable = toml::from_str(&table).unwrap();
    assert_eq!(table.counts.len(), GAMES.len());
    let no_limit = GameSettings { max_plies: Some(0), ..GameSettings::default() };
    for (name, counts) in &table.counts {
        with_game(name, &no_limit, PerftTask(counts)).unwrap();
    }
}

/// Runs the shared checks on random games; long games, and games cut off after 40 plies.
struct ConformanceTask;

impl GameTask for ConformanceTask {
    type Output = ();

    fn run<G: CatalogGame>(self, game: G) {
        conformance::check(&game, 15, &mut common::chooser(1));
        let short = game.with_max_plies(40);
        conformance::check(&short, 15, &mut common::chooser(2));
    }
}

#[test]
fn every_game_keeps_the_contract() {
    for name in GAMES {
        with_game(name, &GameSettings::default(), ConformanceTask).unwrap();
    }
    let branch = || Node::white([Node::end(1, 0), Node::black([Node::end(0, 2), Node::end(1, 1)])]);
    let tree = Node::white([branch(), Node::white([branch(), Node::end(3, 3)])]);
    conformance::check(&Scripted::new(&tree), 50, &mut common::chooser(3));
}

#[test]
fn perft_counts_turns_not_actions() {
    let game = Scripted::new(&Node::white([
        Node::white([Node::end(1, 0), Node::end(0, 1)]),
        Node::white([Node::black([Node::end(0, 1), Node::end(1, 1), Node::end(2, 1)])]),
    ]));
    let start = game.start();
    assert_eq!(perft(&game, &start, 1), 3, "two ends and one change of turn");
    assert_eq!(perft(&game, &start, 2), 3, "games that ended earlier do not count");
    // White moves, moves again, and the game ends with White still to move.
    let position = game.parse_position("1 1").unwrap();
    assert_eq!(perft(&game, &position, 1), 2);
}

#[test]
fn jarmos_force_never_grows_and_captured_archers_add_up() {
    let game = Jarmo::standard();
    let mut choose = common::chooser(21);
    let mut fell = 0;
    for _ in 0..300 {
        let mut position = game.start();
        assert_eq!(position.force(), 10);
        while game.outcome(&position).is_none() {
            let before = position.force();
            let legal = game.legal(&position);
            game.play(&mut position, legal.nth(choose(legal.count() as usize) as u32));
            assert!(position.force() <= before, "{}", game.position_text(&position));
            fell += before - position.force();
            for player in Player::BOTH {
                let on_board = position.archers(player).count();
                assert_eq!(position.captured(player) + on_board, 5);
            }
        }
    }
    assert!(fell > 300);
}

#[test]
fn a_scripted_game_follows_its_tree_and_its_mover_may_repeat() {
    let game = Scripted::new(&Node::white([Node::white([Node::end(0, 1)]), Node::black([Node::end(2, 0)])]));
    let mut position = game.start();
    game.play_text(&mut position, "0").unwrap();
    assert_eq!(game.to_move(&position), game.to_move(&game.start()));
    game.play_text(&mut position, "0").unwrap();
    assert_eq!(game.outcome(&position), Some(Outcome::by_score([0, 1])));
    assert!(game.play_text(&mut position, "0").is_err());
}

#[test]
fn another_board_is_played_by_the_same_rules() {
    // A ladder: five columns with lines straight up, and one across each row but the ends.
    let mut lines: Vec<String> = Vec::new();
    for column in "ABCDE".chars() {
        lines.extend((1..5).map(|row| format!("\"{column}{row}-{column}{}\"", row + 1)));
    }
    lines.extend(["\"A3-B3\"".into(), "\"B3-C3\"".into(), "\"C3-D3\"".into(), "\"D3-E3\"".into()]);
    let text = format!("name = \"ladder\"\nlines = [{}]", lines.join(", "));
    let board = jarmo::games::board::Board::from_toml(&text).unwrap();
    assert_eq!(board.lines().len(), 24);
    let game = Jarmo::new(board.clone(), 100);
    assert_eq!(game.actions(), 2 * 24 + 5 + 1);
    assert_eq!(perft(&game, &game.start(), 2), 25);
    conformance::check(&game, 20, &mut common::chooser(4));
    conformance::check(&Guard::new(board, 100), 20, &mut common::chooser(5));
}
