//! The messages between page and server, as JSON. Every answer to a good message is the whole view of
//! the session; a bad one is answered by 4xx and what is wrong with it.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::room::{Inside, Room, Rooms};
use crate::catalog::GAMES;
use crate::game::Player;
use crate::play::agents::Level;
use crate::play::analysis;
use crate::play::lang::Language;
use crate::play::session::Session;
use crate::play::specs::{self, Refused};
use crate::play::thought::by_winner;
use crate::play::words;
use crate::record::GameRecord;

/// How long a request waits for news.
const PATIENCE: Duration = Duration::from_secs(20);

/// Moves a game may have; only a game without a limit of its own could have more.
const MOST_MOVES: usize = 2000;

/// The header that names the session. A page of another site cannot send it.
const SESSION: &str = "x-session";

/// What a page may ask a session to do. Those without anything to say are written with braces too:
/// only so are unknown fields refused.
#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
enum Command {
    Play { text: String },
    Undo {},
    Redo {},
    Go { place: usize },
    Resume {},
    Hint {},
    Swap {},
    NewGame {},
    NewMatch {},
    NextGame {},
    Seat { player: Player, who: String },
    Judge { on: bool },
    Analyse { on: bool },
    Load { record: String },
}

/// What a page begins with; the rest is the server's choice.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Opening {
    game: Option<String>,
    white: Option<String>,
    black: Option<String>,
}

/// Which language the answer is for, and which version of the session the page has.
#[derive(Deserialize)]
pub(super) struct Wish {
    lang: Option<String>,
    since: Option<u64>,
}

impl Wish {
    fn language(&self, rooms: &Rooms) -> Language {
        let asked = self.lang.as_deref().and_then(Language::parse);
        asked.unwrap_or(rooms.options.language)
    }
}

/// An answer that says what is wrong.
pub(super) fn problem(status: StatusCode, message: impl Into<String>) -> Response {
    Rejection(status, message.into()).into_response()
}

/// Why a message is not taken.
struct Rejection(StatusCode, String);

impl IntoResponse for Rejection {
    fn into_response(self) -> Response {
        (self.0, Answer(json!({ "error": self.1 }))).into_response()
    }
}

/// The table of texts, and what there is to choose from.
pub(super) async fn texts(State(rooms): State<Arc<Rooms>>, Query(wish): Query<Wish>) -> Response {
    let language = wish.language(&rooms);
    let languages = Language::ALL.map(
        |language| json!({ "code": language.code(), "name": language.texts().get("language") }),
    );
    Answer(json!({
        "language": language.code(),
        "languages": languages,
        "games": GAMES,
        "levels": Level::ALL,
        "texts": language.texts(),
    }))
    .into_response()
}

/// Opens a session.
pub(super) async fn create(
    State(rooms): State<Arc<Rooms>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let opening: Opening = match read(&headers, &body) {
        Ok(opening) => opening,
        Err(refusal) => return refusal.into_response(),
    };
    let options = &rooms.options;
    let session = begin(options, &opening);
    let session = match session {
        Ok(session) => session,
        Err(message) => return problem(StatusCode::UNPROCESSABLE_ENTITY, message),
    };
    let Some((id, room)) = rooms.open(session) else {
        let message = "too many games are open on this server; try again later";
        return problem(StatusCode::SERVICE_UNAVAILABLE, message);
    };
    rooms.schedule(&room);
    let mut answer = view(&room);
    answer["id"] = json!(id);
    (StatusCode::CREATED, Answer(answer)).into_response()
}

fn begin(options: &super::ServerOptions, opening: &Opening) -> Result<Session, String> {
    let game = opening.game.as_ref().unwrap_or(&options.game);
    let [white, black] = &options.seats;
    let seats = [
        opening.white.as_ref().unwrap_or(white).as_str(),
        opening.black.as_ref().unwrap_or(black).as_str(),
    ];
    for seat in seats {
        check_seat(seat, &options.seats)?;
    }
    let settings = options.settings.for_another(&options.game, game);
    let store = options.store.clone();
    let mut session = Session::with_store(store, game, settings, None, seats, fresh_seed())?;
    if let (Some(line), None) = (&options.record, &opening.game) {
        let record = GameRecord::parse(line).map_err(|error| error.to_string())?;
        session.load(&record)?;
        session.set_analysing(options.analyse);
    }
    Ok(session)
}

/// Shows a session, once it is newer than what the page has.
pub(super) async fn watch(
    State(rooms): State<Arc<Rooms>>,
    headers: HeaderMap,
    Query(wish): Query<Wish>,
) -> Response {
    let room = match find(&rooms, &headers) {
        Ok(room) => room,
        Err(refusal) => return refusal.into_response(),
    };
    if let Some(seen) = wish.since {
        room.wait_past(seen, PATIENCE).await;
    }
    Answer(view(&room)).into_response()
}

/// Changes a session.
pub(super) async fn command(
    State(rooms): State<Arc<Rooms>>,
    headers: HeaderMap,
    Query(wish): Query<Wish>,
    body: Bytes,
) -> Response {
    let room = match find(&rooms, &headers) {
        Ok(room) => room,
        Err(refusal) => return refusal.into_response(),
    };
    let command = match read(&headers, &body) {
        Ok(command) => command,
        Err(refusal) => return refusal.into_response(),
    };
    let result = obey(
        &mut room.lock(),
        command,
        wish.language(&rooms),
        &rooms.options.seats,
    );
    if let Err(message) = result {
        return problem(StatusCode::UNPROCESSABLE_ENTITY, message);
    }
    room.changed();
    rooms.schedule(&room);
    Answer(view(&room)).into_response()
}

/// The record of a session's game, with the analysis if there is one.
pub(super) async fn record(State(rooms): State<Arc<Rooms>>, headers: HeaderMap) -> Response {
    let room = match find(&rooms, &headers) {
        Ok(room) => room,
        Err(refusal) => return refusal.into_response(),
    };
    let inside = room.lock();
    let line = analysis::record_line(&inside.session);
    ([(header::CONTENT_TYPE, "application/json")], line + "\n").into_response()
}

/// An error if a browser may not have this player: agents that read files are for those who started
/// the server.
fn check_seat(who: &str, ours: &[String; 2]) -> Result<(), String> {
    let named =
        who == "human" || Level::parse(who).is_some() || ours.iter().any(|seat| seat == who);
    if named || specs::is_harmless(who) {
        Ok(())
    } else {
        let shown: String = who.chars().take(40).collect();
        Err(format!(
            "`{shown}` is no agent that this server offers; there are random, greedy, uniform:N, rollout:N, alphabeta:N"
        ))
    }
}

fn obey(
    inside: &mut Inside,
    command: Command,
    language: Language,
    ours: &[String; 2],
) -> Result<(), String> {
    inside.trouble = None;
    let session = &mut inside.session;
    let texts = language.texts();
    match command {
        Command::Play { text } => {
            if session.table().cursor() >= MOST_MOVES {
                return Err(format!("a game here has at most {MOST_MOVES} moves"));
            }
            // A long text is no move; the answer must not repeat it at length.
            let shown: String = text.chars().take(20).collect();
            session
                .play(&text)
                .map_err(|refusal| words::refusal(texts, &shown, &refusal))?;
        }
        Command::Undo {} => session.undo(),
        Command::Redo {} => session.redo(),
        Command::Go { place } => session.go_to(place),
        Command::Resume {} => session.resume(),
        Command::Hint {} => session.ask_hint(),
        Command::Swap {} => session.swap(),
        Command::NewGame {} => session.new_game(),
        Command::NewMatch {} => session.new_match(),
        Command::NextGame {} => session
            .next_game()
            .map_err(|refusal| words::refusal(texts, "", &refusal))?,
        Command::Seat { player, who } => {
            check_seat(&who, ours)?;
            session.set_seat(player, &who)?;
        }
        Command::Judge { on } => session.set_judging(on),
        Command::Analyse { on } => session.set_analysing(on),
        Command::Load { record } => {
            let record = GameRecord::parse(record.trim()).map_err(|error| error.to_string())?;
            if record.moves.len() > MOST_MOVES {
                return Err(format!("a game here has at most {MOST_MOVES} moves"));
            }
            session.load(&record)?;
        }
    }
    Ok(())
}

/// Everything the page shows.
fn view(room: &Room) -> Value {
    let version = room.version();
    let inside = room.lock();
    let session = &inside.session;
    let table = session.table();
    let places = 0..=table.moves().len();
    let known = by_winner(
        &session.known(table.cursor()),
        serde_json::value::Serializer,
    );
    let known = known.expect("a result is plain JSON");
    json!({
        "version": version,
        "game": table.game(),
        "layout": table.layout(),
        "scene": table.scene(),
        "position": table.position_text(),
        "moves": table.moves(),
        "cursor": table.cursor(),
        "seats": session.seats().each_ref().map(ToString::to_string),
        "human": session.human_to_move() || session.analysing(),
        "thinking": session.agent_to_move(),
        "judging": session.judging(),
        "analysing": session.analysing(),
        "unstudied": session.analysing().then(|| session.unstudied()),
        "judgements": session.analysing().then(|| session.judgements()),
        "values": places.map(|place| session.value(place)).collect::<Vec<_>>(),
        "thought": session.thought(table.cursor()),
        "hint": session.hint(),
        "match": session.games(),
        "trouble": inside.trouble,
        "known": known,
        "trained": table.crew().is_trained(),
        "refused": table.crew().refused().map(Refused::without_folder),
    })
}

fn find(rooms: &Rooms, headers: &HeaderMap) -> Result<Arc<Room>, Rejection> {
    let id = headers.get(SESSION).and_then(|value| value.to_str().ok());
    let Some(id) = id else {
        let message = "the header X-Session is missing; POST /api/sessions gives an id for it";
        return Err(Rejection(StatusCode::BAD_REQUEST, message.to_owned()));
    };
    rooms.find(id).ok_or_else(|| {
        let message = "no such session is open here";
        Rejection(StatusCode::NOT_FOUND, message.to_owned())
    })
}

fn read<T: for<'a> Deserialize<'a>>(headers: &HeaderMap, body: &[u8]) -> Result<T, Rejection> {
    let kind = headers.get(header::CONTENT_TYPE);
    if kind.is_none_or(|kind| !kind.as_bytes().starts_with(b"application/json")) {
        let message = "messages are application/json";
        return Err(Rejection(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            message.to_owned(),
        ));
    }
    serde_json::from_slice(body).map_err(|error| {
        let message = format!("not a message of this server: {error}");
        Rejection(StatusCode::BAD_REQUEST, message)
    })
}

/// A seed for the agents of a session.
fn fresh_seed() -> u64 {
    getrandom::u64().expect("the operating system has random numbers")
}

/// JSON, without the part of the framework that also reads it.
struct Answer<T>(T);

impl<T: Serialize> IntoResponse for Answer<T> {
    fn into_response(self) -> Response {
        let text = serde_json::to_string(&self.0).expect("views have only text keys");
        ([(header::CONTENT_TYPE, "application/json")], text).into_response()
    }
}
