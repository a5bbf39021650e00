//! What several test files need.

use jarmo::random::{below, stream};
use rand::Rng;

/// A choice among `n`, from a stream of its own for each test.
pub fn chooser(seed: u64) -> impl FnMut(usize) -> usize {
    let mut stream = stream(seed, 0);
    move |n| below(stream.next_u64(), n as u32) as usize
}
