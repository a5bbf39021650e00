//! What a page may see of a game without changing it: other positions, pictures, and positions set up by hand.

use hyper::body::Bytes;
use hyper::{Request, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};

use super::api::{Rejection, Response, Wish, answer, find, impossible, json_answer, read};
use super::room::Rooms;
use crate::board::Board;
use crate::session::{Refusal, Session};
use crate::words;
use jarmo_core::game::shorten;
use jarmo_core::view::Setup;

/// Moves that a line beside the game may have.
const LONGEST_LINE: usize = 64;

/// A position that was set up, or the text of one. Without either it is the position shown.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    setup: Option<Setup>,
    text: Option<String>,
}

/// The board after a line of moves: `?place=N&moves=A1-C2,A5-B3`.
pub(super) fn scene(rooms: &Rooms, request: &Request<Bytes>) -> Result<Response, Rejection> {
    let (room, _) = find(rooms, request.headers())?;
    let board = wanted(rooms, request, &room.lock().session)?;
    let seen = json!({
        "scene": board.scene(),
        "drawing": drawing(board.as_ref()),
        "position": board.position_text(),
        "place": board.cursor(),
    });
    Ok(json_answer(StatusCode::OK, &seen))
}

/// The board as the game draws it in text, if it has no other.
pub(super) fn drawing(board: &dyn Board) -> Option<String> {
    board.layout().is_none().then(|| board.drawing())
}

/// Refuses what needs a board with cells.
fn need_cells(board: &dyn Board) -> Result<(), Rejection> {
    match board.layout().is_none() {
        true => Err(impossible("this game has only its drawing")),
        false => Ok(()),
    }
}

/// The same board as SVG.
pub(super) fn picture(rooms: &Rooms, request: &Request<Bytes>) -> Result<Response, Rejection> {
    let texts = Wish::read(rooms, request)?.language.texts();
    let (room, _) = find(rooms, request.headers())?;
    let board = wanted(rooms, request, &room.lock().session)?;
    need_cells(board.as_ref())?;
    let game = texts.get(&format!("game_{}", board.game()));
    let title = format!("{game}: {}", board.position_text());
    let picture = board.picture(&title);
    Ok(answer(StatusCode::OK, "image/svg+xml", picture))
}

/// The board that the query of a request asks for.
fn wanted(
    rooms: &Rooms,
    request: &Request<Bytes>,
    session: &Session,
) -> Result<Box<dyn Board>, Rejection> {
    let texts = Wish::read(rooms, request)?.language.texts();
    let (mut place, mut line) = (session.board().cursor(), Vec::new());
    for pair in request.uri().query().unwrap_or_default().split('&') {
        match pair.split_once('=') {
            Some(("place", number)) => {
                place = number.parse().map_err(|_| {
                    let message = format!("place={}: expected a number", shorten(number));
                    Rejection(StatusCode::BAD_REQUEST, message)
                })?;
            }
            Some(("moves", moves)) if !moves.is_empty() => {
                line = moves.split(',').map(str::to_owned).collect();
            }
            _ => {}
        }
    }
    if line.len() > LONGEST_LINE {
        let most = LONGEST_LINE.to_string();
        return Err(impossible(texts.fill("game_too_long", &[("n", &most)])));
    }
    session.board().branch(place, &line).map_err(|error| {
        let refusal = Refusal::Move(error);
        impossible(words::refusal(texts, &line.join(" "), &refusal))
    })
}

/// Checks a position that was set up: its text, why it is illegal, or what stands where.
pub(super) fn setup(rooms: &Rooms, request: &Request<Bytes>) -> Result<Response, Rejection> {
    let texts = Wish::read(rooms, request)?.language.texts();
    let (room, _) = find(rooms, request.headers())?;
    let wanted: Wanted = read(request)?;
    let inside = room.lock();
    let board = inside.session.board();
    need_cells(board)?;
    let text = match wanted {
        Wanted {
            setup: Some(setup), ..
        } => board.setup_text(&setup),
        Wanted {
            text: Some(text), ..
        } => text.trim().to_owned(),
        Wanted { .. } => board.position_text(),
    };
    let mut checked = json!({ "text": text, "palette": board.palette(), "layout": board.layout() });
    match board.at_position(&text) {
        Ok(set) => {
            let scene = set.scene();
            checked["fields"] = fields(&set.position_text(), board.palette().fields.len());
            checked["scene"] = json!(scene);
        }
        Err(problem) => checked["problem"] = json!(words::position_problem(texts, &problem)),
    }
    Ok(json_answer(StatusCode::OK, &checked))
}

/// The fields of a position text that a palette has: those after the board and the player to move.
fn fields(text: &str, count: usize) -> Value {
    let fields: Vec<&str> = text.split(' ').skip(2).take(count).collect();
    json!(fields)
}
