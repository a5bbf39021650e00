//! The two halves of a turn, which share nothing: games are played, and samples are learned from.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rand::Rng;
use rayon::ThreadPool;

use super::{Clock, Counters, Event};
use crate::catalog::CatalogGame;
use crate::config::Config;
use crate::encode::Mirror;
use crate::eval::Evaluator;
use crate::net::{FrozenNet, NetEvaluator, Weights};
use crate::random::stream;
use crate::replay::{Replay, SampleView, Samples};
use crate::selfplay::SelfPlay;
use crate::train::{DeviceKind, DeviceNet, LearnError, Learner, OpenDevice, Progress, TrainBatch};

/// The stream of the run's seed that samples are drawn with, plus the number of the learning step.
const DRAWS: u64 = 1 << 63;

/// Samples of a replay file.
pub(super) const FILE_SAMPLES: usize = 4096;

/// The half of a turn that learns.
pub(super) struct Learning<'a> {
    pub(super) config: &'a Config,
    pub(super) replay: &'a Replay,
    pub(super) learner: &'a mut Learner,
    pub(super) batch: &'a mut TrainBatch,
    pub(super) mirror: Option<&'a Mirror>, // in which every other sample is seen
    pub(super) steps: u64,
}

/// What learning came to.
pub(super) struct Learned {
    pub(super) steps: Vec<Progress>,
    pub(super) time: Duration,
}

impl Learning<'_> {
    pub(super) fn go_on(&mut self) -> Result<Learned, LearnError> {
        let begun = Instant::now();
        let mut steps = Vec::new();
        for _ in 0..self.steps {
            let mut draws = stream(self.config.run.seed, DRAWS + self.learner.steps());
            self.batch.clear();
            for _ in 0..self.config.run.batch {
                let sample = self.replay.draw(&mut draws);
                let mirror = self.mirror.filter(|_| draws.next_u64() & 1 == 1);
                push(self.batch, sample, mirror);
            }
            steps.push(self.learner.step(self.batch)?);
        }
        Ok(Learned {
            steps,
            time: begun.elapsed(),
        })
    }
}

/// The half of a turn that plays.
pub(super) struct Playing<'a, G: CatalogGame> {
    pub(super) config: &'a Config,
    pub(super) pool: &'a ThreadPool,
    pub(super) play: &'a mut SelfPlay<G, BoxedEvaluator<G>>,
    pub(super) pending: &'a mut Samples,
    pub(super) counters: &'a mut Counters,
    pub(super) events: &'static [&'static str],
    pub(super) samples: usize, // in the window
    pub(super) begun: Instant,
    pub(super) clock: Clock,
    pub(super) steps: u64, // that are taken meanwhile
    pub(super) stop: &'a AtomicBool,
}

impl<G: CatalogGame> Playing<'_, G> {
    /// One action in every game, until a file of samples is full. Who asks to stop must wait for that
    /// if something is learned meanwhile: the turn is what a run can go on after.
    pub(super) fn go_on(&mut self, tell: &mut impl FnMut(Event<'_>)) {
        while self.pending.len() < FILE_SAMPLES {
            if self.steps == 0 && self.stop.load(Ordering::Relaxed) {
                return;
            }
            let start = Instant::now();
            let round = self.pool.install(|| self.play.round());
            let counters = &mut *self.counters;
            counters.games += round.games.games;
            counters.positions += round.positions;
            counters.window.add_round(&round, start.elapsed());
            self.pending.extend(&round.samples);
            let mut window = counters.window.clone();
            window.add_time(self.begun.elapsed());
            let fill = (self.samples, self.config.replay.capacity);
            let metrics = window.metrics(counters.totals(fill, &self.clock, self.events));
            tell(Event::Played(self.samples + self.pending.len(), &metrics));
        }
    }
}

/// Whoever judges positions in self-play.
pub(super) type BoxedEvaluator<G> = Box<dyn Evaluator<G>>;

/// One for each thread: the processor's kernels, or burn on another device.
pub(super) fn evaluators<G: CatalogGame>(
    game: &G,
    weights: &Weights,
    device: &OpenDevice,
    count: usize,
) -> Vec<BoxedEvaluator<G>> {
    let judge: Box<dyn Fn() -> BoxedEvaluator<G>> = match device.kind() {
        DeviceKind::Cpu => {
            let net = FrozenNet::new(weights);
            Box::new(move || Box::new(NetEvaluator::with_net(game.clone(), net.clone())))
        }
        DeviceKind::Cuda(_) | DeviceKind::Wgpu => {
            let evaluator = NetEvaluator::with_net(game.clone(), DeviceNet::new(weights, device));
            Box::new(move || Box::new(evaluator.clone()))
        }
    };
    (0..count).map(|_| judge()).collect()
}

/// Adds a sample to what the learner looks at, as it is or in a mirror.
fn push(batch: &mut TrainBatch, sample: SampleView<'_>, mirror: Option<&Mirror>) {
    let policy = sample.actions.iter().zip(sample.policy);
    let feature = |feature: u16| match mirror {
        Some(mirror) => mirror.inputs[usize::from(feature)],
        None => feature,
    };
    let action = |action: u16| match mirror {
        Some(mirror) => mirror.actions[usize::from(action)],
        None => action,
    };
    batch.push(
        sample.features.iter().map(|&set| u32::from(feature(set))),
        policy.map(|(&legal, &share)| (usize::from(action(legal)), share)),
        sample.result,
        i32::from(sample.score),
    );
}
