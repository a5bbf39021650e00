//! Checks tables against the rules of the game, which the solver implements separately.

use rayon::prelude::*;

use super::lookup::Tables;
use super::solvable::{Layer, PliesTo, Solvable, random_position};
use jarmo_core::game::Proven;
use jarmo_core::random::stream;

/// The checks of a layer and their failures.
#[derive(Clone, Debug)]
pub struct LayerCheck {
    /// What is left on the board.
    pub force: u32,
    /// Random positions whose value was compared with those of their successors.
    pub positions: u64,
    /// Random won or lost positions that were played to the end with the tables.
    pub games: u64,
    /// Wrong values in words, ten at most.
    pub mistakes: Vec<String>,
}

/// The most wrong values reported per layer.
const KEPT: usize = 10;

/// Checks `samples` random positions of every layer against their successors, and draws a tenth as many
/// to play out those that are won or lost. A layer is checked when its result is asked for.
pub fn verify<'a, G: Solvable>(
    game: &G,
    tables: &'a Tables<G>,
    samples: u64,
    seed: u64,
) -> impl Iterator<Item = LayerCheck> + use<'a, G> {
    let game = game.clone().with_max_plies(0);
    tables.layers().map(move |layer| {
        let game = &game;
        let wrong: Vec<String> = (0..samples)
            .into_par_iter()
            .filter_map(|sample| {
                let mut stream = stream(seed ^ u64::from(layer.force()), sample);
                check(game, tables, &random_position(layer, &mut stream))
            })
            .collect();
        let games: Vec<Result<(), String>> = (0..samples / 10)
            .into_par_iter()
            .filter_map(|sample| {
                let mut stream = stream(!seed ^ u64::from(layer.force()), sample);
                play_out(game, tables, random_position(layer, &mut stream))
            })
            .collect();
        LayerCheck {
            force: layer.force(),
            positions: samples,
            games: games.len() as u64,
            mistakes: wrong.into_iter().chain(games.into_iter().filter_map(Result::err)).take(KEPT).collect(),
        }
    })
}

/// Checks that the value of a position follows from those of its successors.
fn check<G: Solvable>(game: &G, tables: &Tables<G>, position: &G::Position) -> Option<String> {
    let stored = tables.proven(position).expect("the layer holds it");
    let found = match game.outcome(position) {
        Some(outcome) => Proven::over(outcome.verdict(game.to_move(position))),
        None => {
            tables.actions(game, position).expect("the layer holds it").first().expect("the game is not over").proven
        }
    };
    // Jarmo's packed tables have no plies to compare.
    let right = match stored.plies {
        Some(_) => stored == found,
        None => stored.verdict == found.verdict && !found.is_over(),
    };
    (!right).then(|| wrong_value(game, position, stored, format!("its successors say {found}")))
}

/// The maximum number of plies of a game that is played by tables whose plies do not count to the end.
const MOST_PLIES: u32 = 1000;

/// Plays a won or lost position to its end, both sides with the tables. `None` for other positions, and
/// where the tables have no distances.
fn play_out<G: Solvable>(game: &G, tables: &Tables<G>, start: G::Position) -> Option<Result<(), String>> {
    let stored = tables.proven(&start).expect("the layer holds it");
    let (verdict, plies) = (stored.verdict, stored.plies?);
    let most = match G::TABLES.plies_to {
        PliesTo::End => plies,
        PliesTo::Capture => MOST_PLIES,
    };
    let mover = game.to_move(&start);
    let mut position = start;
    for played in 0..=most {
        if let Some(outcome) = game.outcome(&position) {
            let in_time = G::TABLES.plies_to == PliesTo::Capture || played == plies;
            return Some(if in_time && outcome.verdict(mover) == verdict {
                Ok(())
            } else {
                let points = outcome.score.unwrap_or_default();
                let found = format!("the game ended {points:?} after {played} plies");
                Err(wrong_value(game, &start, stored, found))
            });
        }
        let values = tables.actions(game, &position).expect("force never grows");
        game.play(&mut position, values[0].action);
        position = G::as_solved(&position);
    }
    Some(Err(wrong_value(game, &start, stored, format!("the game is not over after {most} plies"))))
}

/// A position whose value is wrong: what its successors, or the game played from it, show instead.
fn wrong_value<G: Solvable>(game: &G, position: &G::Position, stored: Proven, found: String) -> String {
    format!("{}: the tables say {stored}, but {found}", game.position_text(position))
}
