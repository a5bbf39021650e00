//! Threats on a board, for jarmo and guard alike: per player the circles that one, and that two of his
//! pieces can go to next, and every capture that he could make if it were his turn.

use super::set_bits;
use crate::game::{Mask, Player};
use crate::games::board::{Board, CIRCLES, Circles};

/// Per player: circles that one piece reaches, that two reach.
const REACH_PLANES: usize = 2 * 2;

const CAPTURES: usize = REACH_PLANES * CIRCLES;

/// Directed lines, each of which can be a capture of either player.
fn captures(board: &Board) -> usize {
    2 * board.lines().len()
}

/// Planes of threats: the four of reach, and as many as the captures along all lines fill.
pub(super) fn threat_planes(board: &Board) -> usize {
    REACH_PLANES + (2 * captures(board)).div_ceil(CIRCLES)
}

/// Calls `set` with every threat of these pieces; those on their goal rows threaten nothing.
#[inline]
pub(super) fn threats(board: &Board, pieces: [Circles; 2], mut set: impl FnMut(usize)) {
    for player in Player::BOTH {
        let index = player.index();
        let movable = pieces[index] & !Circles::goal(player);
        let (mut once, mut twice) = (Circles::NONE, Circles::NONE);
        for circle in movable.iter() {
            let reach = board.neighbours(circle);
            twice |= once & reach;
            once |= reach;
        }
        let planes = index * REACH_PLANES / 2 * CIRCLES;
        set_bits(planes, once.0.into(), &mut set);
        set_bits(planes + CIRCLES, twice.0.into(), &mut set);
        let first = CAPTURES + index * captures(board);
        for action in board.moves(movable, !pieces[(!player).index()]).iter() {
            set(first + action.index());
        }
    }
}
