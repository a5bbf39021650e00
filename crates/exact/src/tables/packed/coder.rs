//! The entropy coder of packed results: range asymmetric numeral systems with a fixed model.
//!
//! Four neighbouring results make a *group*, a number in base 3 below 81. A group is coded with the
//! frequencies that follow the group before it. A block is cut into four streams of groups that are decoded
//! side by side, so that the processor does not wait for one of them; they share the words of the block.

use super::BLOCK;

/// Results in a group.
pub(super) const GROUP: usize = 4;
/// Numbers of groups.
pub(super) const GROUPS: usize = 81;
/// Groups of a whole block.
pub(super) const BLOCK_GROUPS: usize = BLOCK / GROUP;

const STREAMS: usize = 4;
const FIRST: usize = 0; // the group before the first one of a stream
const BITS: u32 = 14;
const TOTAL: u32 = 1 << BITS;
const LEAST: u32 = 1 << 16; // states are at least this between two groups
/// Bytes of a model in a file.
pub(super) const MODEL_BYTES: usize = GROUPS * GROUPS * 2;

/// How often every group follows every other, in `1 / TOTAL`.
#[derive(Debug)]
pub(super) struct Model {
    frequencies: Vec<[u16; GROUPS]>, // by the group before
    ranked: Vec<Ranked>,             // the same, for decoding
}

/// The groups that follow one group, most frequent first.
#[derive(Debug)]
struct Ranked {
    starts: [u16; GROUPS + 1], // the sums of the frequencies before; the last is `TOTAL`
    groups: [u8; GROUPS],
}

/// Counts from which a model is made.
pub(super) struct Counts(Vec<[u64; GROUPS]>);

impl Counts {
    /// No group counted.
    pub(super) fn new() -> Counts {
        Counts(vec![[0; GROUPS]; GROUPS])
    }

    /// Counts the groups of some results.
    pub(super) fn add(&mut self, results: &[u8]) {
        let mut before = FIRST;
        for group in results.chunks(GROUP).map(group) {
            self.0[before][group] += 1;
            before = group;
        }
    }

    /// The model of these counts. Every group can follow every other.
    pub(super) fn model(&self) -> Model {
        let frequencies = self.0.iter().map(|counts| {
            let rest = u64::from(TOTAL) - GROUPS as u64; // every group has at least one
            let sum: u64 = counts.iter().sum();
            let mut shares = counts.map(|count| 1 + (count * rest).checked_div(sum).unwrap_or(0) as u16);
            let given: u32 = shares.iter().map(|&share| u32::from(share)).sum();
            let most = (0..GROUPS).max_by_key(|&group| counts[group]).expect("not empty");
            shares[most] += (TOTAL - given) as u16;
            shares
        });
        Model::of(frequencies.collect()).expect("the frequencies have the right sum")
    }
}

impl Model {
    /// A model with these frequencies; `None` if one of them is zero or their sum is wrong.
    fn of(frequencies: Vec<[u16; GROUPS]>) -> Option<Model> {
        let ranked = frequencies.iter().map(Ranked::of).collect::<Option<_>>()?;
        Some(Model { frequencies, ranked })
    }

    /// Reads the bytes of [`Model::to_bytes`].
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Model> {
        let frequencies = bytes.as_chunks::<2>().0.as_chunks::<GROUPS>().0.iter();
        Model::of(frequencies.map(|row| row.map(u16::from_le_bytes)).collect())
    }

    /// Its bytes in a file, [`MODEL_BYTES`] of them.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        self.frequencies.as_flattened().iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    /// Encodes the results of a block, at most [`BLOCK`] of them, each 0, 1 or 2.
    pub(super) fn encode(&self, results: &[u8]) -> Vec<u8> {
        let groups: Vec<usize> = results.chunks(GROUP).map(group).collect();
        let length = groups.len().div_ceil(STREAMS);
        let mut states = [LEAST; STREAMS];
        let mut words: Vec<u16> = Vec::new(); // last one first
        for place in (0..length).rev() {
            for stream in (0..STREAMS).rev() {
                let at = stream * length + place;
                let before = match place {
                    0 => FIRST,
                    _ => groups.get(at - 1).copied().unwrap_or(FIRST),
                };
                let ranked = &self.ranked[before];
                // The streams are equally long; what lies behind the last group is not read.
                let rank = ranked.rank(groups.get(at).copied().unwrap_or(FIRST));
                let start = u32::from(ranked.starts[rank]);
                let frequency = u32::from(ranked.starts[rank + 1]) - start;
                let state = &mut states[stream];
                if u64::from(*state) >= u64::from(frequency) << (32 - BITS) {
                    words.push(*state as u16);
                    *state >>= 16;
                }
                *state = ((*state / frequency) << BITS) + *state % frequency + start;
            }
        }
        let states = states.iter().flat_map(|state| state.to_le_bytes());
        states.chain(words.iter().rev().flat_map(|word| word.to_le_bytes())).collect()
    }

    /// Decodes a block of `results` results into its groups.
    ///
    /// # Panics
    /// Panics if the block is too short.
    pub(super) fn decode(&self, block: &[u8], results: usize, groups: &mut [u8; BLOCK_GROUPS]) {
        let length = results.div_ceil(GROUP).div_ceil(STREAMS);
        let (states, words) = block.split_at(4 * STREAMS);
        let mut states: [u32; STREAMS] =
            std::array::from_fn(|stream| u32::from_le_bytes(states[4 * stream..][..4].try_into().expect("four bytes")));
        let mut words = words.as_chunks::<2>().0.iter();
        let mut before = [FIRST; STREAMS];
        for place in 0..length {
            for stream in 0..STREAMS {
                let ranked = &self.ranked[before[stream]];
                let slot = states[stream] & (TOTAL - 1);
                let mut rank = 0;
                while u32::from(ranked.starts[rank + 1]) <= slot {
                    rank += 1;
                }
                let start = u32::from(ranked.starts[rank]);
                let frequency = u32::from(ranked.starts[rank + 1]) - start;
                let mut state = frequency * (states[stream] >> BITS) + slot - start;
                if state < LEAST {
                    let word = words.next().map_or(0, |&word| u16::from_le_bytes(word));
                    state = state << 16 | u32::from(word);
                }
                states[stream] = state;
                let group = ranked.groups[rank];
                before[stream] = usize::from(group);
                if let Some(out) = groups.get_mut(stream * length + place) {
                    *out = group;
                }
            }
        }
    }
}

impl Ranked {
    fn of(frequencies: &[u16; GROUPS]) -> Option<Ranked> {
        let mut groups: [u8; GROUPS] = std::array::from_fn(|group| group as u8);
        groups.sort_by_key(|&group| std::cmp::Reverse(frequencies[usize::from(group)]));
        let mut starts = [0; GROUPS + 1];
        for (rank, &group) in groups.iter().enumerate() {
            let frequency = frequencies[usize::from(group)];
            let sum: u16 = starts[rank];
            starts[rank + 1] = sum.checked_add(frequency).filter(|_| frequency > 0)?;
        }
        (u32::from(starts[GROUPS]) == TOTAL).then_some(Ranked { starts, groups })
    }

    fn rank(&self, group: usize) -> usize {
        self.groups.iter().position(|&one| usize::from(one) == group).expect("every group has a rank")
    }
}

/// The group of up to four results; missing ones count as 0.
fn group(results: &[u8]) -> usize {
    (0..GROUP).rev().fold(0, |group, place| 3 * group + usize::from(results.get(place).copied().unwrap_or(0)))
}

/// One result of a group.
#[inline(always)]
pub(super) fn result(group: u8, place: usize) -> u8 {
    const POWERS: [u8; GROUP] = [1, 3, 9, 27];
    group / POWERS[place] % 3
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    #[test]
    fn blocks_of_every_length_come_back() {
        let mut stream = jarmo_core::random::stream(7, 0);
        for odds in [2, 3, 10, 1000] {
            let draw = |_| match stream.next_u32() % odds {
                0 => 0,
                1 => 1,
                _ => 2,
            };
            let results: Vec<u8> = (0..BLOCK).map(draw).collect();
            let mut counts = Counts::new();
            counts.add(&results[..BLOCK / 2]);
            let model = Model::from_bytes(&counts.model().to_bytes()).unwrap();
            for length in [1, 2, 5, 16, 17, 100, BLOCK - 1, BLOCK] {
                let block = model.encode(&results[..length]);
                let mut groups = [0; BLOCK_GROUPS];
                model.decode(&block, length, &mut groups);
                for (at, &expected) in results[..length].iter().enumerate() {
                    assert_eq!(result(groups[at / GROUP], at % GROUP), expected);
                }
            }
        }
    }

    #[test]
    fn frequencies_with_a_zero_or_a_wrong_sum_are_no_model() {
        let mut bytes = Counts::new().model().to_bytes();
        assert!(Model::from_bytes(&bytes).is_some());
        bytes[0] += 1;
        assert!(Model::from_bytes(&bytes).is_none());
        bytes.fill(0);
        assert!(Model::from_bytes(&bytes).is_none());
    }
}
