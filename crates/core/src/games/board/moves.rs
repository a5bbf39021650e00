//! Converts between action indices, moves on the board, and text.

use super::{Board, Circle, Circles, NONE, SIDE};
use crate::game::{Action, ActionError, Player, Reason, shorten};
use crate::games::reasons::{BOARD_SHAPE, HOME_ROW_ONLY, NO_CIRCLE, NO_LINE, NOTHING_TO_CAPTURE};

/// The number of circles on which a captured archer can come back.
pub const DEPLOY_PLACES: usize = SIDE;

/// An action of jarmo or guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoardAction {
    /// A piece moves along a line.
    Move {
        /// The circle the piece leaves.
        from: Circle,
        /// The circle it moves to.
        to: Circle,
    },
    /// A captured archer comes back on the home row of the player to move.
    Deploy {
        /// The column; 0 is A.
        column: usize,
    },
    /// A pass.
    Pass,
}

impl Board {
    /// The meaning of an action index.
    ///
    /// # Panics
    /// Panics unless the index is below [`Board::actions`].
    #[inline]
    pub fn decode(&self, action: Action) -> BoardAction {
        let index = action.index();
        if let Some(&(from, to)) = self.moves.get(index) {
            BoardAction::Move { from, to }
        } else if index < self.moves.len() + DEPLOY_PLACES {
            BoardAction::Deploy { column: index - self.moves.len() }
        } else {
            assert!(index == self.moves.len() + DEPLOY_PLACES, "no such action");
            BoardAction::Pass
        }
    }

    /// The index of a move, if a line connects the circles.
    pub fn move_action(&self, from: Circle, to: Circle) -> Option<Action> {
        match self.index[from.index()][to.index()] {
            NONE => None,
            action => Some(Action(u16::from(action))),
        }
    }

    /// The index of the redeploy to this column of the home row; 0 is A.
    fn deploy_action(&self, column: usize) -> Action {
        assert!(column < DEPLOY_PLACES, "there are five columns");
        Action((self.moves.len() + column) as u16)
    }

    /// The move along the same line in the opposite direction.
    #[inline]
    pub fn reverse(&self, action: Action) -> Action {
        Action(u16::from(self.reverse[action.index()]))
    }

    /// Writes an action of `mover` as text; `enemy` has the opponent's pieces.
    pub(crate) fn action_text(&self, mover: Player, enemy: Circles, action: Action) -> String {
        match self.decode(action) {
            BoardAction::Move { from, to } if enemy.contains(to) => format!("{from}x{to}"),
            BoardAction::Move { from, to } => format!("{from}-{to}"),
            BoardAction::Deploy { column } => format!("@{}", Circle::home(mover, column)),
            BoardAction::Pass => "pass".to_owned(),
        }
    }

    /// Reads the text of an action of `mover`; `enemy` has the opponent's pieces.
    pub(crate) fn parse_action(&self, mover: Player, enemy: Circles, text: &str) -> Result<Action, ActionError> {
        let error = |reason: Reason| Err(ActionError::new(text, reason));
        if text.eq_ignore_ascii_case("pass") {
            return Ok(self.pass());
        }
        if let Some(place) = text.strip_prefix('@') {
            let Ok(circle) = place.parse::<Circle>() else {
                return error(NO_CIRCLE.reason().with("text", shorten(place)));
            };
            if !Circles::home(mover).contains(circle) {
                let row = Circles::home_row_of(mover) + 1;
                return error(HOME_ROW_ONLY.reason().player(mover).with("row", row));
            }
            return Ok(self.deploy_action(circle.column()));
        }
        let Some((from, sign, to)) = split_move(text) else {
            return Err(ActionError::unreadable(text, BOARD_SHAPE.reason()));
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

/// Splits `A1-C2` or `A1xC2` into its circles and the sign between them (`-` or `x`).
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
