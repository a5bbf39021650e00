//! The actions of jarmo on placements, backwards within a force.

use jarmo_exact::tables::index::{Army, Placement};
use jarmo_exact::tables::lines::{Lines, goal, home, is_over};
use jarmo_exact::tables::shuttle_bounds::actions::{Move, moved};
use jarmo_exact::tables::subsets::{MOST, bits};

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
