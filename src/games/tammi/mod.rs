//! Tammi: Finnish and Czech draughts, with flying kings that must capture first.
//!
//! A position is kept as its player to move sees it, turned at every change of turn, so that there is
//! one direction called forward. Actions are in the mover's terms too; text is always White's view.

mod history;
mod moves;
mod squares;
mod text;

use std::fmt;

use crate::game::{
    Action, ActionError, ActionMask, Game, Mask, Outcome, Player, PositionError, Reason,
};
use crate::games::reasons::GAME_OVER;
use history::History;
pub use history::MOST_QUIET_LIMIT;
use squares::{ACTIONS, DIAGONALS, FAR_ROW};
pub use squares::{NoSuchSquare, SIDE, SQUARES, Square};

/// The set of actions of tammi.
pub type TammiMask = ActionMask<5>;

/// Pieces of a player at the start, and the most he can have.
pub const PIECES: u32 = 12;

/// Plies without a capture after which the game is drawn, unless another limit is asked for.
pub const DEFAULT_QUIET_LIMIT: u32 = 30;

/// The limit on the length of a game unless another one is asked for.
pub const DEFAULT_MAX_PLIES: u32 = 200;

/// Earlier occurrences of a position that make the next one a draw: the third time ends the game.
const REPEATS_TO_DRAW: u8 = 2;

/// No capture is under way.
const NOBODY: u8 = SQUARES as u8;

/// The rules of tammi.
#[derive(Clone, Debug)]
pub struct Tammi {
    quiet_limit: u32,
    max_plies: u32,
}

/// A tammi position, as the player to move sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TammiPosition {
    own: u32,
    enemy: u32,
    kings: u32,  // of both players
    jumped: u32, // enemy pieces that leave the board when the capture under way is over
    ply: u32,
    jumper: u8, // the square of the piece that is capturing, or NOBODY
    quiet: u8,  // plies without a capture
    repeats: u8,
    to_move: Player,
    history: History,
}

impl TammiPosition {
    /// The player's men, as White sees the board; bit `4 * row + column / 2`.
    pub fn men(&self, player: Player) -> u32 {
        self.white_view(self.pieces_of(player) & !self.kings)
    }

    /// The player's kings, as White sees the board.
    pub fn kings(&self, player: Player) -> u32 {
        self.white_view(self.pieces_of(player) & self.kings)
    }

    /// The piece that is capturing and the pieces it has jumped, as White sees the board.
    pub fn capture(&self) -> Option<(Square, u32)> {
        let jumper = self.jumper()?.seen_by(self.to_move);
        Some((jumper, self.white_view(self.jumped)))
    }

    /// Own pieces, enemy pieces, kings of both, and jumped pieces, as the player to move sees them.
    #[inline]
    pub(crate) fn mover_view(&self) -> [u32; 4] {
        [self.own, self.enemy, self.kings, self.jumped]
    }

    /// The enemy piece that an action jumps over, as the player to move sees it; none for a quiet move.
    #[inline]
    pub(crate) fn jumped_by(&self, action: Action) -> u32 {
        DIAGONALS.between[action.index()] & self.enemy & !self.jumped
    }

    /// The piece that is capturing, as the player to move sees it.
    #[inline]
    pub(crate) fn jumper(&self) -> Option<Square> {
        (self.jumper != NOBODY).then_some(Square(self.jumper))
    }

    /// Plies without a capture so far.
    pub fn quiet_plies(&self) -> u32 {
        self.quiet.into()
    }

    /// How often this position, pieces and side to move, occurred before.
    pub fn repeats(&self) -> u32 {
        self.repeats.into()
    }

    /// Who decides next.
    #[inline]
    pub fn to_move(&self) -> Player {
        self.to_move
    }

    #[inline]
    fn pieces_of(&self, player: Player) -> u32 {
        if player == self.to_move {
            self.own
        } else {
            self.enemy
        }
    }

    #[inline]
    fn white_view(&self, set: u32) -> u32 {
        match self.to_move {
            Player::White => set,
            Player::Black => set.reverse_bits(),
        }
    }

    /// What the mover's pieces can do, and what the opponent's could do if it were his turn, each as
    /// its owner sees it. Within a capture the opponent's are those against the board as it stands.
    #[inline]
    pub(crate) fn possible_moves(&self) -> [TammiMask; 2] {
        let opponent = TammiPosition {
            own: self.enemy.reverse_bits(),
            enemy: self.own.reverse_bits(),
            kings: self.kings.reverse_bits(),
            jumped: 0,
            jumper: NOBODY,
            ..*self
        };
        [self, &opponent].map(moves::legal)
    }

    /// Hands the turn over: the board as the other player sees it.
    #[inline]
    fn end_turn(&mut self) {
        (self.own, self.enemy) = (self.enemy.reverse_bits(), self.own.reverse_bits());
        self.kings = self.kings.reverse_bits();
        self.to_move = !self.to_move;
    }
}

impl Tammi {
    /// The rules: drawn after `quiet_limit` plies without a capture, cut off after `max_plies` actions
    /// (0 for never).
    ///
    /// # Panics
    /// Panics unless `quiet_limit` is 1 to [`MOST_QUIET_LIMIT`].
    pub fn new(quiet_limit: u32, max_plies: u32) -> Tammi {
        assert!(
            (1..=MOST_QUIET_LIMIT).contains(&quiet_limit),
            "the quiet limit is 1 to {MOST_QUIET_LIMIT}"
        );
        Tammi {
            quiet_limit,
            max_plies,
        }
    }

    /// The published rules and the default limits.
    pub fn standard() -> Tammi {
        Tammi::new(DEFAULT_QUIET_LIMIT, DEFAULT_MAX_PLIES)
    }

    /// Plies without a capture after which the game is drawn.
    pub fn quiet_limit(&self) -> u32 {
        self.quiet_limit
    }

    /// Where an action starts and ends, as White sees the board.
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

    fn rules_version(&self) -> u32 {
        1
    }

    fn actions(&self) -> usize {
        ACTIONS
    }

    #[inline]
    fn start(&self) -> TammiPosition {
        TammiPosition {
            own: 0x0000_0fff,
            enemy: 0xfff0_0000,
            kings: 0,
            jumped: 0,
            ply: 0,
            jumper: NOBODY,
            quiet: 0,
            repeats: 0,
            to_move: Player::White,
            history: History::EMPTY,
        }
    }

    #[inline]
    fn to_move(&self, position: &TammiPosition) -> Player {
        position.to_move
    }

    #[inline]
    fn ply(&self, position: &TammiPosition) -> u32 {
        position.ply
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
            // No earlier position can come again after a capture.
            position.history.clear();
            position.repeats = 0;
            if moves::can_capture(position, to, king) {
                position.jumper = to.0;
                return;
            }
            position.enemy &= !position.jumped;
            position.kings &= !position.jumped;
            position.jumped = 0;
            position.jumper = NOBODY;
            position.quiet = 0;
        } else {
            position.quiet += 1; // at most the limit: the game is over then
        }
        position.kings |= position.own & to.bit() & FAR_ROW;
        if king && captured == 0 {
            position.repeats = position.history.push(from, to);
        } else {
            // Nor after a man's move.
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
        let mut after = *position;
        self.play(&mut after, action);
        counts[1] +=
            u64::from(after.kings(mover).count_ones() > position.kings(mover).count_ones());
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
            writeln!(
                out,
                "{jumper} is capturing and has jumped {}",
                names.join(", ")
            )?;
        }
        Ok(())
    }
}
