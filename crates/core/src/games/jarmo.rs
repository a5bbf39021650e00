//! The rules of jarmo: each side has five archers, which capture, get marked and come back, on a board of circles and
//! lines.

use std::fmt;

use super::board::{
    Board, BoardAction, BoardGame, BoardPosition, BoardRules, Circle, Circles, PIECES, Step, split_move,
};
use super::text::parse_number;
use crate::game::{Action, Mask, Player, PositionError, Reason};
use crate::games::reasons::{
    MOVED_FROM_GOAL, NO_LINE, NO_MARKED_ARCHER, NONE_CAPTURED, NOT_EMPTY, PASS_LAST, SHUTTLE, STREAK, TOO_MANY_ARCHERS,
    TOO_MANY_MARKS,
};

/// The number of archers of each player at the start, which is also the maximum.
pub const ARCHERS: u32 = PIECES;

/// The largest number of archers plus marks on the board: the force at the start, which never grows.
pub const MOST_FORCE: u32 = 2 * ARCHERS;

/// The largest streak. After it the move back is illegal: of the moves A-B, B-A, A-B, B-A, A-B the fifth cannot be
/// played.
pub const SHUTTLE_LIMIT: u8 = 4;

/// The rules of jarmo on one board.
pub type Jarmo = BoardGame<Shuttles>;

/// A jarmo position: pieces, player to move, both shuttles, and the ply.
pub type JarmoPosition = BoardPosition<Shuttles>;

/// The shuttles of White and Black.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shuttles([Shuttle; 2]);

impl Default for Shuttles {
    fn default() -> Shuttles {
        Shuttles([Shuttle::NONE; 2])
    }
}

/// A player's last action and streak, which the shuttle rule needs. The streak counts how many of the player's latest
/// moves form a shuttle: it is 1 after a move that does not reverse the previous one, and each reversal adds 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shuttle {
    last: u8,   // the index of the last move, or one of the two values below
    streak: u8, // 1 to SHUTTLE_LIMIT after a move, otherwise 0
}

impl Shuttle {
    /// The player has not acted yet, or the last action was a redeploy.
    pub const NONE: Shuttle = Shuttle { last: u8::MAX, streak: 0 };

    /// The last action was a pass.
    pub const PASS: Shuttle = Shuttle { last: u8::MAX - 1, streak: 0 };

    /// The last action was this move, and the streak after it (1 to [`SHUTTLE_LIMIT`]).
    #[inline]
    pub fn of_move(action: Action, streak: u8) -> Shuttle {
        debug_assert!((1..=SHUTTLE_LIMIT).contains(&streak), "a streak is 1 to 4");
        Shuttle { last: action.0 as u8, streak }
    }

    /// The last action and its streak, if it was a move.
    pub fn last_move(self) -> Option<(Action, u8)> {
        (self.streak > 0).then_some((Action(u16::from(self.last)), self.streak))
    }

    /// The move that the shuttle rule forbids this player now.
    #[inline]
    fn banned(self, board: &Board) -> Option<Action> {
        (self.streak == SHUTTLE_LIMIT).then(|| board.reverse(Action(u16::from(self.last))))
    }

    fn text(self, board: &Board) -> String {
        match self.last_move() {
            Some((action, streak)) => {
                let text = board.action_text(Player::White, Circles::NONE, action);
                format!("{text}*{streak}")
            }
            None if self == Shuttle::PASS => "pass".to_owned(),
            None => "-".to_owned(),
        }
    }

    fn parse(board: &Board, player: Player, text: &str) -> Result<Shuttle, PositionError> {
        let field = Shuttles::FIELDS[2 + player.index()];
        let broken = |reason: Reason| Err(PositionError::rule(field, text, reason));
        match text {
            "-" => return Ok(Shuttle::NONE),
            "pass" => return Ok(Shuttle::PASS),
            _ => {}
        }
        let parts = text.split_once('*').and_then(|(step, streak)| {
            let (from, sign, to) = split_move(step)?;
            let streak = parse_number(field, streak).ok()?;
            (sign == '-').then_some((from, to, streak))
        });
        let Some((from, to, streak)) = parts else {
            let problem = "expected `-`, `pass`, or a move and its streak, such as `A1-C2*3`";
            return Err(PositionError::new(field, text, problem));
        };
        let Some(action) = board.move_action(from, to) else {
            return broken(NO_LINE.reason().with("from", from).with("to", to));
        };
        if !(1..=u32::from(SHUTTLE_LIMIT)).contains(&streak) {
            return broken(STREAK.reason().with("most", SHUTTLE_LIMIT));
        }
        let goal = Circles::goal(player);
        if goal.contains(from) || (streak > 1 && goal.contains(to)) {
            return broken(MOVED_FROM_GOAL.reason());
        }
        Ok(Shuttle { last: action.0 as u8, streak: streak as u8 })
    }
}

impl JarmoPosition {
    /// The circles of the player's archers.
    #[inline]
    pub fn archers(&self, player: Player) -> Circles {
        self.pieces(player)
    }

    /// The circles of the marked archers of both players.
    #[inline]
    pub fn marked(&self) -> Circles {
        self.strong
    }

    /// The number of the player's captured archers.
    #[inline]
    pub fn captured(&self, player: Player) -> u32 {
        ARCHERS - self.archers(player).count()
    }

    /// The player's last action and streak.
    #[inline]
    pub fn shuttle(&self, player: Player) -> Shuttle {
        self.more.0[player.index()]
    }

    /// The same position, except for this player's last action and streak.
    #[inline]
    #[must_use]
    pub fn with_shuttle(mut self, player: Player, shuttle: Shuttle) -> JarmoPosition {
        self.more.0[player.index()] = shuttle;
        self
    }

    /// The force: archers plus marks on the board. It is 10 at the start and never grows.
    #[inline]
    pub fn force(&self) -> u32 {
        (self.pieces[0] | self.pieces[1]).count() + self.strong.count()
    }

    /// Whether the last action of each player was a pass, which ends the game.
    #[inline]
    pub fn both_passed(&self) -> bool {
        self.more.0 == [Shuttle::PASS; 2]
    }

    /// The marked archers of the player to move on the goal row.
    #[inline]
    fn marked_at_goal(&self) -> Circles {
        self.pieces(self.to_move) & self.strong & Circles::goal(self.to_move)
    }
}

impl BoardRules for Shuttles {
    const ID: &'static str = "jarmo";
    const FIELDS: &'static [&'static str] = &["board", "to move", "white's shuttle", "black's shuttle", "ply"];
    const EVENTS: &'static [&'static str] = &["captures", "redeploys", "shuttle_bans"];

    #[inline]
    fn ended(position: &JarmoPosition) -> bool {
        position.all_home() | position.both_passed()
    }

    #[inline]
    fn banned(board: &Board, position: &JarmoPosition) -> Option<Action> {
        position.shuttle(position.to_move).banned(board)
    }

    #[inline]
    fn places(position: &JarmoPosition) -> Circles {
        let lacks = position.pieces(position.to_move).count() < ARCHERS;
        if !position.marked_at_goal().is_empty() & lacks { position.free_home() } else { Circles::NONE }
    }

    #[inline]
    fn moved(position: &mut JarmoPosition, board: &Board, action: Action, _: Step) -> bool {
        let shuttle = &mut position.more.0[position.to_move.index()];
        let undoes = shuttle.streak > 0 && board.reverse(action).0 == u16::from(shuttle.last);
        *shuttle = Shuttle { last: action.0 as u8, streak: if undoes { shuttle.streak + 1 } else { 1 } };
        true
    }

    #[inline]
    fn returned(position: &mut JarmoPosition, _: &Board) -> bool {
        position.strong ^= position.marked_at_goal().lowest();
        position.more.0[position.to_move.index()] = Shuttle::NONE;
        true
    }

    #[inline]
    fn passed(position: &mut JarmoPosition) {
        position.more.0[position.to_move.index()] = Shuttle::PASS;
    }

    fn why_illegal(position: &JarmoPosition, action: BoardAction) -> Reason {
        let mover = position.to_move;
        match action {
            BoardAction::Move { from, to } => position
                .why_no_move(from, to)
                .unwrap_or_else(|| SHUTTLE.reason().player(mover).with("from", from).with("to", to)),
            BoardAction::Deploy { .. } if position.captured(mover) == 0 => NONE_CAPTURED.reason().player(mover),
            BoardAction::Deploy { .. } if position.marked_at_goal().is_empty() => {
                NO_MARKED_ARCHER.reason().player(mover)
            }
            BoardAction::Deploy { column } => NOT_EMPTY.reason().with("place", Circle::home(mover, column)),
            BoardAction::Pass => PASS_LAST.reason(),
        }
    }

    fn write(&self, board: &Board) -> String {
        let [white, black] = self.0.map(|shuttle| shuttle.text(board));
        format!("{white} {black}")
    }

    fn parse(board: &Board, fields: &[&str]) -> Result<Shuttles, PositionError> {
        let shuttle = |player: Player| Shuttle::parse(board, player, fields[player.index()]);
        Ok(Shuttles([shuttle(Player::White)?, shuttle(Player::Black)?]))
    }

    fn check(_: &Board, position: &JarmoPosition, fields: &[&str]) -> Result<(), PositionError> {
        for player in Player::BOTH {
            let count = position.archers(player).count();
            if count > ARCHERS {
                let reason = TOO_MANY_ARCHERS.reason().player(player).with("n", count).with("most", ARCHERS);
                return Err(PositionError::rule("board", fields[0], reason));
            }
        }
        if position.force() > MOST_FORCE {
            let marks = position.strong.count();
            let reason = TOO_MANY_MARKS
                .reason()
                .with("archers", position.force() - marks)
                .with("marks", marks)
                .with("most", MOST_FORCE);
            return Err(PositionError::rule("board", fields[0], reason));
        }
        Ok(())
    }

    fn count_more(board: &Board, position: &JarmoPosition, counts: &mut [u64]) {
        if let Some(banned) = Shuttles::banned(board, position) {
            counts[2] += u64::from(position.line_moves(board).contains(banned));
        }
    }

    fn describe(board: &Board, position: &JarmoPosition, out: &mut fmt::Formatter<'_>) -> fmt::Result {
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
            if let Some(banned) = position.shuttle(player).banned(board) {
                let text = board.action_text(player, Circles::NONE, banned);
                writeln!(out, "shuttle: {} may not play {text}", player.name())?;
            }
        }
        Ok(())
    }
}
