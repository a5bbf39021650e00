//! What the tables need to know of a game: the layers of its positions, and how a layer is solved.

use std::fmt::Debug;
use std::ops::{Range, RangeInclusive};
use std::path::Path;
use std::time::Duration;

use super::file::{Bytes, Owner};
use super::lookup::Tables;
use super::real::Holds;
use crate::ExactError;
use jarmo_core::game::{Action, Game, Player, Proven};
use jarmo_core::random::Stream;

/// A game whose positions with little left on the board can be solved.
///
/// The *force* of a position counts what is left on the board, so that it never grows: archers and marks in jarmo,
/// pieces in tammi. The positions of one force are a [`Layer`]. Layers are solved one after the other, because an
/// action leads to the same layer or to a lower one.
pub trait Solvable: Game {
    /// The forces that tables can have.
    const FORCES: RangeInclusive<u32>;
    /// What the force of a position counts.
    const FORCE_COUNTS: &'static str;
    /// How the names of its files begin.
    const FILES: &'static str;
    /// The event to which the plies of won and lost positions count.
    const PLIES_TO: PliesTo;
    /// The most plies that a packed result can have; `None` if packed results have no plies.
    const PACKED_PLIES: Option<u32> = None;
    /// Whether there may be files of what the sides hold by every rule.
    const HOLDS: bool = false;
    /// What the tables of other rules with the same version were built for, and the remedy.
    const OTHER_RULES: [&'static str; 2];

    /// The index of one force.
    type Layer: Layer<Position = Self::Position> + 'static;

    /// The layer of this force.
    fn layer(force: u32) -> Self::Layer;

    /// The force of a position.
    fn force(position: &Self::Position) -> u32;

    /// The settings of the rules that change the tables, as text.
    fn solved_rules(&self) -> String;

    /// The value of a position whose placement has this value.
    fn value(&self, _position: &Self::Position, placement: Proven) -> Proven {
        placement
    }

    /// The value of a position that has no byte of its own; `None` outside the tables.
    fn value_without_byte(tables: &Tables<Self>, position: &Self::Position) -> Option<Proven>;

    /// The value of `position` for the player to move, if the action that leads to `next` is taken and `after` is
    /// the value there.
    fn value_before(_position: &Self::Position, _next: &Self::Position, after: Proven) -> Proven {
        after.flip().before()
    }

    /// Whether the limit on the length of the game, this many plies away, can change a value of the tables in a way that
    /// is not known, here or after one action.
    fn is_close(tables: &Tables<Self>, position: &Self::Position, proven: Proven, left: u32) -> bool;

    /// Opens the files of what the sides hold. Only jarmo has some.
    fn open_holds(&self, folder: &Path) -> Result<Holds, ExactError> {
        Err(ExactError::missing().at(folder))
    }

    /// Whether a player is proven not to lose a position by every rule; `None` if nothing is known of that.
    fn holds(_tables: &Tables<Self>, _position: &Self::Position, _player: Player) -> Option<bool> {
        None
    }

    /// The value in a game with a limit on its length that is not close.
    fn in_game(&self, position: &Self::Position, proven: Proven) -> Proven;

    /// Which of the actions that keep a win to take if its plies to the end are not known, so that it comes closer.
    fn way_forward(
        tables: &Tables<Self>,
        game: &Self,
        position: &Self::Position,
        winning: &[Action],
        stream: &mut Stream,
    ) -> Action;

    /// The same position without the history that tables must ignore for a game to end as they say. Other history
    /// stays.
    fn as_solved(position: &Self::Position) -> Self::Position {
        *position
    }

    /// Refuses rules that cannot be solved.
    fn check_solvable(&self) -> Result<(), ExactError> {
        Ok(())
    }

    /// The matrices of a packed layer: the rows of each, and the symbols in a row.
    fn matrices(layer: &Self::Layer) -> Vec<[usize; 2]>;

    /// Reads a row of a matrix, by the numbers of both, from the values of a layer. Symbols are below 81.
    fn read_row(&self, layer: &Self::Layer, values: &[u8], row: (usize, usize), symbols: &mut [u8]);

    /// The bytes of memory that solving a layer takes at least, and with the whole layer in memory; mapped files aside.
    fn memory_needed(layer: &Self::Layer) -> (u64, u64);

    /// Solves a layer and writes its table.
    fn build_layer(&self, job: &Job<'_, Self>, tell: &mut dyn FnMut(LayerEvent)) -> Result<(), ExactError>;
}

/// The event to which the plies of won and lost positions count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PliesTo {
    /// The end of the game: the winner is quick, the loser slow.
    End,
    /// The next capture or the end of the game.
    Capture,
}

/// A dense index of the positions of one force. Equal numbers stand for positions that have the same value without
/// their history.
pub trait Layer: Send + Sync + Debug {
    /// The positions.
    type Position;

    /// The force of all its positions.
    fn force(&self) -> u32;

    /// The number of indices.
    fn size(&self) -> usize;

    /// The index of a position; `None` if it has another force or no byte of its own.
    fn index_of(&self, position: &Self::Position) -> Option<usize>;

    /// A position with this index, without a history.
    ///
    /// # Panics
    /// Panics unless the index is below [`Layer::size`].
    fn position_at(&self, index: usize) -> Self::Position;

    /// Ranges of indices with the same player to move, in order; `None` for placements that stand for both players.
    fn sides(&self) -> Vec<(Option<Player>, Range<usize>)>;
}

/// A layer to solve.
pub struct Job<'a, G: Solvable> {
    /// Where its files are.
    pub folder: &'a Path,
    /// What its table says about the rules.
    pub owner: Owner,
    /// The layer.
    pub layer: G::Layer,
    /// The finished layers, lowest force first.
    pub done: &'a [Bytes],
    /// The time between two saves.
    pub save_every: Duration,
    /// The bytes of memory that may be used.
    pub memory: u64,
}

/// A message while a layer is solved.
#[derive(Clone, Debug)]
pub enum LayerEvent {
    /// It goes on from the last save of an earlier build.
    Resumed,
    /// Files of an earlier build are damaged; why.
    Rebuilding(String),
    /// This share of the work is done.
    Done(f64),
}
