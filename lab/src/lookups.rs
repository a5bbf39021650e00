//! The speed of lookups in exact tables.

use std::hint::black_box;

use cpu_time::ThreadTime;

use jarmo_core::random::stream;
use jarmo_exact::tables::{Layer, Solvable, Tables, random_position};

/// CPU seconds per lookup of a random position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LookupSpeed {
    /// The force of the layer.
    pub force: u32,
    /// Lookups one after another.
    pub throughput: f64,
    /// Lookups of many positions in one call.
    pub at_once: f64,
    /// Lookups that each depend on the result of the one before.
    pub latency: f64,
}

/// Looks up `lookups` random positions of every layer.
pub fn speed<G: Solvable>(tables: &Tables<G>, lookups: u32, seed: u64) -> Vec<LookupSpeed> {
    tables
        .layers()
        .map(|layer| {
            let mut stream = stream(seed, layer.force().into());
            let positions: Vec<_> = (0..lookups).map(|_| random_position(layer, &mut stream)).collect();
            LookupSpeed {
                force: layer.force(),
                throughput: time(lookups, || {
                    for position in &positions {
                        black_box(tables.proven(position));
                    }
                }),
                at_once: time(lookups, || {
                    let mut found = vec![None; positions.len()];
                    tables.proven_all(&positions, &mut found);
                    black_box(found);
                }),
                latency: time(lookups / 2, || chase(tables, &positions)),
            }
        })
        .collect()
}

/// Looks up one position of each pair. Which one depends on the result before.
fn chase<G: Solvable>(tables: &Tables<G>, positions: &[G::Position]) {
    let mut which = 0;
    for pair in positions.as_chunks::<2>().0 {
        let proven = tables.proven(&pair[which]).expect("the layer holds it");
        which = proven.plies.unwrap_or(1) as usize % 2;
    }
    black_box(which);
}

fn time(lookups: u32, work: impl FnOnce()) -> f64 {
    let start = ThreadTime::now();
    work();
    start.elapsed().as_secs_f64() / f64::from(lookups)
}
