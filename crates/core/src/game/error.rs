//! Errors for position and action text.

use super::Reason;

/// Position text that is not a legal position: the field, its content, and the problem.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} `{found}`: {problem}")]
pub struct PositionError {
    /// The name of the field.
    pub field: &'static str,
    /// What the field holds, in a form fit for a message.
    pub found: String,
    /// The rule that the position breaks; `None` if its text cannot be read.
    pub reason: Option<Reason>,
    problem: String, // in English
}

impl PositionError {
    /// The named field, which holds `found`, cannot be read.
    pub fn new(field: &'static str, found: &str, problem: impl Into<String>) -> PositionError {
        PositionError { field, found: shorten(found), reason: None, problem: problem.into() }
    }

    /// The named field, which holds `found`, breaks a rule of the game.
    pub fn rule(field: &'static str, found: &str, reason: Reason) -> PositionError {
        PositionError { reason: Some(reason.clone()), ..PositionError::new(field, found, reason.to_string()) }
    }

    /// The text has the wrong number of fields.
    pub fn field_count(text: &str, fields: &[&str]) -> PositionError {
        let found = text.split(' ').count();
        PositionError::new(
            "position",
            text,
            format!(
                "expected {} fields separated by single spaces ({}), found {found}",
                fields.len(),
                fields.join(", ")
            ),
        )
    }
}

/// Action text that cannot be read, or that names an illegal action.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("action `{text}`: {reason}")]
pub struct ActionError {
    text: String,
    /// The rule that it breaks, or the form that is expected.
    pub reason: Reason,
    /// Whether the text does not have the form of an action.
    pub unreadable: bool,
}

impl ActionError {
    /// The action written as `text` is illegal or does not exist.
    pub fn new(text: &str, reason: Reason) -> ActionError {
        ActionError { text: shorten(text), reason, unreadable: false }
    }

    /// `text` does not have the form of an action; the reason describes that form.
    pub fn unreadable(text: &str, reason: Reason) -> ActionError {
        ActionError { unreadable: true, ..ActionError::new(text, reason) }
    }

    /// The same error with the action as the user wrote it.
    pub fn with_text(self, text: &str) -> ActionError {
        ActionError { text: shorten(text), ..self }
    }
}

/// Makes arbitrary input fit for a message: one line, escaped, at most 80 characters of it. Of longer input the
/// beginning and the end are kept. Every message that repeats what it was given does so through this function.
pub fn shorten(text: &str) -> String {
    const LIMIT: usize = 80;
    const END: usize = 30;
    if text.chars().nth(LIMIT).is_none() {
        return text.escape_debug().to_string();
    }
    let end = text.char_indices().rev().nth(END - 1).map_or("", |(index, _)| &text[index..]);
    let beginning: String = text.chars().take(LIMIT - END).collect();
    format!("{}…{}", beginning.escape_debug(), end.escape_debug())
}

/// Makes the message of a parser fit to be passed on: what it quotes is shortened, each piece on its own.
pub fn shorten_quotes(message: &str) -> String {
    const LIMIT: usize = 80;
    const MOST: usize = 2000;
    let piece = |piece: &str| match piece.chars().nth(LIMIT) {
        Some(_) => shorten(piece),
        // A parser's message may have several lines; nothing else in it may move the cursor.
        None => piece.replace(|c: char| c.is_control() && c != '\n', "\u{fffd}"),
    };
    let pieces: Vec<String> = message.split('`').map(piece).collect();
    let message = pieces.join("`");
    match message.chars().nth(MOST) {
        Some(_) => shorten(&message),
        None => message,
    }
}
