//! The interface between the tables and a game: the layers of its positions, how to solve a layer, and the rules that
//! its values ignore.

use std::fmt::Debug;
use std::ops::{Range, RangeInclusive};
use std::path::Path;
use std::time::Duration;

use rand::Rng;

use super::file::{Bytes, Owner, TableId};
use crate::ExactError;
use jarmo_core::game::{Game, Player, Proven};
use jarmo_core::random::Stream;

/// A game whose positions with little left on the board can be solved.
///
/// The *force* of a position counts what is left on the board, so that it never grows: archers and marks in jarmo,
/// pieces in tammi. The positions of one force are a [`Layer`]. Layers are solved one after the other, because an
/// action leads to the same layer or to a lower one.
pub trait Solvable: Game {
    /// The tables of this game.
    const TABLES: TableKind;

    /// The index of one force.
    type Layer: Layer<Position = Self::Position> + 'static;

    /// The force of a position.
    fn force(position: &Self::Position) -> u32;

    /// The settings of the rules that change the tables, as text.
    fn solved_rules(&self) -> String;

    /// The same position without the history that tables ignore, so that a game from it ends as the tables say. Other
    /// history stays.
    fn as_solved(position: &Self::Position) -> Self::Position {
        *position
    }

    /// Applies the history that the index ignores to the value of a placement.
    fn value(&self, _position: &Self::Position, placement: Proven) -> Proven {
        placement
    }

    /// The value of `position` for the player to move, if the action that leads to `next` is taken and `after` is
    /// the value there.
    fn value_before(_position: &Self::Position, _next: &Self::Position, after: Proven) -> Proven {
        after.flip().before()
    }

    /// The value of a position that has no byte of its own; `None` outside the tables. `packed` is the packed
    /// table of its force, if there is one, and `known` gives the values of other positions.
    fn value_without_byte(
        &self,
        position: &Self::Position,
        packed: Option<Packed<'_, Self::Layer>>,
        known: &dyn Fn(&Self::Position) -> Option<Proven>,
    ) -> Option<Proven>;

    /// Calls a function with the symbols of the packed table of a layer with these values, in order. Each call gets the
    /// fraction of the work that is done, and some symbols.
    fn each_symbol(&self, layer: &Self::Layer, values: &[u8], visit: &mut dyn FnMut(f64, &[u8]));

    /// The bytes of memory that solving a layer takes.
    fn memory_needed(layer: &Self::Layer) -> u64;

    /// Solves a layer and writes its table. Fails for rules that cannot be solved.
    fn solve(&self, job: &Job<'_, Self::Layer>, tell: &mut dyn FnMut(LayerEvent)) -> Result<(), ExactError>;
}

/// The packed table of a force.
#[derive(Clone, Copy)]
pub struct Packed<'a, L> {
    /// The positions.
    pub layer: &'a L,
    /// Reads a symbol.
    pub symbol: &'a dyn Fn(usize) -> u8,
}

/// The tables of a game.
#[derive(Clone, Debug)]
pub struct TableKind {
    /// The forces that tables can have.
    pub forces: RangeInclusive<u32>,
    /// The highest force up to which tables take only seconds.
    pub quick: u32,
    /// What the force of a position counts.
    pub force_counts: &'static str,
    /// How the names of the files begin.
    pub files: &'static str,
    /// The event to which the plies of won and lost positions count.
    pub plies_to: PliesTo,
    /// How many positions of a layer share one symbol of its packed table.
    pub positions_per_symbol: usize,
    /// Whether packed results have plies.
    pub packs_plies: bool,
    /// What the tables of other rules with the same version were built for, and the remedy.
    pub other_rules: [&'static str; 2],
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

    /// The layer of this force.
    ///
    /// # Panics
    /// Panics if the game has no tables of this force.
    fn new(force: u32) -> Self;

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

/// A random position of the layer; every placement is equally likely.
pub fn random_position<L: Layer>(layer: &L, stream: &mut Stream) -> L::Position {
    let share = u128::from(stream.next_u64()) * layer.size() as u128;
    layer.position_at((share >> 64) as usize)
}

/// A layer to solve.
pub struct Job<'a, L> {
    /// The table to write.
    pub id: TableId<'a>,
    /// The layer.
    pub layer: &'a L,
    /// The tables of the layers below, lowest force first.
    pub lower: &'a [Bytes],
    /// The time between two saves.
    pub save_every: Duration,
}

/// A message while a layer is solved.
#[derive(Clone, Debug)]
pub enum LayerEvent {
    /// The work continues from the last save of an earlier build.
    Resumed,
    /// Files of an earlier build are damaged for this reason.
    Rebuilding(String),
    /// This fraction of the work is done.
    Done(f64),
}

/// The rules that the tables of this game are valid for.
pub fn owner<G: Solvable>(game: &G) -> Owner {
    Owner::new(game.rules_version(), &game.solved_rules(), G::TABLES.other_rules)
}

/// The table of a layer in a folder.
pub(super) fn table_id<'a, G: Solvable>(folder: &'a Path, owner: Owner, layer: &G::Layer) -> TableId<'a> {
    TableId { folder, files: G::TABLES.files, owner, force: layer.force(), size: layer.size() }
}
