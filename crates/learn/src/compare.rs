//! Runs side by side: which settings differ, which runs differ by their seed only, and what their metrics show over CPU
//! time.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use toml::Value;

use crate::TrainError;
use crate::config::{Config, RunSettings};
use crate::observe::Metrics;
use crate::run::{metrics, origin, settings, summary};
use jarmo_judge::Curve;
use jarmo_judge::spread::{Spread, apart_by_chance};

/// The points of a curve that stands for several runs.
const POINTS: usize = 24;

/// A number that metrics have. Two of them decide which run is better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Measure {
    /// The exam: right decisions without search, in percent.
    #[default]
    #[serde(rename = "exam")]
    Right,
    /// The loss of the policy.
    #[serde(skip)]
    PolicyLoss,
    /// The loss of win, draw and loss.
    #[serde(skip)]
    ResultLoss,
    /// The rating by the run's own matches.
    #[serde(rename = "match")]
    Elo,
}

impl Measure {
    /// All measures.
    pub const ALL: [Measure; 4] = [Measure::Right, Measure::PolicyLoss, Measure::ResultLoss, Measure::Elo];

    /// What it is called, with its unit.
    pub const fn name(self) -> &'static str {
        ["right decisions in the exam, in %", "policy loss", "result loss", "Elo in the run's own matches"]
            [self as usize]
    }

    /// The value of a line of metrics with its interval, if the line has it.
    fn of(self, line: &Metrics) -> Option<Spread> {
        match self {
            Measure::Right => Some(Spread::exact(100.0 * line.accuracy?.all.share())),
            // A run that was stopped before its first step has a line without losses.
            Measure::PolicyLoss => (line.loss > 0.0).then(|| Spread::exact(line.loss_policy)),
            Measure::ResultLoss => (line.loss > 0.0).then(|| Spread::exact(line.loss_result)),
            Measure::Elo => {
                let strength = line.final_match.as_ref().or(line.strength.as_ref())?;
                Some(Spread { values: 1, median: strength.elo, low: strength.elo_low, high: strength.elo_high })
            }
        }
    }
}

/// A run.
#[derive(Clone, Debug, Serialize)]
pub struct Member {
    /// Its folder.
    pub folder: PathBuf,
    /// Its settings.
    #[serde(skip)]
    pub config: Config,
    /// Its metrics.
    #[serde(skip)]
    pub metrics: Vec<Metrics>,
    /// Its seed.
    pub seed: u64,
    /// The agent that it started from, unless it started from random weights.
    pub from: Option<String>,
    /// Its seconds of CPU time.
    pub cpu_seconds: f64,
}

impl Member {
    /// Reads the run in a folder.
    pub fn read(folder: &Path) -> Result<Member, TrainError> {
        let (config, metrics) = (settings(folder)?, metrics(folder)?);
        let cpu_seconds = summary(folder, folder).cpu_seconds;
        Ok(Member {
            folder: folder.to_owned(),
            seed: config.run.seed,
            from: origin(folder)?,
            config,
            metrics,
            cpu_seconds,
        })
    }

    /// A measure over CPU seconds.
    fn values(&self, measure: Measure) -> impl Iterator<Item = (f64, Spread)> {
        self.metrics.iter().filter_map(move |line| Some((line.timing.cpu_seconds, measure.of(line)?)))
    }

    /// The last value of a measure within this many seconds of CPU time. The line that passes them counts, too: a run
    /// stops just after its limit, and its last line has the exam of the final weights.
    fn value(&self, measure: Measure, until: f64) -> Option<f64> {
        let within = self.metrics.partition_point(|line| line.timing.cpu_seconds < until);
        let mut lines = self.metrics.iter().take(within + 1).rev();
        lines.find_map(|line| measure.of(line)).map(|value| value.median)
    }
}

/// Runs whose settings are the same except for the seed and the limits.
#[derive(Clone, Debug, Serialize)]
pub struct Group {
    /// A letter, or a number once the letters are used up.
    pub label: String,
    /// Its values of the settings in which groups differ.
    pub settings: Vec<String>,
    /// The runs.
    pub runs: Vec<Member>,
    /// Right decisions without search, in percent, after the same CPU time in all runs.
    pub right: Option<Spread>,
    /// The rating after that time.
    pub elo: Option<Spread>,
}

impl Group {
    /// The spread of a measure within this many seconds of CPU time, over the runs that have a value by then.
    fn spread(&self, measure: Measure, until: f64) -> Option<Spread> {
        Spread::of(&self.runs.iter().filter_map(|run| run.value(measure, until)).collect::<Vec<_>>())
    }

    /// A measure over minutes of CPU time: the curve of a run, or the medians and intervals of several.
    fn curve(&self, measure: Measure) -> Curve {
        let of_all = |point: usize| {
            let until = reached_by_all(&self.runs) * point as f64 / POINTS as f64;
            let spread = self.spread(measure, until).filter(|spread| spread.values == self.runs.len())?;
            Some((until / 60.0, spread))
        };
        let points = match &self.runs[..] {
            [run] => run.values(measure).map(|(seconds, value)| (seconds / 60.0, value)).collect(),
            _ => (1..=POINTS).filter_map(of_all).collect(),
        };
        Curve { label: self.label.clone(), points }
    }

    /// The run whose last value is the median; the lower one of two.
    pub fn typical(&self, measure: Measure) -> &Member {
        let mut runs: Vec<&Member> = self.runs.iter().collect();
        let value = |run: &Member| run.value(measure, f64::INFINITY).unwrap_or(f64::NEG_INFINITY);
        runs.sort_by(|a, b| value(a).total_cmp(&value(b)));
        runs[(runs.len() - 1) / 2]
    }
}

/// Runs of one game side by side.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The game.
    pub game: String,
    /// The settings in which groups differ.
    pub settings: Vec<String>,
    /// The CPU seconds at which they are compared.
    pub cpu_seconds: f64,
    /// The measure that decides which group is better.
    pub measure: Measure,
    /// The groups.
    pub groups: Vec<Group>,
    /// Which group is the best, and whether the seeds allow that conclusion.
    pub verdict: String,
}

impl Comparison {
    /// Compares some runs, at least one, at the most CPU seconds that every run has reached, and by their exam if there is one.
    pub fn new(runs: Vec<Member>) -> Result<Comparison, TrainError> {
        let has_exam = runs.iter().any(|run| run.values(Measure::Right).next().is_some());
        let (measure, reached) = (if has_exam { Measure::Right } else { Measure::Elo }, reached_by_all(&runs));
        Comparison::by(measure, reached, runs)
    }

    /// Compares some runs, at least one, by a measure after this many CPU seconds.
    pub fn by(measure: Measure, cpu_seconds: f64, runs: Vec<Member>) -> Result<Comparison, TrainError> {
        let Some(first) = runs.first() else { return Err(TrainError("no run has a result to compare".to_owned())) };
        let game = first.config.game.name.clone();
        if let Some(other) = runs.iter().find(|run| run.config.game.name != game) {
            let (one, other, name) = (first.folder.display(), other.folder.display(), &other.config.game.name);
            return Err(TrainError(format!("{one} plays {game}, and {other} plays {name}; compare runs of one game")));
        }
        let limits = RunSettings::LIMITS.map(|(name, _)| format!("run.{name}"));
        let of_run = |run: &Member| {
            let from = run.from.as_deref().unwrap_or("random weights");
            [run.config.settings(), vec![("--from".to_owned(), from.into())]].concat()
        };
        let all: Vec<_> = runs.iter().map(of_run).collect();
        let differs = |&index: &usize| all.iter().any(|settings| settings[index].1 != all[0][index].1);
        let counts = |index: &usize| all[0][*index].0 != "run.seed" && !limits.contains(&all[0][*index].0);
        let differing: Vec<usize> = (0..all[0].len()).filter(differs).filter(counts).collect();
        let mut groups: Vec<Group> = Vec::new();
        for (run, settings) in runs.into_iter().zip(&all) {
            let settings: Vec<String> = differing.iter().map(|&index| written(&settings[index].1)).collect();
            if let Some(group) = groups.iter_mut().find(|group| group.settings == settings) {
                if let Some(twin) = group.runs.iter().find(|twin| twin.seed == run.seed) {
                    let (one, other, seed) = (twin.folder.display(), run.folder.display(), run.seed);
                    return Err(TrainError(format!(
                        "{one} and {other} have the same settings and the same seed, {seed}; leave one of them out"
                    )));
                }
                group.runs.push(run);
                continue;
            }
            let label = match groups.len() {
                index @ 0..26 => char::from(b'A' + index as u8).to_string(),
                index => (index + 1).to_string(),
            };
            groups.push(Group { label, settings, runs: vec![run], right: None, elo: None });
        }
        for group in &mut groups {
            group.right = group.spread(Measure::Right, cpu_seconds);
            group.elo = group.spread(Measure::Elo, cpu_seconds);
        }
        let settings = differing.iter().map(|&index| all[0][index].0.clone()).collect();
        let mut compared = Comparison { game, settings, cpu_seconds, measure, groups, verdict: String::new() };
        compared.verdict = compared.conclude();
        Ok(compared)
    }

    /// The groups that have the measure, the best first.
    fn ranked(&self) -> Vec<(&Group, Spread)> {
        let of = |group: &Group| if self.measure == Measure::Elo { group.elo } else { group.right };
        let mut ranked: Vec<_> = self.groups.iter().filter_map(|group| Some((group, of(group)?))).collect();
        ranked.sort_by(|(_, a), (_, b)| b.median.total_cmp(&a.median));
        ranked
    }

    /// The folders of the runs in the better half of the groups, rounded up.
    pub fn better_half(&self) -> Vec<PathBuf> {
        let better = self.ranked().into_iter().take(self.groups.len().div_ceil(2));
        better.flat_map(|(group, _)| &group.runs).map(|run| run.folder.clone()).collect()
    }

    fn conclude(&self) -> String {
        let (digits, unit) = if self.measure == Measure::Elo { (0, "Elo") } else { (2, "points") };
        let of_matches = ["opponents", "simulations", "random_plies"].map(|name| format!("evaluation.{name}"));
        if self.measure == Measure::Elo && of_matches.iter().any(|setting| self.settings.contains(setting)) {
            return "The runs' own matches differ, so their ratings cannot be compared.".to_owned();
        }
        let ranked = self.ranked();
        let [(best, first), (next, second), ..] = &ranked[..] else {
            return match self.groups.len() {
                1 => "All runs have the same settings, so there is nothing to compare.".to_owned(),
                _ => "Fewer than two groups have a result of this measure, so they cannot be compared.".to_owned(),
            };
        };
        let (best, next, apart) = (&best.label, &next.label, first.median - second.median);
        let ahead = format!("{best} is {apart:.digits$} {unit} ahead of {next}");
        if first.values == 1 || second.values == 1 {
            return format!(
                "{ahead}. One of them has a single seed, so the seed may explain this; train with more seeds."
            );
        }
        if first.low <= second.high {
            return format!("{ahead}, but the results of their seeds overlap, so the seeds may explain this.");
        }
        let (one, other) = (first.values, second.values);
        let percent = 100.0 * apart_by_chance(one, other);
        let what =
            if percent <= 5.0 { "more than different seeds explain" } else { "which different seeds may explain" };
        format!(
            "{ahead}, {what}: without a real difference, the results of {one} and {other} seeds would not overlap in \
             {percent:.1}% of cases."
        )
    }

    /// The curves of a measure, one for each group that has it.
    pub fn curves(&self, measure: Measure) -> Vec<Curve> {
        let curves = self.groups.iter().map(|group| group.curve(measure));
        curves.filter(|curve| !curve.points.is_empty()).collect()
    }
}

/// The most CPU seconds that every one of these runs has reached.
fn reached_by_all(runs: &[Member]) -> f64 {
    runs.iter().map(|run| run.cpu_seconds).fold(f64::INFINITY, f64::min)
}

/// A setting as people write it. 32-bit numbers get extra digits when written as TOML's 64-bit numbers.
fn written(setting: &Value) -> String {
    match setting {
        Value::Float(number) => (*number as f32).to_string(),
        setting => setting.to_string(),
    }
}
