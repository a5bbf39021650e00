//! A game between two people in two browsers.
//!
//! Everyone who knows the name of the room can watch; each seat also has a secret. One person offers to take back a
//! move, a draw or another game, and the other accepts by offering the same.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::clock::Clock;
use crate::lang::Texts;
use crate::session::Session;
use jarmo_core::game::{Outcome, Player};
use jarmo_core::record::GameRecord;
use jarmo_session::page::{self, Command, Offer, Rejection, impossible};

/// A person without a request for this time has left.
pub(super) const ABSENCE: Duration = Duration::from_secs(5);

/// The rights of a key of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Everything: the session is for one browser.
    Owner,
    /// Moving for one's own seat.
    Seat(Who),
    /// Seeing everything.
    Watcher,
}

/// One of the two people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Who {
    Inviter,
    Guest,
}

impl Who {
    const BOTH: [Who; 2] = [Who::Inviter, Who::Guest];

    fn other(self) -> Who {
        if self == Who::Inviter { Who::Guest } else { Who::Inviter }
    }
}

/// The hash of a seat's secret, as stored by the server. Secrets are random, so a plain hash does not reveal them.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Hashed(String);

impl Hashed {
    pub(super) fn of(secret: &str) -> Hashed {
        let hash = Sha256::digest(secret);
        Hashed(hash.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

/// The two people of a game.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Duel {
    /// Where the game was opened, for the limit on games that are kept on disk.
    pub(super) creator: IpAddr,
    secrets: [Option<Hashed>; 2], // none: the seat is free
    white: Who,
    offer: Option<(Who, Offer)>,
    ended: Option<Ended>,
    clock: Option<Clock>,
    /// Whether the game is on disk, as it is now.
    #[serde(skip)]
    pub(super) kept: bool,
    #[serde(skip)]
    presence: [Presence; 2],
}

/// The requests of one person, or for one session.
#[derive(Clone, Default)]
pub(super) struct Presence {
    listening: usize, // requests that wait for news
    seen: Option<Instant>,
}

impl Presence {
    /// Notes a request.
    pub(super) fn notice(&mut self, now: Instant) {
        self.seen = Some(now);
    }

    /// Notes a request that waits for news.
    pub(super) fn enter(&mut self) {
        self.listening += 1;
    }

    /// Notes the end of such a request.
    pub(super) fn leave(&mut self) {
        self.listening -= 1;
        self.notice(Instant::now());
    }

    /// How long there has been no request.
    pub(super) fn idle(&self, now: Instant) -> Duration {
        match self.seen {
            _ if self.listening > 0 => Duration::ZERO,
            Some(seen) => now.saturating_duration_since(seen),
            None => Duration::MAX,
        }
    }
}

/// An end by agreement, resignation or time, not by the rules of the game.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Ended {
    /// The opponent of the one who resigned or ran out of time; none if a draw was agreed.
    winner: Option<Player>,
    #[serde(default)]
    by_time: bool,
}

impl Duel {
    /// A game of a person with this side and this secret, and of a guest who has not come yet.
    pub(super) fn new(creator: IpAddr, side: Player, secret: &str, clock: Option<Clock>) -> Duel {
        Duel {
            creator,
            secrets: [Some(Hashed::of(secret)), None],
            white: if side == Player::White { Who::Inviter } else { Who::Guest },
            offer: None,
            ended: None,
            clock,
            kept: false,
            presence: Default::default(),
        }
    }

    /// The person with this secret.
    pub(super) fn person(&self, secret: &Hashed) -> Option<Who> {
        Who::BOTH.into_iter().find(|who| self.secrets[*who as usize].as_ref() == Some(secret))
    }

    /// The person with this secret, who takes the free seat if there is one.
    pub(super) fn join(&mut self, secret: &Hashed) -> Option<Who> {
        if self.person(secret).is_none() {
            self.secrets[Who::Guest as usize].get_or_insert_with(|| secret.clone());
        }
        self.person(secret)
    }

    fn player(&self, who: Who) -> Player {
        if who == self.white { Player::White } else { Player::Black }
    }

    pub(super) fn presence(&mut self, who: Who) -> &mut Presence {
        &mut self.presence[who as usize]
    }

    pub(super) fn is_here(&self, who: Who, now: Instant) -> bool {
        self.presence[who as usize].idle(now) < ABSENCE
    }

    /// Counts the time up to now, before a request is noted. Returns whether a flag falls, which ends the game.
    ///
    /// A clock runs on while one of the two is away, because otherwise a player could stop it by closing the page.
    pub(super) fn count_time(&mut self, now: Instant) -> bool {
        let idle = self.presence.iter().map(|one| one.idle(now)).min();
        let away = idle.filter(|idle| *idle >= ABSENCE).unwrap_or_default();
        let Some(player) = self.clock.as_mut().and_then(|clock| clock.count(now, away)) else {
            return false;
        };
        self.end(Some(!player), true);
        true
    }

    /// The time until a flag falls, if a clock runs and one of the two is connected.
    pub(super) fn due(&self, now: Instant) -> Option<Duration> {
        let clock = self.clock.as_ref().filter(|_| Who::BOTH.iter().any(|who| self.is_here(*who, now)));
        clock?.due()
    }

    fn end(&mut self, winner: Option<Player>, by_time: bool) {
        self.ended = Some(Ended { winner, by_time });
        self.offer = None;
        if let Some(clock) = &mut self.clock {
            clock.run(None);
        }
    }

    fn is_over(&self, session: &Session) -> bool {
        let board = session.board();
        self.ended.is_some() || board.outcome(board.length()).is_some()
    }

    pub(super) fn act(
        &mut self,
        session: &mut Session,
        me: Who,
        command: Command,
        texts: &Texts,
    ) -> Result<(), Rejection> {
        let over = self.is_over(session);
        let refused = |key| Err(impossible(texts.get(key)));
        match command {
            Command::Play { .. } | Command::Resign {} if over => return refused("duel_over"),
            Command::Play { .. } => {
                let mover = session.board().mover(session.board().cursor());
                if mover != Some(self.player(me)) {
                    return refused("not_your_turn");
                }
                page::apply(session, command, texts, &[])?;
                if session.board().mover(session.board().cursor()) != mover {
                    self.clock.iter_mut().for_each(Clock::increment);
                }
            }
            Command::Resign {} => self.end(Some(!self.player(me)), false),
            Command::Decline {} => {}
            Command::Offer { what } => {
                let accepts = self.offer == Some((me.other(), what));
                let by = if accepts { me.other() } else { me };
                let fits = match what {
                    Offer::Rematch => over,
                    Offer::Draw => !over,
                    Offer::Undo => !over && self.last_turn(session, by).is_some(),
                };
                if !fits {
                    return refused("duel_not_now");
                }
                if !accepts {
                    self.offer = Some((by, what));
                    return Ok(());
                }
                match what {
                    Offer::Undo => {
                        if let Some(place) = self.last_turn(session, by) {
                            session.remove(session.board().node(place + 1));
                        }
                    }
                    Offer::Draw => self.end(None, false),
                    Offer::Rematch => {
                        self.ended = None;
                        self.clock.iter_mut().for_each(Clock::reset);
                        self.white = self.white.other();
                        session.new_game();
                    }
                }
            }
            _ => return refused("duel_fair"),
        }
        self.offer = None;
        self.run_clock(session);
        Ok(())
    }

    /// Starts the clock of the player to move, once both have moved.
    fn run_clock(&mut self, session: &Session) {
        let over = self.is_over(session);
        let Some(clock) = &mut self.clock else { return };
        let (board, moves) = (session.board(), session.board().moves());
        let begun = Player::BOTH.iter().all(|player| moves.iter().any(|played| played.player == *player));
        clock.run(board.mover(board.length()).filter(|_| begun && !over));
    }

    /// The place where a person moved last.
    fn last_turn(&self, session: &Session, who: Who) -> Option<usize> {
        let moves = session.board().moves();
        let own = self.player(who);
        moves.iter().rposition(|played| played.player == own)
    }

    /// Adds the two people to the view of the page, and removes everything that would help one of them.
    pub(super) fn show(&self, view: &mut Value, role: Role, session: &Session) {
        let me = match role {
            Role::Seat(who) => Some(self.player(who)),
            Role::Owner | Role::Watcher => None,
        };
        let (over, mover) = (self.is_over(session), session.board().mover(session.board().cursor()));
        let people = [self.white, self.white.other()]; // White, Black
        view["duel"] = json!({
            "you": me,
            "joined": people.map(|who| self.secrets[who as usize].is_some()),
            "here": people.map(|who| self.is_here(who, Instant::now())),
            "offer": self.offer.map(|(by, what)| json!({ "by": self.player(by), "what": what })),
            "ended": self.ended,
            "over": over,
            "kept": self.kept,
            "clock": self.clock.as_ref().map(Clock::view),
        });
        view["seats"] = json!(Player::BOTH.map(|player| match me {
            Some(me) if me != player => "friend",
            _ => "human", // also for those who watch
        }));
        view["human"] = json!(!over && mover.is_some() && mover == me);
        view["known"] = Value::Null;
        for value in view["values"].as_array_mut().into_iter().flatten() {
            *value = Value::Null;
        }
        if self.ended.is_some() {
            let record = self.record(session);
            view["record"] = json!(record.to_line());
            view["scene"]["outcome"] = json!(record.outcome);
            view["scene"]["legal"] = json!([]);
        }
    }

    /// The record of the game, also if it has not ended by its rules.
    pub(super) fn record(&self, session: &Session) -> GameRecord {
        let ended = self.ended.map(|Ended { winner, .. }| Outcome { winner, score: None, truncated: false });
        let record = session.record();
        GameRecord { outcome: ended.or(record.outcome), ..record }
    }
}

#[cfg(test)]
mod tests;
