//! Puzzles as files. `lab` makes them, and checks those that are part of the program.

use jarmo::games::Jarmo;
use jarmo::puzzles::{Puzzle, shipped};

#[test]
fn a_puzzle_that_does_not_hold_together_is_refused() {
    let game = Jarmo::standard();
    let good = &shipped("jarmo").unwrap()[0];
    let check = |puzzle: Puzzle| puzzle.check(&game).unwrap_err().to_string();
    let other = Puzzle { game: "tammi".to_owned(), ..good.clone() };
    assert!(check(other).contains("belongs to tammi, not to jarmo"));
    let mut short = good.clone();
    short.line.pop();
    assert!(check(short).contains("must end with an action of the player"));
    let mut illegal = good.clone();
    illegal.line[0] = "A1-A1".to_owned();
    assert!(check(illegal).contains("solution: "));
    let error = Puzzle::parse(r#"{"game":"jarmo","goal":"lose"}"#).unwrap_err();
    assert!(error.to_string().contains("unknown variant `lose`"), "{error}");
}
