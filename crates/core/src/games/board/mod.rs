//! The board of jarmo and guard: circles, the lines between them, and tables for move generation.
//!
//! The standard board is built in, other boards come from files. The indices of actions have a fixed order: first
//! every line in both directions, sorted by source and target; then the return of a captured archer to each of the
//! five circles of the home row; then the pass.

mod circle;
mod draw;
mod game;
mod moves;
mod parse;

use std::fmt;

pub use circle::{CIRCLES, Circle, Circles, SIDE};
pub use draw::BRAILLE_DOTS;
use draw::draw_circles;
pub use game::{BoardGame, BoardPosition, BoardRules, DEFAULT_MAX_PLIES, PIECES, Step};
pub(crate) use moves::split_move;
pub use moves::{BoardAction, DEPLOY_PLACES};

use crate::game::{Action, ActionMask, Player};

/// The set of actions of jarmo or guard.
pub type BoardMask = ActionMask<2>;

/// The largest number of lines. With five redeploys and the pass, the actions then fill 128 bits.
pub const MAX_LINES: usize = 61;

/// The standard board of the rules.
const STANDARD: &str = include_str!("standard.toml");

/// Stands for a missing action: no line connects two circles.
const NONE: u8 = u8::MAX;

/// The lines between the 25 circles, with tables for move generation.
#[derive(Clone, PartialEq, Eq)]
pub struct Board {
    name: String,
    lines: Vec<(Circle, Circle)>,
    neighbours: [Circles; CIRCLES],
    moves: Vec<(Circle, Circle)>,     // [action]: source and target
    reverse: [u8; 2 * MAX_LINES],     // [action]: the move back
    index: [[u8; CIRCLES]; CIRCLES],  // [source][target]: the action, or NONE
    leaving: [[[u64; 2]; 32]; SIDE],  // [row][set of circles in the row]: the moves that start there
    arriving: [[[u64; 2]; 32]; SIDE], // [row][set of circles in the row]: the moves that end there
}

impl Board {
    /// The standard board of the rules, with 39 lines.
    pub fn standard() -> Board {
        Board::from_toml(STANDARD).expect("the built-in board is well-formed")
    }

    /// Builds the tables from valid lines, each with its lower circle first.
    pub(in crate::games) fn new(name: String, mut lines: Vec<(Circle, Circle)>) -> Board {
        lines.sort_unstable();
        let mut moves: Vec<(Circle, Circle)> = lines.iter().flat_map(|&(a, b)| [(a, b), (b, a)]).collect();
        moves.sort_unstable();
        let mut board = Board {
            name,
            lines,
            neighbours: [Circles::NONE; CIRCLES],
            reverse: [NONE; 2 * MAX_LINES],
            index: [[NONE; CIRCLES]; CIRCLES],
            leaving: [[[0; 2]; 32]; SIDE],
            arriving: [[[0; 2]; 32]; SIDE],
            moves,
        };
        for (action, &(from, to)) in board.moves.iter().enumerate() {
            board.neighbours[from.index()] |= Circles::from(to);
            board.index[from.index()][to.index()] = action as u8;
            for set in 0..32 {
                let (word, bit) = (action / 64, action % 64);
                if set >> from.column() & 1 == 1 {
                    board.leaving[from.row()][set][word] |= 1 << bit;
                }
                if set >> to.column() & 1 == 1 {
                    board.arriving[to.row()][set][word] |= 1 << bit;
                }
            }
        }
        for (action, &(from, to)) in board.moves.iter().enumerate() {
            board.reverse[action] = board.index[to.index()][from.index()];
        }
        board
    }

    /// The name given in the board file, or `random` and the seed.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The lines, sorted. Each has its lower circle first.
    pub fn lines(&self) -> &[(Circle, Circle)] {
        &self.lines
    }

    /// The lines as text, `A1-B3 A1-C2 …`. Boards with equal lines have equal texts.
    pub fn text(&self) -> String {
        self.lines.iter().map(|(from, to)| format!("{from}-{to}")).collect::<Vec<_>>().join(" ")
    }

    /// The circles that a line connects with this one.
    #[inline]
    pub fn neighbours(&self, circle: Circle) -> Circles {
        self.neighbours[circle.index()]
    }

    /// The number of steps from each circle to the nearest one of `goal`, or [`CIRCLES`] if no path leads there.
    pub fn distances(&self, goal: Circles) -> [usize; CIRCLES] {
        let mut distances = [CIRCLES; CIRCLES];
        let mut reached = goal;
        for steps in 0..CIRCLES {
            reached.iter().for_each(|circle| distances[circle.index()] = steps);
            reached = reached
                .iter()
                .flat_map(|circle| self.neighbours(circle).iter())
                .filter(|circle| distances[circle.index()] == CIRCLES)
                .fold(Circles::NONE, |set, circle| set | circle.into());
        }
        distances
    }

    /// The number of actions: two for each line, five redeploys, and the pass.
    #[inline]
    pub fn actions(&self) -> usize {
        self.moves.len() + DEPLOY_PLACES + 1
    }

    /// The moves of the pieces on `movable` that do not end on a circle of `own`.
    #[inline]
    pub(crate) fn moves(&self, movable: Circles, own: Circles) -> BoardMask {
        let mut words = [0; 2];
        for row in 0..SIDE {
            let leaving = &self.leaving[row][movable.row(row)];
            words[0] |= leaving[0];
            words[1] |= leaving[1];
        }
        let ActionMask(blocked) = self.arriving(own);
        ActionMask([words[0] & !blocked[0], words[1] & !blocked[1]])
    }

    /// The moves that end on these circles, wherever they start.
    #[inline]
    pub(crate) fn arriving(&self, circles: Circles) -> BoardMask {
        let mut words = [0; 2];
        for row in 0..SIDE {
            let arriving = &self.arriving[row][circles.row(row)];
            words[0] |= arriving[0];
            words[1] |= arriving[1];
        }
        ActionMask(words)
    }

    /// The actions that bring a piece of `player` back to the circles of the home row that are in `places`.
    #[inline]
    pub(crate) fn deploys(&self, player: Player, places: Circles) -> BoardMask {
        let columns = places.row(Circles::home_row_of(player)) as u128;
        let bits = columns << self.moves.len();
        ActionMask([bits as u64, (bits >> 64) as u64])
    }

    /// The index of the pass.
    #[inline]
    pub fn pass(&self) -> Action {
        Action((self.moves.len() + DEPLOY_PLACES) as u16)
    }
}

impl fmt::Debug for Board {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Board({}, {} lines)", self.name, self.lines.len())
    }
}

/// The letter of the piece on a circle. Pieces on the circles in `upper` have upper-case letters.
fn piece_letter(pieces: [Circles; 2], upper: Circles, circle: Circle) -> Option<char> {
    let player = Player::BOTH.into_iter().find(|player| pieces[player.index()].contains(circle))?;
    Some(player.piece_letter(upper.contains(circle)))
}

/// From `(cell, letter)` pairs: the pieces of each player, and the set of those with upper-case letters.
fn collect_pieces(placed: &[(usize, char)]) -> ([Circles; 2], Circles) {
    let mut pieces = [Circles::NONE; 2];
    let mut upper = Circles::NONE;
    for &(place, letter) in placed {
        let circle = Circles::from(Circle::at(place));
        let player = if letter.eq_ignore_ascii_case(&'w') { Player::White } else { Player::Black };
        pieces[player.index()] |= circle;
        if letter.is_ascii_uppercase() {
            upper |= circle;
        }
    }
    (pieces, upper)
}
