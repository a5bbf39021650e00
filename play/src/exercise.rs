//! A lesson or puzzles in the terminal: the task on the board, and the comments on moves.

use crate::book::Book;
use crate::lang::Texts;
use crate::lessons::{self, Step};
use crate::puzzles::{self, Puzzle};
use crate::session::Session;
use jarmo_core::game::Player;

/// A lesson or puzzles in progress. Meanwhile, the session is that of the task.
pub(crate) struct Exercise {
    kind: Kind,
    over: bool,             // the task is solved or its solution was shown
    replaced: Box<Session>, // the game that was on the board
}

enum Kind {
    Lesson { game: &'static str, place: usize },
    Puzzles { book: Book, puzzle: &'static Puzzle, failed: bool },
}

impl Exercise {
    /// Puts the first step of the lesson of a session's game on its board; the key of a text if there is none.
    pub(crate) fn lesson(session: &mut Session) -> Result<Exercise, &'static str> {
        let game = session.board().game();
        if lessons::of(game).is_empty() {
            return Err("no_lesson");
        }
        Ok(Exercise::begin(Kind::Lesson { game, place: 0 }, session))
    }

    /// The same with a puzzle near the user's rating: of the session's game, or else of the usual one.
    pub(crate) fn puzzles(session: &mut Session) -> Result<Exercise, &'static str> {
        let own = session.board().game();
        let game = match puzzles::of(own) {
            [] if !session.store.games.names().contains(&puzzles::GAME) => return Err("no_puzzles"),
            [] => puzzles::GAME,
            _ => own,
        };
        let book = Book::open(game);
        let puzzle = book.progress.choose(puzzles::of(game));
        Ok(Exercise::begin(Kind::Puzzles { book, puzzle, failed: false }, session))
    }

    fn begin(kind: Kind, session: &mut Session) -> Exercise {
        let replaced = Box::new(std::mem::replace(session, kind.session()));
        Exercise { kind, over: false, replaced }
    }

    /// Restores the game.
    pub(crate) fn leave(self, session: &mut Session) {
        *session = *self.replaced;
    }

    /// Whether it is a lesson, not puzzles.
    pub(crate) fn is_lesson(&self) -> bool {
        matches!(self.kind, Kind::Lesson { .. })
    }

    /// Whether Black's side of the board is at the bottom: it is the side of the person.
    pub(crate) fn flipped(&self, session: &Session) -> bool {
        !self.is_lesson() && puzzles::player(session) == Player::Black
    }

    /// The step of the lesson or the puzzle, its explanation, and the task as the last line.
    pub(crate) fn lines(&self, session: &Session, texts: &Texts) -> Vec<String> {
        match &self.kind {
            Kind::Lesson { game, place } => {
                let step = texts.lesson(game, &step(game, *place).key);
                let (n, all) = (place + 1, lessons::of(game).len());
                let heading = texts.fill("lesson_step", &[("n", &n), ("all", &all), ("title", &step.title)]);
                vec![heading, step.text.clone(), step.task.clone()]
            }
            Kind::Puzzles { book, puzzle, .. } => {
                let heading = texts.fill("puzzle_rated", &[("rating", &puzzle.rating)]);
                let mut lines = vec![heading, own_rating(texts, book)];
                lines.extend(unkept(texts, book));
                lines.push(puzzles::task(puzzle, session, texts));
                lines
            }
        }
    }

    /// Plays a person's move on the board of the task. Returns the comment on it, in lines.
    pub(crate) fn play(&mut self, session: &mut Session, texts: &Texts, text: &str) -> Vec<String> {
        if self.over {
            return vec![texts.get("exercise_over").to_owned()];
        }
        match &mut self.kind {
            Kind::Lesson { game, place } => {
                let step = step(game, *place);
                let answer = step.answer(session, texts, text);
                self.over = answer.right;
                let mut lines = vec![answer.said];
                if self.over && *place + 1 == lessons::of(game).len() {
                    lines.push(texts.get("lesson_over").to_owned());
                }
                lines
            }
            Kind::Puzzles { book, puzzle, failed } => {
                let answer = puzzles::answer(puzzle, session, texts, text);
                let wrong = answer.legal && !answer.right;
                self.over = puzzles::is_over(puzzle, session);
                *failed |= wrong;
                let mut lines = vec![answer.said];
                if self.over || wrong {
                    lines.extend(count(book, puzzle, !*failed, texts));
                }
                lines
            }
        }
    }

    /// Plays the rest of the solution on the board. Returns the comment on it, in lines.
    pub(crate) fn solution(&mut self, session: &mut Session, texts: &Texts) -> Vec<String> {
        match &mut self.kind {
            Kind::Lesson { game, place } => {
                let text = &step(game, *place).accept[0];
                self.play(session, texts, text)
            }
            Kind::Puzzles { .. } if self.over => vec![texts.get("exercise_over").to_owned()],
            Kind::Puzzles { book, puzzle, failed } => {
                *failed = true;
                self.over = true;
                let rest = puzzle.line[session.board().moves().len()..].join(" ");
                *session = puzzles::session(puzzle, puzzle.line.len());
                let mut lines = vec![texts.fill("puzzle_solution", &[("line", &rest)])];
                lines.extend(count(book, puzzle, false, texts));
                lines
            }
        }
    }

    /// Goes to the next step or puzzle. Returns false at the end of the lesson.
    pub(crate) fn next(&mut self, session: &mut Session) -> bool {
        match &mut self.kind {
            Kind::Lesson { game, place } if *place + 1 == lessons::of(game).len() => return false,
            Kind::Lesson { place, .. } => *place += 1,
            Kind::Puzzles { book, puzzle, failed } => {
                let all = puzzles::of(&puzzle.game);
                let mut seen = book.progress.clone();
                if !self.over {
                    // Another one, although this one is not finished.
                    seen.count(puzzle, false, all.len());
                    seen.rating = book.progress.rating;
                }
                *puzzle = seen.choose(all);
                *failed = false;
            }
        }
        self.set_up(session);
        true
    }

    /// Goes back to the step before. Puzzles have none.
    pub(crate) fn back(&mut self, session: &mut Session) {
        if let Kind::Lesson { place, .. } = &mut self.kind {
            *place = place.saturating_sub(1);
            self.set_up(session);
        }
    }

    fn set_up(&mut self, session: &mut Session) {
        *session = self.kind.session();
        self.over = false;
    }
}

impl Kind {
    /// The board of the task, before the person's first move.
    fn session(&self) -> Session {
        match self {
            Kind::Lesson { game, place } => step(game, *place).session(game),
            Kind::Puzzles { puzzle, .. } => puzzles::session(puzzle, 0),
        }
    }
}

/// Counts a puzzle when its first wrong move was made, its solution was asked for, or it was solved.
fn count(book: &mut Book, puzzle: &Puzzle, solved: bool, texts: &Texts) -> Option<String> {
    let latest = book.progress.latest.last();
    if latest.is_some_and(|one| one.position == puzzle.position) {
        return None;
    }
    let change = book.progress.count(puzzle, solved, puzzles::of(&puzzle.game).len());
    book.save();
    let line = format!("{} ({change:+})", own_rating(texts, book));
    Some(unkept(texts, book).map_or(line.clone(), |problem| format!("{line} {problem}")))
}

fn step(game: &str, place: usize) -> &'static Step {
    &lessons::of(game)[place]
}

fn own_rating(texts: &Texts, book: &Book) -> String {
    texts.fill("own_rating", &[("rating", &book.progress.rating)])
}

/// Why the rating cannot be saved.
fn unkept(texts: &Texts, book: &Book) -> Option<String> {
    let problem = book.problem.as_ref()?;
    Some(texts.fill("rating_unkept", &[("problem", &problem)]))
}
