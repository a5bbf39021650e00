//! The messages of a page over HTTP: opens or finds the session, and passes the message to `jarmo_session::page`.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::{Method, Request, StatusCode, header};
use serde::Deserialize;
use serde_json::{Value, json};

use super::ServerOptions;
use super::assets::{Asset, StaticPage};
use super::clock::Clock;
use super::duel::{Duel, Hashed, Role, Who};
use super::room::{Inside, Room, Rooms, is_id, new_id};
use crate::lang::Texts;
use crate::machine::fresh_seed;
use jarmo_session::page::{self, Opening, Query, Rejection, impossible};

/// How long a request waits for news.
const PATIENCE: Duration = Duration::from_secs(20);

/// The header that names the session. A page of another site cannot send it.
const SESSION: &str = "x-session";

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

fn json_answer(status: StatusCode, value: &Value) -> Response {
    answer(status, "application/json", value.to_string())
}

/// An error as an answer.
pub(super) fn problem(status: StatusCode, message: impl Into<String>) -> Response {
    json_answer(status, &json!({ "error": message.into() }))
}

/// The answer to a rejected message.
pub(super) fn refusal(Rejection(status, message): Rejection) -> Response {
    problem(StatusCode::from_u16(status).expect("a rejection has a status of HTTP"), message)
}

/// A request with a method that its path has.
pub(super) struct Call<'a> {
    rooms: &'a Rooms,
    client: IpAddr,
    request: &'a Request<Bytes>,
    query: Query<'a>,
    texts: &'static Texts,
}

impl<'a> Call<'a> {
    pub(super) fn new(rooms: &'a Rooms, client: IpAddr, request: &'a Request<Bytes>) -> Result<Call<'a>, Rejection> {
        let query = request.uri().query().unwrap_or_default();
        let query = Query::read(query, rooms.options.defaults.language)?;
        Ok(Call { rooms, client, request, query, texts: query.language.texts() })
    }

    /// Executes a request.
    pub(super) async fn answer(&self) -> Result<Response, Rejection> {
        let value = match self.request.uri().path() {
            "/api/texts" => return Ok(self.texts()),
            "/api/sessions" => return Ok(json_answer(StatusCode::CREATED, &self.create().await?)),
            "/api/join" => self.join().await?,
            "/api/session" if *self.request.method() == Method::POST => self.command().await?,
            "/api/session" => self.watch().await?,
            path @ ("/api/lesson" | "/api/puzzle" | "/api/puzzles") => page::exercise(path, self.body()?, self.texts)?,
            path => {
                let (room, _) = self.find().await?;
                let inside = room.lock();
                let (kind, text) = match &inside.duel {
                    Some(duel) if path == "/api/record" => {
                        ("application/json", duel.record(&inside.session).to_line() + "\n")
                    }
                    _ => page::look(&inside.session, path, &self.query, self.body()?)?,
                };
                return Ok(answer(StatusCode::OK, kind, text));
            }
        };
        Ok(json_answer(StatusCode::OK, &value))
    }

    /// The table of texts, and what there is to choose from.
    fn texts(&self) -> Response {
        let language = self.query.language;
        let texts = self.rooms.texts[language as usize].get_or_init(|| {
            let ServerOptions { defaults, page, .. } = &self.rooms.options;
            let texts = page::texts(&defaults.store, language, None, page.as_ref().map(|_| StaticPage::LEARN));
            Asset::new("application/json", texts.to_string())
        });
        texts.answer(self.request.headers(), "no-cache")
    }

    /// Opens a session.
    async fn create(&self) -> Result<Value, Rejection> {
        let opening: Opening = page::read(self.body()?)?;
        let clock = opening.clock.map(|clock| Clock::new(clock).ok_or_else(no_clock)).transpose()?;
        let session = || opening.begin(&self.rooms.options.defaults, self.texts, fresh_seed());
        let (mut id, room) = self.rooms.open(self.client, self.texts, session)?;
        let mut role = Role::Owner;
        if let Some(side) = opening.duel {
            let secret = new_id();
            room.lock().duel = Some(Duel::new(self.client, side, &secret, clock));
            id = format!("{id}.{secret}");
            role = Role::Seat(Who::Inviter);
            self.rooms.save(&room).await;
        }
        self.rooms.schedule(&room);
        Ok(view(&room, role, Some(id)))
    }

    /// Gives a person with an invitation the free seat or, if it is taken, shows the game. The page chooses the secret
    /// of the seat, so it can ask again if an answer was lost.
    async fn join(&self) -> Result<Value, Rejection> {
        let Join { secret } = page::read(self.body()?)?;
        if !is_id(&secret) {
            return Err(Rejection(400, "a secret has 32 hexadecimal digits, chosen at random".to_owned()));
        }
        let mut key = self.key()?.to_owned();
        let (room, mut role) = self.find().await?;
        if role == Role::Watcher {
            let joins = |duel: &mut Duel| duel.join(&Hashed::of(&secret));
            let joined = room.lock().duel.as_mut().and_then(joins);
            if let Some(who) = joined {
                key = format!("{key}.{secret}");
                role = Role::Seat(who);
                self.rooms.save(&room).await;
                room.changed();
            }
        }
        Ok(view(&room, role, Some(key)))
    }

    /// Shows a session, once it is newer than what the page has.
    async fn watch(&self) -> Result<Value, Rejection> {
        let (room, role) = self.find().await?;
        let _listener = room.listen(role);
        self.rooms.schedule(&room); // nothing was thought about while it was not listened to
        if let Some(seen) = self.query.since {
            let due = room.lock().duel.as_ref().and_then(|duel| duel.due(Instant::now()));
            room.wait_past(seen, due.unwrap_or(PATIENCE).min(PATIENCE)).await;
            self.find().await?; // a flag may fall
        }
        Ok(view(&room, role, None))
    }

    /// Changes a session.
    async fn command(&self) -> Result<Value, Rejection> {
        let (room, role) = self.find().await?;
        let command = page::read(self.body()?)?;
        {
            let mut inside = room.lock();
            let Inside { session, duel, .. } = &mut *inside;
            match (role, duel) {
                (Role::Owner, _) => page::apply(session, command, self.texts, &self.rooms.options.defaults.seats),
                (Role::Seat(who), Some(duel)) => duel.act(session, who, command, self.texts),
                (Role::Seat(_), None) => unreachable!("only a game of two has seats"),
                (Role::Watcher, _) => Err(impossible(self.texts.get("watching_only"))),
            }?;
        }
        self.rooms.save(&room).await;
        room.changed();
        self.rooms.schedule(&room);
        Ok(view(&room, role, None))
    }

    /// The key that the request comes with.
    fn key(&self) -> Result<&str, Rejection> {
        let key = self.request.headers().get(SESSION).and_then(|value| value.to_str().ok());
        key.ok_or_else(|| {
            let message = "the header X-Session is missing; POST /api/sessions gives an id for it";
            Rejection(400, message.to_owned())
        })
    }

    async fn find(&self) -> Result<(Arc<Room>, Role), Rejection> {
        self.rooms.find(self.key()?, self.client, self.texts).await
    }

    /// The message, if the request is one that is posted.
    fn body(&self) -> Result<&[u8], Rejection> {
        if *self.request.method() != Method::POST {
            return Ok(&[]);
        }
        match self.request.headers().get(header::CONTENT_TYPE) {
            Some(kind) if kind.as_bytes().starts_with(b"application/json") => Ok(self.request.body()),
            _ => Err(Rejection(415, "messages are application/json".to_owned())),
        }
    }
}

fn no_clock() -> Rejection {
    Rejection(400, "clock: expected [1 to 10800, 0 to 180], the time and the increment in seconds".to_owned())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Join {
    secret: String,
}

/// Everything that the page shows to the holder of a key, with a new key if there is one.
fn view(room: &Room, role: Role, key: Option<String>) -> Value {
    let version = *room.version.borrow();
    let inside = room.lock();
    let mut view = page::view(&inside.session);
    view["version"] = json!(version);
    if let Some(duel) = &inside.duel {
        duel.show(&mut view, role, &inside.session);
    }
    if let Some(key) = key {
        view["id"] = json!(key);
    }
    view
}
