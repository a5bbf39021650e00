//! Lessons and puzzles for the page. Each message says where the person is, so nothing is stored. Messages do not
//! contain the person's rating.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Rejection, impossible, read};
use crate::lang::Texts;
use crate::lessons;
use crate::puzzles::{self, SCALE};
use crate::session::Session;
use jarmo_exact::catalog::GAMES;

/// Answers a message about lessons and puzzles.
pub fn exercise(path: &str, body: &[u8], texts: &Texts) -> Result<Value, Rejection> {
    match path {
        "/api/lesson" => lesson(read(body)?, texts),
        "/api/puzzle" => puzzle(read(body)?, texts),
        _ => Ok(puzzles()),
    }
}

/// A step of a lesson, and a move there if the person made one.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Lesson {
    game: String,
    step: usize,
    text: Option<String>,
}

/// A puzzle by its position, the plies of its solution on the board, and a move if the person made one.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Puzzle {
    position: String,
    done: usize,
    text: Option<String>,
}

/// The task of a step of a lesson, or the comment on a move there. `boards` are shown one after another.
fn lesson(asked: Lesson, texts: &Texts) -> Result<Value, Rejection> {
    let game = GAMES.into_iter().find(|game| *game == asked.game);
    let game = game.ok_or_else(|| impossible("no such game"))?;
    let steps = lessons::of(game);
    let step = steps.get(asked.step).ok_or_else(|| impossible("the lesson has no such step"))?;
    let mut session = step.session(game);
    let own = texts.lesson(game, &step.key);
    let mut message = json!({
        "steps": steps.len(),
        "title": own.title,
        "text": own.text,
        "task": own.task,
        "solution": step.accept[0],
    });
    if let Some(text) = &asked.text {
        message["answer"] = json!(step.answer(&mut session, texts, text));
    }
    message["boards"] = json!([view_of(&session)]);
    Ok(message)
}

/// The task of a puzzle, or the comment on a move there.
fn puzzle(asked: Puzzle, texts: &Texts) -> Result<Value, Rejection> {
    let mut all = GAMES.into_iter().flat_map(puzzles::of);
    let puzzle = all.find(|one| one.position == asked.position);
    let puzzle = puzzle.ok_or_else(|| impossible("no such puzzle"))?;
    let mut session = puzzles::session(puzzle, asked.done.min(puzzle.line.len()));
    let mut message = json!({
        "player": puzzles::player(&session),
        "rating": puzzle.rating,
        "task": puzzles::task(puzzle, &session, texts),
        "plies": puzzle.line.len(),
    });
    let mut boards = Vec::new();
    if let Some(text) = &asked.text {
        if puzzles::is_over(puzzle, &session) {
            return Err(impossible("the puzzle is over"));
        }
        let before = session.board().cursor();
        message["answer"] = json!(puzzles::answer(puzzle, &mut session, texts, text));
        if session.board().cursor() == before + 2 {
            session.go_to(before + 1);
            boards.push(view_of(&session)); // before the reply
            session.go_to(before + 2);
        }
    }
    boards.push(view_of(&session));
    message["done"] = json!(session.board().cursor());
    message["over"] = json!(puzzles::is_over(puzzle, &session));
    message["boards"] = json!(boards);
    Ok(message)
}

/// The puzzles of each game, easiest first, and how ratings change.
fn puzzles() -> Value {
    let games = GAMES.map(|game| {
        let list = puzzles::of(game).iter();
        let list = list.map(|one| json!({ "position": one.position, "rating": one.rating, "themes": one.themes }));
        (game, list.collect())
    });
    let games: BTreeMap<&str, Vec<Value>> = games.into();
    json!({ "scale": SCALE, "puzzles": games })
}

/// What the board of the page needs.
fn view_of(session: &Session) -> Value {
    let board = session.board();
    json!({
        "game": board.game(),
        "layout": board.layout(),
        "scene": board.scene(),
        "cursor": board.cursor(),
        "moves": board.moves(),
    })
}
