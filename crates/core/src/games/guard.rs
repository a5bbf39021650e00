//! The rules of guard, a game like jarmo with bodyguards. An archer that captures becomes a guard. Each guard that
//! reaches the goal row earns a placement, which brings back a captured archer.

use std::fmt;

use super::board::{Board, BoardAction, BoardGame, BoardPosition, BoardRules, Circle, Circles, PIECES, Step};
use super::text::parse_number;
use crate::game::{Action, Mask, Player, PositionError, Reason, Wording};
use crate::games::reasons::{
    MOVE_IS_NO_PASS, MOVE_MADE, NO_ARCHER_CAPTURED, NO_PLACEMENT, NOT_EMPTY, PASS_AFTER_MOVE, TOO_MANY_CAPTURED,
    TOO_MANY_PIECES, TOO_MANY_PLACEMENTS, TURN_IS_OVER,
};

/// The game ends after this many consecutive turns that consist only of a pass.
pub(crate) const PASSES_TO_END: u8 = 2;

/// The rules of guard on one board.
pub type Guard = BoardGame<Turn>;

/// A guard position.
pub type GuardPosition = BoardPosition<Turn>;

/// What a position contains besides its pieces: what both players can bring back, and which part of the turn is
/// played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Turn {
    captured_archers: [u8; 2],
    placements: [u8; 2],
    passes: u8, // how many of the latest turns consist only of a pass
    moved: bool,
}

impl GuardPosition {
    /// The number of the player's archers that are captured and can come back.
    #[inline]
    pub fn captured_archers(&self, player: Player) -> u32 {
        self.more.captured_archers[player.index()].into()
    }

    /// The player's placements in hand: how many archers the player may bring back.
    #[inline]
    pub fn placements(&self, player: Player) -> u32 {
        self.more.placements[player.index()].into()
    }

    /// Whether the player to move has already moved in this turn.
    #[inline]
    pub fn moved(&self) -> bool {
        self.more.moved
    }

    /// How many of the latest turns consist only of a pass.
    #[inline]
    pub fn passes(&self) -> u32 {
        self.more.passes.into()
    }

    /// The number of guards in the player's reserve: one for each archer, on the board or captured.
    pub fn reserve(&self, player: Player) -> u32 {
        let archers = self.pieces(player) & !self.strong;
        archers.count() + self.captured_archers(player)
    }

    /// The largest possible number of placements in hand: one for each guard that is on the goal row or captured.
    fn max_placements(&self, player: Player) -> u32 {
        let own = self.pieces(player);
        let arrived = own & self.strong & Circles::goal(player);
        arrived.count() + (PIECES - own.count() - self.captured_archers(player))
    }
}

impl BoardRules for Turn {
    const ID: &'static str = "guard";
    const FIELDS: &'static [&'static str] =
        &["board", "to move", "start/moved", "captured archers", "placements in hand", "passes", "ply"];
    const EVENTS: &'static [&'static str] = &["captures", "placements"];

    /// The rules test this only between turns. Testing it at any time before the move gives the same result, because a
    /// placement cannot end the game.
    #[inline]
    fn ended(position: &GuardPosition) -> bool {
        !position.more.moved & (position.all_home() | (position.more.passes >= PASSES_TO_END))
    }

    #[inline]
    fn places(position: &GuardPosition) -> Circles {
        let (me, turn) = (position.to_move.index(), &position.more);
        let allowed = (turn.placements[me] > 0) & (turn.captured_archers[me] > 0);
        if allowed { position.free_home() } else { Circles::NONE }
    }

    #[inline]
    fn has_moved(position: &GuardPosition) -> bool {
        position.more.moved
    }

    /// Rule G2: an archer that captures becomes a guard before it arrives. The reserve always has a guard for it.
    #[inline]
    fn moved(position: &mut GuardPosition, _: &Board, _: Action, step: Step) -> bool {
        let mover = position.to_move;
        let arrives = !(step.to & Circles::goal(mover)).is_empty();
        position.more.captured_archers[(!mover).index()] += u8::from(step.captured_weak);
        position.more.placements[mover.index()] += u8::from(step.strong & arrives);
        position.more.passes = 0;
        let ends_turn = Turn::places(position).is_empty();
        position.more.moved = !ends_turn;
        ends_turn
    }

    #[inline]
    fn returned(position: &mut GuardPosition, board: &Board) -> bool {
        let me = position.to_move.index();
        position.more.captured_archers[me] -= 1;
        position.more.placements[me] -= 1;
        position.more.passes = 0;
        if !Turn::places(position).is_empty() {
            return false;
        }
        let ends_turn = position.more.moved;
        // If neither a placement nor a move is left, the player has to pass. That does not count as a turn that
        // consists only of a pass.
        position.more.moved = !ends_turn && position.line_moves(board).is_empty();
        ends_turn
    }

    #[inline]
    fn passed(position: &mut GuardPosition) {
        position.more.passes += u8::from(!position.more.moved); // 0 after a move
        position.more.moved = false;
    }

    fn why_illegal(position: &GuardPosition, action: BoardAction) -> Reason {
        let mover = position.to_move;
        match action {
            BoardAction::Move { .. } if position.more.moved => MOVE_MADE.reason(),
            BoardAction::Move { from, to } => position.why_no_move(from, to).expect("nothing else forbids a move"),
            BoardAction::Deploy { .. } if position.placements(mover) == 0 => NO_PLACEMENT.reason().player(mover),
            BoardAction::Deploy { .. } if position.captured_archers(mover) == 0 => {
                NO_ARCHER_CAPTURED.reason().player(mover)
            }
            BoardAction::Deploy { column } => NOT_EMPTY.reason().with("place", Circle::home(mover, column)),
            BoardAction::Pass => PASS_AFTER_MOVE.reason(),
        }
    }

    fn write(&self, _: &Board) -> String {
        let phase = if self.moved { "moved" } else { "start" };
        let [captured, placements] =
            [self.captured_archers, self.placements].map(|[white, black]| format!("{white},{black}"));
        format!("{phase} {captured} {placements} {}", self.passes)
    }

    fn parse(_: &Board, fields: &[&str]) -> Result<Turn, PositionError> {
        let [phase, captured, placements, passes] = fields else { unreachable!("as many as FIELDS has of its own") };
        Ok(Turn {
            moved: match *phase {
                "start" => false,
                "moved" => true,
                _ => {
                    return Err(PositionError::new(Turn::FIELDS[2], phase, "expected `start` or `moved`"));
                }
            },
            captured_archers: parse_pair(Turn::FIELDS[3], captured)?,
            placements: parse_pair(Turn::FIELDS[4], placements)?,
            passes: parse_number("passes", passes)?
                .try_into()
                .ok()
                .filter(|&passes| passes <= PASSES_TO_END)
                .ok_or_else(|| PositionError::new("passes", passes, "expected at most 2, where the game ends"))?,
        })
    }

    fn check(board: &Board, position: &GuardPosition, fields: &[&str]) -> Result<(), PositionError> {
        let broken = |field: usize, reason| Err(PositionError::rule(Turn::FIELDS[field], fields[field], reason));
        for player in Player::BOTH {
            let on_board = position.pieces(player).count();
            let reason = |wording: Wording| wording.reason().player(player).with("n", on_board);
            if on_board > PIECES {
                return broken(0, reason(TOO_MANY_PIECES).with("most", PIECES));
            }
            if on_board + position.captured_archers(player) > PIECES {
                return broken(3, reason(TOO_MANY_CAPTURED).with("most", PIECES - on_board));
            }
            let max = position.max_placements(player);
            if position.placements(player) > max {
                return broken(4, reason(TOO_MANY_PLACEMENTS).with("most", max));
            }
        }
        if position.more.moved && position.more.passes > 0 {
            return broken(5, MOVE_IS_NO_PASS.reason());
        }
        let is_over = Turn::places(position).is_empty() && !position.line_moves(board).is_empty();
        if position.more.moved && is_over { broken(2, TURN_IS_OVER.reason()) } else { Ok(()) }
    }

    fn describe(_: &Board, position: &GuardPosition, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [white, black] = position.score();
        let phase = if position.more.moved { "to place or pass" } else { "to move" };
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

/// Reads the numbers of White and Black, such as `1,0`.
fn parse_pair(field: &'static str, text: &str) -> Result<[u8; 2], PositionError> {
    let number = |text: &str| text.parse::<u8>().ok().filter(|&number| u32::from(number) <= PIECES && text.len() == 1);
    text.split_once(',').and_then(|(white, black)| Some([number(white)?, number(black)?])).ok_or_else(|| {
        PositionError::new(field, text, format!("expected two numbers from 0 to {PIECES}, such as `1,0`"))
    })
}
