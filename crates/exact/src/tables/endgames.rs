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

    /// Builds the tables of all forces that take seconds, for this process alone. `None` for games without tables.
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

    /// The force of a position, by which tables are divided, whether there are tables or not. `None` in games
    /// that have no such number.
    fn force_of(&self, _position: &Self::Position) -> Option<u32> {
        None
    }

    /// Draws random endgames, which needs no tables. All forces up to this one are equally likely, as far as tables can
    /// have them, and all placements of a force; some positions are over. `None` if the game has no random endgames.
    fn random_endgames(&self, _force: u32) -> Option<RandomEndgames<Self::Position>> {
        None
    }
}

/// A function that draws random endgames.
pub type RandomEndgames<P> = Arc<dyn Fn(&mut Stream) -> P + Send + Sync>;

/// Tables of any game, by their folder, how the names of their files begin, and whether it has shuttle bounds.
type ByFolder = HashMap<(PathBuf, &'static str, bool), Weak<dyn Any + Send + Sync>>;

/// Tables in use.
static SHARED: LazyLock<Mutex<ByFolder>> = LazyLock::new(Mutex::default);

/// The tables of a folder, with what `open_bounds` finds there. Those that are still in use are shared if they belong to
/// this game.
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
