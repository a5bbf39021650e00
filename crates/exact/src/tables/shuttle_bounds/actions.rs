//! The actions of jarmo on placements.

use crate::tables::index::{Army, Placement};
use crate::tables::lines::{Lines, capture, deploy_places, goal, is_over};
use crate::tables::subsets::bits;

/// A move from one circle to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The circle it starts from.
    pub from: u32,
    /// The circle it leads to.
    pub to: u32,
}

impl Move {
    /// The move back.
    pub fn reverse(self) -> Move {
        Move { from: self.to, to: self.from }
    }
}

/// The moves of the player to move, in order.
#[inline(always)]
pub fn moves(lines: &Lines, placement: &Placement) -> impl Iterator<Item = Move> {
    let own = placement.own.archers;
    bits(own & !goal(placement.mover))
        .flat_map(move |from| bits(lines.near(from) & !own).map(move |to| Move { from, to }))
}

/// The move with this number; `None` if there are fewer, which only a forged file can claim.
#[inline(always)]
pub fn nth_move(lines: &Lines, placement: &Placement, index: u8) -> Option<Move> {
    let own = placement.own.archers;
    let mut left = u32::from(index);
    for from in bits(own & !goal(placement.mover)) {
        let targets = lines.near(from) & !own;
        let count = targets.count_ones();
        if left < count {
            let to = bits(targets).nth(left as usize)?;
            return Some(Move { from, to });
        }
        left -= count;
    }
    None
}

/// The placement after a move.
#[inline(always)]
pub fn after_move(placement: &Placement, Move { from, to }: Move) -> Placement {
    let Placement { mover, own, enemy } = *placement;
    if enemy.archers >> to & 1 == 1 {
        return capture(placement, from, to);
    }
    Placement { mover: !mover, own: enemy, enemy: moved(own, from, to) }
}

/// The placements after the redeploys of the player to move.
#[inline(always)]
pub fn after_deploys(placement: &Placement) -> impl Iterator<Item = Placement> + use<> {
    let Placement { mover, own, enemy } = *placement;
    let marks = own.marked & goal(mover);
    let marked = own.marked & !(marks & marks.wrapping_neg());
    bits(deploy_places(placement)).map(move |to| Placement {
        mover: !mover,
        own: enemy,
        enemy: Army { archers: own.archers | 1 << to, marked },
    })
}

/// The only action of the player to move, if it is a move.
#[inline(always)]
pub fn single_move(lines: &Lines, placement: &Placement) -> Option<Move> {
    let single = lines.moves(placement.mover, placement.own.archers) == 1
        && deploy_places(placement) == 0
        && !is_over(placement);
    single.then(|| nth_move(lines, placement, 0)).flatten()
}

/// Whether the shuttle rule can leave the player to move without an action: the only action is a move that could be a
/// reversal. A move to the goal row cannot, because no move starts there.
#[inline(always)]
pub fn may_pass(lines: &Lines, placement: &Placement) -> bool {
    single_move(lines, placement).is_some_and(|only| goal(placement.mover) >> only.to & 1 == 0)
}

/// The army after the archer on `from` went to `to`, with its mark.
#[inline(always)]
pub fn moved(army: Army, from: u32, to: u32) -> Army {
    let mark = army.marked >> from & 1;
    Army { archers: army.archers & !(1 << from) | 1 << to, marked: army.marked & !(1 << from) | mark << to }
}
