//! Tables as exact knowledge of a game: opens them by folder, draws random endgames, and applies the limit on the length.

use std::any::Any;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use rand::Rng;

use super::file::{finished_path, packed_path};
use super::lookup::Tables;
use super::real::Holds;
use super::solvable::Solvable;
use super::verify::random_position;
use crate::{ExactError, ExactErrorKind};
use jarmo_core::game::{Action, Game, Player, Proven, Verdict};
use jarmo_core::known::{Endgames, Guide};
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

    /// The proof that is part of the program; `None` for games, boards and programs without one.
    fn proof(&self) -> Option<Arc<dyn Guide<Self>>> {
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

    /// The limit on the length is far enough: `known` asked that of the position before.
    fn successor(&self, game: &G, position: &G::Position) -> Option<Proven> {
        Some(game.in_game(position, self.proven(position)?))
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

/// Tables of any game, by their folder and how the names of their files begin.
type ByFolder = HashMap<(PathBuf, &'static str), Weak<dyn Any + Send + Sync>>;

/// Tables in use.
static SHARED: LazyLock<Mutex<ByFolder>> = LazyLock::new(Mutex::default);

/// The tables of a folder. Those that are still in use are shared if they belong to this game.
pub(crate) fn open_shared<G: Solvable>(game: &G, folder: &Path) -> Result<Arc<Tables<G>>, ExactError> {
    let key = (folder.canonicalize().unwrap_or_else(|_| folder.to_owned()), G::FILES);
    let has_holds = G::HOLDS && Holds::exist(folder);
    let fits = |tables: &Arc<Tables<G>>| tables.belong_to(game) && tables.holds.is_some() == has_holds;
    let mut opened = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    let found = opened.get(&key).and_then(Weak::upgrade).and_then(|found| found.downcast().ok());
    if let Some(found) = found.filter(fits) {
        return Ok(found);
    }
    let has = |force| finished_path::<G>(folder, force).exists() || packed_path::<G>(folder, force).exists();
    if folder.is_dir() && !G::FORCES.into_iter().any(has) {
        let problem =
            format!("{} has no tables of {}; build them, or name another folder", folder.display(), game.id());
        return Err(ExactError::of_kind(ExactErrorKind::NoTables, problem));
    }
    let mut tables = Tables::open(game, folder)?;
    tables.holds = has_holds.then(|| G::open_holds(game, folder)).transpose()?;
    let new = Arc::new(tables);
    let any: Arc<dyn Any + Send + Sync> = new.clone();
    opened.insert(key, Arc::downgrade(&any));
    Ok(new)
}

/// Draws a force up to this one, then a position of that force.
pub(crate) fn draw_endgames<G: Solvable>(most: u32) -> RandomEndgames<G::Position> {
    let (least, highest) = G::FORCES.into_inner();
    let layers: Vec<G::Layer> = (least..=most.min(highest)).map(G::layer).collect();
    Arc::new(move |stream| {
        let number = below(stream.next_u64(), layers.len() as u32);
        random_position(&layers[number as usize], stream)
    })
}
