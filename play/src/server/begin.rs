//! Opening sessions: a game from its start, a game of a link or a position, a game of two, and the guest's seat.

use std::net::IpAddr;

use hyper::body::Bytes;
use hyper::{Request, StatusCode};
use serde::Deserialize;
use serde_json::json;

use super::ServerOptions;
use super::api::{
    Rejection, Response, Wish, check_seat, impossible, json_answer, key_of, no_session,
    parse_record, read, view,
};
use super::duel::{Duel, Role};
use super::room::{NoRoom, Rooms, new_id};
use crate::lang::Texts;
use crate::session::{Session, fresh_seed};
use crate::words;
use jarmo_core::game::Player;
use jarmo_exact::catalog::GAMES;
use jarmo_host::record::GameRecord;

/// What a page begins with; the rest is the server's choice.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct NewSession {
    game: Option<String>,
    white: Option<String>,
    black: Option<String>,
    /// A game to go on with; without players, people play both sides.
    record: Option<String>,
    /// The number of its moves before the position shown; unset, all of them.
    place: Option<usize>,
    /// Whether it is to be analysed.
    #[serde(default)]
    analyse: bool,
    /// The side of the person who invites another one.
    duel: Option<Player>,
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
    let (mut id, room) = opened.map_err(|refusal| match refusal {
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
    let mut role = Role::Owner;
    if let Some(side) = opening.duel {
        let secret = new_id();
        id = format!("{id}.{secret}");
        role = Role::Seat(0);
        room.lock().duel = Some(Duel::new(side, secret));
    }
    rooms.schedule(&room);
    let mut view = view(&room, role);
    view["id"] = json!(id);
    Ok(json_answer(StatusCode::CREATED, &view))
}

/// Gives the bearer of an invitation the free seat, or shows the game if it is taken.
pub(super) fn join(rooms: &Rooms, request: &Request<Bytes>) -> Result<Response, Rejection> {
    let _: NoFields = read(request)?;
    let mut key = key_of(request.headers())?.to_owned();
    let (room, mut role) = rooms.find(&key).ok_or_else(no_session)?;
    if role == Role::Watcher {
        let secret = new_id();
        let mut inside = room.lock();
        if inside.duel.as_mut().is_some_and(|duel| duel.sit(&secret)) {
            key = format!("{key}.{secret}");
            role = Role::Seat(1);
            drop(inside);
            room.changed();
        }
    }
    let mut view = view(&room, role);
    view["id"] = json!(key);
    Ok(json_answer(StatusCode::OK, &view))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoFields {}

fn begin(options: &ServerOptions, opening: &NewSession, texts: &Texts) -> Result<Session, String> {
    let record = match &opening.record {
        Some(line) => Some(parse_record(line, texts)?),
        None => None,
    };
    let known = |name: &&String| GAMES.contains(&name.as_str());
    let recorded = record.as_ref().map(|record| &record.game).filter(known);
    let game = recorded.or(opening.game.as_ref()).unwrap_or(&options.game);
    let [white, black] = &options.seats;
    let seats = match opening.duel {
        Some(_) => ["human", "human"],
        None => [
            opening.white.as_ref().unwrap_or(white).as_str(),
            opening.black.as_ref().unwrap_or(black).as_str(),
        ],
    };
    for seat in seats {
        check_seat(seat, &options.seats, texts)?;
    }
    let settings = options.settings.for_another(&options.game, game);
    let store = options.store.clone();
    let mut session = Session::with_store(store, game, settings, None, seats, fresh_seed())?;
    if let Some(record) = record {
        let players = [opening.white.as_deref(), opening.black.as_deref()];
        load(&mut session, &record, players, texts)?;
        session.go_to(opening.place.unwrap_or(usize::MAX));
    } else if let (Some(line), None, None) = (&options.record, &opening.game, opening.duel) {
        let record = parse_record(line, texts)?;
        load(&mut session, &record, [Some(white), Some(black)], texts)?;
        session.set_analysing(options.analyse);
    }
    if opening.analyse {
        session.set_analysing(true);
    }
    if opening.duel.is_some() {
        session.set_evaluating(false); // neither of the two has help
    }
    Ok(session)
}

/// Loads the game of a record. People play the sides for which no player is given, until a new game begins.
fn load(
    session: &mut Session,
    record: &GameRecord,
    players: [Option<&str>; 2],
    texts: &Texts,
) -> Result<(), String> {
    session
        .load(record)
        .map_err(|problem| words::record_problem(texts, &problem))?;
    for (player, who) in Player::BOTH.into_iter().zip(players) {
        if let Some(who) = who {
            session.set_seat(player, who)?;
        }
    }
    Ok(())
}
