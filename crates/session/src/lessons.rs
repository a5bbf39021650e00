//! Guided lessons: steps with a position, a task, and the moves that solve it.
//!
//! The positions are in `lessons.toml`, the sentences in the language tables.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::lang::Texts;
use crate::session::{Refusal, Session};
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

/// What a person's move is in an exercise.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// It solves the task.
    Right,
    /// It is legal, but not what was asked for; it was taken back.
    Wrong,
    /// It is illegal.
    Refused(Refusal),
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
    pub fn answer(&self, session: &mut Session, text: &str) -> Answer {
        attempt(session, text, |played| self.accept.iter().any(|one| one == played))
    }

    /// What is said about an answer to `text`.
    pub fn reply(&self, texts: &Texts, game: &str, text: &str, answer: &Answer) -> String {
        let own = texts.lesson(game, &self.key);
        match answer {
            Answer::Right => own.right.clone(),
            Answer::Wrong => own.wrong.clone(),
            Answer::Refused(refusal) => words::refusal(texts, text, refusal),
        }
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

/// Plays a move, and takes it back unless it is right. `is_right` is asked about the usual text of the move.
pub(crate) fn attempt(session: &mut Session, text: &str, is_right: impl FnOnce(&str) -> bool) -> Answer {
    let here = session.board().cursor();
    if let Err(refusal) = session.play(text) {
        return Answer::Refused(refusal);
    }
    if is_right(&session.board().moves()[here].text) {
        return Answer::Right;
    }
    session.go_to(here);
    session.resume(); // forgets the move
    Answer::Wrong
}
