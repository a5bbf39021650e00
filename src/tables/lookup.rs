//! Lookups in the tables.

use std::path::Path;

use super::code;
use super::file::{Bytes, Owner, Problem, TableFileError, finished_path, open_finished};
use super::index::{LEAST_FORCE, Layer, MOST_FORCE, Material, Placement};
use super::lines::{Blockable, Lines, is_over, score_difference};
use super::packed::{PackedLayer, packed_path};
use super::solve::{Layers, Pages, Solver};
use crate::game::{Action, Game, Mask, Player, Proven, Verdict};
use crate::games::{Jarmo, JarmoPosition};

/// The exact values of all positions up to a force, for one board.
///
/// The values are those of jarmo *without the shuttle rule and without a limit on the length of a game*;
/// a position's shuttles and ply are ignored.
///
/// A force has a table with distances, or packed results without.
#[derive(Debug)]
pub struct Tables {
    game: Jarmo, // without a limit on the length
    layers: Vec<Solved>,
}

/// The solved positions of one force.
#[derive(Debug)]
struct Solved {
    layer: Layer,
    values: Values,
}

#[derive(Debug)]
enum Values {
    Exact(Bytes),
    Packed(PackedLayer),
}

/// Where a value was found.
#[derive(Clone, Copy)]
enum Place<'a> {
    Byte(&'a u8), // not read yet
    Known(Proven),
}

impl Place<'_> {
    #[inline]
    fn read(self) -> Proven {
        match self {
            Place::Byte(&byte) => code::proven(byte),
            Place::Known(proven) => proven,
        }
    }
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
    /// Opens a directory of tables or packed results and verifies all checksums. Of a force that has both,
    /// the table is taken.
    pub fn open(game: &Jarmo, folder: &Path) -> Result<Tables, TableFileError> {
        let owner = Owner::of(game);
        let has = |force| {
            let packed = !finished_path(folder, force).exists();
            (!packed || packed_path(folder, force).exists()).then_some(packed)
        };
        if !folder.is_dir() {
            return Err(TableFileError::new(folder, Problem::Missing));
        }
        let highest = (LEAST_FORCE..=MOST_FORCE)
            .rev()
            .find(|&force| has(force).is_some())
            .unwrap_or(LEAST_FORCE);
        let layers = (LEAST_FORCE..=highest)
            .map(|force| {
                let layer = Layer::new(force);
                let values = match has(force) {
                    Some(true) => Values::Packed(PackedLayer::open(folder, owner, &layer)?),
                    _ => Values::Exact(Bytes::Mapped(open_finished(folder, owner, &layer)?)),
                };
                Ok(Solved { layer, values })
            })
            .collect::<Result<_, TableFileError>>()?;
        let game = game.clone().with_max_plies(0);
        Ok(Tables { game, layers })
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
        Ok(Tables::from_layers(game, done))
    }

    /// Tables of finished layers, lowest force first.
    pub(super) fn from_layers(game: &Jarmo, layers: Vec<Bytes>) -> Tables {
        let layers = layers
            .into_iter()
            .zip(LEAST_FORCE..)
            .map(|(bytes, force)| Solved {
                layer: Layer::new(force),
                values: Values::Exact(bytes),
            })
            .collect();
        let game = game.clone().with_max_plies(0);
        Tables { game, layers }
    }

    /// Whether the tables belong to this game's board and rules.
    pub fn belong_to(&self, game: &Jarmo) -> bool {
        Owner::of(&self.game) == Owner::of(game)
    }

    /// The highest force in these tables.
    pub fn force(&self) -> u32 {
        LEAST_FORCE + self.layers.len() as u32 - 1
    }

    /// The layers, lowest force first.
    pub fn layers(&self) -> impl Iterator<Item = &Layer> {
        self.layers.iter().map(|solved| &solved.layer)
    }

    /// The bytes of a layer, one per position; `None` if the force has packed results or is not solved.
    pub fn bytes(&self, force: u32) -> Option<&[u8]> {
        match &self.solved(force)?.values {
            Values::Exact(bytes) => Some(bytes.get()),
            Values::Packed(_) => None,
        }
    }

    /// The packed results of a force, if it has no table.
    pub(super) fn packed(&self, force: u32) -> Option<&PackedLayer> {
        match &self.solved(force)?.values {
            Values::Exact(_) => None,
            Values::Packed(packed) => Some(packed),
        }
    }

    /// The plies of the longest win or loss among the packed results up to a force.
    pub(super) fn longest(&self, force: u32) -> u32 {
        let packed = (LEAST_FORCE..=force).filter_map(|force| self.packed(force));
        packed.map(PackedLayer::longest).max().unwrap_or(0)
    }

    #[inline]
    fn solved(&self, force: u32) -> Option<&Solved> {
        self.layers.get(force.checked_sub(LEAST_FORCE)? as usize)
    }

    /// The value for the player to move. `None` outside the tables and where a player has no archer. Packed
    /// results have no plies, unless the game is over.
    #[inline]
    pub fn proven(&self, position: &JarmoPosition) -> Option<Proven> {
        self.place(position).map(Place::read)
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
                *proven = place.map(Place::read);
            }
        }
    }

    /// The position's byte or its packed result, if it is in the tables.
    #[inline]
    fn place(&self, position: &JarmoPosition) -> Option<Place<'_>> {
        let placement = Placement::of(position);
        let Solved { layer, values } = self.solved(Material::of(&placement).force())?;
        match values {
            Values::Exact(bytes) => {
                let index = layer.index(&placement)?;
                Some(Place::Byte(&bytes.get()[index]))
            }
            Values::Packed(packed) => self
                .packed_result(packed, layer, &placement)
                .map(Place::Known),
        }
    }

    /// The result of a placement in packed results. Apart from [`Tables::place`], whose other path is the quick one.
    #[cold]
    #[inline(never)]
    fn packed_result(
        &self,
        packed: &PackedLayer,
        layer: &Layer,
        placement: &Placement,
    ) -> Option<Proven> {
        layer.block_of(&Material::of(placement))?;
        if is_over(placement) {
            return Some(Proven::over(match score_difference(placement) {
                1.. => Verdict::Win,
                0 => Verdict::Draw,
                _ => Verdict::Loss,
            }));
        }
        let verdict = match placement.mover {
            Player::White => packed.verdict(layer, placement)?,
            Player::Black => self.result_of_successors(placement)?,
        };
        Some(Proven {
            verdict,
            plies: None,
        })
    }

    /// The result for the player to move, from the results of the successors.
    fn result_of_successors(&self, placement: &Placement) -> Option<Verdict> {
        let position = placement.position();
        let mut best = Verdict::Loss;
        for action in self.game.legal(&position).iter() {
            let mut next = position;
            self.game.play(&mut next, action);
            let proven = self.proven(&next).or_else(|| without_archers(&next))?;
            best = best.max(proven.verdict.flip());
            if best == Verdict::Win {
                break;
            }
        }
        Some(best)
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
