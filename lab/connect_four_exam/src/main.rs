//! Makes an exam of connect four: positions with the exact result of every action, solved by the crate
//! connect-four-ai.
//!
//!     cargo run --release --bin connect_four_exam -- OUT [AGENT [POSITIONS [SEED [ONE_IN]]]]
//!
//! The solver's opening book ends at 8 stones, and with up to 15 its search can take seconds. Of positions with 8 to
//! 15 stones only one in `ONE_IN` is solved.

use std::env::args;
use std::error::Error;
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use connect_four_ai::Solver;
use connect_four_exam::board_of;
use connect_four_exam::exam::{Draw, Mix, Source};
use jarmo_judge::accuracy::Exam;
use jarmo_exact::agent::{Agent, AgentSpec, build};
use jarmo_core::env::Line;
use jarmo_core::game::{Game, Mask, Player, Proven};
use jarmo_core::games::connect_four::{COLUMNS, ROWS};
use jarmo_core::games::{ConnectFour, ConnectFourPosition};
use jarmo_core::random::{Draws, Stream, below};
use rand::Rng;
use rayon::prelude::*;

/// The circles of the board.
const CIRCLES: u32 = (COLUMNS * ROWS) as u32;

/// The numbers of stones with which a position takes long.
const SLOW: std::ops::RangeInclusive<u32> = 8..=15;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = args().skip(1).collect();
    let argument = |number: usize| arguments.get(number).map(String::as_str);
    let out = argument(0).ok_or("usage: connect_four_exam OUT [AGENT [POSITIONS [SEED [ONE_IN]]]]")?;
    let agent = argument(1).unwrap_or("checkpoints/connect_four.safetensors?sims=64");
    let agent: AgentSpec = agent.parse()?;
    let positions: usize = argument(2).unwrap_or("20000").parse()?;
    let seed: u64 = argument(3).unwrap_or("1").parse()?;
    let one_in: u32 = argument(4).unwrap_or("40").parse()?;

    let game = ConnectFour::new(0);
    let threads = rayon::current_num_threads();
    let agents: Result<Vec<Box<dyn Agent<ConnectFour>>>, _> =
        (0..threads).map(|_| build(game.clone(), &agent)).collect();
    let solvers: Vec<Mutex<Solver>> = (0..threads).map(|_| Mutex::new(Solver::new())).collect();
    let (begun, mut solved) = (Instant::now(), 0);
    let mut solve = |positions: &[ConnectFourPosition]| {
        let results: Vec<_> = positions
            .par_iter()
            .map(|position| {
                let thread = rayon::current_thread_index().unwrap_or(0);
                let mut solver = solvers[thread].lock().expect("no solver panics");
                is_kept(position, seed, one_in).then(|| results_of(&mut solver, &game, position))
            })
            .collect();
        solved += results.iter().flatten().count();
        eprintln!("{solved} positions solved in {:.0} s", begun.elapsed().as_secs_f64());
        results
    };
    let draw = Draw::new(&game, &mut solve, Mix::HalfCritical, seed);
    let random = |stream: &mut Stream| {
        let plies = 1 + below(stream.next_u64(), CIRCLES - 1);
        Line::random(&game, plies, stream).position
    };
    let name = "positions after 1 to 41 random plies";
    let solver = format!(
        "solved by connect-four-ai 1.0.0; of positions with {} to {} stones, which take seconds each, one in \
         {one_in} was solved",
        SLOW.start(),
        SLOW.end()
    );
    let exam: Exam<ConnectFour> = draw.exam(positions, &Source::ALL, random, name, &mut agents?, &solver);
    exam.save(Path::new(out))?;
    println!("{} questions, made by {}", exam.len(), exam.made());
    Ok(())
}

/// Whether a position is solved: always if that is quick.
fn is_kept(position: &ConnectFourPosition, seed: u64, one_in: u32) -> bool {
    let stones = Player::BOTH.map(|player| position.stones(player));
    let count = (stones[0] | stones[1]).count_ones();
    let lot = Draws::new(seed, stones[0]).bits(stones[1]);
    !SLOW.contains(&count) || below(lot, one_in) == 0
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
