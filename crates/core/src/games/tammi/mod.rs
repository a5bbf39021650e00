//! The rules of tammi: Finnish and Czech draughts, with flying kings that must capture first.
//!
//! Positions and actions are stored from the point of view of the player to move, so that forward is always the same
//! direction. The board is rotated whenever the turn passes. Text is always from White's point of view.

mod control;
mod history;
mod moves;
mod squares;
mod text;

use std::fmt;

use crate::game::{Action, ActionError, ActionMask, Game, Mask, Outcome, Player, PositionError, Reason};
use crate::games::reasons::GAME_OVER;
pub use control::Control;
use history::KingMoves;
pub use history::MAX_QUIET_LIMIT;
pub(crate) use squares::ACTIONS;
use squares::{DIAGONALS, FAR_ROW};
pub use squares::{SIDE, SQUARES, Square};

/// The set of actions of tammi.
pub type TammiMask = ActionMask<5>;

/// The number of pieces of each player at the start, which is also the maximum.
pub const PIECES: u32 = 12;

/// The default number of plies without a capture after which the game is drawn.
pub const DEFAULT_QUIET_LIMIT: u32 = 30;

/// The default move limit.
pub const DEFAULT_MAX_PLIES: u32 = 200;

/// The game is drawn when its position has occurred this often before, that is, at the third occurrence.
const REPEATS_TO_DRAW: u8 = 2;

/// The value of `jumper` when no capture is in progress.
const NO_SQUARE: u8 = SQUARES as u8;

/// The rules of tammi.
#[derive(Clone, Debug)]
pub struct Tammi {
    quiet_limit: u32,
    max_plies: u32,
}

/// A tammi position, from the point of view of the player to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TammiPosition {
    own: u32,
    enemy: u32,
    kings: u32,  // of both players
    jumped: u32, // enemy pieces that are removed when the capture in progress is over
    ply: u32,
    jumper: u8, // the square of the capturing piece, or NO_SQUARE
    quiet: u8,  // plies since the last capture
    repeats: u8,
    to_move: Player,
    history: KingMoves,
}

impl TammiPosition {
    /// The player's pieces from White's point of view; bit `4 * row + column / 2` is a square.
    pub fn pieces(&self, player: Player) -> u32 {
        self.white_view(if player == self.to_move { self.own } else { self.enemy })
    }

    /// The player's men from White's point of view.
    pub fn men(&self, player: Player) -> u32 {
        self.pieces(player) & !self.white_view(self.kings)
    }

    /// The player's kings from White's point of view.
    pub fn kings(&self, player: Player) -> u32 {
        self.pieces(player) & self.white_view(self.kings)
    }

    /// The piece that is capturing and the set of pieces that it has jumped, from White's point of view. `None` if no
    /// capture is in progress.
    pub fn capture(&self) -> Option<(Square, u32)> {
        let jumper = self.jumper()?.seen_by(self.to_move);
        Some((jumper, self.white_view(self.jumped)))
    }

    /// Own pieces, enemy pieces, kings of both players, and jumped pieces, from the mover's point of view.
    #[inline]
    pub fn mover_view(&self) -> [u32; 4] {
        [self.own, self.enemy, self.kings, self.jumped]
    }

    /// The enemy piece that an action jumps over, from the mover's point of view; empty if it is not a capture.
    #[inline]
    pub fn jumped_by(&self, action: Action) -> u32 {
        DIAGONALS.between[action.index()] & self.enemy & !self.jumped
    }

    /// The piece that is capturing, from the mover's point of view.
    #[inline]
    pub fn jumper(&self) -> Option<Square> {
        (self.jumper != NO_SQUARE).then_some(Square(self.jumper))
    }

    /// The number of plies since the last capture.
    pub fn quiet_plies(&self) -> u32 {
        self.quiet.into()
    }

    /// How often this position (pieces and player to move) has occurred before.
    pub fn repeats(&self) -> u32 {
        self.repeats.into()
    }

    /// A position without history, from sets in the mover's point of view: own pieces, enemy pieces, kings of both.
    #[inline]
    pub fn of_mover_view([own, enemy, kings]: [u32; 3], to_move: Player) -> TammiPosition {
        TammiPosition {
            own,
            enemy,
            kings,
            jumped: 0,
            ply: 0,
            jumper: NO_SQUARE,
            quiet: 0,
            repeats: 0,
            to_move,
            history: KingMoves::EMPTY,
        }
    }

    /// The same pieces and the same capture in progress, without history.
    pub fn without_history(&self) -> TammiPosition {
        TammiPosition {
            jumped: self.jumped,
            jumper: self.jumper,
            ..TammiPosition::of_mover_view([self.own, self.enemy, self.kings], self.to_move)
        }
    }

    /// Visits every board from which a move without a capture can lead to this position, from the point of view of
    /// the player who made that move. On some of these boards a capture was compulsory, so the move was illegal.
    #[inline]
    pub fn each_quiet_origin(&self, visit: impl FnMut([u32; 3])) {
        moves::each_quiet_origin([self.enemy, self.own, self.kings].map(u32::reverse_bits), visit);
    }

    /// The player to move.
    #[inline]
    pub fn to_move(&self) -> Player {
        self.to_move
    }

    #[inline]
    fn white_view(&self, set: u32) -> u32 {
        match self.to_move {
            Player::White => set,
            Player::Black => set.reverse_bits(),
        }
    }

    /// The actions of the player to move, and those that the opponent would have if it were the opponent's turn, each
    /// from its player's point of view. During a capture, the opponent's jumped pieces still count.
    #[inline]
    pub fn possible_moves(&self) -> [TammiMask; 2] {
        let mut opponent = *self;
        opponent.end_turn();
        (opponent.jumped, opponent.jumper) = (0, NO_SQUARE);
        [self, &opponent].map(moves::legal)
    }

    /// This position as if `viewer` were to move, which the rules may not allow.
    pub(crate) fn seen_by(&self, viewer: Player) -> TammiPosition {
        let mut seen = *self;
        if viewer != self.to_move {
            seen.end_turn();
            seen.jumped = seen.jumped.reverse_bits();
            if seen.jumper != NO_SQUARE {
                seen.jumper = u32::BITS as u8 - 1 - seen.jumper;
            }
        }
        seen
    }

    /// Ends the turn: rotates the board to the other player's point of view.
    #[inline]
    fn end_turn(&mut self) {
        (self.own, self.enemy) = (self.enemy.reverse_bits(), self.own.reverse_bits());
        self.kings = self.kings.reverse_bits();
        self.to_move = !self.to_move;
    }
}

impl Tammi {
    /// The rules. A game is drawn after `quiet_limit` plies without a capture. `max_plies` is the move limit (0 for
    /// none).
    ///
    /// # Panics
    /// Panics unless `quiet_limit` is 1 to [`MAX_QUIET_LIMIT`].
    pub fn new(quiet_limit: u32, max_plies: u32) -> Tammi {
        assert!((1..=MAX_QUIET_LIMIT).contains(&quiet_limit), "the quiet limit is 1 to {MAX_QUIET_LIMIT}");
        Tammi { quiet_limit, max_plies }
    }

    /// The rules with the default limits.
    pub fn standard() -> Tammi {
        Tammi::new(DEFAULT_QUIET_LIMIT, DEFAULT_MAX_PLIES)
    }

    /// The number of plies without a capture after which the game is drawn.
    pub fn quiet_limit(&self) -> u32 {
        self.quiet_limit
    }

    /// The source and target of an action, from White's point of view.
    pub fn ends(&self, position: &TammiPosition, action: Action) -> (Square, Square) {
        let (from, to) = DIAGONALS.ends[action.index()];
        (from.seen_by(position.to_move), to.seen_by(position.to_move))
    }

    #[inline]
    fn drawn(&self, position: &TammiPosition) -> bool {
        (u32::from(position.quiet) >= self.quiet_limit) | (position.repeats >= REPEATS_TO_DRAW)
    }
}

impl Game for Tammi {
    type Position = TammiPosition;
    type Mask = TammiMask;

    fn id(&self) -> &'static str {
        "tammi"
    }

    fn actions(&self) -> usize {
        ACTIONS
    }

    #[inline]
    fn start(&self) -> TammiPosition {
        TammiPosition::of_mover_view([0x0000_0fff, 0xfff0_0000, 0], Player::White)
    }

    #[inline]
    fn to_move(&self, position: &TammiPosition) -> Player {
        position.to_move
    }

    #[inline]
    fn ply(&self, position: &TammiPosition) -> u32 {
        position.ply
    }

    fn draw_plies(&self) -> Option<u32> {
        Some(self.quiet_limit)
    }

    fn max_plies(&self) -> u32 {
        self.max_plies
    }

    fn with_max_plies(self, max_plies: u32) -> Tammi {
        Tammi { max_plies, ..self }
    }

    #[inline]
    fn legal(&self, position: &TammiPosition) -> TammiMask {
        if self.drawn(position) | self.is_cut_off(position) {
            return TammiMask::default();
        }
        moves::legal(position)
    }

    #[inline]
    fn play(&self, position: &mut TammiPosition, action: Action) {
        debug_assert!(self.legal(position).contains(action), "illegal action");
        let (from, to) = DIAGONALS.ends[action.index()];
        let captured = DIAGONALS.between[action.index()] & position.enemy;
        let king = position.kings & from.bit() != 0;
        position.own ^= from.bit() | to.bit();
        if king {
            position.kings ^= from.bit() | to.bit();
        }
        position.ply += 1;
        if captured != 0 {
            position.jumped |= captured;
            // A capture cannot be undone, so no earlier position can recur.
            position.history.clear();
            position.repeats = 0;
            if moves::can_capture(position, to, king) {
                position.jumper = to.0;
                return;
            }
            position.enemy &= !position.jumped;
            position.kings &= !position.jumped;
            position.jumped = 0;
            position.jumper = NO_SQUARE;
            position.quiet = 0;
        } else {
            position.quiet += 1; // never overflows: the game ends at the limit
        }
        position.kings |= position.own & to.bit() & FAR_ROW;
        if king && captured == 0 {
            position.repeats = position.history.push(from, to);
        } else {
            // The move of a man cannot be undone either.
            position.history.clear();
            position.repeats = 0;
        }
        position.end_turn();
    }

    #[inline]
    fn outcome(&self, position: &TammiPosition) -> Option<Outcome> {
        if moves::legal(position).is_empty() {
            Some(Outcome::plain(Some(!position.to_move)))
        } else if self.drawn(position) {
            Some(Outcome::plain(None))
        } else if self.is_cut_off(position) {
            Some(Outcome::truncated(None))
        } else {
            None
        }
    }

    fn why_illegal(&self, position: &TammiPosition, action: Action) -> Reason {
        if self.outcome(position).is_some() {
            return GAME_OVER.reason();
        }
        let (from, to) = DIAGONALS.ends[action.index()];
        moves::why_illegal(position, from, to, DIAGONALS.between[action.index()])
    }

    fn position_text(&self, position: &TammiPosition) -> String {
        text::write(position)
    }

    fn parse_position(&self, text: &str) -> Result<TammiPosition, PositionError> {
        text::parse(self, text)
    }

    fn action_text(&self, position: &TammiPosition, action: Action) -> String {
        text::write_action(position, action)
    }

    fn parse_action(&self, position: &TammiPosition, text: &str) -> Result<Action, ActionError> {
        text::parse_action(position, text)
    }

    fn is_often_forced(&self) -> bool {
        true
    }

    fn events(&self) -> &'static [&'static str] {
        &["captures", "crownings"]
    }

    fn count_events(&self, position: &TammiPosition, action: Action, counts: &mut [u64]) {
        let mover = position.to_move;
        let captures = DIAGONALS.between[action.index()] & position.enemy != 0;
        counts[0] += u64::from(captures);
        let after = self.after(position, action);
        counts[1] += u64::from(after.kings(mover).count_ones() > position.kings(mover).count_ones());
    }

    fn draw(&self, position: &TammiPosition, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in (0..SIDE).rev() {
            write!(out, "{} ", row + 1)?;
            for column in 0..SIDE {
                let letter = match Square::on(column, row) {
                    None => ' ',
                    Some(square) => text::letter(position, square).unwrap_or('.'),
                };
                write!(out, " {letter}")?;
            }
            writeln!(out)?;
        }
        writeln!(out, "   a b c d e f g h")?;
        writeln!(
            out,
            "{} to move, ply {}; {} of {} plies without a capture",
            position.to_move.name(),
            position.ply,
            position.quiet,
            self.quiet_limit
        )?;
        if let Some((jumper, jumped)) = position.capture() {
            let names: Vec<String> = squares::squares(jumped).map(|s| s.to_string()).collect();
            writeln!(out, "{jumper} is capturing and has jumped {}", names.join(", "))?;
        }
        Ok(())
    }
}
