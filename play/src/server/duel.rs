//! A game between two people in two browsers.
//!
//! The name of the room opens it for everyone who watches; each seat has a secret besides. What takes both people
//! (taking a move back, a draw, another game) is offered by one and accepted by the other, who offers the same.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::lang::Texts;
use crate::session::Session;
use jarmo_core::game::{Outcome, Player};
use jarmo_core::record::GameRecord;
use jarmo_session::page::{self, Command, Offer};

/// A person without a request for this time has left.
pub(super) const ABSENCE: Duration = Duration::from_secs(5);

/// What a key of a session allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Everything: the session is for one browser.
    Owner,
    /// Moving for one's own seat: 0 is the person who invited, 1 the guest.
    Seat(usize),
    /// Seeing everything.
    Watcher,
}

/// The two people of a game. Their presence is not kept on disk.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Duel {
    people: [Person; 2], // the one who invited, the guest
    white: usize,        // the one of them who plays White
    offer: Option<(usize, Offer)>,
    ended: Option<Ended>,
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct Person {
    secret: Option<String>, // none: the seat is free
    #[serde(skip)]
    presence: Presence,
}

/// The requests of one person, or for one session.
#[derive(Clone, Default)]
pub(super) struct Presence {
    listening: usize, // requests that wait for news
    seen: Option<Instant>,
}

impl Presence {
    /// Notes a request.
    pub(super) fn notice(&mut self) {
        self.seen = Some(Instant::now());
    }

    /// Notes a request that waits for news.
    pub(super) fn enter(&mut self) {
        self.listening += 1;
    }

    /// Notes the end of such a request.
    pub(super) fn leave(&mut self) {
        self.listening -= 1;
        self.notice();
    }

    /// How long there has been no request.
    pub(super) fn idle(&self) -> Duration {
        match self.seen {
            _ if self.listening > 0 => Duration::ZERO,
            Some(seen) => seen.elapsed(),
            None => Duration::MAX,
        }
    }
}

/// An end that the rules of the game do not know.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Ended {
    /// The opponent of the one who resigned; none if a draw was agreed.
    winner: Option<Player>,
}

impl Duel {
    /// A game of a person with this side and this secret, and of a guest who has not come yet.
    pub(super) fn new(side: Player, secret: String) -> Duel {
        let inviter = Person { secret: Some(secret), ..Person::default() };
        Duel {
            people: [inviter, Person::default()],
            white: side.index(), // White: person 0; Black: White is person 1
            offer: None,
            ended: None,
        }
    }

    pub(super) fn person(&self, secret: &str) -> Option<usize> {
        let is = |person: &Person| person.secret.as_deref() == Some(secret);
        self.people.iter().position(is)
    }

    /// Gives the free seat to the bearer of a secret; false if it is taken.
    pub(super) fn sit(&mut self, secret: &str) -> bool {
        let seat = &mut self.people[1].secret;
        let free = seat.is_none();
        seat.get_or_insert_with(|| secret.to_owned());
        free
    }

    fn player(&self, person: usize) -> Player {
        if person == self.white { Player::White } else { Player::Black }
    }

    pub(super) fn presence(&mut self, person: usize) -> &mut Presence {
        &mut self.people[person].presence
    }

    pub(super) fn is_here(&self, person: usize) -> bool {
        self.people[person].presence.idle() < ABSENCE
    }

    fn is_over(&self, session: &Session) -> bool {
        let board = session.board();
        self.ended.is_some() || board.outcome(board.moves().len()).is_some()
    }

    pub(super) fn act(
        &mut self,
        session: &mut Session,
        me: usize,
        command: Command,
        texts: &Texts,
    ) -> Result<(), String> {
        let over = self.is_over(session);
        let refused = |key| Err(texts.get(key).to_owned());
        match command {
            Command::Play { .. } | Command::Resign {} if over => return refused("duel_over"),
            Command::Play { .. } => {
                let mover = session.board().mover(session.board().cursor());
                if mover != Some(self.player(me)) {
                    return refused("not_your_turn");
                }
                page::obey(session, command, texts, &[])?;
            }
            Command::Resign {} => self.ended = Some(Ended { winner: Some(!self.player(me)) }),
            Command::Decline {} => {}
            Command::Offer { what } => {
                let accepts = self.offer == Some((1 - me, what));
                let by = if accepts { 1 - me } else { me };
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
                            session.go_to(place);
                            session.resume();
                        }
                    }
                    Offer::Draw => self.ended = Some(Ended { winner: None }),
                    Offer::Rematch => {
                        self.ended = None;
                        self.white = 1 - self.white;
                        session.new_game();
                    }
                }
            }
            _ => return refused("duel_fair"),
        }
        self.offer = None;
        Ok(())
    }

    /// The place where a person moved last.
    fn last_turn(&self, session: &Session, person: usize) -> Option<usize> {
        let moves = session.board().moves();
        let own = self.player(person);
        moves.iter().rposition(|played| played.player == own)
    }

    /// Adds the two people to what the page shows, and takes away what would help one of them.
    pub(super) fn show(&self, view: &mut Value, role: Role, session: &Session) {
        let me = match role {
            Role::Seat(person) => Some(self.player(person)),
            Role::Owner | Role::Watcher => None,
        };
        let (over, mover) = (self.is_over(session), session.board().mover(session.board().cursor()));
        let people = [self.white, 1 - self.white]; // White, Black
        view["duel"] = json!({
            "you": me,
            "joined": people.map(|person| self.people[person].secret.is_some()),
            "here": people.map(|person| self.is_here(person)),
            "offer": self.offer.map(|(by, what)| json!({ "by": self.player(by), "what": what })),
            "ended": self.ended,
            "over": over,
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
        if let Some(Ended { winner }) = self.ended {
            let outcome = Outcome { winner, score: None, truncated: false };
            let record = GameRecord { outcome: Some(outcome), ..session.record() };
            view["record"] = json!(record.to_line());
            view["scene"]["outcome"] = json!(outcome);
            view["scene"]["legal"] = json!([]);
        }
    }
}
