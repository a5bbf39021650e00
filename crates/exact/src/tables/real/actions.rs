//! The actions of jarmo on placements, forwards and backwards within a force.

use crate::tables::index::{Army, Placement};
use crate::tables::lines::{Lines, capture, deploy_places, goal, home, is_over};
use crate::tables::subsets::{MOST, bits};

/// A move from one circle to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Move {
    pub from: u32,
    pub to: u32,
}

impl Move {
    pub(super) fn reverse(self) -> Move {
        Move { from: self.to, to: self.from }
    }
}

/// The moves of the player to move, in order.
#[inline(always)]
pub(super) fn moves(lines: &Lines, placement: &Placement) -> impl Iterator<Item = Move> {
    let own = placement.own.archers;
    bits(own & !goal(placement.mover))
        .flat_map(move |from| bits(lines.near(from) & !own).map(move |to| Move { from, to }))
}

/// The move with this number.
#[inline(always)]
pub(super) fn nth_move(lines: &Lines, placement: &Placement, index: u8) -> Move {
    let own = placement.own.archers;
    let mut left = u32::from(index);
    for from in bits(own & !goal(placement.mover)) {
        let targets = lines.near(from) & !own;
        let count = targets.count_ones();
        if left < count {
            let to = bits(targets).nth(left as usize).expect("the number is below the count");
            return Move { from, to };
        }
        left -= count;
    }
    unreachable!("the placement has fewer moves")
}

/// The placement after a move.
#[inline(always)]
pub(super) fn after_move(placement: &Placement, Move { from, to }: Move) -> Placement {
    let Placement { mover, own, enemy } = *placement;
    if enemy.archers >> to & 1 == 1 {
        return capture(placement, from, to);
    }
    Placement { mover: !mover, own: enemy, enemy: moved(own, from, to) }
}

/// The placements after the redeploys of the player to move.
#[inline(always)]
pub(super) fn after_deploys(placement: &Placement) -> impl Iterator<Item = Placement> + use<> {
    let Placement { mover, own, enemy } = *placement;
    let marks = own.marked & goal(mover);
    let marked = own.marked & !(marks & marks.wrapping_neg());
    bits(deploy_places(placement)).map(move |to| Placement {
        mover: !mover,
        own: enemy,
        enemy: Army { archers: own.archers | 1 << to, marked },
    })
}

/// The same pieces with the other player to move.
#[inline(always)]
pub(super) fn passed(placement: &Placement) -> Placement {
    Placement { mover: !placement.mover, own: placement.enemy, enemy: placement.own }
}

/// The only action of the player to move, if it is a move.
#[inline(always)]
pub(super) fn single_move(lines: &Lines, placement: &Placement) -> Option<Move> {
    let single = lines.moves(placement.mover, placement.own.archers) == 1
        && deploy_places(placement) == 0
        && !is_over(placement);
    single.then(|| nth_move(lines, placement, 0))
}

/// Whether the shuttle rule can leave the player to move no action: the only action is a move whose reverse
/// can have been the last one. No move starts on the goal row.
#[inline(always)]
pub(super) fn may_pass(lines: &Lines, placement: &Placement) -> bool {
    single_move(lines, placement).is_some_and(|only| goal(placement.mover) >> only.to & 1 == 0)
}

/// Visits the placements of the same force from which this move led to `after`, without the finished ones.
#[inline(always)]
pub(super) fn undo_move(after: &Placement, taken: Move, visit: &mut impl FnMut(&Placement)) {
    let Placement { mover, own: waiting, enemy: acting } = *after;
    let Move { from, to } = taken;
    let closed = waiting.archers | acting.archers | goal(!mover);
    if acting.archers >> to & 1 == 0 || closed >> from & 1 == 1 {
        return;
    }
    let quiet = Placement { mover: !mover, own: moved(acting, to, from), enemy: waiting };
    if !is_over(&quiet) {
        visit(&quiet);
    }
    // A capture within the force: by an unmarked archer, which is marked since, of an unmarked one.
    let full = waiting.archers.count_ones() as usize == MOST;
    if acting.marked >> to & 1 == 1 && !full {
        let captured = Placement {
            mover: !mover,
            own: Army { archers: quiet.own.archers, marked: acting.marked & !(1 << to) },
            enemy: Army { archers: waiting.archers | 1 << to, marked: waiting.marked },
        };
        if !is_over(&captured) {
            visit(&captured);
        }
    }
}

/// Visits all placements of the same force from which an action other than a pass led to `after`, without the
/// finished ones.
#[inline(always)]
pub(super) fn before(lines: &Lines, after: &Placement, visit: &mut impl FnMut(&Placement)) {
    let Placement { mover, own: waiting, enemy: acting } = *after;
    for to in bits(acting.archers) {
        for from in bits(lines.near(to)) {
            undo_move(after, Move { from, to }, visit);
        }
    }
    // A redeploy took the mark of the lowest marked archer on the goal row.
    let goal = goal(!mover);
    let first = (acting.marked & goal).trailing_zeros();
    for unmarked in bits(acting.archers & goal & !acting.marked).take_while(|&at| at < first) {
        for fresh in bits(acting.archers & home(!mover) & !acting.marked) {
            let placement = Placement {
                mover: !mover,
                own: Army { archers: acting.archers & !(1 << fresh), marked: acting.marked | 1 << unmarked },
                enemy: waiting,
            };
            if !is_over(&placement) {
                visit(&placement);
            }
        }
    }
}

/// The army after the archer on `from` went to `to`, with its mark.
#[inline(always)]
fn moved(army: Army, from: u32, to: u32) -> Army {
    let mark = army.marked >> from & 1;
    Army { archers: army.archers & !(1 << from) | 1 << to, marked: army.marked & !(1 << from) | mark << to }
}
