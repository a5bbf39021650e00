//! What is known so far of the forces up to the one that is being solved, and how a placement follows from it.

use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering::SeqCst;

use super::actions::{Move, after_deploys, after_move, may_pass, moves, nth_move, passed, single_move};
use super::hold::Hold;
use super::layer::{HeldLayer, Layout};
use crate::tables::index::{LEAST_FORCE, Material, Placement};
use crate::tables::lines::{Lines, goal, is_over, score_difference};
use jarmo_core::game::Player;
use jarmo_core::games::jarmo::SHUTTLE_LIMIT;

/// A flag of a placement with the free side to move: an action of that side leads to a placement that the bound
/// side does not hold, or the free side has won.
pub(super) const LOSES: u8 = 2;

/// A flag of a placement with the free side to move: after some action the bound side holds only if it has not
/// just made a certain move, whatever its streak.
pub(super) const DEPENDS: u8 = 1;

/// The force that is being solved.
pub(super) struct Top<'a> {
    pub layout: &'a Layout,
    pub codes: &'a [AtomicU8],
    pub flags: &'a [AtomicU8],
}

/// Finished forces, lowest first, and the one above them that is being solved.
pub(super) struct Known<'a> {
    pub lines: &'a Lines,
    pub bound: Player,
    pub lower: &'a [HeldLayer],
    pub top: Option<Top<'a>>,
}

impl Known<'_> {
    /// The byte of a placement with the bound side to move.
    #[inline(always)]
    pub(super) fn hold(&self, placement: &Placement) -> Hold {
        let number = (Material::of(placement).force() - LEAST_FORCE) as usize;
        Hold::of(match (self.lower.get(number), &self.top) {
            (Some(layer), _) => layer.codes()[layer.layout.place(placement)],
            (None, Some(top)) => top.codes[top.layout.place(placement)].load(SeqCst),
            (None, None) => unreachable!("the force is solved"),
        })
    }

    /// The flags of a placement with the free side to move.
    #[inline(always)]
    pub(super) fn flags(&self, placement: &Placement) -> u8 {
        let number = (Material::of(placement).force() - LEAST_FORCE) as usize;
        let (place, byte) = match (self.lower.get(number), &self.top) {
            (Some(layer), _) => {
                let place = layer.layout.place(placement);
                (place, layer.flags()[place / 4])
            }
            (None, Some(top)) => {
                let place = top.layout.place(placement);
                (place, top.flags[place / 4].load(SeqCst))
            }
            (None, None) => unreachable!("the force is solved"),
        };
        byte >> (2 * (place % 4)) & 3
    }

    /// How far the bound side, which is to move, holds a placement in which the game is not over.
    #[inline(always)]
    pub(super) fn evaluate(&self, placement: &Placement) -> Hold {
        let mut only = None;
        for (index, taken) in moves(self.lines, placement).enumerate() {
            if self.longest_streak(&after_move(placement, taken), taken, 1) >= 1 {
                if only.is_some() {
                    return Hold::Yes;
                }
                only = Some((index, taken));
            }
        }
        for next in after_deploys(placement) {
            if self.flags(&next) & LOSES == 0 {
                return Hold::Yes; // a redeploy is never forbidden
            }
        }
        let Some((index, taken)) = only else { return Hold::No };
        if goal(placement.mover) >> taken.to & 1 == 1 {
            return Hold::Yes; // the reverse would start on the goal row
        }
        let next = after_move(placement, taken);
        let streak = self.longest_streak(&next, taken, SHUTTLE_LIMIT);
        if streak == SHUTTLE_LIMIT && self.holds_by_pass(placement) {
            return Hold::Yes;
        }
        Hold::Unless { index: index as u8, streak }
    }

    /// The longest streak with which the bound side may have made the move that led to `next`, so that it holds;
    /// 0 if it does not hold at all. Of longer ones than `enough` nothing is said.
    #[inline(always)]
    pub(super) fn longest_streak(&self, next: &Placement, taken: Move, enough: u8) -> u8 {
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

    /// The shortest streak of this last move of the bound side, which is to move, with which it no longer holds.
    #[inline(always)]
    fn forbids(&self, placement: &Placement, last: Move) -> Option<u8> {
        match self.hold(placement) {
            Hold::Unless { index, streak } => {
                let only = nth_move(self.lines, placement, index);
                (only == last.reverse()).then_some(streak)
            }
            Hold::Yes | Hold::No => None,
        }
    }

    /// Whether the bound side, whose single action the rule forbids, holds by the pass that it must make.
    #[inline(always)]
    fn holds_by_pass(&self, placement: &Placement) -> bool {
        if single_move(self.lines, placement).is_none() {
            return false;
        }
        self.holds_after_pass(&passed(placement))
    }

    /// Whether the bound side holds a placement with the free side to move after a pass of its own. Two passes in a
    /// row end the game, and the free side may have passed before or pass next.
    #[inline(always)]
    pub(super) fn holds_after_pass(&self, placement: &Placement) -> bool {
        self.flags(placement) & LOSES == 0 && (score_difference(placement) <= 0 || !may_pass(self.lines, placement))
    }

    /// Visits the placements after all actions of the free side, which is to move, in a game that is not over:
    /// also after a pass wherever the shuttle rule may force it.
    #[inline(always)]
    pub(super) fn each_reply(&self, placement: &Placement, mut visit: impl FnMut(&Placement)) {
        for taken in moves(self.lines, placement) {
            visit(&after_move(placement, taken));
        }
        for next in after_deploys(placement) {
            visit(&next);
        }
        if may_pass(self.lines, placement) {
            visit(&passed(placement));
        }
    }

    /// Whether the bound side holds a placement with the free side to move after this last move of the bound
    /// side, with this streak.
    pub(super) fn holds_after(&self, placement: &Placement, last: Option<(Move, u8)>) -> bool {
        match last {
            _ if placement.own.archers == 0 => true,
            None => self.flags(placement) & LOSES == 0,
            Some((last, streak)) => self.longest_streak(placement, last, SHUTTLE_LIMIT) >= streak,
        }
    }

    /// Whether the bound side, which is to move, holds a placement after this last move of its own, with this streak.
    pub(super) fn holds_before(&self, placement: &Placement, last: Option<(Move, u8)>) -> bool {
        match self.hold(placement) {
            Hold::No => false,
            Hold::Yes => true,
            Hold::Unless { .. } => last.is_none_or(|(last, streak)| {
                let shortest = self.forbids(placement, last);
                shortest.is_none_or(|shortest| streak < shortest)
            }),
        }
    }
}
