//! The learner of a run: new, or from its last checkpoint.

use super::RunFolder;
use super::resume::LEARNER;
use super::state::Saved;
use crate::TrainError;
use crate::config::Config;
use crate::train::{Learner, OpenDevice, check, first_weights};
use jarmo_facade::AnyGame;

/// The learner of a new run: random weights, or those of the agent that the run starts from.
pub(super) fn first_learner(
    game: &dyn AnyGame,
    config: &Config,
    folder: &RunFolder,
    device: &OpenDevice,
) -> Result<Learner, TrainError> {
    let (shape, agent) = (game.facts().version.shape, folder.first_weights(game)?);
    let agent = agent.as_ref().map(|agent| agent.weights());
    let weights = first_weights(&config.net.of(game), shape, agent, config.run.seed, device)?;
    Ok(Learner::new(config.learner, weights, device))
}

pub(super) fn saved_learner(
    game: &dyn AnyGame,
    config: &Config,
    folder: &RunFolder,
    saved: &Saved,
    device: &OpenDevice,
) -> Result<Learner, TrainError> {
    let asked = config.net.of(game);
    check(&asked)?;
    let file = folder.part_path(&saved.counters, LEARNER);
    let learner = Learner::from_bytes(config.learner, device, &saved.learner);
    let learner = learner.map_err(|error| folder.broken(&file, error))?;
    if *learner.net() == asked {
        return Ok(learner);
    }
    Err(TrainError(format!(
        "{}: the run trains a network {}, but its config.toml asks for {asked}; restore the [net] of the run, or start \
         another run",
        folder.name(),
        learner.net(),
    )))
}
