//! Threats in jarmo and guard. Per player: the circles that at least one, and at least two, of the
//! player's pieces can reach in one move, and every capture the player could make with the next move.
//! In jarmo also the control of each circle: its holder, and how many pieces of each player can reach it.

use super::set_bits;
use crate::game::{Mask, Player};
use crate::games::board::{Board, CIRCLES, Circle, Circles};

/// Per player: circles reached by at least one piece, and by at least two.
const REACH_PLANES: usize = 2 * 2;

const CAPTURES: usize = REACH_PLANES * CIRCLES;

/// The number of possible captures per player: one for each directed line.
fn captures(board: &Board) -> usize {
    2 * board.lines().len()
}

/// The number of threats: four planes of reach, then the captures.
pub(super) fn threat_count(board: &Board) -> usize {
    CAPTURES + 2 * captures(board)
}

/// The names of the planes of reach.
pub(super) fn reach_names() -> impl Iterator<Item = String> {
    let of = |player| ["one piece reaches", "two pieces reach"].map(|reach| format!("{player}: circles that {reach}"));
    ["White", "Black"].into_iter().flat_map(of)
}

/// By player: the circles that at least one, two and three pieces can reach. Pieces on their goal row reach nothing.
pub(super) type Reached = [[Circles; MOST]; 2];

/// Pieces that can reach a circle are counted up to this number.
const MOST: usize = 3;

/// What the pieces of both players can reach.
#[inline]
pub(super) fn reached(board: &Board, pieces: [Circles; 2]) -> Reached {
    let mut reached = [[Circles::NONE; MOST]; 2];
    for player in Player::BOTH {
        let [once, twice, thrice] = &mut reached[player.index()];
        for circle in (pieces[player.index()] & !Circles::goal(player)).iter() {
            let reach = board.neighbours(circle);
            *thrice |= *twice & reach;
            *twice |= *once & reach;
            *once |= reach;
        }
    }
    reached
}

/// Calls `set` with the index of every threat.
#[inline]
pub(super) fn threats(board: &Board, pieces: [Circles; 2], reached: &Reached, mut set: impl FnMut(usize)) {
    for player in Player::BOTH {
        let index = player.index();
        let planes = index * REACH_PLANES / 2 * CIRCLES;
        set_bits(planes, reached[index][0].0.into(), &mut set);
        set_bits(planes + CIRCLES, reached[index][1].0.into(), &mut set);
        let first = CAPTURES + index * captures(board);
        let movable = pieces[index] & !Circles::goal(player);
        for action in board.moves(movable, !pieces[(!player).index()]).iter() {
            set(first + action.index());
        }
    }
}

/// The holders of a circle: none, or a piece of White or of Black, without or with a mark.
const HOLDERS: usize = 5;

/// Indexed by the pieces of White and of Black that can reach a circle.
type Counts = [[u8; MOST + 1]; MOST + 1];

/// By lines at a circle: the index of each pair of counts among those that are possible there. A circle that no piece
/// reaches has no index; its entry is the number of possible pairs.
const PAIRS: [Counts; 2 * MOST + 1] = {
    let mut pairs = [[[0; MOST + 1]; MOST + 1]; 2 * MOST + 1];
    let mut place = 0;
    while place < pairs.len() * (MOST + 1) * (MOST + 1) {
        let (lines, white, black) =
            (place / (MOST + 1) / (MOST + 1), place / (MOST + 1) % (MOST + 1), place % (MOST + 1));
        if white + black > 0 && white + black <= lines {
            pairs[lines][white][black] = pairs[lines][0][0];
            pairs[lines][0][0] += 1;
        }
        place += 1;
    }
    pairs
};

/// The index of each pair of counts at a circle, and the number of pairs.
#[inline]
fn pairs(board: &Board, circle: Circle) -> (&'static Counts, usize) {
    let lines = board.neighbours(circle).count() as usize;
    let pairs = &PAIRS[lines.min(2 * MOST)];
    (pairs, pairs[0][0].into())
}

/// The number of inputs for the control of all circles.
pub(super) fn control_count(board: &Board) -> usize {
    Circle::all().map(|circle| HOLDERS * pairs(board, circle).1).sum()
}

/// Calls `set` with the index of the control of every circle that a piece can reach.
#[inline]
pub(super) fn control(
    board: &Board,
    [white, black]: [Circles; 2],
    marked: Circles,
    reached: &Reached,
    mut set: impl FnMut(usize),
) {
    let mut start = 0;
    for circle in Circle::all() {
        let count = |sets: &[Circles]| sets.iter().filter(|set| set.contains(circle)).count();
        let [by_white, by_black] = reached.map(|sets| count(&sets));
        let (pairs, possible) = pairs(board, circle);
        if by_white + by_black > 0 {
            let holder = count(&[white]) + 3 * count(&[black]) + count(&[marked]);
            set(start + holder * possible + usize::from(pairs[by_white][by_black]));
        }
        start += HOLDERS * possible;
    }
}
