//! Hash keys of positions.

/// The fractional bits of the golden ratio.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// The fractional bits of pi.
const START: u64 = 0x243f_6a88_85a3_08d3;

/// Hashes words by folded multiplication: one per word, and a last one to mix.
#[inline]
pub(super) fn word_key<const WORDS: usize>(words: [u64; WORDS]) -> u64 {
    let key = words.into_iter().fold(START, |key, word| fold(key ^ word, FACTOR));
    fold(key, FACTOR.rotate_left(32))
}

/// Both halves of the product, combined by exclusive or.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}
