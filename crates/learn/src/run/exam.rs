//! The exam of a run: how often its network, without search, keeps the best result.

use super::RunError;
use crate::config::{EvaluationSettings, ExamChoice};
use jarmo_exact::catalog::CatalogGame;
use jarmo_judge::accuracy::Exam;

/// The exam that the settings name, if there is one for the game.
pub(super) fn open<G: CatalogGame>(game: &G, settings: &EvaluationSettings) -> Result<Option<Exam<G>>, RunError> {
    match &settings.exam {
        ExamChoice::None => Ok(None),
        ExamChoice::BuiltIn => Ok(Exam::built_in(game)),
        ExamChoice::File(path) => match Exam::load(game, path) {
            Ok(exam) => Ok(Some(exam)),
            Err(error) => Err(RunError(format!("evaluation.exam = {error}"))),
        },
    }
}
