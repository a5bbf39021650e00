//! Othello, as an example of a game in a crate of its own: the rules here, the network's input in `encode`.
//!
//! White moves first, as in all games of this library; in the published rules the colours are swapped. A player without
//! a move passes, and the game is over when neither can move. More discs win.
//!
//! Actions are `a1` to `h8` and `pass`. A position is `8/8/8/3wb3/3bw3/8/8/8 w 0`: the board from row 8 down to row 1,
//! the player to move, and the number of actions so far.

mod encode;

use std::fmt;

use jarmo::game::{
    Action, ActionError, ActionMask, BoardText, Game, Mask, Outcome, Player, PositionError, Reason, Wording,
    parse_board, write_board,
};
use jarmo::games::text::{fields, parse_number, parse_player};
use jarmo::search::HasHeuristic;
use jarmo::search::heuristic::NoHeuristic;
use jarmo::tables::HasEndgames;
use jarmo::view::GameView;

/// The number of squares. Bit `8 * row + column` of a set is one square.
const SQUARES: usize = 64;
/// The action after the squares.
const PASS: Action = Action(SQUARES as u16);
const BOARD: BoardText = BoardText { columns: 8, rows: 8, letters: "wb" };

/// Why an action is illegal, or its text no action.
const GAME_OVER: Wording = wording("game_over", "the game is over");
const TURNS_NONE: Wording = wording("turns_none", "a disc on {place} would turn none");
const CAN_MOVE: Wording = wording("can_move", "a pass is legal only without a move");
const NO_ACTION: Wording = wording("othello_action", "expected a square a1 to h8, or pass");

const fn wording(key: &'static str, english: &'static str) -> Wording {
    Wording { key, english }
}

/// The rules of othello.
#[derive(Clone, Debug, Default)]
pub struct Othello {
    max_plies: u32, // 0 for no limit: a game has at most 60 moves and some passes
}

/// A position of othello.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OthelloPosition {
    discs: [u64; 2], // by player
    to_move: Player,
    ply: u32,
}

impl OthelloPosition {
    /// The discs of the player to move and those of the opponent.
    fn sides(&self) -> [u64; 2] {
        let mover = self.to_move.index();
        [self.discs[mover], self.discs[1 - mover]]
    }

    fn letter(&self, square: usize) -> Option<char> {
        let has = |player: &Player| self.discs[player.index()] >> square & 1 == 1;
        Player::BOTH.into_iter().find(has).map(Player::letter)
    }
}

const ALL: u64 = !0;
const NOT_A: u64 = 0xfefe_fefe_fefe_fefe;
const NOT_H: u64 = 0x7f7f_7f7f_7f7f_7f7f;

/// By direction: how far a step shifts a set, and the squares where it can arrive.
const SHIFTS: [i32; 8] = [1, -1, 8, -8, 9, -9, 7, -7];
const ARRIVALS: [u64; 8] = [NOT_A, NOT_H, ALL, ALL, NOT_A, NOT_H, NOT_H, NOT_A];

/// The squares one step away from a set.
#[inline]
fn step(set: u64, direction: usize) -> u64 {
    let by = SHIFTS[direction];
    let moved = if by > 0 { set << by } else { set >> -by };
    moved & ARRIVALS[direction]
}

/// The discs of `other` that stand in unbroken rows next to a square of `from`, in one direction.
#[inline]
fn row(from: u64, other: u64, direction: usize) -> u64 {
    let mut row = step(from, direction) & other;
    for _ in 0..5 {
        row |= step(row, direction) & other; // a row has at most six discs between two others
    }
    row
}

/// The squares where a player with the discs `own` can move.
#[inline]
fn moves(own: u64, other: u64) -> u64 {
    let end = |direction| step(row(own, other, direction), direction);
    (0..8).map(end).fold(0, |all, end| all | end) & !(own | other)
}

/// The discs that a move turns.
#[inline]
fn turned(square: u64, own: u64, other: u64) -> u64 {
    let closed = |direction| {
        let row = row(square, other, direction);
        let is_closed = step(row, direction) & own != 0;
        if is_closed { row } else { 0 }
    };
    (0..8).map(closed).fold(0, |all, row| all | row)
}

fn square_name(square: usize) -> String {
    let column = char::from(b'a' + (square % 8) as u8);
    format!("{column}{}", square / 8 + 1)
}

// What othello has besides rules and features: nothing. So these have defaults for all methods.
impl GameView for Othello {}

impl HasHeuristic for Othello {
    type Heuristic = NoHeuristic;
}

impl HasEndgames for Othello {}

impl Game for Othello {
    type Position = OthelloPosition;
    type Mask = ActionMask<2>;

    fn id(&self) -> &'static str {
        "othello"
    }

    fn rules_version(&self) -> u32 {
        1
    }

    fn actions(&self) -> usize {
        SQUARES + 1
    }

    fn start(&self) -> OthelloPosition {
        let square = |column: usize, row: usize| 1_u64 << (8 * row + column);
        OthelloPosition {
            discs: [square(3, 4) | square(4, 3), square(3, 3) | square(4, 4)],
            to_move: Player::White,
            ply: 0,
        }
    }

    fn to_move(&self, position: &OthelloPosition) -> Player {
        position.to_move
    }

    fn ply(&self, position: &OthelloPosition) -> u32 {
        position.ply
    }

    fn max_points(&self) -> u8 {
        SQUARES as u8
    }

    fn max_plies(&self) -> u32 {
        self.max_plies
    }

    fn with_max_plies(self, max_plies: u32) -> Othello {
        Othello { max_plies }
    }

    fn legal(&self, position: &OthelloPosition) -> ActionMask<2> {
        let [own, other] = position.sides();
        let squares = moves(own, other);
        let passes = squares == 0 && moves(other, own) != 0;
        if self.is_cut_off(position) {
            return ActionMask::default();
        }
        ActionMask([squares, passes.into()])
    }

    fn play(&self, position: &mut OthelloPosition, action: Action) {
        debug_assert!(self.legal(position).contains(action), "illegal action");
        if action != PASS {
            let [own, other] = position.sides();
            let square = 1 << action.index();
            let turned = turned(square, own, other);
            position.discs[position.to_move.index()] ^= square | turned;
            position.discs[(!position.to_move).index()] ^= turned;
        }
        position.to_move = !position.to_move;
        position.ply += 1;
    }

    fn outcome(&self, position: &OthelloPosition) -> Option<Outcome> {
        let [own, other] = position.sides();
        let score = position.discs.map(|discs| discs.count_ones() as u8);
        if moves(own, other) | moves(other, own) == 0 {
            return Some(Outcome::by_score(score));
        }
        let cut_off = self.is_cut_off(position);
        cut_off.then_some(Outcome::truncated(Some(score)))
    }

    fn why_illegal(&self, position: &OthelloPosition, action: Action) -> Reason {
        let over = self.outcome(position).is_some();
        match action {
            _ if over => GAME_OVER.reason(),
            PASS => CAN_MOVE.reason(),
            Action(square) => TURNS_NONE.reason().with("place", square_name(square.into())),
        }
    }

    fn position_text(&self, position: &OthelloPosition) -> String {
        let board = write_board(BOARD, |square| position.letter(square));
        format!("{board} {} {}", position.to_move.letter(), position.ply)
    }

    fn parse_position(&self, text: &str) -> Result<OthelloPosition, PositionError> {
        let [board, to_move, ply] = fields(text, &["board", "to move", "ply"])?;
        let mut position =
            OthelloPosition { discs: [0; 2], to_move: parse_player(to_move)?, ply: parse_number("ply", ply)? };
        let discs = parse_board(BOARD, board)?;
        for &(square, letter) in &discs {
            position.discs[usize::from(letter == 'b')] |= 1 << square;
        }
        // Every action but a pass adds a disc to the four of the start.
        if !(4..=4 + position.ply as usize).contains(&discs.len()) {
            let problem = format!("{} discs do not fit ply {ply}", discs.len());
            return Err(PositionError::new("board", board, problem));
        }
        Ok(position)
    }

    fn action_text(&self, _: &OthelloPosition, action: Action) -> String {
        let square = (action != PASS).then(|| square_name(action.index()));
        square.unwrap_or_else(|| "pass".to_owned())
    }

    fn parse_action(&self, _: &OthelloPosition, text: &str) -> Result<Action, ActionError> {
        match text.to_ascii_lowercase().as_bytes() {
            b"pass" => Ok(PASS),
            [column @ b'a'..=b'h', row @ b'1'..=b'8'] => Ok(Action(u16::from(8 * (row - b'1') + column - b'a'))),
            _ => Err(ActionError::unreadable(text, NO_ACTION.reason())),
        }
    }

    fn draw(&self, position: &OthelloPosition, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in (0..8).rev() {
            write!(out, "{} ", row + 1)?;
            for square in 8 * row..8 * row + 8 {
                write!(out, " {}", position.letter(square).unwrap_or('.'))?;
            }
            writeln!(out)?;
        }
        let [white, black] = position.discs.map(u64::count_ones);
        writeln!(out, "   a b c d e f g h")?;
        let to_move = position.to_move.name();
        writeln!(out, "{to_move} to move, discs {white}:{black}")
    }
}
