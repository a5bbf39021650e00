//! The messages of a page by HTTP: finds the session that is asked for, and passes the message on to `jarmo_session::page`.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::{HeaderMap, Method, Request, StatusCode, header};
use serde::Deserialize;
use serde_json::{Value, json};

use super::assets::Asset;
use super::duel::{Duel, Role};
use super::room::{Inside, Room, Rooms};
use crate::lang::Texts;
use crate::session::Session;
use jarmo_core::record::GameRecord;
use jarmo_session::page::{self, Rejection, Wish, impossible};

/// How long a request waits for news.
const PATIENCE: Duration = Duration::from_secs(20);

/// The header that names the session. A page of another site cannot send it.
const SESSION: &str = "x-session";

/// The query of a request.
pub(super) fn query(request: &Request<Bytes>) -> &str {
    request.uri().query().unwrap_or_default()
}

pub(super) fn wish(rooms: &Rooms, request: &Request<Bytes>) -> Result<Wish, Rejection> {
    Wish::read(query(request), rooms.options.defaults.language)
}

/// An answer.
pub(super) type Response = hyper::Response<Full<Bytes>>;

/// An answer with a text of this type.
pub(super) fn answer(status: StatusCode, kind: &'static str, text: impl Into<Bytes>) -> Response {
    hyper::Response::builder()
        .status(status)
        .header(header::CONTENT_TYPE, kind)
        .body(Full::new(text.into()))
        .expect("a status and one header")
}

pub(super) fn json_answer(status: StatusCode, value: &Value) -> Response {
    answer(status, "application/json", value.to_string())
}

/// An answer that says what is wrong.
pub(super) fn problem(status: StatusCode, message: impl Into<String>) -> Response {
    json_answer(status, &json!({ "error": message.into() }))
}

pub(super) fn rejection(status: StatusCode, message: impl Into<String>) -> Rejection {
    Rejection(status.as_u16(), message.into())
}

/// The answer to a message that is not taken.
pub(super) fn refusal(Rejection(status, message): Rejection) -> Response {
    let status = StatusCode::from_u16(status).expect("a rejection has a status of HTTP");
    problem(status, message)
}

/// The table of texts, and what there is to choose from.
pub(super) fn texts(rooms: &Rooms, request: &Request<Bytes>) -> Result<Response, Rejection> {
    let language = wish(rooms, request)?.language;
    let texts = rooms.texts[language as usize].get_or_init(|| {
        let texts = page::texts(&rooms.options.defaults.store, language);
        Asset::new("application/json", texts.to_string())
    });
    Ok(texts.answer(request.headers(), "no-cache"))
}

/// Shows a session, once it is newer than what the page has.
pub(super) async fn watch(rooms: &Rooms, request: &Request<Bytes>) -> Result<Response, Rejection> {
    let since = wish(rooms, request)?.since;
    let (room, role) = find(rooms, request.headers())?;
    let _listener = room.listen(role);
    rooms.schedule(&room); // nothing was thought about while it was not listened to
    if let Some(seen) = since {
        room.wait_past(seen, PATIENCE).await;
    }
    Ok(json_answer(StatusCode::OK, &view(&room, role)))
}

/// Changes a session.
pub(super) async fn command(rooms: &Rooms, request: &Request<Bytes>) -> Result<Response, Rejection> {
    let language = wish(rooms, request)?.language;
    let (room, role) = find(rooms, request.headers())?;
    let command = read(request)?;
    let obeyed = {
        let mut inside = room.lock();
        let Inside { session, duel, trouble, .. } = &mut *inside;
        match (role, duel) {
            (Role::Owner, _) => {
                *trouble = None;
                page::obey(session, command, language, &rooms.options.defaults.seats)
            }
            (Role::Seat(person), Some(duel)) => duel.act(session, person, command, language.texts()),
            (Role::Seat(_), None) => unreachable!("only a game of two has seats"),
            (Role::Watcher, _) => Err(language.texts().get("watching_only").to_owned()),
        }
    };
    obeyed.map_err(impossible)?;
    rooms.save(&room).await;
    room.changed();
    rooms.schedule(&room);
    Ok(json_answer(StatusCode::OK, &view(&room, role)))
}

/// Answers a question about the game of a session.
pub(super) fn look(rooms: &Rooms, request: &Request<Bytes>) -> Result<Response, Rejection> {
    let texts = wish(rooms, request)?.language.texts();
    let (room, _) = find(rooms, request.headers())?;
    let body = if *request.method() == Method::POST { body(request)? } else { &[] };
    let looked = page::look(&room.lock().session, request.uri().path(), query(request), body, texts);
    let (kind, text) = looked?;
    Ok(answer(StatusCode::OK, kind, text))
}

/// Answers a message of a lesson or a puzzle.
pub(super) fn task(
    rooms: &Rooms,
    request: &Request<Bytes>,
    what: impl FnOnce(&[u8], &Texts) -> Result<Value, Rejection>,
) -> Result<Response, Rejection> {
    let texts = wish(rooms, request)?.language.texts();
    Ok(json_answer(StatusCode::OK, &what(body(request)?, texts)?))
}

/// Everything the page shows to the bearer of a key.
pub(super) fn view(room: &Room, role: Role) -> Value {
    let version = room.version();
    let inside = room.lock();
    let mut view = page::view(&inside.session, inside.trouble.as_deref());
    view["version"] = json!(version);
    if let Some(duel) = &inside.duel {
        show_duel(&mut view, duel, role, &inside.session);
    }
    view
}

/// Adds the two people, and takes away what would help one of them.
fn show_duel(view: &mut Value, duel: &Duel, role: Role, session: &Session) {
    view["duel"] = duel.view(role, session);
    view["seats"] = json!(duel.seats(role));
    view["human"] = json!(duel.is_turn(role, session));
    view["known"] = Value::Null;
    for value in view["values"].as_array_mut().into_iter().flatten() {
        *value = Value::Null;
    }
    if let Some(outcome) = duel.outcome() {
        let record = GameRecord { outcome: Some(outcome), ..session.record() };
        view["record"] = json!(record.to_line());
        view["scene"]["outcome"] = json!(outcome);
        view["scene"]["legal"] = json!([]);
    }
}

/// The key that a request comes with.
pub(super) fn key_of(headers: &HeaderMap) -> Result<&str, Rejection> {
    let key = headers.get(SESSION).and_then(|value| value.to_str().ok());
    key.ok_or_else(|| {
        let message = "the header X-Session is missing; POST /api/sessions gives an id for it";
        rejection(StatusCode::BAD_REQUEST, message.to_owned())
    })
}

pub(super) fn no_session() -> Rejection {
    let message = "no such session is open here";
    rejection(StatusCode::NOT_FOUND, message.to_owned())
}

pub(super) fn find(rooms: &Rooms, headers: &HeaderMap) -> Result<(Arc<Room>, Role), Rejection> {
    rooms.find(key_of(headers)?).ok_or_else(no_session)
}

pub(super) fn read<T: for<'a> Deserialize<'a>>(request: &Request<Bytes>) -> Result<T, Rejection> {
    page::read(body(request)?)
}

/// The message of a request.
pub(super) fn body(request: &Request<Bytes>) -> Result<&[u8], Rejection> {
    let kind = request.headers().get(header::CONTENT_TYPE);
    if kind.is_none_or(|kind| !kind.as_bytes().starts_with(b"application/json")) {
        let message = "messages are application/json";
        return Err(rejection(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
    }
    Ok(request.body())
}
