//! A sweep: many runs that differ in some settings and in their seeds, as a file describes them. This plans the runs and
//! decides which continue; the command line starts them.

use std::fmt::Display;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use rand::RngExt;
use serde::Deserialize;
use toml::{Table, Value};

use crate::TrainError;
use crate::compare::Measure;
use crate::config::{Config, RunSettings};
use crate::run;
use jarmo_core::random::stream;
use jarmo_facade::{AnyGame, Games};
use jarmo_host::files::{SETTINGS_BYTES, read_text};
use jarmo_host::program::cores;

/// The shares of the budget at which halving drops runs, and the whole budget.
const HALVING: [f64; 3] = [0.25, 0.5, 1.0];

/// The most choices of settings.
const MOST: usize = 10_000;

/// The content of the file, which `examples/sweep.toml` explains.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    game: Option<String>,
    #[serde(default)]
    config: Vec<PathBuf>,
    #[serde(default)]
    set: Vec<String>,
    vary: Table,
    seeds: Vec<u64>,
    /// The CPU minutes of each run.
    pub cpu_minutes: f64,
    /// The measure that decides.
    #[serde(default)]
    pub measure: Measure,
    #[serde(default)]
    halving: bool,
    samples: Option<usize>,
    #[serde(default)]
    seed: u64,
    jobs: Option<NonZeroUsize>,
    /// Further options of `jarmo train` for each run.
    #[serde(default)]
    pub train: Vec<String>,
}

/// A run of a sweep.
#[derive(Clone, Debug)]
pub struct Planned {
    /// Its name: the number of its choice of settings and its seed.
    pub name: String,
    /// All its settings.
    pub config: Config,
}

impl Sweep {
    /// Reads the file of a sweep, and returns its text, too.
    pub fn read(path: &Path) -> Result<(Sweep, String), TrainError> {
        let wrong = |problem: &dyn Display| TrainError(format!("{}: {problem}", path.display()));
        let text = read_text(path, SETTINGS_BYTES).map_err(|error| wrong(&error))?;
        let mut sweep: Sweep = toml::from_str(&text).map_err(|error| wrong(&error))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        sweep.config.iter_mut().for_each(|file| *file = folder.join(&*file));
        match sweep {
            Sweep { samples: Some(0 | MOST..), .. } => Err(wrong(&"samples: expected 1 to 9999")),
            Sweep { cpu_minutes: ..=0.0, .. } => Err(wrong(&"cpu_minutes: expected a positive number")),
            _ if sweep.seeds.is_empty() => Err(wrong(&"seeds: give at least one, such as seeds = [1, 2]")),
            _ => match repeated(&sweep.seeds) {
                Some(seed) => Err(wrong(&format!("seeds: {seed} is listed twice"))),
                None => Ok((sweep, text)),
            },
        }
    }

    /// The number of runs at a time.
    pub fn jobs(&self) -> usize {
        self.jobs.map_or(1, NonZeroUsize::get)
    }

    /// The shares of the budget after which the runs are compared; the last one is 1.
    pub fn stages(&self) -> &'static [f64] {
        if self.halving { &HALVING } else { &HALVING[2..] }
    }

    /// All runs, with their settings checked.
    pub fn plan(&self, games: &Games) -> Result<Vec<Planned>, TrainError> {
        let choices = match self.samples {
            Some(samples) => (0..samples).map(|number| self.draw(number)).collect::<Result<Vec<_>, _>>()?,
            None => self.grid()?,
        };
        let limits = RunSettings::LIMITS.map(|(name, _)| format!("run.{name}"));
        if let Some(key) = self.vary.keys().find(|key| *key == "run.seed" || limits.contains(key)) {
            return Err(TrainError(format!(
                "vary.{key}: use seeds and cpu_minutes, outside of [vary]; limits do not tell runs apart"
            )));
        }
        if let Some(choice) = repeated(&choices) {
            let choice = choice.join(", ");
            return Err(TrainError(format!("vary: {choice} is listed twice; give fewer samples, or more values")));
        }
        let files: Vec<&Path> = self.config.iter().map(PathBuf::as_path).collect();
        let mut planned = Vec::new();
        for (varied, choice) in choices.iter().zip(1..) {
            for seed in &self.seeds {
                let own = [format!("run.seed={seed}"), format!("run.cpu_minutes={:?}", self.cpu_minutes)];
                let settings = [&self.set[..], varied, &own].concat();
                let (mut config, game) = run::plan(games, self.game.as_deref(), None, &files, &settings)?;
                self.check_measure(game.as_ref(), &config)?;
                if self.jobs() > 1 && config.run.threads == 0 {
                    config.run.threads = (cores() / self.jobs()).max(1);
                }
                planned.push(Planned { name: format!("{choice:02}-seed{seed}"), config });
            }
        }
        Ok(planned)
    }

    /// Rejects a measure that the runs will not have.
    fn check_measure(&self, game: &dyn AnyGame, config: &Config) -> Result<(), TrainError> {
        let problem = match self.measure {
            Measure::Elo if config.evaluation.every == 0 => {
                "\"match\", but the runs play no matches; set evaluation.every above 0"
            }
            Measure::Right if run::open_exam(game, &config.evaluation)?.is_none() => {
                "\"exam\", but the runs take no exam; set measure = \"match\", or evaluation.exam"
            }
            _ => return Ok(()),
        };
        Err(TrainError(format!("the measure is {problem}")))
    }

    /// All choices, as texts `KEY=VALUE`.
    fn grid(&self) -> Result<Vec<Vec<String>>, TrainError> {
        let mut choices: Vec<Vec<String>> = vec![Vec::new()];
        for (key, values) in &self.vary {
            let fits = |values: &&Vec<Value>| !values.is_empty() && choices.len() * values.len() < MOST;
            let values = values.as_array().filter(fits).ok_or_else(|| {
                TrainError(format!("vary.{key}: expected values such as \"learner.rate\" = [0.001, 0.002]; ranges and many values need samples"))
            })?;
            let with = |choice: &Vec<String>| -> Vec<Vec<String>> {
                values.iter().map(|value| [&choice[..], &[format!("{key}={value}")]].concat()).collect()
            };
            choices = choices.iter().flat_map(with).collect();
        }
        Ok(choices)
    }

    /// One choice at random.
    fn draw(&self, number: usize) -> Result<Vec<String>, TrainError> {
        let mut random = stream(self.seed, number as u64);
        let mut one = |(key, values): (&String, &Value)| {
            let drawn = match values {
                Value::Array(values) if !values.is_empty() => {
                    Some(values[random.random_range(0..values.len())].clone())
                }
                Value::Table(range) => in_range(range, random.random_range(0.0..1.0)),
                _ => None,
            };
            let expected =
                "expected a list of values, or a range { from = 1, to = 2 }, with log = true if both are positive";
            drawn.map(|value| format!("{key}={value}")).ok_or_else(|| TrainError(format!("vary.{key}: {expected}")))
        };
        self.vary.iter().map(&mut one).collect()
    }
}

/// The first value that is there a second time.
fn repeated<T: PartialEq>(values: &[T]) -> Option<&T> {
    values.iter().enumerate().find(|(place, value)| values[..*place].contains(value)).map(|(_, value)| value)
}

/// The number at this fraction of the way through a range, whole if both ends are whole; `None` if the table is no
/// range.
fn in_range(range: &Table, share: f64) -> Option<Value> {
    let number = |name: &str| range.get(name)?.as_float().or(range[name].as_integer().map(|whole| whole as f64));
    if range.keys().any(|key| !["from", "to", "log"].contains(&key.as_str())) {
        return None;
    }
    let (from, to) = (number("from")?, number("to")?);
    let is_whole = range["from"].is_integer() && range["to"].is_integer();
    let is_log = range.get("log").is_some_and(|log| log.as_bool() == Some(true));
    let most = if is_whole { to + 1.0 } else { to };
    let at = if is_log { from * (most / from).powf(share) } else { from + share * (most - from) };
    let value = if is_whole { Value::Integer(at.floor() as i64) } else { Value::Float(at) };
    (from <= to && at.is_finite()).then_some(value)
}
