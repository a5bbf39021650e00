//! Asking the tables.

use std::path::Path;

use super::code;
use super::file::{Bytes, FileError, Owner, Problem, finished_path, open_finished};
use super::index::{LEAST_FORCE, Layer, MOST_FORCE, Material, Placement};
use super::lines::{Blockable, Lines};
use super::solve::{Layers, SolveError, Solver};
use crate::game::{Action, Game, Mask, Proven};
use crate::games::{Jarmo, JarmoPosition};

/// The exact values of all positions up to a force, for one web.
///
/// They are the values of jarmo *without the shuttle rule and without a limit on its length*: what a
/// position's shuttles and ply say plays no part.
#[derive(Debug)]
pub struct Tables {
    owner: Owner,
    layers: Vec<(Layer, Bytes)>,
}

/// An action and what it is worth to the player who takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActionValue {
    /// The action.
    pub action: Action,
    /// Result and distance for the player to move if he takes it.
    pub proven: Proven,
}

/// Positions that are looked up at once: more than a core can wait for.
pub(super) const AT_ONCE: usize = 64;

impl Tables {
    /// Opens a directory of tables and checks every byte of it.
    pub fn open(game: &Jarmo, folder: &Path) -> Result<Tables, FileError> {
        let owner = Owner::of(game);
        let highest = (LEAST_FORCE..=MOST_FORCE)
            .rev()
            .find(|&force| finished_path(folder, force).exists())
            .unwrap_or(LEAST_FORCE);
        if !folder.is_dir() {
            return Err(FileError::new(folder, Problem::Missing));
        }
        let layers = (LEAST_FORCE..=highest)
            .map(|force| {
                let layer = Layer::new(force);
                let map = open_finished(folder, owner, &layer)?;
                Ok((layer, Bytes::Mapped(map)))
            })
            .collect::<Result<_, FileError>>()?;
        Ok(Tables { owner, layers })
    }

    /// Solves all layers up to a force in memory.
    ///
    /// # Panics
    /// Panics if a game of a layer takes more plies than a byte holds, which none does on the
    /// standard web up to force 8.
    pub fn solve(game: &Jarmo, force: u32) -> Result<Tables, Blockable> {
        let lines = Lines::of(game.web())?;
        let mut done: Vec<Bytes> = Vec::new();
        for force in LEAST_FORCE..=force {
            let layer = Layer::new(force);
            let lower = Layers::of(done.iter().map(Bytes::get));
            let solver = Solver::new(&lines, &layer, &lower);
            let finished: Result<_, SolveError> = solver
                .start(&mut ())
                .and_then(|state| solver.finish(state, &mut ()));
            let finished = finished.unwrap_or_else(|error| panic!("{error}"));
            done.push(Bytes::Owned(finished.bytes));
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

    /// Whether the tables belong to this game's web and rules.
    pub fn belong_to(&self, game: &Jarmo) -> bool {
        self.owner == Owner::of(game)
    }

    /// The highest force they hold.
    pub fn force(&self) -> u32 {
        LEAST_FORCE + self.layers.len() as u32 - 1
    }

    /// The layers, lowest force first: how positions are numbered, and a byte for each.
    pub fn layers(&self) -> impl Iterator<Item = (&Layer, &[u8])> {
        self.layers
            .iter()
            .map(|(layer, bytes)| (layer, bytes.get()))
    }

    /// What the position is worth to the player to move; `None` outside the tables, and where a
    /// player has no archer.
    #[inline]
    pub fn proven(&self, position: &JarmoPosition) -> Option<Proven> {
        self.place(position).map(|&byte| code::proven(byte))
    }

    /// [`Tables::proven`] of many positions: several times as fast where the tables are larger than
    /// the processor's caches, because it waits for the bytes of many positions at once.
    ///
    /// # Panics
    /// Panics unless there is a place in `out` for each position.
    pub fn proven_all(&self, positions: &[JarmoPosition], out: &mut [Option<Proven>]) {
        assert_eq!(positions.len(), out.len(), "a place for each answer");
        for (positions, out) in positions.chunks(AT_ONCE).zip(out.chunks_mut(AT_ONCE)) {
            let mut places = [None; AT_ONCE];
            for (place, position) in places.iter_mut().zip(positions) {
                *place = self.place(position);
            }
            // Nothing between one of these reads and the next depends on what was read.
            for (proven, place) in out.iter_mut().zip(&places) {
                *proven = place.map(|&byte| code::proven(byte));
            }
        }
    }

    /// Where the position's byte is, if the tables reach it.
    #[inline]
    fn place(&self, position: &JarmoPosition) -> Option<&u8> {
        let placement = Placement::of(position);
        let number = Material::of(&placement).force().checked_sub(LEAST_FORCE)?;
        let (layer, bytes) = self.layers.get(number as usize)?;
        let index = layer.index(&placement)?;
        Some(&bytes.get()[index])
    }

    /// What each legal action of a position inside the tables is worth to the player to move, best
    /// first; equals in the order of the actions. `None` outside the tables; empty when the game is
    /// over.
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

/// What a position is worth in which a player has lost all archers.
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
