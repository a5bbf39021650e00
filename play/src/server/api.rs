//! The messages between page and server, as JSON. Every answer to a good message is the whole view of
//! the session; a bad one is answered by 4xx and what is wrong with it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::{HeaderMap, Request, StatusCode, header};
use serde::Deserialize;
use serde_json::{Value, json};

use super::assets::Asset;
use super::duel::{Duel, DuelCommand, Offer, Role};
use super::looks;
use super::room::{Inside, Room, Rooms};
use crate::agents::Seat;
use crate::analysis;
use crate::board::RecordProblem;
use crate::games::Usual;
use crate::lang::{Language, Texts};
use crate::levels::Level;
use crate::matches::Match;
use crate::puzzles;
use crate::session::{LeftGame, Session};
use crate::specs::{self, Refused, Store};
use crate::thought::by_winner;
use crate::words;
use jarmo_core::game::{Player, shorten, shorten_quotes};
use jarmo_host::record::GameRecord;

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
    /// Looks further at the place shown.
    Deepen {
        on: bool,
    },
    Load {
        record: String,
    },
    /// Tries a move in place of one that was played.
    Try {
        place: usize,
        text: String,
    },
    /// Offers the other person something, or accepts the same offer.
    Offer {
        what: Offer,
    },
    Decline {},
    Resign {},
    /// Goes on with a game that the page has kept.
    Restore {
        record: String,
        seats: [String; 2],
        place: usize,
        #[serde(rename = "match")]
        current_match: Option<Match>,
    },
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
pub(super) struct Rejection(pub(super) StatusCode, pub(super) String);

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
    let texts = rooms.texts[language as usize].get_or_init(|| {
        let texts = describe(&rooms.options.store, language);
        Asset::new("application/json", texts.to_string())
    });
    Ok(texts.answer(request.headers(), "no-cache"))
}

fn describe(store: &Store, language: Language) -> Value {
    let games = store.games.names();
    let usual = |what: fn(Usual) -> Value| -> BTreeMap<&str, Value> {
        let usual = games
            .iter()
            .filter_map(|game| Some((*game, what(store.games.usual(game)?))));
        usual.collect()
    };
    let puzzled = games.iter().filter(|game| !puzzles::of(game).is_empty());
    let languages = Language::ALL.map(
        |language| json!({ "code": language.code(), "name": language.texts().get("language") }),
    );
    json!({
        "language": language.code(),
        "languages": languages,
        "games": games,
        "levels": Level::ALL.map(|level| level_of(store, level)),
        "usual": Level::USUAL,
        "plies": usual(|usual| json!(usual.plies)),
        "starts": usual(|usual| json!(usual.start)),
        "puzzles": puzzled.collect::<Vec<_>>(),
        "texts": language.texts(),
    })
}

/// A level and its rating in each game where it was measured.
fn level_of(store: &Store, level: Level) -> Value {
    let games = store.games.names().into_iter();
    let measured = games.filter(|game| store.is_usual(game));
    let ratings: BTreeMap<&str, u16> = measured
        .filter_map(|game| Some((game, level.rating(game)?)))
        .collect();
    json!({ "name": level, "ratings": ratings })
}

/// Shows a session, once it is newer than what the page has.
pub(super) async fn watch(rooms: &Rooms, request: &Request<Bytes>) -> Result<Response, Rejection> {
    let wish = Wish::read(rooms, request)?;
    let (room, role) = find(rooms, request.headers())?;
    let _listener = room.listen(role);
    rooms.schedule(&room); // nothing was thought about while it was not listened to
    if let Some(seen) = wish.since {
        room.wait_past(seen, PATIENCE).await;
    }
    Ok(json_answer(StatusCode::OK, &view(&room, role)))
}

/// Changes a session.
pub(super) async fn command(
    rooms: &Rooms,
    request: &Request<Bytes>,
) -> Result<Response, Rejection> {
    let language = Wish::read(rooms, request)?.language;
    let (room, role) = find(rooms, request.headers())?;
    let command = read(request)?;
    let obeyed = {
        let mut inside = room.lock();
        match role {
            Role::Owner => obey(&mut inside, command, language, &rooms.options.seats),
            Role::Seat(person) => act(&mut inside, person, command, language.texts()),
            Role::Watcher => Err(language.texts().get("watching_only").to_owned()),
        }
    };
    obeyed.map_err(impossible)?;
    rooms.save(&room).await;
    room.changed();
    rooms.schedule(&room);
    Ok(json_answer(StatusCode::OK, &view(&room, role)))
}

/// The record of a session's game, with the analysis if there is one.
pub(super) fn record(rooms: &Rooms, request: &Request<Bytes>) -> Result<Response, Rejection> {
    let (room, _) = find(rooms, request.headers())?;
    let line = analysis::record_line(&room.lock().session);
    Ok(answer(StatusCode::OK, "application/json", line + "\n"))
}

/// The player that a browser asks for. Those that read files are for the person who started the server; a browser
/// knows them by names without folders.
pub(super) fn offered<'a>(
    who: &'a str,
    ours: &'a [String; 2],
    texts: &Texts,
) -> Result<&'a str, String> {
    let own = || {
        let mut own = ours.iter();
        own.find(|seat| *seat == who || specs::without_folders(seat) == who)
    };
    if who == "human" || Level::parse(who).is_some() || specs::is_harmless(who) {
        return Ok(who);
    }
    let own = own().map(String::as_str);
    own.ok_or_else(|| texts.fill("agent_not_offered", &[("agent", &shorten(who))]))
}

/// Reads a record, or the moves of a game alone.
pub(super) fn parse_record(text: &str, game: &str, texts: &Texts) -> Result<GameRecord, String> {
    let record = GameRecord::parse(text.trim()).or_else(|_| match moves_of(text) {
        Some(moves) if !game.is_empty() => Ok(GameRecord {
            game: game.to_owned(),
            moves,
            ..GameRecord::default()
        }),
        _ => Err(texts.get("record_unreadable").to_owned()),
    })?;
    if record.moves.len() > MOST_MOVES {
        return Err(too_long(texts));
    }
    Ok(record)
}

/// The moves of a text with or without their numbers: `1. A1-C2 A5-B3 2. …`; `None` for a text of another kind.
fn moves_of(text: &str) -> Option<Vec<String>> {
    let words = text.split(|one: char| one.is_whitespace() || ",;".contains(one));
    let is_number = |word: &str| {
        word.trim_end_matches('.')
            .bytes()
            .all(|one| one.is_ascii_digit())
    };
    let moves: Vec<String> = words
        .map(|word| word.trim_start_matches(|one: char| one.is_ascii_digit() || one == '.'))
        .filter(|word| !is_number(word))
        .map(str::to_owned)
        .collect();
    let short = |text: &String| {
        let mut signs = text.chars();
        text.len() <= 8 && signs.all(|one| one.is_ascii_alphanumeric() || "@-x".contains(one))
    };
    (!moves.is_empty() && moves.iter().all(short)).then_some(moves)
}

/// Loads the game of a record.
fn load(
    session: &mut Session,
    text: &str,
    ours: &[String; 2],
    texts: &Texts,
) -> Result<(), String> {
    let mut record = parse_record(text, session.board().game(), texts)?;
    for name in [&mut record.white, &mut record.black] {
        let who = name.as_deref().map(|who| offered(who, ours, texts));
        *name = who.map(|who| who.unwrap_or("human").to_owned());
    }
    session.load(&record).map_err(|problem| match &problem {
        // Perhaps it was not meant to be moves.
        RecordProblem::Move { error, .. } if error.is_unreadable() && !text.contains('{') => {
            texts.get("record_unreadable").to_owned()
        }
        _ => words::record_problem(texts, &problem),
    })
}

fn too_long(texts: &Texts) -> String {
    texts.fill("game_too_long", &[("n", &MOST_MOVES.to_string())])
}

/// Does what a person in a game of two asks for.
fn act(inside: &mut Inside, person: usize, command: Command, texts: &Texts) -> Result<(), String> {
    let Inside {
        session,
        duel: Some(duel),
        ..
    } = inside
    else {
        unreachable!("only a game of two has seats");
    };
    let command = match command {
        Command::Play { .. } if session.board().cursor() >= MOST_MOVES => {
            return Err(too_long(texts));
        }
        Command::Play { text } => DuelCommand::Play(text),
        Command::Offer { what } => DuelCommand::Offer(what),
        Command::Decline {} => DuelCommand::Decline,
        Command::Resign {} => DuelCommand::Resign,
        _ => return Err(texts.get("duel_fair").to_owned()),
    };
    duel.act(session, person, command, texts)
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
            if session.board().cursor() >= MOST_MOVES {
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
            let set = session.set_seat(player, offered(&who, ours, texts)?);
            set.map_err(|problem| session.without_folders(&problem, ours))?;
        }
        Command::Evaluate { on } => session.set_evaluating(on),
        Command::Analyse { on } => session.set_analysing(on),
        Command::Deepen { on } => session.set_deepening(on),
        Command::Load { record } => load(session, &record, ours, texts)?,
        Command::Try { place, text } => session
            .try_move(place, &text)
            .map_err(|refusal| words::refusal(texts, &text, &refusal))?,
        Command::Offer { .. } | Command::Decline {} | Command::Resign {} => {
            return Err(texts.get("no_friend").to_owned());
        }
        Command::Restore {
            record,
            seats,
            place,
            current_match,
        } => {
            // A person sits down for an agent that this server does not offer any more.
            let seat = |who: String| offered(&who, ours, texts).unwrap_or("human").to_owned();
            let left = LeftGame {
                record: parse_record(&record, "", texts)?,
                seats: seats.map(seat),
                place,
                current_match,
            };
            session
                .resume_left(&left)
                .map_err(|problem| words::record_problem(texts, &problem))?;
        }
    }
    Ok(())
}

/// Everything the page shows to the bearer of a key.
pub(super) fn view(room: &Room, role: Role) -> Value {
    let version = room.version();
    let inside = room.lock();
    let mut view = session_view(&inside);
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
        let record = GameRecord {
            outcome: Some(outcome),
            ..session.record()
        };
        view["record"] = json!(record.to_line());
        view["scene"]["outcome"] = json!(outcome);
        view["scene"]["legal"] = json!([]);
    }
}

fn session_view(inside: &Inside) -> Value {
    let session = &inside.session;
    let board = session.board();
    let places = 0..=board.moves().len();
    let known = by_winner(
        &session.known(board.cursor()),
        serde_json::value::Serializer,
    );
    let known = known.expect("a result is plain JSON");
    json!({
        "number": session.number(),
        "record": session.record().to_line(),
        "game": board.game(),
        "layout": board.layout(),
        "drawing": looks::drawing(board),
        "scene": board.scene(),
        "position": board.position_text(),
        "moves": board.moves(),
        "cursor": board.cursor(),
        "seats": session.seats().each_ref().map(Seat::name),
        "human": session.human_to_move() || session.analysing(),
        "thinking": session.agent_to_move(),
        "evaluating": session.evaluating(),
        "analysing": session.analysing(),
        "deepening": session.deepening(),
        "deeper": session.next_round().is_some(),
        "unstudied": session.analysing().then(|| session.unstudied()),
        "assessments": session.analysing().then(|| session.assessments()),
        "values": places.map(|place| session.value(place)).collect::<Vec<_>>(),
        "thought": session.thought(board.cursor()),
        "hint": session.hint(),
        "tried": session.tried(),
        "match": session.current_match(),
        "trouble": inside.trouble,
        "known": known,
        "trained": board.agents().is_trained(),
        "refused": board.agents().refused().map(Refused::without_folder),
    })
}

/// The key that a request comes with.
pub(super) fn key_of(headers: &HeaderMap) -> Result<&str, Rejection> {
    let key = headers.get(SESSION).and_then(|value| value.to_str().ok());
    key.ok_or_else(|| {
        let message = "the header X-Session is missing; POST /api/sessions gives an id for it";
        Rejection(StatusCode::BAD_REQUEST, message.to_owned())
    })
}

pub(super) fn no_session() -> Rejection {
    let message = "no such session is open here";
    Rejection(StatusCode::NOT_FOUND, message.to_owned())
}

pub(super) fn find(rooms: &Rooms, headers: &HeaderMap) -> Result<(Arc<Room>, Role), Rejection> {
    rooms.find(key_of(headers)?).ok_or_else(no_session)
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
