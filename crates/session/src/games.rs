//! The games of the program: opened by name, so that nothing else in this crate knows their types.

use std::fmt;
use std::sync::Arc;

use crate::board::{Board, Open};
use jarmo_exact::ExactError;
use jarmo_exact::catalog::{Catalog, CatalogGame, GameSettings, GameTask, Shipped};

/// The games of a catalog.
///
/// Those of `jarmo` have a board and texts in every language. Others are drawn in text and played by lines, or on a
/// plain board of the page.
#[derive(Clone)]
pub struct Games {
    catalog: Arc<dyn Opener>,
    needs_layout: bool,
}

/// What a game begins with by its usual rules.
pub(crate) struct Usual {
    /// The limit on its length.
    pub(crate) plies: u32,
    /// The first position.
    pub(crate) start: String,
}

struct AskUsual;

impl GameTask for AskUsual {
    type Output = Usual;

    fn run<G: CatalogGame>(self, game: G) -> Usual {
        Usual { plies: game.max_plies(), start: game.position_text(&game.start()) }
    }
}

/// What opening a game gives.
type Opened = <Open<'static> as GameTask>::Output;

/// A catalog without its type.
trait Opener: Send + Sync {
    fn names(&self) -> Vec<&'static str>;

    fn open(&self, name: &str, settings: &GameSettings, task: Open<'_>) -> Result<Opened, ExactError>;

    fn usual(&self, name: &str) -> Result<Usual, ExactError>;
}

impl<C: Catalog + Send + Sync> Opener for C {
    fn names(&self) -> Vec<&'static str> {
        Catalog::names(self)
    }

    fn open(&self, name: &str, settings: &GameSettings, task: Open<'_>) -> Result<Opened, ExactError> {
        self.with_game(name, settings, task)
    }

    fn usual(&self, name: &str) -> Result<Usual, ExactError> {
        self.with_game(name, &GameSettings::default(), AskUsual)
    }
}

impl Games {
    /// The games of this catalog.
    pub fn new<C: Catalog + Send + Sync + 'static>(catalog: C) -> Games {
        Games { catalog: Arc::new(catalog), needs_layout: false }
    }

    /// The same games, of which only those with a board are opened.
    #[must_use]
    pub fn with_layout(self) -> Games {
        Games { needs_layout: true, ..self }
    }

    /// The names of the games.
    pub fn names(&self) -> Vec<&'static str> {
        self.catalog.names()
    }

    /// What a game of this name begins with.
    pub(crate) fn usual(&self, name: &str) -> Option<Usual> {
        self.catalog.usual(name).ok()
    }

    pub(crate) fn open(&self, name: &str, settings: &GameSettings, task: Open<'_>) -> Result<Opened, String> {
        let opened = self.catalog.open(name, settings, task);
        let opened = opened.map_err(|error| error.to_string())?;
        let has_layout = |board: &dyn Board| !board.layout().is_none();
        match opened {
            Ok(board) if self.needs_layout && !has_layout(board.as_ref()) => {
                Err(format!("{name} has no board to show here; play it by lines of text, with --plain"))
            }
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
