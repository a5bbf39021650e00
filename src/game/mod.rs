//! What a game is: the rules as one object, a position as a small value, and the contract between
//! them. Nothing here does I/O, reads a clock, draws a random number or computes with floats.

mod action;
pub mod conformance;
mod error;
mod grid;
mod perft;
mod player;
mod proven;
mod reason;

use std::fmt;
use std::hash::Hash;

pub use action::{Action, ActionMask, Actions, Mask};
pub(crate) use error::shorten;
pub use error::{ActionError, PositionError};
pub use grid::{BoardText, parse_board, write_board};
pub use perft::{divide, perft};
pub use player::{Outcome, Player, Verdict};
pub use proven::Proven;
pub use reason::{Reason, Wording};

const NO_SUCH_ACTION: Wording = Wording {
    key: "no_such_action",
    english: "the game has only {actions} actions",
};

/// The rules of one game with their settings.
///
/// A `Game` is an object that knows the rules; a [`Game::Position`] is a small value that knows
/// nothing. The identities below hold for every implementer and are run by
/// [`conformance::check`]:
///
/// - `legal(p)` is empty exactly when `outcome(p)` is `Some`.
/// - `play(p, a)` for `a` in `legal(p)` adds one to `ply(p)` and never panics.
/// - `parse_position(position_text(p))` writes the same text again, and
///   `parse_action(p, action_text(p, a))` is `a` for every legal `a`.
/// - The player to move may stay the same after an action; nothing may assume that it alternates.
pub trait Game: Clone + Send + Sync + 'static {
    /// A position: `Eq` and `Hash` say exactly when two positions are the same for search.
    type Position: Copy + Eq + Hash + fmt::Debug + Send + Sync + 'static;
    /// A set of actions wide enough for this game.
    type Mask: Mask;

    /// The name used in files and on the command line.
    fn id(&self) -> &'static str;

    /// Goes up whenever the same text means another game than before.
    fn rules_version(&self) -> u32;

    /// The number of action indices; every action of every position is below it.
    fn actions(&self) -> usize;

    /// The position a game starts from.
    fn start(&self) -> Self::Position;

    /// Who decides next. After the end it is whoever would have.
    fn to_move(&self, position: &Self::Position) -> Player;

    /// How many actions were played, as far as the position knows.
    fn ply(&self, position: &Self::Position) -> u32;

    /// The most points by which a game can be won, or 0 in games without points.
    fn most_points(&self) -> u8 {
        0
    }

    /// Whether it often happens that only one action is legal, as where capturing is compulsory.
    /// Search runs through such positions then instead of having them judged.
    fn is_often_forced(&self) -> bool {
        false
    }

    /// Which board the game is played on, where there is a choice: the same text for the same
    /// board. Empty where there is only one.
    fn board_text(&self) -> String {
        String::new()
    }

    /// The ply at which a game is cut off, or 0 for never.
    fn max_plies(&self) -> u32;

    /// The actions until a game is cut off, or `None` if it never is.
    #[inline]
    fn plies_left(&self, position: &Self::Position) -> Option<u32> {
        match self.max_plies() {
            0 => None,
            most => Some(most.saturating_sub(self.ply(position))),
        }
    }

    /// Whether the limit on the length is reached.
    #[inline]
    fn is_cut_off(&self, position: &Self::Position) -> bool {
        self.plies_left(position) == Some(0)
    }

    /// The same rules with another limit (0 for none).
    fn with_max_plies(self, max_plies: u32) -> Self;

    /// The legal actions: the law for everything that chooses one.
    fn legal(&self, position: &Self::Position) -> Self::Mask;

    /// Plays a legal action. Playing an illegal one is a bug of the caller: it is caught where debug
    /// assertions are on and leaves a nonsensical position elsewhere.
    fn play(&self, position: &mut Self::Position, action: Action);

    /// The result, once the game is over.
    fn outcome(&self, position: &Self::Position) -> Option<Outcome>;

    /// Which rule forbids this action here. Only asked about illegal actions.
    fn why_illegal(&self, position: &Self::Position, action: Action) -> Reason;

    /// Position text as in the rules pages.
    fn position_text(&self, position: &Self::Position) -> String;

    /// Reads position text; the error names the field.
    fn parse_position(&self, text: &str) -> Result<Self::Position, PositionError>;

    /// Action text: what a human writes for this action here.
    fn action_text(&self, position: &Self::Position, action: Action) -> String;

    /// Reads action text. The action exists in this game but may be illegal here.
    fn parse_action(&self, position: &Self::Position, text: &str) -> Result<Action, ActionError>;

    /// What else is worth counting over many games, for those who watch them: a name for each count.
    fn events(&self) -> &'static [&'static str] {
        &[]
    }

    /// Adds what this legal action does here to the counts, which are in the order of
    /// [`Game::events`].
    fn count_events(&self, position: &Self::Position, action: Action, counts: &mut [u64]) {
        let _ = (position, action, counts);
    }

    /// Draws the position for a person.
    fn draw(&self, position: &Self::Position, out: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// Plays an action if it is legal, and otherwise says which rule forbids it.
    fn try_play(&self, position: &mut Self::Position, action: Action) -> Result<(), ActionError> {
        if usize::from(action.0) >= self.actions() {
            let reason = NO_SUCH_ACTION.reason().with("actions", self.actions());
            return Err(ActionError::new(&format!("#{}", action.0), reason));
        }
        if !self.legal(position).contains(action) {
            let reason = self.why_illegal(position, action);
            return Err(ActionError::new(
                &self.action_text(position, action),
                reason,
            ));
        }
        self.play(position, action);
        Ok(())
    }

    /// Reads action text and plays it if it is legal.
    fn play_text(&self, position: &mut Self::Position, text: &str) -> Result<Action, ActionError> {
        let action = self.parse_action(position, text)?;
        self.try_play(position, action)
            .map_err(|error| error.with_text(text))?;
        Ok(action)
    }

    /// A view of the position that displays as a drawn board.
    fn display<'a>(&'a self, position: &'a Self::Position) -> Drawing<'a, Self> {
        Drawing {
            game: self,
            position,
        }
    }
}

/// A position together with its rules, to be displayed as a drawn board.
pub struct Drawing<'a, G: Game> {
    game: &'a G,
    position: &'a G::Position,
}

impl<G: Game> fmt::Display for Drawing<'_, G> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.game.draw(self.position, out)
    }
}
