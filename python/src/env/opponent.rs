//! The user's function as an opponent.

use std::sync::{Arc, Mutex, PoisonError};

use jarmo_core::env::Opponent;
use jarmo_core::game::Action;
use jarmo_core::random::Stream;
use jarmo_exact::catalog::CatalogGame;
use pyo3::prelude::*;

use crate::game::Rules;
use crate::players::ask;
use crate::position::Position;

/// Where a function leaves its exception.
pub(super) type Failure = Arc<Mutex<Option<PyErr>>>;

/// A function of positions. It is called by the thread that steps the environment: that of the caller, because the
/// games are in one shard.
pub(super) struct FunctionOpponent<G: CatalogGame> {
    pub rules: Arc<Rules<G>>,
    pub function: Arc<Py<PyAny>>,
    pub failure: Failure,
}

impl<G: CatalogGame> Opponent<G> for FunctionOpponent<G> {
    fn name(&self) -> String {
        "a function".to_owned()
    }

    fn can_be_interrupted(&self) -> bool {
        true
    }

    fn choose(&mut self, positions: &[G::Position], _: &mut [Stream]) -> Option<Vec<Action>> {
        let positions = positions.iter().map(|&one| Position::new(&self.rules, one));
        let positions: Vec<Position> = positions.collect();
        let chosen = Python::attach(|py| ask(self.function.bind(py), "opponent", &positions));
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        chosen.map_err(|error| *failure = Some(error)).ok()
    }
}
