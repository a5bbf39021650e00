//! Counts the mistakes of players of connect four in recorded games, with the solver of the crate
//! connect-four-ai.
//!
//!     cargo run --release --bin connect_four_mistakes -- GAMES
//!
//! GAMES has one game record per line, as `jarmo arena --games-out` writes them. A mistake turns a win into a draw or a
//! loss, or a draw into a loss. Games with the same moves count once: both games of an opening are the same if an agent
//! plays itself. Positions are solved from the end of a game on, because each solution helps with the one before; a game
//! takes some two seconds.

use std::collections::HashSet;
use std::env::args;
use std::error::Error;
use std::fs;

use connect_four_ai::Solver;
use connect_four_exam::board_of;
use jarmo_core::game::{Game, Player};
use jarmo_core::games::{ConnectFour, ConnectFourPosition};
use jarmo_core::record::GameRecord;
use rayon::prelude::*;

/// The plies that are counted together.
const RANGE: usize = 3;

/// The two-sided 95 % quantile of the normal distribution.
const Z_95: f64 = 1.96;

/// The decisions at some plies.
#[derive(Clone, Copy, Default)]
struct Decisions {
    count: u32,
    mistakes: u32,
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = args().nth(1).ok_or("usage: connect_four_mistakes GAMES")?;
    let game = ConnectFour::new(0);
    let (mut games, mut seen) = (Vec::new(), HashSet::new());
    for line in fs::read_to_string(&path)?.lines() {
        let record = GameRecord::parse(line)?;
        let replayed = record.replay(&game)?;
        if seen.insert(record.moves) {
            let positions = replayed.positions(&game);
            games.push((record.opening_plies.unwrap_or(0), positions));
        }
    }
    let solve = |solver: &mut Solver, (first, positions): &(usize, Vec<_>)| mistakes(solver, &game, positions, *first);
    let counts: Vec<Vec<(usize, bool)>> = games.par_iter().map_init(Solver::new, solve).collect();
    report(&counts);
    Ok(())
}

/// The decisions of a game from ply `first` on: each one's ply, and whether it was a mistake.
fn mistakes(
    solver: &mut Solver,
    game: &ConnectFour,
    positions: &[ConnectFourPosition],
    first: usize,
) -> Vec<(usize, bool)> {
    let mut after: Option<i8> = None;
    let mut decisions = Vec::new();
    for (ply, position) in positions.iter().enumerate().skip(first).rev() {
        let value = value(solver, game, position);
        if let Some(after) = after {
            let sign = if game.to_move(position) == Player::White { 1 } else { -1 };
            decisions.push((ply, sign * after < sign * value));
        }
        after = Some(value);
    }
    decisions
}

/// The result for White under best play: 1, 0 or -1.
fn value(solver: &mut Solver, game: &ConnectFour, position: &ConnectFourPosition) -> i8 {
    match game.outcome(position) {
        Some(outcome) => match outcome.winner {
            Some(Player::White) => 1,
            Some(Player::Black) => -1,
            None => 0,
        },
        None => {
            let score = solver.solve(&board_of(position)).signum();
            if game.to_move(position) == Player::White { score } else { -score }
        }
    }
}

fn report(games: &[Vec<(usize, bool)>]) {
    let number = games.len() as f64;
    let in_game = |game: &Vec<(usize, bool)>| game.iter().filter(|(_, mistake)| *mistake).count() as f64;
    let mean = games.iter().map(in_game).sum::<f64>() / number;
    let squares = games.iter().map(|game| (in_game(game) - mean).powi(2)).sum::<f64>();
    let error = Z_95 * (squares / (number - 1.0) / number).sqrt();
    let any = games.iter().filter(|game| in_game(game) > 0.0).count();
    let mut plies: Vec<[Decisions; 2]> = Vec::new(); // by range of plies, White and Black
    for &(ply, mistake) in games.iter().flatten() {
        if plies.len() <= ply / RANGE {
            plies.resize(ply / RANGE + 1, Default::default());
        }
        let decisions = &mut plies[ply / RANGE][ply % 2];
        decisions.count += 1;
        decisions.mistakes += u32::from(mistake);
    }
    println!("{} different games, {mean:.3} ± {error:.3} mistakes per game, {any} games with any", games.len());
    println!("  plies   per game   white  of decisions   black  of decisions");
    for (range, [white, black]) in plies.iter().enumerate() {
        let first = range * RANGE;
        let per_game = f64::from(white.mistakes + black.mistakes) / number;
        println!(
            "  {first:2}-{:2}      {per_game:.3}   {:5}  {:12}   {:5}  {:12}",
            first + RANGE - 1,
            white.mistakes,
            white.count,
            black.mistakes,
            black.count
        );
    }
}
