//! One line of metrics.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::accuracy::Tally;
use crate::train::Bin;

/// One line of `metrics.jsonl`. All but `timing` follows from the settings alone, where one thread
/// plays. What an older program did not write is 0 or empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Metrics {
    /// Learning steps taken.
    pub step: u64,
    /// Games finished.
    pub games: u64,
    /// Positions searched.
    pub positions: u64,
    /// Samples in the window.
    pub replay: usize,
    /// How full the window is, from 0 to 1.
    pub replay_fill: f64,
    /// Means over the learning steps since the last line.
    pub loss: f64,
    /// The part of the policy.
    pub loss_policy: f64,
    /// The part of win, draw and loss.
    pub loss_result: f64,
    /// The part of the score difference.
    pub loss_score: f64,
    /// The length of the gradients before they were cut.
    pub gradient_norm: f64,
    /// The learning rate of the last step.
    pub rate: f64,
    /// The entropy of the network's policies, in nats, on what it is about to learn.
    pub policy_entropy: f64,
    /// The entropy of search's policies, in nats: `loss_policy` cannot fall below it.
    pub target_entropy: f64,
    /// How often the network and search prefer the same action.
    pub policy_accuracy: f64,
    /// How far predicted values are from those to learn, in the mean, where a win counts 1.
    pub calibration_error: f64,
    /// The predictions by tenths.
    pub calibration: Vec<Bin>,
    /// Games finished since the last line: how many, and the share that White won, that Black won,
    /// that nobody won, and that were cut off.
    pub new_games: u64,
    /// See `new_games`.
    pub white: f64,
    /// See `new_games`.
    pub black: f64,
    /// See `new_games`.
    pub drawn: f64,
    /// See `new_games`.
    pub truncated: f64,
    /// The share of them that came to a position of exact tables.
    pub exact: f64,
    /// Their mean length.
    pub plies: f64,
    /// What the game itself counts, per game: jarmo's captures, redeploys and shuttle bans.
    pub events: BTreeMap<String, f64>,
    /// How full the batches of positions to judge were, from 0 to 1.
    pub batch_fill: f64,
    /// How the network did in positions of exact tables, if it was asked since the last line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<Tally>,
    /// What matches told about the strength, if there were any since the last line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strength: Option<Strength>,
    /// How fast it went.
    pub timing: Timing,
}

/// How fast it went since the last line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Timing {
    /// Seconds of the whole run.
    pub seconds: f64,
    /// Seconds that processors worked on the whole run, all threads together.
    pub cpu_seconds: f64,
    /// Games finished a second.
    pub games_per_s: f64,
    /// Positions searched a second.
    pub positions_per_s: f64,
    /// Simulations a second.
    pub simulations_per_s: f64,
    /// Evaluations a second.
    pub evaluations_per_s: f64,
    /// The share of judgements that needed no evaluation: they were remembered.
    pub remembered: f64,
    /// Learning steps a second of learning.
    pub steps_per_s: f64,
    /// The share of the time spent learning.
    pub learning: f64,
}

/// How strong a checkpoint is by its matches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Strength {
    /// Learning steps of the checkpoint.
    pub step: u64,
    /// Its rating on the scale of the run.
    pub elo: f64,
    /// The 95 % interval.
    pub elo_low: f64,
    /// See `elo_low`.
    pub elo_high: f64,
    /// Who has 0 on that scale.
    pub anchor: String,
    /// Its matches.
    pub matches: Vec<MatchScore>,
}

/// What a match came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MatchScore {
    /// Whom it met: an agent's spec, or an earlier step of the run.
    pub opponent: String,
    /// That step, if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u64>,
    /// Games won.
    pub wins: u32,
    /// Games drawn.
    pub draws: u32,
    /// Games lost.
    pub losses: u32,
    /// Points per game: a win counts 1, a draw one half.
    pub score: f64,
}
