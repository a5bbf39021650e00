//! The games of the program: opened by name, so that nothing else in this crate knows their types.

use std::fmt;
use std::sync::Arc;

use crate::table::{Open, Table};
use jarmo_exact::catalog::{Catalog, GameError, GameSettings, GameTask, Shipped};

/// The games of a catalog.
///
/// Those of `jarmo` have a board and texts in every language. Others are drawn in text and played by lines.
#[derive(Clone)]
pub struct Games {
    catalog: Arc<dyn Opener>,
    needs_board: bool,
}

/// What opening a game gives.
type Opened = <Open<'static> as GameTask>::Output;

/// A catalog without its type.
trait Opener: Send + Sync {
    fn names(&self) -> Vec<&'static str>;

    fn open(
        &self,
        name: &str,
        settings: &GameSettings,
        task: Open<'_>,
    ) -> Result<Opened, GameError>;
}

impl<C: Catalog + Send + Sync> Opener for C {
    fn names(&self) -> Vec<&'static str> {
        Catalog::names(self)
    }

    fn open(
        &self,
        name: &str,
        settings: &GameSettings,
        task: Open<'_>,
    ) -> Result<Opened, GameError> {
        self.with_game(name, settings, task)
    }
}

impl Games {
    /// The games of this catalog.
    pub fn new<C: Catalog + Send + Sync + 'static>(catalog: C) -> Games {
        Games {
            catalog: Arc::new(catalog),
            needs_board: false,
        }
    }

    /// The same games, of which only those with a board are opened.
    #[must_use]
    pub fn with_board(self) -> Games {
        Games {
            needs_board: true,
            ..self
        }
    }

    /// The names of the games.
    pub fn names(&self) -> Vec<&'static str> {
        self.catalog.names()
    }

    pub(crate) fn open(
        &self,
        name: &str,
        settings: &GameSettings,
        task: Open<'_>,
    ) -> Result<Opened, String> {
        let opened = self.catalog.open(name, settings, task);
        let opened = opened.map_err(|error| error.to_string())?;
        let has_board = |table: &dyn Table| !table.layout().is_none();
        match opened {
            Ok(table) if self.needs_board && !has_board(table.as_ref()) => Err(format!(
                "{name} has no board to show here; play it by lines of text, with --plain"
            )),
            opened => Ok(opened),
        }
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
