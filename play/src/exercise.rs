//! A lesson or puzzles in the terminal: which task is on the board, and what is said about a move.

use crate::book::Book;
use crate::lang::Texts;
use crate::lessons::{self, Answer};
use crate::puzzles::{self, Attempt, Progress};
use crate::session::Session;
use jarmo_core::game::Player;

/// A lesson or puzzles under way.
pub(crate) struct Exercise {
    kind: Kind,
    over: bool, // the task is solved or its solution was shown
}

enum Kind {
    Lesson {
        game: &'static str,
        place: usize,
    },
    Puzzles {
        book: Book,
        attempt: Attempt,
        failed: bool,
        unkept: Option<String>, // why the rating is not kept
    },
}

impl Exercise {
    /// The first step of the lesson of a session's game; the key of a text if there is none.
    pub(crate) fn lesson(session: &Session) -> Result<Exercise, &'static str> {
        let game = session.board().game();
        if lessons::of(game).is_empty() {
            return Err("no_lesson");
        }
        Ok(Exercise { kind: Kind::Lesson { game, place: 0 }, over: false })
    }

    /// A puzzle near the user's rating: of the session's game, or else of the usual one. The key of a text if there is
    /// neither.
    pub(crate) fn puzzles(session: &Session) -> Result<Exercise, &'static str> {
        let own = session.board().game();
        let game = match puzzles::of(own) {
            [] if !session.offers(puzzles::GAME) => return Err("no_puzzles"),
            [] => puzzles::GAME,
            _ => own,
        };
        let (book, unkept) = Book::open(game);
        let attempt = Attempt::new(book.progress.choose(puzzles::of(game)));
        Ok(Exercise { kind: Kind::Puzzles { book, attempt, failed: false, unkept }, over: false })
    }

    /// The board of the task.
    pub(crate) fn session(&self) -> Session {
        match &self.kind {
            Kind::Lesson { game, place } => lessons::of(game)[*place].session(game),
            Kind::Puzzles { attempt, .. } => Attempt::new(attempt.puzzle).session(),
        }
    }

    /// Whether it is a lesson, not puzzles.
    pub(crate) fn is_lesson(&self) -> bool {
        matches!(self.kind, Kind::Lesson { .. })
    }

    /// Whether Black's side of the board is at the bottom: it is the side of the person.
    pub(crate) fn flipped(&self) -> bool {
        self.player() == Player::Black
    }

    /// The person's side.
    fn player(&self) -> Player {
        match &self.kind {
            Kind::Lesson { .. } => Player::White,
            Kind::Puzzles { .. } => self.session().board().scene().to_move,
        }
    }

    /// Which step of the lesson, or which puzzle.
    pub(crate) fn heading(&self, texts: &Texts) -> String {
        match &self.kind {
            Kind::Lesson { game, place } => {
                let steps = lessons::of(game);
                let title = &texts.lesson(game, &steps[*place].key).title;
                let (n, all) = ((place + 1).to_string(), steps.len().to_string());
                texts.fill("lesson_step", &[("n", &n), ("all", &all), ("title", title)])
            }
            Kind::Puzzles { attempt, .. } => {
                let rating = attempt.puzzle.rating.to_string();
                texts.fill("puzzle_rated", &[("rating", &rating)])
            }
        }
    }

    /// What there is to know, and the task as the last line.
    pub(crate) fn lines(&self, texts: &Texts) -> Vec<String> {
        match &self.kind {
            Kind::Lesson { game, place } => {
                let step = texts.lesson(game, &lessons::of(game)[*place].key);
                vec![step.text.clone(), step.task.clone()]
            }
            Kind::Puzzles { book, attempt, unkept, .. } => {
                let mut lines = vec![own_rating(texts, &book.progress)];
                if let Some(problem) = unkept {
                    lines.push(texts.fill("rating_unkept", &[("problem", problem)]));
                }
                lines.push(attempt.task(texts, self.player()));
                lines
            }
        }
    }

    /// Plays a person's move on the board of the task; what is said about it, in lines.
    pub(crate) fn play(&mut self, session: &mut Session, texts: &Texts, text: &str) -> Vec<String> {
        if self.over {
            return vec![texts.get("exercise_over").to_owned()];
        }
        let (answer, mut lines) = match &mut self.kind {
            Kind::Lesson { game, place } => {
                let step = &lessons::of(game)[*place];
                let answer = step.answer(session, text);
                self.over = answer == Answer::Right;
                let reply = step.reply(texts, game, text, &answer);
                (answer, vec![reply])
            }
            Kind::Puzzles { attempt, failed, .. } => {
                let answer = attempt.answer(session, text);
                self.over = attempt.is_over();
                let reply = attempt.reply(texts, text, &answer);
                *failed |= answer == Answer::Wrong;
                (answer, vec![reply])
            }
        };
        match &self.kind {
            Kind::Lesson { game, place } if self.over && place + 1 == lessons::of(game).len() => {
                lines.push(texts.get("lesson_over").to_owned());
            }
            Kind::Puzzles { .. } if self.over || answer == Answer::Wrong => {
                lines.extend(self.count(texts));
            }
            _ => {}
        }
        lines
    }

    /// Counts the puzzle when its first wrong move was made, its solution was asked for, or it was solved.
    fn count(&mut self, texts: &Texts) -> Option<String> {
        let Kind::Puzzles { book, attempt, failed, unkept } = &mut self.kind else {
            return None;
        };
        let latest = book.progress.latest.last();
        let counted = latest.is_some_and(|one| one.position == attempt.puzzle.position);
        if counted {
            return None;
        }
        let puzzles = puzzles::of(&attempt.puzzle.game).len();
        let change = book.progress.count(attempt.puzzle, !*failed, puzzles);
        if let Err(problem) = book.save() {
            *unkept = Some(problem);
        }
        let mut line = format!("{} ({change:+})", own_rating(texts, &book.progress));
        if let Some(problem) = unkept {
            line += " ";
            line += &texts.fill("rating_unkept", &[("problem", problem)]);
        }
        Some(line)
    }

    /// Plays the rest of the solution on the board; what is said about it, in lines.
    pub(crate) fn solution(&mut self, session: &mut Session, texts: &Texts) -> Vec<String> {
        if self.over {
            return vec![texts.get("exercise_over").to_owned()];
        }
        if let Kind::Lesson { game, place } = &self.kind {
            let text = &lessons::of(game)[*place].accept[0];
            return self.play(session, texts, text);
        }
        let Kind::Puzzles { attempt, failed, .. } = &mut self.kind else {
            unreachable!("it is no lesson");
        };
        *failed = true;
        let rest = attempt.puzzle.line[attempt.done..].join(" ");
        attempt.done = attempt.puzzle.line.len();
        *session = attempt.session();
        self.over = true;
        let mut lines = vec![texts.fill("puzzle_solution", &[("line", &rest)])];
        lines.extend(self.count(texts));
        lines
    }

    /// Goes to the next step or puzzle. Returns false at the end of the lesson.
    pub(crate) fn next(&mut self) -> bool {
        match &mut self.kind {
            Kind::Lesson { game, place } => {
                if *place + 1 == lessons::of(game).len() {
                    return false;
                }
                *place += 1;
            }
            Kind::Puzzles { book, attempt, failed, .. } => {
                let all = puzzles::of(&attempt.puzzle.game);
                let mut seen = book.progress.clone();
                if !self.over {
                    // Another one, although this one is not finished.
                    seen.count(attempt.puzzle, false, all.len());
                    seen.rating = book.progress.rating;
                }
                *attempt = Attempt::new(seen.choose(all));
                *failed = false;
            }
        }
        self.over = false;
        true
    }

    /// Goes back to the step before. Puzzles have none.
    pub(crate) fn back(&mut self) {
        if let Kind::Lesson { place, .. } = &mut self.kind {
            *place = place.saturating_sub(1);
            self.over = false;
        }
    }
}

fn own_rating(texts: &Texts, progress: &Progress) -> String {
    texts.fill("own_rating", &[("rating", &progress.rating.to_string())])
}
