//! What everything that plays asks the tables: is this result certain?

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use super::code::Exact;
use super::file::FileError;
use super::lookup::Tables;
use crate::game::{Game, Verdict};
use crate::games::{ConnectFour, Guard, Jarmo, JarmoPosition, Tammi};

/// Knows how some positions of a game end.
///
/// Whoever knows a position knows all that can come after it, except those that are over.
pub trait Endgames<G: Game>: Send + Sync {
    /// The result under best play for the player to move in a position that is not over, and the
    /// plies until it where it is decided; `None` if it is not known.
    fn known(&self, game: &G, position: &G::Position) -> Option<(Verdict, Option<u32>)>;
}

/// A game for which there may be exact tables.
pub trait HasEndgames: Game {
    /// Opens a directory of tables. While somebody holds them, opening them again costs nothing.
    fn open_endgames(&self, folder: &Path) -> Result<Arc<dyn Endgames<Self>>, EndgameError>;
}

/// Tables that cannot be had.
#[derive(Debug)]
pub enum EndgameError {
    /// There are none for this game.
    NoTables(&'static str),
    /// The files are not sound, not there, or of another game.
    File(FileError),
}

impl fmt::Display for EndgameError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EndgameError::NoTables(game) => {
                write!(out, "there are exact tables for jarmo only, not for {game}")
            }
            EndgameError::File(error) => error.fmt(out),
        }
    }
}

impl std::error::Error for EndgameError {}

impl Endgames<Jarmo> for Tables {
    fn known(&self, game: &Jarmo, position: &JarmoPosition) -> Option<(Verdict, Option<u32>)> {
        let exact = self.exact(position)?;
        let left = match game.max_plies() {
            0 => u32::MAX,
            most => most.saturating_sub(game.ply(position)),
        };
        Some(match exact {
            // The loser holds out to the limit, where the game is drawn.
            Exact::Win(plies) | Exact::Loss(plies) if plies > left => (Verdict::Draw, None),
            _ => (exact.verdict(), exact.plies()),
        })
    }
}

/// Tables that somebody holds, by directory.
static OPENED: LazyLock<Mutex<HashMap<PathBuf, Weak<Tables>>>> = LazyLock::new(Mutex::default);

impl HasEndgames for Jarmo {
    fn open_endgames(&self, folder: &Path) -> Result<Arc<dyn Endgames<Jarmo>>, EndgameError> {
        let key = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        let held = opened.get(&key).and_then(Weak::upgrade);
        if let Some(tables) = held.filter(|tables| tables.belong_to(self)) {
            return Ok(tables);
        }
        let tables = Arc::new(Tables::open(self, folder).map_err(EndgameError::File)?);
        opened.insert(key, Arc::downgrade(&tables));
        Ok(tables)
    }
}

impl HasEndgames for Guard {
    fn open_endgames(&self, _: &Path) -> Result<Arc<dyn Endgames<Guard>>, EndgameError> {
        Err(EndgameError::NoTables(self.id()))
    }
}

impl HasEndgames for Tammi {
    fn open_endgames(&self, _: &Path) -> Result<Arc<dyn Endgames<Tammi>>, EndgameError> {
        Err(EndgameError::NoTables(self.id()))
    }
}

impl HasEndgames for ConnectFour {
    fn open_endgames(&self, _: &Path) -> Result<Arc<dyn Endgames<ConnectFour>>, EndgameError> {
        Err(EndgameError::NoTables(self.id()))
    }
}
