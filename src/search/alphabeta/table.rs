//! What the search remembers of positions: a table of fixed size, two places per position.

use crate::game::Action;

/// What a remembered score says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    /// The score is at least this.
    Lower,
    /// The score is at most this.
    Upper,
    /// The score is this.
    Exact,
}

impl Bound {
    /// Whether a score with this bound says all that a search in this window could.
    #[inline]
    pub(super) fn decides(self, score: i32, (alpha, beta): (i32, i32)) -> bool {
        match self {
            Bound::Exact => true,
            Bound::Lower => score >= beta,
            Bound::Upper => score <= alpha,
        }
    }
}

/// What is remembered of one position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    check: u32, // the half of the key that does not tell the place
    pub(super) action: Action,
    pub(super) score: i16,
    generation: u16, // of the search that wrote it; 0 for an empty place
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

/// Both places of a position: the first keeps the deeper result, the second the latest.
type Pair = [Entry; 2];

/// The table. A new search forgets everything without touching it.
#[derive(Debug)]
pub(super) struct Table {
    pairs: Vec<Pair>,
    generation: u16,
}

impl Table {
    /// A table of at most this many bytes, and of no more places than `nodes` could fill.
    pub(super) fn new(bytes: usize, nodes: u64) -> Table {
        let affordable = (bytes / size_of::<Pair>()).max(1);
        let useful = usize::try_from(nodes).unwrap_or(usize::MAX).max(1);
        let pairs = affordable.min(useful);
        let pairs = 1 << pairs.ilog2(); // a power of two, rounded down
        Table {
            pairs: vec![[EMPTY; 2]; pairs],
            generation: 0,
        }
    }

    /// Forgets everything.
    pub(super) fn forget(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.pairs.fill([EMPTY; 2]);
            self.generation = 1;
        }
    }

    #[inline]
    fn place(&self, key: u64) -> usize {
        key as usize & (self.pairs.len() - 1)
    }

    /// What is known of the position with this key.
    #[inline]
    pub(super) fn get(&self, key: u64) -> Option<Entry> {
        let check = (key >> 32) as u32;
        self.pairs[self.place(key)]
            .into_iter()
            .find(|entry| entry.generation == self.generation && entry.check == check)
    }

    /// Remembers a result.
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
        let place = self.place(key);
        let [deep, latest] = &mut self.pairs[place];
        if deep.generation != entry.generation || deep.check == entry.check || deep.depth <= depth {
            *deep = entry;
        } else {
            *latest = entry;
        }
    }
}
