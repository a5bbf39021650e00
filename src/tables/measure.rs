//! How long a lookup takes.

use cpu_time::ThreadTime;

use super::lookup::Tables;
use super::verify::random_position;
use crate::games::JarmoPosition;
use crate::random::stream;

/// Seconds of processor time that a lookup of a random position takes, from positions in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LookupSpeed {
    /// The layer.
    pub force: u32,
    /// Per lookup, many of them in a row.
    pub throughput: f64,
    /// Per lookup, where each has to wait for the answer of the one before.
    pub latency: f64,
}

/// Looks up `lookups` random positions of every layer.
pub fn measure(tables: &Tables, lookups: u32, seed: u64) -> Vec<LookupSpeed> {
    tables
        .layers()
        .map(|(layer, _)| {
            let mut stream = stream(seed, layer.force().into());
            let positions: Vec<_> = (0..lookups)
                .map(|_| random_position(layer, &mut stream))
                .collect();
            LookupSpeed {
                force: layer.force(),
                throughput: time(lookups, || {
                    let known = positions.iter().filter(|&one| tables.exact(one).is_some());
                    assert_eq!(known.count(), positions.len(), "the layer holds them");
                }),
                latency: time(lookups, || chase(tables, &positions)),
            }
        })
        .collect()
}

/// Looks up positions of which each is found by what the one before is worth.
fn chase(tables: &Tables, positions: &[JarmoPosition]) {
    let mut place = 0;
    for step in 0..positions.len() {
        let exact = tables.exact(&positions[place]).expect("the layer holds it");
        let plies = exact.plies().unwrap_or(0) as usize;
        place = (step * 7919 + plies) % positions.len();
    }
}

fn time(lookups: u32, work: impl FnOnce()) -> f64 {
    let start = ThreadTime::now();
    work();
    start.elapsed().as_secs_f64() / f64::from(lookups)
}
