//! Actions as indices, and sets of actions.

use std::fmt;
use std::hash::Hash;

/// The index of an action in the game's fixed list. As text, an action is called a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Action(pub u16);

impl Action {
    /// The index as a `usize`, for arrays.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A set of actions, stored as bits.
pub trait Mask: Copy + Default + Eq + Hash + fmt::Debug + Send + Sync + 'static {
    /// All indices of actions must be below this.
    const CAPACITY: usize;

    /// The bits as words: action `i` is bit `i % 64` of word `i / 64`.
    fn words(&self) -> &[u64];

    /// The same words, mutable.
    fn words_mut(&mut self) -> &mut [u64];

    /// Adds an action.
    #[inline]
    fn insert(&mut self, action: Action) {
        self.words_mut()[action.index() / 64] |= 1 << (action.index() % 64);
    }

    /// Removes an action.
    #[inline]
    fn remove(&mut self, action: Action) {
        self.words_mut()[action.index() / 64] &= !(1 << (action.index() % 64));
    }

    /// Whether the action is in the set.
    #[inline]
    fn contains(&self, action: Action) -> bool {
        self.words()[action.index() / 64] >> (action.index() % 64) & 1 == 1
    }

    /// How many actions are in the set.
    #[inline]
    fn count(&self) -> u32 {
        self.words().iter().map(|word| word.count_ones()).sum()
    }

    /// The action that has exactly `rank` smaller ones in the set.
    ///
    /// # Panics
    /// Panics or returns an arbitrary action unless `rank < count()`.
    #[inline]
    fn nth(&self, mut rank: u32) -> Action {
        // If no earlier word contains the action, the last one does, so it needs no test.
        let (last, earlier) = self.words().split_last().expect("a set has words");
        for (index, &word) in earlier.iter().enumerate() {
            let count = word.count_ones();
            if rank < count {
                return Action((64 * index) as u16 + select(word, rank));
            }
            rank -= count;
        }
        Action((64 * earlier.len()) as u16 + select(*last, rank))
    }

    /// Whether the set is empty.
    #[inline]
    fn is_empty(&self) -> bool {
        self.words().iter().all(|&word| word == 0)
    }

    /// The actions of the set, smallest first.
    #[inline]
    fn iter(&self) -> Actions<'_> {
        let words = self.words();
        Actions { words, current: words[0], base: 0 }
    }
}

/// The actions of a [`Mask`], smallest first.
#[derive(Clone, Debug)]
pub struct Actions<'a> {
    words: &'a [u64], // the current word and those after it
    current: u64,     // bits of the current word that were not returned yet
    base: u16,        // the action of the current word's lowest bit
}

impl Iterator for Actions<'_> {
    type Item = Action;

    #[inline]
    fn next(&mut self) -> Option<Action> {
        while self.current == 0 {
            self.words = &self.words[1..];
            self.current = *self.words.first()?;
            self.base += 64;
        }
        let action = Action(self.base + self.current.trailing_zeros() as u16);
        self.current &= self.current - 1;
        Some(action)
    }
}

/// A set of up to `64 * WORDS` actions.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ActionMask<const WORDS: usize>(pub [u64; WORDS]);

impl<const WORDS: usize> Default for ActionMask<WORDS> {
    fn default() -> Self {
        ActionMask([0; WORDS])
    }
}

impl<const WORDS: usize> fmt::Debug for ActionMask<WORDS> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_set().entries(self.iter().map(|action| action.0)).finish()
    }
}

impl<const WORDS: usize> Mask for ActionMask<WORDS> {
    const CAPACITY: usize = 64 * WORDS;

    #[inline]
    fn words(&self) -> &[u64] {
        &self.0
    }

    #[inline]
    fn words_mut(&mut self) -> &mut [u64] {
        &mut self.0
    }
}

/// The indices of the set bits, lowest first.
#[inline]
pub fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = set.trailing_zeros() as usize;
        (set != 0).then(|| {
            set &= set - 1;
            lowest
        })
    })
}

/// `SELECT_IN_BYTE[rank][byte]`: the index of the bit of `byte` with `rank` set bits below it.
static SELECT_IN_BYTE: [[u8; 256]; 8] = select_in_byte();

const fn select_in_byte() -> [[u8; 256]; 8] {
    let mut table = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut rank = 0;
        let mut bit = 0;
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                table[rank][byte] = bit as u8;
                rank += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    table
}

/// The index of the bit of `word` with `rank` set bits below it. Prefix sums of the bit counts of all eight bytes
/// find the byte, and a table finds the bit in it.
#[inline]
fn select(word: u64, rank: u32) -> u16 {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    debug_assert!(rank < word.count_ones());
    let pairs = word - (word >> 1 & 0x5555_5555_5555_5555);
    let nibbles = (pairs & 0x3333_3333_3333_3333) + (pairs >> 2 & 0x3333_3333_3333_3333);
    let bytes = (nibbles + (nibbles >> 4)) & 0x0f0f_0f0f_0f0f_0f0f;
    let sums = bytes.wrapping_mul(LOW); // byte i: set bits in bytes 0..=i
    // The high bit of a byte stays set where its sum is at most `rank`. Counting these bits finds the byte.
    let below = (((u64::from(rank) * LOW) | HIGH) - sums) & HIGH;
    let place = ((below >> 7).wrapping_mul(LOW) >> 56) * 8;
    let before = (sums << 8) >> place & 0xff;
    let byte = word >> place & 0xff;
    let bit = SELECT_IN_BYTE[(u64::from(rank) - before) as usize & 7][byte as usize];
    place as u16 + u16::from(bit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nth_agrees_with_the_iterator_on_scattered_masks() {
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..2000 {
            let mut mask = ActionMask::<3>::default();
            for word in &mut mask.0 {
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                *word = seed & seed.rotate_left(23);
            }
            assert_eq!(mask.iter().count() as u32, mask.count());
            for (rank, action) in mask.iter().enumerate() {
                assert_eq!(mask.nth(rank as u32), action);
                assert!(mask.contains(action));
            }
        }
        assert_eq!(ActionMask([u64::MAX]).nth(63), Action(63));
        assert!(ActionMask::<2>::default().iter().next().is_none());
    }
}
