//! The games of one thread: a tree for each, and one evaluator for all.

use std::ops::Range;
use std::time::Instant;

use rand::Rng;

use super::Round;
use super::game::Record;
use super::settings::SelfPlaySettings;
use super::timed::Timed;
use crate::encode::Encode;
use crate::eval::Evaluator;
use crate::game::{Game, Mask};
use crate::random::{Stream, below, stream};
use crate::search::{Batch, GumbelSettings, Policy, Tree, TreeLimit, gumbel_noise};

/// The games of one thread.
pub(super) struct Shard<G: Encode, E> {
    game: G,
    settings: SelfPlaySettings,
    evaluator: Timed<E>,
    batch: Batch<G>,
    trees: Vec<Tree<G>>, // one per slot
    slots: Vec<Slot>,
    noise: Vec<f32>,
    policy: Vec<f32>, // [actions]
}

struct Slot {
    stream: Stream,
    record: Record,
}

impl<G: Encode, E: Evaluator<G>> Shard<G, E> {
    pub(super) fn new(
        game: G,
        settings: SelfPlaySettings,
        evaluator: E,
        slots: Range<usize>,
        seed: u64,
    ) -> Shard<G, E> {
        let policy = Policy::Gumbel(GumbelSettings {
            considered: settings.considered,
            ..GumbelSettings::default()
        });
        let limit = TreeLimit::for_simulations(&game, settings.simulations);
        let mut slots: Vec<Slot> = slots
            .map(|slot| Slot {
                stream: stream(seed, slot as u64),
                record: Record::default(),
            })
            .collect();
        let trees = slots
            .iter_mut()
            .map(|slot| {
                let position = open(&game, settings.opening_plies, &mut slot.stream);
                Tree::new(game.clone(), policy, limit, position)
            })
            .collect();
        Shard {
            batch: Batch::new(&game),
            policy: vec![0.0; game.actions()],
            noise: Vec::new(),
            evaluator: Timed::new(evaluator),
            game,
            settings,
            trees,
            slots,
        }
    }

    pub(super) fn replace_evaluator(&mut self, evaluator: E) {
        self.evaluator = Timed::new(evaluator);
    }

    /// Plays one action in every game.
    pub(super) fn round(&mut self) -> Round {
        let start = Instant::now();
        let (evaluated, evaluating) = (self.batch.evaluated(), self.evaluator.spent());
        for (tree, slot) in self.trees.iter_mut().zip(&mut self.slots) {
            let actions = self.game.legal(tree.position()).count();
            self.noise.clear();
            let noise = (0..actions).map(|_| gumbel_noise(slot.stream.next_u64()));
            self.noise.extend(noise);
            let simulations = self.settings.simulations;
            tree.plan(
                simulations,
                simulations,
                &self.noise,
                slot.stream.next_u64(),
            );
        }
        self.batch
            .search(&mut self.trees, &mut self.evaluator, |_| false);
        let mut round = Round {
            positions: self.trees.len() as u64,
            ..Round::default()
        };
        for index in 0..self.trees.len() {
            round.simulations += u64::from(self.trees[index].simulations_done());
            self.play(index, &mut round);
        }
        round.evaluations = self.batch.evaluated() - evaluated;
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
        let legal = self.game.legal(&position);
        let actions: Vec<u16> = legal.iter().map(|action| action.0).collect();
        let policy: Vec<f32> = legal
            .iter()
            .map(|action| self.policy[action.index()])
            .collect();
        let surprise = divergence(tree, &policy);
        slot.record
            .push(&self.game, &position, (actions, policy), surprise);
        let action = tree.best().expect("a position under way was judged");
        self.game.play(&mut position, action);
        if let Some(outcome) = self.game.outcome(&position) {
            round.games.count(&outcome, self.game.ply(&position));
            slot.record
                .finish(&self.game, &position, &outcome, &mut round.samples);
            position = open(&self.game, self.settings.opening_plies, &mut slot.stream);
        }
        tree.restart(position);
    }
}

/// A position to start a game from: up to `most` random actions after the start, none of which ends
/// the game.
fn open<G: Game>(game: &G, most: u32, stream: &mut Stream) -> G::Position {
    let plies = below(stream.next_u64(), most + 1);
    let mut position = game.start();
    for _ in 0..plies {
        let before = position;
        let legal = game.legal(&position);
        let action = legal.nth(below(stream.next_u64(), legal.count()));
        game.play(&mut position, action);
        if game.outcome(&position).is_some() {
            return before;
        }
    }
    position
}

/// How far the policy of search is from the evaluator's, in nats: at least 0.
fn divergence<G: Game>(tree: &Tree<G>, policy: &[f32]) -> f32 {
    let actions = tree.root_actions();
    let parts = policy.iter().zip(&actions).map(|(&share, action)| {
        if share > 0.0 {
            share * (share / action.prior.max(f32::MIN_POSITIVE)).ln()
        } else {
            0.0
        }
    });
    parts.sum::<f32>().max(0.0)
}
