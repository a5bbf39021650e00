//! Puzzles: those of the program are sound, and new ones can be made.

use jarmo::game::{Action, Game, Verdict};
use jarmo::games::{Jarmo, JarmoPosition};
use jarmo::puzzles::{Goal, Puzzle, shipped};
use jarmo::tables::Tables;

/// The only action that keeps the goal.
fn only(tables: &Tables, game: &Jarmo, position: &JarmoPosition, goal: Goal) -> Action {
    let wanted = match goal {
        Goal::Win => Verdict::Win,
        Goal::Draw => Verdict::Draw,
    };
    let values = tables
        .actions(game, position)
        .expect("tables of this force");
    assert_eq!(values[0].proven.verdict, wanted);
    assert!(
        values[1..]
            .iter()
            .all(|other| other.proven.verdict < wanted)
    );
    values[0].action
}

/// Checks with exact tables that each action of the player in the solution is the only right one.
fn check_by_tables(tables: &Tables, game: &Jarmo, puzzle: &Puzzle) {
    let mut position = game.parse_position(&puzzle.position).unwrap();
    let player = game.to_move(&position);
    for text in &puzzle.line {
        if game.to_move(&position) == player {
            let right = only(tables, game, &position, puzzle.goal);
            assert_eq!(game.action_text(&position, right), *text, "{puzzle:?}");
        }
        game.play_text(&mut position, text).unwrap();
    }
}

#[test]
fn the_puzzles_of_the_program_are_sound() {
    let game = Jarmo::standard();
    let puzzles = shipped("jarmo").unwrap();
    assert_eq!(puzzles.len(), 200);
    assert!(puzzles.is_sorted_by_key(|puzzle| puzzle.rating));
    const FORCE: u32 = 5;
    let tables = Tables::solve(&game, FORCE).unwrap();
    let mut checked = 0;
    for puzzle in puzzles {
        puzzle.check(&game).unwrap();
        let wins = puzzle.goal == Goal::Win;
        assert_eq!(wins, puzzle.plies.is_some(), "{puzzle:?}");
        if game.parse_position(&puzzle.position).unwrap().force() <= FORCE {
            check_by_tables(&tables, &game, puzzle);
            checked += 1;
        }
    }
    assert!(checked >= 4, "{checked}");
    assert_eq!(shipped("tammi"), None);
}

#[test]
fn a_puzzle_that_does_not_hold_together_is_refused() {
    let game = Jarmo::standard();
    let good = &shipped("jarmo").unwrap()[0];
    let check = |puzzle: Puzzle| puzzle.check(&game).unwrap_err().to_string();
    let other = Puzzle {
        game: "tammi".to_owned(),
        ..good.clone()
    };
    assert!(check(other).contains("belongs to tammi, not to jarmo"));
    let mut short = good.clone();
    short.line.pop();
    assert!(check(short).contains("must end with an action of the player"));
    let mut illegal = good.clone();
    illegal.line[0] = "A1-A1".to_owned();
    assert!(check(illegal).contains("solution: "));
    let error = Puzzle::parse(r#"{"game":"jarmo","goal":"lose"}"#).unwrap_err();
    assert!(
        error.to_string().contains("unknown variant `lose`"),
        "{error}"
    );
}

#[test]
fn puzzles_are_made_from_tables() {
    use assert_cmd::prelude::*;
    use predicates::str::contains;

    let folder = tempfile::tempdir().unwrap();
    let tables = folder.path().join("tables");
    let tables = tables.to_str().unwrap();
    let jarmo = |arguments: &[&str]| {
        let mut command = std::process::Command::cargo_bin("jarmo").unwrap();
        command.args(arguments);
        command
    };
    jarmo(&["tables", "build", "--force", "4", "--out", tables])
        .assert()
        .success();
    let out = folder.path().join("new.puzzles");
    let path = out.to_str().unwrap();
    let make = [
        "tables",
        "puzzles",
        tables,
        "--out",
        path,
        "--count",
        "5",
        "--positions",
        "30",
    ];
    jarmo(&make)
        .assert()
        .success()
        .stderr(contains("5 puzzles"));
    let text = std::fs::read_to_string(&out).unwrap();
    let puzzles: Vec<Puzzle> = text
        .lines()
        .map(|line| Puzzle::parse(line).unwrap())
        .collect();
    assert_eq!(puzzles.len(), 5);
    let game = Jarmo::standard();
    let tables = Tables::solve(&game, 4).unwrap();
    for puzzle in &puzzles {
        puzzle.check(&game).unwrap();
        check_by_tables(&tables, &game, puzzle);
    }
    let no_network = [&make[..], &["--solver", "greedy"]].concat();
    jarmo(&no_network)
        .assert()
        .code(2)
        .stderr(contains("agent `greedy` has no network"));
}
