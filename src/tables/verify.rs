//! Holding tables against the rules: the game's own, which the solver does not use.

use std::fmt;

use rand::Rng;
use rayon::prelude::*;

use super::index::{Layer, Placement};
use super::lookup::Tables;
use crate::game::{Game, Proven};
use crate::games::{Jarmo, JarmoPosition};
use crate::random::{Stream, stream};

/// What was checked in a layer, and what was wrong.
#[derive(Clone, Debug)]
pub struct LayerCheck {
    /// Archers plus marks.
    pub force: u32,
    /// Random positions whose value was held against those of their successors.
    pub positions: u64,
    /// Random decided positions that were played out by the tables.
    pub games: u64,
    /// What was wrong; a few of them at most.
    pub mistakes: Vec<Mistake>,
}

/// A position whose value is wrong.
#[derive(Clone, Debug)]
pub struct Mistake {
    /// The position, as text.
    pub position: String,
    /// What the tables say of it.
    pub told: Proven,
    /// What its successors, or the game played from it, say.
    pub found: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mistake {
            position,
            told,
            found,
        } = self;
        write!(out, "{position}: the tables say {told}, but {found}")
    }
}

/// Mistakes that are kept of each layer.
const KEPT: usize = 10;

/// Checks `samples` random positions of every layer against their successors, and plays out about
/// a tenth as many of those that are decided.
pub fn verify(game: &Jarmo, tables: &Tables, samples: u64, seed: u64) -> Vec<LayerCheck> {
    let game = &game.clone().with_max_plies(0);
    tables
        .layers()
        .map(|(layer, _)| {
            let wrong: Vec<Mistake> = (0..samples)
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

/// A position of the layer; every placement is as likely as any other.
pub fn random_position(layer: &Layer, stream: &mut Stream) -> JarmoPosition {
    let share = u128::from(stream.next_u64()) * layer.len() as u128;
    layer.placement((share >> 64) as usize).position()
}

/// Whether the value of a position follows from those of its successors.
fn check(game: &Jarmo, tables: &Tables, position: &JarmoPosition) -> Option<Mistake> {
    let told = tables.proven(position).expect("it came from a layer");
    let found = match game.outcome(position) {
        Some(outcome) => Proven::over(outcome.verdict(position.to_move())),
        None => {
            let best = tables
                .actions(game, position)
                .expect("it came from a layer");
            best.first().expect("the game goes on").proven
        }
    };
    (told != found).then(|| Mistake {
        position: game.position_text(position),
        told,
        found: format!("its successors say {found}"),
    })
}

/// Plays a decided position to its end, both sides by the tables. Nothing for other positions.
fn play_out(game: &Jarmo, tables: &Tables, start: JarmoPosition) -> Option<Result<(), Mistake>> {
    let told = tables.proven(&start).expect("it came from a layer");
    let (verdict, plies) = (told.verdict, told.plies?);
    let mut position = start;
    for played in 0..=plies {
        if let Some(outcome) = game.outcome(&position) {
            let right = played == plies && outcome.verdict(start.to_move()) == verdict;
            return Some(if right {
                Ok(())
            } else {
                let points = outcome.score.unwrap_or_default();
                let found = format!("the game ended {points:?} after {played} plies");
                Err(mistake(game, &start, told, found))
            });
        }
        let values = tables.actions(game, &position).expect("force never grows");
        game.play(&mut position, values[0].action);
        // Without what the shuttle rule looks at: the tables know nothing of it.
        position = Placement::of(&position).position();
    }
    let found = format!("the game goes on after {plies} plies");
    Some(Err(mistake(game, &start, told, found)))
}

fn mistake(game: &Jarmo, position: &JarmoPosition, told: Proven, found: String) -> Mistake {
    Mistake {
        position: game.position_text(position),
        told,
        found,
    }
}
