//! The games of the program: opened by name, so that nothing else in this crate knows their types.

use std::fmt;
use std::sync::Arc;

use crate::board::{Board, Open, RecordProblem};
use crate::specs::Store;
use jarmo_exact::ExactError;
use jarmo_exact::catalog::{Catalog, GameSettings, Shipped};

/// The games of a catalog.
///
/// Those of `jarmo` have a board and texts in every language. Others are drawn in text and played by lines, or on a
/// plain board of the page.
#[derive(Clone)]
pub struct Games {
    names: Vec<&'static str>,
    open: Arc<Opener>,
}

type Opened = Result<Box<dyn Board>, RecordProblem>;

/// A catalog without its type.
type Opener = dyn Fn(&str, &GameSettings, Open<'_>) -> Result<Opened, ExactError> + Send + Sync;

impl Games {
    /// The games of this catalog.
    pub fn new<C: Catalog + Send + Sync + 'static>(catalog: C) -> Games {
        Games {
            names: catalog.names(),
            open: Arc::new(move |name, settings, task| catalog.with_game(name, settings, task)),
        }
    }

    /// The names of the games.
    pub fn names(&self) -> &[&'static str] {
        &self.names
    }

    /// Sets up a game by name, from its start or from a position, with the agents and tables of a store.
    pub fn open(&self, name: &str, settings: &GameSettings, store: &Store, position: Option<&str>) -> Opened {
        let opened = (self.open)(name, settings, Open { settings, store, position });
        let board = opened.map_err(|error| RecordProblem::Start(error.to_string()))??;
        if store.needs_layout && board.layout().is_none() {
            let problem = format!("{name} has no board to show here; play it by lines of text, with --plain");
            return Err(RecordProblem::Start(problem));
        }
        Ok(board)
    }
}

/// The games of `jarmo`.
impl Default for Games {
    fn default() -> Games {
        Games::new(Shipped)
    }
}

impl fmt::Debug for Games {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_list().entries(self.names()).finish()
    }
}
