//! The half of a run that plays: parallel games, and their samples.

use std::path::Path;

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::{FILE_SAMPLES, RunError};
use crate::config::{Config, EvaluationSettings};
use crate::train::{DeviceKind, DeviceNet, OpenDevice};
use jarmo_core::eval::Evaluator;
use jarmo_core::net::{FrozenNet, KernelKind, NetEvaluator, Weights};
use jarmo_exact::agent::{Agent, PolicyAgent};
use jarmo_exact::catalog::CatalogGame;
use jarmo_judge::accuracy::{Exam, ExamScore};
use jarmo_selfplay::replay::Samples;
use jarmo_selfplay::selfplay::{Counts, SelfPlay};

/// An evaluator of any kind.
pub type BoxedEvaluator<G> = Box<dyn Evaluator<G>>;

pub(super) struct SelfPlayer<G: CatalogGame> {
    game: G,
    device: OpenDevice,
    pub(super) kernel: KernelKind,
    pool: ThreadPool,
    pub(super) play: SelfPlay<G, BoxedEvaluator<G>>,
    pub(super) pending: Samples, // in no file yet
}

impl<G: CatalogGame> SelfPlayer<G> {
    pub(super) fn new(
        game: &G,
        config: &Config,
        device: &OpenDevice,
        weights: &Weights,
    ) -> Result<SelfPlayer<G>, RunError> {
        let threads = config.run.playing_threads();
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| RunError(format!("run.threads = {threads}: {error}")))?;
        let kernel = config.run.kernel.unwrap_or_else(KernelKind::best);
        let evaluators = evaluators(game, weights, (device, kernel), threads);
        let play = SelfPlay::new(game, &config.selfplay, evaluators, config.run.seed);
        Ok(SelfPlayer { game: game.clone(), device: device.clone(), kernel, pool, play, pending: Samples::new() })
    }

    pub(super) fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// Plays rounds until there are enough samples for a file, or until `stopped`. Calls `each` after each
    /// round with its counts and the number of samples that are in no file yet.
    pub(super) fn play(&mut self, stopped: impl Fn() -> bool, mut each: impl FnMut(&Counts, usize)) {
        while self.pending.len() < FILE_SAMPLES && !stopped() {
            let round = self.pool.install(|| self.play.round());
            self.pending.extend(&round.samples);
            each(&round.counts, self.pending.len());
        }
    }

    /// The samples for a file, once there are enough.
    pub(super) fn take_file(&mut self) -> Option<Samples> {
        (self.pending.len() >= FILE_SAMPLES).then(|| std::mem::take(&mut self.pending))
    }

    pub(super) fn use_weights(&mut self, weights: &Weights) {
        let on = (&self.device, self.kernel);
        let evaluators = evaluators(&self.game, weights, on, self.threads());
        self.play.replace_evaluators(evaluators);
    }

    /// Examines these weights without search, on the player's threads.
    pub(super) fn take_exam(&self, exam: &Exam<G>, weights: &Weights) -> ExamScore {
        const SEED: u64 = 0; // a network uses no random numbers
        let on = (&OpenDevice::cpu(), self.kernel);
        let evaluators = evaluators(&self.game, weights, on, self.threads());
        let agent = |evaluator| -> Box<dyn Agent<G>> { Box::new(PolicyAgent::new(self.game.clone(), evaluator)) };
        let mut agents: Vec<_> = evaluators.into_iter().map(agent).collect();
        self.pool.install(|| exam.take(&mut agents, None, SEED).score())
    }
}

/// An evaluator per thread: this kernel of the processor, or burn on another device.
pub fn evaluators<G: CatalogGame>(
    game: &G,
    weights: &Weights,
    (device, kernel): (&OpenDevice, KernelKind),
    count: usize,
) -> Vec<BoxedEvaluator<G>> {
    let evaluator: Box<dyn Fn() -> BoxedEvaluator<G>> = match device.kind() {
        DeviceKind::Cpu => {
            let net = FrozenNet::with_kernel(weights, kernel);
            Box::new(move || Box::new(NetEvaluator::with_net(game.clone(), net.clone())))
        }
        DeviceKind::Cuda(_) | DeviceKind::Wgpu => {
            let evaluator = NetEvaluator::with_net(game.clone(), DeviceNet::new(weights, device));
            Box::new(move || Box::new(evaluator.clone()))
        }
    };
    (0..count).map(|_| evaluator()).collect()
}

/// The exam that the settings name, if there is one for the game.
pub(super) fn open_exam<G: CatalogGame>(game: &G, settings: &EvaluationSettings) -> Result<Option<Exam<G>>, RunError> {
    match settings.exam.as_str() {
        "none" => Ok(None),
        "built-in" => Ok(Exam::built_in(game)),
        file => {
            let exam = Exam::load(game, Path::new(file));
            exam.map(Some).map_err(|error| RunError(format!("evaluation.exam = {error}")))
        }
    }
}
