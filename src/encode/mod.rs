//! Position → input features. Versioned, and knows nothing of tensors.
//!
//! Every feature is 0 or 1, and few are 1: a first layer can add up one row per set feature. The
//! features of a position lie in `planes x cells`, plane by plane. The first
//! [`Encode::board_planes`] planes say something about each cell; in the others a number stands as
//! one set cell.
//!
//! Networks see more than the environment shows: behind the features come the
//! [threats](Encode::threats), which follow from them and save a small network from working them out.

mod connect_four;
mod guard;
mod jarmo;
mod tammi;
mod board;

use crate::game::Game;

/// Goes up whenever any game's inputs change their meaning. A network belongs to one version.
pub const ENCODER_VERSION: u32 = 2;

/// A game whose positions can be written as features.
///
/// The features hold everything that the rules need: two positions with the same features have the
/// same legal actions and stay alike under every action. Two things are left out: more plies before
/// the cut-off than [`MOST_PLIES_LEFT`] look as if just that many were left, and of tammi's earlier
/// positions only the number of repetitions is told.
pub trait Encode: Game {
    /// All planes.
    fn planes(&self) -> usize;

    /// The planes that say something about each cell; they come first.
    fn board_planes(&self) -> usize;

    /// Cells of a plane as rows and columns.
    fn grid(&self) -> (usize, usize);

    /// Calls `set` with the index of every feature that is 1.
    fn features(&self, position: &Self::Position, set: impl FnMut(usize));

    /// Planes of threats.
    fn threat_planes(&self) -> usize;

    /// Calls `set` with the index, from 0 on, of every threat that is 1: what is attacked, what can
    /// be captured, where a line is nearly full.
    fn threats(&self, position: &Self::Position, set: impl FnMut(usize));

    /// Calls `set` with the index of everything that is 1 in what a network sees: the features, and
    /// behind them the threats.
    #[inline]
    fn inputs(&self, position: &Self::Position, mut set: impl FnMut(usize)) {
        self.features(position, &mut set);
        let first = self.feature_count();
        self.threats(position, |index| set(first + index));
    }

    /// How many numbers a network sees: features and threats.
    fn input_count(&self) -> usize {
        self.feature_count() + self.threat_planes() * self.cells()
    }

    /// The same game seen in a mirror, where the rules do not tell the two apart.
    fn mirror(&self) -> Option<Mirror> {
        None
    }

    /// Cells of a plane.
    fn cells(&self) -> usize {
        let (rows, columns) = self.grid();
        rows * columns
    }

    /// Numbers per position: `planes x cells`.
    fn feature_count(&self) -> usize {
        self.planes() * self.cells()
    }

    /// Writes the features of a position.
    ///
    /// # Panics
    /// Panics unless `out` is `[planes x cells]` long.
    #[inline]
    fn observe(&self, position: &Self::Position, out: &mut [f32]) {
        assert_eq!(out.len(), self.feature_count(), "one number per feature");
        out.fill(0.0);
        self.features(position, |index| out[index] = 1.0);
    }
}

/// Where everything is in a mirror. Looking twice shows what was there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mirror {
    /// Where each input goes.
    pub inputs: Vec<u16>,
    /// Where each action goes.
    pub actions: Vec<u16>,
}

/// Sets the bits of `cells` in a plane.
#[inline]
fn set_bits(plane_start: usize, cells: u64, set: &mut impl FnMut(usize)) {
    let mut left = cells;
    while left != 0 {
        set(plane_start + left.trailing_zeros() as usize);
        left &= left - 1;
    }
}

/// The most plies before the cut-off that features tell apart.
pub const MOST_PLIES_LEFT: u32 = 16 * COARSE_STEPS as u32 - 1;

/// Steps of 16 plies before the cut-off.
const COARSE_STEPS: usize = 13;

/// Cells that [`set_plies_left`] needs.
const PLIES_LEFT_CELLS: usize = COARSE_STEPS + 16;

/// Writes the plies before the cut-off as two numbers, the whole steps of 16 and the rest. Without a
/// limit no feature is set.
#[inline]
fn set_plies_left<G: Game>(
    game: &G,
    position: &G::Position,
    start: usize,
    set: &mut impl FnMut(usize),
) {
    if let Some(left) = game.plies_left(position) {
        let left = left.min(MOST_PLIES_LEFT) as usize;
        set(start + left / 16);
        set(start + COARSE_STEPS + left % 16);
    }
}

/// Sets the cell of a count from 1 to however many cells follow `start`; none for 0.
#[inline]
fn set_count(start: usize, count: u32, set: &mut impl FnMut(usize)) {
    if count > 0 {
        set(start + count as usize - 1);
    }
}
