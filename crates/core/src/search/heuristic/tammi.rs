//! The evaluation of tammi: men, kings, and how far the men have advanced.

use super::{HasHeuristic, Heuristic, plies_left, word_key};
use crate::game::{Action, Mask};
use crate::games::tammi::TammiMask;
use crate::games::{Tammi, TammiPosition};

const MAN: i32 = 100;
const KING: i32 = 320;

/// For each row that a man has advanced.
const ROW: i32 = 4;

/// For each man on its first row, where it keeps the opponent from getting a king.
const HOME: i32 = 8;

/// The key of a position contains the number of quiet plies if at most this many are left until the draw.
const NEAR_DRAW: u32 = 12;

/// The squares of the first row.
const ROW_SQUARES: u32 = 0xf;

const ROWS: u32 = 8;

/// Evaluates the pieces of a player who moves towards higher squares.
#[inline]
fn side(men: u32, kings: u32) -> i32 {
    let rows: u32 = (1..ROWS).map(|row| row * (men >> (4 * row) & ROW_SQUARES).count_ones()).sum();
    MAN * men.count_ones() as i32
        + KING * kings.count_ones() as i32
        + ROW * rows as i32
        + HOME * (men & ROW_SQUARES).count_ones() as i32
}

impl Heuristic<Tammi> for Tammi {
    #[inline]
    fn evaluate(&self, position: &TammiPosition) -> i32 {
        let [own, enemy, kings, jumped] = position.mover_view();
        let enemy = (enemy & !jumped).reverse_bits();
        let enemy_kings = kings.reverse_bits();
        side(own & !kings, own & kings) - side(enemy & !enemy_kings, enemy & enemy_kings)
    }

    /// Captures are compulsory, so either all actions are captures or none.
    #[inline]
    fn forcing(&self, position: &TammiPosition, legal: &TammiMask) -> TammiMask {
        if !legal.is_empty() && position.jumped_by(legal.nth(0)) != 0 { *legal } else { TammiMask::default() }
    }

    #[inline]
    fn gain(&self, position: &TammiPosition, action: Action) -> i32 {
        let [_, _, kings, _] = position.mover_view();
        if position.jumped_by(action) & kings != 0 { KING } else { MAN }
    }

    #[inline]
    fn key(&self, position: &TammiPosition) -> u64 {
        let [own, enemy, kings, jumped] = position.mover_view().map(u64::from);
        let jumper = position.jumper().map_or(0, |square| 1 + square.index() as u64);
        let quiet_left = self.quiet_limit().saturating_sub(position.quiet_plies());
        let plies_left = plies_left(self, position);
        let rest = jumper << 32
            | plies_left << 16
            | u64::from(quiet_left.min(NEAR_DRAW)) << 8
            | u64::from(position.repeats()) << 1
            | position.to_move() as u64;
        word_key([own << 32 | enemy, kings << 32 | jumped, rest])
    }
}

impl HasHeuristic for Tammi {
    type Heuristic = Tammi;

    fn heuristic(&self) -> Option<Tammi> {
        Some(self.clone())
    }
}
