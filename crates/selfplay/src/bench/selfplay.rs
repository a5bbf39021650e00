//! Measures the speed of self-play.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::{DeviceUse, Measured, RunTime};
use crate::selfplay::{Round, SelfPlay, SelfPlaySettings};
use jarmo_core::encode::Encode;
use jarmo_core::net::{FrozenNet, NetEvaluator, NetKind, Network, Weights};
use jarmo_core::search::SearchRule;
use jarmo_exact::tables::HasEndgames;

/// The speed of self-play.
#[derive(Clone, Debug, Serialize)]
pub struct SelfPlaySpeed {
    game: &'static str,
    net: NetKind,
    parameters: usize,
    kernel: String, // or device
    games: usize,
    simulations: u32,
    root: String,
    threads: usize,
    games_per_s: f64,
    mean_length: f64,
    root_positions_per_s: f64,
    simulations_per_s: f64,
    evaluations_per_s: f64,
    root_positions_per_cpu_s: f64,
    simulations_per_cpu_s: f64,
    evaluations_per_cpu_s: f64,
    cached: f64, // the fraction of requested evaluations that came from the cache
    // Fractions of the time. That of the tree includes the rules, the cache and samples.
    features_share: f64,
    network_share: f64,
    tree_share: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<DeviceUse>,
    device_idle_share: f64, // 1 on the CPU
}

impl fmt::Display for SelfPlaySpeed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "{}, {} ({} parameters, {}), {} games, {} simulations, {}, {} thread(s)",
            self.game, self.net, self.parameters, self.kernel, self.games, self.simulations, self.root, self.threads
        )?;
        writeln!(
            out,
            "per second: {:.1} games of {:.1} plies, {:.0} root positions, \
             {:.0} simulations, {:.0} evaluations",
            self.games_per_s,
            self.mean_length,
            self.root_positions_per_s,
            self.simulations_per_s,
            self.evaluations_per_s
        )?;
        write!(
            out,
            "per CPU second: {:.0} root positions, {:.0} simulations, {:.0} evaluations ({:.0} % of the \
             requests were cached); {:.0} % of the time in trees, {:.0} % in features, {:.0} % in the network",
            self.root_positions_per_cpu_s,
            self.simulations_per_cpu_s,
            self.evaluations_per_cpu_s,
            100.0 * self.cached,
            100.0 * self.tree_share,
            100.0 * self.features_share,
            100.0 * self.network_share
        )?;
        let Some(device) = &self.device else { return Ok(()) };
        let idle = 100.0 * self.device_idle_share;
        write!(out, "\n{}: {device}; waits for search {idle:.0} % of the time", self.kernel)
    }
}

/// Nanoseconds since this function was first called.
fn nanoseconds() -> u64 {
    static FIRST: LazyLock<Instant> = LazyLock::new(Instant::now);
    FIRST.elapsed().as_nanos() as u64
}

/// Plays with these weights on the threads of the current rayon pool, and measures the speed. `net` computes the network
/// on the kernel or device with this name. If that is not the CPU, the time in the network is time spent waiting.
///
/// # Panics
/// Panics if the settings are not valid, or the weights are for another game.
pub fn selfplay<'a, G: Encode + HasEndgames>(
    game: &G,
    settings: &SelfPlaySettings,
    weights: &Weights,
    net: (String, FrozenNet),
    seed: u64,
    run_time: impl Into<RunTime<'a>>,
) -> SelfPlaySpeed {
    let threads = rayon::current_num_threads();
    let (name, net) = net;
    let stopwatch: Arc<[AtomicU64; 2]> = Arc::default();
    let nets = net.for_threads(threads).into_iter();
    let evaluator = |net| NetEvaluator::with_net(game.clone(), net).with_stopwatch(nanoseconds, stopwatch.clone());
    let evaluators = nets.map(evaluator).collect();
    let mut play = SelfPlay::new(game, settings, evaluators, seed).with_clock(nanoseconds);
    play.round(); // allocates memory and warms up
    stopwatch.iter().for_each(|spent| spent.store(0, Ordering::Relaxed));
    let busy = || net.traffic().map_or(0, |traffic| traffic.busy);
    let (busy_before, start) = (busy(), Instant::now());
    let mut all = Round::default();
    let RunTime { time, watch } = run_time.into();
    let goes_on = |passed: Duration| watch(passed.as_secs_f64() / time.as_secs_f64());
    let run = Measured::of(time, goes_on, || {
        let mut round = play.round();
        round.samples = Default::default(); // to save memory
        let counts = round.counts;
        all.add(round);
        [counts.positions, counts.simulations, counts.evaluations(), counts.games.games]
    });
    let (time, playing) = (start.elapsed().as_nanos() as f64, all.playing as f64);
    let device_idle_share = 1.0 - (busy() - busy_before) as f64 / time;
    let [features_share, network_share] =
        [0, 1].map(|part: usize| stopwatch[part].load(Ordering::Relaxed) as f64 / playing);
    let counts = &all.counts;
    let per_game = counts.per_game();
    SelfPlaySpeed {
        game: game.id(),
        net: weights.net().clone(),
        parameters: weights.parameters(),
        kernel: name,
        games: settings.games,
        simulations: settings.simulations,
        root: settings.search.rule(SearchRule::GUMBEL).to_string(),
        threads,
        games_per_s: run.per_s(3),
        mean_length: per_game.plies,
        root_positions_per_s: run.per_s(0),
        simulations_per_s: run.per_s(1),
        evaluations_per_s: run.per_s(2),
        root_positions_per_cpu_s: run.per_cpu_s(0),
        simulations_per_cpu_s: run.per_cpu_s(1),
        evaluations_per_cpu_s: run.per_cpu_s(2),
        cached: counts.cached as f64 / counts.requests.max(1) as f64,
        features_share,
        network_share,
        tree_share: 1.0 - features_share - network_share,
        device: DeviceUse::of(&net),
        device_idle_share,
    }
}
