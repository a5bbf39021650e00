//! The part of self-play that belongs to one evaluator: slots and trees.

use std::ops::Range;

use rand::Rng;

use super::game::PendingGame;
use super::root::{choose, draw_noise};
use super::settings::Rules;
use super::{Counts, Episode, GamesState, Round, Searched};
use jarmo_core::encode::Encode;
use jarmo_core::env::{self, Keep, SavedGame};
use jarmo_core::error::FileError;
use jarmo_core::eval::{Cache, Evaluator, Value};
use jarmo_core::game::{Action, Game, Mask};
use jarmo_core::random::{Stream, slot_stream};
use jarmo_core::search::{Batch, RootAction, SearchPlan, Tree, TreeSize};

/// The largest number of positions in a shard's cache.
const MOST_CACHED: usize = 1 << 17;

/// The games of one evaluator. A thread plays one such shard, or several in turn.
///
/// Evaluations are cached, because the next search in a game requests many of the same positions. The cache has room
/// for the positions of one search in all slots.
pub(super) struct SlotSearches<G: Encode, E> {
    pub(super) slots: Slots<G>,
    trees: Vec<Tree<G>>,   // one for each slot that is searched at a time
    searched: Vec<usize>,  // [trees]: the slot of each
    waiting: Range<usize>, // slots that are not searched yet in this round
    batch: Batch<G>,
    simulations: u64, // in this round
    evaluator: Cache<G, E>,
}

/// The games in the slots, with their searched positions, and everything that their searches need.
pub(super) struct Slots<G: Encode> {
    rules: Rules<G>,
    env: env::Shard<G>,
    pending: Vec<PendingGame>, // [slots]
    draws: Vec<Stream>,        // [slots]: draws a round's action and the next opening
    actions: Vec<Action>,      // [slots]: chosen in this round
    noise: Vec<f32>,
    policy: Vec<f32>,                // [actions]
    pub(super) weights: Option<u64>, // training step of the evaluator, after `keep_episodes`
    pub(super) keeps_games: bool,    // set by `keep_games`
    seed: u64,
}

impl<G: Encode, E: Evaluator<G>> SlotSearches<G, E> {
    pub(super) fn new(rules: Rules<G>, evaluator: E, slots: Range<usize>, seed: u64) -> SlotSearches<G, E> {
        let Rules { game, settings, search, .. } = &rules;
        let count = slots.len();
        let keep = Keep { history: true, events: true };
        let first = slots.start;
        let draws = slots.clone().map(|slot| slot_stream(seed, slot as u64, 0));
        let mut draws: Vec<Stream> = draws.collect();
        let open = |slot| Some(rules.open(&mut draws[slot - first]));
        let env = env::Shard::new(game, slots, keep, open);
        let limit = TreeSize::for_simulations(game, settings.simulations);
        let trees = (0..count).take(evaluator.batch().max(1));
        let tree = |slot| Tree::new(game.clone(), *search, limit, *env.position(slot));
        let cached = (count * settings.simulations as usize).min(MOST_CACHED);
        SlotSearches {
            trees: trees.map(tree).collect(),
            searched: Vec::new(),
            waiting: 0..0,
            batch: Batch::new(game),
            simulations: 0,
            evaluator: Cache::new(game, evaluator, cached),
            slots: Slots {
                policy: vec![0.0; game.actions()],
                noise: Vec::new(),
                pending: (0..count).map(|_| PendingGame::default()).collect(),
                draws,
                actions: vec![Action(0); count],
                env,
                rules,
                weights: None,
                keeps_games: false,
                seed,
            },
        }
    }

    pub(super) fn games(&self) -> usize {
        self.slots.env.len()
    }

    pub(super) fn save(&self, state: &mut GamesState) {
        state.env.steps = self.slots.env.steps();
        state.env.games.extend(self.slots.env.save());
        state.moves.extend(self.slots.pending.iter().map(PendingGame::save));
    }

    pub(super) fn restore(
        &mut self,
        rounds: u64,
        games: &[Option<SavedGame>],
        moves: &[Vec<Searched>],
    ) -> Result<(), FileError> {
        let Slots { rules, env, pending, .. } = &mut self.slots;
        env.restore(rounds, games)?;
        for (slot, moves) in moves.iter().enumerate() {
            if env.is_idle(slot) {
                return Err("a saved game is missing".to_owned().into());
            }
            let mut positions = env.history(slot).positions(&rules.game);
            positions.pop(); // its search is yet to come
            pending[slot] = PendingGame::restore(&rules.game, &positions, moves)?;
        }
        Ok(())
    }

    pub(super) fn replace_evaluator(&mut self, evaluator: E) {
        self.evaluator.inner = evaluator;
        self.evaluator.clear();
    }

    /// Searches all slots of these shards, steps their environments, and turns finished games into samples. While the
    /// leaves of one shard are at a device, the trees of the others grow.
    pub(super) fn round(shards: &mut [SlotSearches<G, E>]) -> Round {
        for shard in shards.iter_mut() {
            shard.begin();
            shard.submit();
        }
        while shards.iter().any(|shard| shard.batch.is_growing()) {
            for shard in shards.iter_mut().filter(|shard| shard.batch.is_growing()) {
                shard.batch.finish(&mut shard.trees, &mut shard.evaluator);
                shard.submit();
            }
        }
        let mut all = Round::default();
        for shard in shards {
            all.add(shard.step());
        }
        all
    }

    /// Plans the first searches of a round.
    fn begin(&mut self) {
        self.simulations = 0;
        self.searched = (0..self.trees.len()).collect();
        self.waiting = self.trees.len()..self.slots.env.len();
        for (&slot, tree) in self.searched.iter().zip(&mut self.trees) {
            self.slots.plan(slot, tree);
        }
        self.batch.begin(self.trees.len());
    }

    /// Grows the trees to their next leaves, and submits those. A tree whose search is done goes to the next slot.
    fn submit(&mut self) {
        let SlotSearches { slots, trees, searched, waiting, simulations, .. } = self;
        self.batch.submit(trees, &mut self.evaluator, |trees, index| {
            let tree = &mut trees[index];
            *simulations += u64::from(tree.simulations_done());
            slots.choose(searched[index], tree);
            searched[index] = waiting.next()?;
            slots.plan(searched[index], tree);
            Some(index)
        });
    }

    /// Plays the chosen actions.
    fn step(&mut self) -> Round {
        let mut round = Round::default();
        self.slots.step(&mut round);
        round.counts = Counts {
            games: self.slots.env.take_stats(),
            positions: self.games() as u64,
            simulations: self.simulations,
            requests: std::mem::take(&mut self.batch.evaluated),
            cached: std::mem::take(&mut self.evaluator.hits),
            room: std::mem::take(&mut self.batch.room),
        };
        round
    }
}

impl<G: Encode> Slots<G> {
    /// Plans the search of a slot's position in a tree.
    fn plan(&mut self, slot: usize, tree: &mut Tree<G>) {
        let round = self.env.steps() + 1;
        let mut stream = slot_stream(self.seed, self.env.number(slot), round);
        let actions = self.env.legal(slot).count() as usize;
        draw_noise(self.rules.search, actions, &mut stream, &mut self.noise);
        let forced = actions == 1; // there is nothing to choose
        let simulations = if forced { 1 } else { self.rules.settings.simulations };
        tree.restart(*self.env.position(slot));
        tree.plan(SearchPlan::new(simulations).noise(&self.noise).seed(stream.next_u64()));
    }

    /// Records the search result of a slot, and chooses its action.
    fn choose(&mut self, slot: usize, tree: &Tree<G>) {
        tree.write_policy(&mut self.policy);
        let legal = self.env.legal(slot);
        let actions: Vec<u16> = legal.iter().map(|action| action.0).collect();
        // The search of this round used the slot's stream of `seed`. The inverted seed gives an independent one.
        let round = self.env.steps() + 1;
        self.draws[slot] = slot_stream(!self.seed, self.env.number(slot), round);
        let action = choose(self.rules.search, tree, &self.policy, &mut self.draws[slot]);
        let root_actions = tree.root_actions();
        let search = Searched {
            policy: legal.iter().map(|action| self.policy[action.index()]).collect(),
            expected: expected(tree, &root_actions, action).results(),
        };
        self.pending[slot].begin_with(self.weights);
        let position = self.env.position(slot);
        self.pending[slot].push(&self.rules.game, position, &actions, &search);
        self.actions[slot] = action;
    }

    /// Plays the chosen actions. Finished games become samples or episodes of the round, and new games start.
    fn step(&mut self, round: &mut Round) {
        let (rules, pending, draws) = (&self.rules, &mut self.pending, &mut self.draws);
        self.env.step(&self.actions, |ended, env| {
            let pending = &mut pending[ended.slot];
            let weights = pending.weights;
            if weights.is_some() || self.keeps_games {
                let line = env.history(ended.slot);
                round.episodes.push(Episode::new(&rules.game, &line, pending, weights.unwrap_or(0)));
            }
            match weights {
                Some(_) => *pending = PendingGame::default(),
                None => pending.finish(ended.outcome, rules.settings.lambda, &mut round.samples),
            }
            Some(rules.open(&mut draws[ended.slot]))
        });
    }
}

/// The value of the chosen action: proven, or the mean of its simulations.
fn expected<G: Game>(tree: &Tree<G>, actions: &[RootAction], chosen: Action) -> Value {
    let chosen = actions.iter().find(|root| root.action == chosen);
    let value = chosen.and_then(|root| root.value).or(tree.value());
    value.expect("the search evaluated the root")
}
