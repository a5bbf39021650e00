//! Random numbers, all derived from one seed: streams per slot or game, and single draws by number.

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use crate::game::{Action, Mask};

/// A random stream. The algorithm is fixed, so a seed gives the same games on every machine.
pub type Stream = Xoshiro256PlusPlus;

/// The stream with this seed and index. Streams with different seeds or indices are independent.
pub fn stream(seed: u64, index: u64) -> Stream {
    Stream::seed_from_u64(both(seed, index))
}

/// The stream of a slot for one step, so that no stream has to be stored between steps.
pub fn slot_stream(seed: u64, slot: u64, step: u64) -> Stream {
    stream(seed, (slot << 40) | step)
}

/// Random access to the outputs of SplitMix64.
#[derive(Clone, Copy, Debug)]
pub struct Draws(u64);

impl Draws {
    /// The outputs for this seed and index. Those of different seeds or indices are independent.
    pub fn new(seed: u64, index: u64) -> Draws {
        Draws(both(seed, index))
    }

    /// The output with this number: 64 random bits.
    #[inline]
    pub fn bits(self, number: u64) -> u64 {
        mix(self.0.wrapping_add(number.wrapping_mul(GOLDEN)))
    }
}

/// Maps 64 random bits to a number below `bound`: the high half of the product. The bias is below `bound / 2^64`.
#[inline]
pub fn below(bits: u64, bound: u32) -> u32 {
    ((u128::from(bits) * u128::from(bound)) >> 64) as u32
}

/// Maps 64 random bits to an action of a non-empty set, uniformly.
#[inline]
pub fn any_of<M: Mask>(set: &M, bits: u64) -> Action {
    set.nth(below(bits, set.count()))
}

/// Combines seed and index. Both are mixed first, so that (1, 0) and (0, 1) differ.
const fn both(seed: u64, index: u64) -> u64 {
    mix(seed) ^ mix(!index).rotate_left(32)
}

/// The increment of the SplitMix64 state.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The output function of SplitMix64: every input bit affects about half of the output bits.
#[inline]
pub const fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(GOLDEN);
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
    fn draws_match_published_outputs_of_splitmix64() {
        let draws = Draws(1234567);
        let bits: Vec<u64> = (0..3).map(|number| draws.bits(number)).collect();
        let published = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(bits, published);
        assert_ne!(Draws::new(0, 1).bits(0), Draws::new(1, 0).bits(0));
    }

    #[test]
    fn below_covers_the_whole_range_and_nothing_else() {
        assert_eq!(below(0, 7), 0);
        assert_eq!(below(u64::MAX, 7), 6);
        assert_eq!(below(u64::MAX, 1), 0);
    }
}
