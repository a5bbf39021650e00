//! Many games that advance together, divided among the threads of a pool.

use std::sync::Arc;

use ndarray::ArrayViewMut4;
use rayon::prelude::*;

use super::games::{NewGames, SeatedShard, SlotGames};
use super::rows::Rows;
use super::saved::Conditions;
use super::settings::{EnvSettings, Interrupted, Opponent};
use super::shard::Finished;
use super::{EnvState, GameStats, Line, SavedEnv, Shard};
use crate::encode::Encode;
use crate::error::FileError;
use crate::game::{Action, Game, Player};
use crate::random::Draws;

/// A shard has at least this many games. With fewer, moving it to another thread takes longer than stepping it.
const MIN_PER_THREAD: usize = 128;

/// Many games with the same rules that advance together, each in its own slot.
///
/// A game's opening and its opponent's random numbers are derived from the seed, the slot, and the number of the game
/// in its slot; the random numbers of [`VecEnv::sample`], from seed, slot and step. So a seed gives the same games on
/// any number of threads. The games are divided into shards, which the threads of the current rayon pool step. If each
/// thread has an evaluator or agents of its own, let each thread step its own [`Shard`] instead.
pub struct VecEnv<G: Game> {
    game: G,
    new: NewGames,
    share: usize, // games per shard; the last shard may have fewer
    parts: Vec<SeatedShard<G>>,
}

impl<G: Game> VecEnv<G> {
    /// An environment with default settings: `games` games from the start position, and a new game whenever one ends.
    ///
    /// # Panics
    /// Panics if `games` is 0.
    pub fn new(game: G, games: usize, seed: u64) -> VecEnv<G> {
        VecEnv::with_settings(game, EnvSettings::new(games, seed))
    }

    /// An environment in which the caller plays both sides.
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

    /// An environment in which opponents play the other side: a step ends when the caller is to move again in every
    /// game. There is one shard per opponent, and all opponents must play alike.
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
        let new = NewGames { settings, seeds: Arc::default() };
        let share = settings.games.div_ceil(opponents.len());
        let firsts = (0..settings.games).step_by(share);
        let part = |(first, opponent)| SeatedShard {
            games: SlotGames::new(&game, first..settings.games.min(first + share), &new),
            opponent,
        };
        let mut env = VecEnv { parts: firsts.zip(opponents).map(part).collect(), share, new, game };
        env.change(None, |part, new, _| part.begin(new))?;
        Ok(env)
    }

    /// The rules of the games.
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

    /// The number of shards. One thread steps each of them.
    pub fn shards(&self) -> usize {
        self.parts.len()
    }

    /// The number of steps so far.
    pub fn steps(&self) -> u64 {
        self.parts[0].games.shard.steps()
    }

    /// The position in a slot. If the slot is idle, it is the final position of the last game.
    pub fn position(&self, slot: usize) -> &G::Position {
        self.shard(slot).position(slot % self.share)
    }

    /// Whether a slot has no game. Steps skip idle slots.
    pub fn is_idle(&self, slot: usize) -> bool {
        self.shard(slot).is_idle(slot % self.share)
    }

    /// The game in a slot from its start. The slot must not be idle.
    ///
    /// # Panics
    /// Panics unless [`Keep::history`](super::Keep::history) is set.
    pub fn history(&self, slot: usize) -> Line<G::Position> {
        self.shard(slot).history(slot % self.share)
    }

    /// The player to move in a slot. The same player may act twice in a row.
    pub fn to_move(&self, slot: usize) -> Player {
        self.game.to_move(self.position(slot))
    }

    /// The legal actions in a slot; none exactly if the slot is idle.
    pub fn legal(&self, slot: usize) -> &G::Mask {
        self.shard(slot).legal(slot % self.share)
    }

    /// The legal actions of all slots, in order.
    pub fn all_legal(&self) -> impl Iterator<Item = &G::Mask> {
        self.shards_in_order().flat_map(|shard| shard.slots.iter().map(|slot| &slot.legal))
    }

    /// The caller's side in all slots, in order. Without an opponent it has no meaning.
    pub fn sides(&self) -> impl Iterator<Item = Player> {
        self.parts.iter().flat_map(|part| part.games.sides.iter().copied())
    }

    /// The player whose action the last step played in a slot. Against an opponent it is the caller's side. Otherwise
    /// it is the player who was to move, recorded by [`VecEnv::step_into`] only. Before the first step it is the
    /// player whose action that step will play.
    pub fn actor(&self, slot: usize) -> Player {
        self.parts[slot / self.share].games.actors[slot % self.share]
    }

    /// The games that ended in the last step, in the order of their slots, which now have other games or are idle.
    pub fn finished(&self) -> impl Iterator<Item = &Finished<G::Position>> {
        self.parts.iter().flat_map(|part| &part.games.finished)
    }

    /// Writes the legal actions of all slots.
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

    /// Chooses a legal action for every game, uniformly at random. Until the next step, repeated calls choose the
    /// same actions. Idle slots get action 0.
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

    /// Plays the caller's action in every game, then the opponents' actions. When a game ends, another one starts or
    /// the slot becomes idle. Actions for idle slots are ignored.
    ///
    /// # Panics
    /// Panics unless there is one legal action per game, and if an opponent is interrupted.
    pub fn step(&mut self, actions: &[Action]) {
        assert_eq!(actions.len(), self.len(), "one action per game");
        self.change(None, |part, new, _| part.step(new, actions)).expect("no opponent is interrupted");
    }

    /// Starts other games, with new random numbers, in the slots for which `which` returns true.
    pub fn reset(&mut self, which: impl Fn(usize) -> bool + Sync) -> Result<(), Interrupted> {
        self.change(None, |part, new, _| {
            part.games.restart(new, &which);
            part.begin(new)
        })
    }

    /// Starts games from these openings, given with their slots.
    ///
    /// # Panics
    /// Panics if a game is over after its opening.
    pub fn start(&mut self, openings: &[(usize, Line<G::Position>)]) -> Result<(), Interrupted> {
        self.change(None, |part, new, _| {
            part.games.start(new, openings);
            part.begin(new)
        })
    }

    /// Starts all games again, as in a new environment with this seed.
    pub fn reseed(&mut self, seed: u64) -> Result<(), Interrupted> {
        let mut settings = self.new.settings;
        settings.seed = seed;
        self.renew(settings, Arc::default())
    }

    /// Starts all games again, with a seed for each slot. Each slot then plays the games of slot 0 of an environment
    /// with its seed.
    ///
    /// # Panics
    /// Panics unless there is one seed per slot.
    pub fn reseed_each(&mut self, seeds: &[u64]) -> Result<(), Interrupted> {
        assert_eq!(seeds.len(), self.len(), "one seed per slot");
        self.renew(self.new.settings, seeds.into())
    }

    /// The seeds of the slots; empty if all use the seed of the settings.
    pub fn seeds(&self) -> &[u64] {
        &self.new.seeds
    }

    fn renew(&mut self, settings: EnvSettings, seeds: Arc<[u64]>) -> Result<(), Interrupted> {
        let new = NewGames { settings, seeds };
        let before = std::mem::replace(&mut self.new, new);
        let started = self.change(None, |part, new, _| {
            part.games = part.games.fresh(new);
            part.begin(new)
        });
        started.inspect_err(|_| self.new = before)
    }

    /// Returns the counts since the last call of this function.
    pub fn take_stats(&mut self) -> GameStats {
        let mut all = GameStats::default();
        for part in &mut self.parts {
            all.add(&part.games.shard.take_stats());
        }
        all
    }

    /// Saves the unfinished games, and everything that determines their continuation. A game that [`VecEnv::start`]
    /// began continues from the text of its first position, which leaves out earlier positions.
    ///
    /// # Panics
    /// Panics unless [`Keep::history`](super::Keep::history) is set.
    pub fn save(&self) -> SavedEnv {
        SavedEnv {
            conditions: self.conditions(),
            seed: self.new.settings.seed,
            seeds: self.new.seeds.to_vec(),
            begun: self.parts.iter().flat_map(|part| part.games.begun.iter().copied()).collect(),
            sides: self.sides().map(|side| side.index() as u8).collect(),
            state: EnvState { steps: self.steps(), games: self.shards_in_order().flat_map(Shard::save).collect() },
        }
    }

    fn conditions(&self) -> Conditions {
        let opponent = self.parts[0].opponent.as_ref();
        Conditions::new(&self.game, &self.new.settings, opponent.map(|opponent| opponent.name()))
    }

    /// Replaces the games by saved ones, which continue exactly as if they had not been interrupted. The seed and the
    /// number of threads may differ. Fails if other settings differ; the environment then does not change.
    pub fn restore(&mut self, saved: &SavedEnv) -> Result<(), FileError> {
        saved.check(&self.conditions())?;
        let mut new = self.new.clone();
        new.settings.seed = saved.seed;
        new.seeds = saved.seeds[..].into();
        let restored = self.parts.iter().map(|part| {
            let numbers = part.games.numbers();
            let mut games = part.games.fresh(&new);
            games.begun = saved.begun[numbers.clone()].to_vec();
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

    /// Whether an opponent can be interrupted, see [`Opponent::can_be_interrupted`].
    pub fn can_be_interrupted(&self) -> bool {
        self.parts.iter().flat_map(|part| &part.opponent).into_iter().any(|opponent| opponent.can_be_interrupted())
    }

    /// Changes every part with its rows. `work` returns false if its opponent was interrupted; then the games of all
    /// parts are restored.
    fn change(
        &mut self,
        rows: Option<Rows<'_>>,
        work: impl Fn(&mut SeatedShard<G>, &NewGames, Option<Rows<'_>>) -> bool + Sync,
    ) -> Result<(), Interrupted> {
        let copy = |part: &SeatedShard<G>| part.games.clone();
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

    /// Lets every part write its share of `out`, which has `width` numbers per slot.
    fn write_each<T: Send>(&self, out: &mut [T], width: usize, write: impl Fn(&SlotGames<G>, &mut [T]) + Sync) {
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
    /// Writes the features of all slots: `[games, planes, rows, columns]`, in C order.
    ///
    /// # Panics
    /// Panics unless `out` has this shape.
    pub fn observe(&self, out: ArrayViewMut4<'_, f32>) {
        let ((rows, columns), width) = (self.game.grid(), self.game.feature_count());
        assert_eq!(out.dim(), (self.len(), self.game.planes(), rows, columns), "the shape of all features");
        self.write_each(out.into_slice().expect("an array in C order"), width, |games, out| {
            for (slot, out) in games.shard.slots.iter().zip(out.chunks_exact_mut(width)) {
                out.fill(0.0);
                self.game.set_features(&slot.position, out, false);
            }
        });
    }

    /// Writes the rows of all slots.
    pub fn write(&self, mut rows: Rows<'_>) {
        for SeatedShard { games, .. } in &self.parts {
            rows.take(games.shard.len()).write(games);
        }
    }

    /// [`VecEnv::step`] and [`VecEnv::write`] in one pass over the games, which is faster.
    ///
    /// # Panics
    /// Panics unless there is one legal action per game.
    pub fn step_into(&mut self, actions: &[Action], rows: Rows<'_>) -> Result<(), Interrupted> {
        assert_eq!(actions.len(), self.len(), "one action per game");
        // If the step can be interrupted, write only afterwards, because an interrupted step must leave `rows`
        // unchanged.
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

/// Works on all parts, each with its rows, on the threads of the pool. Returns whether `work` returned true for all
/// of them.
fn in_parallel<G: Game>(
    parts: &mut [SeatedShard<G>],
    mut rows: Option<Rows<'_>>,
    work: &(impl Fn(&mut SeatedShard<G>, Option<Rows<'_>>) -> bool + Sync),
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
