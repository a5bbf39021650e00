//! Lessons and puzzles by lines of text.

use std::io::{self, Write};

use super::{Next, Plain};
use crate::exercise::Exercise;
use crate::session::Session;
use crate::words;

/// What is on the board, and the game that it replaces.
pub(super) struct Training {
    exercise: Exercise,
    game: Session,
}

impl<W: Write> Plain<'_, W> {
    /// Puts a lesson or puzzles on the board.
    pub(crate) fn train(&mut self, exercise: Exercise) {
        self.leave_training();
        let game = std::mem::replace(self.session, exercise.session());
        self.training = Some(Training { exercise, game });
    }

    /// Brings the game back.
    fn leave_training(&mut self) {
        if let Some(Training { game, .. }) = self.training.take() {
            *self.session = game;
        }
    }

    /// Says which task is on the board.
    pub(super) fn say_task(&mut self) -> io::Result<()> {
        let Some(Training { exercise, .. }) = &self.training else {
            return Ok(());
        };
        let heading = exercise.heading(self.texts);
        let lines = exercise.lines(self.texts);
        self.say(&heading)?;
        self.say(&lines.join("\n"))
    }

    /// Obeys a line while a lesson or puzzles are on the board.
    pub(super) fn obey_training(&mut self, line: &str) -> io::Result<Next> {
        let Some(Training { exercise, .. }) = &mut self.training else {
            return Ok(Next::Ask);
        };
        let texts = self.texts;
        let before = self.session.board().moves().len();
        let said = match line {
            "" | "stop" => return Ok(Next::Ask),
            "quit" | "exit" | "q" => return Ok(Next::Leave),
            "board" | "task" => return Ok(Next::Draw),
            "leave" => {
                self.leave_training();
                return Ok(Next::Draw);
            }
            "next" | "back" => {
                let goes_on = if line == "back" {
                    exercise.back();
                    true
                } else {
                    exercise.next()
                };
                if goes_on {
                    *self.session = exercise.session();
                } else {
                    self.leave_training();
                }
                return Ok(Next::Draw);
            }
            "help" | "?" => return self.tell(texts.get("help_exercise")),
            "rules" => return self.tell_lines(texts.rules(self.session.board().game())),
            "moves" => return self.tell(&self.legal_moves()),
            "solution" => exercise.solution(self.session, texts),
            _ => {
                if let Some(lines) = words::cell(texts, self.session.board(), line) {
                    return self.tell(&lines.join("\n"));
                }
                exercise.play(self.session, texts, line)
            }
        };
        if self.session.board().moves().len() != before {
            let picture = self.picture();
            self.say(&picture)?;
        }
        self.tell(&said.join("\n"))
    }
}
