//! Random streams: one per slot or game, all derived from one seed.

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use crate::game::{Action, Mask};

/// A random stream. The algorithm is fixed, so a seed means the same games on every machine.
pub type Stream = Xoshiro256PlusPlus;

/// The stream number `index` of a seed. Streams of different indices or seeds are unrelated.
pub fn stream(seed: u64, index: u64) -> Stream {
    // Each half is mixed before they meet, so that (1, 0) and (0, 1) start apart.
    Stream::seed_from_u64(mix(seed) ^ mix(!index).rotate_left(32))
}

/// A number below `bound` from 64 random bits: the high half of the product. The bias is below
/// `bound / 2^64`.
#[inline]
pub fn below(bits: u64, bound: u32) -> u32 {
    ((u128::from(bits) * u128::from(bound)) >> 64) as u32
}

/// An action of a set that is not empty, any as likely as any other, from 64 random bits.
#[inline]
pub fn any_of<M: Mask>(set: &M, bits: u64) -> Action {
    set.nth(below(bits, set.count()))
}

/// The finaliser of SplitMix64: every input bit moves about half of the output bits.
#[inline]
pub(crate) const fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    #[test]
    fn streams_of_one_seed_differ_and_repeat() {
        let first: Vec<u64> = (0..64).map(|index| stream(7, index).next_u64()).collect();
        let again: Vec<u64> = (0..64).map(|index| stream(7, index).next_u64()).collect();
        assert_eq!(first, again);
        let mut distinct = first.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), 64);
        assert_ne!(stream(0, 1).next_u64(), stream(1, 0).next_u64());
    }

    #[test]
    fn below_covers_the_whole_range_and_nothing_else() {
        assert_eq!(below(0, 7), 0);
        assert_eq!(below(u64::MAX, 7), 6);
        assert_eq!(below(u64::MAX, 1), 0);
    }
}
