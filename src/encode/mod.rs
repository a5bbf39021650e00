//! Position → input features. Versioned, and knows nothing of tensors.
//!
//! Every feature is 0 or 1, and few are 1: a first layer can add up one row per set feature. The
//! features of a position lie in `planes x cells`, plane by plane. The first
//! [`Encode::board_planes`] planes say something about each cell; in the others a number stands as
//! one set cell.

mod jarmo;

use crate::game::Game;

/// Goes up whenever any game's features change their meaning. A network belongs to one version.
pub const ENCODER_VERSION: u32 = 1;

/// A game whose positions can be written as features.
///
/// Two positions of a game with the same features have the same player to move, the same legal
/// actions, and stay alike under every action, as far as the rules can tell them apart.
pub trait Encode: Game {
    /// All planes.
    fn planes(&self) -> usize;

    /// The planes that say something about each cell; they come first.
    fn board_planes(&self) -> usize;

    /// Cells of a plane as rows and columns.
    fn grid(&self) -> (usize, usize);

    /// Calls `set` with the index of every feature that is 1.
    fn features(&self, position: &Self::Position, set: impl FnMut(usize));

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

/// Sets the bits of `cells` in a plane.
#[inline]
fn set_bits(plane_start: usize, cells: u64, set: &mut impl FnMut(usize)) {
    let mut left = cells;
    while left != 0 {
        set(plane_start + left.trailing_zeros() as usize);
        left &= left - 1;
    }
}

/// Writes the plies left as two numbers: one of `coarse` cells for every eight plies, then one of
/// eight. A game without a limit, or with more plies left than fit, looks as if just that many were left.
#[inline]
fn set_plies_left(
    left: Option<u32>,
    coarse_start: usize,
    coarse: usize,
    fine_start: usize,
    set: &mut impl FnMut(usize),
) {
    let most = (8 * coarse - 1) as u32;
    let left = left.map_or(most, |left| left.min(most)) as usize;
    set(coarse_start + left / 8);
    set(fine_start + left % 8);
}
