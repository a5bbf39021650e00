//! The transposition table: fixed size, two entries per bucket.

use crate::game::Action;

/// What a stored score says about the true score.
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
    /// Whether a stored score with this bound makes a search with this window unnecessary.
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
    check: u32, // the upper half of the key; the lower bits select the bucket
    pub(super) action: Action,
    pub(super) score: i16,
    generation: u16, // the search that wrote it; 0 for an empty entry
    pub(super) depth: u8,
    pub(super) bound: Bound,
}

/// An entry as numbers that are all 0 if it is empty. The operating system provides zeroed memory on first use, so
/// even a large table is allocated instantly.
type Packed = [u32; 3];

impl Entry {
    #[inline]
    fn pack(self) -> Packed {
        let score = u32::from(self.score as u16);
        let bound = self.bound as u32;
        [
            self.check,
            u32::from(self.action.0) | score << 16,
            u32::from(self.generation) | u32::from(self.depth) << 16 | bound << 24,
        ]
    }

    #[inline]
    fn unpack([check, choice, rest]: Packed) -> Entry {
        Entry {
            check,
            action: Action(choice as u16),
            score: (choice >> 16) as i16,
            generation: rest as u16,
            depth: (rest >> 16) as u8,
            bound: match rest >> 24 {
                0 => Bound::Lower,
                1 => Bound::Upper,
                _ => Bound::Exact,
            },
        }
    }
}

/// A bucket has two entries. The first keeps the deepest result, the second the latest.
type Bucket = [Packed; 2];

/// The table. Each search has a generation, which makes the entries of earlier searches invalid.
#[derive(Debug)]
pub(super) struct TranspositionTable {
    buckets: Vec<Bucket>,
    generation: u16,
}

impl TranspositionTable {
    /// A table of at most this many bytes and at most `nodes` buckets.
    pub(super) fn new(bytes: usize, nodes: u64) -> TranspositionTable {
        let affordable = (bytes / size_of::<Bucket>()).max(1);
        let useful = usize::try_from(nodes).unwrap_or(usize::MAX).max(1);
        let buckets = affordable.min(useful);
        let buckets = 1 << buckets.ilog2(); // a power of two, rounded down
        TranspositionTable { buckets: vec![[[0; 3]; 2]; buckets], generation: 0 }
    }

    /// Invalidates all entries.
    pub(super) fn forget(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            let size = self.buckets.len();
            self.buckets = Vec::new(); // frees the memory first, so that two tables never exist at once
            self.buckets = vec![[[0; 3]; 2]; size];
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
            .map(Entry::unpack)
            .find(|entry| entry.generation == self.generation && entry.check == check)
    }

    /// Stores a result.
    #[inline]
    pub(super) fn put(&mut self, key: u64, depth: u8, bound: Bound, score: i16, action: Action) {
        let entry = Entry { check: (key >> 32) as u32, action, score, generation: self.generation, depth, bound };
        let bucket = self.bucket(key);
        let [deep, latest] = &mut self.buckets[bucket];
        let held = Entry::unpack(*deep);
        if held.generation != entry.generation || held.check == entry.check || held.depth <= depth {
            *deep = entry.pack();
        } else {
            *latest = entry.pack();
        }
    }
}
