//! Threats in jarmo and guard. Per player: the circles that at least one, and at least two, of the
//! player's pieces can reach in one move, and every capture the player could make with the next move.
//! In jarmo also, by circle, who holds it and how many pieces of each player can reach it.

use super::set_bits;
use crate::game::{Mask, Player};
use crate::games::board::{Board, CIRCLES, Circles};

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

/// The names of the planes of threats, of which the last one stands for all captures.
pub(super) fn threat_names() -> impl Iterator<Item = String> {
    let of = |player| ["one piece reaches", "two pieces reach"].map(|reach| format!("{player}: circles that {reach}"));
    let captures = "captures of White, then of Black, counted through the planes".to_owned();
    ["White", "Black"].into_iter().flat_map(of).chain([captures])
}

/// The circles that at least one, two and three pieces can reach.
type Reached = [Circles; MOST];

/// Pieces that can reach a circle are counted up to this number.
const MOST: usize = 3;

/// A circle is held by nobody, or by a piece of White or Black without or with a mark.
const HOLDERS: usize = 5;

/// By lines at a circle and by how many pieces of White and Black can reach it: the index of this pair of numbers
/// among those that are possible. The numbers are `MOST` at most, and not both 0.
const PAIRS: [[[u8; MOST + 1]; MOST + 1]; 2 * MOST + 1] = {
    let mut pairs = [[[0; MOST + 1]; MOST + 1]; 2 * MOST + 1];
    let mut place = 0;
    while place < pairs.len() * (MOST + 1) * (MOST + 1) {
        let (lines, white, black) =
            (place / (MOST + 1) / (MOST + 1), place / (MOST + 1) % (MOST + 1), place % (MOST + 1));
        // Index 0 counts what came before, so that it ends as the number of pairs.
        if white + black > 0 && white + black <= lines {
            pairs[lines][white][black] = pairs[lines][0][0];
            pairs[lines][0][0] += 1;
        }
        place += 1;
    }
    pairs
};

/// The possible pairs of numbers by lines at a circle.
#[inline]
fn pairs(lines: u8) -> &'static [[u8; MOST + 1]; MOST + 1] {
    &PAIRS[usize::from(lines).min(2 * MOST)]
}

/// The number of states of all circles that a piece can reach: holder and pair.
pub(super) fn state_count(board: &Board) -> usize {
    board.degrees().iter().map(|&lines| HOLDERS * usize::from(pairs(lines)[0][0])).sum()
}

/// Calls `set` with the index of the state of every circle that a piece can reach.
#[inline]
pub(super) fn states(
    board: &Board,
    [white, black]: [Circles; 2],
    marked: Circles,
    reached: [Reached; 2],
    mut set: impl FnMut(usize),
) {
    let mut start = 0;
    for (circle, &lines) in board.degrees().iter().enumerate() {
        let holds = |circles: Circles| (circles.0 >> circle & 1) as usize;
        let [by_white, by_black] = reached.map(|by| by.map(holds).iter().sum::<usize>());
        let pairs = pairs(lines);
        let count = usize::from(pairs[0][0]);
        if by_white + by_black > 0 {
            let holder = holds(white) + 3 * holds(black) + holds(marked);
            set(start + holder * count + usize::from(pairs[by_white][by_black]));
        }
        start += HOLDERS * count;
    }
}

/// Calls `set` with the index of every threat, and returns what each player reaches. Pieces on their goal row threaten
/// nothing.
#[inline]
pub(super) fn threats(board: &Board, pieces: [Circles; 2], mut set: impl FnMut(usize)) -> [Reached; 2] {
    let mut reached = [[Circles::NONE; MOST]; 2];
    for player in Player::BOTH {
        let index = player.index();
        let movable = pieces[index] & !Circles::goal(player);
        let [once, twice, thrice] = &mut reached[index];
        for circle in movable.iter() {
            let reach = board.neighbours(circle);
            *thrice |= *twice & reach;
            *twice |= *once & reach;
            *once |= reach;
        }
        let planes = index * REACH_PLANES / 2 * CIRCLES;
        set_bits(planes, once.0.into(), &mut set);
        set_bits(planes + CIRCLES, twice.0.into(), &mut set);
        let first = CAPTURES + index * captures(board);
        for action in board.moves(movable, !pieces[(!player).index()]).iter() {
            set(first + action.index());
        }
    }
    reached
}
