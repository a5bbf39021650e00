//! Learning again from the recorded files of a fleet's run.

use std::io;

use super::folder::REPLAY;
use super::lines::OrderLine;
use super::trainer::{Trainer, first_learner};
use super::{RunError, RunFolder};
use crate::config::Config;
use crate::train::OpenDevice;
use jarmo_core::net::GameVersion;
use jarmo_exact::catalog::CatalogGame;
use jarmo_host::container::read_file;
use jarmo_selfplay::replay::{Replay, Samples};

/// The result of [`repeat`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeated {
    /// The learning steps of the checkpoint.
    pub step: u64,
    /// The files that were learned from.
    pub files: usize,
    /// Whether the weights are those of the checkpoint, bit for bit.
    pub is_same: bool,
}

/// Learns again what a fleet's run learned up to its newest checkpoint, from its files of samples in the order of
/// `order.jsonl`, and compares the averaged weights. All files must still be in the folder, so the run needs a
/// `replay.capacity` that holds all its samples.
pub fn repeat<G: CatalogGame>(
    game: &G,
    config: &Config,
    folder: &RunFolder,
    device: &OpenDevice,
) -> Result<Repeated, RunError> {
    let origin = GameVersion::of(game);
    let (saved, _) = folder.load_checkpoint(&origin)?;
    let saved = saved.ok_or_else(|| RunError("the run has no checkpoint yet".to_owned()))?;
    let (step, next) = (saved.counters.step, saved.counters.next_file);
    let order = folder.order()?;
    let order: Vec<&OrderLine> = order.iter().filter(|line| line.file < next).collect();
    if order.iter().zip(0..).any(|(line, file)| line.file != file) || order.len() as u64 != next {
        return Err(RunError(format!(
            "{}: order.jsonl does not name every file of the run; a run without a fleet has none",
            folder.name()
        )));
    }
    let learner = first_learner(game, config, folder, device)?;
    // This window is in memory alone: it is never saved.
    let replay = Replay::new(&folder.path.join(REPLAY), config.replay, origin.clone());
    let mut trainer = Trainer::new(game, config, learner, replay, 0.0);
    let learn_until = |trainer: &mut Trainer<'_>, step: u64| {
        let steps = step.saturating_sub(trainer.learner.steps());
        trainer.learn(steps).map(drop)
    };
    for line in &order {
        learn_until(&mut trainer, line.step)?;
        let samples = folder.samples(line.file, &origin)?;
        let due_for = samples.len();
        trainer.add(samples, due_for);
    }
    learn_until(&mut trainer, step)?;
    let checkpoint = folder.load_agent(step)?;
    Ok(Repeated { step, files: order.len(), is_same: checkpoint.weights() == trainer.learner.average() })
}

impl RunFolder {
    fn samples(&self, file: u64, origin: &GameVersion) -> Result<Samples, RunError> {
        let path = Replay::path_in(&self.path.join(REPLAY), file);
        let wrong = |problem: String| RunError(format!("{}: {problem}", path.display()));
        let bytes = read_file(&path).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData => wrong(error.to_string()),
            _ => wrong(format!("{error}; a file that left the window is deleted, and cannot be learned from again")),
        })?;
        Samples::from_bytes(&bytes, origin).map_err(|error| wrong(error.to_string()))
    }
}
