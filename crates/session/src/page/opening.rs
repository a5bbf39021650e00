//! Opens a session: with a new game, the game of a link, or a position.

use serde::Deserialize;

use super::command::{offered, parse_record, without_players};
use super::{Defaults, Rejection, impossible};
use crate::lang::Texts;
use crate::session::Session;
use crate::words;
use jarmo_core::game::Player;
use jarmo_core::record::GameRecord;

/// What a page begins with; the rest are the defaults.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opening {
    game: Option<String>,
    white: Option<String>,
    black: Option<String>,
    /// A game to continue; without players, people play both sides.
    record: Option<String>,
    /// The index of the position shown in its text; unset, the end of its main line.
    place: Option<usize>,
    /// Whether it is to be analysed.
    #[serde(default)]
    analyse: bool,
    /// Whether two agents wait before each move until the page asks for it.
    #[serde(default)]
    stepwise: bool,
    /// The side of the person who invites another one.
    pub duel: Option<Player>,
    /// For such a game, the time of each player and what a move adds, in seconds. Only the server measures time.
    pub clock: Option<[u32; 2]>,
}

impl Opening {
    /// A game of two people to continue.
    pub fn of_two(record: String) -> Opening {
        Opening { record: Some(record), duel: Some(Player::White), ..Opening::default() }
    }

    /// Opens the session.
    pub fn begin(&self, defaults: &Defaults, texts: &Texts, seed: u64) -> Result<Session, Rejection> {
        let begun = begin(defaults, self, texts, seed);
        begun.map_err(|problem| impossible(defaults.store.without_folders(&problem, &defaults.seats)))
    }
}

fn begin<'a>(defaults: &'a Defaults, opening: &'a Opening, texts: &Texts, seed: u64) -> Result<Session, String> {
    if opening.clock.is_some() && opening.duel.is_none() {
        return Err("clock: only a game of two people has clocks".to_owned());
    }
    let record = opening.record.as_ref().map(|line| without_players(line, texts)).transpose()?;
    let games = defaults.store.games.names();
    let known = |name: &&String| games.contains(&name.as_str());
    let recorded = record.as_ref().map(|record| &record.game).filter(known);
    let game = recorded.or(opening.game.as_ref()).unwrap_or(&defaults.game);
    let [white, black] = [&defaults.seats[0], &defaults.seats[1]];
    let seat = |who: &'a Option<String>| who.as_ref().map(|who| offered(who, &defaults.seats, texts)).transpose();
    let players = [seat(&opening.white)?, seat(&opening.black)?];
    let seats = match opening.duel {
        Some(_) => ["human", "human"],
        None => [players[0].unwrap_or(white), players[1].unwrap_or(black)],
    };
    let settings = defaults.settings.for_another(&defaults.game, game);
    let store = defaults.store.clone();
    let session = Session::new(store, game, settings, None, seats, seed);
    let mut session = session.map_err(|error| error.to_string())?;
    if let Some(record) = record {
        load(&mut session, &record, players, texts)?;
        session.show(session.board().at_index(opening.place.unwrap_or(usize::MAX)));
    } else if let (Some(line), None, None) = (&defaults.record, &opening.game, opening.duel) {
        let record = parse_record(line, "", texts)?;
        load(&mut session, &record, [Some(white), Some(black)], texts)?;
        session.set_analysing(defaults.analyse);
    }
    session.stepwise = opening.stepwise;
    if opening.duel.is_some() {
        session.evaluating = false; // neither of the two has help
    } else if opening.analyse {
        session.set_analysing(true);
    }
    Ok(session)
}

/// Loads the game of a record. People play the sides for which no player is given, until a new game begins.
fn load(session: &mut Session, record: &GameRecord, players: [Option<&str>; 2], texts: &Texts) -> Result<(), String> {
    session.load(record).map_err(|problem| words::record_problem(texts, &problem))?;
    for (player, who) in Player::BOTH.into_iter().zip(players) {
        if let Some(who) = who {
            session.set_seat(player, who).map_err(|error| error.to_string())?;
        }
    }
    Ok(())
}
