//! The yardstick of an erased game.

use std::path::Path;
use std::sync::Arc;

use jarmo_exact::catalog::CatalogGame;
use jarmo_exact::tables::Endgames;
use jarmo_judge::accuracy::Watch;
use jarmo_judge::yardstick::{Row, Yardstick};

use super::{Examinee, MeasureError};

/// Measures agents by exact results: see [`Yardstick`].
pub trait AnyYardstick: Send + Sync {
    /// Measures an agent on the threads of the current rayon pool. The result gives it this name. Fails if the watcher
    /// stops the measurement.
    fn measure(&self, name: String, plan: Examinee, watch: &dyn Watch) -> Result<Row, MeasureError>;

    /// Computes the measures of a row from its answers, on the threads of the current rayon pool. The message says what does
    /// not fit.
    fn verify(&self, row: &Row) -> Result<(), MeasureError>;
}

impl<G: CatalogGame> AnyYardstick for Yardstick<G> {
    fn measure(&self, name: String, plan: Examinee, watch: &dyn Watch) -> Result<Row, MeasureError> {
        Ok(self.measure(name, &mut plan.team(self.game())?, plan.budget, watch)?)
    }

    fn verify(&self, row: &Row) -> Result<(), MeasureError> {
        Ok(self.verify(row)?)
    }
}

/// The tables of a folder, or those that are built in seconds.
pub(super) fn tables<G: CatalogGame>(
    game: &G,
    folder: Option<&Path>,
) -> Result<Option<Arc<dyn Endgames<G>>>, MeasureError> {
    match folder {
        Some(folder) => Ok(Some(game.open_endgames(folder)?)),
        None => Ok(game.quick_endgames()?),
    }
}
