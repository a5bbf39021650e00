//! Lookups in the tables.

use std::path::Path;

use super::code;
use super::file::{Bytes, Owner, finished_path, packed_path};
use super::index::{LEAST_FORCE, Material, Placement};
use super::lines::{is_over, score_difference};
use super::packed::{PackedLayer, four};
use super::real::Holds;
use super::solvable::{Layer, Solvable};
use crate::ExactError;
use jarmo_core::env::Line;
use jarmo_core::game::{Action, Game, Mask, Player, Proven, Verdict};
use jarmo_core::games::{Jarmo, JarmoPosition};

/// The exact values of all positions up to a force.
///
/// Jarmo's are those *without the shuttle rule and without a limit on the length of a game*; a position's shuttles and
/// ply are ignored. Tammi's are those *without the rule of repetition and without a limit on the length of a game*, but
/// with the limit on plies without a capture.
///
/// A force has a table, or a packed one, which in jarmo has no distances.
#[derive(Debug)]
pub struct Tables<G: Solvable = Jarmo> {
    /// The game, without a limit on the length.
    pub(super) game: G,
    layers: Vec<Solved<G>>,
    /// What each side holds under the shuttle rule of jarmo, if there are files.
    pub(super) holds: Option<Holds>,
}

/// The solved positions of one force.
#[derive(Debug)]
struct Solved<G: Solvable> {
    layer: G::Layer,
    values: Values,
    longest: u32, // the most plies of a win or loss
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

/// An action and its exact value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActionValue {
    /// The action.
    pub action: Action,
    /// Result and distance for the player who takes it.
    pub proven: Proven,
}

/// Positions per batch of lookups: more than a core can have memory reads in flight.
const AT_ONCE: usize = 64;

impl<G: Solvable> Solved<G> {
    fn new(layer: G::Layer, values: Values) -> Solved<G> {
        let longest = match &values {
            Values::Exact(bytes) => bytes.longest(),
            Values::Packed(packed) => packed.stats.longest(),
        };
        Solved { layer, values, longest }
    }
}

impl<G: Solvable> Tables<G> {
    /// Opens a folder of tables, packed or not, and verifies all checksums. Of a force that has both forms,
    /// the table is taken.
    pub fn open(game: &G, folder: &Path) -> Result<Tables<G>, ExactError> {
        let owner = Owner::of(game);
        if !folder.is_dir() {
            return Err(ExactError::missing().at(folder));
        }
        let lowest = *G::FORCES.start();
        let has_table = |force| finished_path::<G>(folder, force).exists();
        let has_packed = |force| packed_path::<G>(folder, force).exists();
        let highest = G::FORCES.rev().find(|&force| has_table(force) || has_packed(force)).unwrap_or(lowest);
        let layers = (lowest..=highest)
            .map(|force| {
                let layer = G::layer(force);
                let values = match !has_table(force) && has_packed(force) {
                    true => Values::Packed(PackedLayer::open::<G>(folder, owner, &layer)?),
                    false => Values::Exact(Bytes::open::<G>(folder, owner, &layer)?),
                };
                Ok(Solved::new(layer, values))
            })
            .collect::<Result<_, ExactError>>()?;
        let game = game.clone().with_max_plies(0);
        Ok(Tables { game, layers, holds: None })
    }

    /// Tables of finished layers, lowest force first.
    pub(super) fn from_layers(game: &G, layers: Vec<Bytes>) -> Tables<G> {
        let layers = layers
            .into_iter()
            .zip(G::FORCES)
            .map(|(bytes, force)| Solved::new(G::layer(force), Values::Exact(bytes)))
            .collect();
        let game = game.clone().with_max_plies(0);
        Tables { game, layers, holds: None }
    }

    /// Whether the tables belong to this game's rules and board.
    pub fn belong_to(&self, game: &G) -> bool {
        Owner::of(&self.game) == Owner::of(game)
    }

    /// The sum of the most plies of a win or loss of every force up to this one.
    pub(super) fn plies_up_to(&self, force: u32) -> u32 {
        let forces = force.saturating_sub(*G::FORCES.start()) as usize + 1;
        self.layers.iter().take(forces).map(|solved| solved.longest).sum()
    }

    /// The highest force in these tables.
    pub fn force(&self) -> u32 {
        G::FORCES.start() + self.layers.len() as u32 - 1
    }

    /// The layers, lowest force first.
    pub fn layers(&self) -> impl Iterator<Item = &G::Layer> {
        self.layers.iter().map(|solved| &solved.layer)
    }

    /// The bytes of a layer, one per index; `None` if the force has a packed table or is not solved.
    pub fn bytes(&self, force: u32) -> Option<&[u8]> {
        match &self.solved(force)?.values {
            Values::Exact(bytes) => Some(bytes.get()),
            Values::Packed(_) => None,
        }
    }

    /// The packed values of a force, if it has no table.
    pub(super) fn packed(&self, force: u32) -> Option<(&G::Layer, &PackedLayer)> {
        match self.solved(force)? {
            Solved { layer, values: Values::Packed(packed), .. } => Some((layer, packed)),
            _ => None,
        }
    }

    #[inline]
    fn solved(&self, force: u32) -> Option<&Solved<G>> {
        self.layers.get(force.checked_sub(*G::FORCES.start())? as usize)
    }

    /// The value for the player to move. `None` outside the tables and where a player has no piece. Jarmo's
    /// packed tables have no plies, unless the game is over.
    #[inline]
    pub fn proven(&self, position: &G::Position) -> Option<Proven> {
        let place = self.place(position)?;
        Some(self.read(position, place))
    }

    /// [`Tables::proven`] of many positions. If the tables are larger than the processor's caches this is
    /// several times faster, because the memory reads overlap.
    ///
    /// # Panics
    /// Panics unless `positions` and `out` have the same length.
    pub fn proven_all(&self, positions: &[G::Position], out: &mut [Option<Proven>]) {
        assert_eq!(positions.len(), out.len(), "one value per position");
        for (positions, out) in positions.chunks(AT_ONCE).zip(out.chunks_mut(AT_ONCE)) {
            let mut places = [None; AT_ONCE];
            for (place, position) in places.iter_mut().zip(positions) {
                *place = self.place(position);
            }
            // The reads are independent of each other, so the processor overlaps them.
            for ((proven, place), position) in out.iter_mut().zip(&places).zip(positions) {
                *proven = place.map(|place| self.read(position, place));
            }
        }
    }

    /// The position's byte or its value without one, if it is in the tables.
    #[inline]
    fn place(&self, position: &G::Position) -> Option<Place<'_>> {
        let Solved { layer, values, .. } = self.solved(G::force(position))?;
        if let Values::Exact(bytes) = values
            && let Some(index) = layer.index_of(position)
        {
            return Some(Place::Byte(&bytes.get()[index]));
        }
        self.value_without_byte(position).map(Place::Known)
    }

    /// Apart from [`Tables::place`], whose other path is the quick one.
    #[cold]
    #[inline(never)]
    fn value_without_byte(&self, position: &G::Position) -> Option<Proven> {
        G::value_without_byte(self, position)
    }

    #[inline]
    fn read(&self, position: &G::Position, place: Place<'_>) -> Proven {
        match place {
            Place::Byte(&byte) => self.game.value(position, code::proven(byte)),
            Place::Known(proven) => proven,
        }
    }

    /// The values of all legal actions for the player to move, best first; ties in the order of the
    /// actions. `None` outside the tables; empty if the game is over.
    pub fn actions(&self, game: &G, position: &G::Position) -> Option<Vec<ActionValue>> {
        self.proven(position)?;
        let legal = game.legal(position);
        let nexts: Vec<G::Position> = legal.iter().map(|action| game.after(position, action)).collect();
        let mut found = vec![None; nexts.len()];
        self.proven_all(&nexts, &mut found);
        let value = |(action, (next, found)): (Action, (&G::Position, Option<Proven>))| {
            let after = found.or_else(|| self.over(next)).expect("force never grows");
            ActionValue { action, proven: G::value_before(position, next, after) }
        };
        let mut values: Vec<ActionValue> = legal.iter().zip(nexts.iter().zip(found)).map(value).collect();
        values.sort_by_key(|value| -value.proven.preference());
        Some(values)
    }

    /// The actions, as text, of a game from a position in which both players take the first of their best
    /// actions, to its end; at most `plies`, because a drawn game may never end. `None` outside the tables.
    pub fn best_line(&self, game: &G, start: &G::Position, plies: u32) -> Option<Vec<String>> {
        let mut line = Vec::new();
        let mut position = *start;
        while line.len() < plies as usize {
            let values = self.actions(game, &position)?;
            let Some(best) = values.first() else { break };
            line.push(game.action_text(&position, best.action));
            game.play(&mut position, best.action);
        }
        Some(line)
    }

    /// The value of a position that is over, such as one in which a player has no piece left.
    fn over(&self, position: &G::Position) -> Option<Proven> {
        let outcome = self.game.outcome(position)?;
        Some(Proven::over(outcome.verdict(self.game.to_move(position))))
    }
}

impl Tables {
    /// All sequences of this many actions from a position, in the order of their actions, with their values for White.
    /// `None` outside the tables. Sequences that end the game earlier are left out.
    pub fn openings(
        &self,
        game: &Jarmo,
        start: &JarmoPosition,
        plies: u32,
    ) -> Option<Vec<(Line<JarmoPosition>, Proven)>> {
        let solved = |line: Line<JarmoPosition>| {
            let proven = self.proven(&line.position)?;
            Some(match line.position.to_move() {
                Player::White => (line, proven),
                Player::Black => (line, proven.flip()),
            })
        };
        Line::at(*start).longer(game, plies).into_iter().map(solved).collect()
    }

    /// The plies of the longest win or loss among the packed results up to a force.
    pub(super) fn longest(&self, force: u32) -> u32 {
        let packed = (LEAST_FORCE..=force).zip(&self.layers).filter(|(force, _)| self.packed(*force).is_some());
        packed.map(|(_, solved)| solved.longest).max().unwrap_or(0)
    }

    /// The value of a position of which there are packed results.
    pub(super) fn packed_value(&self, position: &JarmoPosition) -> Option<Proven> {
        let placement = &Placement::of(position);
        let (layer, packed) = self.packed(placement.force())?;
        layer.block_of(&Material::of(placement))?;
        if is_over(placement) {
            return Some(Proven::over(match score_difference(placement) {
                1.. => Verdict::Win,
                0 => Verdict::Draw,
                _ => Verdict::Loss,
            }));
        }
        let verdict = match placement.mover {
            Player::White => four::verdict(packed, layer, placement)?,
            Player::Black => self.result_of_successors(position)?,
        };
        Some(Proven { verdict, plies: None })
    }

    /// The result for the player to move, from the results of the successors.
    fn result_of_successors(&self, position: &JarmoPosition) -> Option<Verdict> {
        let position = &Jarmo::as_solved(position);
        let mut best = Verdict::Loss;
        for action in self.game.legal(position).iter() {
            let next = self.game.after(position, action);
            let proven = self.proven(&next).or_else(|| self.over(&next))?;
            best = best.max(proven.verdict.flip());
            if best == Verdict::Win {
                break;
            }
        }
        Some(best)
    }
}
