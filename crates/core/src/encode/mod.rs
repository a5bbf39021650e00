//! Turns positions into the inputs of networks. Inputs have a version, and do not depend on a tensor library.
//!
//! Every feature is 0 or 1, and few are 1. A network's first layer can therefore add up one row of weights per
//! feature that is 1. The features of a position have shape `[planes, cells]`. The first [`Encode::board_planes`]
//! planes describe the cells of the board. The other planes encode numbers: one cell is set per number.
//!
//! The inputs of a network are the features followed by the [threats](Encode::threats). Threats follow from the
//! features; as inputs they spare a small network from having to learn them.

mod connect_four;
mod guard;
mod jarmo;
mod scripted;
mod tammi;
mod board;

use crate::game::{Game, Player, bits};

/// A game whose positions can be encoded as features.
///
/// The features contain everything that the rules need: two positions with the same features have the same legal
/// actions, and after any of these their features are equal again. There are two exceptions. Plies left until the move
/// limit are capped at [`MAX_PLIES_LEFT`], and of tammi's history only the number of repetitions is encoded.
pub trait Encode: Game {
    /// The version of the inputs. It is increased whenever their number or meaning changes. A network only works with
    /// the version that it was trained with.
    fn encoder_version(&self) -> u32 {
        2
    }

    /// The number of planes of features, without threats.
    fn planes(&self) -> usize;

    /// The number of planes that describe the cells of the board. They come first.
    fn board_planes(&self) -> usize;

    /// The shape of a plane: (rows, columns).
    fn grid(&self) -> (usize, usize);

    /// Calls `set` with the index of every feature that is 1.
    fn features(&self, position: &Self::Position, set: impl FnMut(usize));

    /// The number of planes of threats; 0 for a game that has none.
    fn threat_planes(&self) -> usize {
        0
    }

    /// Calls `set` with the index of every threat that is 1, counted from 0. Threats are cells under attack, possible
    /// captures, and lines that are nearly full.
    fn threats(&self, _position: &Self::Position, _set: impl FnMut(usize)) {}

    /// The position as if `viewer` were to move, so that a spectator gets features from that point of view. Use it
    /// only for features and threats, because the rules may not allow such a position.
    fn seen_by(&self, position: &Self::Position, viewer: Player) -> Self::Position;

    /// Calls `set` with the index of every network input that is 1: first the features, then the threats.
    #[inline]
    fn inputs(&self, position: &Self::Position, mut set: impl FnMut(usize)) {
        self.features(position, &mut set);
        let first = self.feature_count();
        self.threats(position, |index| set(first + index));
    }

    /// The number of network inputs: features plus threats.
    fn input_count(&self) -> usize {
        self.feature_count() + self.threat_planes() * self.cells()
    }

    /// What each plane contains, in English: first the planes of features, then those of threats. The game's document
    /// says what the cells of planes of numbers mean.
    fn plane_names(&self) -> Vec<String> {
        let planes = 0..self.planes() + self.threat_planes();
        planes.map(|plane| format!("plane {plane}")).collect()
    }

    /// The mirror symmetry of the game, if it has one.
    fn mirror(&self) -> Option<Mirror> {
        None
    }

    /// The number of cells of a plane.
    fn cells(&self) -> usize {
        let (rows, columns) = self.grid();
        rows * columns
    }

    /// The number of features: planes times cells.
    fn feature_count(&self) -> usize {
        self.planes() * self.cells()
    }

    /// Sets the features of a position in `out`, which must be all 0, and if `threats` is true, the threats after
    /// them.
    #[inline]
    fn set_features<T: From<bool>>(&self, position: &Self::Position, out: &mut [T], threats: bool) {
        match threats {
            true => self.inputs(position, |index| out[index] = T::from(true)),
            false => self.features(position, |index| out[index] = T::from(true)),
        }
    }
}

/// A mirror symmetry of a game, as permutations that are their own inverses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mirror {
    /// `[input]`: its mirror image.
    pub inputs: Vec<u16>,
    /// `[action]`: its mirror image.
    pub actions: Vec<u16>,
}

/// The name of planes that encode numbers.
const NUMBERS: &str = "numbers";

/// Completes names of planes to `count`, by repeating the last one.
fn named_planes(names: impl IntoIterator<Item = String>, count: usize) -> Vec<String> {
    let mut names: Vec<String> = names.into_iter().collect();
    let last = names.last().cloned().unwrap_or_default();
    names.resize(count, last);
    names
}

/// Calls `set` for every cell in `cells`, in the plane that starts at index `plane_start`.
#[inline]
pub fn set_bits(plane_start: usize, cells: u64, set: &mut impl FnMut(usize)) {
    bits(cells).for_each(|cell| set(plane_start + cell));
}

/// Features do not distinguish larger numbers of plies left until the move limit.
pub const MAX_PLIES_LEFT: u32 = 16 * COARSE_STEPS as u32 - 1;

/// The number of different quotients of plies left by 16.
const COARSE_STEPS: usize = 13;

/// The number of cells that [`set_plies_left`] uses.
pub const PLIES_LEFT_CELLS: usize = COARSE_STEPS + 16;

/// Encodes the plies left until the move limit as two numbers in the plane that starts at index `start`: the quotient
/// and the remainder by 16. Sets nothing if there is no move limit.
#[inline]
pub fn set_plies_left<G: Game>(game: &G, position: &G::Position, start: usize, set: &mut impl FnMut(usize)) {
    if let Some(left) = game.plies_left(position) {
        let left = left.min(MAX_PLIES_LEFT) as usize;
        set(start + left / 16);
        set(start + COARSE_STEPS + left % 16);
    }
}

/// Encodes a count: 1 sets the cell at `start`, 2 the next one, and so on. 0 sets none.
#[inline]
fn set_count(start: usize, count: u32, set: &mut impl FnMut(usize)) {
    if count > 0 {
        set(start + count as usize - 1);
    }
}
