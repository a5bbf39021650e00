//! The contract of a game: the rules as one object, a position as a small value.
//!
//! Nothing here does I/O, reads a clock, draws random numbers or computes with floats.

mod action;
mod any;
pub mod conformance;
mod error;
mod grid;
mod perft;
mod player;
mod proven;
mod reason;

use std::fmt;
use std::hash::Hash;

pub use action::{Action, ActionMask, Actions, Mask, bits};
pub use any::AnyPosition;
pub use error::{ActionError, PositionError, nearest, shorten, shorten_quotes};
pub use grid::{BoardText, parse_board, write_board};
pub use perft::{divide, perft};
pub use player::{Outcome, Player, Verdict};
pub use proven::Proven;
pub use reason::{Reason, Wording};

/// The largest number of actions. Histories use the index after it for a step without an action.
pub const MAX_ACTIONS: usize = u16::MAX as usize;

/// The largest number of [types of events](Game::events).
pub const MAX_EVENTS: usize = 4;

const NO_SUCH_ACTION: Wording = Wording { key: "no_such_action", english: "the game has only {actions} actions" };

/// The rules of one game with their settings.
///
/// The rules are methods of the `Game`; a [`Game::Position`] is plain data. These identities hold for
/// every implementation, and [`conformance::check`] tests them:
///
/// - `legal(p)` is empty exactly when `outcome(p)` is `Some`.
/// - `play(p, a)` for `a` in `legal(p)` adds one to `ply(p)` and never panics.
/// - `parse_position(position_text(p))` is a position with the same text, and `parse_action(p, action_text(p, a))` is
///   `a` for every legal `a`.
/// - The same player may be to move again after an action; do not assume that turns alternate.
pub trait Game: Clone + Send + Sync + 'static {
    /// A position. `Eq` and `Hash` decide which positions search treats as the same.
    type Position: Copy + Eq + Hash + fmt::Debug + Send + Sync + 'static;
    /// A set of actions wide enough for this game.
    type Mask: Mask;

    /// The name used in files and on the command line.
    fn id(&self) -> &'static str;

    /// Increased whenever the same action texts would give a different game than before.
    fn rules_version(&self) -> u32 {
        1
    }

    /// The number of action indices; every action of every position is below it.
    fn actions(&self) -> usize;

    /// The position a game starts from.
    fn start(&self) -> Self::Position;

    /// The player to move. After the end of the game: the player who would be to move.
    fn to_move(&self, position: &Self::Position) -> Player;

    /// The number of actions played so far, as recorded in the position.
    fn ply(&self, position: &Self::Position) -> u32;

    /// The largest possible score difference, or 0 in games without points.
    fn max_points(&self) -> u8 {
        0
    }

    /// Whether forced positions (one legal action) are common, for example because capturing is
    /// compulsory. Search then plays through forced positions instead of evaluating them.
    fn is_often_forced(&self) -> bool {
        false
    }

    /// Identifies the board in games with a choice of boards: equal boards have equal texts. Empty in other games.
    fn board_text(&self) -> String {
        String::new()
    }

    /// The number of plies without progress after which a game is drawn, in games with such a rule.
    fn draw_plies(&self) -> Option<u32> {
        None
    }

    /// The ply at which a game is truncated, or 0 for never.
    fn max_plies(&self) -> u32;

    /// The number of actions until the game is truncated, or `None` without a limit.
    #[inline]
    fn plies_left(&self, position: &Self::Position) -> Option<u32> {
        match self.max_plies() {
            0 => None,
            limit => Some(limit.saturating_sub(self.ply(position))),
        }
    }

    /// Whether the move limit is reached.
    #[inline]
    fn is_cut_off(&self, position: &Self::Position) -> bool {
        self.plies_left(position) == Some(0)
    }

    /// The same rules with another limit (0 for none).
    fn with_max_plies(self, max_plies: u32) -> Self;

    /// The legal actions.
    fn legal(&self, position: &Self::Position) -> Self::Mask;

    /// Plays a legal action. An illegal action is a bug in the caller: it panics with debug assertions
    /// and otherwise leaves an invalid position.
    fn play(&self, position: &mut Self::Position, action: Action);

    /// The position after a legal action.
    #[inline]
    fn after(&self, position: &Self::Position, action: Action) -> Self::Position {
        let mut next = *position;
        self.play(&mut next, action);
        next
    }

    /// The result, once the game is over.
    fn outcome(&self, position: &Self::Position) -> Option<Outcome>;

    /// The rule that forbids this action in this position. Called for illegal actions only.
    fn why_illegal(&self, position: &Self::Position, action: Action) -> Reason;

    /// The position as text, in the format of `docs/games`.
    fn position_text(&self, position: &Self::Position) -> String;

    /// Reads position text; the error names the field.
    fn parse_position(&self, text: &str) -> Result<Self::Position, PositionError>;

    /// The action as text, in the notation of the game.
    fn action_text(&self, position: &Self::Position, action: Action) -> String;

    /// Reads action text. The result is an action of this game; it may be illegal in this position.
    fn parse_action(&self, position: &Self::Position, text: &str) -> Result<Action, ActionError>;

    /// Names of the events that [`Game::count_events`] counts, such as captures; at most [`MAX_EVENTS`].
    fn events(&self) -> &'static [&'static str] {
        &[]
    }

    /// Adds the events of a legal action to `counts`, in the order of [`Game::events`].
    fn count_events(&self, position: &Self::Position, action: Action, counts: &mut [u64]) {
        let _ = (position, action, counts);
    }

    /// Draws the position as text.
    fn draw(&self, position: &Self::Position, out: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// Plays an action if it is legal; the error says which rule forbids it.
    fn try_play(&self, position: &mut Self::Position, action: Action) -> Result<(), ActionError> {
        if usize::from(action.0) >= self.actions() {
            let reason = NO_SUCH_ACTION.reason().with("actions", self.actions());
            return Err(ActionError::new(&format!("#{}", action.0), reason));
        }
        if !self.legal(position).contains(action) {
            let reason = self.why_illegal(position, action);
            return Err(ActionError::new(&self.action_text(position, action), reason));
        }
        self.play(position, action);
        Ok(())
    }

    /// Reads action text and plays it if it is legal.
    fn play_text(&self, position: &mut Self::Position, text: &str) -> Result<Action, ActionError> {
        let action = self.parse_action(position, text)?;
        self.try_play(position, action).map_err(|error| error.with_text(text))?;
        Ok(action)
    }

    /// The texts of a line of actions, up to the first one that is illegal.
    fn line_texts(&self, mut position: Self::Position, line: &[Action]) -> Vec<String> {
        let mut texts = Vec::with_capacity(line.len());
        for &action in line {
            let text = self.action_text(&position, action);
            if self.try_play(&mut position, action).is_err() {
                break;
            }
            texts.push(text);
        }
        texts
    }

    /// Displays the position as a board in text.
    fn display<'a>(&'a self, position: &'a Self::Position) -> Drawing<'a, Self> {
        Drawing { game: self, position }
    }
}

/// A position with its rules; displays as a board in text.
pub struct Drawing<'a, G: Game> {
    game: &'a G,
    position: &'a G::Position,
}

impl<G: Game> fmt::Display for Drawing<'_, G> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.game.draw(self.position, out)
    }
}
