//! The part of an environment that one thread steps: a shard of the slots, and the opponent in their games.

use std::ops::Range;
use std::sync::Arc;

use super::Line;
use super::settings::{Autoreset, EnvSettings, Opponent, Seat};
use super::shard::{Finished, Shard};
use crate::game::{Action, Game, Mask, Player};
use crate::random::{Draws, Stream, slot_stream, stream};

/// Mixed into the seed, so that the opponent's random numbers and the draw of the caller's side do not depend on those
/// of the games.
const OPPONENT: u64 = 0x6f70_706f_6e65_6e74;
const SIDES: u64 = 0x7369_6465_735f_5f5f;

/// An opponent can end a game before the caller has acted in it. Another game then starts in that slot at once, and
/// nobody is told of the first one. After this many attempts, the game begins without random plies, because otherwise
/// every opening might leave the caller no action.
const MOST_ATTEMPTS: u64 = 16;

/// After this many attempts in one step, we conclude that the opponent can end every game at once.
const HOPELESS: u64 = 10_000;

/// Everything that determines how a new game begins, besides its slot and its number in that slot. The time at which it
/// begins does not matter. Therefore an environment of one game plays the same games as a slot with the same seed.
#[derive(Clone)]
pub(super) struct NewGames {
    pub settings: EnvSettings,
    /// `[slots]`: a seed for each slot; empty if all slots use the seed of the settings.
    pub seeds: Arc<[u64]>,
}

impl NewGames {
    /// The seed and the slot number from which a slot's random numbers are derived. A slot with a seed of its own
    /// plays the games of slot 0 of an environment with that seed.
    #[inline]
    pub(super) fn origin(&self, slot: u64) -> (u64, u64) {
        match self.seeds.get(slot as usize) {
            Some(&seed) => (seed, 0),
            None => (self.settings.seed, slot),
        }
    }

    /// The opening of the game with this number in a slot, after some attempts to begin one in the same step.
    #[inline]
    fn opening<G: Game>(&self, game: &G, slot: u64, number: u64, attempts: u64) -> Line<G::Position> {
        if self.settings.random_plies == 0 || attempts > MOST_ATTEMPTS {
            return Line::at(game.start());
        }
        // `VecEnv::sample` uses the seed itself; the inverted seed gives independent numbers.
        let (seed, slot) = self.origin(slot);
        Line::random(game, self.settings.random_plies, &mut slot_stream(!seed, slot, number))
    }

    /// The caller's side in the game with this number in a slot.
    #[inline]
    fn side(&self, slot: u64, number: u64) -> Player {
        match self.settings.seat {
            Seat::White => Player::White,
            Seat::Black => Player::Black,
            Seat::Random => {
                let (seed, slot) = self.origin(slot);
                Player::BOTH[(Draws::new(seed ^ SIDES, number).bits(slot) & 1) as usize]
            }
        }
    }

    /// The opponent's random numbers at a ply of the game with this number in a slot.
    fn of_opponent(&self, slot: u64, number: u64, ply: u32) -> Stream {
        let (seed, slot) = self.origin(slot);
        stream(Draws::new(seed ^ OPPONENT, slot).bits(number), ply.into())
    }
}

/// The games in the slots of a shard.
#[derive(Clone)]
pub(super) struct SlotGames<G: Game> {
    pub shard: Shard<G>,
    pub begun: Vec<u64>,     // [slots], the games so far
    pub acted_in: Vec<u64>,  // [slots], the last game in which the caller acted, against an opponent
    pub sides: Vec<Player>,  // [slots], of the caller
    pub actors: Vec<Player>, // [slots], whose actions the last step played
    pub finished: Vec<Finished<G::Position>>,
}

impl<G: Game> SlotGames<G> {
    /// Starts a game in each of the slots with these numbers, which count over all shards.
    pub(super) fn new(game: &G, numbers: Range<usize>, new: &NewGames) -> SlotGames<G> {
        let mut games = SlotGames {
            begun: vec![0; numbers.len()],
            acted_in: vec![0; numbers.len()],
            sides: vec![Player::White; numbers.len()],
            actors: vec![Player::White; numbers.len()],
            finished: Vec::with_capacity(numbers.len()),
            shard: Shard::new(game, numbers, new.settings.keep, |_| None),
        };
        games.restart(new, |_| true);
        games
    }

    /// The same slots with new games, as at the start of an environment.
    pub(super) fn fresh(&self, new: &NewGames) -> SlotGames<G> {
        SlotGames::new(self.shard.game(), self.numbers(), new)
    }

    /// The numbers of the slots, counted over all shards.
    pub(super) fn numbers(&self) -> Range<usize> {
        let first = self.shard.number(0) as usize;
        first..first + self.shard.len()
    }

    /// Starts other games in the slots for whose number `which` returns true.
    pub(super) fn restart(&mut self, new: &NewGames, which: impl Fn(usize) -> bool) {
        self.finished.clear();
        for (slot, number) in self.numbers().enumerate() {
            if which(number) {
                self.begin(new, slot);
            }
        }
    }

    /// Starts games from openings, given with the number of their slot. Slots of other shards are skipped. These games
    /// are the caller's choice, so they are reported even if the opponent ends them at once.
    pub(super) fn start(&mut self, new: &NewGames, openings: &[(usize, Line<G::Position>)]) {
        self.finished.clear();
        let numbers = self.numbers();
        for (number, opening) in openings.iter().filter(|(slot, _)| numbers.contains(slot)) {
            let slot = number - numbers.start;
            self.shard.start(slot, opening.clone());
            self.begun[slot] += 1;
            self.acted_in[slot] = self.begun[slot];
            self.sides[slot] = new.side(*number as u64, self.begun[slot]);
        }
    }

    /// Starts another game in a slot of this shard.
    fn begin(&mut self, new: &NewGames, slot: usize) {
        let opening = next(&self.shard, slot, new, 0, (&mut self.begun, &mut self.sides));
        self.shard.start(slot, opening);
    }

    /// Plays one action in every game.
    fn step(&mut self, new: &NewGames, actions: &[Action]) {
        self.finished.clear();
        let waiting: Vec<usize> = match new.settings.autoreset {
            Autoreset::NextStep => (0..self.shard.len()).filter(|&slot| self.shard.is_idle(slot)).collect(),
            Autoreset::SameStep | Autoreset::Disabled => Vec::new(),
        };
        let SlotGames { shard, begun, sides, finished, .. } = self;
        shard.step(actions, |ended, shard| finish(shard, ended, new, (begun, sides), finished));
        for slot in waiting {
            self.begin(new, slot);
        }
    }

    /// Plays the opponent's actions of one round. They belong to the last step.
    ///
    /// # Panics
    /// Panics if in this step the opponent has ended very many games before the caller could act.
    fn reply(&mut self, new: &NewGames, actions: &[(usize, Action)], round: u64) {
        let SlotGames { shard, begun, acted_in, sides, finished, .. } = self;
        shard.step_some(actions, |ended, shard| match begun[ended.slot] == acted_in[ended.slot] {
            true => finish(shard, ended, new, (begun, sides), finished),
            false => {
                assert!(round < HOPELESS, "the opponent ends every game before the caller can act");
                Some(next(shard, ended.slot, new, round + 1, (begun, sides)))
            }
        });
    }
}

/// Records a game that has ended. Returns the opening of the next game if it starts in the same step.
#[inline]
fn finish<G: Game>(
    shard: &Shard<G>,
    ended: Finished<G::Position>,
    new: &NewGames,
    of_slots: (&mut [u64], &mut [Player]),
    finished: &mut Vec<Finished<G::Position>>,
) -> Option<Line<G::Position>> {
    let slot = ended.slot;
    finished.push(Finished { slot: shard.number(slot) as usize, ..ended });
    (new.settings.autoreset == Autoreset::SameStep).then(|| next(shard, slot, new, 0, of_slots))
}

/// The opening of the next game in a slot of a shard.
#[inline]
fn next<G: Game>(
    shard: &Shard<G>,
    slot: usize,
    new: &NewGames,
    attempts: u64,
    (begun, sides): (&mut [u64], &mut [Player]),
) -> Line<G::Position> {
    begun[slot] += 1;
    let (place, number) = (shard.number(slot), begun[slot]);
    sides[slot] = new.side(place, number);
    new.opening(shard.game(), place, number, attempts)
}

/// The games of a shard, and the opponent in them.
pub(super) struct SeatedShard<G: Game> {
    pub games: SlotGames<G>,
    pub opponent: Option<Box<dyn Opponent<G>>>,
}

impl<G: Game> SeatedShard<G> {
    /// Plays the caller's action in every game, then the opponent's actions. Returns false if the opponent was
    /// interrupted.
    pub(super) fn step(&mut self, new: &NewGames, actions: &[Action]) -> bool {
        if self.opponent.is_some() {
            self.note_actors();
            self.games.acted_in.clone_from(&self.games.begun);
        }
        self.games.step(new, &actions[self.games.numbers()]);
        self.reply(new)
    }

    /// Lets the opponent play first where it is to move. Returns false if the opponent was interrupted.
    pub(super) fn begin(&mut self, new: &NewGames) -> bool {
        let done = self.reply(new);
        self.note_actors();
        done
    }

    /// Records whose action the next step will play.
    pub(super) fn note_actors(&mut self) {
        let SlotGames { shard, sides, actors, .. } = &mut self.games;
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

    /// Lets the opponent act until the caller is to move in every game. Returns false if the opponent was
    /// interrupted.
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
                let ply = shard.game().ply(shard.position(slot));
                new.of_opponent(shard.number(slot), games.begun[slot], ply)
            };
            let mut streams: Vec<Stream> = asked.iter().map(stream).collect();
            let positions: Vec<G::Position> = asked.iter().map(|&slot| *shard.position(slot)).collect();
            let Some(actions) = opponent.choose(&positions, &mut streams) else { return false };
            assert_eq!(actions.len(), asked.len(), "one action per position");
            let actions: Vec<(usize, Action)> = asked.into_iter().zip(actions).collect();
            games.reply(new, &actions, round);
        }
        games.finished.sort_unstable_by_key(|ended| ended.slot); // those that the opponent ended came last
        true
    }
}
