//! Errors for the text of positions and actions.

use super::Reason;

/// The error for text that is not a legal position. It prints the field, its content and the problem.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} `{found}`: {problem}")]
pub struct PositionError {
    /// The name of the field.
    pub field: &'static str,
    /// The content of the field, shortened for messages.
    pub found: String,
    /// The rule that the position breaks; `None` if the text cannot be read at all.
    pub reason: Option<Reason>,
    problem: String, // in English
}

impl PositionError {
    /// A field whose content `found` cannot be read.
    pub fn new(field: &'static str, found: &str, problem: impl Into<String>) -> PositionError {
        PositionError { field, found: shorten(found), reason: None, problem: problem.into() }
    }

    /// A field whose content `found` breaks a rule of the game.
    pub fn rule(field: &'static str, found: &str, reason: Reason) -> PositionError {
        PositionError { reason: Some(reason.clone()), ..PositionError::new(field, found, reason.to_string()) }
    }

    /// Text with the wrong number of fields.
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

/// The error for text that is not an action, or is an illegal one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("action `{text}`: {reason}")]
pub struct ActionError {
    text: String,
    /// The rule that the action breaks, or the form that is expected.
    pub reason: Reason,
    /// Whether the text does not even have the form of an action.
    pub unreadable: bool,
}

impl ActionError {
    /// An action, written as `text`, that is illegal or does not exist.
    pub fn new(text: &str, reason: Reason) -> ActionError {
        ActionError { text: shorten(text), reason, unreadable: false }
    }

    /// Text that does not have the form of an action. The reason describes that form.
    pub fn unreadable(text: &str, reason: Reason) -> ActionError {
        ActionError { unreadable: true, ..ActionError::new(text, reason) }
    }

    /// The same error with the action as the user wrote it.
    pub fn with_text(self, text: &str) -> ActionError {
        ActionError { text: shorten(text), ..self }
    }
}

/// Makes arbitrary input safe to print in a message: one line, escaped, at most 80 characters. Longer input keeps its
/// beginning and its end. Every message that repeats some input uses this function.
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

/// Makes a parser's message safe to print: shortens each quoted piece and replaces control characters.
pub fn shorten_quotes(message: &str) -> String {
    const LIMIT: usize = 80;
    const MOST: usize = 2000;
    let piece = |piece: &str| match piece.chars().nth(LIMIT) {
        Some(_) => shorten(piece),
        // A parser's message may have several lines, but nothing else in it may move the cursor.
        None => piece.replace(|c: char| c.is_control() && c != '\n', "\u{fffd}"),
    };
    let pieces: Vec<String> = message.split('`').map(piece).collect();
    let message = pieces.join("`");
    match message.chars().nth(MOST) {
        Some(_) => shorten(&message),
        None => message,
    }
}

/// The known word that was probably meant: the nearest one, if at most one letter in three differs.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distances = known.into_iter().map(|known| (distance(word, known), known));
    let (letters, nearest) = distances.min()?;
    (letters <= word.chars().count() / 3).then_some(nearest)
}

/// The number of letters to insert, delete or replace between two words (Levenshtein).
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect(); // from the letters of `one` so far to each beginning of `other`
    for (letter, place) in one.chars().zip(1..) {
        let mut diagonal = std::mem::replace(&mut row[0], place);
        for (column, wanted) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *wanted);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}
