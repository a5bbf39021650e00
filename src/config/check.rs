//! Ranges of settings that their own types do not check.

use std::fmt::Display;

use super::{ConfigError, EvaluationConfig, RunConfig};
use crate::replay::ReplaySettings;
use crate::train::LearnerConfig;

pub(super) fn replay(replay: &ReplaySettings) -> Result<(), ConfigError> {
    from_one("replay.capacity", replay.capacity as f64)
}

pub(super) fn learner(learner: &LearnerConfig) -> Result<(), ConfigError> {
    positive("learner.rate", learner.rate)?;
    share("learner.average", learner.average)
}

pub(super) fn evaluation(evaluation: &EvaluationConfig) -> Result<(), ConfigError> {
    let games = evaluation.games;
    if games == 0 || games % 2 == 1 {
        return Err(ConfigError::new(format!(
            "evaluation.games = {games}: it must be even and at least 2, because each opening is \
             played from both sides"
        )));
    }
    if evaluation.every > 0 && evaluation.opponents.is_empty() {
        let problem = "evaluation.opponents = []: name at least one, such as random, or set \
                       evaluation.every = 0 to play no matches";
        return Err(ConfigError::new(problem.to_owned()));
    }
    from_one("evaluation.simulations", evaluation.simulations.into())
}

pub(super) fn run(run: &RunConfig) -> Result<(), ConfigError> {
    from_one("run.batch", run.batch as f64)?;
    from_one("run.first_samples", run.first_samples as f64)?;
    from_one("run.checkpoint", run.checkpoint as f64)?;
    from_one("run.keep", run.keep as f64)?;
    positive("run.reuse", run.reuse)?;
    not_negative("run.minutes", run.minutes)?;
    not_negative("run.cpu_minutes", run.cpu_minutes)
}

/// With a smaller window, learning would never start.
pub(super) fn together(replay: &ReplaySettings, run: &RunConfig) -> Result<(), ConfigError> {
    let (capacity, first) = (replay.capacity, run.first_samples);
    if first > capacity {
        return Err(ConfigError::new(format!(
            "run.first_samples = {first}: it must be at most replay.capacity = {capacity}"
        )));
    }
    Ok(())
}

fn from_one(key: &str, number: f64) -> Result<(), ConfigError> {
    check(key, number, "must be at least 1", number >= 1.0)
}

fn positive<N: Into<f64> + Copy + Display>(key: &str, number: N) -> Result<(), ConfigError> {
    let size = number.into();
    check(
        key,
        number,
        "must be above 0",
        size > 0.0 && size.is_finite(),
    )
}

fn not_negative<N: Into<f64> + Copy + Display>(key: &str, number: N) -> Result<(), ConfigError> {
    let size = number.into();
    let fits = size >= 0.0 && size.is_finite();
    check(key, number, "must not be below 0", fits)
}

fn share(key: &str, number: f32) -> Result<(), ConfigError> {
    let fits = (0.0..=1.0).contains(&number);
    check(key, number, "must be from 0 to 1", fits)
}

fn check(key: &str, number: impl Display, rule: &str, fits: bool) -> Result<(), ConfigError> {
    if fits {
        return Ok(());
    }
    Err(ConfigError::new(format!("{key} = {number}: it {rule}")))
}
