//! Threats in jarmo and guard. Per player: the circles that at least one, and at least two, of the
//! player's pieces can reach in one move, and every capture the player could make with the next move.

use super::{named_planes, set_bits};
use crate::game::{Mask, Player};
use crate::games::board::{Board, CIRCLES, Circles};

/// Per player: circles reached by at least one piece, and by at least two.
const REACH_PLANES: usize = 2 * 2;

const CAPTURES: usize = REACH_PLANES * CIRCLES;

/// The number of possible captures per player: one for each directed line.
fn captures(board: &Board) -> usize {
    2 * board.lines().len()
}

/// The number of planes of threats: four for reach, and as many as the captures need.
pub(super) fn threat_planes(board: &Board) -> usize {
    REACH_PLANES + (2 * captures(board)).div_ceil(CIRCLES)
}

/// The names of the planes of threats.
pub(super) fn threat_names(board: &Board) -> Vec<String> {
    let of = |player| ["one piece reaches", "two pieces reach"].map(|reach| format!("{player}: circles that {reach}"));
    let reach = ["White", "Black"].into_iter().flat_map(of);
    let captures = "captures of White, then of Black, counted through the planes".to_owned();
    named_planes(reach.chain([captures]), threat_planes(board))
}

/// Calls `set` with the index of every threat. Pieces on their goal row threaten nothing.
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
