//! Jarmo: five archers a side capture, get marked, and come back, on a board of circles and lines.

mod text;

use std::fmt;
use std::sync::Arc;

use super::board::{Board, BoardAction, BoardMask, Circle, Circles, draw_circles, piece_letter};
use crate::game::{Action, ActionError, Game, Mask, Outcome, Player, PositionError, Reason};
use crate::games::reasons::{GAME_OVER, NO_MARKED_ARCHER, NONE_CAPTURED, NOT_EMPTY, PASS_LAST, SHUTTLE};

/// Archers of a player at the start, which is also the maximum.
pub const ARCHERS: u32 = 5;

/// The maximum of archers plus marks: the force at the start, which never grows.
pub const MOST_FORCE: u32 = 2 * ARCHERS;

/// The maximum length of a streak: the fifth move of X-Y, Y-X, X-Y, Y-X, X-Y is illegal.
pub const SHUTTLE_LIMIT: u8 = 4;

/// The default limit on the length of a game, in plies.
pub const DEFAULT_MAX_PLIES: u32 = 200;

/// The rules of jarmo on one board.
#[derive(Clone, Debug)]
pub struct Jarmo {
    board: Arc<Board>,
    max_plies: u32,
}

/// A jarmo position: pieces, player to move, both shuttles, and the ply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct JarmoPosition {
    archers: [Circles; 2],
    marked: Circles, // of both players; no circle has two archers
    ply: u32,
    shuttles: [Shuttle; 2],
    to_move: Player,
}

/// A player's last action and streak, which the shuttle rule needs. The streak is the number of latest
/// moves, the last one included, of which each undid the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shuttle {
    last: u8,   // the action of the last move, or one of the two below
    streak: u8, // 1 to SHUTTLE_LIMIT after a move, else 0
}

impl Shuttle {
    /// The player has not acted yet, or the last action was a redeploy.
    pub const NONE: Shuttle = Shuttle { last: u8::MAX, streak: 0 };

    /// The last action was a pass.
    pub const PASS: Shuttle = Shuttle { last: u8::MAX - 1, streak: 0 };

    /// The last action was this move, with this streak (1 to [`SHUTTLE_LIMIT`]).
    #[inline]
    pub fn of_move(action: Action, streak: u8) -> Shuttle {
        debug_assert!((1..=SHUTTLE_LIMIT).contains(&streak), "a streak is 1 to 4");
        Shuttle { last: action.0 as u8, streak }
    }

    /// The last action if it was a move, and its streak.
    pub fn last_move(self) -> Option<(Action, u8)> {
        (self.streak > 0).then_some((Action(u16::from(self.last)), self.streak))
    }
}

impl JarmoPosition {
    /// A position without history: no shuttles, ply 0. It must be legal, which is not checked here, unlike
    /// in [`Game::parse_position`].
    #[inline]
    pub fn new(archers: [Circles; 2], marked: Circles, to_move: Player) -> JarmoPosition {
        JarmoPosition { archers, marked, ply: 0, shuttles: [Shuttle::NONE; 2], to_move }
    }

    /// The circles of the player's archers.
    #[inline]
    pub fn archers(&self, player: Player) -> Circles {
        self.archers[player.index()]
    }

    /// The circles of marked archers, of both players.
    #[inline]
    pub fn marked(&self) -> Circles {
        self.marked
    }

    /// The number of the player's captured archers.
    #[inline]
    pub fn captured(&self, player: Player) -> u32 {
        ARCHERS - self.archers(player).count()
    }

    /// The player's last action and streak.
    #[inline]
    pub fn shuttle(&self, player: Player) -> Shuttle {
        self.shuttles[player.index()]
    }

    /// The same position with another shuttle of this player.
    #[inline]
    #[must_use]
    pub fn with_shuttle(mut self, player: Player, shuttle: Shuttle) -> JarmoPosition {
        self.shuttles[player.index()] = shuttle;
        self
    }

    /// The same with another player to move, which the rules may not allow.
    #[inline]
    pub(crate) fn seen_by(&self, viewer: Player) -> JarmoPosition {
        JarmoPosition { to_move: viewer, ..*self }
    }

    /// The player to move.
    #[inline]
    pub fn to_move(&self) -> Player {
        self.to_move
    }

    /// Archers plus marks on the board: 10 at the start, and it never grows.
    #[inline]
    pub fn force(&self) -> u32 {
        (self.archers[0] | self.archers[1]).count() + self.marked.count()
    }

    /// The points of White and Black: two for an archer on the goal row, one for any other.
    #[inline]
    pub fn score(&self) -> [u8; 2] {
        Player::BOTH.map(|player| {
            let own = self.archers(player);
            (own.count() + (own & Circles::goal(player)).count()) as u8
        })
    }

    /// Whether at least one player has no archer outside the goal row.
    #[inline]
    pub fn all_home(&self) -> bool {
        // Both tests are unpredictable, so `|` avoids a branch.
        let white = self.archers[0] & !Circles::goal(Player::White);
        let black = self.archers[1] & !Circles::goal(Player::Black);
        white.is_empty() | black.is_empty()
    }

    /// Whether the last two turns, one of each player, were passes.
    #[inline]
    pub fn both_passed(&self) -> bool {
        self.shuttles == [Shuttle::PASS; 2]
    }

    /// The circles to which the player to move may redeploy.
    #[inline]
    fn redeploy_places(&self) -> Circles {
        let own = self.archers(self.to_move);
        let allowed = !(own & self.marked & Circles::goal(self.to_move)).is_empty();
        if allowed & (own.count() < ARCHERS) {
            Circles::home(self.to_move) & !(self.archers[0] | self.archers[1])
        } else {
            Circles::NONE
        }
    }
}

impl Jarmo {
    /// The rules on this board; games are cut off after `max_plies` actions (0 for never).
    pub fn new(board: Board, max_plies: u32) -> Jarmo {
        Jarmo { board: Arc::new(board), max_plies }
    }

    /// The standard board and the default limit.
    pub fn standard() -> Jarmo {
        Jarmo::new(Board::standard(), DEFAULT_MAX_PLIES)
    }

    /// The board the game is played on.
    pub fn board(&self) -> &Board {
        &self.board
    }

    #[inline]
    fn over(&self, position: &JarmoPosition) -> bool {
        position.all_home() | position.both_passed() | self.is_cut_off(position)
    }
}

impl Game for Jarmo {
    type Position = JarmoPosition;
    type Mask = BoardMask;

    fn id(&self) -> &'static str {
        "jarmo"
    }

    fn rules_version(&self) -> u32 {
        1
    }

    fn actions(&self) -> usize {
        self.board.actions()
    }

    #[inline]
    fn start(&self) -> JarmoPosition {
        JarmoPosition::new(Player::BOTH.map(Circles::home), Circles::NONE, Player::White)
    }

    #[inline]
    fn to_move(&self, position: &JarmoPosition) -> Player {
        position.to_move
    }

    #[inline]
    fn ply(&self, position: &JarmoPosition) -> u32 {
        position.ply
    }

    fn max_points(&self) -> u8 {
        2 * ARCHERS as u8
    }

    fn board_text(&self) -> String {
        self.board.text()
    }

    fn max_plies(&self) -> u32 {
        self.max_plies
    }

    fn with_max_plies(self, max_plies: u32) -> Jarmo {
        Jarmo { max_plies, ..self }
    }

    #[inline]
    fn legal(&self, position: &JarmoPosition) -> BoardMask {
        if self.over(position) {
            return BoardMask::default();
        }
        let mover = position.to_move;
        let own = position.archers(mover);
        let mut legal = self.board.moves(own & !Circles::goal(mover), own);
        let shuttle = position.shuttle(mover);
        if shuttle.streak == SHUTTLE_LIMIT {
            legal.remove(self.board.reverse(Action(u16::from(shuttle.last))));
        }
        let places = position.redeploy_places();
        if !places.is_empty() {
            let deploys = self.board.deploys(mover, places);
            legal.0[0] |= deploys.0[0];
            legal.0[1] |= deploys.0[1];
        }
        if legal.is_empty() {
            legal.insert(self.board.pass());
        }
        legal
    }

    #[inline]
    fn play(&self, position: &mut JarmoPosition, action: Action) {
        debug_assert!(self.legal(position).contains(action), "illegal action");
        let mover = position.to_move;
        let (me, opponent) = (mover.index(), (!mover).index());
        match self.board.decode(action) {
            BoardAction::Move { from, to } => {
                let (from, to) = (Circles::from(from), Circles::from(to));
                let captures = !(position.archers[opponent] & to).is_empty();
                let marked = !(position.marked & from).is_empty();
                position.archers[me] ^= from | to;
                position.archers[opponent] = position.archers[opponent] & !to;
                position.marked = position.marked & !(from | to);
                position.marked.0 |= to.0 * u32::from(captures | marked);
                let shuttle = &mut position.shuttles[me];
                let undoes = shuttle.streak > 0 && self.board.reverse(action).0 == u16::from(shuttle.last);
                *shuttle = Shuttle { last: action.0 as u8, streak: if undoes { shuttle.streak + 1 } else { 1 } };
            }
            BoardAction::Deploy { column } => {
                let own = position.archers[me];
                position.marked ^= (own & position.marked & Circles::goal(mover)).lowest();
                position.archers[me] |= Circles::from(Circle::home(mover, column));
                position.shuttles[me] = Shuttle::NONE;
            }
            BoardAction::Pass => position.shuttles[me] = Shuttle::PASS,
        }
        position.ply += 1;
        position.to_move = !mover;
    }

    #[inline]
    fn outcome(&self, position: &JarmoPosition) -> Option<Outcome> {
        if position.all_home() | position.both_passed() {
            Some(Outcome::by_score(position.score()))
        } else if self.is_cut_off(position) {
            Some(Outcome::truncated(Some(position.score())))
        } else {
            None
        }
    }

    fn why_illegal(&self, position: &JarmoPosition, action: Action) -> Reason {
        let mover = position.to_move;
        let own = position.archers(mover);
        if self.over(position) {
            return GAME_OVER.reason();
        }
        match self.board.decode(action) {
            BoardAction::Move { from, to } => super::board_move_problem(mover, own, from, to)
                .unwrap_or_else(|| SHUTTLE.reason().player(mover).with("from", from).with("to", to)),
            BoardAction::Deploy { column } => {
                let place = Circle::home(mover, column);
                if position.captured(mover) == 0 {
                    NONE_CAPTURED.reason().player(mover)
                } else if (own & position.marked & Circles::goal(mover)).is_empty() {
                    NO_MARKED_ARCHER.reason().player(mover)
                } else {
                    NOT_EMPTY.reason().with("place", place)
                }
            }
            BoardAction::Pass => PASS_LAST.reason(),
        }
    }

    fn position_text(&self, position: &JarmoPosition) -> String {
        text::write(self, position)
    }

    fn parse_position(&self, text: &str) -> Result<JarmoPosition, PositionError> {
        text::parse(self, text)
    }

    fn action_text(&self, position: &JarmoPosition, action: Action) -> String {
        self.board.action_text(position.to_move, position.archers(!position.to_move), action)
    }

    fn parse_action(&self, position: &JarmoPosition, text: &str) -> Result<Action, ActionError> {
        self.board.parse_action(position.to_move, position.archers(!position.to_move), text)
    }

    fn events(&self) -> &'static [&'static str] {
        &["captures", "redeploys", "shuttle_bans"]
    }

    fn count_events(&self, position: &JarmoPosition, action: Action, counts: &mut [u64]) {
        let mover = position.to_move;
        match self.board.decode(action) {
            BoardAction::Move { to, .. } => {
                let captured = position.archers(!mover) & Circles::from(to);
                counts[0] += u64::from(!captured.is_empty());
            }
            BoardAction::Deploy { .. } => counts[1] += 1,
            BoardAction::Pass => {}
        }
        let shuttle = position.shuttle(mover);
        if shuttle.streak == SHUTTLE_LIMIT {
            let own = position.archers(mover);
            let moves = self.board.moves(own & !Circles::goal(mover), own);
            let banned = self.board.reverse(Action(u16::from(shuttle.last)));
            counts[2] += u64::from(moves.contains(banned));
        }
    }

    fn draw(&self, position: &JarmoPosition, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        draw_circles(&self.board, |circle| piece_letter(position.archers, position.marked, circle), out)?;
        let [white, black] = position.score();
        writeln!(
            out,
            "{} to move, ply {}; score {white}:{black}; captured: white {}, black {}",
            position.to_move.name(),
            position.ply,
            position.captured(Player::White),
            position.captured(Player::Black),
        )?;
        for player in Player::BOTH {
            if position.shuttle(player).streak == SHUTTLE_LIMIT {
                let banned = self.board.reverse(Action(u16::from(position.shuttle(player).last)));
                let text = self.board.action_text(player, Circles::NONE, banned);
                writeln!(out, "shuttle: {} may not play {text}", player.name())?;
            }
        }
        Ok(())
    }
}
