//! Many games that advance together on the threads of a pool.

use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::games::{Games, NewGames, Part};
use super::rows::Rows;
use super::saved::Terms;
use super::{EnvState, GameStats, Keep, Line, SavedEnv, Shard};
use crate::encode::Encode;
use crate::error::FileError;
use crate::game::{Action, Game, Outcome, Player};
use crate::random::{Draws, Stream};

/// A shard has at least this many games. With fewer, handing it to a thread costs more than it saves.
const MIN_PER_THREAD: usize = 128;

/// When the next game begins in a slot whose game has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Autoreset {
    /// In the next step, which ignores the action of this slot.
    NextStep,
    /// At once.
    #[default]
    SameStep,
    /// When the caller resets it.
    Disabled,
}

/// The side of the caller in games against an opponent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seat {
    /// White in all games.
    #[default]
    White,
    /// Black in all games.
    Black,
    /// Drawn for each game.
    Random,
}

/// How the games of an environment begin and go on.
#[derive(Clone, Copy, Debug)]
pub struct EnvSettings {
    /// The number of games.
    pub games: usize,
    /// The seed of all randomness.
    pub seed: u64,
    /// The most shards, each stepped by one thread at a time. Their number changes no result.
    pub threads: usize,
    /// When the next game of a slot begins.
    pub autoreset: Autoreset,
    /// The side of the caller in games against an opponent.
    pub seat: Seat,
    /// Random plies at the start of each game.
    pub random_plies: u32,
    /// What is recorded besides positions.
    pub keep: Keep,
}

impl EnvSettings {
    /// Games from the start position on the threads of the current rayon pool.
    pub fn new(games: usize, seed: u64) -> EnvSettings {
        EnvSettings {
            games,
            seed,
            threads: rayon::current_num_threads(),
            autoreset: Autoreset::default(),
            seat: Seat::default(),
            random_plies: 0,
            keep: Keep::default(),
        }
    }
}

/// A player of the other side in the games of one shard.
pub trait Opponent<G: Game>: Send + Sync {
    /// Its name in saved environments.
    fn name(&self) -> String;

    /// An action for each of these positions. A choice must depend on its position and stream alone. `None` if the
    /// opponent was interrupted.
    fn choose(&mut self, positions: &[G::Position], streams: &mut [Stream]) -> Option<Vec<Action>>;

    /// Whether `choose` can return `None`. If so, each step keeps a copy of the games.
    fn can_be_interrupted(&self) -> bool {
        false
    }
}

/// An opponent was interrupted, so the environment did not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an opponent was interrupted")]
pub struct Interrupted;

/// A game that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finished<P> {
    /// Its slot.
    pub slot: usize,
    /// The final position.
    pub position: P,
    /// The outcome.
    pub outcome: Outcome,
}

/// Many games of the same rules that advance together, each in its own slot.
///
/// All random numbers are derived from seed, slot and step, so the same seed gives the same games on any
/// number of threads. The games are sharded over the threads of the current rayon pool. If each thread has
/// its own evaluator or agents, let each thread step its own [`Shard`] instead.
pub struct VecEnv<G: Game> {
    game: G,
    new: NewGames,
    share: usize, // games per shard; the last shard may have fewer
    parts: Vec<Part<G>>,
}

impl<G: Game> VecEnv<G> {
    /// `games` games at the start position. When a game ends, another one starts in its slot.
    ///
    /// # Panics
    /// Panics if `games` is 0.
    pub fn new(game: G, games: usize, seed: u64) -> VecEnv<G> {
        VecEnv::with_settings(game, EnvSettings::new(games, seed))
    }

    /// Games of which the caller plays both sides.
    ///
    /// ```
    /// use jarmo_core::env::{Autoreset, EnvSettings, VecEnv};
    /// use jarmo_core::game::Action;
    /// use jarmo_core::games::ConnectFour;
    ///
    /// // One game in each slot, after two random plies.
    /// let settings = EnvSettings { autoreset: Autoreset::Disabled, random_plies: 2, ..EnvSettings::new(10, 1) };
    /// let mut env = VecEnv::with_settings(ConnectFour::new(0), settings);
    /// let mut actions = [Action(0); 10];
    /// while (0..10).any(|slot| !env.is_idle(slot)) {
    ///     env.sample(&mut actions);
    ///     env.step(&actions);
    /// }
    /// assert_eq!(env.take_stats().games, 10);
    /// ```
    ///
    /// # Panics
    /// Panics if there are no games.
    pub fn with_settings(game: G, settings: EnvSettings) -> VecEnv<G> {
        let most = settings.games / MIN_PER_THREAD;
        let shards = settings.threads.min(most).max(1);
        VecEnv::build(game, settings, (0..shards).map(|_| None).collect()).expect("nobody is interrupted")
    }

    /// Games in which opponents play the other side: a step ends when the caller is to move again. There are as
    /// many shards as opponents, which must play alike.
    ///
    /// # Panics
    /// Panics if there are no games or no opponents.
    pub fn with_opponents(
        game: G,
        settings: EnvSettings,
        opponents: Vec<Box<dyn Opponent<G>>>,
    ) -> Result<VecEnv<G>, Interrupted> {
        VecEnv::build(game, settings, opponents.into_iter().map(Some).collect())
    }

    fn build(
        game: G,
        settings: EnvSettings,
        opponents: Vec<Option<Box<dyn Opponent<G>>>>,
    ) -> Result<VecEnv<G>, Interrupted> {
        assert!(settings.games > 0, "an environment needs at least one game");
        let new = NewGames { settings, seeds: Arc::default(), resets: 0 };
        let share = settings.games.div_ceil(opponents.len());
        let firsts = (0..settings.games).step_by(share);
        let part = |(first, opponent)| Part {
            games: Games::new(&game, first..settings.games.min(first + share), &new),
            opponent,
        };
        let mut env = VecEnv { parts: firsts.zip(opponents).map(part).collect(), share, new, game };
        env.change(None, |part, new, _| part.begin(new))?;
        Ok(env)
    }

    /// The rules.
    pub fn game(&self) -> &G {
        &self.game
    }

    /// The number of games.
    #[expect(clippy::len_without_is_empty, reason = "there is at least one game")]
    pub fn len(&self) -> usize {
        self.new.settings.games
    }

    /// The settings.
    pub fn settings(&self) -> &EnvSettings {
        &self.new.settings
    }

    /// The number of shards, each stepped by one thread at a time.
    pub fn shards(&self) -> usize {
        self.parts.len()
    }

    /// Steps since the start.
    pub fn steps(&self) -> u64 {
        self.parts[0].games.shard.steps()
    }

    /// The position of a game, which is never over. In an idle slot: the final position of the last game.
    pub fn position(&self, slot: usize) -> &G::Position {
        self.shard(slot).position(slot % self.share)
    }

    /// Whether a slot has no game. Steps skip idle slots.
    pub fn is_idle(&self, slot: usize) -> bool {
        self.shard(slot).is_idle(slot % self.share)
    }

    /// The game in a slot that is not idle, from its start.
    ///
    /// # Panics
    /// Panics unless [`Keep::history`] is set.
    pub fn history(&self, slot: usize) -> Line<G::Position> {
        self.shard(slot).history(slot % self.share)
    }

    /// The player to move in a game. The same player may act twice in a row.
    pub fn to_move(&self, slot: usize) -> Player {
        self.game.to_move(self.position(slot))
    }

    /// The legal actions of a game: empty exactly in idle slots.
    pub fn legal(&self, slot: usize) -> &G::Mask {
        self.shard(slot).legal(slot % self.share)
    }

    /// The legal actions of all games, slot by slot.
    pub fn all_legal(&self) -> impl Iterator<Item = &G::Mask> {
        self.shards_in_order().flat_map(|shard| shard.slots.iter().map(|slot| &slot.legal))
    }

    /// The caller's side in every game, slot by slot, if there is an opponent.
    pub fn sides(&self) -> impl Iterator<Item = Player> {
        self.parts.iter().flat_map(|part| part.games.sides.iter().copied())
    }

    /// Whose action the last step played in a slot: that of the caller's side against an opponent, else that of the
    /// player who was to move, which only [`VecEnv::step_into`] notes. Before a step: whose action it will play.
    pub fn actor(&self, slot: usize) -> Player {
        self.parts[slot / self.share].games.actors[slot % self.share]
    }

    /// The games that ended in the last step. Their slots have other games by now or are idle.
    pub fn finished(&self) -> impl Iterator<Item = &Finished<G::Position>> {
        self.parts.iter().flat_map(|part| &part.games.finished)
    }

    /// Writes the legal actions of every game.
    ///
    /// # Panics
    /// Panics unless `out` has one mask per game.
    pub fn masks(&self, out: &mut [G::Mask]) {
        assert_eq!(out.len(), self.len(), "one mask per game");
        self.write_each(out, 1, |games, out| {
            for (slot, out) in games.shard.slots.iter().zip(out) {
                *out = slot.legal;
            }
        });
    }

    /// Chooses a legal action for every game, uniformly at random. Repeated calls choose the same actions
    /// until the next step. Idle slots get action 0.
    ///
    /// # Panics
    /// Panics unless `out` has one action per game.
    pub fn sample(&self, out: &mut [Action]) {
        assert_eq!(out.len(), self.len(), "one action per game");
        let new = &self.new;
        self.write_each(out, 1, |games, out| match new.seeds.is_empty() {
            true => games.shard.sample(new.settings.seed, out),
            false => {
                let bits = |number| {
                    let (seed, number) = new.origin(number);
                    Draws::new(seed, games.shard.steps()).bits(number)
                };
                games.shard.sample_by(bits, out);
            }
        });
    }

    /// Plays one action in every game, then those of the opponents. When a game ends, another one starts or the
    /// slot becomes idle. Actions for idle slots are ignored.
    ///
    /// # Panics
    /// Panics unless there is one legal action per game, and if an opponent is interrupted.
    pub fn step(&mut self, actions: &[Action]) {
        assert_eq!(actions.len(), self.len(), "one action per game");
        self.change(None, |part, new, _| part.step(new, actions)).expect("no opponent is interrupted");
    }

    /// Starts other games, with other random numbers than those before: where `which` says so.
    pub fn reset(&mut self, which: impl Fn(usize) -> bool + Sync) -> Result<(), Interrupted> {
        self.new.resets += 1;
        let started = self.change(None, |part, new, _| {
            part.games.restart(new, &which);
            part.begin(new)
        });
        started.inspect_err(|_| self.new.resets -= 1)
    }

    /// Starts other games in some slots, from these openings.
    ///
    /// # Panics
    /// Panics if a game is over after its opening.
    pub fn start(&mut self, openings: &[(usize, Line<G::Position>)]) -> Result<(), Interrupted> {
        self.change(None, |part, new, _| {
            part.games.start(new, openings);
            part.begin(new)
        })
    }

    /// Starts everything again, as in a new environment with this seed.
    pub fn reseed(&mut self, seed: u64) -> Result<(), Interrupted> {
        let mut settings = self.new.settings;
        settings.seed = seed;
        self.renew(settings, Arc::default())
    }

    /// Starts everything again with a seed for each slot. The games of a slot are those of the first slot of an
    /// environment with its seed.
    ///
    /// # Panics
    /// Panics unless there is one seed per slot.
    pub fn reseed_each(&mut self, seeds: &[u64]) -> Result<(), Interrupted> {
        assert_eq!(seeds.len(), self.len(), "one seed per slot");
        self.renew(self.new.settings, seeds.into())
    }

    /// The seeds of the slots, if each has its own.
    pub fn seeds(&self) -> &[u64] {
        &self.new.seeds
    }

    fn renew(&mut self, settings: EnvSettings, seeds: Arc<[u64]>) -> Result<(), Interrupted> {
        let new = NewGames { settings, seeds, resets: 0 };
        let before = std::mem::replace(&mut self.new, new);
        let started = self.change(None, |part, new, _| {
            part.games = part.games.fresh(new);
            part.begin(new)
        });
        started.inspect_err(|_| self.new = before)
    }

    /// Returns the counts since the last call.
    pub fn take_stats(&mut self) -> GameStats {
        let mut all = GameStats::default();
        for part in &mut self.parts {
            all.add(&part.games.shard.take_stats());
        }
        all
    }

    /// The unfinished games, and what decides how they go on.
    ///
    /// # Panics
    /// Panics unless [`Keep::history`] is set.
    pub fn save(&self) -> SavedEnv {
        SavedEnv {
            terms: self.terms(),
            seed: self.new.settings.seed,
            seeds: self.new.seeds.to_vec(),
            resets: self.new.resets,
            sides: self.sides().map(|side| side.index() as u8).collect(),
            state: EnvState { steps: self.steps(), games: self.shards_in_order().flat_map(Shard::save).collect() },
        }
    }

    fn terms(&self) -> Terms {
        let opponent = self.parts[0].opponent.as_ref();
        Terms::new(&self.game, &self.new.settings, opponent.map(|opponent| opponent.name()))
    }

    /// Replaces the games by saved ones, which continue exactly as if they had not been interrupted. Fails if the saved
    /// environment had other settings; the seed and the number of threads may differ. On an error nothing changes.
    pub fn restore(&mut self, saved: &SavedEnv) -> Result<(), FileError> {
        saved.check(&self.terms())?;
        let mut new = self.new.clone();
        new.settings.seed = saved.seed;
        new.seeds = saved.seeds[..].into();
        new.resets = saved.resets;
        let restored = self.parts.iter().map(|part| {
            let numbers = part.games.numbers();
            let mut games = part.games.fresh(&new);
            let sides = &saved.sides[numbers.clone()];
            games.sides = sides.iter().map(|&side| Player::BOTH[usize::from(side != 0)]).collect();
            games.shard.restore(saved.state.steps, &saved.state.games[numbers])?;
            Ok(games)
        });
        let restored = restored.collect::<Result<Vec<_>, FileError>>()?;
        for (part, games) in self.parts.iter_mut().zip(restored) {
            part.games = games;
            part.note_actors();
        }
        self.new = new;
        Ok(())
    }

    fn shard(&self, slot: usize) -> &Shard<G> {
        &self.parts[slot / self.share].games.shard
    }

    fn shards_in_order(&self) -> impl Iterator<Item = &Shard<G>> {
        self.parts.iter().map(|part| &part.games.shard)
    }

    /// Whether an opponent can be interrupted.
    pub fn can_be_interrupted(&self) -> bool {
        self.parts.iter().flat_map(|part| &part.opponent).into_iter().any(|opponent| opponent.can_be_interrupted())
    }

    /// Changes every part, with its rows; `work` says whether it was not interrupted. If it was, all games are put
    /// back.
    fn change(
        &mut self,
        rows: Option<Rows<'_>>,
        work: impl Fn(&mut Part<G>, &NewGames, Option<Rows<'_>>) -> bool + Sync,
    ) -> Result<(), Interrupted> {
        let copy = |part: &Part<G>| part.games.clone();
        let before = self.can_be_interrupted().then(|| self.parts.iter().map(copy).collect::<Vec<_>>());
        let VecEnv { parts, new, .. } = self;
        if in_parallel(parts, rows, &|part, rows| work(part, new, rows)) {
            return Ok(());
        }
        let before = before.expect("only what can be interrupted is");
        for (part, games) in self.parts.iter_mut().zip(before) {
            part.games = games;
        }
        Err(Interrupted)
    }

    /// Lets every part write its chunk of `out`, which has `width` numbers per game.
    fn write_each<T: Send>(&self, out: &mut [T], width: usize, write: impl Fn(&Games<G>, &mut [T]) + Sync) {
        match &self.parts[..] {
            [part] => write(&part.games, out),
            parts => parts
                .par_iter()
                .zip(out.par_chunks_mut(self.share * width))
                .for_each(|(part, out)| write(&part.games, out)),
        }
    }
}

impl<G: Encode> VecEnv<G> {
    /// Writes the features of every game: `[games, planes x cells]`, row by row.
    ///
    /// # Panics
    /// Panics unless `out` has that many numbers.
    pub fn observe(&self, out: &mut [f32]) {
        let width = self.game.feature_count();
        assert_eq!(out.len(), self.len() * width, "one number per feature and game");
        self.write_each(out, width, |games, out| {
            for (slot, out) in games.shard.slots.iter().zip(out.chunks_exact_mut(width)) {
                self.game.observe(&slot.position, out);
            }
        });
    }

    /// Writes the rows of all slots.
    pub fn write(&self, mut rows: Rows<'_>) {
        for Part { games, .. } in &self.parts {
            rows.take(games.shard.len()).write(games);
        }
    }

    /// [`VecEnv::step`], and [`VecEnv::write`] in the same pass over the games.
    ///
    /// # Panics
    /// Panics unless there is one legal action per game.
    pub fn step_into(&mut self, actions: &[Action], rows: Rows<'_>) -> Result<(), Interrupted> {
        assert_eq!(actions.len(), self.len(), "one action per game");
        // A step that may be interrupted must not have written anything.
        let (now, later) = match self.can_be_interrupted() {
            false => (Some(rows), None),
            true => (None, Some(rows)),
        };
        self.change(now, |part, new, rows| {
            part.note_actors();
            let done = part.step(new, actions);
            if let Some(rows) = rows {
                rows.write(&part.games);
            }
            done
        })?;
        if let Some(rows) = later {
            self.write(rows);
        }
        Ok(())
    }
}

/// Works on all parts, each with its rows, on the threads of the pool. Returns whether all work returned true.
fn in_parallel<G: Game>(
    parts: &mut [Part<G>],
    mut rows: Option<Rows<'_>>,
    work: &(impl Fn(&mut Part<G>, Option<Rows<'_>>) -> bool + Sync),
) -> bool {
    if let [part] = parts {
        return work(part, rows);
    }
    let (left, right) = parts.split_at_mut(parts.len() / 2);
    let games = left.iter().map(|part| part.games.shard.len()).sum();
    let first = rows.as_mut().map(|rows| rows.take(games));
    let left = || in_parallel(left, first, work);
    let right = || in_parallel(right, rows, work);
    let (left, right) = rayon::join(left, right);
    left & right
}
