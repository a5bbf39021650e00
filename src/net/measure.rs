//! How fast frozen networks are on one core, kernel by kernel.

use std::fmt;
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;
use rand::Rng;
use serde::Serialize;

use super::{FeatureBatch, FrozenNet, KernelKind, Logits, NetConfig, NetShape, Weights};
use crate::encode::Encode;
use crate::game::Mask;
use crate::random::{Stream, any_of, stream};

/// Runs whose median is reported.
const RUNS: usize = 5;

/// What to measure.
#[derive(Clone, Copy, Debug)]
pub struct NetWork {
    /// The network.
    pub net: NetConfig,
    /// Positions in a batch.
    pub batch: usize,
    /// The seed of weights and positions.
    pub seed: u64,
    /// How long one of the runs takes at least.
    pub run_time: Duration,
}

/// How fast a network is on one core: the medians of several runs for every kernel.
#[derive(Clone, Debug, Serialize)]
pub struct NetSpeed {
    game: &'static str,
    net: NetConfig,
    parameters: usize,
    features: usize,
    set_features: f64,
    batch: usize,
    kernels: Vec<KernelSpeed>,
}

#[derive(Clone, Debug, Serialize)]
struct KernelSpeed {
    kernel: KernelKind,
    positions_per_s: f64,
    positions_per_cpu_s: f64,
}

impl fmt::Display for NetSpeed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{}, {}: {} parameters, {} features of which {:.1} are set, batch {}, one core",
            self.game, self.net, self.parameters, self.features, self.set_features, self.batch
        )?;
        for speed in &self.kernels {
            write!(
                out,
                "\n{:>12}: {:>9.0} positions/s, {:>9.0} per CPU second",
                speed.kernel.name(),
                speed.positions_per_s,
                speed.positions_per_cpu_s
            )?;
        }
        Ok(())
    }
}

/// Evaluates positions of random games with random weights, with each of these kernels that the
/// processor has, on the calling thread.
pub fn measure<G: Encode>(game: &G, kernels: &[KernelKind], work: NetWork) -> NetSpeed {
    let shape = NetShape::of(game);
    let weights = Weights::random(work.net, shape, &mut stream(work.seed, 0));
    let batch = random_batch(game, work.batch, &mut stream(work.seed, 1));
    let set: usize = (0..batch.len()).map(|row| batch.row(row).len()).sum();
    let kernels = kernels.iter().filter_map(|&kind| {
        let net = FrozenNet::with_kernel(&weights, kind)?;
        Some(measure_kernel(net, &batch, work.run_time))
    });
    NetSpeed {
        game: game.id(),
        net: work.net,
        parameters: weights.parameters(),
        features: shape.features,
        set_features: set as f64 / batch.len() as f64,
        batch: work.batch,
        kernels: kernels.collect(),
    }
}

fn measure_kernel(mut net: FrozenNet, batch: &FeatureBatch, run_time: Duration) -> KernelSpeed {
    let mut logits = Logits::new(*net.shape());
    let mut run = |at_least: Duration| {
        let (start, cpu_start) = (Instant::now(), ThreadTime::now());
        let mut positions = 0;
        while start.elapsed() < at_least {
            net.evaluate(batch, &mut logits);
            positions += batch.len();
        }
        let positions = positions as f64;
        (
            positions / start.elapsed().as_secs_f64(),
            positions / cpu_start.elapsed().as_secs_f64(),
        )
    };
    run(run_time / 4); // warms caches and clocks up
    let (mut speeds, mut cpu_speeds): (Vec<f64>, Vec<f64>) =
        (0..RUNS).map(|_| run(run_time)).unzip();
    speeds.sort_unstable_by(f64::total_cmp);
    cpu_speeds.sort_unstable_by(f64::total_cmp);
    KernelSpeed {
        kernel: net.kernel(),
        positions_per_s: speeds[RUNS / 2],
        positions_per_cpu_s: cpu_speeds[RUNS / 2],
    }
}

/// Positions of random games, one after another.
fn random_batch<G: Encode>(game: &G, size: usize, stream: &mut Stream) -> FeatureBatch {
    let mut batch = FeatureBatch::new();
    let mut position = game.start();
    while batch.len() < size {
        batch.push(game, &position);
        let legal = game.legal(&position);
        if legal.is_empty() {
            position = game.start();
        } else {
            let action = any_of(&legal, stream.next_u64());
            game.play(&mut position, action);
        }
    }
    batch
}
