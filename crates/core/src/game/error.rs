//! Errors for position and action text.

use super::Reason;

/// Position text that is not a legal position: the field, its content, and the problem.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} `{found}`: {problem}")]
pub struct PositionError {
    field: &'static str,
    found: String,
    problem: Problem,
}

/// What is wrong with a field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum Problem {
    /// It cannot be read; in English.
    #[error("{0}")]
    Form(String),
    /// It breaks a rule.
    #[error("{0}")]
    Rule(Reason),
}

impl PositionError {
    /// The named field, which holds `found`, cannot be read.
    pub fn new(field: &'static str, found: &str, problem: impl Into<String>) -> PositionError {
        PositionError { field, found: shorten(found), problem: Problem::Form(problem.into()) }
    }

    /// The named field, which holds `found`, breaks a rule of the game.
    pub fn rule(field: &'static str, found: &str, reason: Reason) -> PositionError {
        PositionError { field, found: shorten(found), problem: Problem::Rule(reason) }
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

    /// The name of the field.
    pub fn field(&self) -> &'static str {
        self.field
    }

    /// What the field holds, in a form fit for a message.
    pub fn found(&self) -> &str {
        &self.found
    }

    /// The rule that the position breaks; `None` if its text cannot be read.
    pub fn reason(&self) -> Option<&Reason> {
        match &self.problem {
            Problem::Rule(reason) => Some(reason),
            Problem::Form(_) => None,
        }
    }
}

/// Action text that cannot be read, or that names an illegal action.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("action `{text}`: {reason}")]
pub struct ActionError {
    text: String,
    reason: Reason,
    unreadable: bool,
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

    /// The reason without the text.
    pub fn reason(&self) -> &Reason {
        &self.reason
    }

    /// Whether the text does not have the form of an action.
    pub fn is_unreadable(&self) -> bool {
        self.unreadable
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
