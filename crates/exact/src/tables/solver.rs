//! Work on the tables of an erased game.

use std::ops::RangeInclusive;
use std::path::Path;

use super::build::{BuildSettings, TableProgress};
use super::lookup::{Tables, build};
use super::packed::pack;
use super::solvable::{PliesTo, Solvable};
use super::verify::{LayerCheck, verify};
use crate::ExactError;
use jarmo_core::game::{AnyPosition, Proven};

/// Tables without distances are packed beyond this force by default.
const WHOLE: u32 = 7;

/// The tables of one game, with its rules: builds, packs and checks folders of them, and reads results.
pub trait Solver: Send + Sync {
    /// The forces that tables can have, and what a force counts.
    fn forces(&self) -> (RangeInclusive<u32>, &'static str);

    /// The highest force up to which tables take only seconds.
    fn quick(&self) -> u32;

    /// Whether a folder has tables of this game.
    fn has_tables(&self, folder: &Path) -> bool;

    /// See [`build()`].
    ///
    /// # Panics
    /// Panics if the game has no tables of this force.
    fn build(
        &self,
        folder: &Path,
        settings: BuildSettings,
        tell: &mut dyn FnMut(TableProgress),
    ) -> Result<(), ExactError>;

    /// See [`pack()`]. By default the complete tables of low forces are copied, too, because they have distances.
    fn pack(
        &self,
        from: &Path,
        to: &Path,
        whole: Option<u32>,
        tell: &mut dyn FnMut(TableProgress),
    ) -> Result<(), ExactError>;

    /// See [`verify()`]. Each layer is reported when it has been checked.
    fn verify(
        &self,
        folder: &Path,
        samples: u64,
        seed: u64,
        tell: &mut dyn FnMut(LayerCheck),
    ) -> Result<(), ExactError>;

    /// The results in a position, and a game of best actions from there of at most this many plies.
    fn probe(&self, folder: &Path, position: &AnyPosition, line: u32) -> Result<Probe, ExactError>;

    /// The value of a position for the player to move, and all sequences of 1, 2, … `plies` actions from there, as
    /// text, with their values for White.
    fn openings(
        &self,
        folder: &Path,
        position: &AnyPosition,
        plies: u32,
    ) -> Result<(Proven, Vec<OpeningValues>), ExactError>;
}

/// Sequences of actions of one length, with their values for White.
pub type OpeningValues = Vec<(String, Proven)>;

/// The exact results in a position, for the player to move.
#[derive(Clone, Debug)]
pub struct Probe {
    /// The value of the position.
    pub proven: Proven,
    /// The event to which plies count.
    pub plies_to: PliesTo,
    /// The value of each legal action, best first.
    pub actions: Vec<(String, Proven)>,
    /// A game of best actions.
    pub line: Vec<String>,
}

impl<G: Solvable> Solver for G {
    fn forces(&self) -> (RangeInclusive<u32>, &'static str) {
        (G::TABLES.forces, G::TABLES.force_counts)
    }

    fn quick(&self) -> u32 {
        G::TABLES.quick
    }

    fn has_tables(&self, folder: &Path) -> bool {
        !Tables::<G>::forces_in(folder).is_empty()
    }

    fn build(
        &self,
        folder: &Path,
        settings: BuildSettings,
        tell: &mut dyn FnMut(TableProgress),
    ) -> Result<(), ExactError> {
        build(self, folder, settings, tell).map(drop)
    }

    fn pack(
        &self,
        from: &Path,
        to: &Path,
        whole: Option<u32>,
        tell: &mut dyn FnMut(TableProgress),
    ) -> Result<(), ExactError> {
        let whole = whole.unwrap_or(if G::TABLES.packs_plies { 0 } else { WHOLE });
        pack(self, from, to, whole, tell)
    }

    fn verify(
        &self,
        folder: &Path,
        samples: u64,
        seed: u64,
        tell: &mut dyn FnMut(LayerCheck),
    ) -> Result<(), ExactError> {
        verify(self, &Tables::open(self, folder)?, samples, seed).for_each(tell);
        Ok(())
    }

    fn probe(&self, folder: &Path, position: &AnyPosition, line: u32) -> Result<Probe, ExactError> {
        let position = position.of::<G>();
        let (tables, proven) = open_at(self, folder, position)?;
        let actions = tables.actions(self, position).unwrap_or_default();
        Ok(Probe {
            proven,
            plies_to: G::TABLES.plies_to,
            actions: actions.iter().map(|one| (self.action_text(position, one.action), one.proven)).collect(),
            line: tables.best_line(self, position, line).unwrap_or_default(),
        })
    }

    fn openings(
        &self,
        folder: &Path,
        position: &AnyPosition,
        plies: u32,
    ) -> Result<(Proven, Vec<OpeningValues>), ExactError> {
        let position = position.of::<G>();
        let (tables, proven) = open_at(self, folder, position)?;
        let of_length = |plies| {
            let openings = tables.openings(self, position, plies).unwrap_or_default();
            openings.iter().map(|(line, value)| (line.move_texts(self).join(" "), *value)).collect()
        };
        Ok((proven, (1..=plies).map(of_length).collect()))
    }
}

/// The tables of a folder, and the value of a position in them for the player to move.
fn open_at<G: Solvable>(game: &G, folder: &Path, position: &G::Position) -> Result<(Tables<G>, Proven), ExactError> {
    let tables = Tables::open(game, folder)?;
    match tables.proven_or_over(position) {
        Some(proven) => Ok((tables, proven)),
        None => Err(ExactError::new(format!(
            "the position has force {}, but the tables in {} end at {}",
            G::force(position),
            folder.display(),
            tables.force()
        ))),
    }
}
