//! Guided lessons: steps with a position, a task, and the moves that solve it.
//!
//! The positions are in `lessons.toml`, the sentences in the language tables.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::lang::Texts;
use crate::session::Session;
use crate::specs::Store;
use crate::words;
use jarmo_exact::catalog::GameSettings;

/// A step of a lesson.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The name of its texts.
    pub key: String,
    /// The position; the start of the game if unset.
    pub position: Option<String>,
    /// Moves that are played before the person's.
    #[serde(default)]
    pub moves: Vec<String>,
    /// The moves that solve the task.
    pub accept: Vec<String>,
}

/// The result of a person's move in an exercise.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// The move is legal. If it does not solve the task, it was taken back.
    pub legal: bool,
    /// It solves the task.
    pub right: bool,
    /// The comment on it.
    pub said: String,
}

/// The steps of a game's lesson; none for a game without a lesson.
pub fn of(game: &str) -> &'static [Step] {
    static LESSONS: LazyLock<BTreeMap<String, Vec<Step>>> =
        LazyLock::new(|| toml::from_str(include_str!("lessons.toml")).expect("a test reads it"));
    LESSONS.get(game).map_or(&[], Vec::as_slice)
}

impl Step {
    /// The board of the step, before the person's move.
    pub fn session(&self, game: &str) -> Session {
        session_at(game, self.position.as_deref(), &self.moves)
    }

    /// Plays a move on the board of the step. Only a right one stays there.
    pub fn answer(&self, session: &mut Session, texts: &Texts, text: &str) -> Answer {
        let own = texts.lesson(session.board().game(), &self.key);
        let is_right = |played: &str| self.accept.iter().any(|one| one == played);
        attempt(session, texts, text, is_right, |_, right| if right { own.right.clone() } else { own.wrong.clone() })
    }
}

/// A session at a position of an exercise, with a person on both sides.
pub(crate) fn session_at(game: &str, position: Option<&str>, moves: &[String]) -> Session {
    let seats = ["human", "human"];
    let session = Session::new(Store::default(), game, GameSettings::default(), position, seats, 0);
    let mut session = session.expect("a test sets up every exercise");
    session.evaluating = false;
    for text in moves {
        session.play(text).expect("a test plays every exercise");
    }
    session
}

/// Plays a move, and takes it back unless it is right. `is_right` gets the standard text of the move. `reply` returns
/// the comment on a legal move, right or wrong.
pub(crate) fn attempt(
    session: &mut Session,
    texts: &Texts,
    text: &str,
    is_right: impl FnOnce(&str) -> bool,
    reply: impl FnOnce(&mut Session, bool) -> String,
) -> Answer {
    let here = session.board().cursor();
    if let Err(refusal) = session.play(text) {
        return Answer { legal: false, right: false, said: words::refusal(texts, text, &refusal) };
    }
    let right = is_right(&session.board().moves()[here].text);
    if !right {
        session.remove(session.board().shown());
    }
    Answer { legal: true, right, said: reply(session, right) }
}
