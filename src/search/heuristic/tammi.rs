//! Tammi: men, kings, and how far the men have come.

use super::key::hash_key;
use super::{Heuristic, Judged};
use crate::game::{Action, Mask};
use crate::games::tammi::TammiMask;
use crate::games::{Tammi, TammiPosition};

const MAN: i32 = 100;
const KING: i32 = 320;

/// For each row a man has come forward.
const ROW: i32 = 4;

/// For each man still on the first row, who keeps kings from being made there.
const HOME: i32 = 8;

/// Squares of one row.
const ROW_SQUARES: u32 = 0xf;

/// Squares on one of the eight rows, by row.
const ROWS: u32 = 8;

/// What tammi's positions are worth.
#[derive(Clone, Copy)]
pub struct TammiHeuristic;

/// What the pieces of a player are worth who moves towards higher squares.
#[inline]
fn side(men: u32, kings: u32) -> i32 {
    let rows: u32 = (1..ROWS)
        .map(|row| row * (men >> (4 * row) & ROW_SQUARES).count_ones())
        .sum();
    MAN * men.count_ones() as i32
        + KING * kings.count_ones() as i32
        + ROW * rows as i32
        + HOME * (men & ROW_SQUARES).count_ones() as i32
}

impl Heuristic<Tammi> for TammiHeuristic {
    #[inline]
    fn evaluate(&self, position: &TammiPosition) -> i32 {
        let [own, enemy, kings, jumped] = position.mover_view();
        let enemy = (enemy & !jumped).reverse_bits();
        let enemy_kings = kings.reverse_bits();
        side(own & !kings, own & kings) - side(enemy & !enemy_kings, enemy & enemy_kings)
    }

    /// Captures are compulsory, so either all actions are captures or none is.
    #[inline]
    fn forcing(&self, position: &TammiPosition, legal: &TammiMask) -> TammiMask {
        if !legal.is_empty() && position.jumped_by(legal.nth(0)) != 0 {
            *legal
        } else {
            TammiMask::default()
        }
    }

    #[inline]
    fn gain(&self, position: &TammiPosition, action: Action) -> i32 {
        let [_, _, kings, _] = position.mover_view();
        if position.jumped_by(action) & kings != 0 {
            KING
        } else {
            MAN
        }
    }

    #[inline]
    fn key(&self, position: &TammiPosition) -> u64 {
        hash_key(position)
    }
}

impl Judged for Tammi {
    type Heuristic = TammiHeuristic;

    fn heuristic(&self) -> TammiHeuristic {
        TammiHeuristic
    }
}
