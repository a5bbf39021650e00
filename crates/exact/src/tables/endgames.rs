//! Tables as exact knowledge of a game: opens them by folder, draws random endgames, and applies the limit on the length.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use rand::Rng;

use super::file::{finished_path, packed_path};
use super::index::{LEAST_FORCE, Layer};
use super::lookup::{Tables, after};
use super::real::Holds;
use super::solvable::{self, Solvable};
use super::verify::random_position;
use crate::{ExactError, ExactErrorKind};
use jarmo_core::game::{Action, Game, Player, Proven, Verdict};
use jarmo_core::games::{ConnectFour, Guard, Jarmo, JarmoPosition, Tammi, TammiPosition};
use jarmo_core::known::Endgames;
use jarmo_core::random::{Stream, below};

/// A game for which there may be exact tables.
pub trait HasEndgames: Game {
    /// Opens a folder of tables. Tables that are still in use are shared.
    fn open_endgames(&self, _folder: &Path) -> Result<Arc<dyn Endgames<Self>>, ExactError> {
        Err(ExactError::no_tables(self.id()))
    }

    /// Builds the tables of all forces that take seconds, for this process alone. `None` for games without tables.
    fn quick_endgames(&self) -> Result<Option<Arc<dyn Endgames<Self>>>, ExactError> {
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

impl<G: Solvable> Endgames<G> for Tables<G> {
    fn known(&self, game: &G, position: &G::Position) -> Option<Proven> {
        self.in_real_game(game, position, self.proven(position)?)
    }

    fn known_all(&self, game: &G, positions: &[G::Position], out: &mut Vec<Option<Proven>>) {
        out.clear();
        out.resize(positions.len(), None);
        self.proven_all(positions, out);
        for (position, known) in positions.iter().zip(out) {
            *known = known.and_then(|proven| self.in_real_game(game, position, proven));
        }
    }

    fn holds(&self, _: &G, position: &G::Position, player: Player) -> Option<bool> {
        let solved = G::force(position) <= self.force();
        solved.then(|| G::holds(self, position, player))?
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
    /// A result of the tables in the game as it is played. `None` if the limit on the length is so close that it could
    /// matter and how is not known, here or after one action, or if a player to whom the result gives a draw or win is
    /// not proven to hold it although something is known of that.
    fn in_real_game(&self, game: &G, position: &G::Position, proven: Proven) -> Option<Proven> {
        let mover = game.to_move(position);
        let holds = |player| G::holds(self, position, player) != Some(false);
        let stands = match proven.verdict {
            Verdict::Win => holds(mover),
            Verdict::Loss => holds(!mover),
            Verdict::Draw => Player::BOTH.into_iter().all(holds),
        };
        let is_far = |left| !G::is_close(self, position, proven, left);
        (stands && game.plies_left(position).is_none_or(is_far)).then(|| game.in_game(position, proven))
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

fn open<G: Solvable>(game: &G, folder: &Path) -> Result<Tables<G>, ExactError> {
    let has = |force| finished_path::<G>(folder, force).exists() || packed_path::<G>(folder, force).exists();
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
        let has_holds = Holds::exist(folder);
        let fits = |tables: &Tables| tables.belong_to(self) && tables.holds.is_some() == has_holds;
        Ok(share(&JARMO, folder, fits, || {
            let mut tables = open(self, folder)?;
            tables.holds = has_holds.then(|| Holds::open(self, folder)).transpose()?;
            Ok(tables)
        })?)
    }

    fn quick_endgames(&self) -> Result<Option<Arc<dyn Endgames<Jarmo>>>, ExactError> {
        Ok(Some(Arc::new(Tables::solve(self, 6)?)))
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
        Ok(share(&TAMMI, folder, |tables| tables.belong_to(self), || open(self, folder))?)
    }

    fn quick_endgames(&self) -> Result<Option<Arc<dyn Endgames<Tammi>>>, ExactError> {
        Ok(Some(Arc::new(Tables::solve(self, 4)?)))
    }

    fn random_endgames(&self, force: u32) -> Option<RandomEndgames<TammiPosition>> {
        let (least, most) = Tammi::FORCES.into_inner();
        Some(draw_endgames(least..=force.min(most), Tammi::layer))
    }
}

impl HasEndgames for Guard {}

impl HasEndgames for ConnectFour {}
