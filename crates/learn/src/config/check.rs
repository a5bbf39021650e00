//! The bounds of all numbers in the settings, and settings that depend on each other.

use toml::{Table, Value};

use super::{ConfigError, EvaluationConfig, GameConfig, RunConfig};
use jarmo_core::game::shorten;
use jarmo_core::net::NetConfig;
use jarmo_core::numbers::{
    BATCH, MATCH_GAMES, NumberRange, OPENING_PLIES, PARALLEL_GAMES, RUN_CPU_MINUTES, RUN_GAMES,
    RUN_MINUTES, STEPS, THREADS,
};
use jarmo_exact::catalog::Listed;
use jarmo_exact::tables::index::{LEAST_FORCE, MOST_FORCE};
use jarmo_selfplay::replay::ReplaySettings;

/// Whole numbers by group and name.
const WHOLE: [(&str, &str, NumberRange<u64>); 26] = [
    ("net", "width", NetConfig::WIDTH),
    ("net", "blocks", NetConfig::BLOCKS),
    ("selfplay", "games", PARALLEL_GAMES),
    ("selfplay", "simulations", SIMULATIONS),
    ("selfplay", "opening_plies", OPENING_PLIES),
    ("selfplay", "endgame_force", FORCE),
    ("replay", "capacity", SAMPLES),
    ("learner", "warm_up", STEPS),
    ("learner", "decay", STEPS),
    ("evaluation", "every", STEPS),
    ("evaluation", "games", MATCH_GAMES),
    ("evaluation", "simulations", SIMULATIONS),
    ("evaluation", "opening_plies", OPENING_PLIES),
    ("evaluation", "past", NumberRange::new(0, 1000)),
    ("run", "seed", NumberRange::new(0, i64::MAX as u64)), // TOML has no larger numbers
    ("run", "threads", THREADS.or_zero()),
    ("run", "batch", BATCH),
    ("run", "first_samples", SAMPLES),
    ("run", "checkpoint", NumberRange::new(1, STEPS.most)),
    ("run", "keep", NumberRange::new(1, 1_000_000)),
    ("run", "steps", STEPS),
    ("run", "games", RUN_GAMES),
    ("fleet", "games", PARALLEL_GAMES),
    ("fleet", "publish", NumberRange::new(1, STEPS.most)),
    ("fleet", "max_age", STEPS),
    ("fleet", "queue", NumberRange::new(1, 1_000_000)),
];

/// Real numbers by group and name.
const REAL: [(&str, &str, NumberRange<f64>); 8] = [
    ("selfplay", "least_range", SHARE),
    ("selfplay", "endgames", SHARE),
    ("selfplay", "lambda", SHARE),
    ("learner", "rate", NumberRange::new(1e-10, 1000.0)),
    ("learner", "average", SHARE),
    ("run", "reuse", NumberRange::new(0.001, 1000.0)),
    ("run", "minutes", RUN_MINUTES),
    ("run", "cpu_minutes", RUN_CPU_MINUTES),
];

const SIMULATIONS: NumberRange<u64> = NumberRange::new(1, 1 << 16);
const SAMPLES: NumberRange<u64> = NumberRange::new(1, 1_000_000_000);
const FORCE: NumberRange<u64> = NumberRange::new(LEAST_FORCE as u64, MOST_FORCE as u64);
const SHARE: NumberRange<f64> = NumberRange::new(0.0, 1.0);

/// Refuses numbers out of bounds, and other values in their place.
pub(super) fn bounds(settings: &Table) -> Result<(), ConfigError> {
    let value = |group: &str, name: &str| settings.get(group)?.get(name);
    for (group, name, bounds) in WHOLE {
        let fits = |value: &Value| {
            let number = value.as_integer();
            number.is_some_and(|number| u64::try_from(number).is_ok_and(|n| bounds.contains(n)))
        };
        if let Some(wrong) = value(group, name).filter(|value| !fits(value)) {
            return Err(refused(group, name, wrong, &bounds.to_string()));
        }
    }
    for (group, name, bounds) in REAL {
        let fits = |value: &Value| {
            let whole = value.as_integer().map(|number| number as f64);
            let number = value.as_float().or(whole);
            number.is_some_and(|number| bounds.contains(number))
        };
        if let Some(wrong) = value(group, name).filter(|value| !fits(value)) {
            return Err(refused(group, name, wrong, &bounds.to_string()));
        }
    }
    Ok(())
}

fn refused(group: &str, name: &str, value: &Value, expected: &str) -> ConfigError {
    let problem = format!("it must be {expected}");
    wrong(&format!("{group}.{name}"), value, &problem)
}

/// The error about the value of one setting.
pub(super) fn wrong(key: &str, value: &Value, problem: &str) -> ConfigError {
    let value = match value {
        Value::String(text) => shorten(text),
        other => shorten(&other.to_string()),
    };
    ConfigError::new(format!("{key} = {value}: {problem}"))
}

/// Refuses a game that is not in the list.
pub(super) fn game(game: &GameConfig, games: &[Listed]) -> Result<(), ConfigError> {
    let name = game.name.as_str();
    if games.iter().any(|game| game.name == name) {
        return Ok(());
    }
    let names: Vec<&str> = games.iter().map(|game| game.name).collect();
    Err(ConfigError::new(format!(
        "game.name = {}: it must be one of {}",
        shorten(name),
        names.join(", ")
    )))
}

pub(super) fn evaluation(evaluation: &EvaluationConfig) -> Result<(), ConfigError> {
    let games = evaluation.games;
    if games % 2 == 1 {
        return Err(ConfigError::new(format!(
            "evaluation.games = {games}: it must be even, because each opening is played from both sides"
        )));
    }
    if evaluation.every > 0 && evaluation.opponents.is_empty() {
        let problem = "evaluation.opponents = []: name at least one, such as random, or set \
                       evaluation.every = 0 to play no matches";
        return Err(ConfigError::new(problem.to_owned()));
    }
    Ok(())
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
