//! Lookups in the tables.

use std::path::Path;

use super::code;
use super::file::{Bytes, Owner, Problem, TableFileError, finished_path, open_finished};
use super::index::{LEAST_FORCE, Layer, MOST_FORCE, Material, Placement};
use super::lines::{Blockable, Lines};
use super::solve::{Layers, Pages, Solver};
use crate::game::{Action, Game, Mask, Proven};
use crate::games::{Jarmo, JarmoPosition};

/// The exact values of all positions up to a force, for one board.
///
/// The values are those of jarmo *without the shuttle rule and without a limit on the length of a game*;
/// a position's shuttles and ply are ignored.
#[derive(Debug)]
pub struct Tables {
    owner: Owner,
    layers: Vec<(Layer, Bytes)>,
}

/// An action and its exact value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActionValue {
    /// The action.
    pub action: Action,
    /// Result and distance for the player who takes it.
    pub proven: Proven,
}

/// Positions per batch of lookups: more than a core can have memory reads in flight.
pub(super) const AT_ONCE: usize = 64;

impl Tables {
    /// Opens a directory of tables and verifies all checksums.
    pub fn open(game: &Jarmo, folder: &Path) -> Result<Tables, TableFileError> {
        let owner = Owner::of(game);
        let highest = (LEAST_FORCE..=MOST_FORCE)
            .rev()
            .find(|&force| finished_path(folder, force).exists())
            .unwrap_or(LEAST_FORCE);
        if !folder.is_dir() {
            return Err(TableFileError::new(folder, Problem::Missing));
        }
        let layers = (LEAST_FORCE..=highest)
            .map(|force| {
                let layer = Layer::new(force);
                let map = open_finished(folder, owner, &layer)?;
                Ok((layer, Bytes::Mapped(map)))
            })
            .collect::<Result<_, TableFileError>>()?;
        Ok(Tables { owner, layers })
    }

    /// Solves all layers up to a force in memory.
    ///
    /// # Panics
    /// Panics if a distance does not fit into a byte. On the standard board all fit up to force 8.
    pub fn solve(game: &Jarmo, force: u32) -> Result<Tables, Blockable> {
        let lines = Lines::of(game.board())?;
        let mut done: Vec<Bytes> = Vec::new();
        for force in LEAST_FORCE..=force {
            let layer = Layer::new(force);
            let lower = Layers::of(done.iter().map(Bytes::get));
            let solver = Solver::new(&lines, &layer, &lower);
            let mut pages = Pages::in_memory(&layer);
            let solved = solver.solve(&mut pages, &mut |_| {});
            solved.unwrap_or_else(|error| panic!("{error}"));
            done.push(Bytes::Owned(pages.into_bytes()));
        }
        Ok(Tables::from_layers(Owner::of(game), done))
    }

    /// Tables of finished layers, lowest force first.
    pub(super) fn from_layers(owner: Owner, layers: Vec<Bytes>) -> Tables {
        let layers = layers
            .into_iter()
            .zip(LEAST_FORCE..)
            .map(|(bytes, force)| (Layer::new(force), bytes))
            .collect();
        Tables { owner, layers }
    }

    /// Whether the tables belong to this game's board and rules.
    pub fn belong_to(&self, game: &Jarmo) -> bool {
        self.owner == Owner::of(game)
    }

    /// The highest force in these tables.
    pub fn force(&self) -> u32 {
        LEAST_FORCE + self.layers.len() as u32 - 1
    }

    /// The layers, lowest force first: each layer's index and its bytes, one per position.
    pub fn layers(&self) -> impl Iterator<Item = (&Layer, &[u8])> {
        self.layers
            .iter()
            .map(|(layer, bytes)| (layer, bytes.get()))
    }

    /// The value for the player to move. `None` outside the tables and where a player has no archer.
    #[inline]
    pub fn proven(&self, position: &JarmoPosition) -> Option<Proven> {
        self.place(position).map(|&byte| code::proven(byte))
    }

    /// [`Tables::proven`] of many positions. If the tables are larger than the processor's caches this is
    /// several times faster, because the memory reads overlap.
    ///
    /// # Panics
    /// Panics unless `positions` and `out` have the same length.
    pub fn proven_all(&self, positions: &[JarmoPosition], out: &mut [Option<Proven>]) {
        assert_eq!(positions.len(), out.len(), "one value per position");
        for (positions, out) in positions.chunks(AT_ONCE).zip(out.chunks_mut(AT_ONCE)) {
            let mut places = [None; AT_ONCE];
            for (place, position) in places.iter_mut().zip(positions) {
                *place = self.place(position);
            }
            // The reads are independent of each other, so the processor overlaps them.
            for (proven, place) in out.iter_mut().zip(&places) {
                *proven = place.map(|&byte| code::proven(byte));
            }
        }
    }

    /// The position's byte, if it is in the tables.
    #[inline]
    fn place(&self, position: &JarmoPosition) -> Option<&u8> {
        let placement = Placement::of(position);
        let number = Material::of(&placement).force().checked_sub(LEAST_FORCE)?;
        let (layer, bytes) = self.layers.get(number as usize)?;
        let index = layer.index(&placement)?;
        Some(&bytes.get()[index])
    }

    /// The values of all legal actions for the player to move, best first; ties in the order of the
    /// actions. `None` outside the tables; empty if the game is over.
    pub fn actions(&self, game: &Jarmo, position: &JarmoPosition) -> Option<Vec<ActionValue>> {
        self.proven(position)?;
        let legal = game.legal(position);
        let nexts: Vec<JarmoPosition> = legal
            .iter()
            .map(|action| {
                let mut next = *position;
                game.play(&mut next, action);
                next
            })
            .collect();
        let mut found = vec![None; nexts.len()];
        self.proven_all(&nexts, &mut found);
        let after = nexts.iter().zip(found);
        let mut values: Vec<ActionValue> = legal
            .iter()
            .zip(after)
            .map(|(action, (next, found))| {
                let after = found.or_else(|| without_archers(next));
                let proven = after.expect("force never grows").flip().before();
                ActionValue { action, proven }
            })
            .collect();
        values.sort_by_key(|value| -value.proven.preference());
        Some(values)
    }
}

/// The value of a position in which a player has no archer left.
fn without_archers(position: &JarmoPosition) -> Option<Proven> {
    let mover = position.to_move();
    if position.archers(mover).is_empty() {
        Some(Proven::loss(0))
    } else if position.archers(!mover).is_empty() {
        Some(Proven::win(0))
    } else {
        None
    }
}
