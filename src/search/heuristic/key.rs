//! Hash keys of positions.

use std::hash::{Hash, Hasher};

/// An odd number without pattern: the golden ratio's fraction.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// A hasher for small values: one wide multiplication a word.
#[derive(Clone, Copy)]
struct WordHasher(u64);

impl WordHasher {
    const NEW: WordHasher = WordHasher(0x243f_6a88_85a3_08d3);

    #[inline]
    fn add(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word) * u128::from(FACTOR);
        self.0 = product as u64 ^ (product >> 64) as u64;
    }
}

impl Hasher for WordHasher {
    #[inline]
    fn finish(&self) -> u64 {
        let mut last = *self;
        last.add(FACTOR.rotate_left(32));
        last.0
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.add(u64::from_le_bytes(*word));
        }
        if !rest.is_empty() {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            self.add(u64::from_le_bytes(last));
        }
    }

    #[inline]
    fn write_u8(&mut self, value: u8) {
        self.add(value.into());
    }

    #[inline]
    fn write_u32(&mut self, value: u32) {
        self.add(value.into());
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        self.add(value);
    }

    #[inline]
    fn write_isize(&mut self, value: isize) {
        self.add(value as u64);
    }
}

/// The key of everything that `Hash` covers.
#[inline]
pub(crate) fn hash_key(value: &impl Hash) -> u64 {
    let mut hasher = WordHasher::NEW;
    value.hash(&mut hasher);
    hasher.finish()
}

/// The key of a few words.
#[inline]
pub(crate) fn word_key<const WORDS: usize>(words: [u64; WORDS]) -> u64 {
    let mut hasher = WordHasher::NEW;
    for word in words {
        hasher.add(word);
    }
    hasher.finish()
}
