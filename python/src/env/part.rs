//! The games of one thread: a shard of the library's environment, and the opponent in them.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use jarmo_exact::agent::{Agent, Limit, Request};
use jarmo_exact::catalog::CatalogGame;
use jarmo_core::env::{EnvError, Keep, Opening, SavedGame, Shard};
use jarmo_core::game::{Action, Game, Mask, Outcome, Player};
use jarmo_core::random::{Draws, Stream, slot_stream};

use super::log::Log;
use super::out::{Features, Masks, Out};
use super::{Autoreset, Learner};
use crate::position::write_features;

/// Mixed into the seed for the opponent's random numbers, and for the side of the learner.
const OPPONENT: u64 = 0x6f70_706f_6e65_6e74;
const SIDES: u64 = 0x7369_6465_735f_5f5f;

/// How games begin and go on.
#[derive(Clone, Copy)]
pub struct Course {
    pub seed: u64,
    /// Resets without a seed so far, so that they start other games.
    pub resets: u64,
    pub autoreset: Autoreset,
    pub learner: Learner,
    pub opening_plies: u32,
    pub threats: bool,
}

impl Course {
    /// The opening of the game that starts in a slot at a step: the same as in the library's environment.
    fn opening<G: Game>(&self, game: &G, slot: u64, step: u64) -> Opening<G::Position> {
        if self.opening_plies == 0 {
            return Opening::at(game.start());
        }
        let seed = !self.seed ^ self.resets.rotate_right(8);
        let mut stream = slot_stream(seed, slot, step);
        Opening::random(game, self.opening_plies, &mut stream)
    }

    /// The learner's side in the game that starts in a slot at a step.
    fn side(&self, slot: u64, step: u64) -> Player {
        match self.learner {
            Learner::White => Player::White,
            Learner::Black => Player::Black,
            Learner::Random => {
                let draws = Draws::new(self.seed ^ SIDES ^ self.resets.rotate_right(8), step);
                Player::BOTH[(draws.bits(slot) & 1) as usize]
            }
        }
    }
}

/// A game that ended in the last step.
pub struct Ended<P> {
    pub slot: usize, // in this part
    pub position: P,
    outcome: Outcome,
}

/// The games of one thread.
pub struct Part<G: CatalogGame> {
    pub shard: Shard<G>,
    pub ended: Vec<Ended<G::Position>>,
    pub sides: Vec<Player>, // [slots], of the learner; only used with an opponent
    opponent: Option<Mutex<Box<dyn Agent<G>>>>, // only so that a part can be shared
    /// The actions of all games. With an opponent the shard keeps them, because not every slot acts equally often.
    log: Option<Log<G::Position>>,
}

impl<G: CatalogGame> Part<G> {
    pub fn new(
        game: &G,
        slots: Range<usize>,
        course: &Course,
        opponent: Option<Box<dyn Agent<G>>>,
    ) -> Part<G> {
        let keep = Keep {
            history: opponent.is_some(),
            events: false,
        };
        let log = opponent.is_none().then(|| Log::new(slots.len(), 0));
        let mut part = Part {
            shard: Shard::new(game, slots.clone(), keep, |_| None),
            ended: Vec::new(),
            sides: vec![Player::White; slots.len()],
            opponent: opponent.map(Mutex::new),
            log,
        };
        part.restart(course, |_| true);
        part
    }

    /// Starts other games in some slots.
    pub fn restart(&mut self, course: &Course, which: impl Fn(usize) -> bool) {
        let step = self.shard.steps();
        self.ended.clear();
        for slot in (0..self.shard.len()).filter(|&slot| which(slot)) {
            let number = self.shard.number(slot);
            let opening = course.opening(self.shard.game(), number, step);
            if let Some(log) = &mut self.log {
                log.begin(slot, step, &opening);
            }
            self.shard.start(slot, opening);
            self.sides[slot] = course.side(number, step);
        }
        self.reply(course);
    }

    /// Plays one action in every game, then those of the opponent.
    pub fn step(&mut self, course: &Course, actions: &[Action]) {
        let step = self.shard.steps() + 1;
        self.ended.clear();
        let waiting: Vec<usize> = match course.autoreset {
            Autoreset::NextStep => (0..self.shard.len())
                .filter(|&slot| self.shard.is_idle(slot))
                .collect(),
            Autoreset::SameStep | Autoreset::Disabled => Vec::new(),
        };
        let Part {
            shard,
            ended,
            sides,
            log,
            ..
        } = self;
        if let Some(log) = log {
            log.push(actions);
        }
        let (game, first) = (shard.game().clone(), shard.number(0));
        shard.step(actions, |finished| {
            ended.push(Ended {
                slot: finished.slot,
                position: *finished.position,
                outcome: finished.outcome,
            });
            let opening = next_game(course, &game, first, finished.slot, step, sides);
            if let (Some(log), Some(opening)) = (&mut *log, &opening) {
                log.begin(finished.slot, step, opening);
            }
            opening
        });
        for slot in waiting {
            let number = shard.number(slot);
            let opening = course.opening(&game, number, step);
            if let Some(log) = log {
                log.begin(slot, step, &opening);
            }
            shard.start(slot, opening);
            sides[slot] = course.side(number, step);
        }
        self.reply(course);
    }

    /// Lets the opponent act until the learner is to move in every game.
    fn reply(&mut self, course: &Course) {
        let Some(opponent) = &mut self.opponent else {
            return;
        };
        let opponent = opponent.get_mut().unwrap_or_else(PoisonError::into_inner);
        let Part {
            shard,
            ended,
            sides,
            ..
        } = self;
        let (game, first, step) = (shard.game().clone(), shard.number(0), shard.steps());
        for round in 0_u64.. {
            let asked = (0..shard.len()).filter(|&slot| {
                !shard.is_idle(slot) && game.to_move(shard.position(slot)) != sides[slot]
            });
            let asked: Vec<usize> = asked.collect();
            if asked.is_empty() {
                return;
            }
            let seed = (course.seed ^ OPPONENT).wrapping_add(round);
            let streams = asked
                .iter()
                .map(|&slot| slot_stream(seed, first + slot as u64, step));
            let mut streams: Vec<Stream> = streams.collect();
            let requests = asked.iter().zip(&mut streams);
            let mut requests: Vec<Request<'_, G>> = requests
                .map(|(&slot, stream)| Request {
                    position: *shard.position(slot),
                    stream,
                    limit: Limit::default(),
                    memory: None,
                })
                .collect();
            let choices = opponent.choose(&mut requests);
            let actions = asked.into_iter().zip(choices);
            let actions = actions.map(|(slot, choice)| (slot, choice.action));
            shard.step_some(actions, |finished| {
                ended.push(Ended {
                    slot: finished.slot,
                    position: *finished.position,
                    outcome: finished.outcome,
                });
                next_game(course, &game, first, finished.slot, step, sides)
            });
        }
    }

    /// Writes the row of every game.
    pub fn write(&self, course: &Course, out: Out<'_>) {
        let game = self.shard.game();
        match out.features {
            Features::Float(all) => self.write_features(course, all, out.zeroed),
            Features::Byte(all) => self.write_features(course, all, out.zeroed),
        }
        match out.masks {
            Masks::Bool(all) => {
                if !out.zeroed {
                    all.fill(false);
                }
                for (slot, row) in all.chunks_exact_mut(game.actions()).enumerate() {
                    for action in self.shard.legal(slot).iter() {
                        row[action.index()] = true;
                    }
                }
            }
            Masks::Packed(all) => {
                let width = game.actions().div_ceil(8);
                for (slot, row) in all.chunks_exact_mut(width).enumerate() {
                    let words = self.shard.legal(slot).words().iter();
                    let bytes = words.flat_map(|word| word.to_le_bytes());
                    for (out, byte) in row.iter_mut().zip(bytes) {
                        *out = byte;
                    }
                }
            }
        }
        for (slot, out) in out.to_move.iter_mut().enumerate() {
            *out = game.to_move(self.shard.position(slot)).index() as i8;
        }
        out.rewards.fill(0.0);
        out.terminated.fill(false);
        out.truncated.fill(false);
        for Ended { slot, outcome, .. } in &self.ended {
            for player in Player::BOTH {
                let reward = outcome.verdict(player).sign();
                out.rewards[2 * slot + player.index()] = reward.into();
            }
            out.truncated[*slot] = outcome.truncated;
            out.terminated[*slot] = !outcome.truncated;
        }
    }

    fn write_features<T: Copy + From<bool>>(&self, course: &Course, all: &mut [T], zeroed: bool) {
        let game = self.shard.game();
        let width = all.len() / self.shard.len();
        for (slot, row) in all.chunks_exact_mut(width).enumerate() {
            if !zeroed {
                row.fill(T::from(false));
            }
            write_features(game, self.shard.position(slot), row, course.threats);
        }
    }

    /// Why an action cannot be played in a slot, if it cannot.
    pub fn refusal(&self, slot: usize, action: i64, autoreset: Autoreset) -> Option<String> {
        let game = self.shard.game();
        let actions = game.actions();
        let number = self.shard.number(slot);
        if self.shard.is_idle(slot) {
            return match autoreset {
                Autoreset::NextStep => None, // the action is ignored
                Autoreset::SameStep | Autoreset::Disabled => Some(format!(
                    "actions[{number}]: the game in this slot is over; reset it first"
                )),
            };
        }
        if !(0..actions as i64).contains(&action) {
            return Some(format!(
                "actions[{number}] is {action}; the game has only actions 0 to {}",
                actions - 1
            ));
        }
        let action = Action(action as u16);
        if self.shard.legal(slot).contains(action) {
            return None;
        }
        let mut position = *self.shard.position(slot);
        let refused = game.try_play(&mut position, action).err();
        let reason = refused.map_or("it is illegal".to_owned(), |error| error.to_string());
        Some(format!("actions[{number}] is {}: {reason}", action.0))
    }

    /// The unfinished games.
    pub fn save(&self) -> Vec<Option<SavedGame>> {
        let Some(log) = &self.log else {
            return self.shard.save().collect();
        };
        let saved = |slot| log.saved(self.shard.game(), slot);
        let slots = 0..self.shard.len();
        slots
            .map(|slot| (!self.shard.is_idle(slot)).then(|| saved(slot)))
            .collect()
    }

    /// Replaces the games by saved ones, with the learner's sides in them. The part must be new.
    pub fn restore(
        &mut self,
        steps: u64,
        games: &[Option<SavedGame>],
        sides: Vec<Player>,
    ) -> Result<(), EnvError> {
        self.ended.clear();
        self.sides = sides;
        self.shard.restore(steps, games)?;
        if let Some(log) = &mut self.log {
            *log = Log::new(self.shard.len(), steps);
            for (slot, saved) in games.iter().enumerate() {
                if let Some(saved) = saved {
                    log.begin(slot, steps, &saved.opening(self.shard.game())?);
                }
            }
        }
        Ok(())
    }
}

/// The opening of the game after one that ended, if it begins at once.
fn next_game<G: CatalogGame>(
    course: &Course,
    game: &G,
    first: u64,
    slot: usize,
    step: u64,
    sides: &mut [Player],
) -> Option<Opening<G::Position>> {
    if course.autoreset != Autoreset::SameStep {
        return None;
    }
    let number = first + slot as u64;
    sides[slot] = course.side(number, step);
    Some(course.opening(game, number, step))
}
