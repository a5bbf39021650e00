//! Tables as exact knowledge of a game: opens them by folder, draws random endgames, and applies the limit on the length.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};
use std::time::Duration;

use rand::Rng;

use super::build::{BuildSettings, build};
use super::file::finished_path;
use super::index::{LEAST_FORCE, Layer};
use super::lookup::{AT_ONCE, Tables, after};
use super::real::{Holds, RealTables};
use super::solvable::{self, Packed, Solvable};
use super::verify::random_position;
use crate::{ExactError, ExactErrorKind};
use jarmo_core::game::{Action, Game, Proven};
use jarmo_core::games::{ConnectFour, Guard, Jarmo, JarmoPosition, Tammi, TammiPosition};
use jarmo_core::known::Endgames;
use jarmo_core::random::{Stream, below};

/// A game for which there may be exact tables.
pub trait HasEndgames: Game {
    /// Opens a folder of tables. Tables that are still in use are shared.
    fn open_endgames(&self, _folder: &Path) -> Result<Arc<dyn Endgames<Self>>, ExactError> {
        Err(ExactError::no_tables(self.id()))
    }

    /// Builds in a folder the tables of all forces that take seconds, and opens them. `None` for games without tables.
    fn build_quick_endgames(&self, _folder: &Path) -> Result<Option<Arc<dyn Endgames<Self>>>, ExactError> {
        Ok(None)
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

/// Builds tables in a folder up to a force that takes seconds.
fn build_quick<G: Solvable>(game: &G, folder: &Path, force: u32) -> Result<Arc<Tables<G>>, ExactError> {
    let settings = BuildSettings { force, memory: None, save_every: Duration::MAX };
    Ok(Arc::new(build(game, folder, settings, &mut |_| {})?))
}

impl<G: Solvable> Endgames<G> for Tables<G> {
    fn known(&self, game: &G, position: &G::Position) -> Option<Proven> {
        self.within_limit(game, position, self.proven(position)?)
    }

    fn known_all(&self, game: &G, positions: &[G::Position], out: &mut Vec<Option<Proven>>) {
        self.known_all_by(positions, out, |position, proven| self.within_limit(game, position, proven));
    }

    fn after(&self, game: &G, position: &G::Position, action: Action) -> Proven {
        let mover = game.to_move(position);
        let next = after(game, position, action);
        if let Some(outcome) = game.outcome(&next) {
            return Proven::over(outcome.verdict(mover)).before();
        }
        let proven = self.proven(&next).expect("successors of known positions are known");
        // The limit is far enough, because `known` knows the position before.
        let proven = game.in_game(&next, proven);
        if game.to_move(&next) == mover { proven } else { proven.flip() }.before()
    }

    fn force(&self, position: &G::Position) -> u32 {
        G::force(position)
    }

    fn way_forward(&self, game: &G, position: &G::Position, winning: &[Action], stream: &mut Stream) -> Action {
        G::way_forward(self, game, position, winning, stream)
    }

    fn random(&self, stream: &mut Stream) -> G::Position {
        let number = below(stream.next_u64(), self.layers().count() as u32) as usize;
        random_position(self.layers().nth(number).expect("the number is below that of the layers"), stream)
    }
}

impl<G: Solvable> Tables<G> {
    /// What is known of many positions, by the value that each has in the tables.
    pub(super) fn known_all_by(
        &self,
        positions: &[G::Position],
        out: &mut Vec<Option<Proven>>,
        known: impl Fn(&G::Position, Proven) -> Option<Proven>,
    ) {
        let mut found = [None; AT_ONCE];
        out.clear();
        for positions in positions.chunks(AT_ONCE) {
            let found = &mut found[..positions.len()];
            self.proven_all(positions, found);
            out.extend(positions.iter().zip(found).map(|(position, proven)| known(position, (*proven)?)));
        }
    }

    /// The result under the limit on the length of the game. `None` if the limit is so close that it could matter and
    /// how is not known, here or after one action.
    pub(super) fn within_limit(&self, game: &G, position: &G::Position, proven: Proven) -> Option<Proven> {
        let left = game.plies_left(position);
        let is_far = left.is_none_or(|left| !G::is_close(self, position, proven, left));
        is_far.then(|| game.in_game(position, proven))
    }
}

/// What is in use, by folder.
type Shared<T> = Mutex<HashMap<PathBuf, Weak<T>>>;

/// What is in use of this folder if it `fits`, otherwise what `open` makes of the folder.
fn share<T>(
    shared: &Shared<T>,
    folder: &Path,
    fits: impl FnOnce(&T) -> bool,
    open: impl FnOnce() -> Result<T, ExactError>,
) -> Result<Arc<T>, ExactError> {
    let key = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let mut opened = shared.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = opened.get(&key).and_then(Weak::upgrade).filter(|found| fits(found)) {
        return Ok(found);
    }
    let new = Arc::new(open()?);
    opened.insert(key, Arc::downgrade(&new));
    Ok(new)
}

/// The tables of a folder, with others that use them.
fn open_shared<G: Solvable>(game: &G, folder: &Path, shared: &Shared<Tables<G>>) -> Result<Arc<Tables<G>>, ExactError> {
    let fits = |tables: &Tables<G>| tables.belong_to(game);
    share(shared, folder, fits, || open(game, folder))
}

fn open<G: Solvable>(game: &G, folder: &Path) -> Result<Tables<G>, ExactError> {
    let has = |force| finished_path::<G>(folder, force).exists() || G::Packed::exists(folder, force);
    let mut forces = G::FORCES;
    if folder.is_dir() && !forces.any(has) {
        let problem =
            format!("{} has no tables of {}; build them, or name another folder", folder.display(), game.id());
        return Err(ExactError::of_kind(ExactErrorKind::NoTables, problem));
    }
    Tables::open(game, folder)
}

/// Tables of jarmo in use.
static JARMO: LazyLock<Shared<Tables>> = LazyLock::new(Shared::default);

/// Tables of tammi in use.
static TAMMI: LazyLock<Shared<Tables<Tammi>>> = LazyLock::new(Shared::default);

/// Tables of jarmo in use whose folder also has what each side holds under the shuttle rule.
static REAL: LazyLock<Shared<RealTables>> = LazyLock::new(Shared::default);

/// Draws a force, then a position of that force.
fn draw_endgames<L: solvable::Layer + 'static>(
    forces: RangeInclusive<u32>,
    layer: impl Fn(u32) -> L,
) -> RandomEndgames<L::Position> {
    let layers: Vec<L> = forces.map(layer).collect();
    Arc::new(move |stream| {
        let number = below(stream.next_u64(), layers.len() as u32);
        random_position(&layers[number as usize], stream)
    })
}

impl HasEndgames for Jarmo {
    fn force_of(&self, position: &JarmoPosition) -> Option<u32> {
        Some(position.force())
    }

    fn open_endgames(&self, folder: &Path) -> Result<Arc<dyn Endgames<Jarmo>>, ExactError> {
        if !Holds::exist(folder) {
            return Ok(open_shared(self, folder, &JARMO)?);
        }
        let fits = |real: &RealTables| real.tables().belong_to(self);
        Ok(share(&REAL, folder, fits, || {
            let tables = open_shared(self, folder, &JARMO)?;
            Ok(RealTables::new(tables, Holds::open(self, folder)?))
        })?)
    }

    fn build_quick_endgames(&self, folder: &Path) -> Result<Option<Arc<dyn Endgames<Jarmo>>>, ExactError> {
        Ok(Some(build_quick(self, folder, 6)?))
    }

    fn random_endgames(&self, force: u32) -> Option<RandomEndgames<JarmoPosition>> {
        Some(draw_endgames(LEAST_FORCE..=force, Layer::new))
    }
}

impl HasEndgames for Tammi {
    fn force_of(&self, position: &TammiPosition) -> Option<u32> {
        Some(Tammi::force(position))
    }

    fn open_endgames(&self, folder: &Path) -> Result<Arc<dyn Endgames<Tammi>>, ExactError> {
        Ok(open_shared(self, folder, &TAMMI)?)
    }

    fn build_quick_endgames(&self, folder: &Path) -> Result<Option<Arc<dyn Endgames<Tammi>>>, ExactError> {
        Ok(Some(build_quick(self, folder, 4)?))
    }

    fn random_endgames(&self, force: u32) -> Option<RandomEndgames<TammiPosition>> {
        let (least, most) = Tammi::FORCES.into_inner();
        Some(draw_endgames(least..=force.min(most), Tammi::layer))
    }
}

impl HasEndgames for Guard {}

impl HasEndgames for ConnectFour {}
