//! The sessions of one tab, and the answers that a server would give its page.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::parts;
use jarmo_core::agent::AgentSource;
use jarmo_core::checksum;
use jarmo_exact::agent::provide;
use jarmo_exact::catalog::{GAMES, GameSettings};
use jarmo_session::agents::AgentCache;
use jarmo_session::lang::{Language, Texts};
use jarmo_session::levels::Level;
use jarmo_session::page::{self, Defaults, Opening, Query, Rejection, impossible, no_session};
use jarmo_session::session::Session;
use jarmo_session::specs::Store;
use jarmo_session::thought::{Clock, Time};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The status of an answer that has to wait: the session has not changed.
pub const NOTHING_NEW: u16 = 204;

/// The status of an answer that needs the agent file of a game first. The text is the name of the game.
pub const LACKS_AGENT: u16 = 424;

/// Sessions that are kept; the one asked for longest ago goes first.
const MOST_SESSIONS: usize = 20;

/// The longest time of a move, of a deeper look, and of everything else: the tab answers nothing meanwhile.
const MOVE: Duration = Duration::from_secs(5);
const DEEP: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(500);

/// A message of the page.
#[derive(Debug, Deserialize)]
pub struct Asked {
    /// Path and query.
    pub path: String,
    /// The id of the session, empty if there is none.
    pub session: String,
    /// The message, if it is one of the kind that is posted.
    pub body: Option<String>,
    /// The id of a session that the message may open, and the seed of its agents.
    pub id: String,
    /// See `id`.
    pub seed: u64,
}

/// An answer to the page.
#[derive(Debug, Serialize)]
pub struct Answer {
    /// A status of HTTP.
    pub status: u16,
    /// JSON, or a picture.
    pub text: String,
}

/// What came of an attempt to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thinking {
    /// There is nothing to think about.
    Idle = 0,
    /// There was an answer.
    Done = 1,
    /// There was a move of an agent, and the next one is an agent's, too: people want to follow.
    Pause = 2,
}

/// The sessions of a tab.
pub struct Tab {
    defaults: Defaults,
    open: Vec<Open>, // the one that was asked for last is last
    cache: AgentCache,
    clock: Clock,
    had: Vec<String>,           // games whose agent came, or cannot come
    own: Vec<(String, String)>, // the checksum and the name of each agent file of the person
}

struct Open {
    id: String,
    session: Session,
    version: u64,
}

impl Tab {
    /// A tab without sessions.
    pub fn new(clock: Clock) -> Tab {
        Tab {
            defaults: Defaults {
                language: Language::En,
                game: GAMES[0].to_owned(),
                seats: vec!["human".to_owned(), Level::USUAL.name().to_owned()],
                settings: GameSettings::default(),
                store: Store { built_in: true, ..Store::default() },
                record: None,
                analyse: false,
            },
            open: Vec::new(),
            cache: AgentCache::default(),
            clock,
            had: Vec::new(),
            own: Vec::new(),
        }
    }

    /// Takes the agent file of a game, in [parts](crate::parted). If there is none, say without a network, the game is
    /// played with what is built in.
    pub fn take_agent(&mut self, game: &str, bytes: Option<&[u8]>) {
        if let Some(bytes) = bytes {
            provide(&AgentSource::Program, game, parts::joined(bytes));
        }
        self.had.push(game.to_owned());
    }

    /// Takes an agent file of the person; returns the name by which the page may choose it. A file that came before keeps
    /// its name, so that the page stores it once.
    pub fn take_own(&mut self, name: &str, bytes: Vec<u8>) -> String {
        let digits = checksum::digits(&[&bytes]);
        if let Some((_, known)) = self.own.iter().find(|(other, _)| *other == digits) {
            return known.clone();
        }
        let numbered = (2..).map(|number| format!("{number}-{name}"));
        let mut names = std::iter::once(name.to_owned()).chain(numbered);
        let name = names.find(|name| !self.defaults.seats.contains(name)).expect("there are more numbers than names");
        provide(&AgentSource::File(name.clone().into()), "", bytes);
        self.defaults.seats.push(name.clone());
        self.own.push((digits, name.clone()));
        name
    }

    /// Answers a message.
    pub fn answer(&mut self, asked: &Asked) -> Answer {
        if let Some(game) = self.lacks(asked) {
            return Answer { status: LACKS_AGENT, text: game };
        }
        match self.route(asked) {
            Ok(Some(text)) => Answer { status: 200, text },
            Ok(None) => Answer { status: NOTHING_NEW, text: String::new() },
            Err(Rejection(status, message)) => Answer { status, text: json!({ "error": message }).to_string() },
        }
    }

    /// The game that a message opens, if its agent has not come yet.
    fn lacks(&self, asked: &Asked) -> Option<String> {
        let opens = asked.path.starts_with("/api/sessions");
        if !opens && !asked.path.starts_with("/api/session?") {
            return None;
        }
        let body: Value = serde_json::from_str(asked.body.as_ref()?).ok()?;
        let record = body["record"].as_str();
        let record: Option<Value> = record.and_then(|record| serde_json::from_str(record).ok());
        let named = |value: &Value| value["game"].as_str().map(str::to_owned);
        let game = record.as_ref().and_then(named).or_else(|| named(&body));
        let game = game.or_else(|| opens.then(|| self.defaults.game.clone()))?;
        let new = GAMES.contains(&game.as_str()) && !self.had.contains(&game);
        new.then_some(game)
    }

    fn route(&mut self, asked: &Asked) -> Result<Option<String>, Rejection> {
        let (path, query) = asked.path.split_once('?').unwrap_or((&asked.path, ""));
        let query = Query::read(query, self.defaults.language)?;
        let texts = query.language.texts();
        let body = asked.body.as_deref().unwrap_or_default().as_bytes();
        let answer = match path {
            "/api/texts" => page::texts(&self.defaults.store, query.language, Some(&self.had), Some("learn.html")),
            "/api/lesson" | "/api/puzzle" | "/api/puzzles" => page::exercise(path, body, texts)?,
            "/api/sessions" => self.begin(asked, body, texts)?,
            "/api/join" => return Err(impossible(texts.get("needs_server"))),
            _ => {
                let place = self.open.iter().position(|open| open.id == asked.session);
                // It becomes the one that is thought about.
                let open = self.open.remove(place.ok_or_else(no_session)?);
                self.open.push(open);
                let Tab { open, defaults: Defaults { seats, .. }, .. } = self;
                let open = open.last_mut().expect("one was pushed");
                match path {
                    "/api/session" if asked.body.is_some() => {
                        let applied = page::apply(&mut open.session, page::read(body)?, texts, seats);
                        applied?;
                        open.version += 1;
                        open.view()
                    }
                    "/api/session" if query.since == Some(open.version) => return Ok(None),
                    "/api/session" => open.view(),
                    _ => {
                        let (_, text) = page::look(&open.session, path, &query, body)?;
                        return Ok(Some(text));
                    }
                }
            }
        };
        Ok(Some(answer.to_string()))
    }

    fn begin(&mut self, asked: &Asked, body: &[u8], texts: &Texts) -> Result<Value, Rejection> {
        let opening: Opening = page::read(body)?;
        if opening.duel.is_some() {
            return Err(impossible(texts.get("needs_server")));
        }
        let session = opening.begin(&self.defaults, texts, asked.seed);
        let open = Open { id: asked.id.clone(), session: session?, version: 1 };
        let mut view = open.view();
        view["id"] = json!(open.id);
        if self.open.len() == MOST_SESSIONS {
            self.open.remove(0);
        }
        self.open.push(open);
        Ok(view)
    }

    /// Answers the next question of the session that was asked for last.
    pub fn think(&mut self) -> Thinking {
        let next = self.open.last_mut().and_then(|open| Some((open.session.job()?, open)));
        let Some((job, open)) = next else {
            return Thinking::Idle;
        };
        let most = match open.session.deepening() {
            _ if job.is_move() => MOVE,
            true => DEEP,
            false => LOOK,
        };
        let stop = AtomicBool::new(false);
        let time = Time { most: Some(most), ..Time::alone(self.clock, &stop) };
        open.session.finish(&job, job.run(&mut self.cache, time));
        open.version += 1;
        match open.session.only_agents() && open.session.agent_to_move() {
            true => Thinking::Pause,
            false => Thinking::Done,
        }
    }
}

impl Open {
    fn view(&self) -> Value {
        let mut view = page::view(&self.session);
        view["version"] = json!(self.version);
        view
    }
}
