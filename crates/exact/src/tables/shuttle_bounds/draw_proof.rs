//! Proofs that a bound side gets at least a draw ("holds"): a byte for a placement with that side to move, two flags for
//! one with the other side to move, and what follows from them.

use super::actions::{Move, after_deploys, after_move, may_pass, moves, nth_move};
use crate::tables::index::Placement;
use crate::tables::lines::{Lines, is_over, score_difference};
use jarmo_core::games::jarmo::SHUTTLE_LIMIT;

/// Whether the bound side is proven not to lose a placement in which it is to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrawProof {
    /// Not known to hold.
    No,
    /// Holds, whatever the bound side did before.
    Yes,
    /// A single action holds, and it is a move. The side holds unless its last move was the reverse of this
    /// move, with at least this streak.
    Unless {
        /// The number of the move among the moves of the side, by circle of origin, then by target.
        index: u8,
        /// 1 to 4.
        streak: u8,
    },
}

const NO: u8 = 0;
const YES: u8 = 1;
const UNLESS: u8 = 2;

/// Set in the byte of a placement that has to be evaluated again.
pub const WAITING: u8 = 0x80;

/// The maximum number of moves of a side that fit into the byte.
pub const MOST_MOVES: usize = ((WAITING - UNLESS) / SHUTTLE_LIMIT) as usize;

impl DrawProof {
    /// Its byte.
    #[inline(always)]
    pub fn byte(self) -> u8 {
        match self {
            DrawProof::No => NO,
            DrawProof::Yes => YES,
            DrawProof::Unless { index, streak } => UNLESS + index * SHUTTLE_LIMIT + streak - 1,
        }
    }

    /// The meaning of a byte; [`WAITING`] does not count.
    #[inline(always)]
    pub fn of(byte: u8) -> DrawProof {
        match byte & !WAITING {
            NO => DrawProof::No,
            YES => DrawProof::Yes,
            unless => DrawProof::Unless {
                index: (unless - UNLESS) / SHUTTLE_LIMIT,
                streak: (unless - UNLESS) % SHUTTLE_LIMIT + 1,
            },
        }
    }
}

/// A flag of a placement with the free side to move: an action of that side leads to a placement that the bound
/// side does not hold, or the free side has won.
pub const LOSES: u8 = 2;

/// A flag of a placement with the free side to move: after some action the bound side holds only if it has not
/// just made a certain move, whatever its streak.
pub const DEPENDS: u8 = 1;

/// The draw proofs of all placements for one bound side, finished or not.
pub trait DrawProofs {
    /// The lines of the board.
    fn lines(&self) -> &Lines;

    /// How far the bound side, which is to move, holds a placement.
    fn draw_proof(&self, placement: &Placement) -> DrawProof;

    /// The flags of a placement with the free side to move.
    fn flags(&self, placement: &Placement) -> u8;

    /// The longest streak of the bound side's move to `next` with which the bound side holds; 0 if it does not hold at
    /// all. Streaks longer than `enough` are not examined.
    #[inline(always)]
    fn longest_streak(&self, next: &Placement, taken: Move, enough: u8) -> u8 {
        if next.own.archers == 0 {
            return SHUTTLE_LIMIT; // the free side has lost its last archer
        }
        let flags = self.flags(next);
        if flags & LOSES != 0 {
            return 0;
        }
        if enough == 1 && flags & DEPENDS == 0 || is_over(next) {
            return SHUTTLE_LIMIT;
        }
        let mut longest = SHUTTLE_LIMIT;
        self.each_reply(next, |reply| {
            if let Some(streak) = self.forbids(reply, taken) {
                longest = longest.min(streak - 1);
            }
        });
        longest
    }

    /// The bound side is to move and made this last move: the shortest streak of that move with which it no longer
    /// holds.
    #[inline(always)]
    fn forbids(&self, placement: &Placement, last: Move) -> Option<u8> {
        if placement.own.archers == 0 {
            return None; // the side has lost, although the flags of a forged file say otherwise
        }
        match self.draw_proof(placement) {
            DrawProof::Unless { index, streak } => {
                let only = nth_move(self.lines(), placement, index)?;
                (only == last.reverse()).then_some(streak)
            }
            DrawProof::Yes | DrawProof::No => None,
        }
    }

    /// Whether the bound side holds a placement with the free side to move after a pass of its own. Two passes in a
    /// row end the game, and the free side may have passed before or pass next.
    #[inline(always)]
    fn holds_after_pass(&self, placement: &Placement) -> bool {
        self.flags(placement) & LOSES == 0 && (score_difference(placement) <= 0 || !may_pass(self.lines(), placement))
    }

    /// Visits the placements after all actions of the free side, which is to move, in a game that is not over:
    /// also after a pass wherever the shuttle rule may force it.
    #[inline(always)]
    fn each_reply(&self, placement: &Placement, mut visit: impl FnMut(&Placement)) {
        for taken in moves(self.lines(), placement) {
            visit(&after_move(placement, taken));
        }
        for next in after_deploys(placement) {
            visit(&next);
        }
        if may_pass(self.lines(), placement) {
            visit(&placement.passed());
        }
    }
}
