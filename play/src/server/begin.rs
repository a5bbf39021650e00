//! Opening sessions: a game, a game of two, and the guest's seat.

use std::net::IpAddr;

use hyper::body::Bytes;
use hyper::{Request, StatusCode};
use serde::Deserialize;
use serde_json::json;

use super::api::{Response, json_answer, key_of, no_session, read, view, wish};
use super::duel::{Duel, Role};
use super::room::{Rooms, new_id};
use crate::machine::fresh_seed;
use jarmo_session::page::{Opening, Rejection};

/// Opens a session.
pub(super) async fn create(rooms: &Rooms, client: IpAddr, request: &Request<Bytes>) -> Result<Response, Rejection> {
    let texts = wish(rooms, request)?.language.texts();
    let opening: Opening = read(request)?;
    let session = || opening.begin(&rooms.options.defaults, texts, fresh_seed());
    let (mut id, room) = rooms.open(client, texts, session)?;
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
