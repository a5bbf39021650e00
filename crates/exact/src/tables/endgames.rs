//! Tables as exact knowledge of a game: opens them by folder and draws random endgames.

use std::any::Any;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use rand::Rng;

use super::lookup::Tables;
use super::shuttle_bounds::ShuttleBounds;
use super::solvable::{Layer, Solvable, random_position};
use super::solver::Solver;
use crate::{ExactError, ExactErrorKind};
use jarmo_core::game::Game;
use jarmo_core::known::{Endgames, ProofStrategy};
use jarmo_core::random::{Stream, below};

/// A game for which there may be exact tables or a proof.
pub trait HasEndgames: Game {
    /// Opens a folder of tables. Tables that are still in use are shared.
    fn open_endgames(&self, _folder: &Path) -> Result<Arc<dyn Endgames<Self>>, ExactError> {
        Err(ExactError::no_tables(self.id()))
    }

    /// Builds the tables of all forces that take only seconds, for use in this process. `None` for games without
    /// tables.
    fn quick_endgames(&self) -> Result<Option<Arc<dyn Endgames<Self>>>, ExactError> {
        Ok(None)
    }

    /// Builds, checks and reads tables of this game; `None` for games without tables.
    fn solver(&self) -> Option<&dyn Solver> {
        None
    }

    /// The proof that is part of the program; `None` for games, boards and programs without one.
    fn proof(&self) -> Option<Arc<dyn ProofStrategy<Self>>> {
        None
    }

    /// The force of a position: the number by which tables are divided. It is defined even without tables. `None` in
    /// games that have no force.
    fn force_of(&self, _position: &Self::Position) -> Option<u32> {
        None
    }

    /// A function that draws random endgames; it needs no tables. All forces up to this one that tables can have are
    /// equally likely, and so are all placements of a force. Some positions are over. `None` if the game has no random
    /// endgames.
    fn random_endgames(&self, _force: u32) -> Option<RandomEndgames<Self::Position>> {
        None
    }
}

/// A function that draws random endgames.
pub type RandomEndgames<P> = Arc<dyn Fn(&mut Stream) -> P + Send + Sync>;

/// The key of open tables: their folder, the prefix of their file names, and whether the folder has shuttle bounds.
type ByFolder = HashMap<(PathBuf, &'static str, bool), Weak<dyn Any + Send + Sync>>;

/// Tables in use.
static SHARED: LazyLock<Mutex<ByFolder>> = LazyLock::new(Mutex::default);

/// The tables of a folder, with the bounds that `open_bounds` finds there. Tables that are still in use are shared if
/// they belong to this game.
pub(crate) fn open_shared<G: Solvable>(
    game: &G,
    folder: &Path,
    open_bounds: impl FnOnce() -> Result<Option<ShuttleBounds>, ExactError>,
) -> Result<Arc<Tables<G>>, ExactError> {
    let key =
        (folder.canonicalize().unwrap_or_else(|_| folder.to_owned()), G::TABLES.files, ShuttleBounds::exist(folder));
    let mut opened = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    let found: Option<Arc<Tables<G>>> =
        opened.get(&key).and_then(Weak::upgrade).and_then(|found| found.downcast().ok());
    if let Some(found) = found.filter(|tables| tables.belong_to(game)) {
        return Ok(found);
    }
    if folder.is_dir() && Tables::<G>::forces_in(folder).is_empty() {
        let problem =
            format!("{} has no tables of {}; build them, or name another folder", folder.display(), game.id());
        return Err(ExactError::of_kind(ExactErrorKind::NoTables, problem));
    }
    let mut tables = Tables::open(game, folder)?;
    tables.bounds = open_bounds()?;
    let new = Arc::new(tables);
    let any: Arc<dyn Any + Send + Sync> = new.clone();
    opened.insert(key, Arc::downgrade(&any));
    Ok(new)
}

/// Draws a force up to this one, then a position of that force.
pub(crate) fn draw_endgames<G: Solvable>(most: u32) -> RandomEndgames<G::Position> {
    let (least, highest) = G::TABLES.forces.into_inner();
    let layers: Vec<G::Layer> = (least..=most.min(highest)).map(G::Layer::new).collect();
    Arc::new(move |stream| {
        let number = below(stream.next_u64(), layers.len() as u32);
        random_position(&layers[number as usize], stream)
    })
}
