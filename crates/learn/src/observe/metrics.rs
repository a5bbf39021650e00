//! One line of metrics.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::FleetReport;
use crate::train::Bin;
use jarmo_judge::accuracy::ExamScore;
use jarmo_judge::arena::Results;
use jarmo_selfplay::selfplay::PerGame;

/// One line of `metrics.jsonl`. With one thread, everything but `timing` is reproducible.
/// Missing numbers are read as 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Metrics {
    /// Training steps of the run.
    pub step: u64,
    /// Finished games of the run.
    pub games: u64,
    /// Searched positions of the run.
    pub positions: u64,
    /// Samples in the replay buffer.
    pub replay: usize,
    /// `replay` as a fraction of the buffer's capacity.
    pub replay_fill: f64,
    /// The loss, the mean over the training steps since the last line. Its parts are unweighted, in
    /// nats:
    pub loss: f64,
    /// of the policy,
    pub loss_policy: f64,
    /// of win, draw and loss,
    pub loss_result: f64,
    /// of the point difference.
    pub loss_score: f64,
    /// The norm of the gradients before clipping, the mean over the same training steps.
    pub gradient_norm: f64,
    /// The learning rate of the last step.
    pub rate: f64,
    /// The entropy of the predicted policies before each step, in nats.
    pub policy_entropy: f64,
    /// The entropy of the policy targets, in nats: a lower bound of `loss_policy`.
    pub target_entropy: f64,
    /// The share of samples in which network and target prefer the same action.
    pub policy_accuracy: f64,
    /// The mean distance of predicted values from targets per bin; a win counts 1.
    pub calibration_error: f64,
    /// Predicted values in bins of a tenth.
    pub calibration: Vec<Bin>,
    /// Games finished since the last line.
    pub new_games: u64,
    /// Means over these games.
    #[serde(flatten)]
    pub per_game: PerGame,
    /// The events that the game counts, per game: for jarmo captures, redeploys and shuttle bans.
    pub events: BTreeMap<String, f64>,
    /// The mean fill of the evaluator's batches, 0 to 1.
    pub batch_fill: f64,
    /// The result of the exam, if there was one since the last line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<ExamScore>,
    /// The result of matches, if there were any since the last line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strength: Option<Strength>,
    /// The result of the final match, if the run ended at a limit after this line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_match: Option<Strength>,
    /// The machines that play for the run, if it is a fleet's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fleet: Option<FleetReport>,
    /// Speed and time.
    pub timing: Timing,
}

/// Time of the run, and speed since the last line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Timing {
    /// Seconds of the whole run.
    pub seconds: f64,
    /// Seconds of CPU time of the whole run, all threads together.
    pub cpu_seconds: f64,
    /// Games finished per second.
    pub games_per_s: f64,
    /// Positions searched per second.
    pub positions_per_s: f64,
    /// Simulations per second.
    pub simulations_per_s: f64,
    /// Evaluations per second.
    pub evaluations_per_s: f64,
    /// The share of requested evaluations that were cached.
    pub cached: f64,
    /// Training steps per second of learning.
    pub steps_per_s: f64,
    /// The share of the time in which the learner was busy.
    pub learning: f64,
}

/// The strength of a checkpoint in matches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Strength {
    /// Training steps of the checkpoint.
    pub step: u64,
    /// Its rating on the scale of the run.
    pub elo: f64,
    /// The lower end of the 95 % interval.
    pub elo_low: f64,
    /// The upper end.
    pub elo_high: f64,
    /// The agent with rating 0.
    pub anchor: String,
    /// Its matches.
    pub matches: Vec<MatchScore>,
}

/// The result of a match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MatchScore {
    /// The spec of the opponent, or the name of an earlier checkpoint of the run.
    pub opponent: String,
    /// The training steps of that checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u64>,
    /// Games won, drawn and lost.
    #[serde(flatten)]
    pub results: Results,
    /// Points per game: a win counts 1, a draw one half.
    pub score: f64,
}
