//! A cache in front of an evaluator.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::BuildHasher;

use foldhash::fast::FixedState;

use super::misses::Misses;
use super::{EvalBatch, Evaluation, Evaluator};
use crate::game::Game;

/// The number of positions per set. In a full set, the least recently used position is replaced.
const WAYS: usize = 4;

/// Remembers the results of another evaluator by position (`Eq` and `Hash`).
///
/// The other evaluator should not use its seeds, because the first result for a position is returned for all seeds.
pub struct Cache<G: Game, E> {
    /// The other evaluator. Call [`Cache::clear`] whenever its results change.
    pub inner: E,
    /// The number of positions that were found in the cache.
    pub hits: u64,
    /// The number of positions that the other evaluator had to evaluate.
    pub misses: u64,
    actions: usize, // width of a row of `logits`; 0 without a policy
    sets: Vec<Set>,
    entries: Vec<Option<(G::Position, Evaluation)>>,   // [sets x WAYS]
    logits: Vec<f32>,                                  // [entries, actions]
    clock: u32,                                        // the number of the current batch, from 1
    missing: Misses<G::Position>,                      // distinct positions of a batch that are not cached
    first_at: HashMap<G::Position, usize, FixedState>, // their indices in `missing`
    missing_hashes: Vec<u64>,
    hashes: Vec<u64>,           // [batch]
    places: Vec<Option<usize>>, // [batch]: the entry of each position
}

/// The metadata of a set, contiguous in memory.
#[derive(Clone, Copy, Default)]
struct Set {
    tags: [u32; WAYS], // the upper half of each position's hash
    used: [u32; WAYS], // the value of `clock` at the last use; 0 for an empty entry
}

impl<G: Game, E: Evaluator<G>> Cache<G, E> {
    /// A cache for at least `capacity` positions, rounded up to a power of two. All memory is allocated here.
    pub fn new(game: &G, inner: E, capacity: usize) -> Cache<G, E> {
        let entries = capacity.next_power_of_two().max(WAYS);
        let actions = if inner.has_policy() { game.actions() } else { 0 };
        Cache {
            actions,
            sets: vec![Set::default(); entries / WAYS],
            entries: (0..entries).map(|_| None).collect(),
            logits: vec![0.0; entries * actions],
            clock: 0,
            hits: 0,
            misses: 0,
            missing: Misses::new(),
            first_at: HashMap::default(),
            missing_hashes: Vec::new(),
            hashes: Vec::new(),
            places: Vec::new(),
            inner,
        }
    }

    /// Empties the cache. This is needed when the other evaluator changes.
    pub fn clear(&mut self) {
        self.sets.fill(Set::default());
    }

    fn set_of(&self, hash: u64) -> usize {
        hash as usize & (self.sets.len() - 1)
    }

    /// Finds the entries of a batch and marks them as used. The loops are separate and short, so that the CPU can
    /// wait for several memory accesses at once.
    fn find(&mut self, positions: &[G::Position]) {
        let hasher = FixedState::default();
        self.hashes.clear();
        self.hashes.extend(positions.iter().map(|position| hasher.hash_one(position)));
        let mut places = std::mem::take(&mut self.places);
        places.clear();
        let found = self.hashes.iter().map(|&hash| {
            let set = self.set_of(hash);
            let Set { tags, used } = &self.sets[set];
            let way = (0..WAYS).find(|&way| tags[way] == tag(hash) && used[way] != 0);
            way.map(|way| set * WAYS + way)
        });
        places.extend(found);
        for (place, position) in places.iter_mut().zip(positions) {
            let known = place.and_then(|place| self.entries[place].as_ref());
            *place = place.filter(|_| known.is_some_and(|(known, _)| known == position));
        }
        for place in places.iter().flatten() {
            self.sets[place / WAYS].used[place % WAYS] = self.clock;
        }
        self.places = places;
    }

    /// Reserves an entry for a position that is not cached: an empty one, or else the least recently used one.
    fn make_room(&mut self, hash: u64) -> usize {
        let (set, clock) = (self.set_of(hash), self.clock);
        let Set { tags, used } = &mut self.sets[set];
        let unused_for = |way: &usize| match used[*way] {
            0 => u32::MAX,
            used => clock.wrapping_sub(used),
        };
        let way = (0..WAYS).max_by_key(unused_for).expect("a set has entries");
        (tags[way], used[way]) = (tag(hash), clock);
        set * WAYS + way
    }
}

fn tag(hash: u64) -> u32 {
    (hash >> 32) as u32
}

impl<G: Game, E: Evaluator<G>> Evaluator<G> for Cache<G, E> {
    fn has_policy(&self) -> bool {
        self.inner.has_policy()
    }

    fn batch(&self) -> usize {
        self.inner.batch()
    }

    fn evaluate(&mut self, batch: &mut EvalBatch<G::Position>) {
        self.submit(batch);
        self.finish(batch);
    }

    fn submit(&mut self, batch: &mut EvalBatch<G::Position>) {
        self.clock = self.clock.wrapping_add(1).max(1);
        let width = self.actions;
        self.missing.clear_for(width);
        self.first_at.clear();
        self.missing_hashes.clear();
        self.find(&batch.positions);
        for row in 0..batch.len() {
            let Some(place) = self.places[row] else {
                let position = &batch.positions[row];
                match self.first_at.entry(*position) {
                    Entry::Occupied(first) => self.missing.add_row(row, *first.get()),
                    Entry::Vacant(first) => {
                        first.insert(self.missing.add(row, position, batch.seeds[row]));
                        self.missing_hashes.push(self.hashes[row]);
                    }
                }
                continue;
            };
            let (_, evaluation) = self.entries[place].as_ref().expect("just found");
            batch.evaluations[row] = *evaluation;
            batch.logits_mut(row).copy_from_slice(&self.logits[place * width..][..width]);
        }
        let count = self.missing.batch.len();
        self.hits += (batch.len() - count) as u64;
        self.misses += count as u64;
        self.missing.submit(&mut self.inner);
    }

    fn finish(&mut self, batch: &mut EvalBatch<G::Position>) {
        let width = self.actions;
        self.missing.finish(&mut self.inner, batch);
        for index in 0..self.missing.batch.len() {
            let place = self.make_room(self.missing_hashes[index]);
            let found = &self.missing.batch;
            self.entries[place] = Some((found.positions[index], *found.evaluation(index)));
            self.logits[place * width..][..width].copy_from_slice(found.logits(index));
        }
    }
}
