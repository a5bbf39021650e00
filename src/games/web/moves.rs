//! Between action indices, what they mean on the web, and what a human writes for them.

use super::{Circle, Circles, NONE, SIDE, Web};
use crate::game::{Action, ActionError, Player, Reason};
use crate::games::reasons::{HOME_ROW_ONLY, NO_CIRCLE, NO_LINE, NOTHING_TO_CAPTURE, WEB_SHAPE};

/// Circles on which a captured archer can come back.
pub const DEPLOY_PLACES: usize = SIDE;

/// What an action of jarmo or guard means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebAction {
    /// Along a line.
    Move {
        /// The circle the piece leaves.
        from: Circle,
        /// The circle it goes to.
        to: Circle,
    },
    /// A captured archer comes back in this column of the mover's home row (0 is A).
    Deploy {
        /// The column.
        column: usize,
    },
    /// Nothing is done.
    Pass,
}

impl Web {
    /// What an action means.
    ///
    /// # Panics
    /// Panics if the web has no such action.
    #[inline]
    pub fn decode(&self, action: Action) -> WebAction {
        let index = action.index();
        if let Some(&(from, to)) = self.moves.get(index) {
            WebAction::Move { from, to }
        } else if index < self.moves.len() + DEPLOY_PLACES {
            WebAction::Deploy {
                column: index - self.moves.len(),
            }
        } else {
            assert!(index == self.moves.len() + DEPLOY_PLACES, "no such action");
            WebAction::Pass
        }
    }

    /// The index of a move, if a line leads from one circle to the other.
    pub fn move_action(&self, from: Circle, to: Circle) -> Option<Action> {
        match self.index[from.index()][to.index()] {
            NONE => None,
            action => Some(Action(u16::from(action))),
        }
    }

    /// The index of bringing an archer back in this column (0 is A) of the mover's home row.
    pub fn deploy_action(&self, column: usize) -> Action {
        assert!(column < DEPLOY_PLACES, "there are five columns");
        Action((self.moves.len() + column) as u16)
    }

    /// The same line the other way.
    #[inline]
    pub(crate) fn reverse(&self, action: Action) -> Action {
        Action(u16::from(self.reverse[action.index()]))
    }

    /// Writes an action of `mover`; `enemy` are the opponent's pieces.
    pub(crate) fn action_text(&self, mover: Player, enemy: Circles, action: Action) -> String {
        match self.decode(action) {
            WebAction::Move { from, to } if enemy.contains(to) => format!("{from}x{to}"),
            WebAction::Move { from, to } => format!("{from}-{to}"),
            WebAction::Deploy { column } => format!("@{}", Circle::home(mover, column)),
            WebAction::Pass => "pass".to_owned(),
        }
    }

    /// Reads an action of `mover`; `enemy` are the opponent's pieces.
    pub(crate) fn parse_action(
        &self,
        mover: Player,
        enemy: Circles,
        text: &str,
    ) -> Result<Action, ActionError> {
        let error = |reason: Reason| Err(ActionError::new(text, reason));
        if text.eq_ignore_ascii_case("pass") {
            return Ok(self.pass());
        }
        if let Some(place) = text.strip_prefix('@') {
            let Ok(circle) = place.parse::<Circle>() else {
                return error(NO_CIRCLE.reason().with("text", place.escape_debug()));
            };
            if !Circles::home(mover).contains(circle) {
                let row = Circles::home_row_of(mover) + 1;
                return error(HOME_ROW_ONLY.reason().player(mover).with("row", row));
            }
            return Ok(self.deploy_action(circle.column()));
        }
        let Some((from, sign, to)) = split_move(text) else {
            return Err(ActionError::unreadable(text, WEB_SHAPE.reason()));
        };
        let Some(action) = self.move_action(from, to) else {
            return error(NO_LINE.reason().with("from", from).with("to", to));
        };
        if sign == 'x' && !enemy.contains(to) {
            let reason = NOTHING_TO_CAPTURE.reason().with("place", to);
            return error(reason.with("move", format_args!("{from}-{to}")));
        }
        Ok(action)
    }
}

/// Splits `A1-C2` or `A1xC2` into its circles and the sign between them, in lower case.
pub(crate) fn split_move(text: &str) -> Option<(Circle, char, Circle)> {
    if text.len() != 5 || !text.is_ascii() {
        return None;
    }
    let sign = char::from(text.as_bytes()[2]).to_ascii_lowercase();
    if !matches!(sign, '-' | 'x') {
        return None;
    }
    Some((text[..2].parse().ok()?, sign, text[3..].parse().ok()?))
}
