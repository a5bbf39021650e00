//! The rules that jarmo and guard share: pieces move along lines to the goal row, become strong (marked archers in
//! jarmo, guards in guard), and come back.

use std::fmt;
use std::hash::Hash;
use std::marker::PhantomData;
use std::sync::Arc;

use super::{Board, BoardAction, BoardMask, Circle, Circles, collect_pieces, draw_circles, piece_letter};
use crate::game::{
    Action, ActionError, BoardText, Game, Mask, Outcome, Player, PositionError, Reason, parse_board, write_board,
};
use crate::games::reasons::{AT_GOAL, GAME_OVER, NO_PIECE, OWN_PIECE};
use crate::games::text::{parse_number, parse_player};

/// The number of pieces of each player at the start, which is also the maximum.
pub const PIECES: u32 = 5;

/// The default move limit.
pub const DEFAULT_MAX_PLIES: u32 = 200;

/// The board field of position text. Lower-case letters are archers, upper-case letters strong pieces.
const BOARD_FIELD: BoardText = BoardText { columns: super::SIDE, rows: super::SIDE, letters: "wbWB" };

/// The rules that differ between jarmo and guard, and what their positions contain besides the pieces.
pub trait BoardRules: Copy + Default + Eq + Hash + fmt::Debug + Send + Sync + 'static {
    /// The name of the game.
    const ID: &'static str;
    /// The names of the fields of position text: board, to move, the game's own fields, and ply.
    const FIELDS: &'static [&'static str];
    /// The names of the events: captures, pieces that come back, then those of [`BoardRules::count_more`].
    const EVENTS: &'static [&'static str];

    /// Whether the game has ended by its rules, without the move limit.
    fn ended(position: &BoardPosition<Self>) -> bool;

    /// The only move along a line that the game forbids, if there is one.
    fn banned(_board: &Board, _position: &BoardPosition<Self>) -> Option<Action> {
        None
    }

    /// The circles where the player to move can bring back a captured piece.
    fn places(position: &BoardPosition<Self>) -> Circles;

    /// Whether the player to move has already moved in this turn, and can only bring back pieces or pass.
    fn has_moved(_position: &BoardPosition<Self>) -> bool {
        false
    }

    /// Applies the game's own rules after a move. The board has already changed. Returns whether the turn ends.
    fn moved(position: &mut BoardPosition<Self>, board: &Board, action: Action, step: Step) -> bool;

    /// Applies the game's own rules after the return of a piece, which is already on the board. Returns whether the
    /// turn ends.
    fn returned(position: &mut BoardPosition<Self>, board: &Board) -> bool;

    /// Applies the game's own rules after a pass, which ends the turn.
    fn passed(position: &mut BoardPosition<Self>);

    /// The rule that forbids this action. The game must not be over.
    fn why_illegal(position: &BoardPosition<Self>, action: BoardAction) -> Reason;

    /// Writes the game's own fields of position text.
    fn write(&self, board: &Board) -> String;

    /// Reads the game's own fields of position text.
    fn parse(board: &Board, fields: &[&str]) -> Result<Self, PositionError>;

    /// Rejects positions that break a rule. `fields` are all fields of the position text.
    fn check(board: &Board, position: &BoardPosition<Self>, fields: &[&str]) -> Result<(), PositionError>;

    /// Counts the events other than captures and returns.
    fn count_more(_board: &Board, _position: &BoardPosition<Self>, _counts: &mut [u64]) {}

    /// Writes the lines of text below the drawing of a board.
    fn describe(board: &Board, position: &BoardPosition<Self>, out: &mut fmt::Formatter<'_>) -> fmt::Result;
}

/// The rules of jarmo or guard on one board.
#[derive(Clone, Debug)]
pub struct BoardGame<R> {
    board: Arc<Board>,
    max_plies: u32,
    rules: PhantomData<R>,
}

/// A position: the pieces, the player to move, the ply, and what else the game needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BoardPosition<R> {
    pub(in crate::games) pieces: [Circles; 2],
    pub(in crate::games) strong: Circles, // of both players; no circle has two pieces
    pub(in crate::games) ply: u32,
    pub(in crate::games) more: R,
    pub(crate) to_move: Player,
}

/// What a move has done on the board.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The circle on which the piece arrived, as a set.
    pub to: Circles,
    /// Whether the piece is strong now.
    pub strong: bool,
    /// Whether it captured a piece that was not strong.
    pub captured_weak: bool,
}

impl<R: BoardRules> BoardPosition<R> {
    /// A position at ply 0 without history. Unlike [`Game::parse_position`] this does not check that it is legal.
    #[inline]
    pub fn new(pieces: [Circles; 2], strong: Circles, to_move: Player) -> BoardPosition<R> {
        BoardPosition { pieces, strong, ply: 0, more: R::default(), to_move }
    }

    /// The circles of the player's pieces.
    #[inline]
    pub fn pieces(&self, player: Player) -> Circles {
        self.pieces[player.index()]
    }

    /// The circles of the marked archers or guards of both players.
    #[inline]
    pub fn strong(&self) -> Circles {
        self.strong
    }

    /// The player to move.
    #[inline]
    pub fn to_move(&self) -> Player {
        self.to_move
    }

    /// The points of White and Black. A piece on the goal row counts 2, any other 1.
    #[inline]
    pub fn score(&self) -> [u8; 2] {
        Player::BOTH.map(|player| {
            let own = self.pieces(player);
            (own.count() + (own & Circles::goal(player)).count()) as u8
        })
    }

    /// Whether a player has no piece outside the goal row, which ends the game.
    #[inline]
    pub fn all_home(&self) -> bool {
        // Neither test is predictable for the CPU, so `|` is faster than a branch.
        let white = self.pieces[0] & !Circles::goal(Player::White);
        let black = self.pieces[1] & !Circles::goal(Player::Black);
        white.is_empty() | black.is_empty()
    }

    /// The empty circles of the home row of the player to move.
    #[inline]
    pub(in crate::games) fn free_home(&self) -> Circles {
        Circles::home(self.to_move) & !(self.pieces[0] | self.pieces[1])
    }

    /// The moves of the player to move along lines, including one that the game's own rules forbid.
    #[inline]
    pub(in crate::games) fn line_moves(&self, board: &Board) -> BoardMask {
        let own = self.pieces(self.to_move);
        board.moves(own & !Circles::goal(self.to_move), own)
    }

    /// Moves a piece. A piece that captures becomes strong. The player to move stays the same.
    #[inline]
    fn step(&mut self, from: Circle, to: Circle) -> Step {
        let (me, opponent) = (self.to_move.index(), (!self.to_move).index());
        let (from, to) = (Circles::from(from), Circles::from(to));
        let captures = !(self.pieces[opponent] & to).is_empty();
        let captures_strong = !(self.strong & to).is_empty();
        let strong = captures | !(self.strong & from).is_empty();
        self.pieces[me] ^= from | to;
        self.pieces[opponent] = self.pieces[opponent] & !to;
        self.strong = self.strong & !(from | to);
        self.strong.0 |= to.0 * u32::from(strong);
        Step { to, strong, captured_weak: captures & !captures_strong }
    }

    /// Why a move along an existing line is illegal, if the reason is one that jarmo and guard share.
    pub(in crate::games) fn why_no_move(&self, from: Circle, to: Circle) -> Option<Reason> {
        let (mover, own) = (self.to_move, self.pieces(self.to_move));
        if !own.contains(from) {
            Some(NO_PIECE.reason().player(mover).with("place", from))
        } else if Circles::goal(mover).contains(from) {
            Some(AT_GOAL.reason().with("place", from))
        } else if own.contains(to) {
            Some(OWN_PIECE.reason().player(mover).with("place", to))
        } else {
            None
        }
    }
}

impl<R: BoardRules> BoardGame<R> {
    /// The rules on this board. `max_plies` is the move limit (0 for none).
    pub fn new(board: Board, max_plies: u32) -> BoardGame<R> {
        BoardGame { board: Arc::new(board), max_plies, rules: PhantomData }
    }

    /// The standard board and the default move limit.
    pub fn standard() -> BoardGame<R> {
        BoardGame::new(Board::standard(), DEFAULT_MAX_PLIES)
    }

    /// The board on which the game is played.
    pub fn board(&self) -> &Board {
        &self.board
    }
}

impl<R: BoardRules> Game for BoardGame<R> {
    type Position = BoardPosition<R>;
    type Mask = BoardMask;

    fn id(&self) -> &'static str {
        R::ID
    }

    fn actions(&self) -> usize {
        self.board.actions()
    }

    #[inline]
    fn start(&self) -> BoardPosition<R> {
        BoardPosition::new(Player::BOTH.map(Circles::home), Circles::NONE, Player::White)
    }

    #[inline]
    fn to_move(&self, position: &BoardPosition<R>) -> Player {
        position.to_move
    }

    #[inline]
    fn ply(&self, position: &BoardPosition<R>) -> u32 {
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

    fn with_max_plies(self, max_plies: u32) -> BoardGame<R> {
        BoardGame { max_plies, ..self }
    }

    #[inline]
    fn legal(&self, position: &BoardPosition<R>) -> BoardMask {
        if R::ended(position) | self.is_cut_off(position) {
            return BoardMask::default();
        }
        let has_moved = R::has_moved(position);
        let mut legal = if has_moved { BoardMask::default() } else { position.line_moves(&self.board) };
        if let Some(banned) = R::banned(&self.board, position) {
            legal.remove(banned);
        }
        let places = R::places(position);
        if !places.is_empty() {
            let deploys = self.board.deploys(position.to_move, places);
            legal.0[0] |= deploys.0[0];
            legal.0[1] |= deploys.0[1];
        }
        if has_moved || legal.is_empty() {
            legal.insert(self.board.pass());
        }
        legal
    }

    #[inline]
    fn play(&self, position: &mut BoardPosition<R>, action: Action) {
        debug_assert!(self.legal(position).contains(action), "illegal action");
        let ends_turn = match self.board.decode(action) {
            BoardAction::Move { from, to } => {
                let step = position.step(from, to);
                R::moved(position, &self.board, action, step)
            }
            BoardAction::Deploy { column } => {
                let circle = Circle::home(position.to_move, column);
                position.pieces[position.to_move.index()] |= Circles::from(circle);
                R::returned(position, &self.board)
            }
            BoardAction::Pass => {
                R::passed(position);
                true
            }
        };
        if ends_turn {
            position.to_move = !position.to_move;
        }
        position.ply += 1;
    }

    #[inline]
    fn outcome(&self, position: &BoardPosition<R>) -> Option<Outcome> {
        if R::ended(position) {
            Some(Outcome::by_score(position.score()))
        } else if self.is_cut_off(position) {
            Some(Outcome::truncated(Some(position.score())))
        } else {
            None
        }
    }

    fn why_illegal(&self, position: &BoardPosition<R>, action: Action) -> Reason {
        match self.outcome(position) {
            Some(_) => GAME_OVER.reason(),
            None => R::why_illegal(position, self.board.decode(action)),
        }
    }

    fn position_text(&self, position: &BoardPosition<R>) -> String {
        let letter = |place| piece_letter(position.pieces, position.strong, Circle::at(place));
        let (pieces, more) = (write_board(BOARD_FIELD, letter), position.more.write(&self.board));
        format!("{pieces} {} {more} {}", position.to_move.letter(), position.ply)
    }

    fn parse_position(&self, text: &str) -> Result<BoardPosition<R>, PositionError> {
        let fields: Vec<&str> = text.split(' ').collect();
        let (true, [board, to_move, own @ .., ply]) = (fields.len() == R::FIELDS.len(), &fields[..]) else {
            return Err(PositionError::field_count(text, R::FIELDS));
        };
        let (pieces, strong) = collect_pieces(&parse_board(BOARD_FIELD, board)?);
        let position = BoardPosition {
            pieces,
            strong,
            to_move: parse_player(to_move)?,
            more: R::parse(&self.board, own)?,
            ply: parse_number("ply", ply)?,
        };
        R::check(&self.board, &position, &fields)?;
        Ok(position)
    }

    fn action_text(&self, position: &BoardPosition<R>, action: Action) -> String {
        self.board.action_text(position.to_move, position.pieces(!position.to_move), action)
    }

    fn parse_action(&self, position: &BoardPosition<R>, text: &str) -> Result<Action, ActionError> {
        self.board.parse_action(position.to_move, position.pieces(!position.to_move), text)
    }

    fn events(&self) -> &'static [&'static str] {
        R::EVENTS
    }

    fn count_events(&self, position: &BoardPosition<R>, action: Action, counts: &mut [u64]) {
        match self.board.decode(action) {
            BoardAction::Move { to, .. } => counts[0] += u64::from(position.pieces(!position.to_move).contains(to)),
            BoardAction::Deploy { .. } => counts[1] += 1,
            BoardAction::Pass => {}
        }
        R::count_more(&self.board, position, counts);
    }

    fn draw(&self, position: &BoardPosition<R>, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        draw_circles(&self.board, |circle| piece_letter(position.pieces, position.strong, circle), out)?;
        R::describe(&self.board, position, out)
    }
}
