//! Puzzles: those of the program are sound, and new ones can be made.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use assert_cmd::Command;
use jarmo_core::game::{Action, Game, Mask, Verdict};
use jarmo_core::games::{ConnectFour, Jarmo, Tammi};
use jarmo_exact::tables::{BuildSettings, Solvable, Tables, build};
use jarmo_judge::accuracy::Exam;
use jarmo_judge::puzzles::{Goal, Puzzle, shipped};
use lab::puzzles::{Solver, Truth};
use predicates::str::contains;

/// The only action that keeps the goal.
fn only<G: Solvable>(tables: &Tables<G>, game: &G, position: &G::Position, goal: Goal) -> Action {
    let wanted = match goal {
        Goal::Win => Verdict::Win,
        Goal::Draw => Verdict::Draw,
    };
    let values = tables.actions(game, position).expect("tables of this force");
    assert_eq!(values[0].proven.verdict, wanted);
    assert!(values[1..].iter().all(|other| other.proven.verdict < wanted));
    values[0].action
}

/// Checks with exact tables that each action of the player in the solution is the only right one.
fn check_by_tables<G: Solvable>(tables: &Tables<G>, game: &G, puzzle: &Puzzle) {
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
    const FORCE: u32 = 6;
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
    assert!(checked >= 30, "{checked}");
    assert_eq!(shipped("guard"), None);
}

#[test]
fn the_puzzles_of_tammi_are_sound() {
    let game = Tammi::standard();
    let puzzles = shipped("tammi").unwrap();
    assert_eq!(puzzles.len(), 200);
    assert!(puzzles.is_sorted_by_key(|puzzle| puzzle.rating));
    const FORCE: u32 = 4;
    let tables = Tables::solve(&game, FORCE).unwrap();
    let mut checked = 0;
    for puzzle in puzzles {
        puzzle.check(&game).unwrap();
        let mut position = game.parse_position(&puzzle.position).unwrap();
        assert!(puzzle.plies.is_none() && position.jumper().is_none(), "{puzzle:?}");
        if Tammi::force(&position) <= FORCE {
            check_by_tables(&tables, &game, puzzle);
            checked += 1;
        }
        // The players take turns, and nothing is asked twice.
        let solver = game.to_move(&position);
        for text in &puzzle.line {
            let player = game.to_move(&position);
            assert!(player != solver || position.repeats() == 0, "{puzzle:?}");
            game.play_text(&mut position, text).unwrap();
            assert!(game.to_move(&position) != player || game.outcome(&position).is_some(), "{puzzle:?}");
        }
    }
    assert!(checked >= 80, "{checked}");
}

#[test]
fn puzzles_of_tammi_are_made_from_an_exam() {
    let folder = tempfile::tempdir().unwrap();
    let game = Tammi::standard();
    let settings = BuildSettings { force: 2, save_every: Duration::from_secs(1000) };
    build(&game, folder.path(), settings, &mut |_| {}).unwrap();
    let exam = concat!(env!("CARGO_MANIFEST_DIR"), "/../checkpoints/tammi.exam");
    let out = folder.path().join("new.puzzles");
    let mut lab = Command::cargo_bin("lab").unwrap();
    lab.arg("puzzles").arg(folder.path()).args(["--exam", exam, "--out"]).arg(&out).assert().success();
    let tables = Tables::solve(&game, 2).unwrap();
    let text = std::fs::read_to_string(&out).unwrap();
    let puzzles: Vec<Puzzle> = text.lines().map(|line| Puzzle::parse(line).unwrap()).collect();
    // Two pieces, and a single action that is better than all others and does not lose.
    let exam = Exam::load(&game, Path::new(exam)).unwrap();
    let questions = exam.questions().iter().filter(|question| {
        let verdicts = || question.results.iter().map(|result| result.verdict);
        let best = verdicts().max().unwrap();
        let single = verdicts().filter(|&verdict| verdict == best).count() == 1;
        single && best != Verdict::Loss && tables.proven(&question.position).is_some()
    });
    let questions: HashSet<String> = questions.map(|question| game.position_text(&question.position)).collect();
    // Positions with few legal actions, and solutions that go in circles, are left out.
    assert!(puzzles.len() >= 40, "{} of {}", puzzles.len(), questions.len());
    let positions: HashSet<String> = puzzles.iter().map(|puzzle| puzzle.position.clone()).collect();
    assert!(positions.len() == puzzles.len() && positions.is_subset(&questions), "{positions:?}");
    for puzzle in &puzzles {
        puzzle.check(&game).unwrap();
        check_by_tables(&tables, &game, puzzle);
    }
}

#[test]
fn puzzles_are_made_from_tables() {
    let folder = tempfile::tempdir().unwrap();
    let game = Jarmo::standard();
    let settings = BuildSettings { force: 4, save_every: Duration::from_secs(1000) };
    build(&game, folder.path(), settings, &mut |_| {}).unwrap();
    let lab = |more: &[&str]| {
        let mut command = Command::cargo_bin("lab").unwrap();
        command.arg("puzzles").arg(folder.path()).args(more);
        command.assert()
    };
    let out = folder.path().join("new.puzzles");
    let path = out.to_str().unwrap();
    let make = ["--out", path, "--count", "5", "--positions", "30"];
    lab(&make).success().stderr(contains("5 puzzles"));
    let text = std::fs::read_to_string(&out).unwrap();
    let puzzles: Vec<Puzzle> = text.lines().map(|line| Puzzle::parse(line).unwrap()).collect();
    assert_eq!(puzzles.len(), 5);
    let tables = Tables::solve(&game, 4).unwrap();
    for puzzle in &puzzles {
        puzzle.check(&game).unwrap();
        check_by_tables(&tables, &game, puzzle);
    }
    let no_network = [&make[..], &["--solver", "greedy"]].concat();
    lab(&no_network).code(1).stderr(contains("agent `greedy` has no network"));
}

#[test]
fn the_solver_of_connect_four_agrees_with_the_exam() {
    let game = ConnectFour::new(0);
    let exam = Exam::built_in(&game).unwrap();
    let solver = Solver::new();
    let (mut solved, mut early) = (0, 0);
    for question in exam.questions().iter().step_by(40) {
        let position = &question.position;
        let stones = game.ply(position);
        match solver.actions(&game, position) {
            Some(values) => {
                for (action, result) in game.legal(position).iter().zip(&question.results) {
                    let found = values.iter().find(|value| value.action == action).unwrap();
                    assert_eq!(found.proven, *result, "{}", game.position_text(position));
                }
                solved += 1;
            }
            None => {
                assert!(stones < 18, "{stones}");
                early += 1;
            }
        }
    }
    assert!(solved > 200 && early > 20, "{solved}, {early}");
}

#[test]
fn the_puzzles_of_connect_four_are_sound() {
    let game = ConnectFour::new(0);
    let puzzles = shipped("connect_four").unwrap();
    assert_eq!(puzzles.len(), 200);
    assert!(puzzles.is_sorted_by_key(|puzzle| puzzle.rating));
    let solver = Solver::new();
    for puzzle in puzzles {
        puzzle.check(&game).unwrap();
        let mut position = game.parse_position(&puzzle.position).unwrap();
        let player = game.to_move(&position);
        let wanted = match puzzle.goal {
            Goal::Win => Verdict::Win,
            Goal::Draw => Verdict::Draw,
        };
        for text in &puzzle.line {
            if game.to_move(&position) == player {
                let values = solver.actions(&game, &position).unwrap();
                let (first, others) = values.split_first().unwrap();
                assert_eq!(first.proven.verdict, wanted, "{puzzle:?}");
                assert_eq!(game.action_text(&position, first.action), *text, "{puzzle:?}");
                assert!(others.iter().all(|one| one.proven.verdict < wanted), "{puzzle:?}");
            }
            game.play_text(&mut position, text).unwrap();
        }
    }
}
