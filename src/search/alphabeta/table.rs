//! The transposition table: fixed size, two entries per bucket.

use crate::game::Action;

/// How a stored score limits the true score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    /// The true score is at least this.
    Lower,
    /// The true score is at most this.
    Upper,
    /// The true score is this.
    Exact,
}

impl Bound {
    /// Whether a stored score with this bound makes a search in this window unnecessary.
    #[inline]
    pub(super) fn decides(self, score: i32, (alpha, beta): (i32, i32)) -> bool {
        match self {
            Bound::Exact => true,
            Bound::Lower => score >= beta,
            Bound::Upper => score <= alpha,
        }
    }
}

/// A stored result of one position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    check: u32, // the upper half of the key, which the bucket does not depend on
    pub(super) action: Action,
    pub(super) score: i16,
    generation: u16, // of the search that wrote it; 0 for an empty entry
    pub(super) depth: u8,
    pub(super) bound: Bound,
}

const EMPTY: Entry = Entry {
    check: 0,
    action: Action(0),
    score: 0,
    generation: 0,
    depth: 0,
    bound: Bound::Exact,
};

/// A bucket: the first entry keeps the deepest result, the second the latest.
type Bucket = [Entry; 2];

/// The table. A new search invalidates all entries by their generation.
#[derive(Debug)]
pub(super) struct TranspositionTable {
    buckets: Vec<Bucket>,
    generation: u16,
}

impl TranspositionTable {
    /// A table of at most this many bytes and `nodes` buckets.
    pub(super) fn new(bytes: usize, nodes: u64) -> TranspositionTable {
        let affordable = (bytes / size_of::<Bucket>()).max(1);
        let useful = usize::try_from(nodes).unwrap_or(usize::MAX).max(1);
        let buckets = affordable.min(useful);
        let buckets = 1 << buckets.ilog2(); // a power of two, rounded down
        TranspositionTable {
            buckets: vec![[EMPTY; 2]; buckets],
            generation: 0,
        }
    }

    /// Invalidates all entries.
    pub(super) fn forget(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.buckets.fill([EMPTY; 2]);
            self.generation = 1;
        }
    }

    #[inline]
    fn bucket(&self, key: u64) -> usize {
        key as usize & (self.buckets.len() - 1)
    }

    /// The stored result of the position with this key.
    #[inline]
    pub(super) fn get(&self, key: u64) -> Option<Entry> {
        let check = (key >> 32) as u32;
        self.buckets[self.bucket(key)]
            .into_iter()
            .find(|entry| entry.generation == self.generation && entry.check == check)
    }

    /// Stores a result.
    #[inline]
    pub(super) fn put(&mut self, key: u64, depth: u8, bound: Bound, score: i16, action: Action) {
        let entry = Entry {
            check: (key >> 32) as u32,
            action,
            score,
            generation: self.generation,
            depth,
            bound,
        };
        let bucket = self.bucket(key);
        let [deep, latest] = &mut self.buckets[bucket];
        if deep.generation != entry.generation || deep.check == entry.check || deep.depth <= depth {
            *deep = entry;
        } else {
            *latest = entry;
        }
    }
}
