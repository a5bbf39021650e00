//! The part of an environment that one thread steps: a shard, and the opponent in its games.

use std::ops::Range;
use std::sync::Arc;

use super::vec_env::{Autoreset, EnvSettings, Finished, Opponent, Seat};
use super::{Line, Shard};
use crate::game::{Action, Game, Mask, Player};
use crate::random::{Draws, Stream, slot_stream};

/// Mixed into the seed for the opponent's random numbers, and for the side of the caller.
const OPPONENT: u64 = 0x6f70_706f_6e65_6e74;
const SIDES: u64 = 0x7369_6465_735f_5f5f;

/// If an opponent ends a game before the caller acts in it, the next one of the same step begins with other random
/// numbers: those of a step with the number of the attempt in its bits from this one on. After some attempts, games
/// begin without random plies, because all openings may be too long for the caller to act.
const ATTEMPTS: u32 = 32;
const MOST_ATTEMPTS: u64 = 16;

/// What decides how a new game begins.
#[derive(Clone)]
pub(super) struct NewGames {
    pub settings: EnvSettings,
    /// A seed for each slot, or none: then the seed of the settings is that of all.
    pub seeds: Arc<[u64]>,
    /// Resets without a seed so far, so that they start other games.
    pub resets: u64,
}

impl NewGames {
    /// The seed and the number that a slot's random numbers come from: with a seed of its own, those of the first slot
    /// of an environment with that seed.
    #[inline]
    pub(super) fn origin(&self, slot: u64) -> (u64, u64) {
        match self.seeds.get(slot as usize) {
            Some(&seed) => (seed, 0),
            None => (self.settings.seed, slot),
        }
    }

    /// The opening of the game that starts in a slot at a step.
    #[inline]
    fn opening<G: Game>(&self, game: &G, slot: u64, step: u64) -> Line<G::Position> {
        if self.settings.random_plies == 0 || step >> ATTEMPTS > MOST_ATTEMPTS {
            return Line::at(game.start());
        }
        // The seed is inverted because `VecEnv::sample` uses the seed itself.
        let (seed, slot) = self.origin(slot);
        let seed = !seed ^ self.resets.rotate_right(8);
        let mut stream = slot_stream(seed, slot, step);
        Line::random(game, self.settings.random_plies, &mut stream)
    }

    /// The caller's side in the game that starts in a slot at a step.
    #[inline]
    fn side(&self, slot: u64, step: u64) -> Player {
        match self.settings.seat {
            Seat::White => Player::White,
            Seat::Black => Player::Black,
            Seat::Random => {
                let (seed, slot) = self.origin(slot);
                let seed = seed ^ SIDES ^ self.resets.rotate_right(8);
                Player::BOTH[(Draws::new(seed, step).bits(slot) & 1) as usize]
            }
        }
    }
}

/// The games of a shard.
#[derive(Clone)]
pub(super) struct Games<G: Game> {
    pub shard: Shard<G>,
    pub sides: Vec<Player>,  // [slots], of the caller
    pub actors: Vec<Player>, // [slots], whose actions the last step played
    pub finished: Vec<Finished<G::Position>>,
}

impl<G: Game> Games<G> {
    /// New games in the slots with these numbers.
    pub(super) fn new(game: &G, numbers: Range<usize>, new: &NewGames) -> Games<G> {
        let mut games = Games {
            sides: vec![Player::White; numbers.len()],
            actors: vec![Player::White; numbers.len()],
            finished: Vec::with_capacity(numbers.len()),
            shard: Shard::new(game, numbers, new.settings.keep, |_| None),
        };
        games.restart(new, |_| true);
        games
    }

    /// New games in the same slots, as at the start.
    pub(super) fn fresh(&self, new: &NewGames) -> Games<G> {
        Games::new(self.shard.game(), self.numbers(), new)
    }

    /// The numbers of its slots.
    pub(super) fn numbers(&self) -> Range<usize> {
        let first = self.shard.number(0) as usize;
        first..first + self.shard.len()
    }

    /// Starts other games in the slots with these numbers.
    pub(super) fn restart(&mut self, new: &NewGames, which: impl Fn(usize) -> bool) {
        self.finished.clear();
        for (slot, number) in self.numbers().enumerate() {
            if which(number) {
                self.begin(new, slot);
            }
        }
    }

    /// Starts games from these openings in the slots with these numbers.
    pub(super) fn start(&mut self, new: &NewGames, openings: &[(usize, Line<G::Position>)]) {
        self.finished.clear();
        let numbers = self.numbers();
        for (number, opening) in openings.iter().filter(|(slot, _)| numbers.contains(slot)) {
            let slot = number - numbers.start;
            self.shard.start(slot, opening.clone());
            self.sides[slot] = new.side(*number as u64, self.shard.steps());
        }
    }

    /// Starts another game in a slot.
    fn begin(&mut self, new: &NewGames, slot: usize) {
        let (number, step) = (self.shard.number(slot), self.shard.steps());
        self.shard.start(slot, new.opening(self.shard.game(), number, step));
        self.sides[slot] = new.side(number, step);
    }

    /// Plays one action in every game.
    fn step(&mut self, new: &NewGames, actions: &[Action]) {
        self.finished.clear();
        let waiting: Vec<usize> = match new.settings.autoreset {
            Autoreset::NextStep => (0..self.shard.len()).filter(|&slot| self.shard.is_idle(slot)).collect(),
            Autoreset::SameStep | Autoreset::Disabled => Vec::new(),
        };
        let (first, step) = (self.shard.number(0), self.shard.steps() + 1);
        let Games { shard, sides, finished, .. } = self;
        shard.step(actions, |ended, shard| finish((shard.game(), ended), new, (first, step), sides, finished));
        for slot in waiting {
            self.begin(new, slot);
        }
    }

    /// Plays the actions of an opponent, which belong to the last step, in a round of them. If that step ended a game
    /// of the caller, one that begins and ends before the caller acts in it is no result of the step.
    fn reply(&mut self, new: &NewGames, actions: &[(usize, Action)], round: u64) {
        let (first, step) = (self.shard.number(0), self.shard.steps());
        let Games { shard, sides, finished, .. } = self;
        shard.step_some(actions, |ended, shard| {
            let ended = (shard.game(), ended);
            let slot = first as usize + ended.1.slot;
            if !finished.iter().any(|ended| ended.slot == slot) {
                return finish(ended, new, (first, step), sides, finished);
            }
            let step = step | (round + 1).min(MOST_ATTEMPTS + 1) << ATTEMPTS;
            let next = finish(ended, new, (first, step), sides, finished);
            finished.pop();
            next
        });
    }
}

/// Notes a game that ended in the shard whose first slot has the number `first`. Returns the opening of the next one
/// if it begins at once.
#[inline]
fn finish<G: Game>(
    (game, ended): (&G, Finished<G::Position>),
    new: &NewGames,
    (first, step): (u64, u64),
    sides: &mut [Player],
    finished: &mut Vec<Finished<G::Position>>,
) -> Option<Line<G::Position>> {
    let number = first + ended.slot as u64;
    finished.push(Finished { slot: number as usize, ..ended });
    if new.settings.autoreset != Autoreset::SameStep {
        return None;
    }
    sides[ended.slot] = new.side(number, step);
    Some(new.opening(game, number, step))
}

/// The games of a shard with the opponent in them.
pub(super) struct Part<G: Game> {
    pub games: Games<G>,
    pub opponent: Option<Box<dyn Opponent<G>>>,
}

impl<G: Game> Part<G> {
    /// Plays one action in every game, then those of the opponent. Returns whether it was not interrupted.
    pub(super) fn step(&mut self, new: &NewGames, actions: &[Action]) -> bool {
        if self.opponent.is_some() {
            self.note_actors();
        }
        self.games.step(new, &actions[self.games.numbers()]);
        self.reply(new)
    }

    /// Lets the opponent begin. Returns whether it was not interrupted.
    pub(super) fn begin(&mut self, new: &NewGames) -> bool {
        let done = self.reply(new);
        self.note_actors();
        done
    }

    /// Notes whose actions the next step plays.
    pub(super) fn note_actors(&mut self) {
        let Games { shard, sides, actors, .. } = &mut self.games;
        if self.opponent.is_some() {
            actors.copy_from_slice(sides);
            return;
        }
        for (slot, actor) in shard.slots.iter().zip(actors) {
            if !slot.legal.is_empty() {
                *actor = shard.game().to_move(&slot.position);
            }
        }
    }

    /// Lets the opponent act until the caller is to move in every game. Returns whether it was not interrupted.
    pub(super) fn reply(&mut self, new: &NewGames) -> bool {
        let Some(opponent) = &mut self.opponent else { return true };
        let games = &mut self.games;
        for round in 0_u64.. {
            let shard = &games.shard;
            let waits = |slot: &usize| {
                let mover = shard.game().to_move(shard.position(*slot));
                !shard.is_idle(*slot) && mover != games.sides[*slot]
            };
            let asked: Vec<usize> = (0..shard.len()).filter(waits).collect();
            if asked.is_empty() {
                break;
            }
            let stream = |&slot: &usize| {
                let (seed, number) = new.origin(shard.number(slot));
                let seed = (seed ^ OPPONENT).wrapping_add(round);
                slot_stream(seed, number, shard.steps())
            };
            let mut streams: Vec<Stream> = asked.iter().map(stream).collect();
            let positions: Vec<G::Position> = asked.iter().map(|&slot| *shard.position(slot)).collect();
            let Some(actions) = opponent.choose(&positions, &mut streams) else { return false };
            assert_eq!(actions.len(), asked.len(), "one action per position");
            let actions: Vec<(usize, Action)> = asked.into_iter().zip(actions).collect();
            games.reply(new, &actions, round);
        }
        true
    }
}
