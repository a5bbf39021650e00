//! Ranks of small subsets: the combinatorial number system, as table lookups.
//!
//! A set of `k` numbers is a bit set; sets of equal size are numbered in the order of their bits read
//! as a number (colex order). The rank of `{c1 < c2 < … < ck}` is the sum of `choose(ci, i)`.

use jarmo_core::games::board::CIRCLES;

/// The size of the largest sets: the maximum number of archers of a player.
pub const MOST: usize = 5;

/// The places of the largest board.
const PLACES: usize = 32;

const LOW_BITS: usize = 13;
const LOW_MASK: u32 = (1 << LOW_BITS) - 1;
const HIGH_BITS: usize = CIRCLES - LOW_BITS;

static CHOOSE: [[u32; MOST + 1]; PLACES + 1] = binomials();
static LOW: [u16; 1 << LOW_BITS] = low_ranks();
static HIGH: [[u32; 1 << HIGH_BITS]; MOST + 1] = high_ranks();

const fn binomials() -> [[u32; MOST + 1]; PLACES + 1] {
    let mut table = [[0; MOST + 1]; PLACES + 1];
    let mut n = 0;
    while n <= PLACES {
        table[n][0] = 1;
        let mut k = 1;
        while k <= MOST && n > 0 {
            table[n][k] = table[n - 1][k - 1] + table[n - 1][k];
            k += 1;
        }
        n += 1;
    }
    table
}

/// The part of a rank from the numbers below `LOW_BITS`; 0 for sets that are too large.
const fn low_ranks() -> [u16; 1 << LOW_BITS] {
    let choose = binomials();
    let mut table = [0; 1 << LOW_BITS];
    let mut set = 1_usize;
    while set < 1 << LOW_BITS {
        let top = set.ilog2() as usize;
        let count = set.count_ones() as usize;
        if count <= MOST {
            table[set] = table[set ^ 1 << top] + choose[top][count] as u16;
        }
        set += 1;
    }
    table
}

/// The part of a rank from the other numbers, by the size of the whole set.
const fn high_ranks() -> [[u32; 1 << HIGH_BITS]; MOST + 1] {
    let choose = binomials();
    let mut table = [[0; 1 << HIGH_BITS]; MOST + 1];
    let mut k = 1;
    while k <= MOST {
        let mut set = 1_usize;
        while set < 1 << HIGH_BITS {
            let top = set.ilog2() as usize;
            if set.count_ones() as usize <= k {
                table[k][set] = table[k - 1][set ^ 1 << top] + choose[LOW_BITS + top][k];
            }
            set += 1;
        }
        k += 1;
    }
    table
}

/// The binomial coefficient, for `k` up to 5 and `n` up to 32.
#[inline(always)]
pub(super) fn choose(n: usize, k: usize) -> usize {
    CHOOSE[n][k] as usize
}

/// The rank of a set of `size` numbers below 25.
#[inline(always)]
pub(super) fn rank(set: u32, size: usize) -> usize {
    debug_assert_eq!(set.count_ones() as usize, size);
    usize::from(LOW[(set & LOW_MASK) as usize]) + HIGH[size][(set >> LOW_BITS) as usize] as usize
}

/// [`rank`] on boards of up to 32 places, without large lookup tables.
#[inline]
pub(super) fn rank_of(set: u32) -> usize {
    bits(set).zip(1..).map(|(place, k)| choose(place as usize, k)).sum()
}

/// The rank of a subset of five elements.
#[inline(always)]
pub(super) fn pattern_rank(pattern: u32) -> usize {
    usize::from(LOW[pattern as usize])
}

/// The set of `size` numbers below `bound` with this rank.
#[inline]
pub(super) fn unrank_below(mut bound: usize, mut rank: usize, size: usize) -> u32 {
    let mut set = 0;
    for k in (1..=size).rev() {
        let top = (0..bound).rev().find(|&top| choose(top, k) <= rank).expect("choose(0, k) is 0");
        rank -= choose(top, k);
        set |= 1 << top;
        bound = top;
    }
    debug_assert_eq!(rank, 0, "the rank is too large");
    set
}

/// The next set of the same size. Meaningless for the last set and for the empty one.
#[inline(always)]
pub(super) fn next(set: u32) -> u32 {
    let lowest = set & set.wrapping_neg();
    let ripple = set.wrapping_add(lowest);
    ripple | (((set ^ ripple) >> 2) >> lowest.trailing_zeros())
}

/// All sets of `size` numbers below `bound`, in order.
pub(super) fn sets(bound: usize, size: usize) -> impl Iterator<Item = u32> {
    let after = |&set: &u32| Some(if set == 0 { 0 } else { next(set) });
    std::iter::successors(Some((1 << size) - 1), after).take(choose(bound, size))
}

/// The new index of `place` after the places of `removed` are deleted.
#[inline(always)]
pub(super) fn squeeze(place: u32, removed: u32) -> u32 {
    place - (removed & ((1 << place) - 1)).count_ones()
}

/// `set` with the places of `removed` deleted: bit `i` is the `i`-th remaining place.
#[inline(always)]
pub(super) fn compress(set: u32, removed: u32) -> u32 {
    debug_assert_eq!(set & removed, 0);
    bits(set).fold(0, |out, place| out | 1 << squeeze(place, removed))
}

/// The inverse of [`compress`]; `places` are the remaining circles, in order.
#[inline(always)]
pub(super) fn expand(set: u32, places: &[u8; CIRCLES]) -> u32 {
    bits(set).fold(0, |out, place| out | 1 << places[place as usize])
}

/// The inverse of [`compress`] on boards of up to 32 places.
#[inline]
pub(super) fn spread(set: u32, removed: u32) -> u32 {
    let mut left = !removed;
    let mut passed = 0;
    bits(set).fold(0, |out, place| {
        for _ in passed..place {
            left &= left - 1;
        }
        passed = place;
        out | left & left.wrapping_neg()
    })
}

/// The circles outside `removed`, in order, padded with zeros.
pub(super) fn places_outside(removed: u32) -> [u8; CIRCLES] {
    let mut places = [0; CIRCLES];
    let left = bits(!removed & ((1 << CIRCLES) - 1));
    for (slot, place) in places.iter_mut().zip(left) {
        *slot = place as u8;
    }
    places
}

/// Which members of `set`, in order, are in `subset`: bit `i` is the `i`-th member.
#[inline(always)]
pub(super) fn pattern(subset: u32, set: u32) -> u32 {
    debug_assert_eq!(subset & !set, 0);
    bits(subset).fold(0, |out, place| out | 1 << (set & ((1 << place) - 1)).count_ones())
}

/// The inverse of [`pattern`].
#[inline(always)]
pub(super) fn pick(pattern: u32, set: u32) -> u32 {
    let mut out = 0;
    for (index, place) in bits(set).enumerate() {
        out |= (pattern >> index & 1) << place;
    }
    out
}

/// The members of a set, lowest first.
#[inline(always)]
pub fn bits(set: u32) -> impl Iterator<Item = u32> {
    jarmo_core::game::bits(set.into()).map(|place| place as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_number_the_sets_of_every_size_in_order() {
        for size in 1..=MOST {
            let mut set = (1_u32 << size) - 1;
            for index in 0..choose(CIRCLES, size) {
                assert_eq!(rank(set, size), index);
                assert_eq!(rank_of(set), index);
                assert_eq!(unrank_below(CIRCLES, index, size), set);
                set = next(set);
            }
            assert!(set >= 1 << CIRCLES, "size {size}: not the last set");
        }
    }

    #[test]
    fn compress_and_pattern_have_inverses() {
        let removed = 0b1_0010_0100_0000_1000_0000_0001;
        let places = places_outside(removed);
        for set in [0b10, 0b1100_0000_0000_0001_0010, 0b10000 << 18, 0x00ff_ffff] {
            let set = set & !removed;
            assert_eq!(expand(compress(set, removed), &places), set);
            assert_eq!(spread(compress(set, removed), removed), set);
        }
        assert_eq!(pick(pattern(0b1_0100, 0b1_1110), 0b1_1110), 0b1_0100);
        assert_eq!(pattern(0b1_0100, 0b1_1110), 0b1010);
    }
}
