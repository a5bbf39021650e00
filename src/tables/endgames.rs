//! What everything that plays asks the tables: is this result certain?

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use rand::Rng;

use super::file::FileError;
use super::index::{LEAST_FORCE, Layer};
use super::lookup::{AT_ONCE, Tables};
use super::verify::random_position;
use crate::game::{Action, Game, Outcome, Player, Proven};
use crate::games::{ConnectFour, Guard, Jarmo, JarmoPosition, Tammi};
use crate::random::{Stream, below};

/// Knows how some positions of a game end.
///
/// Whoever knows a position knows all that can come after it, except those that are over.
pub trait Endgames<G: Game>: Send + Sync {
    /// The result under best play for the player to move in a position that is not over, and the
    /// plies until it where it is decided; `None` if it is not known.
    fn known(&self, game: &G, position: &G::Position) -> Option<Proven>;

    /// [`Endgames::known`] of many positions at once, in their order.
    fn known_all(&self, game: &G, positions: &[G::Position], out: &mut Vec<Option<Proven>>) {
        out.clear();
        out.extend(positions.iter().map(|position| self.known(game, position)));
    }

    /// How the game ends if both players play by what is known: a winner as quickly, a loser as
    /// late as he can. `None` where nothing is known, and where the rules that the tables leave out
    /// could take a win away. Not asked about a game that is over.
    fn ending(&self, game: &G, position: &G::Position) -> Option<Ending>;

    /// A random position that is known or over: every force as likely as any other, and every
    /// placement of it too.
    fn random(&self, stream: &mut Stream) -> G::Position;

    /// What a legal action of a known position is worth to the player who takes it.
    fn after(&self, game: &G, position: &G::Position, action: Action) -> Proven {
        let mover = game.to_move(position);
        let mut next = *position;
        game.play(&mut next, action);
        if let Some(outcome) = game.outcome(&next) {
            return Proven::over(outcome.verdict(mover)).before();
        }
        let known = self.known(game, &next);
        let known = known.expect("tables know what comes after what they know");
        let same = game.to_move(&next) == mover;
        if same { known } else { known.flip() }.before()
    }
}

/// How a game ends from a known position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// The result, with the points at the end of the game played out. A draw has the points as they
    /// stand.
    pub outcome: Outcome,
    /// The plies until it; a draw has none.
    pub plies: Option<u32>,
}

/// A game for which there may be exact tables.
pub trait HasEndgames: Game {
    /// Opens a directory of tables. While somebody holds them, opening them again costs nothing.
    fn open_endgames(&self, _folder: &Path) -> Result<Arc<dyn Endgames<Self>>, EndgameError> {
        Err(EndgameError::NoTables(self.id()))
    }

    /// Draws positions with few pieces, tables or not: every force up to this one as likely as any
    /// other, and every placement of it too. Some are over. `None` if the game has no such thing.
    fn random_endgames(&self, _force: u32) -> Option<RandomEndgames<Self::Position>> {
        None
    }
}

/// Draws a position.
pub type RandomEndgames<P> = Arc<dyn Fn(&mut Stream) -> P + Send + Sync>;

/// Tables that cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum EndgameError {
    /// There are none for this game.
    #[error("there are exact tables for jarmo only, not for {0}")]
    NoTables(&'static str),
    /// The files are not sound, not there, or of another game.
    #[error("{0}")]
    File(FileError),
}

impl Endgames<Jarmo> for Tables {
    fn known(&self, game: &Jarmo, position: &JarmoPosition) -> Option<Proven> {
        let proven = self.proven(position)?;
        Some(within_limit(game, position, proven))
    }

    fn known_all(&self, game: &Jarmo, positions: &[JarmoPosition], out: &mut Vec<Option<Proven>>) {
        let mut found = [None; AT_ONCE];
        out.clear();
        for positions in positions.chunks(AT_ONCE) {
            let found = &mut found[..positions.len()];
            self.proven_all(positions, found);
            out.extend(positions.iter().zip(found).map(|(position, proven)| {
                let proven = (*proven)?;
                Some(within_limit(game, position, proven))
            }));
        }
    }

    fn ending(&self, game: &Jarmo, position: &JarmoPosition) -> Option<Ending> {
        let Proven { verdict, plies } = self.known(game, position)?;
        if shuttles(position) {
            return None;
        }
        let Some(plies) = plies else {
            let outcome = Outcome {
                winner: None,
                score: Some(position.score()),
                truncated: false,
            };
            return Some(Ending {
                outcome,
                plies: None,
            });
        };
        let mut end = *position;
        for _ in 0..plies {
            let actions = self.actions(game, &end)?;
            game.play(&mut end, actions.first()?.action);
        }
        let outcome = game.outcome(&end)?;
        let as_told = outcome.verdict(position.to_move()) == verdict;
        as_told.then_some(Ending {
            outcome,
            plies: Some(plies),
        })
    }

    fn random(&self, stream: &mut Stream) -> JarmoPosition {
        let layers = self.force() - LEAST_FORCE + 1;
        let number = below(stream.next_u64(), layers) as usize;
        let (layer, _) = self.layers().nth(number).expect("below their number");
        random_position(layer, stream)
    }
}

/// What a result is worth where the game is cut off after some plies.
fn within_limit(game: &Jarmo, position: &JarmoPosition, proven: Proven) -> Proven {
    match (game.plies_left(position), proven.plies) {
        // The loser holds out to the limit, where the game is drawn.
        (Some(left), Some(plies)) if plies > left => Proven::DRAW,
        _ => proven,
    }
}

/// The longest run of moves of a player, each undoing the one before, with which a game ends by the
/// tables. Up to two, no win or loss was found that the shuttle rule changes; of the draws it makes
/// a few decided, with no move before too.
const MOST_STREAK: u8 = 1;

/// Whether a player has begun to go to and fro, so that the shuttle rule can come to matter.
fn shuttles(position: &JarmoPosition) -> bool {
    Player::BOTH.into_iter().any(|player| {
        let last = position.shuttle(player).last_move();
        last.is_some_and(|(_, streak)| streak > MOST_STREAK)
    })
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

    fn random_endgames(&self, force: u32) -> Option<RandomEndgames<JarmoPosition>> {
        let layers: Vec<Layer> = (LEAST_FORCE..=force).map(Layer::new).collect();
        Some(Arc::new(move |stream| {
            let number = below(stream.next_u64(), layers.len() as u32);
            random_position(&layers[number as usize], stream)
        }))
    }
}

impl HasEndgames for Guard {}

impl HasEndgames for Tammi {}

impl HasEndgames for ConnectFour {}
