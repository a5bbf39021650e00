//! The exam of a run: the share of positions from exact tables in which its network keeps the best
//! result.

use std::sync::Arc;

use super::RunError;
use crate::accuracy::PolicyExam;
use crate::catalog::CatalogGame;
use crate::config::EvaluationConfig;
use crate::tables::Endgames;

/// Every run is examined on the same positions.
const POSITIONS: usize = 4000;
const SEED: u64 = 1;

/// The exam on the tables that the settings name, if any.
pub(super) fn open<G: CatalogGame>(
    game: &G,
    config: &EvaluationConfig,
) -> Result<Option<PolicyExam<G>>, RunError> {
    let tables = open_tables(game, config)?;
    Ok(tables.map(|tables| PolicyExam::random(game, tables.as_ref(), POSITIONS, SEED)))
}

pub(super) fn open_tables<G: CatalogGame>(
    game: &G,
    config: &EvaluationConfig,
) -> Result<Option<Arc<dyn Endgames<G>>>, RunError> {
    let folder = &config.tables;
    if folder.as_os_str().is_empty() {
        return Ok(None);
    }
    let tables = game.open_endgames(folder);
    let wrong = |error| RunError(format!("evaluation.tables = {}: {error}", folder.display()));
    tables.map(Some).map_err(wrong)
}
