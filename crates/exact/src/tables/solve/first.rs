//! The first byte of a position, which depends on lower layers only: whether the game is over, the values
//! of the actions that lead to lower layers, and the number of other actions.

use super::Layers;
use crate::tables::code::{self, ActionCounters, OVER_DRAWN};
use crate::tables::index::{Block, Placement};
use crate::tables::lines::{Lines, deploy_places, each_lowering_capture, goal, is_over, score_difference};
use jarmo_core::game::Verdict;

/// Writes the first byte of every position in some rows of a block: results of finished games, wins
/// and forced losses through lower layers, and counters for all others.
#[inline(always)]
pub(super) fn fill(
    lines: &Lines,
    counters: ActionCounters,
    lower: &Layers<'_>,
    block: &Block,
    first_row: usize,
    out: &mut [u8],
) {
    for (offset, cells) in out.chunks_exact_mut(block.columns).enumerate() {
        block.each_of_row(first_row + offset, |column, placement| {
            cells[column] = first_byte(lines, counters, lower, placement);
        });
    }
}

#[inline(always)]
fn first_byte(lines: &Lines, counters: ActionCounters, lower: &Layers<'_>, placement: &Placement) -> u8 {
    if is_over(placement) {
        return match score_difference(placement) {
            1.. => code::won(0),
            0 => OVER_DRAWN,
            _ => code::lost(0),
        };
    }
    let mut actions = lines.moves(placement.mover, placement.own.archers) + deploy_places(placement).count_ones();
    let attacks = |circle| lines.near(circle) & placement.own.archers & !goal(placement.mover) != 0;
    if placement.enemy.archers.is_power_of_two() && attacks(placement.enemy.archers.trailing_zeros()) {
        // This captures the opponent's last archer, which ends the game without points for the opponent.
        return code::won(1);
    }
    let (mut best, mut drawn, mut longest) = (u32::MAX, false, 0);
    each_lowering_capture(lines, placement, |next| {
        actions -= 1;
        let next = lower.proven(next).flip().before();
        match (next.verdict, next.plies) {
            (Verdict::Win, Some(plies)) => best = best.min(plies),
            (Verdict::Loss, Some(plies)) => longest = longest.max(plies),
            _ => drawn = true,
        }
    });
    if best != u32::MAX {
        code::won(best)
    } else if actions + u32::from(drawn) > 0 {
        // A drawing action never becomes a losing one, so the counter never runs out.
        counters.counter(actions + u32::from(drawn))
    } else {
        code::lost(longest)
    }
}

/// The longest loss among the actions to lower layers, in plies; 0 without any.
#[inline(always)]
pub(super) fn longest_below(lines: &Lines, lower: &Layers<'_>, placement: &Placement) -> u32 {
    let mut longest = 0;
    each_lowering_capture(lines, placement, |next| {
        let next = lower.proven(next).flip().before();
        if let (Verdict::Loss, Some(plies)) = (next.verdict, next.plies) {
            longest = longest.max(plies);
        }
    });
    longest
}
