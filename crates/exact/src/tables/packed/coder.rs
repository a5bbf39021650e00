//! The entropy coder of packed values: range asymmetric numeral systems with a fixed model.
//!
//! A symbol is coded with the frequencies that follow the symbol before it. A block is cut into four streams of symbols
//! that are decoded side by side, so that the processor does not wait for one of them; they share the words of the
//! block.

use super::BLOCK;

/// Symbols are below this.
pub(super) const SYMBOLS: usize = 81;

const STREAMS: usize = 4;
const FIRST: usize = 0; // the symbol before the first one of a stream
const BITS: u32 = 14;
const TOTAL: u32 = 1 << BITS;
const LEAST: u32 = 1 << 16; // states are at least this between two symbols
/// Bytes of a model in a file.
pub(super) const MODEL_BYTES: usize = SYMBOLS * SYMBOLS * 2;

/// How often every symbol follows every other, in `1 / TOTAL`.
#[derive(Debug)]
pub(super) struct Model {
    frequencies: Vec<[u16; SYMBOLS]>, // by the symbol before
    ranked: Vec<Ranked>,              // the same, for decoding
}

/// The symbols that follow one symbol, most frequent first.
#[derive(Debug)]
struct Ranked {
    starts: [u16; SYMBOLS + 1], // the sums of the frequencies before; the last is `TOTAL`
    symbols: [u8; SYMBOLS],
}

/// Counts from which a model is made.
pub(super) struct Counts(Vec<[u64; SYMBOLS]>);

impl Counts {
    /// No symbol counted.
    pub(super) fn new() -> Counts {
        Counts(vec![[0; SYMBOLS]; SYMBOLS])
    }

    /// Counts some symbols.
    pub(super) fn add(&mut self, symbols: &[u8]) {
        let mut before = FIRST;
        for symbol in symbols.iter().copied().map(usize::from) {
            self.0[before][symbol] += 1;
            before = symbol;
        }
    }

    /// The model of these counts. Every symbol can follow every other.
    pub(super) fn model(&self) -> Model {
        let frequencies = self.0.iter().map(|counts| {
            let rest = u64::from(TOTAL) - SYMBOLS as u64; // every symbol has at least one
            let sum: u64 = counts.iter().sum();
            let mut shares = counts.map(|count| 1 + (count * rest).checked_div(sum).unwrap_or(0) as u16);
            let given: u32 = shares.iter().map(|&share| u32::from(share)).sum();
            let most = (0..SYMBOLS).max_by_key(|&symbol| counts[symbol]).expect("not empty");
            shares[most] += (TOTAL - given) as u16;
            shares
        });
        Model::of(frequencies.collect()).expect("the frequencies have the right sum")
    }
}

impl Model {
    /// A model with these frequencies; `None` if one of them is zero or their sum is wrong.
    fn of(frequencies: Vec<[u16; SYMBOLS]>) -> Option<Model> {
        let ranked = frequencies.iter().map(Ranked::of).collect::<Option<_>>()?;
        Some(Model { frequencies, ranked })
    }

    /// Reads the bytes of [`Model::to_bytes`].
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Model> {
        let frequencies = bytes.as_chunks::<2>().0.as_chunks::<SYMBOLS>().0.iter();
        Model::of(frequencies.map(|row| row.map(u16::from_le_bytes)).collect())
    }

    /// Its bytes in a file, [`MODEL_BYTES`] of them.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        self.frequencies.as_flattened().iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    /// Encodes the symbols of a block, at most [`BLOCK`] of them.
    pub(super) fn encode(&self, symbols: &[u8]) -> Vec<u8> {
        let symbol = |at: usize| symbols.get(at).map_or(FIRST, |&symbol| usize::from(symbol));
        let length = symbols.len().div_ceil(STREAMS);
        let mut states = [LEAST; STREAMS];
        let mut words: Vec<u16> = Vec::new(); // last one first
        for place in (0..length).rev() {
            for stream in (0..STREAMS).rev() {
                let at = stream * length + place;
                let before = match place {
                    0 => FIRST,
                    _ => symbol(at - 1),
                };
                let ranked = &self.ranked[before];
                // The streams are equally long; what lies behind the last symbol is not read.
                let rank = ranked.rank(symbol(at));
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

    /// Decodes a block of `count` symbols.
    ///
    /// # Panics
    /// Panics if the block is too short.
    pub(super) fn decode(&self, block: &[u8], count: usize, symbols: &mut [u8; BLOCK]) {
        let length = count.div_ceil(STREAMS);
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
                let symbol = ranked.symbols[rank];
                before[stream] = usize::from(symbol);
                if let Some(out) = symbols.get_mut(stream * length + place) {
                    *out = symbol;
                }
            }
        }
    }
}

impl Ranked {
    fn of(frequencies: &[u16; SYMBOLS]) -> Option<Ranked> {
        let mut symbols: [u8; SYMBOLS] = std::array::from_fn(|symbol| symbol as u8);
        symbols.sort_by_key(|&symbol| std::cmp::Reverse(frequencies[usize::from(symbol)]));
        let mut starts = [0; SYMBOLS + 1];
        for (rank, &symbol) in symbols.iter().enumerate() {
            let frequency = frequencies[usize::from(symbol)];
            let sum: u16 = starts[rank];
            starts[rank + 1] = sum.checked_add(frequency).filter(|_| frequency > 0)?;
        }
        (u32::from(starts[SYMBOLS]) == TOTAL).then_some(Ranked { starts, symbols })
    }

    fn rank(&self, symbol: usize) -> usize {
        self.symbols.iter().position(|&one| usize::from(one) == symbol).expect("every symbol has a rank")
    }
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
                1 => 80,
                _ => 2,
            };
            let symbols: Vec<u8> = (0..BLOCK).map(draw).collect();
            let mut counts = Counts::new();
            counts.add(&symbols[..BLOCK / 2]);
            let model = Model::from_bytes(&counts.model().to_bytes()).unwrap();
            for length in [1, 2, 5, 16, 17, 100, BLOCK - 1, BLOCK] {
                let block = model.encode(&symbols[..length]);
                let mut decoded = [0; BLOCK];
                model.decode(&block, length, &mut decoded);
                assert_eq!(decoded[..length], symbols[..length]);
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
