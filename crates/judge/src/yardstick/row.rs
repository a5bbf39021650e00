//! A result as plain data: the measures, the answers that prove them, and claims that cannot be checked.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::{Answers, ExamShare, PerfectGames, WorstCase, YardstickSettings};
use crate::JudgeError;

/// The result of an agent with one budget. [`Yardstick::verify`](super::Yardstick::verify) computes every measure in it
/// from the answers once more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// [`Row::FORMAT`].
    pub format: u32,
    /// The name of the agent.
    pub agent: String,
    /// The game.
    pub game: String,
    /// The version of its rules.
    pub rules_version: u32,
    /// Nodes or simulations per decision: 0 for a network alone, `None` if the spec of the agent decided.
    pub nodes: Option<u64>,
    /// How much was measured.
    pub settings: YardstickSettings,
    /// What the games and the worst case started from; empty without tables.
    pub starts: String,
    /// The exam of the program.
    pub exam: Option<ExamShare>,
    /// The exam drawn for the seed.
    pub fresh: Option<ExamShare>,
    /// Games against the perfect player.
    pub games: Option<PerfectGames>,
    /// The worst case.
    pub worst: Option<WorstCase>,
    /// What cannot be verified.
    pub claims: Claims,
    /// The actions that were chosen.
    pub answers: Answers,
    /// A checksum of all other fields, against accidental changes.
    pub checksum: String,
}

/// Statements by the author about the policy and the measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claims {
    /// The day, such as `2026-11-28`.
    pub date: String,
    /// Versions and the CPU.
    pub machine: BTreeMap<String, serde_json::Value>,
    /// The inputs of the policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<String>,
    /// How the policy was trained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub training: Option<Training>,
}

/// How a policy was trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Training {
    /// The limit.
    pub budget: TrainingBudget,
    /// The seed.
    pub seed: Option<u64>,
    /// Steps of the environment that were taken.
    pub steps: u64,
    /// Positions that a network or another function evaluated.
    #[serde(default)]
    pub evaluations: u64,
    /// CPU time that was used.
    pub cpu_seconds: f64,
}

/// The limit of training.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrainingBudget {
    /// Minutes of CPU time on the machine of the published results.
    Minutes(f64),
    /// Steps of the environment.
    Steps(u64),
    /// Evaluations of positions.
    Evaluations(u64),
}

/// A file of results.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    rows: Vec<Row>,
}

impl Row {
    /// Increased whenever the format changes its meaning. Results of format 1, which had no number, had the answers to the
    /// exam only.
    pub const FORMAT: u32 = 2;

    /// The rows of a file: one JSON object per line, or one for all with a list `rows`.
    ///
    /// # Errors
    /// There is none, or one is not a result of this format.
    pub fn read_all(text: &str) -> Result<Vec<Row>, JudgeError> {
        let rows = match serde_json::from_str::<serde_json::Value>(text) {
            Ok(file) if file.get("rows").is_some() => {
                serde_json::from_value::<File>(file).map_err(|error| not_a_result(text, &error.to_string()))?.rows
            }
            Err(error) if text.starts_with("{\"rows\"") => return Err(not_a_result(text, &error.to_string())),
            _ => {
                let read = |(line, number): (&str, usize)| {
                    serde_json::from_str(line).map_err(|error| not_a_result(line, &format!("line {number}: {error}")))
                };
                text.lines().zip(1..).map(read).collect::<Result<_, _>>()?
            }
        };
        match rows.is_empty() {
            true => Err(JudgeError::new("it has no rows, so there is nothing to verify")),
            false => Ok(rows),
        }
    }

    /// The row with the checksum of its content.
    pub fn sealed(mut self) -> Row {
        self.checksum = String::new();
        let text = serde_json::to_string(&self).expect("plain data");
        self.checksum = format!("{:016x}", xxh3_64(text.as_bytes()));
        self
    }

    /// Fails if the row was changed after it was sealed.
    pub fn check_seal(&self) -> Result<(), JudgeError> {
        match self.clone().sealed().checksum == self.checksum {
            true => Ok(()),
            false => Err(JudgeError::new("its checksum does not match its content: something was changed by hand")),
        }
    }

    /// The result of the exam alone, without what was judged by tables or a solver.
    pub fn of_exam(&self) -> Row {
        let answers = Answers { exam: self.answers.exam.clone(), ..Answers::default() };
        Row { starts: String::new(), fresh: None, games: None, worst: None, answers, ..self.clone() }.sealed()
    }

    pub(super) fn nodes(&self) -> String {
        match self.nodes {
            None => "its own".to_owned(),
            Some(0) => "alone".to_owned(),
            Some(nodes) => nodes.to_string(),
        }
    }
}

fn not_a_result(text: &str, problem: &str) -> JudgeError {
    let has = |name: &str| text.contains(&format!("\"{name}\""));
    let remedy = match has("code") && has("command") {
        true => "; the entry of a board is verified by `jarmo.yardstick.verify` of the Python package",
        false => "",
    };
    JudgeError::new(format!("not a result of the yardstick: {problem}{remedy}"))
}
