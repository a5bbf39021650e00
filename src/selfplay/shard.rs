//! The games of one thread: a tree for each, and one evaluator for all.

use std::fmt::Display;
use std::ops::Range;
use std::time::Instant;

use rand::Rng;

use super::game::{Found, Record};
use super::rules::Rules;
use super::settings::{SelfPlayError, SelfPlaySettings};
use super::state::SlotState;
use super::timed::Timed;
use super::{Root, Round};
use crate::encode::Encode;
use crate::eval::{Cache, Evaluator, Value};
use crate::game::{Action, Game, Mask};
use crate::random::{Stream, stream};
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
    trees: Vec<Tree<G>>, // one per slot
    slots: Vec<Slot<G::Position>>,
    lambda: f32,
    noise: Vec<f32>,
    policy: Vec<f32>, // [actions]
    seed: u64,
    round: u64, // rounds played
}

struct Slot<P> {
    number: u64, // over all shards
    start: P,
    played: Vec<Action>,
    record: Record,
}

/// The randomness of a slot in one round: nothing has to be kept from round to round.
fn slot_stream(seed: u64, slot: u64, round: u64) -> Stream {
    stream(seed, (slot << 40) | round)
}

impl<G: Encode, E: Evaluator<G>> Shard<G, E> {
    pub(super) fn new(
        rules: Rules<G>,
        settings: &SelfPlaySettings,
        evaluator: E,
        slots: Range<usize>,
        seed: u64,
    ) -> Shard<G, E> {
        let policy = settings.root.policy(settings);
        let game = &rules.game;
        let limit = TreeLimit::for_simulations(game, settings.simulations);
        let mut trees = Vec::with_capacity(slots.len());
        let slots = slots.map(|slot| {
            let number = slot as u64;
            let opening = rules.open(&mut slot_stream(seed, number, 0));
            trees.push(Tree::new(game.clone(), policy, limit, opening.position));
            Slot {
                number,
                start: opening.start,
                played: opening.played,
                record: Record::default(),
            }
        });
        let slots: Vec<Slot<_>> = slots.collect();
        let remembered = (slots.len() * settings.simulations as usize).min(MOST_REMEMBERED);
        Shard {
            batch: Batch::new(game),
            policy: vec![0.0; game.actions()],
            noise: Vec::new(),
            evaluator: Timed::new(Cache::new(game, evaluator, remembered)),
            root: settings.root,
            simulations: settings.simulations,
            lambda: settings.lambda,
            rules,
            trees,
            slots,
            seed,
            round: 0,
        }
    }

    /// Games under way.
    pub(super) fn games(&self) -> usize {
        self.slots.len()
    }

    /// Rounds played.
    pub(super) fn rounds(&self) -> u64 {
        self.round
    }

    /// The games under way, slot by slot.
    pub(super) fn save(&self) -> impl Iterator<Item = SlotState> + '_ {
        let game = &self.rules.game;
        self.slots.iter().map(|slot| SlotState {
            start: (slot.start != game.start()).then(|| game.position_text(&slot.start)),
            actions: slot.played.iter().map(|action| action.0).collect(),
            moves: slot.record.save(),
        })
    }

    /// Puts saved games in the place of those under way.
    pub(super) fn restore(
        &mut self,
        round: u64,
        states: &[SlotState],
    ) -> Result<(), SelfPlayError> {
        self.round = round;
        for ((slot, tree), state) in self.slots.iter_mut().zip(&mut self.trees).zip(states) {
            slot.record = Record::default();
            slot.played.clear();
            let mut moves = state.moves.iter().peekable();
            slot.start = match &state.start {
                Some(text) => self.rules.game.parse_position(text).map_err(unsound)?,
                None => self.rules.game.start(),
            };
            let mut position = slot.start;
            for &action in &state.actions {
                while let Some(made) = moves.next_if(|made| made.at == slot.played.len()) {
                    slot.record.restore(&self.rules, &position, made);
                }
                let action = Action(action);
                self.rules
                    .game
                    .try_play(&mut position, action)
                    .map_err(unsound)?;
                slot.played.push(action);
            }
            if moves.next().is_some() || self.rules.game.outcome(&position).is_some() {
                return Err(SelfPlayError::new(
                    "a saved game is over, or has moves without positions".to_owned(),
                ));
            }
            tree.restart(position);
        }
        Ok(())
    }

    pub(super) fn replace_evaluator(&mut self, evaluator: E) {
        let cache = self.evaluator.inner_mut();
        *cache.inner_mut() = evaluator;
        cache.clear();
    }

    /// Plays one action in every game.
    pub(super) fn round(&mut self) -> Round {
        let start = Instant::now();
        let (evaluated, room) = (self.batch.evaluated(), self.batch.room());
        let evaluating = self.evaluator.spent();
        let (remembered, _) = self.evaluator.inner_mut().hits_and_misses();
        self.round += 1;
        for (tree, slot) in self.trees.iter_mut().zip(&self.slots) {
            let mut stream = slot_stream(self.seed, slot.number, self.round);
            let actions = self.rules.game.legal(tree.position()).count() as usize;
            self.root.draw_noise(actions, &mut stream, &mut self.noise);
            let forced = actions == 1; // there is nothing to search for
            let simulations = if forced { 1 } else { self.simulations };
            tree.plan(simulations, simulations, &self.noise, stream.next_u64());
        }
        self.batch
            .search(&mut self.trees, &mut self.evaluator, |_| false);
        let mut round = Round::default();
        round.counts.positions = self.trees.len() as u64;
        for index in 0..self.trees.len() {
            round.counts.simulations += u64::from(self.trees[index].simulations_done());
            self.play(index, &mut round);
        }
        round.counts.requests = self.batch.evaluated() - evaluated;
        let (hits, _) = self.evaluator.inner_mut().hits_and_misses();
        round.counts.remembered = hits - remembered;
        round.counts.room = self.batch.room() - room;
        round.evaluating = self.evaluator.spent() - evaluating;
        round.playing = start.elapsed();
        round
    }

    /// Records the searched position of a slot and plays the action that search chose. A game that
    /// ends gives its samples, and the next one starts in its place.
    fn play(&mut self, index: usize, round: &mut Round) {
        let (tree, slot) = (&mut self.trees[index], &mut self.slots[index]);
        let mut position = *tree.position();
        tree.write_policy(&mut self.policy);
        let game = &self.rules.game;
        let legal = game.legal(&position);
        let policy: Vec<f32> = legal
            .iter()
            .map(|action| self.policy[action.index()])
            .collect();
        // The search of this round drew from the front of the slot's stream; this one is another.
        let mut stream = slot_stream(!self.seed, slot.number, self.round);
        let action = self.root.choose(tree, &self.policy, &mut stream);
        let looked_at = tree.root_actions();
        let found = Found {
            actions: legal.iter().map(|action| action.0).collect(),
            surprise: divergence(&looked_at, &policy),
            policy,
            expected: expected(tree, &looked_at, action).results(),
        };
        slot.record
            .push(&self.rules, &position, slot.played.len(), found);
        round.counts.games.count_events(game, &position, action);
        game.play(&mut position, action);
        slot.played.push(action);
        if let Some(end) = self.rules.end(&position) {
            let exact = end.exact || slot.record.is_told();
            round
                .counts
                .games
                .count(&end.outcome, game.ply(&position), exact);
            slot.record.finish(end, self.lambda, &mut round.samples);
            let opening = self.rules.open(&mut stream);
            (slot.start, slot.played) = (opening.start, opening.played);
            position = opening.position;
        }
        tree.restart(position);
    }
}

fn unsound(error: impl Display) -> SelfPlayError {
    SelfPlayError::new(format!("a saved game: {error}"))
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
