//! Helpers for several test files.

use jarmo::random::{below, stream};
use rand::Rng;

/// A chooser among `n` options, from the random stream of this seed.
pub(crate) fn chooser(seed: u64) -> impl FnMut(usize) -> usize {
    let mut stream = stream(seed, 0);
    move |n| below(stream.next_u64(), n as u32) as usize
}
