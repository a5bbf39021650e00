//! Metrics for TensorBoard, as an event file in the folder of a run.
//!
//! tensorboard-rs makes the records and their checksums. Its file writer is a thread that panics when
//! the disk is full, so records are written here, and the caller gets the error.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use protobuf::Message;
use protobuf::well_known_types::Value as Parameter;
use serde::Serialize;
use serde_json::{Map, Value};
use tensorboard_proto::event::{Event, SessionLog, SessionLog_SessionStatus};
use tensorboard_proto::plugin_hparams::{HParamsPluginData, SessionStartInfo};
use tensorboard_proto::summary::{Summary, Summary_Value, SummaryMetadata};
use tensorboard_proto::tensor::TensorProto;
use tensorboard_proto::tensor_shape::TensorShapeProto_Dim;
use tensorboard_proto::types::DataType;
use tensorboard_rs::record_writer::RecordWriter;
use tensorboard_rs::summary::{histogram_raw, scalar};

use super::metrics::{Metrics, Strength};
use crate::config::Config;
use jarmo_core::net::Weights;
use jarmo_judge::accuracy::ExamScore;

/// The tag by which TensorBoard finds the hyperparameters of a run.
const HYPERPARAMETERS: &str = "_hparams_/session_start_info";

/// Bars of a histogram.
const BARS: usize = 30;

/// The TensorBoard groups of the numbers in a line of metrics. Means per game are under `games`, all
/// others under `run`.
const GROUPS: [(&str, &[&str]); 7] = [
    ("loss", &["loss", "loss_policy", "loss_result", "loss_score"]),
    ("policy", &["policy_accuracy", "policy_entropy", "target_entropy"]),
    ("value", &["calibration_error"]),
    ("learner", &["gradient_norm", "rate"]),
    ("replay", &["replay", "replay_fill"]),
    ("games", &["events"]),
    ("speed", &["batch_fill", "timing"]),
];

/// An open event file.
pub struct EventFile {
    path: PathBuf,
    writer: RecordWriter<File>,
}

impl EventFile {
    /// Starts a file in this folder. It marks the events of earlier files from `step` on as void, because
    /// the run was resumed from there.
    pub fn create(folder: &Path, step: u64) -> io::Result<EventFile> {
        fs::create_dir_all(folder)?;
        let (path, file) = new_file(folder)?;
        let writer = RecordWriter::new(file);
        let mut file = EventFile { path, writer };
        let mut version = Event::new();
        version.set_file_version("brain.Event:2".to_owned());
        file.write(version, 0)?;
        let mut log = SessionLog::new();
        log.set_status(SessionLog_SessionStatus::START);
        let mut start = Event::new();
        start.set_session_log(log);
        file.write(start, step)?;
        Ok(file)
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds the settings of the run, as hyperparameters and as a text.
    pub fn settings(&mut self, config: &Config, step: u64) -> io::Result<()> {
        let mut all = Summary::new();
        all.mut_value().push(hyperparameters(config)?);
        all.mut_value().push(text(config));
        self.summary(all, step)
    }

    /// Adds the numbers of a line of metrics, except those of matches and exams.
    pub fn metrics(&mut self, metrics: &Metrics) -> io::Result<()> {
        self.scalars(&tags(metrics), metrics.step)
    }

    /// Adds the result of an exam: the shares of right decisions, and for each phase the share in its critical
    /// positions.
    pub fn accuracy(&mut self, score: &ExamScore, step: u64) -> io::Result<()> {
        let mut tags = vec![
            ("exact/right".to_owned(), score.all.share()),
            ("exact/critical".to_owned(), score.all.critical_share()),
        ];
        for (phase, tally) in score.phases() {
            tags.push((format!("exact/{}", phase.name()), tally.critical_share()));
        }
        self.scalars(&tags, step)
    }

    /// Adds the result of a checkpoint's matches.
    pub fn strength(&mut self, strength: &Strength) -> io::Result<()> {
        let mut tags = vec![
            ("strength/elo".to_owned(), strength.elo),
            ("strength/elo_low".to_owned(), strength.elo_low),
            ("strength/elo_high".to_owned(), strength.elo_high),
        ];
        for played in &strength.matches {
            // The steps of earlier checkpoints change from match to match, so they share a tag.
            let opponent = match played.step {
                Some(_) => "an_earlier_checkpoint",
                None => &played.opponent,
            };
            let tag = format!("strength/score_against_{opponent}");
            if !tags.iter().any(|(known, _)| *known == tag) {
                tags.push((tag, played.score));
            }
        }
        self.scalars(&tags, strength.step)
    }

    /// Adds single numbers.
    pub fn scalars(&mut self, tags: &[(String, f64)], step: u64) -> io::Result<()> {
        let mut all = Summary::new();
        for (tag, number) in tags {
            let mut one = scalar(tag, *number as f32);
            all.mut_value().extend(one.take_value());
        }
        self.summary(all, step)
    }

    /// Adds a histogram of every weight tensor.
    pub fn weights(&mut self, weights: &Weights, step: u64) -> io::Result<()> {
        let mut all = Summary::new();
        for (name, tensor) in weights.tensors() {
            let mut one = histogram(&format!("weights/{name}"), &tensor.data);
            all.mut_value().extend(one.take_value());
        }
        self.summary(all, step)
    }

    fn summary(&mut self, summary: Summary, step: u64) -> io::Result<()> {
        let mut event = Event::new();
        event.set_summary(summary);
        self.write(event, step)
    }

    fn write(&mut self, mut event: Event, step: u64) -> io::Result<()> {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        event.set_wall_time(since.map_or(0.0, |time| time.as_secs_f64()));
        event.set_step(i64::try_from(step).unwrap_or(i64::MAX));
        let bytes = event.write_to_bytes().map_err(io::Error::other)?;
        fs::metadata(&self.path)?; // a removed file would still take the bytes
        self.writer.write(&bytes)
    }
}

/// The numbers of a line of metrics, tagged `group/name`.
fn tags(metrics: &Metrics) -> Vec<(String, f64)> {
    let per_game = fields(&metrics.per_game);
    let mut tags = Vec::new();
    let mut add = |group: &str, name: &str, value: &Value| {
        let is_game = group == "games" || per_game.contains_key(name);
        if let Some(number) = value.as_f64()
            && (metrics.new_games > 0 || !is_game)
        {
            let group = if is_game { "games" } else { group };
            tags.push((format!("{group}/{name}"), number));
        }
    };
    for (name, value) in fields(metrics) {
        let group = GROUPS.iter().find(|(_, names)| names.contains(&&*name));
        let group = group.map_or("run", |(group, _)| group);
        match &value {
            Value::Object(inner) if !matches!(&*name, "accuracy" | "strength") => {
                inner.iter().for_each(|(name, value)| add(group, name, value));
            }
            _ => add(group, &name, &value),
        }
    }
    for (bin, tenth) in metrics.calibration.iter().zip(0..) {
        if bin.rows > 0.0 {
            let tag = format!("value/gap_predicted_{}_to_{}", 10 * tenth, 10 * (tenth + 1));
            tags.push((tag, bin.gap()));
        }
    }
    tags
}

fn fields(numbers: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(numbers) {
        Ok(Value::Object(fields)) => fields,
        _ => unreachable!("metrics are plain data with names"),
    }
}

/// Creates a new file with a name that TensorBoard recognises.
fn new_file(folder: &Path) -> io::Result<(PathBuf, File)> {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let seconds = since.map_or(0, |time| time.as_secs());
    let mut number = 0;
    loop {
        let path = folder.join(format!("events.out.tfevents.{seconds:010}.jarmo.{}.{number}", std::process::id()));
        let mut options = OpenOptions::new();
        match options.write(true).create_new(true).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            opened => return Ok((path, opened?)),
        }
    }
}

/// A histogram with bars of equal width from the smallest number to the largest.
fn histogram(tag: &str, numbers: &[f32]) -> Summary {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    let (mut sum, mut squares) = (0.0, 0.0);
    for &number in numbers {
        let number = f64::from(number);
        (low, high) = (low.min(number), high.max(number));
        sum += number;
        squares += number * number;
    }
    let width = ((high - low) / BARS as f64).max(f64::MIN_POSITIVE);
    let limits: Vec<f64> = (1..=BARS).map(|bar| low + width * bar as f64).collect();
    let mut counts = vec![0.0; BARS];
    for &number in numbers {
        let bar = ((f64::from(number) - low) / width) as usize;
        counts[bar.min(BARS - 1)] += 1.0;
    }
    let count = numbers.len() as f64;
    histogram_raw(tag, low, high, count, sum, squares, &limits, &counts)
}

/// The settings of a run as hyperparameters to compare runs by. tensorboard-rs has neither this plugin nor that of texts;
/// both are a summary whose metadata names the plugin. TensorBoard finds the metrics that belong to the hyperparameters by
/// itself, because they lie in the same folder.
fn hyperparameters(config: &Config) -> io::Result<Summary_Value> {
    let mut start = SessionStartInfo::new();
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    start.set_start_time_secs(now.map_or(0.0, |time| time.as_secs_f64()));
    for (key, value) in config.settings() {
        start.mut_hparams().insert(key, parameter(&value));
    }
    let mut data = HParamsPluginData::new();
    data.set_session_start_info(start);
    let content = data.write_to_bytes().map_err(io::Error::other)?;
    Ok(value(HYPERPARAMETERS, "hparams", content))
}

fn parameter(value: &toml::Value) -> Parameter {
    let mut parameter = Parameter::new();
    match value {
        toml::Value::Integer(number) => parameter.set_number_value(*number as f64),
        toml::Value::Float(number) => parameter.set_number_value(*number),
        toml::Value::Boolean(yes) => parameter.set_bool_value(*yes),
        toml::Value::String(text) => parameter.set_string_value(text.clone()),
        other => parameter.set_string_value(other.to_string()),
    }
    parameter
}

/// The settings as a file of settings, which TensorBoard shows as a block of code.
fn text(config: &Config) -> Summary_Value {
    let text = format!("```toml\n{}```\n", config.to_toml());
    let mut one = TensorShapeProto_Dim::new();
    one.set_size(1);
    let mut tensor = TensorProto::new();
    tensor.set_dtype(DataType::DT_STRING);
    tensor.mut_tensor_shape().mut_dim().push(one);
    tensor.mut_string_val().push(text.into_bytes());
    let mut value = value("settings", "text", Vec::new());
    value.set_tensor(tensor);
    value
}

/// A value for a plugin of TensorBoard.
fn value(tag: &str, plugin: &str, content: Vec<u8>) -> Summary_Value {
    let mut metadata = SummaryMetadata::new();
    metadata.mut_plugin_data().set_plugin_name(plugin.to_owned());
    metadata.mut_plugin_data().set_content(content);
    let mut value = Summary_Value::new();
    value.set_tag(tag.to_owned());
    value.set_metadata(metadata);
    value
}
