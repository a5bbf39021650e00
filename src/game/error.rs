//! What can be wrong with text from the world.

use super::Reason;

/// Position text that is no legal position: which field, what it holds, and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} `{found}`: {problem}")]
pub struct PositionError {
    field: &'static str,
    found: String,
    problem: String,
}

impl PositionError {
    /// An error in the named field, which holds `found`.
    pub fn new(field: &'static str, found: &str, problem: impl Into<String>) -> PositionError {
        PositionError {
            field,
            found: shorten(found),
            problem: problem.into(),
        }
    }

    /// The text has another number of fields than the game's positions.
    pub fn field_count(text: &str, fields: &[&str]) -> PositionError {
        let found = text.split(' ').count();
        PositionError::new(
            "position",
            text,
            format!(
                "fields: {found}, but a position has {}, with one space between them: {}",
                fields.len(),
                fields.join(", ")
            ),
        )
    }

    /// The field the error is about.
    pub fn field(&self) -> &'static str {
        self.field
    }
}

/// Action text that names no action, or an action that is illegal: the text and the reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("action `{text}`: {reason}")]
pub struct ActionError {
    text: String,
    reason: Reason,
    unreadable: bool,
}

impl ActionError {
    /// An error about the action written as `text`.
    pub fn new(text: &str, reason: Reason) -> ActionError {
        ActionError {
            text: shorten(text),
            reason,
            unreadable: false,
        }
    }

    /// `text` does not look like an action at all; the reason says what actions look like.
    pub fn unreadable(text: &str, reason: Reason) -> ActionError {
        ActionError {
            unreadable: true,
            ..ActionError::new(text, reason)
        }
    }

    /// The same reason, about the action as the user wrote it.
    pub fn with_text(self, text: &str) -> ActionError {
        ActionError {
            text: shorten(text),
            ..self
        }
    }

    /// The reason alone.
    pub fn reason(&self) -> &Reason {
        &self.reason
    }

    /// Whether the text does not look like an action at all.
    pub fn is_unreadable(&self) -> bool {
        self.unreadable
    }
}

/// Keeps a message readable whatever was put in: one line, at most 80 characters.
pub(crate) fn shorten(text: &str) -> String {
    const LIMIT: usize = 80;
    let mut short: String = text
        .chars()
        .take(LIMIT)
        .flat_map(char::escape_debug)
        .collect();
    if text.chars().nth(LIMIT).is_some() {
        short.push('…');
    }
    short
}
