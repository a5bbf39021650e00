//! Measures the speed of a network in play on one core, for every kernel, or on a device.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use super::{DeviceUse, RunTime, Runs};
use jarmo_core::encode::Encode;
use jarmo_core::env::VecEnv;
use jarmo_core::game::Action;
use jarmo_core::net::{FeatureBatch, FrozenNet, Logits, NetKind, Network, Weights};

/// The speed of a network on one core with every kernel, or on a device: medians of several runs.
#[derive(Clone, Debug, Serialize)]
pub struct NetSpeed {
    game: &'static str,
    net: NetKind,
    parameters: usize,
    features: usize,
    set_features: f64,
    batch: usize,
    kernels: Vec<KernelSpeed>,
}

#[derive(Clone, Debug, Serialize)]
struct KernelSpeed {
    kernel: String, // or device
    positions_per_s: f64,
    positions_per_cpu_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<DeviceUse>,
}

impl NetSpeed {
    /// Positions per second of CPU time with the fastest of the kernels.
    pub fn positions_per_cpu_s(&self) -> f64 {
        self.kernels.iter().map(|speed| speed.positions_per_cpu_s).fold(0.0, f64::max)
    }
}

impl fmt::Display for NetSpeed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{}, {}: {} parameters, {} features of which {:.1} are set, batch {}, one thread",
            self.game, self.net, self.parameters, self.features, self.set_features, self.batch
        )?;
        for speed in &self.kernels {
            write!(
                out,
                "\n{:>12}: {:>9.0} positions/s, {:>9.0} per CPU second",
                speed.kernel, speed.positions_per_s, speed.positions_per_cpu_s
            )?;
            if let Some(device) = &speed.device {
                write!(out, "; {device}")?;
            }
        }
        Ok(())
    }
}

/// Evaluates positions of random games on the calling thread, with each of these forms of a network, which have the
/// name of their kernel or device. `positions` is the batch size.
pub fn net<'a, G: Encode>(
    game: &G,
    weights: &Weights,
    nets: Vec<(String, FrozenNet)>,
    positions: usize,
    seed: u64,
    run_time: impl Into<RunTime<'a>>,
) -> NetSpeed {
    let count = nets.len();
    let batch = random_batch(game, positions, seed);
    let set: usize = (0..batch.len()).map(|row| batch.row(row).len()).sum();
    let RunTime { time, watch } = run_time.into();
    let goes_on = AtomicBool::new(true);
    let measured = nets.into_iter().enumerate().map_while(|(before, (name, net))| {
        let watch = |share: f64| {
            let more = watch((before as f64 + share) / count as f64);
            goes_on.fetch_and(more, Ordering::Relaxed);
            more
        };
        goes_on.load(Ordering::Relaxed).then(|| measure(name, net, &batch, RunTime::watched(time, &watch)))
    });
    NetSpeed {
        game: game.id(),
        net: weights.net().clone(),
        parameters: weights.parameters(),
        features: weights.shape().features,
        set_features: set as f64 / batch.len() as f64,
        batch: positions,
        kernels: measured.collect(),
    }
}

fn measure(kernel: String, mut net: FrozenNet, batch: &FeatureBatch, run_time: RunTime<'_>) -> KernelSpeed {
    let mut logits = Logits::new(*net.shape());
    let runs = Runs::of(run_time, || {
        net.evaluate(batch, &mut logits);
        [batch.len() as u64]
    });
    KernelSpeed {
        kernel,
        device: DeviceUse::of(&net),
        positions_per_s: runs.median(|run| run.per_s(0)),
        positions_per_cpu_s: runs.median(|run| run.per_cpu_s(0)),
    }
}

fn random_batch<G: Encode>(game: &G, size: usize, seed: u64) -> FeatureBatch {
    let mut batch = FeatureBatch::new();
    let mut env = VecEnv::new(game.clone(), 1, seed);
    let mut action = [Action(0)];
    while batch.len() < size {
        batch.push(game, env.position(0));
        batch.push_legal(env.legal(0));
        env.sample(&mut action);
        env.step(&action);
    }
    batch
}
