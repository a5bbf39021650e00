//! Solving puzzles: the answers to moves, the player's rating, and which puzzle is next. Nothing is searched: the
//! solution of a puzzle is the line that comes with it.

use serde::{Deserialize, Serialize};

use crate::lang::Texts;
use crate::lessons::{Answer, attempt, session_at};
use crate::session::Session;
use jarmo_core::game::Player;
pub use jarmo_judge::puzzles::Puzzle;
use jarmo_judge::puzzles::{Goal, shipped};

/// The game whose puzzles are shown in games without any.
pub const GAME: &str = "jarmo";

/// The puzzles of a game, easiest first; none for a game without puzzles.
pub fn of(game: &str) -> &'static [Puzzle] {
    shipped(game).unwrap_or_default()
}

/// The board of a puzzle after this many plies of its solution. The number is even until the puzzle is over.
pub fn session(puzzle: &Puzzle, plies: usize) -> Session {
    session_at(&puzzle.game, Some(&puzzle.position), &puzzle.line[..plies])
}

/// Whether the last move of the solution is on the board.
pub fn is_over(puzzle: &Puzzle, session: &Session) -> bool {
    session.board().moves().len() == puzzle.line.len()
}

/// The player who must find the solution.
pub fn player(session: &Session) -> Player {
    session.board().mover(0).expect("no puzzle begins with the end of a game")
}

/// Plays a move on the board of a puzzle. Only the right one stays there, and is followed by the best reply.
pub fn answer(puzzle: &Puzzle, session: &mut Session, texts: &Texts, text: &str) -> Answer {
    let done = session.board().moves().len();
    let is_right = |played: &str| played == puzzle.line[done];
    attempt(session, texts, text, is_right, |session, right| match (right, puzzle.goal, puzzle.line.get(done + 1)) {
        (false, Goal::Win, _) => texts.fill("puzzle_wrong_win", &[("move", &text)]),
        (false, Goal::Draw, _) => texts.fill("puzzle_wrong_draw", &[("move", &text)]),
        (true, _, None) => texts.get("puzzle_over").to_owned(),
        (true, _, Some(reply)) => {
            session.play(reply).expect("a test plays every solution");
            texts.fill("puzzle_right", &[("move", reply)])
        }
    })
}

/// The task of the player.
pub fn task(puzzle: &Puzzle, session: &Session, texts: &Texts) -> String {
    let key = match puzzle.goal {
        Goal::Win => "puzzle_win",
        Goal::Draw => "puzzle_draw",
    };
    texts.fill(key, &[("player", &texts.player(&puzzle.game, player(session)))])
}

/// How ratings change. The page reads these numbers, too.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Scale {
    /// The rating of a new player.
    pub start: i32,
    /// The largest change by the first puzzle.
    pub first: i32,
    /// How much this largest change falls with each further puzzle, down to `last`.
    pub fall: i32,
    /// The largest change by a puzzle in the long run.
    pub last: i32,
}

/// The scale of all players.
pub const SCALE: Scale = Scale { start: 1000, first: 40, fall: 1, last: 20 };

/// A puzzle that a player has finished.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finished {
    /// Its position.
    pub position: String,
    /// Whether every move was right at once.
    pub solved: bool,
}

/// A player's rating and latest puzzles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// The rating.
    pub rating: i32,
    /// Puzzles finished.
    pub count: i32,
    /// The latest of them, oldest first; half as many as there are puzzles.
    pub latest: Vec<Finished>,
}

impl Default for Progress {
    fn default() -> Progress {
        Progress { rating: SCALE.start, count: 0, latest: Vec::new() }
    }
}

impl Progress {
    /// The puzzle closest to the rating, excluding the latest ones; the easier one of a tie.
    pub fn choose(&self, puzzles: &'static [Puzzle]) -> &'static Puzzle {
        let is_new = |one: &&Puzzle| {
            let mut latest = self.latest.iter();
            !latest.any(|other| other.position == one.position)
        };
        let new = puzzles.iter().filter(is_new);
        new.min_by_key(|one| (i32::from(one.rating) - self.rating).abs())
            .expect("only half of the puzzles are latest ones")
    }

    /// Counts a finished puzzle and returns the change of the rating (Elo, against the puzzle's rating).
    pub fn count(&mut self, puzzle: &Puzzle, solved: bool, puzzles: usize) -> i32 {
        let ahead = f64::from(i32::from(puzzle.rating) - self.rating);
        let expected = 1.0 / (1.0 + 10_f64.powf(ahead / 400.0));
        let most = (SCALE.first - SCALE.fall * self.count).max(SCALE.last);
        let score = if solved { 1.0 } else { 0.0 };
        let change = (f64::from(most) * (score - expected)).round() as i32;
        self.rating += change;
        self.count = self.count.saturating_add(1);
        self.latest.push(Finished { position: puzzle.position.clone(), solved });
        let extra = self.latest.len().saturating_sub(puzzles / 2);
        self.latest.drain(..extra);
        change
    }
}
