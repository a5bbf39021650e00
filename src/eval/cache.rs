//! A memory in front of another evaluator.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use super::{Evaluation, Evaluator};
use crate::game::Game;

/// Positions that share a place; the one not asked for the longest makes room.
const WAYS: usize = 4;

/// Remembers what another evaluator said, so that no position is judged twice while it is remembered.
///
/// Two positions are the same exactly if `Eq` says so. The other evaluator must not depend on its
/// seeds, or the first answer stands for all.
pub struct Cache<G: Game, E> {
    inner: E,
    actions: usize, // per row of `logits`, 0 without a policy
    hasher: RandomState,
    entries: Vec<Option<Entry<G::Position>>>, // WAYS per set
    logits: Vec<f32>,                         // [entries, actions]
    clock: u32,
    hits: u64,
    misses: u64,
    missing: Missing<G>,
}

struct Entry<P> {
    position: P,
    evaluation: Evaluation,
    used: u32,
}

/// The positions of a batch that have to be judged, each once.
struct Missing<G: Game> {
    first_at: HashMap<G::Position, usize>,
    positions: Vec<G::Position>,
    seeds: Vec<u64>,
    logits: Vec<f32>,
    evaluations: Vec<Evaluation>,
    rows: Vec<(usize, usize)>, // row of the batch, row here
}

impl<G: Game, E: Evaluator<G>> Cache<G, E> {
    /// A cache of at least `capacity` positions, rounded up to a power of two. All memory is claimed
    /// here.
    pub fn new(game: &G, inner: E, capacity: usize) -> Cache<G, E> {
        let entries = capacity.next_power_of_two().max(WAYS);
        let actions = if inner.has_policy() {
            game.actions()
        } else {
            0
        };
        Cache {
            actions,
            hasher: RandomState::new(),
            entries: (0..entries).map(|_| None).collect(),
            logits: vec![0.0; entries * actions],
            clock: 0,
            hits: 0,
            misses: 0,
            missing: Missing {
                first_at: HashMap::new(),
                positions: Vec::new(),
                seeds: Vec::new(),
                logits: Vec::new(),
                evaluations: Vec::new(),
                rows: Vec::new(),
            },
            inner,
        }
    }

    /// The number of positions answered from memory, and of those passed on.
    pub fn hits_and_misses(&self) -> (u64, u64) {
        (self.hits, self.misses)
    }

    /// Forgets everything: for when the other evaluator has changed.
    pub fn clear(&mut self) {
        self.entries.fill_with(|| None);
    }

    /// The evaluator behind. Changing what it says calls for [`Cache::clear`].
    pub fn inner_mut(&mut self) -> &mut E {
        &mut self.inner
    }

    fn set_of(&self, position: &G::Position) -> usize {
        let sets = self.entries.len() / WAYS;
        (self.hasher.hash_one(position) as usize & (sets - 1)) * WAYS
    }

    fn find(&self, position: &G::Position) -> Option<usize> {
        let first = self.set_of(position);
        (first..first + WAYS).find(|&place| {
            let entry = self.entries[place].as_ref();
            entry.is_some_and(|entry| entry.position == *position)
        })
    }

    /// The place for a position that is not there: an empty one, else the one unused the longest.
    fn make_room(&self, position: &G::Position) -> usize {
        let first = self.set_of(position);
        (first..first + WAYS)
            .max_by_key(|&place| match &self.entries[place] {
                None => u64::MAX,
                Some(entry) => u64::from(self.clock.wrapping_sub(entry.used)),
            })
            .expect("a set has places")
    }
}

impl<G: Game, E: Evaluator<G>> Evaluator<G> for Cache<G, E> {
    fn has_policy(&self) -> bool {
        self.inner.has_policy()
    }

    fn batch(&self) -> usize {
        self.inner.batch()
    }

    fn evaluate(
        &mut self,
        positions: &[G::Position],
        seeds: &[u64],
        logits: &mut [f32],
        evaluations: &mut [Evaluation],
    ) {
        self.clock = self.clock.wrapping_add(1);
        let width = self.actions;
        self.missing.clear();
        for (row, position) in positions.iter().enumerate() {
            let Some(place) = self.find(position) else {
                self.missing.add(row, position, seeds[row]);
                continue;
            };
            let entry = self.entries[place].as_mut().expect("just found");
            entry.used = self.clock;
            evaluations[row] = entry.evaluation;
            logits[row * width..][..width].copy_from_slice(&self.logits[place * width..][..width]);
        }
        let count = self.missing.positions.len();
        self.hits += (positions.len() - count) as u64;
        self.misses += count as u64;
        if count == 0 {
            return;
        }
        self.missing.judge(&mut self.inner, width);
        for &(row, from) in &self.missing.rows {
            evaluations[row] = self.missing.evaluations[from];
            logits[row * width..][..width]
                .copy_from_slice(&self.missing.logits[from * width..][..width]);
        }
        for from in 0..count {
            let position = self.missing.positions[from];
            let place = self.make_room(&position);
            self.entries[place] = Some(Entry {
                position,
                evaluation: self.missing.evaluations[from],
                used: self.clock,
            });
            self.logits[place * width..][..width]
                .copy_from_slice(&self.missing.logits[from * width..][..width]);
        }
    }
}

impl<G: Game> Missing<G> {
    fn clear(&mut self) {
        self.first_at.clear();
        self.positions.clear();
        self.seeds.clear();
        self.rows.clear();
    }

    fn add(&mut self, row: usize, position: &G::Position, seed: u64) {
        let here = *self.first_at.entry(*position).or_insert_with(|| {
            self.positions.push(*position);
            self.seeds.push(seed);
            self.positions.len() - 1
        });
        self.rows.push((row, here));
    }

    fn judge<E: Evaluator<G>>(&mut self, inner: &mut E, width: usize) {
        let count = self.positions.len();
        self.logits.resize(count * width, 0.0);
        self.evaluations
            .resize(count, Evaluation::of(super::Value::EVEN));
        inner.evaluate(
            &self.positions,
            &self.seeds,
            &mut self.logits,
            &mut self.evaluations,
        );
    }
}
