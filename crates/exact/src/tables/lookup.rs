//! Tables that are solved: builds, lookups, counts.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rand::Rng;

use super::build::{BuildSettings, TableProgress, build_layers};
use super::code;
use super::file::{Bytes, finished_path, packed_path};
use super::packed::PackedLayer;
use super::shuttle_bounds::ShuttleBounds;
use super::solvable::{Layer, Packed, Solvable, owner, random_position, table_id};
use super::stats::{LayerStats, layer_stats};
use crate::ExactError;
use jarmo_core::env::Line;
use jarmo_core::game::{Action, Mask, Player, Proven};
use jarmo_core::games::Jarmo;
use jarmo_core::random::{Stream, below};

/// The exact values of all positions up to a force.
///
/// Jarmo's are those *without the shuttle rule and without a move limit*; a position's shuttles and
/// ply are ignored. Tammi's are those *without the rule of repetition and without a move limit*, but
/// with the limit on plies without a capture.
///
/// A force has a table, or a packed one, which in jarmo has no distances.
#[derive(Debug)]
pub struct Tables<G: Solvable = Jarmo> {
    /// The game, without a move limit.
    pub(super) game: G,
    layers: Vec<Solved<G>>,
    /// The positions that each side holds under jarmo's shuttle rule, if there are files.
    pub(super) bounds: Option<ShuttleBounds>,
}

/// The solved positions of one force.
#[derive(Debug)]
struct Solved<G: Solvable> {
    layer: G::Layer,
    values: Values,
    longest: u32, // the length in plies of the longest win or loss
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

/// Builds all layers up to a force in `folder`. Intact layers that exist already are kept.
///
/// # Panics
/// Panics if the game has no tables of this force.
pub fn build<G: Solvable>(
    game: &G,
    folder: &Path,
    settings: BuildSettings,
    tell: &mut dyn FnMut(TableProgress),
) -> Result<Tables<G>, ExactError> {
    let built = build_layers(game, folder, settings, tell)?;
    let layers = built.into_iter().zip(G::TABLES.forces);
    let layers = layers.map(|(bytes, force)| Solved::new(G::Layer::new(force), Values::Exact(bytes)));
    Ok(Tables { game: game.clone().with_max_plies(0), layers: layers.collect(), bounds: None })
}

impl<G: Solvable> Tables<G> {
    /// Opens a folder of tables, packed or not, and verifies all checksums. If a force has both forms, the complete
    /// table is used.
    pub fn open(game: &G, folder: &Path) -> Result<Tables<G>, ExactError> {
        let owner = owner(game);
        if !folder.is_dir() {
            return Err(ExactError::missing().at(folder));
        }
        let kind = G::TABLES;
        let lowest = *kind.forces.start();
        let highest = Tables::<G>::forces_in(folder).last().copied().unwrap_or(lowest);
        let mut layers = Vec::new();
        for force in lowest..=highest {
            let layer = G::Layer::new(force);
            let id = table_id::<G>(folder, owner, &layer);
            let values = if !id.finished().exists() && id.packed().exists() {
                Values::Packed(PackedLayer::open(&id, &kind, &layer)?)
            } else {
                Values::Exact(Bytes::open(&id)?)
            };
            layers.push(Solved::new(layer, values));
        }
        Ok(Tables { game: game.clone().with_max_plies(0), layers, bounds: None })
    }

    /// Builds all layers up to a small force in a temporary folder, for use in this process.
    pub fn solve(game: &G, force: u32) -> Result<Tables<G>, ExactError> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let unique = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
        let name = format!("jarmo-tables-{}-{unique}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir(&folder).map_err(ExactError::io(&folder))?;
        let built = build(game, &folder, BuildSettings { force, save_every: Duration::MAX }, &mut |_| {});
        // The tables are mapped and do not need the names of their files.
        let _ = fs::remove_dir_all(&folder);
        built
    }

    /// The forces of which a folder has a table, packed or not.
    pub(super) fn forces_in(folder: &Path) -> Vec<u32> {
        let files = G::TABLES.files;
        let has =
            |&force: &u32| finished_path(folder, files, force).exists() || packed_path(folder, files, force).exists();
        G::TABLES.forces.filter(has).collect()
    }

    /// Whether the tables belong to this game's rules and board.
    pub fn belong_to(&self, game: &G) -> bool {
        owner(&self.game) == owner(game)
    }

    /// The length in plies of the longest win or loss of every force up to this one.
    pub(super) fn longest_up_to(&self, force: u32) -> impl Iterator<Item = u32> {
        let forces = force.saturating_sub(*G::TABLES.forces.start()) as usize + 1;
        self.layers.iter().take(forces).map(|solved| solved.longest)
    }

    /// Counts every layer.
    pub fn stats(&self) -> Vec<LayerStats> {
        let count = |solved: &Solved<G>| match &solved.values {
            Values::Exact(bytes) => layer_stats(&solved.layer, bytes.get()),
            Values::Packed(packed) => packed.stats.clone(),
        };
        self.layers.iter().map(count).collect()
    }

    /// The highest force in these tables.
    pub fn force(&self) -> u32 {
        G::TABLES.forces.start() + self.layers.len() as u32 - 1
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

    #[inline]
    fn solved(&self, force: u32) -> Option<&Solved<G>> {
        self.layers.get(force.checked_sub(*G::TABLES.forces.start())? as usize)
    }

    /// The value for the player to move. `None` outside the tables and where a player has no piece. Jarmo's
    /// packed tables have no plies, unless the game is over.
    #[inline]
    pub fn proven(&self, position: &G::Position) -> Option<Proven> {
        let place = self.place(position)?;
        Some(self.read(position, place))
    }

    /// [`Tables::proven`] of many positions. If the tables are larger than the CPU's caches, this is several times
    /// faster, because the memory reads overlap.
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
            // The reads are independent of each other, so the CPU overlaps them.
            for ((proven, place), position) in out.iter_mut().zip(&places).zip(positions) {
                *proven = place.map(|place| self.read(position, place));
            }
        }
    }

    /// Writes the values of many positions in a game: `in_game` applies the rules that the tables ignore.
    pub(super) fn known_by(
        &self,
        positions: &[G::Position],
        out: &mut Vec<Option<Proven>>,
        in_game: impl Fn(&G::Position, Proven) -> Option<Proven>,
    ) {
        out.clear();
        out.resize(positions.len(), None);
        self.proven_all(positions, out);
        for (position, known) in positions.iter().zip(out) {
            *known = known.and_then(|proven| in_game(position, proven));
        }
    }

    /// A random position. First its force is drawn, then its placement.
    pub(super) fn draw(&self, stream: &mut Stream) -> G::Position {
        let number = below(stream.next_u64(), self.layers.len() as u32) as usize;
        random_position(&self.layers[number].layer, stream)
    }

    /// The position's byte or its value without one, if it is in the tables.
    #[inline]
    fn place(&self, position: &G::Position) -> Option<Place<'_>> {
        let solved = self.solved(G::force(position))?;
        if let Values::Exact(bytes) = &solved.values
            && let Some(index) = solved.layer.index_of(position)
        {
            return Some(Place::Byte(&bytes.get()[index]));
        }
        self.value_without_byte(solved, position).map(Place::Known)
    }

    /// Not inlined into [`Tables::place`], to keep its common path fast.
    #[cold]
    #[inline(never)]
    fn value_without_byte(&self, solved: &Solved<G>, position: &G::Position) -> Option<Proven> {
        let known = |position: &G::Position| self.proven_or_over(position);
        match &solved.values {
            Values::Exact(_) => self.game.value_without_byte(position, None, &known),
            Values::Packed(packed) => {
                let symbol = |at| packed.symbol(at);
                self.game.value_without_byte(position, Some(Packed { layer: &solved.layer, symbol: &symbol }), &known)
            }
        }
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
        self.proven_or_over(position)?;
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

    /// All sequences of this many actions from a position, in the order of their actions, with their values for White.
    /// `None` outside the tables. Sequences that end the game earlier are left out.
    pub fn openings(&self, game: &G, start: &G::Position, plies: u32) -> Option<Vec<(Line<G::Position>, Proven)>> {
        let mut openings = Vec::new();
        for line in Line::at(*start).longer(game, plies) {
            let proven = self.proven_or_over(&line.position)?;
            let for_white = match game.to_move(&line.position) {
                Player::White => proven,
                Player::Black => proven.flip(),
            };
            openings.push((line, for_white));
        }
        Some(openings)
    }

    /// [`Tables::proven`], and the value of every position that is over.
    pub(super) fn proven_or_over(&self, position: &G::Position) -> Option<Proven> {
        self.proven(position).or_else(|| self.over(position))
    }

    /// The value of a position that is over, such as one in which a player has no piece left.
    fn over(&self, position: &G::Position) -> Option<Proven> {
        let outcome = self.game.outcome(position)?;
        Some(Proven::over(outcome.verdict(self.game.to_move(position))))
    }

    /// The plies of the longest win or loss among the packed results up to a force.
    pub(super) fn longest_packed(&self, force: u32) -> u32 {
        let packed = self.layers.iter().filter(|solved| matches!(solved.values, Values::Packed(_)));
        packed.filter(|solved| solved.layer.force() <= force).map(|solved| solved.longest).max().unwrap_or(0)
    }
}
