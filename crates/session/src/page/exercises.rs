//! Lessons and puzzles for the page. Each message says where the person is; nothing is remembered about it,
//! and the messages do not have the person's rating.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Rejection, impossible, read};
use crate::lang::Texts;
use crate::lessons::{self, Answer};
use crate::puzzles::{self, Attempt, SCALE};
use crate::session::Session;
use jarmo_exact::catalog::GAMES;

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

/// What there is to do in a step of a lesson, or what is said about a move there. `boards` are shown one after
/// another.
pub fn lesson(body: &[u8], texts: &Texts) -> Result<Value, Rejection> {
    let asked: Lesson = read(body)?;
    let game = GAMES.into_iter().find(|game| *game == asked.game);
    let game = game.ok_or_else(|| impossible("no such game"))?;
    let steps = lessons::of(game);
    let step = steps.get(asked.step);
    let step = step.ok_or_else(|| impossible("the lesson has no such step"))?;
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
        let answer = step.answer(&mut session, text);
        message["answer"] = answered(&answer, step.reply(texts, game, text, &answer));
    }
    message["boards"] = json!([view_of(&session)]);
    Ok(message)
}

/// What there is to do in a puzzle, or what is said about a move there.
pub fn puzzle(body: &[u8], texts: &Texts) -> Result<Value, Rejection> {
    let asked: Puzzle = read(body)?;
    let mut all = GAMES.into_iter().flat_map(puzzles::of);
    let puzzle = all.find(|one| one.position == asked.position);
    let puzzle = puzzle.ok_or_else(|| impossible("no such puzzle"))?;
    let player = Attempt::new(puzzle).session().board().scene().to_move;
    let mut attempt = Attempt { puzzle, done: asked.done.min(puzzle.line.len()) };
    let mut session = attempt.session();
    let mut message = json!({
        "player": player,
        "rating": puzzle.rating,
        "task": attempt.task(texts, player),
        "plies": puzzle.line.len(),
    });
    let mut boards = Vec::new();
    if let Some(text) = &asked.text {
        if attempt.is_over() {
            return Err(impossible("the puzzle is over"));
        }
        let before = attempt.done;
        let answer = attempt.answer(&mut session, text);
        if attempt.done == before + 2 {
            session.go_to(before + 1);
            boards.push(view_of(&session)); // before the reply
            session.go_to(before + 2);
        }
        message["answer"] = answered(&answer, attempt.reply(texts, text, &answer));
    }
    boards.push(view_of(&session));
    message["done"] = json!(attempt.done);
    message["over"] = json!(attempt.is_over());
    message["boards"] = json!(boards);
    Ok(message)
}

/// The puzzles of each game, easiest first, and how ratings change.
pub fn puzzles() -> Value {
    let list = |game| -> Vec<Value> {
        let list = puzzles::of(game).iter();
        list.map(|one| json!({ "position": one.position, "rating": one.rating })).collect()
    };
    let games: BTreeMap<&str, Vec<Value>> = GAMES.map(|game| (game, list(game))).into();
    json!({ "scale": SCALE, "puzzles": games })
}

/// `legal`: the move was legal, right or not.
fn answered(answer: &Answer, said: String) -> Value {
    json!({
        "right": *answer == Answer::Right,
        "legal": !matches!(answer, Answer::Refused(_)),
        "said": said,
    })
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
