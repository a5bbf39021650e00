//! The messages between a page and what answers it, as JSON: a server, or a worker beside the page. Every answer to a
//! command is the whole view of the session; a bad message is answered by 4xx and what is wrong with it.

mod command;
mod exercises;
mod looks;
mod opening;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

pub use command::{Command, Offer, apply, view};
pub use exercises::exercise;
pub use looks::look;
pub use opening::Opening;

use crate::board::Board;
use crate::lang::Language;
use crate::lessons;
use crate::levels::Level;
use crate::puzzles;
use crate::specs::Store;
use jarmo_core::game::{shorten, shorten_quotes};
use jarmo_exact::catalog::GameSettings;

/// The defaults of a new session.
#[derive(Clone, Debug)]
pub struct Defaults {
    /// The default language.
    pub language: Language,
    /// The game.
    pub game: String,
    /// The players of White and Black. A page may choose these players later, too.
    pub seats: Vec<String>,
    /// The rules' settings.
    pub settings: GameSettings,
    /// Trained agents and tables.
    pub store: Store,
    /// A game to begin with, as a line of a record file.
    pub record: Option<String>,
    /// Whether the initial game is analysed instead of played.
    pub analyse: bool,
}

/// The error for a message: an HTTP status and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection(pub u16, pub String);

/// The error for a well-formed message that cannot be executed.
pub fn impossible(message: impl Into<String>) -> Rejection {
    Rejection(422, message.into())
}

impl From<String> for Rejection {
    fn from(message: String) -> Rejection {
        impossible(message)
    }
}

/// The answer to a message for a session that is not open.
pub fn no_session() -> Rejection {
    Rejection(404, "no such session is open here".to_owned())
}

/// Reads a message.
pub fn read<T: for<'a> Deserialize<'a>>(body: &[u8]) -> Result<T, Rejection> {
    serde_json::from_slice(body).map_err(|error| {
        let error = shorten_quotes(&error.to_string());
        Rejection(400, format!("not a message of this server: {error}"))
    })
}

/// The query of a request.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    /// The language that the answer is for.
    pub language: Language,
    /// The version of the session that the page has.
    pub since: Option<u64>,
    /// The place that is looked at, and a line of moves from there.
    place: Option<usize>,
    moves: &'a str,
}

impl Query<'_> {
    /// Reads a query; unknown keys are ignored.
    pub fn read(text: &str, usual: Language) -> Result<Query<'_>, Rejection> {
        let mut query = Query { language: usual, since: None, place: None, moves: "" };
        for (key, value) in text.split('&').filter_map(|pair| pair.split_once('=')) {
            match key {
                "lang" => query.language = Language::parse(value).unwrap_or(query.language),
                "since" => query.since = Some(number(key, value)?),
                "place" => query.place = Some(number(key, value)?),
                "moves" => query.moves = value,
                _ => {}
            }
        }
        Ok(query)
    }
}

fn number<T: std::str::FromStr>(key: &str, value: &str) -> Result<T, Rejection> {
    value.parse().map_err(|_| Rejection(400, format!("{key}={}: expected a number", shorten(value))))
}

/// The texts of a language, and what there is to choose from. A page without a server passes in `had` the games whose
/// agents it has loaded; the other agents are loaded when they are needed. `watch` is the address of the page on which
/// an agent learns.
pub fn texts(store: &Store, language: Language, had: Option<&[String]>, watch: Option<&str>) -> Value {
    let games = store.games.names();
    let bare = Store { games: store.games.clone(), ..Store::default() };
    let boards: BTreeMap<&str, Board> = games
        .iter()
        .filter_map(|game| Some((*game, Board::open(&bare, game, &GameSettings::default(), None).ok()?)))
        .collect();
    let by_game = |part: fn(&Board) -> Value| -> BTreeMap<&str, Value> {
        boards.iter().map(|(game, board)| (*game, part(board))).collect()
    };
    let comes = |game: &str| had.is_some_and(|had| had.iter().all(|other| other != game));
    // Where a level was measured.
    let ratings = |level: Level| -> BTreeMap<&str, u16> {
        let measured = games.iter().filter(|game| store.is_usual(game) || comes(game));
        measured.filter_map(|game| Some((*game, level.rating(game)?))).collect()
    };
    let taught = games.iter().filter(|game| !lessons::of(game).is_empty());
    let puzzled = games.iter().filter(|game| !puzzles::of(game).is_empty());
    let languages =
        Language::ALL.map(|language| json!({ "code": language.code(), "name": language.texts().get("language") }));
    json!({
        "language": language.code(),
        "languages": languages,
        "games": games,
        "levels": Level::ALL.map(|level| json!({ "name": level, "ratings": ratings(level) })),
        "usual": Level::USUAL,
        "plies": by_game(|board| json!(board.record().max_plies)),
        "starts": by_game(|board| json!(board.position_text())),
        "rules": by_game(|board| json!(board.own_rules())),
        "pieces": by_game(|board| board.own_pieces().iter().map(|(letter, svg)| (letter.to_string(), json!(svg))).collect()),
        "friends": had.is_none(),
        "watch": watch,
        "lessons": taught.collect::<Vec<_>>(),
        "puzzles": puzzled.collect::<Vec<_>>(),
        "texts": language.texts(),
    })
}
