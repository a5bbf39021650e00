//! The messages between page and server, as JSON. Every answer to a good message is the whole view of
//! the session; a bad one is answered by 4xx and what is wrong with it.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::{HeaderMap, Request, StatusCode, header};
use serde::Deserialize;
use serde_json::{Value, json};

use super::room::{Inside, NoRoom, Room, Rooms};
use crate::analysis;
use crate::lang::{Language, Texts};
use crate::levels::Level;
use crate::matches::Match;
use crate::session::{LeftGame, Session};
use crate::specs::{self, Refused};
use crate::thought::by_winner;
use crate::words;
use jarmo::catalog::GAMES;
use jarmo::game::{Player, shorten, shorten_quotes};
use jarmo::record::GameRecord;

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
    Play {
        text: String,
    },
    Undo {},
    Redo {},
    Go {
        place: usize,
    },
    Resume {},
    Hint {},
    Swap {},
    NewGame {},
    NewMatch {},
    NextGame {},
    Rematch {},
    Seat {
        player: Player,
        who: String,
    },
    Evaluate {
        on: bool,
    },
    Analyse {
        on: bool,
    },
    Load {
        record: String,
    },
    /// Goes on with a game that the page has kept.
    Restore {
        record: String,
        seats: [String; 2],
        place: usize,
        games: Option<Match>,
    },
}

/// What a page begins with; the rest is the server's choice.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct NewSession {
    game: Option<String>,
    white: Option<String>,
    black: Option<String>,
}

/// Which language the answer is for, and which version of the session the page has.
pub(super) struct Wish {
    pub(super) language: Language,
    since: Option<u64>,
}

impl Wish {
    /// Reads the query of a request; keys that mean nothing here are passed over.
    pub(super) fn read(rooms: &Rooms, request: &Request<Bytes>) -> Result<Wish, Rejection> {
        let mut wish = Wish {
            language: rooms.options.language,
            since: None,
        };
        let query = request.uri().query().unwrap_or_default();
        for pair in query.split('&') {
            match pair.split_once('=') {
                Some(("lang", code)) => {
                    wish.language = Language::parse(code).unwrap_or(wish.language);
                }
                Some(("since", version)) => {
                    let version = version.parse().map_err(|_| {
                        let message = format!("since={}: expected a number", shorten(version));
                        Rejection(StatusCode::BAD_REQUEST, message)
                    })?;
                    wish.since = Some(version);
                }
                _ => {}
            }
        }
        Ok(wish)
    }
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

/// Why a message is not taken.
pub(super) struct Rejection(StatusCode, String);

impl From<Rejection> for Response {
    fn from(Rejection(status, message): Rejection) -> Response {
        problem(status, message)
    }
}

/// A message that is well formed and cannot be done.
pub(super) fn impossible(message: impl Into<String>) -> Rejection {
    Rejection(StatusCode::UNPROCESSABLE_ENTITY, message.into())
}

/// The table of texts, and what there is to choose from.
pub(super) fn texts(rooms: &Rooms, request: &Request<Bytes>) -> Result<Response, Rejection> {
    let language = Wish::read(rooms, request)?.language;
    let languages = Language::ALL.map(
        |language| json!({ "code": language.code(), "name": language.texts().get("language") }),
    );
    let texts = json!({
        "language": language.code(),
        "languages": languages,
        "games": GAMES,
        "levels": Level::ALL.map(|level| level_of(rooms, level)),
        "usual": Level::USUAL,
        "texts": language.texts(),
    });
    Ok(json_answer(StatusCode::OK, &texts))
}

/// A level and its rating in each game where it was measured.
fn level_of(rooms: &Rooms, level: Level) -> Value {
    let store = &rooms.options.store;
    let measured = GAMES.into_iter().filter(|game| store.is_usual(game));
    let ratings: BTreeMap<&str, u16> = measured
        .filter_map(|game| Some((game, level.rating(game)?)))
        .collect();
    json!({ "name": level, "ratings": ratings })
}

/// Opens a session.
pub(super) fn create(
    rooms: &Rooms,
    client: IpAddr,
    request: &Request<Bytes>,
) -> Result<Response, Rejection> {
    let texts = Wish::read(rooms, request)?.language.texts();
    let opening: NewSession = read(request)?;
    let opened = rooms.open(client, || begin(&rooms.options, &opening, texts));
    let (id, room) = opened.map_err(|refusal| match refusal {
        NoRoom::Problem(problem) => impossible(problem),
        NoRoom::Full => Rejection(
            StatusCode::SERVICE_UNAVAILABLE,
            texts.get("server_full").to_owned(),
        ),
        NoRoom::TooMany => {
            let most = rooms.options.bounds.sessions_from_one.to_string();
            let message = texts.fill("too_many_games", &[("n", &most)]);
            Rejection(StatusCode::TOO_MANY_REQUESTS, message)
        }
    })?;
    rooms.schedule(&room);
    let mut view = view(&room);
    view["id"] = json!(id);
    Ok(json_answer(StatusCode::CREATED, &view))
}

fn begin(
    options: &super::ServerOptions,
    opening: &NewSession,
    texts: &Texts,
) -> Result<Session, String> {
    let game = opening.game.as_ref().unwrap_or(&options.game);
    let [white, black] = &options.seats;
    let seats = [
        opening.white.as_ref().unwrap_or(white).as_str(),
        opening.black.as_ref().unwrap_or(black).as_str(),
    ];
    for seat in seats {
        check_seat(seat, &options.seats, texts)?;
    }
    let settings = options.settings.for_another(&options.game, game);
    let store = options.store.clone();
    let mut session = Session::with_store(store, game, settings, None, seats, fresh_seed())?;
    if let (Some(line), None) = (&options.record, &opening.game) {
        load(&mut session, line, texts)?;
        session.set_analysing(options.analyse);
    }
    Ok(session)
}

/// Shows a session, once it is newer than what the page has.
pub(super) async fn watch(rooms: &Rooms, request: &Request<Bytes>) -> Result<Response, Rejection> {
    let wish = Wish::read(rooms, request)?;
    let room = find(rooms, request.headers())?;
    let _listener = room.listen();
    rooms.schedule(&room); // nothing was thought about while it was not listened to
    if let Some(seen) = wish.since {
        room.wait_past(seen, PATIENCE).await;
    }
    Ok(json_answer(StatusCode::OK, &view(&room)))
}

/// Changes a session.
pub(super) fn command(rooms: &Rooms, request: &Request<Bytes>) -> Result<Response, Rejection> {
    let language = Wish::read(rooms, request)?.language;
    let room = find(rooms, request.headers())?;
    let command = read(request)?;
    obey(&mut room.lock(), command, language, &rooms.options.seats).map_err(impossible)?;
    room.changed();
    rooms.schedule(&room);
    Ok(json_answer(StatusCode::OK, &view(&room)))
}

/// The record of a session's game, with the analysis if there is one.
pub(super) fn record(rooms: &Rooms, request: &Request<Bytes>) -> Result<Response, Rejection> {
    let room = find(rooms, request.headers())?;
    let line = analysis::record_line(&room.lock().session);
    Ok(answer(StatusCode::OK, "application/json", line + "\n"))
}

/// An error if a browser may not have this player: agents that read files are for those who started
/// the server.
fn check_seat(who: &str, ours: &[String; 2], texts: &Texts) -> Result<(), String> {
    let named =
        who == "human" || Level::parse(who).is_some() || ours.iter().any(|seat| seat == who);
    if named || specs::is_harmless(who) {
        Ok(())
    } else {
        Err(texts.fill("agent_not_offered", &[("agent", &shorten(who))]))
    }
}

/// Reads a record.
fn parse(line: &str, texts: &Texts) -> Result<GameRecord, String> {
    let record = GameRecord::parse(line.trim());
    let record = record.map_err(|_| texts.get("record_unreadable").to_owned())?;
    if record.moves.len() > MOST_MOVES {
        return Err(too_long(texts));
    }
    Ok(record)
}

/// Loads the game of a record.
fn load(session: &mut Session, line: &str, texts: &Texts) -> Result<(), String> {
    let record = parse(line, texts)?;
    let loaded = session.load(&record);
    loaded.map_err(|problem| words::record_problem(texts, &problem))
}

fn too_long(texts: &Texts) -> String {
    texts.fill("game_too_long", &[("n", &MOST_MOVES.to_string())])
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
                return Err(too_long(texts));
            }
            session
                .play(&text)
                .map_err(|refusal| words::refusal(texts, &text, &refusal))?;
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
        Command::Rematch {} => session.rematch(),
        Command::Seat { player, who } => {
            check_seat(&who, ours, texts)?;
            session.set_seat(player, &who)?;
        }
        Command::Evaluate { on } => session.set_evaluating(on),
        Command::Analyse { on } => session.set_analysing(on),
        Command::Load { record } => load(session, &record, texts)?,
        Command::Restore {
            record,
            seats,
            place,
            games,
        } => {
            // A person sits down for an agent that this server does not offer any more.
            let offered = |seat: String| match check_seat(&seat, ours, texts) {
                Ok(()) => seat,
                Err(_) => "human".to_owned(),
            };
            let left = LeftGame {
                record: parse(&record, texts)?,
                seats: seats.map(offered),
                place,
                games,
            };
            session
                .resume_left(&left)
                .map_err(|problem| words::record_problem(texts, &problem))?;
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
        "number": session.number(),
        "record": session.record().to_line(),
        "game": table.game(),
        "layout": table.layout(),
        "scene": table.scene(),
        "position": table.position_text(),
        "moves": table.moves(),
        "cursor": table.cursor(),
        "seats": session.seats().each_ref().map(ToString::to_string),
        "human": session.human_to_move() || session.analysing(),
        "thinking": session.agent_to_move(),
        "evaluating": session.evaluating(),
        "analysing": session.analysing(),
        "unstudied": session.analysing().then(|| session.unstudied()),
        "assessments": session.analysing().then(|| session.assessments()),
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

pub(super) fn read<T: for<'a> Deserialize<'a>>(request: &Request<Bytes>) -> Result<T, Rejection> {
    let kind = request.headers().get(header::CONTENT_TYPE);
    if kind.is_none_or(|kind| !kind.as_bytes().starts_with(b"application/json")) {
        let message = "messages are application/json".to_owned();
        return Err(Rejection(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
    }
    serde_json::from_slice(request.body()).map_err(|error| {
        let error = shorten_quotes(&error.to_string());
        let message = format!("not a message of this server: {error}");
        Rejection(StatusCode::BAD_REQUEST, message)
    })
}

/// A seed for the agents of a session.
fn fresh_seed() -> u64 {
    getrandom::u64().expect("the operating system has random numbers")
}
