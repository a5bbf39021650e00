//! Random histories of a game of two, against a model that keeps only what the two people agreed on and the time that
//! passed. Messages arrive in any order, late, several times or never.

use std::net::{IpAddr, Ipv4Addr};
use std::time::{Duration, Instant};

use super::{ABSENCE, Clock, Duel, Hashed, Role, Who};
use crate::Games;
use crate::lang::Language;
use crate::session::Session;
use crate::specs::Store;
use jarmo_core::game::{Action, Game, Mask, Player};
use jarmo_core::games::ConnectFour;
use jarmo_core::random::{Stream, below, stream};
use jarmo_core::record::GameRecord;
use jarmo_exact::catalog::GameSettings;
use jarmo_session::page::{self, Command, Defaults, Offer, Opening};
use rand::Rng;
use serde_json::{Value, json};

const HISTORIES: u64 = 10_000;
const EVENTS: usize = 50;
const TIME: [u32; 2] = [10, 2]; // seconds, and those that a move adds
const COLUMNS: [&str; 7] = ["A", "B", "C", "D", "E", "F", "G"];
const SECRETS: [&str; 3] = ["inviter", "guest", "stranger"];
const OFFERS: [Offer; 3] = [Offer::Undo, Offer::Draw, Offer::Rematch];

/// What there is to know of a game of two.
struct Model {
    game: ConnectFour,
    columns: Vec<usize>,
    white: Who,
    guest: Option<&'static str>, // the secret
    offer: Option<(Who, Offer)>,
    ended: Option<(Option<Player>, bool)>, // the winner, if there is one, and whether a flag fell
    left: Option<[Duration; 2]>,           // if there are clocks
    counted: Option<Instant>,
    seen: [Option<Instant>; 2], // the last requests of the two people
}

/// What a browser sends.
#[derive(Clone, Copy)]
enum Message {
    Join(&'static str),
    Play(usize),
    Offer(Offer),
    Decline,
    Resign,
    Look,
    Cheat,
}

impl Model {
    fn position(&self) -> <ConnectFour as Game>::Position {
        let mut position = self.game.start();
        for &column in &self.columns {
            self.game.play(&mut position, Action(column as u16));
        }
        position
    }

    fn player(&self, who: Who) -> Player {
        if who == self.white { Player::White } else { Player::Black }
    }

    fn is_over(&self) -> bool {
        self.ended.is_some() || self.game.outcome(&self.position()).is_some()
    }

    /// The number of moves before the last one of a person. White has the even ones.
    fn before_last(&self, who: Who) -> Option<usize> {
        (0..self.columns.len()).rev().find(|place| place % 2 == self.player(who).index())
    }

    /// The player whose clock runs: both have moved, and the game is not over.
    fn running(&self) -> Option<usize> {
        (self.columns.len() >= 2 && !self.is_over()).then_some(self.columns.len() % 2)
    }

    /// What passes until a request comes. Time without any request of the two counts up to the last one.
    fn pass(&mut self, now: Instant) {
        let last = self.seen.into_iter().flatten().max();
        let until = last.filter(|last| now - *last >= ABSENCE).or(last.and(Some(now)));
        let running = self.running();
        if let (Some(left), Some(player)) = (&mut self.left, running) {
            if let (Some(counted), Some(until)) = (self.counted, until) {
                left[player] = left[player].saturating_sub(until.saturating_duration_since(counted));
            }
            if left[player].is_zero() {
                (self.ended, self.offer) = (Some((Some(!Player::BOTH[player]), true)), None);
            }
        }
        self.counted = Some(now);
    }

    fn join(&mut self, secret: &'static str) -> Option<Who> {
        if secret == SECRETS[0] {
            return Some(Who::Inviter);
        }
        (*self.guest.get_or_insert(secret) == secret).then_some(Who::Guest)
    }

    /// Whether this is allowed. If so, it is done.
    fn play(&mut self, who: Who, column: usize) -> bool {
        let running = self.running();
        let position = self.position();
        let is_allowed = !self.is_over()
            && self.game.to_move(&position) == self.player(who)
            && self.game.legal(&position).contains(Action(column as u16));
        if is_allowed {
            if let (Some(left), Some(player)) = (&mut self.left, running) {
                left[player] += Duration::from_secs(TIME[1].into());
            }
            self.columns.push(column);
            self.offer = None;
        }
        is_allowed
    }

    fn resign(&mut self, who: Who) -> bool {
        let is_allowed = !self.is_over();
        if is_allowed {
            self.ended = Some((Some(!self.player(who)), false));
            self.offer = None;
        }
        is_allowed
    }

    fn offer(&mut self, who: Who, what: Offer) -> bool {
        let accepts = self.offer == Some((who.other(), what));
        let by = if accepts { who.other() } else { who };
        let is_allowed = match what {
            Offer::Rematch => self.is_over(),
            Offer::Draw => !self.is_over(),
            Offer::Undo => !self.is_over() && self.before_last(by).is_some(),
        };
        if !is_allowed {
            return false;
        }
        self.offer = if accepts { None } else { Some((who, what)) };
        if accepts {
            match what {
                Offer::Draw => self.ended = Some((None, false)),
                Offer::Undo => self.columns.truncate(self.before_last(by).unwrap()),
                Offer::Rematch => {
                    self.ended = None;
                    self.white = self.white.other();
                    self.columns.clear();
                    self.left = self.left.map(|_| full());
                }
            }
        }
        true
    }

    /// What the page shows to a person or, without one, to those who watch.
    fn shown(&self, me: Option<Who>) -> Value {
        let people = [self.white, self.white.other()];
        json!({
            "you": me.map(|who| self.player(who)),
            "joined": people.map(|who| who == Who::Inviter || self.guest.is_some()),
            "offer": self.offer.map(|(by, what)| json!({ "by": self.player(by), "what": what })),
            "ended": self.ended.map(|(winner, by_time)| json!({ "winner": winner, "by_time": by_time })),
            "over": self.is_over(),
            "clock": self.left.map(|left| json!({
                "initial": full()[0].as_millis() as u64,
                "increment": 1000 * TIME[1],
                "left": left.map(|left| left.as_millis() as u64),
                "running": self.running().map(|player| Player::BOTH[player]),
            })),
        })
    }

    /// Whether this is allowed. If so, it is done.
    fn take(&mut self, who: Who, message: Message) -> bool {
        match message {
            Message::Join(secret) => self.join(secret).is_some(),
            Message::Play(column) => self.play(who, column),
            Message::Offer(what) => self.offer(who, what),
            Message::Decline => {
                self.offer = None;
                true
            }
            Message::Resign => self.resign(who),
            Message::Look => true,
            Message::Cheat => false,
        }
    }
}

fn full() -> [Duration; 2] {
    [Duration::from_secs(TIME[0].into()); 2]
}

/// What a person sends at random, often the answer to an offer.
fn message(model: &Model, random: &mut Stream) -> Message {
    match draw(random, 32) {
        0..=2 => Message::Join(SECRETS[draw(random, 3)]),
        3 => Message::Look,
        4 => Message::Cheat,
        5 => Message::Decline,
        6 => Message::Resign,
        7..=13 => Message::Offer(model.offer.map_or(OFFERS[draw(random, 3)], |(_, what)| what)),
        _ => Message::Play(draw(random, COLUMNS.len())),
    }
}

/// What the game of two does with a message; whether it is allowed.
fn take(duel: &mut Duel, board: &mut Session, who: Who, message: Message) -> bool {
    let mut act = |command| duel.act(board, who, command, Language::En.texts()).is_ok();
    match message {
        Message::Play(column) => act(Command::Play { text: COLUMNS[column].to_owned() }),
        Message::Offer(what) => act(Command::Offer { what }),
        Message::Decline => act(Command::Decline {}),
        Message::Resign => act(Command::Resign {}),
        Message::Cheat => {
            [Command::Undo {}, Command::NewGame {}, Command::Hint {}, Command::Swap {}].into_iter().any(act)
        }
        Message::Join(secret) => duel.join(&Hashed::of(secret)).is_some(),
        Message::Look => true,
    }
}

fn defaults() -> Defaults {
    Defaults {
        language: Language::En,
        game: "connect_four".to_owned(),
        seats: vec!["human".to_owned(); 2],
        settings: GameSettings::default(),
        store: Store { games: Games::shipped(), ..Store::default() },
        record: None,
        analyse: false,
    }
}

fn session(record: String, defaults: &Defaults) -> Session {
    Opening::of_two(record).begin(defaults, Language::En.texts(), 1).unwrap()
}

fn draw(random: &mut Stream, bound: usize) -> usize {
    below(random.next_u64(), bound as u32) as usize
}

#[test]
fn every_history_of_a_game_of_two_is_what_both_agreed_on() {
    let defaults = defaults();
    let fresh = GameRecord { game: defaults.game.clone(), ..GameRecord::default() }.to_line();
    let [mut flags, mut restarts] = [0; 2];
    let mut board = session(fresh, &defaults);
    for history in 0..HISTORIES {
        let mut random = stream(history, 1);
        let side = Player::BOTH[draw(&mut random, 2)];
        let timed = draw(&mut random, 4) > 0;
        let mut now = Instant::now();
        board.new_game();
        let clock = Clock::new(TIME).filter(|_| timed);
        let mut duel = Duel::new(IpAddr::V4(Ipv4Addr::LOCALHOST), side, SECRETS[0], clock);
        let mut model = Model {
            game: ConnectFour::new(0),
            columns: Vec::new(),
            white: if side == Player::White { Who::Inviter } else { Who::Guest },
            guest: None,
            offer: None,
            ended: None,
            left: timed.then(full),
            counted: None,
            seen: [None; 2],
        };
        let mut sent: Vec<(Who, Message)> = Vec::new(); // and not arrived
        for _ in 0..EVENTS {
            now += Duration::from_millis([50, 900, 4900, 6000][draw(&mut random, 4)]);
            sent.push((Who::BOTH[draw(&mut random, 2)], message(&model, &mut random)));
            let at = sent.len() - 1 - draw(&mut random, sent.len().min(3)); // later messages overtake
            let (who, message) = sent[at];
            match draw(&mut random, 16) {
                0 => {
                    // The server starts again with what it keeps on disk.
                    restarts += 1;
                    if draw(&mut random, 16) == 0 {
                        board = session(board.record().to_line(), &defaults); // takes longest
                    }
                    duel = serde_json::from_str(&serde_json::to_string(&duel).unwrap()).unwrap();
                    (model.counted, model.seen) = (None, [None; 2]);
                }
                1 => {
                    // Somebody watches.
                    flags += u32::from(duel.count_time(now));
                    model.pass(now);
                }
                2 => drop(sent.swap_remove(at)), // lost
                fate => {
                    if fate > 4 {
                        sent.swap_remove(at); // otherwise it comes once more
                    }
                    flags += u32::from(duel.count_time(now));
                    model.pass(now);
                    duel.presence(who).notice(now);
                    model.seen[who as usize] = Some(now);
                    assert_eq!(
                        take(&mut duel, &mut board, who, message),
                        model.take(who, message),
                        "history {history}"
                    );
                }
            }
            assert_eq!(board.board().length(), model.columns.len(), "history {history}");
            assert_eq!(duel.is_over(&board), model.is_over(), "history {history}");
            assert_eq!(json!(duel.clock.as_ref().map(Clock::view)), model.shown(None)["clock"], "history {history}");
        }
        let played: Vec<String> = board.board().moves().iter().map(|played| played.text.clone()).collect();
        let expected: Vec<&str> = model.columns.iter().map(|column| COLUMNS[*column]).collect();
        assert_eq!(played, expected, "history {history}");
        for (role, me) in [(Role::Seat(Who::Inviter), Some(Who::Inviter)), (Role::Watcher, None)] {
            let mut view = page::view(&board);
            duel.show(&mut view, role, &board);
            let expected = model.shown(me);
            for (name, value) in expected.as_object().unwrap() {
                assert_eq!(view["duel"][name], *value, "history {history}: {name}");
            }
        }
    }
    assert!(flags > 500 && restarts > 1000, "{flags} flags, {restarts} restarts");
}
