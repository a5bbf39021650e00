//! Random histories of a game of two, against a model that keeps only what the two people agreed on.

use std::net::{IpAddr, Ipv4Addr};

use super::{Duel, Hashed, Role, Who};
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

const HISTORIES: u64 = 1_000;
const EVENTS: usize = 40;
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
    ended: Option<Option<Player>>, // the winner, if somebody resigned
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

    fn join(&mut self, secret: &'static str) -> Option<Who> {
        if secret == SECRETS[0] {
            return Some(Who::Inviter);
        }
        (*self.guest.get_or_insert(secret) == secret).then_some(Who::Guest)
    }

    /// Whether this is allowed. If so, it is done.
    fn play(&mut self, who: Who, column: usize) -> bool {
        let position = self.position();
        let is_allowed = !self.is_over()
            && self.game.to_move(&position) == self.player(who)
            && self.game.legal(&position).contains(Action(column as u16));
        if is_allowed {
            self.columns.push(column);
            self.offer = None;
        }
        is_allowed
    }

    fn resign(&mut self, who: Who) -> bool {
        let is_allowed = !self.is_over();
        if is_allowed {
            self.ended = Some(Some(!self.player(who)));
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
                Offer::Draw => self.ended = Some(None),
                Offer::Undo => self.columns.truncate(self.before_last(by).unwrap()),
                Offer::Rematch => {
                    self.ended = None;
                    self.white = self.white.other();
                    self.columns.clear();
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
            "ended": self.ended.map(|winner| json!({ "winner": winner })),
            "over": self.is_over(),
        })
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
    let (texts, defaults) = (Language::En.texts(), defaults());
    let fresh = GameRecord { game: defaults.game.clone(), ..GameRecord::default() }.to_line();
    for history in 0..HISTORIES {
        let mut random = stream(history, 1);
        let side = Player::BOTH[draw(&mut random, 2)];
        let mut board = session(fresh.clone(), &defaults);
        let mut duel = Duel::new(IpAddr::V4(Ipv4Addr::LOCALHOST), side, SECRETS[0]);
        let mut model = Model {
            game: ConnectFour::new(0),
            columns: Vec::new(),
            white: if side == Player::White { Who::Inviter } else { Who::Guest },
            guest: None,
            offer: None,
            ended: None,
        };
        for _ in 0..EVENTS {
            let who = Who::BOTH[draw(&mut random, 2)];
            let act = |duel: &mut Duel, board: &mut Session, command| duel.act(board, who, command, texts).is_ok();
            match draw(&mut random, 32) {
                0..=2 => {
                    let secret = SECRETS[draw(&mut random, 3)];
                    assert_eq!(duel.join(&Hashed::of(secret)), model.join(secret), "history {history}");
                }
                3 => {
                    // The server starts again with what it keeps on disk.
                    board = session(board.record().to_line(), &defaults);
                    duel = serde_json::from_str(&serde_json::to_string(&duel).unwrap()).unwrap();
                }
                4 => {
                    let cheats = [Command::Undo {}, Command::NewGame {}, Command::Hint {}, Command::Swap {}];
                    for cheat in cheats {
                        assert!(!act(&mut duel, &mut board, cheat), "history {history}");
                    }
                }
                5 => {
                    assert!(act(&mut duel, &mut board, Command::Decline {}));
                    model.offer = None;
                }
                6 => assert_eq!(act(&mut duel, &mut board, Command::Resign {}), model.resign(who), "history {history}"),
                7..=15 => {
                    // Often the answer to an offer.
                    let what = model.offer.map_or(OFFERS[draw(&mut random, 3)], |(_, what)| what);
                    assert_eq!(
                        act(&mut duel, &mut board, Command::Offer { what }),
                        model.offer(who, what),
                        "history {history}"
                    );
                }
                _ => {
                    let column = draw(&mut random, COLUMNS.len());
                    let command = Command::Play { text: COLUMNS[column].to_owned() };
                    assert_eq!(act(&mut duel, &mut board, command), model.play(who, column), "history {history}");
                }
            }
            let played: Vec<String> = board.board().moves().iter().map(|played| played.text.clone()).collect();
            let expected: Vec<&str> = model.columns.iter().map(|column| COLUMNS[*column]).collect();
            assert_eq!(played, expected, "history {history}");
            assert_eq!(duel.is_over(&board), model.is_over(), "history {history}");
        }
        for (role, me) in [(Role::Seat(Who::Inviter), Some(Who::Inviter)), (Role::Watcher, None)] {
            let mut view = page::view(&board);
            duel.show(&mut view, role, &board);
            let expected = model.shown(me);
            for (name, value) in expected.as_object().unwrap() {
                assert_eq!(view["duel"][name], *value, "history {history}: {name}");
            }
        }
    }
}
