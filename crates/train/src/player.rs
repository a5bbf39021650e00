//! The half of the loop that plays, and a whole cycle of both halves on one thread.

use crate::TrainError;
use crate::learner::StepStats;
use crate::trainer::{FILE_SAMPLES, Trainer};
use jarmo_core::net::{FrozenNet, Weights};
use jarmo_facade::selfplay::AnySelfPlay;
use jarmo_selfplay::replay::Samples;
use jarmo_selfplay::selfplay::Counts;

/// Parallel games, and their samples.
pub struct Player {
    /// The games.
    pub games: Box<dyn AnySelfPlay>,
    /// Samples that are not in a file yet.
    pub pending: Samples,
}

impl Player {
    /// A player without samples.
    pub fn new(games: Box<dyn AnySelfPlay>) -> Player {
        Player { games, pending: Samples::new() }
    }

    /// Plays one action in every game, on the threads of the current rayon pool.
    pub fn round(&mut self) -> Counts {
        let round = self.games.round();
        self.pending.extend(&round.samples);
        round.counts
    }

    /// Whether there are enough samples for a file.
    pub fn is_full(&self) -> bool {
        self.pending.len() >= FILE_SAMPLES
    }

    /// The samples for a file, once there are enough.
    pub fn take_file(&mut self) -> Option<Samples> {
        self.is_full().then(|| std::mem::take(&mut self.pending))
    }
}

/// What happened in a cycle.
#[derive(Debug)]
pub struct Turn {
    /// Counts of what was played.
    pub counts: Counts,
    /// The training steps.
    pub steps: Vec<StepStats>,
}

/// One cycle: takes the training steps that are due for earlier files, and plays until there are enough samples for a
/// new file. Then self-play gets the network that `playing` makes of the new weights, and the file is added to the
/// replay buffer.
///
/// A run does the same on several threads; the halves share nothing during a cycle.
pub fn turn(
    player: &mut Player,
    trainer: &mut Trainer,
    playing: impl Fn(&Weights) -> FrozenNet,
) -> Result<Turn, TrainError> {
    let steps = trainer.learn(trainer.steps_due())?;
    let mut counts = Counts::default();
    while !player.is_full() {
        counts.add(&player.round());
    }
    if !steps.is_empty() {
        player.games.use_network(&playing(trainer.learner.average()).into());
    }
    if let Some(samples) = player.take_file() {
        let count = samples.len();
        trainer.add(samples, count);
    }
    Ok(Turn { counts, steps })
}
