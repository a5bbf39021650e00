//! The half of a run that plays: parallel games on threads.

use std::path::Path;
use std::sync::Arc;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::TrainError;
use crate::config::{Config, EvaluationSettings};
use crate::device::playing;
use crate::train::{OpenDevice, Player};
use jarmo_core::net::{FrozenNet, KernelKind, Weights};
use jarmo_facade::AnyGame;
use jarmo_facade::measure::AnyExam;
use jarmo_judge::accuracy::ExamScore;
use jarmo_selfplay::selfplay::Counts;

pub(super) struct SelfPlayer {
    device: OpenDevice,
    pub(super) kernel: KernelKind,
    pool: ThreadPool,
    pub(super) player: Player,
}

impl SelfPlayer {
    pub(super) fn new(
        game: &dyn AnyGame,
        config: &Config,
        device: &OpenDevice,
        weights: &Weights,
    ) -> Result<SelfPlayer, TrainError> {
        let threads = config.run.playing_threads();
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| TrainError(format!("run.threads = {threads}: {error}")))?;
        let kernel = config.run.kernel.unwrap_or_else(KernelKind::best);
        let net = playing(weights, device, kernel);
        let player = Player::new(game.self_play(&config.selfplay, &net.into(), threads, config.run.seed));
        Ok(SelfPlayer { device: device.clone(), kernel, pool, player })
    }

    pub(super) fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// Plays rounds until there are enough samples for a file, or until `stopped`. After each round, calls `each` with
    /// its counts and the number of samples that are not yet in a file.
    pub(super) fn play(&mut self, stopped: impl Fn() -> bool, mut each: impl FnMut(&Counts, usize)) {
        while !self.player.is_full() && !stopped() {
            let counts = self.pool.install(|| self.player.round());
            each(&counts, self.player.pending.len());
        }
    }

    pub(super) fn use_weights(&mut self, weights: &Weights) {
        self.player.games.use_network(&playing(weights, &self.device, self.kernel).into());
    }

    /// Examines these weights without search, on the player's threads.
    pub(super) fn take_exam(&self, exam: &dyn AnyExam, weights: &Weights) -> ExamScore {
        let (net, threads) = (FrozenNet::with_kernel(weights, self.kernel), self.threads());
        self.pool.install(move || exam.score(&net, threads))
    }
}

/// The exam that the settings name, if there is one for the game.
pub fn open_exam(game: &dyn AnyGame, settings: &EvaluationSettings) -> Result<Option<Arc<dyn AnyExam>>, TrainError> {
    let file = match settings.exam.as_str() {
        "none" => return Ok(None),
        "built-in" => None,
        file => Some(Path::new(file)),
    };
    game.exam(file).map_err(|error| TrainError(format!("evaluation.exam = {error}")))
}
