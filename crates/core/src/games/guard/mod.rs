//! Guard: jarmo with bodyguards. An archer that captures becomes a guard, and each guard that reaches the
//! goal row earns a placement, which brings back a captured archer.

mod text;

use std::fmt;
use std::sync::Arc;

use super::board::{Board, BoardAction, BoardMask, Circle, Circles, draw_circles, piece_letter};
use crate::game::{Action, ActionError, Game, Mask, Outcome, Player, PositionError, Reason};
use crate::games::reasons::{GAME_OVER, MOVE_MADE, NO_ARCHER_CAPTURED, NO_PLACEMENT, NOT_EMPTY, PASS_AFTER_MOVE};

/// Pieces of a player at the start, which is also the maximum.
pub const PIECES: u32 = 5;

/// The default limit on the length of a game, in plies.
pub const DEFAULT_MAX_PLIES: u32 = 200;

/// The game ends after this many consecutive turns that are only a pass.
pub(crate) const PASSES_TO_END: u8 = 2;

/// The rules of guard on one board.
#[derive(Clone, Debug)]
pub struct Guard {
    board: Arc<Board>,
    max_plies: u32,
}

/// A guard position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GuardPosition {
    pieces: [Circles; 2],
    guards: Circles, // of both players; no circle has two pieces
    ply: u32,
    captured_archers: [u8; 2],
    placements: [u8; 2],
    passes: u8, // latest consecutive turns that were only a pass
    moved: bool,
    to_move: Player,
}

impl GuardPosition {
    /// The circles of the player's pieces.
    #[inline]
    pub fn pieces(&self, player: Player) -> Circles {
        self.pieces[player.index()]
    }

    /// The circles of guards, of both players.
    #[inline]
    pub fn guards(&self) -> Circles {
        self.guards
    }

    /// The number of the player's captured archers, which can come back.
    #[inline]
    pub fn captured_archers(&self, player: Player) -> u32 {
        self.captured_archers[player.index()].into()
    }

    /// The player's placements in hand: how many archers may be brought back.
    #[inline]
    pub fn placements(&self, player: Player) -> u32 {
        self.placements[player.index()].into()
    }

    /// Whether the player to move has already moved in this turn.
    #[inline]
    pub fn moved(&self) -> bool {
        self.moved
    }

    /// The number of latest consecutive turns that were only a pass.
    #[inline]
    pub fn passes(&self) -> u32 {
        self.passes.into()
    }

    /// The same with another player to move, which the rules may not allow.
    #[inline]
    pub(crate) fn seen_by(&self, viewer: Player) -> GuardPosition {
        GuardPosition { to_move: viewer, ..*self }
    }

    /// The player to move.
    #[inline]
    pub fn to_move(&self) -> Player {
        self.to_move
    }

    /// The points of White and Black: two for a piece on the goal row, one for any other.
    pub fn score(&self) -> [u8; 2] {
        Player::BOTH.map(|player| {
            let own = self.pieces(player);
            (own.count() + (own & Circles::goal(player)).count()) as u8
        })
    }

    /// The guards in the player's reserve: one for each of the player's archers, on the board or captured.
    pub fn reserve(&self, player: Player) -> u32 {
        let archers = self.pieces(player) & !self.guards;
        archers.count() + self.captured_archers(player)
    }

    /// The maximum number of placements in hand: one for each guard on the goal row or captured.
    fn max_placements(&self, player: Player) -> u32 {
        let own = self.pieces(player);
        let arrived = own & self.guards & Circles::goal(player);
        arrived.count() + (PIECES - own.count() - self.captured_archers(player))
    }

    /// The circles where the player to move can place a captured archer.
    #[inline]
    fn places(&self) -> Circles {
        let me = self.to_move.index();
        if (self.placements[me] > 0) & (self.captured_archers[me] > 0) {
            Circles::home(self.to_move) & !(self.pieces[0] | self.pieces[1])
        } else {
            Circles::NONE
        }
    }

    /// Whether the game has ended, limits aside. The rules test this between turns; a placement at the start
    /// of a turn cannot make the test true.
    #[inline]
    fn ended(&self) -> bool {
        let white = self.pieces[0] & !Circles::goal(Player::White);
        let black = self.pieces[1] & !Circles::goal(Player::Black);
        !self.moved & (white.is_empty() | black.is_empty() | (self.passes >= PASSES_TO_END))
    }

    #[inline]
    fn end_turn(&mut self) {
        self.moved = false;
        self.to_move = !self.to_move;
    }
}

impl Guard {
    /// The rules on this board; games are cut off after `max_plies` actions (0 for never).
    pub fn new(board: Board, max_plies: u32) -> Guard {
        Guard { board: Arc::new(board), max_plies }
    }

    /// The standard board and the default limit.
    pub fn standard() -> Guard {
        Guard::new(Board::standard(), DEFAULT_MAX_PLIES)
    }

    /// The board the game is played on.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The moves along lines for the player to move.
    #[inline]
    fn moves(&self, position: &GuardPosition) -> BoardMask {
        let mover = position.to_move;
        let own = position.pieces(mover);
        self.board.moves(own & !Circles::goal(mover), own)
    }

    fn play_move(&self, position: &mut GuardPosition, from: Circle, to: Circle) {
        let mover = position.to_move;
        let (me, opponent) = (mover.index(), (!mover).index());
        let (from, to) = (Circles::from(from), Circles::from(to));
        let captures = !(position.pieces[opponent] & to).is_empty();
        let captures_guard = !(position.guards & to).is_empty();
        position.captured_archers[opponent] += u8::from(captures & !captures_guard);
        // G2: an archer that captures becomes a guard before it arrives. The reserve always has one.
        let guard = captures | !(position.guards & from).is_empty();
        position.pieces[me] ^= from | to;
        position.pieces[opponent] = position.pieces[opponent] & !to;
        position.guards = position.guards & !(from | to);
        position.guards.0 |= to.0 * u32::from(guard);
        let arrives = !(to & Circles::goal(mover)).is_empty();
        position.placements[me] += u8::from(guard & arrives);
        position.passes = 0;
        position.moved = true;
        if position.places().is_empty() {
            position.end_turn();
        }
    }

    fn place(&self, position: &mut GuardPosition, circle: Circle) {
        let me = position.to_move.index();
        position.pieces[me] |= Circles::from(circle);
        position.captured_archers[me] -= 1;
        position.placements[me] -= 1;
        position.passes = 0;
        if position.places().is_empty() {
            if position.moved {
                position.end_turn();
            } else {
                // Without a placement or a move left, only the pass remains; it does not count as a turn that
                // is only a pass.
                position.moved = self.moves(position).is_empty();
            }
        }
    }
}

impl Game for Guard {
    type Position = GuardPosition;
    type Mask = BoardMask;

    fn id(&self) -> &'static str {
        "guard"
    }

    fn rules_version(&self) -> u32 {
        1
    }

    fn actions(&self) -> usize {
        self.board.actions()
    }

    #[inline]
    fn start(&self) -> GuardPosition {
        GuardPosition {
            pieces: Player::BOTH.map(Circles::home),
            guards: Circles::NONE,
            ply: 0,
            captured_archers: [0; 2],
            placements: [0; 2],
            passes: 0,
            moved: false,
            to_move: Player::White,
        }
    }

    #[inline]
    fn to_move(&self, position: &GuardPosition) -> Player {
        position.to_move
    }

    #[inline]
    fn ply(&self, position: &GuardPosition) -> u32 {
        position.ply
    }

    fn max_points(&self) -> u8 {
        2 * PIECES as u8
    }

    fn board_text(&self) -> String {
        self.board.text()
    }

    fn max_plies(&self) -> u32 {
        self.max_plies
    }

    fn with_max_plies(self, max_plies: u32) -> Guard {
        Guard { max_plies, ..self }
    }

    #[inline]
    fn legal(&self, position: &GuardPosition) -> BoardMask {
        if position.ended() | self.is_cut_off(position) {
            return BoardMask::default();
        }
        let mut legal = if position.moved { BoardMask::default() } else { self.moves(position) };
        let places = position.places();
        if !places.is_empty() {
            let deploys = self.board.deploys(position.to_move, places);
            legal.0[0] |= deploys.0[0];
            legal.0[1] |= deploys.0[1];
        }
        if position.moved || legal.is_empty() {
            legal.insert(self.board.pass());
        }
        legal
    }

    #[inline]
    fn play(&self, position: &mut GuardPosition, action: Action) {
        debug_assert!(self.legal(position).contains(action), "illegal action");
        match self.board.decode(action) {
            BoardAction::Move { from, to } => self.play_move(position, from, to),
            BoardAction::Deploy { column } => {
                self.place(position, Circle::home(position.to_move, column));
            }
            BoardAction::Pass => {
                position.passes += u8::from(!position.moved); // 0 after a move
                position.end_turn();
            }
        }
        position.ply += 1;
    }

    #[inline]
    fn outcome(&self, position: &GuardPosition) -> Option<Outcome> {
        if position.ended() {
            Some(Outcome::by_score(position.score()))
        } else if self.is_cut_off(position) {
            Some(Outcome::truncated(Some(position.score())))
        } else {
            None
        }
    }

    fn why_illegal(&self, position: &GuardPosition, action: Action) -> Reason {
        let mover = position.to_move;
        if self.outcome(position).is_some() {
            return GAME_OVER.reason();
        }
        match self.board.decode(action) {
            BoardAction::Move { .. } if position.moved => MOVE_MADE.reason(),
            BoardAction::Move { from, to } => {
                super::board_move_problem(mover, position.pieces(mover), from, to).expect("nothing else forbids a move")
            }
            BoardAction::Deploy { column } => {
                if position.placements(mover) == 0 {
                    NO_PLACEMENT.reason().player(mover)
                } else if position.captured_archers(mover) == 0 {
                    NO_ARCHER_CAPTURED.reason().player(mover)
                } else {
                    NOT_EMPTY.reason().with("place", Circle::home(mover, column))
                }
            }
            BoardAction::Pass => PASS_AFTER_MOVE.reason(),
        }
    }

    fn position_text(&self, position: &GuardPosition) -> String {
        text::write(position)
    }

    fn parse_position(&self, text: &str) -> Result<GuardPosition, PositionError> {
        text::parse(self, text)
    }

    fn action_text(&self, position: &GuardPosition, action: Action) -> String {
        self.board.action_text(position.to_move, position.pieces(!position.to_move), action)
    }

    fn parse_action(&self, position: &GuardPosition, text: &str) -> Result<Action, ActionError> {
        self.board.parse_action(position.to_move, position.pieces(!position.to_move), text)
    }

    fn events(&self) -> &'static [&'static str] {
        &["captures", "placements"]
    }

    fn count_events(&self, position: &GuardPosition, action: Action, counts: &mut [u64]) {
        match self.board.decode(action) {
            BoardAction::Move { to, .. } => {
                let captured = position.pieces(!position.to_move) & Circles::from(to);
                counts[0] += u64::from(!captured.is_empty());
            }
            BoardAction::Deploy { .. } => counts[1] += 1,
            BoardAction::Pass => {}
        }
    }

    fn draw(&self, position: &GuardPosition, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        draw_circles(&self.board, |circle| piece_letter(position.pieces, position.guards, circle), out)?;
        let [white, black] = position.score();
        let phase = if position.moved { "to place or pass" } else { "to move" };
        writeln!(out, "{} {phase}, ply {}; score {white}:{black}", position.to_move.name(), position.ply)?;
        for player in Player::BOTH {
            writeln!(
                out,
                "{}: {} archers captured, {} placements in hand",
                player.name(),
                position.captured_archers(player),
                position.placements(player)
            )?;
        }
        Ok(())
    }
}
