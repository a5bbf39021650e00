//! Checks an exam of connect four with a second solver, the crate connect-four-ai.
//!
//!     cargo run --release --bin connect_four_exam -- EXAM [QUESTIONS [SLOW_ONE_IN]]
//!
//! Questions are taken at equal distances. The solver's opening book ends at 8 stones, and with up to 15 its search can
//! take seconds, so of these only one in `SLOW_ONE_IN` is solved.

use std::env::args;
use std::error::Error;
use std::path::Path;
use std::time::Instant;

use connect_four_ai::Solver;
use connect_four_exam::board_of;
use jarmo_core::game::{Game, Mask, Proven};
use jarmo_core::games::connect_four::{COLUMNS, ROWS};
use jarmo_core::games::{ConnectFour, ConnectFourPosition};
use jarmo_judge::accuracy::{Exam, Question};
use rayon::prelude::*;

/// The circles of the board.
const CIRCLES: u32 = (COLUMNS * ROWS) as u32;

/// The numbers of stones with which a position takes long.
const SLOW: std::ops::RangeInclusive<u32> = 8..=15;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = args().skip(1).collect();
    let argument = |number: usize| arguments.get(number).map(String::as_str);
    let path = argument(0).ok_or("usage: connect_four_exam EXAM [QUESTIONS [SLOW_ONE_IN]]")?;
    let wanted: usize = argument(1).unwrap_or("1000").parse()?;
    let one_in: usize = argument(2).unwrap_or("1").parse()?;

    let game = ConnectFour::new(0);
    let exam: Exam<ConnectFour> = Exam::load(&game, Path::new(path))?;
    let step = (exam.len() / wanted.max(1)).max(1);
    let chosen = exam.questions().iter().step_by(step).take(wanted);
    let is_slow = |question: &&Question<_>| SLOW.contains(&game.ply(&question.position));
    let (slow, mut taken): (Vec<_>, Vec<_>) = chosen.partition(is_slow);
    let quick = taken.len();
    taken.extend(slow.iter().step_by(one_in.max(1)).copied());
    let begun = Instant::now();
    let differ = |solver: &mut Solver, question: &&Question<_>| {
        let differs = results_of(solver, &game, &question.position) != question.results;
        if differs {
            eprintln!("{}", game.position_text(&question.position));
        }
        differs
    };
    let differing: Vec<bool> = taken.par_iter().map_init(Solver::new, differ).collect();
    println!(
        "{} questions solved, {} of them with {} to {} stones; {} differ; {:.0} s",
        taken.len(),
        taken.len() - quick,
        SLOW.start(),
        SLOW.end(),
        differing.iter().filter(|differs| **differs).count(),
        begun.elapsed().as_secs_f64()
    );
    Ok(())
}

/// The result of each legal action for the player to move.
fn results_of(solver: &mut Solver, game: &ConnectFour, position: &ConnectFourPosition) -> Vec<Proven> {
    let scores = solver.get_all_move_scores(&board_of(position));
    let ply = game.ply(position);
    let legal = game.legal(position);
    let score = |column: usize| scores[column].expect("the solver knows the legal columns");
    legal.iter().map(|action| result_of(score(action.index()), ply)).collect()
}

/// The result of an action in a position with `ply` stones. A score of `n` means that the winner ends the game
/// with the `n`-th last stone of its side; the score is negative for a loss.
fn result_of(score: i8, ply: u32) -> Proven {
    let to_last = 2 * u32::from(score.unsigned_abs()); // stones of both sides
    // The last stone of the first player is number 41, that of the second number 42.
    let last_of = |second: bool| CIRCLES - 1 + u32::from(second);
    let mover_is_second = ply % 2 == 1;
    match score {
        0 => Proven::DRAW,
        1.. => Proven::win(last_of(mover_is_second) + 2 - to_last - ply),
        _ => Proven::loss(last_of(!mover_is_second) + 2 - to_last - ply),
    }
}
