//! The games of one thread: a tree for each, and one evaluator for all.

use std::ops::Range;
use std::time::Instant;

use rand::Rng;

use super::game::{Found, Record};
use super::rules::Rules;
use super::settings::{SelfPlayError, SelfPlaySettings};
use super::state::{GamesState, MoveState};
use super::timed::Timed;
use super::{Root, Round};
use crate::encode::Encode;
use crate::env::{self, Keep, SavedGame};
use crate::eval::{Cache, Evaluator, Value};
use crate::game::{Action, Game, Mask};
use crate::random::{Stream, slot_stream};
use crate::search::{Batch, RootAction, Tree, TreeLimit};

/// The most judgements that a shard remembers, whatever its games and simulations.
const MOST_REMEMBERED: usize = 1 << 17;

/// The games of one thread.
///
/// Judgements are remembered: below the action that is played lies much of what the next search asks
/// for. They are as many as one search of all games makes.
pub(super) struct Shard<G: Encode, E> {
    rules: Rules<G>,
    root: Root,
    simulations: u32,
    evaluator: Timed<Cache<G, E>>,
    batch: Batch<G>,
    env: env::Shard<G>,
    trees: Vec<Tree<G>>,  // [slots], each of its game's position
    records: Vec<Record>, // [slots]
    draws: Vec<Stream>,   // [slots], of a round's action and of the opening after it
    actions: Vec<Action>, // [slots], of a round
    lambda: f32,
    noise: Vec<f32>,
    policy: Vec<f32>, // [actions]
    seed: u64,
}

impl<G: Encode, E: Evaluator<G>> Shard<G, E> {
    pub(super) fn new(
        rules: Rules<G>,
        settings: &SelfPlaySettings,
        evaluator: E,
        slots: Range<usize>,
        seed: u64,
    ) -> Shard<G, E> {
        let policy = settings.root.rule(settings);
        let game = &rules.game;
        let count = slots.len();
        let keep = Keep {
            history: true,
            events: true,
        };
        let first = slots.start;
        let draws = slots.clone().map(|slot| slot_stream(seed, slot as u64, 0));
        let mut draws: Vec<Stream> = draws.collect();
        let open = |slot| Some(rules.open(&mut draws[slot - first]));
        let env = env::Shard::new(game, slots, keep, open);
        let limit = TreeLimit::for_simulations(game, settings.simulations);
        let tree = |slot| Tree::new(game.clone(), policy, limit, *env.position(slot));
        let remembered = (count * settings.simulations as usize).min(MOST_REMEMBERED);
        Shard {
            batch: Batch::new(game),
            policy: vec![0.0; game.actions()],
            noise: Vec::new(),
            evaluator: Timed::new(Cache::new(game, evaluator, remembered)),
            root: settings.root,
            simulations: settings.simulations,
            lambda: settings.lambda,
            trees: (0..count).map(tree).collect(),
            records: (0..count).map(|_| Record::default()).collect(),
            draws,
            actions: vec![Action(0); count],
            env,
            rules,
            seed,
        }
    }

    /// Games under way.
    pub(super) fn games(&self) -> usize {
        self.env.len()
    }

    /// Adds the games under way, slot by slot.
    pub(super) fn save(&self, state: &mut GamesState) {
        state.env.steps = self.env.steps();
        state.env.games.extend(self.env.save());
        state.moves.extend(self.records.iter().map(Record::save));
    }

    /// Puts saved games in the place of those under way.
    pub(super) fn restore(
        &mut self,
        rounds: u64,
        games: &[Option<SavedGame>],
        moves: &[Vec<MoveState>],
    ) -> Result<(), SelfPlayError> {
        let unsound = |error: env::EnvError| SelfPlayError::new(error.to_string());
        self.env.restore(rounds, games).map_err(unsound)?;
        for (slot, moves) in moves.iter().enumerate() {
            if self.env.is_idle(slot) {
                return Err(SelfPlayError::new("a saved game is missing".to_owned()));
            }
            let history = self.env.history(slot);
            let mut positions = env::positions(&self.rules.game, history.start, &history.actions);
            positions.pop(); // not searched yet
            self.records[slot] = Record::restore(&self.rules, &positions, moves)?;
        }
        self.place_trees();
        Ok(())
    }

    pub(super) fn replace_evaluator(&mut self, evaluator: E) {
        let cache = self.evaluator.inner_mut();
        *cache.inner_mut() = evaluator;
        cache.clear();
    }

    /// Plays one action in every game: all are searched, then stepped, and those that ended become
    /// samples.
    pub(super) fn round(&mut self) -> Round {
        let start = Instant::now();
        let (evaluated, room) = (self.batch.evaluated(), self.batch.room());
        let evaluating = self.evaluator.spent();
        let (remembered, _) = self.evaluator.inner_mut().hits_and_misses();
        let mut round = Round::default();
        round.counts.positions = self.games() as u64;
        self.search();
        for slot in 0..self.games() {
            round.counts.simulations += u64::from(self.trees[slot].simulations_done());
            self.choose(slot);
        }
        let (rules, records, draws) = (&self.rules, &mut self.records, &mut self.draws);
        self.env.step(&self.actions, |ended| {
            let record = &mut records[ended.slot];
            round.counts.exact += u64::from(record.is_told());
            record.finish(ended.outcome, self.lambda, &mut round.samples);
            Some(rules.open(&mut draws[ended.slot]))
        });
        self.place_trees();
        round.counts.games = self.env.take_stats();
        round.counts.requests = self.batch.evaluated() - evaluated;
        let (hits, _) = self.evaluator.inner_mut().hits_and_misses();
        round.counts.remembered = hits - remembered;
        round.counts.room = self.batch.room() - room;
        round.evaluating = self.evaluator.spent() - evaluating;
        round.playing = start.elapsed();
        round
    }

    /// Searches the position of every game.
    fn search(&mut self) {
        let round = self.env.steps() + 1;
        for (slot, tree) in self.trees.iter_mut().enumerate() {
            let mut stream = slot_stream(self.seed, self.env.number(slot), round);
            let actions = self.env.legal(slot).count() as usize;
            self.root.draw_noise(actions, &mut stream, &mut self.noise);
            let forced = actions == 1; // there is nothing to search for
            let simulations = if forced { 1 } else { self.simulations };
            tree.plan(simulations, simulations, &self.noise, stream.next_u64());
        }
        self.batch
            .search(&mut self.trees, &mut self.evaluator, |_| false);
    }

    /// Records what search found in a slot and chooses the action to play there.
    fn choose(&mut self, slot: usize) {
        let tree = &self.trees[slot];
        tree.write_policy(&mut self.policy);
        let legal = self.env.legal(slot);
        let policy: Vec<f32> = legal
            .iter()
            .map(|action| self.policy[action.index()])
            .collect();
        // The search of this round drew from the front of the slot's stream; this one is another.
        let round = self.env.steps() + 1;
        self.draws[slot] = slot_stream(!self.seed, self.env.number(slot), round);
        let action = self.root.choose(tree, &self.policy, &mut self.draws[slot]);
        let looked_at = tree.root_actions();
        let found = Found {
            actions: legal.iter().map(|action| action.0).collect(),
            surprise: divergence(&looked_at, &policy),
            policy,
            expected: expected(tree, &looked_at, action).results(),
        };
        self.records[slot].push(&self.rules, self.env.position(slot), found);
        self.actions[slot] = action;
    }

    /// Sets every tree to the position of its game.
    fn place_trees(&mut self) {
        for (slot, tree) in self.trees.iter_mut().enumerate() {
            tree.restart(*self.env.position(slot));
        }
    }
}

/// What search expects of the action it chose: its certain result, or the mean of what it saw below.
fn expected<G: Game>(tree: &Tree<G>, actions: &[RootAction], chosen: Action) -> Value {
    let chosen = actions.iter().find(|root| root.action == chosen);
    let value = chosen.and_then(|root| root.value).or(tree.value());
    value.expect("a position under way was judged")
}

/// How far the policy of search is from the evaluator's, in nats: at least 0.
fn divergence(actions: &[RootAction], policy: &[f32]) -> f32 {
    let parts = policy.iter().zip(actions).map(|(&share, action)| {
        if share > 0.0 {
            share * (share / action.prior.max(f32::MIN_POSITIVE)).ln()
        } else {
            0.0
        }
    });
    parts.sum::<f32>().max(0.0)
}
