//! Checks tables against the rules of the game, which the solver implements separately.

use std::fmt;

use rand::Rng;
use rayon::prelude::*;

use super::index::{Layer, Placement};
use super::lookup::Tables;
use crate::game::{Game, Proven};
use crate::games::{Jarmo, JarmoPosition};
use crate::random::{Stream, stream};

/// The checks of a layer and their failures.
#[derive(Clone, Debug)]
pub struct LayerCheck {
    /// Archers plus marks.
    pub force: u32,
    /// Random positions whose value was compared with those of their successors.
    pub positions: u64,
    /// Random won or lost positions that were played to the end with the tables.
    pub games: u64,
    /// Wrong values, ten at most.
    pub mistakes: Vec<WrongValue>,
}

/// A position whose value is wrong.
#[derive(Clone, Debug)]
pub struct WrongValue {
    /// The position, as text.
    pub position: String,
    /// The value in the tables.
    pub stored: Proven,
    /// What its successors, or the game played from it, show instead.
    pub found: String,
}

impl fmt::Display for WrongValue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WrongValue {
            position,
            stored,
            found,
        } = self;
        write!(out, "{position}: the tables say {stored}, but {found}")
    }
}

/// The most wrong values reported per layer.
const KEPT: usize = 10;

/// Checks `samples` random positions of every layer against their successors, and draws a tenth as many
/// to play out those that are won or lost.
pub fn verify(game: &Jarmo, tables: &Tables, samples: u64, seed: u64) -> Vec<LayerCheck> {
    let game = &game.clone().with_max_plies(0);
    tables
        .layers()
        .map(|layer| {
            let wrong: Vec<WrongValue> = (0..samples)
                .into_par_iter()
                .filter_map(|sample| {
                    let mut stream = stream(seed ^ u64::from(layer.force()), sample);
                    let position = random_position(layer, &mut stream);
                    check(game, tables, &position)
                })
                .collect();
            let games = (0..samples / 10).into_par_iter().filter_map(|sample| {
                let mut stream = stream(!seed ^ u64::from(layer.force()), sample);
                let position = random_position(layer, &mut stream);
                play_out(game, tables, position)
            });
            let (games, lost_games): (Vec<_>, Vec<_>) =
                games.partition_map(|result| match result {
                    Ok(()) => rayon::iter::Either::Left(()),
                    Err(mistake) => rayon::iter::Either::Right(mistake),
                });
            LayerCheck {
                force: layer.force(),
                positions: samples,
                games: (games.len() + lost_games.len()) as u64,
                mistakes: wrong.into_iter().chain(lost_games).take(KEPT).collect(),
            }
        })
        .collect()
}

/// A random position of the layer; every placement is equally likely.
pub fn random_position(layer: &Layer, stream: &mut Stream) -> JarmoPosition {
    let share = u128::from(stream.next_u64()) * layer.size() as u128;
    layer.placement((share >> 64) as usize).position()
}

/// Checks that the value of a position follows from those of its successors.
fn check(game: &Jarmo, tables: &Tables, position: &JarmoPosition) -> Option<WrongValue> {
    let stored = tables.proven(position).expect("the layer holds it");
    let found = match game.outcome(position) {
        Some(outcome) => Proven::over(outcome.verdict(position.to_move())),
        None => {
            let best = tables.actions(game, position).expect("the layer holds it");
            best.first().expect("the game is not over").proven
        }
    };
    // Packed results have no plies to compare.
    let right = match stored.plies {
        Some(_) => stored == found,
        None => stored.verdict == found.verdict && !found.is_over(),
    };
    (!right).then(|| {
        let found = format!("its successors say {found}");
        wrong_value(game, position, stored, found)
    })
}

/// Plays a won or lost position to its end, both sides with the tables. `None` for other positions, and
/// where the tables have no distances.
fn play_out(game: &Jarmo, tables: &Tables, start: JarmoPosition) -> Option<Result<(), WrongValue>> {
    let stored = tables.proven(&start).expect("the layer holds it");
    let (verdict, plies) = (stored.verdict, stored.plies?);
    let mut position = start;
    for played in 0..=plies {
        if let Some(outcome) = game.outcome(&position) {
            let right = played == plies && outcome.verdict(start.to_move()) == verdict;
            return Some(if right {
                Ok(())
            } else {
                let points = outcome.score.unwrap_or_default();
                let found = format!("the game ended {points:?} after {played} plies");
                Err(wrong_value(game, &start, stored, found))
            });
        }
        let values = tables.actions(game, &position).expect("force never grows");
        game.play(&mut position, values[0].action);
        // Drops the history, because the tables ignore the shuttle rule.
        position = Placement::of(&position).position();
    }
    let found = format!("the game is not over after {plies} plies");
    Some(Err(wrong_value(game, &start, stored, found)))
}

fn wrong_value(
    game: &Jarmo,
    position: &JarmoPosition,
    stored: Proven,
    found: String,
) -> WrongValue {
    WrongValue {
        position: game.position_text(position),
        stored,
        found,
    }
}
