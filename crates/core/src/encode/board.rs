//! Features and threats of jarmo and guard, in planes of 25 cells.
//!
//! The board has no symmetry, so it is not rotated for Black: planes belong to White and Black, and a feature says who is
//! to move.
//!
//! Threats, per player: the circles that at least one, and at least two, of the player's pieces can reach in one move, and
//! every capture the player could make with the next move. Then the control of each circle: its holder, and how many
//! pieces of each player can reach it. All of them have separate inputs for White and for Black to move.

use super::{Encode, NUMBERS, PLIES_LEFT_CELLS, named_planes, set_bits, set_plies_left};
use crate::game::{Mask, Player};
use crate::games::board::{Board, BoardGame, BoardPosition, BoardRules, CIRCLES, Circle, Circles, SIDE};

/// The features of one game on the board that the others do not have.
pub trait BoardFeatures: BoardRules {
    /// The names of each player's planes: pieces, strong pieces, then the game's own.
    const PLANES: &'static [&'static str];
    /// Planes of numbers. Their first cell is set if White is to move.
    const NUMBER_PLANES: usize;
    /// The number of cells in them before those of the plies left.
    const NUMBER_CELLS: usize;
    /// The index of the first number.
    const NUMBERS: usize = 2 * Self::PLANES.len() * CIRCLES;

    /// The index where a player's planes start.
    #[inline]
    fn planes_of(player: Player) -> usize {
        player.index() * Self::PLANES.len() * CIRCLES
    }

    /// Sets the game's own features of a player.
    fn of_player(board: &Board, position: &BoardPosition<Self>, player: Player, set: &mut impl FnMut(usize));

    /// Sets the game's own features of the turn.
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
            "White to move: captures of White, then of Black, then by circle its holder and how many pieces of White \
             and of Black can reach it; then all threats again for Black to move; counted through the planes"
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

/// Per player: circles reached by at least one piece, and by at least two.
const REACH_PLANES: usize = 2 * 2;

const CAPTURES: usize = REACH_PLANES * CIRCLES;

/// The number of possible captures per player: one for each directed line.
fn captures(board: &Board) -> usize {
    2 * board.lines().len()
}

/// The number of threats with one player to move: four planes of reach, the captures, the control of all circles.
fn threats_of_mover(board: &Board) -> usize {
    CAPTURES + 2 * captures(board) + control_count(board)
}

/// By player: the circles that at least one, two and three pieces can reach. Pieces on their goal row reach nothing.
type Reached = [[Circles; MOST]; 2];

/// Pieces that can reach a circle are counted up to this number.
const MOST: usize = 3;

/// What the pieces of both players can reach.
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

/// The holders of a circle: none, or a piece of White or of Black, either plain or special.
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
fn control_count(board: &Board) -> usize {
    Circle::all().map(|circle| HOLDERS * pairs(board, circle).1).sum()
}

/// Calls `set` with the index of the control of every circle that a piece can reach.
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
