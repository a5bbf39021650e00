//! Counts of decisions by part of the game.

use std::fmt;

use serde::{Deserialize, Serialize};

use jarmo_exact::tables::HasEndgames;

/// Counts of decisions, and of those that kept the best result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// All decisions.
    pub decisions: u64,
    /// Decisions that kept the best result.
    pub right: u64,
    /// Decisions in critical positions.
    pub critical: u64,
    /// Decisions in critical positions that kept the best result.
    pub critical_right: u64,
}

impl Tally {
    /// The fraction of all decisions that were right; 1 if there are none.
    pub fn share(&self) -> f64 {
        share(self.right, self.decisions)
    }

    /// The fraction of decisions in critical positions that were right; 1 if there are none.
    pub fn critical_share(&self) -> f64 {
        share(self.critical_right, self.critical)
    }

    /// The fraction of decisions in critical positions that were wrong, and half its 95% interval.
    pub fn critical_wrong(&self) -> (f64, f64) {
        share_with_error(self.critical - self.critical_right, self.critical)
    }

    pub(super) fn count(&mut self, critical: bool, right: bool) {
        self.decisions += 1;
        self.right += u64::from(right);
        self.critical += u64::from(critical);
        self.critical_right += u64::from(critical && right);
    }

    /// The sum of the counts of several parts.
    pub fn sum<'a>(parts: impl IntoIterator<Item = &'a Tally>) -> Tally {
        parts.into_iter().fold(Tally::default(), |all, part| Tally {
            decisions: all.decisions + part.decisions,
            right: all.right + part.right,
            critical: all.critical + part.critical,
            critical_right: all.critical_right + part.critical_right,
        })
    }
}

/// A fraction and half its 95% interval. The interval is that of Agresti and Coull, which does not vanish if the
/// fraction is 0 or 1. If `whole` is 0, the fraction is 0.
pub fn share_with_error(part: u64, whole: u64) -> (f64, f64) {
    const Z_95: f64 = 1.96; // two-sided 95% quantile of the normal distribution
    let cases = whole as f64 + Z_95 * Z_95;
    let middle = (part as f64 + 0.5 * Z_95 * Z_95) / cases;
    let error = Z_95 * (middle * (1.0 - middle) / cases).sqrt();
    (part as f64 / whole.max(1) as f64, error)
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

/// A phase of a game. Each game decides which positions belong to which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// The opening phase.
    Opening,
    /// The middle game.
    Middle,
    /// The endgame.
    End,
}

impl Phase {
    /// All phases in order.
    pub const ALL: [Phase; 3] = [Phase::Opening, Phase::Middle, Phase::End];

    /// `opening`, `middle` or `end`.
    pub const fn name(self) -> &'static str {
        ["opening", "middle", "end"][self as usize]
    }
}

/// The counts of an exam: of all decisions, and by phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExamScore {
    /// All decisions.
    #[serde(flatten)]
    pub all: Tally,
    /// Decisions in the opening phase.
    pub opening: Tally,
    /// Decisions in middle games.
    pub middle: Tally,
    /// Decisions in endgames.
    pub end: Tally,
}

impl ExamScore {
    /// The phases that have critical positions, with their counts.
    pub fn phases(&self) -> impl Iterator<Item = (Phase, &Tally)> {
        let tallies = [&self.opening, &self.middle, &self.end];
        Phase::ALL.into_iter().zip(tallies).filter(|(_, tally)| tally.critical > 0)
    }
}

/// A finer part of a game than a phase: a force, or a few plies if the game has no force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Stage {
    /// What the number means: `force` or `ply`.
    pub unit: &'static str,
    /// The force, or the first ply.
    pub number: u32,
}

impl Stage {
    /// The number of plies that are counted together.
    pub const PLIES: u32 = 3;

    /// The stage that a position belongs to.
    pub fn of<G: HasEndgames>(game: &G, position: &G::Position) -> Stage {
        match game.force_of(position) {
            Some(number) => Stage { unit: "force", number },
            None => Stage { unit: "ply", number: game.ply(position) / Stage::PLIES * Stage::PLIES },
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Stage { unit, number } = self;
        match *unit {
            "force" => write!(f, "{unit} {number}"),
            _ => write!(f, "{unit} {number}-{}", number + Stage::PLIES - 1),
        }
    }
}
