//! Random numbers, all derived from one seed: a stream for each slot or game, and single numbers by index.

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use crate::game::{Action, Mask};

/// A stream of random numbers. The algorithm will not change, so a seed gives the same games on every machine and in
/// every version.
pub type Stream = Xoshiro256PlusPlus;

/// The stream with this seed and index. Streams with different seeds or indices are independent.
pub fn stream(seed: u64, index: u64) -> Stream {
    Stream::seed_from_u64(both(seed, index))
}

/// The stream of a slot for one step. Making it anew in each step is cheaper than storing one per slot.
pub fn slot_stream(seed: u64, slot: u64, step: u64) -> Stream {
    stream(seed, (slot << 40) | step)
}

/// The outputs of a SplitMix64 generator by their index, in any order.
#[derive(Clone, Copy, Debug)]
pub struct Draws(u64);

impl Draws {
    /// The outputs for this seed and index. Outputs of different seeds or indices are independent.
    pub fn new(seed: u64, index: u64) -> Draws {
        Draws(both(seed, index))
    }

    /// The output with this number: 64 random bits.
    #[inline]
    pub fn bits(self, number: u64) -> u64 {
        mix(self.0.wrapping_add(number.wrapping_mul(GOLDEN)))
    }
}

/// Maps 64 random bits to a number below `bound`: the high half of their product. A number's probability is off by
/// less than 2^-64.
#[inline]
pub fn below(bits: u64, bound: u32) -> u32 {
    ((u128::from(bits) * u128::from(bound)) >> 64) as u32
}

/// Maps 64 random bits to an action of a non-empty set, with equal probabilities.
#[inline]
pub fn any_of<M: Mask>(set: &M, bits: u64) -> Action {
    set.nth(below(bits, set.count()))
}

/// Combines a seed and an index. Both are mixed first, so that (1, 0) and (0, 1) differ.
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
    fn streams_of_one_seed_differ() {
        let mut distinct: Vec<u64> = (0..64).map(|index| stream(7, index).next_u64()).collect();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), 64);
        assert_ne!(stream(0, 1).next_u64(), stream(1, 0).next_u64());
    }

    #[test]
    fn a_stream_has_the_published_outputs_of_xoshiro256() {
        let mut seed = [0; 32];
        for word in 0..4 {
            seed[8 * word] = word as u8 + 1; // the state 1, 2, 3, 4
        }
        let mut stream = Stream::from_seed(seed);
        let published = [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386];
        assert_eq!(published.map(|_| stream.next_u64()), published);
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
    fn below_gives_every_number_an_equal_share_of_the_bits() {
        for bound in 1..=300 {
            for number in 1..bound {
                let first = ((u128::from(number) << 64).div_ceil(u128::from(bound))) as u64;
                assert_eq!((below(first - 1, bound), below(first, bound)), (number - 1, number));
            }
            assert_eq!((below(0, bound), below(u64::MAX, bound)), (0, bound - 1));
        }
    }
}
