//! Turns positions into input features for networks. Versioned; independent of tensors.
//!
//! Every feature is 0 or 1, and few are 1, so a first layer can add one row of weights per set feature.
//! The features of a position have shape `[planes, cells]`. The first [`Encode::board_planes`] planes
//! describe the cells; in the other planes one set cell encodes a number.
//!
//! The inputs of a network are the features followed by the [threats](Encode::threats). Threats follow from
//! the features; giving them saves a small network from having to learn them.

mod connect_four;
mod guard;
mod jarmo;
mod scripted;
mod tammi;
mod board;

use crate::game::{Game, Player, bits};

/// A game whose positions can be encoded as features.
///
/// The features contain everything that the rules need: two positions with the same features have the
/// same legal actions, and still have the same features after any action. There are two exceptions: the
/// plies left before the cut-off are capped at [`MAX_PLIES_LEFT`], and of tammi's earlier positions only
/// the number of repetitions is encoded.
pub trait Encode: Game {
    /// The version of the inputs: increased whenever they change their number or meaning. A network reads only the
    /// version that it learned with.
    fn encoder_version(&self) -> u32 {
        2
    }

    /// The version that this one extends, and the number of its inputs: they are the first ones and mean the same. So a
    /// network of that version can go on, with zeros as weights of the new inputs.
    fn extends(&self) -> Option<(u32, usize)> {
        None
    }

    /// The number of planes of features.
    fn planes(&self) -> usize;

    /// The number of planes that describe the cells; they come first.
    fn board_planes(&self) -> usize;

    /// The shape of a plane: rows and columns.
    fn grid(&self) -> (usize, usize);

    /// Calls `set` with the index of every feature that is 1.
    fn features(&self, position: &Self::Position, set: impl FnMut(usize));

    /// The number of planes of threats.
    fn threat_planes(&self) -> usize;

    /// Calls `set` with the index, starting at 0, of every threat that is 1: cells under attack, possible
    /// captures, lines that are nearly full.
    fn threats(&self, position: &Self::Position, set: impl FnMut(usize));

    /// What `viewer` sees of a position: the same, as if that player were to move. Only for features and threats,
    /// because the rules may not know such a position.
    fn seen_by(&self, position: &Self::Position, viewer: Player) -> Self::Position;

    /// Calls `set` with the index of every network input that is 1: the features, then the threats.
    #[inline]
    fn inputs(&self, position: &Self::Position, mut set: impl FnMut(usize)) {
        self.features(position, &mut set);
        let first = self.feature_count();
        self.threats(position, |index| set(first + index));
    }

    /// The number of network inputs: features and threats.
    fn input_count(&self) -> usize {
        self.feature_count() + self.threat_planes() * self.cells()
    }

    /// What each plane of features holds, then each plane of threats, in English. The page of the game says what the
    /// cells of planes of numbers mean.
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

    /// The number of features: `planes x cells`.
    fn feature_count(&self) -> usize {
        self.planes() * self.cells()
    }

    /// Sets the features of a position in numbers that are 0, and its threats behind them if they are asked for.
    #[inline]
    fn set_features<T: From<bool>>(&self, position: &Self::Position, out: &mut [T], threats: bool) {
        match threats {
            true => self.inputs(position, |index| out[index] = T::from(true)),
            false => self.features(position, |index| out[index] = T::from(true)),
        }
    }

    /// Writes the features of a position as numbers.
    ///
    /// # Panics
    /// Panics unless `out` has `planes x cells` numbers.
    #[inline]
    fn observe(&self, position: &Self::Position, out: &mut [f32]) {
        assert_eq!(out.len(), self.feature_count(), "one number per feature");
        out.fill(0.0);
        self.features(position, |index| out[index] = 1.0);
    }
}

/// A mirror symmetry, as permutations that are their own inverses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mirror {
    /// By input: its mirror image.
    pub inputs: Vec<u16>,
    /// By action: its mirror image.
    pub actions: Vec<u16>,
}

/// The name of a plane of numbers.
const NUMBERS: &str = "numbers";

/// Names of planes, of which the last one stands for as many as are left of `count`.
fn named_planes(names: impl IntoIterator<Item = String>, count: usize) -> Vec<String> {
    let mut names: Vec<String> = names.into_iter().collect();
    let last = names.last().cloned().unwrap_or_default();
    names.resize(count, last);
    names
}

/// Sets the features of the cells in `cells`, in the plane that starts at index `plane_start`.
#[inline]
pub fn set_bits(plane_start: usize, cells: u64, set: &mut impl FnMut(usize)) {
    bits(cells).for_each(|cell| set(plane_start + cell));
}

/// The maximum number of plies left before the cut-off that the features distinguish.
pub const MAX_PLIES_LEFT: u32 = 16 * COARSE_STEPS as u32 - 1;

/// The number of steps of 16 plies that are distinguished.
const COARSE_STEPS: usize = 13;

/// The number of cells of a plane that [`set_plies_left`] uses.
pub const PLIES_LEFT_CELLS: usize = COARSE_STEPS + 16;

/// Encodes the plies left before the cut-off as two numbers in the plane that starts at index `start`: quotient and
/// remainder by 16. Sets nothing without a limit.
#[inline]
pub fn set_plies_left<G: Game>(game: &G, position: &G::Position, start: usize, set: &mut impl FnMut(usize)) {
    if let Some(left) = game.plies_left(position) {
        let left = left.min(MAX_PLIES_LEFT) as usize;
        set(start + left / 16);
        set(start + COARSE_STEPS + left % 16);
    }
}

/// Encodes a count: 1 sets the cell at `start`, 2 the next one, and so on; 0 sets none.
#[inline]
fn set_count(start: usize, count: u32, set: &mut impl FnMut(usize)) {
    if count > 0 {
        set(start + count as usize - 1);
    }
}
