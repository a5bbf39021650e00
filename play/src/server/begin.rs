//! Opening sessions: a game from its start, a game of a link or a position, a game of two, and the guest's seat.

use std::net::IpAddr;

use hyper::body::Bytes;
use hyper::{Request, StatusCode};
use serde::Deserialize;
use serde_json::json;

use super::ServerOptions;
use super::api::{
    Rejection, Response, Wish, impossible, json_answer, key_of, no_session, offered, parse_record,
    read, view,
};
use super::duel::{Duel, Role};
use super::room::{NoRoom, Rooms, new_id};
use crate::lang::Texts;
use crate::session::{Session, fresh_seed};
use crate::words;
use jarmo_core::game::Player;
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
pub(super) async fn create(
    rooms: &Rooms,
    client: IpAddr,
    request: &Request<Bytes>,
) -> Result<Response, Rejection> {
    let texts = Wish::read(rooms, request)?.language.texts();
    let opening: NewSession = read(request)?;
    let opened = rooms.open(client, || begin(&rooms.options, &opening, texts));
    let (mut id, room) = opened.map_err(|refusal| match refusal {
        NoRoom::Problem(problem) => {
            let options = &rooms.options;
            impossible(options.store.without_folders(&problem, &options.seats))
        }
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
        rooms.save(&room).await;
    }
    rooms.schedule(&room);
    let mut view = view(&room, role);
    view["id"] = json!(id);
    Ok(json_answer(StatusCode::CREATED, &view))
}

/// Gives the bearer of an invitation the free seat, or shows the game if it is taken.
pub(super) async fn join(rooms: &Rooms, request: &Request<Bytes>) -> Result<Response, Rejection> {
    let _: NoFields = read(request)?;
    let mut key = key_of(request.headers())?.to_owned();
    let (room, mut role) = rooms.find(&key).ok_or_else(no_session)?;
    if role == Role::Watcher {
        let secret = new_id();
        let sits = |duel: &mut Duel| duel.sit(&secret);
        if room.lock().duel.as_mut().is_some_and(sits) {
            key = format!("{key}.{secret}");
            role = Role::Seat(1);
            rooms.save(&room).await;
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
        Some(line) => Some(parse_record(line, "", texts)?),
        None => None,
    };
    let games = options.store.games.names();
    let known = |name: &&String| games.contains(&name.as_str());
    let recorded = record.as_ref().map(|record| &record.game).filter(known);
    let game = recorded.or(opening.game.as_ref()).unwrap_or(&options.game);
    let [white, black] = &options.seats;
    let seat = |who: &Option<String>| match who {
        Some(who) => offered(who, &options.seats, texts).map(|who| Some(who.to_owned())),
        None => Ok(None),
    };
    let players = [seat(&opening.white)?, seat(&opening.black)?];
    let players = players.each_ref().map(Option::as_deref);
    let seats = match opening.duel {
        Some(_) => ["human", "human"],
        None => [players[0].unwrap_or(white), players[1].unwrap_or(black)],
    };
    let settings = options.settings.for_another(&options.game, game);
    let store = options.store.clone();
    let mut session = Session::with_store(store, game, settings, None, seats, fresh_seed())?;
    if let Some(record) = record {
        load(&mut session, &record, players, texts)?;
        session.go_to(opening.place.unwrap_or(usize::MAX));
    } else if let (Some(line), None, None) = (&options.record, &opening.game, opening.duel) {
        let record = parse_record(line, "", texts)?;
        load(&mut session, &record, [Some(white), Some(black)], texts)?;
        session.set_analysing(options.analyse);
    }
    match opening.duel {
        Some(_) => session.set_evaluating(false), // neither of the two has help
        None if opening.analyse => session.set_analysing(true),
        None => {}
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
