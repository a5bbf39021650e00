//! The games that exams can be drawn for, and the solver of those with exact tables.

use rand::Rng;
use rayon::prelude::*;

use jarmo_core::game::{Game, Mask, Player, Proven};
use jarmo_core::games::connect_four::{COLUMNS, ROWS};
use jarmo_core::games::{ConnectFour, ConnectFourPosition, Jarmo, JarmoPosition, Tammi, TammiPosition};
use jarmo_core::random::{Stream, below};
use jarmo_exact::tables::index::Placement;
use jarmo_exact::tables::{PliesTo, Solvable, Tables, random_position};
use jarmo_judge::accuracy::Phase;

/// A game that exams can be drawn for.
pub trait HasExam: Game {
    /// The part of the game that a position belongs to.
    fn phase(&self, position: &Self::Position) -> Phase;

    /// The same position without the history of its game, which solvers ignore.
    fn without_history(&self, position: &Self::Position) -> Self::Position {
        *position
    }
}

impl HasExam for Jarmo {
    /// Opening: at least nine of the ten archers are on the board. End: archers and marks are seven at most.
    fn phase(&self, position: &JarmoPosition) -> Phase {
        const MOST_CAPTURED: u32 = 1;
        const MOST_FORCE: u32 = 7;
        let captured: u32 = Player::BOTH.map(|player| position.captured(player)).iter().sum();
        if captured <= MOST_CAPTURED {
            Phase::Opening
        } else if position.force() <= MOST_FORCE {
            Phase::End
        } else {
            Phase::Middle
        }
    }

    fn without_history(&self, position: &JarmoPosition) -> JarmoPosition {
        Placement::of(position).position()
    }
}

impl HasExam for Tammi {
    /// Opening: at least 20 of the 24 pieces are on the board. End: eight at most.
    fn phase(&self, position: &TammiPosition) -> Phase {
        match Tammi::force(position) {
            20.. => Phase::Opening,
            9.. => Phase::Middle,
            _ => Phase::End,
        }
    }

    fn without_history(&self, position: &TammiPosition) -> TammiPosition {
        position.without_history()
    }
}

impl HasExam for ConnectFour {
    /// Each phase fills a third of the board.
    fn phase(&self, position: &ConnectFourPosition) -> Phase {
        const THIRD: u32 = (COLUMNS * ROWS / 3) as u32;
        match self.ply(position) / THIRD {
            0 => Phase::Opening,
            1 => Phase::Middle,
            _ => Phase::End,
        }
    }
}

/// A random position of the tables, which may be over: first a force, then a placement of it, both uniformly.
pub fn random_of_tables<G: Solvable>(tables: &Tables<G>, stream: &mut Stream) -> G::Position {
    let layers = tables.layers().count() as u32;
    let number = below(stream.next_u64(), layers) as usize;
    let layer = tables.layers().nth(number).expect("below their number");
    random_position(layer, stream)
}

/// The results of all legal actions in each position, in the order of the actions, on the threads of the
/// current rayon pool. `None` for positions outside the tables.
pub fn solve_by_tables<G: Solvable>(
    game: &G,
    tables: &Tables<G>,
    positions: &[G::Position],
) -> Vec<Option<Vec<Proven>>> {
    let results = |position: &G::Position| -> Option<Vec<Proven>> {
        let values = tables.actions(game, position)?;
        let result = |action| {
            let value = values.iter().find(|value| value.action == action);
            let proven = value.expect("the tables list all legal actions").proven;
            match G::TABLES.plies_to {
                PliesTo::End => proven,
                PliesTo::Capture => Proven { plies: None, ..proven },
            }
        };
        Some(game.legal(position).iter().map(result).collect())
    };
    positions.par_iter().map(results).collect()
}
