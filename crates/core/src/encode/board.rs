//! The inputs for jarmo and guard, in planes of 25 cells.
//!
//! The board is asymmetric, so it is not rotated for Black. Planes belong to White or Black, and a feature says who
//! is to move.
//!
//! Threats, for each player: the circles that at least one piece, and at least two pieces, can reach with the next
//! move, and every capture that the player could make with it. Then the control of each circle: its holder, and how
//! many pieces of each player can reach it. All threats have separate inputs for White to move and for Black to move.

use super::{Encode, NUMBERS, PLIES_LEFT_CELLS, named_planes, set_bits, set_plies_left};
use crate::game::{Mask, Player};
use crate::games::board::{Board, BoardGame, BoardPosition, BoardRules, CIRCLES, Circle, Circles, SIDE};

/// The features that differ between jarmo and guard.
pub trait BoardFeatures: BoardRules {
    /// What each player's planes contain: pieces, strong pieces, then what only this game has.
    const PLANES: &'static [&'static str];
    /// The number of planes that encode numbers. Their first cell is set if White is to move.
    const NUMBER_PLANES: usize;
    /// The number of their cells before those for the plies left.
    const NUMBER_CELLS: usize;
    /// The index of the first cell that encodes a number.
    const NUMBERS: usize = 2 * Self::PLANES.len() * CIRCLES;

    /// The index at which a player's planes start.
    #[inline]
    fn planes_of(player: Player) -> usize {
        player.index() * Self::PLANES.len() * CIRCLES
    }

    /// Sets features of one player that only this game has.
    fn of_player(board: &Board, position: &BoardPosition<Self>, player: Player, set: &mut impl FnMut(usize));

    /// Sets features of the turn that only this game has.
    fn of_turn(_position: &BoardPosition<Self>, _set: &mut impl FnMut(usize)) {}
}

impl<R: BoardFeatures> Encode for BoardGame<R> {
    fn encoder_version(&self) -> u32 {
        3
    }

    fn planes(&self) -> usize {
        self.board_planes() + R::NUMBER_PLANES
    }

    fn board_planes(&self) -> usize {
        2 * R::PLANES.len()
    }

    fn plane_names(&self) -> Vec<String> {
        let (players, features) = (["White", "Black"], self.planes());
        let boards =
            players.into_iter().flat_map(|player| R::PLANES.iter().map(move |what| format!("{player}: {what}")));
        let mut names = named_planes(boards.chain([NUMBERS.to_owned()]), features);
        let reach = |player| {
            ["one piece reaches", "two pieces reach"]
                .map(|reach| format!("White to move: {player}: circles that {reach}"))
        };
        names.extend(players.into_iter().flat_map(reach));
        names.push(
            "inputs numbered across these planes: White to move: captures of White, then of Black, then for each circle \
             its holder and how many pieces of White and of Black can reach it; then all threats again for Black to move"
                .to_owned(),
        );
        named_planes(names, features + self.threat_planes())
    }

    fn grid(&self) -> (usize, usize) {
        (SIDE, SIDE)
    }

    #[inline]
    fn features(&self, position: &BoardPosition<R>, mut set: impl FnMut(usize)) {
        const { assert!(R::NUMBER_CELLS + PLIES_LEFT_CELLS <= R::NUMBER_PLANES * CIRCLES) };
        for player in Player::BOTH {
            let (planes, pieces) = (R::planes_of(player), position.pieces(player));
            set_bits(planes, pieces.0.into(), &mut set);
            set_bits(planes + CIRCLES, (pieces & position.strong()).0.into(), &mut set);
            R::of_player(self.board(), position, player, &mut set);
        }
        if position.to_move() == Player::White {
            set(R::NUMBERS);
        }
        R::of_turn(position, &mut set);
        set_plies_left(self, position, R::NUMBERS + R::NUMBER_CELLS, &mut set);
    }

    fn seen_by(&self, position: &BoardPosition<R>, viewer: Player) -> BoardPosition<R> {
        let mut seen = *position;
        seen.to_move = viewer;
        seen
    }

    fn threat_planes(&self) -> usize {
        (2 * threats_of_mover(self.board())).div_ceil(CIRCLES)
    }

    #[inline]
    fn threats(&self, position: &BoardPosition<R>, mut set: impl FnMut(usize)) {
        let (board, pieces) = (self.board(), Player::BOTH.map(|player| position.pieces(player)));
        let reached = reached(board, pieces);
        let first = position.to_move().index() * threats_of_mover(board);
        reach_and_captures(board, pieces, &reached, |threat| set(first + threat));
        let first = first + CAPTURES + 2 * captures(board);
        control(board, pieces, position.strong(), &reached, |control| set(first + control));
    }
}

/// Planes for both players: circles that at least one piece can reach, and at least two.
const REACH_PLANES: usize = 2 * 2;

const CAPTURES: usize = REACH_PLANES * CIRCLES;

/// The number of possible captures of each player: one for each line and direction.
fn captures(board: &Board) -> usize {
    2 * board.lines().len()
}

/// The number of threats for one player to move: four planes of reach, the captures of both players, and the control
/// of all circles.
fn threats_of_mover(board: &Board) -> usize {
    CAPTURES + 2 * captures(board) + control_count(board)
}

/// `[player][n]`: the circles that more than n pieces can reach. Pieces on the goal row never move.
type Reached = [[Circles; MOST]; 2];

/// Pieces that can reach a circle are counted up to this number.
const MOST: usize = 3;

/// The circles that the pieces of both players can reach.
#[inline]
fn reached(board: &Board, pieces: [Circles; 2]) -> Reached {
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

#[inline]
fn reach_and_captures(board: &Board, pieces: [Circles; 2], reached: &Reached, mut set: impl FnMut(usize)) {
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

/// Who holds a circle: nobody, or a piece of White or of Black, plain or strong.
const HOLDERS: usize = 5;

/// `[pieces of White that can reach a circle][pieces of Black that can]`
type Counts = [[u8; MOST + 1]; MOST + 1];

/// `[lines at a circle]`: an index for each pair of counts that is possible with so many lines. A circle that no piece
/// can reach needs no index, so that entry contains the number of possible pairs.
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

/// The number of inputs that encode the control of all circles.
fn control_count(board: &Board) -> usize {
    Circle::all().map(|circle| HOLDERS * pairs(board, circle).1).sum()
}

/// Calls `set` for every circle that a piece can reach, with the index of its holder and pair of counts.
#[inline]
fn control(
    board: &Board,
    [white, black]: [Circles; 2],
    special: Circles,
    reached: &Reached,
    mut set: impl FnMut(usize),
) {
    let mut start = 0;
    for circle in Circle::all() {
        let count = |sets: &[Circles]| sets.iter().filter(|set| set.contains(circle)).count();
        let [by_white, by_black] = reached.map(|sets| count(&sets));
        let (pairs, possible) = pairs(board, circle);
        if by_white + by_black > 0 {
            let holder = count(&[white]) + 3 * count(&[black]) + count(&[special]);
            set(start + holder * possible + usize::from(pairs[by_white][by_black]));
        }
        start += HOLDERS * possible;
    }
}
