//! Requests that do not change the game: other positions, pictures, and positions from the editor.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Query, Rejection, impossible, read};
use crate::analysis::record_line;
use crate::board::Board;
use crate::lang::Texts;
use crate::session::{Refusal, Session};
use crate::thought::by_winner;
use crate::words;
use jarmo_core::view::Setup;

/// The largest number of moves in a line that is not part of the game.
const LONGEST_LINE: usize = 64;

/// A position that was set up, or the text of one. Without either it is the position shown.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    setup: Option<Setup>,
    text: Option<String>,
}

/// Answers a request about the game of a session: the type of the answer, and its text.
pub fn look(
    session: &Session,
    path: &str,
    query: &Query<'_>,
    body: &[u8],
) -> Result<(&'static str, String), Rejection> {
    const JSON: &str = "application/json";
    let texts = query.language.texts();
    Ok(match path {
        "/api/setup" => (JSON, setup(session, body, texts)?.to_string()),
        "/api/scene" => (JSON, scene(session, query, texts)?.to_string()),
        "/api/moves" => (JSON, moves(&wanted(session, query, texts)?).to_string()),
        "/api/picture" => ("image/svg+xml", picture(session, query, texts)?),
        "/api/record" => (JSON, record_line(session) + "\n"),
        _ => return Err(Rejection(404, "there is no such page here".to_owned())),
    })
}

/// The board after a line of moves: `?place=N&moves=A1-C2,A5-B3`.
fn scene(session: &Session, query: &Query<'_>, texts: &Texts) -> Result<Value, Rejection> {
    let board = wanted(session, query, texts)?;
    Ok(json!({
        "scene": board.scene(),
        "drawing": board.drawing(),
        "position": board.position_text(),
        "place": board.cursor(),
    }))
}

/// The legal moves, the position after each, and its exact result, if the tables have it.
fn moves(board: &Board) -> Value {
    let after = |text: &str| {
        let mut next = board.clone();
        next.play(text).expect("the move is legal");
        let known = by_winner(&next.known(next.cursor()), serde_json::value::Serializer);
        json!({ "text": text, "position": next.position_text(), "known": known.expect("a result is plain JSON") })
    };
    let scene = board.scene();
    let moves = scene.legal.iter().map(|legal| after(&legal.text));
    json!({ "position": board.position_text(), "to_move": scene.to_move, "moves": moves.collect::<Vec<_>>() })
}

/// Fails for a game without a board of cells.
fn need_cells(board: &Board) -> Result<(), Rejection> {
    match board.layout().is_none() {
        true => Err(impossible("this game has only its drawing")),
        false => Ok(()),
    }
}

/// The same board as SVG.
fn picture(session: &Session, query: &Query<'_>, texts: &Texts) -> Result<String, Rejection> {
    let board = wanted(session, query, texts)?;
    need_cells(&board)?;
    let game = texts.get(&format!("game_{}", board.game()));
    let title = format!("{game}: {}", board.position_text());
    Ok(board.picture(&title))
}

/// The board that the query of a request asks for.
fn wanted(session: &Session, query: &Query<'_>, texts: &Texts) -> Result<Board, Rejection> {
    let place = query.place.unwrap_or(session.board().cursor());
    let moves = query.moves.split(',').filter(|_| !query.moves.is_empty());
    let line: Vec<String> = moves.map(str::to_owned).collect();
    if line.len() > LONGEST_LINE {
        return Err(impossible(texts.fill("game_too_long", &[("n", &LONGEST_LINE)])));
    }
    session.board().branch(place, &line).map_err(|error| {
        let refusal = Refusal::Move(error);
        impossible(words::refusal(texts, &line.join(" "), &refusal))
    })
}

/// Checks a position that was set up: its text, why it is illegal, or what stands where.
fn setup(session: &Session, body: &[u8], texts: &Texts) -> Result<Value, Rejection> {
    let wanted: Wanted = read(body)?;
    let board = session.board();
    need_cells(board)?;
    let text = match wanted {
        Wanted { setup: Some(setup), .. } => board.setup_text(&setup),
        Wanted { text: Some(text), .. } => text.trim().to_owned(),
        Wanted { .. } => board.position_text(),
    };
    let mut checked = json!({ "text": text, "palette": board.palette(), "layout": board.layout() });
    match board.at_position(&text) {
        Ok(set) => {
            // The fields that the palette has follow the board and the player to move.
            let (position, count) = (set.position_text(), board.palette().fields.len());
            checked["fields"] = position.split(' ').skip(2).take(count).collect();
            checked["scene"] = json!(set.scene());
        }
        Err(problem) => checked["problem"] = json!(words::position_problem(texts, &problem)),
    }
    Ok(checked)
}
