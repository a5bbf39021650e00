//! Checks of settings: the bounds of all numbers, and settings that depend on each other.

use toml::{Table, Value};

use super::{Config, EvaluationSettings, FleetSettings, RunSettings};
use crate::TrainError;
use crate::learner::LearnerSettings;
use jarmo_core::game::shorten;
use jarmo_core::net::NetSettings;
use jarmo_core::numbers::Bounds;
use jarmo_core::search::SearchSettings;
use jarmo_facade::Listed;
use jarmo_selfplay::replay::ReplaySettings;
use jarmo_selfplay::selfplay::SelfPlaySettings;

/// The bounds of all numbers, by group.
const BOUNDS: [(&str, &[(&str, Bounds)]); 8] = [
    ("net", &NetSettings::BOUNDS),
    ("selfplay", &SelfPlaySettings::BOUNDS),
    ("selfplay", &SearchSettings::BOUNDS),
    ("replay", &ReplaySettings::BOUNDS),
    ("learner", &LearnerSettings::BOUNDS),
    ("evaluation", &EvaluationSettings::BOUNDS),
    ("run", &RunSettings::BOUNDS),
    ("fleet", &FleetSettings::BOUNDS),
];

/// Rejects numbers that are out of bounds, and values that are not numbers.
pub(super) fn bounds(settings: &Table) -> Result<(), TrainError> {
    for (group, numbers) in BOUNDS {
        for (name, bounds) in numbers {
            let value = settings.get(group).and_then(|group| group.get(name));
            if let Some(value) = value.filter(|value| !fits(value, *bounds)) {
                let problem = format!("it must be {bounds}");
                return Err(wrong(&format!("{group}.{name}"), value, &problem));
            }
        }
    }
    Ok(())
}

fn fits(value: &Value, bounds: Bounds) -> bool {
    let whole = value.as_integer();
    match bounds {
        Bounds::Whole(range) => {
            let whole = whole.and_then(|number| u64::try_from(number).ok());
            whole.is_some_and(|number| range.contains(number))
        }
        Bounds::Real(range) => {
            let real = value.as_float().or(whole.map(|number| number as f64));
            real.is_some_and(|number| range.contains(number))
        }
    }
}

/// The error about the value of one setting.
pub(super) fn wrong(key: &str, value: &Value, problem: &str) -> TrainError {
    let value = match value {
        Value::String(text) => shorten(text),
        other => shorten(&other.to_string()),
    };
    TrainError(format!("{key} = {value}: {problem}"))
}

/// The game of this name. Rejects a name that is not in the list.
pub(super) fn game<'a>(name: &str, games: &'a [Listed]) -> Result<&'a Listed, TrainError> {
    games.iter().find(|game| game.name == name).ok_or_else(|| {
        let names: Vec<&str> = games.iter().map(|game| game.name).collect();
        TrainError(format!("game.name = {}: it must be one of {}", shorten(name), names.join(", ")))
    })
}

/// Rejects single settings that are wrong although they are within their bounds.
pub(super) fn each(config: &Config) -> Result<(), TrainError> {
    config.net.size().validate().map_err(TrainError::new)?;
    let games = config.evaluation.games;
    if games % 2 == 1 {
        return Err(TrainError(format!(
            "evaluation.games = {games}: it must be even, because each opening is played from both sides"
        )));
    }
    Ok(())
}

/// Rejects settings that contradict each other.
pub(super) fn together(config: &Config) -> Result<(), TrainError> {
    let evaluation = &config.evaluation;
    if evaluation.every > 0 && evaluation.opponents.is_empty() {
        let problem = "evaluation.opponents = []: name at least one, such as random, or set \
                       evaluation.every = 0 to play no matches";
        return Err(TrainError::new(problem));
    }
    // With a smaller replay buffer, learning would never start.
    let (capacity, first) = (config.replay.capacity, config.run.first_samples);
    if first > capacity {
        return Err(TrainError(format!(
            "run.first_samples = {first}: it must be at most replay.capacity = {capacity}"
        )));
    }
    Ok(())
}
