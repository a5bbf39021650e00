//! A move that is tried in place of one that was played, and how good it is. The game stays as it is.

use serde::Serialize;

use crate::analysis::DOUBTFUL;
use crate::board::Board;
use crate::session::Session;
use crate::thought::{Thinking, Thought};
use crate::words::mine;
use jarmo_core::game::{ActionError, Player};

/// A move at a place, and the position after it.
pub(crate) struct Trial {
    place: usize,
    text: String,
    after: Box<dyn Board>, // the cursor is after the move
    thought: Option<Thought>,
}

/// What is known about a move that was tried.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tried {
    /// Moves played before it.
    pub place: usize,
    /// The move.
    pub text: String,
    /// Whether it is as good as the best move; `None` while that is not known.
    pub good: Option<bool>,
    /// Value that it loses for its player, at least 0.
    pub lost: Option<f32>,
}

impl Trial {
    pub(crate) fn new(board: &dyn Board, place: usize, text: &str) -> Result<Trial, ActionError> {
        let after = board.branch(place, &[text.to_owned()])?;
        let played = after.moves().pop().expect("the move was played");
        Ok(Trial { place: after.cursor() - 1, text: played.text, after, thought: None })
    }

    pub(crate) fn place(&self) -> usize {
        self.place
    }

    /// The position after the move, if its value is needed and not known.
    pub(crate) fn question(&self, session: &Session) -> Option<Box<dyn Thinking>> {
        let unknown = self.value().is_none() && !self.is_best(session);
        unknown.then(|| self.after.question(self.place + 1, session.seed()))
    }

    pub(crate) fn answer(&mut self, thought: Thought) {
        self.thought = Some(thought);
    }

    /// Compares the move with the best one, by exact tables or else by values.
    pub(crate) fn judge(&self, session: &Session) -> Tried {
        let mover = session.board().mover(self.place).unwrap_or(Player::White);
        let before = session.value(self.place);
        let lost = match (before, self.value()) {
            _ if self.is_best(session) => Some(0.0),
            (Some(before), Some(after)) => Some(mine(mover, before - after).max(0.0)),
            _ => None,
        };
        Tried { place: self.place, text: self.text.clone(), good: lost.map(|lost| lost < DOUBTFUL), lost }
    }

    fn is_best(&self, session: &Session) -> bool {
        let best = session.thought(self.place);
        best.is_some_and(|best| best.text == self.text)
    }

    /// White's value after the move: the outcome, the exact result, or the agent's evaluation.
    fn value(&self) -> Option<f32> {
        match self.after.result(self.place + 1) {
            Some(verdict) => Some(verdict.sign().into()),
            None => self.thought.as_ref().map(|thought| thought.value),
        }
    }
}
