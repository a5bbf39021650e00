//! How often decisions keep the best result, compared with exact tables.
//!
//! A decision is *right* if it leads to the same result under best play as the best action, however
//! long that takes. In many positions every action is right. The others are *critical* positions and
//! counted separately.
//!
//! An [`Exam`] tests agents and lists their mistakes. A [`PolicyExam`] tests networks without search:
//! thousands of positions in a few hundredths of a second, fast enough to repeat during training.

mod exam;
mod policy;

use serde::{Deserialize, Serialize};

pub use exam::{Accuracy, Blunder, Exam, Group};
pub use policy::PolicyExam;

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
    /// The share of all decisions that were right; 1 if there are none.
    pub fn share(&self) -> f64 {
        share(self.right, self.decisions)
    }

    /// The share of decisions in critical positions that were right; 1 if there are none.
    pub fn critical_share(&self) -> f64 {
        share(self.critical_right, self.critical)
    }

    fn count(&mut self, critical: bool, right: bool) {
        self.decisions += 1;
        self.right += u64::from(right);
        self.critical += u64::from(critical);
        self.critical_right += u64::from(critical && right);
    }

    fn add(&mut self, other: &Tally) {
        self.decisions += other.decisions;
        self.right += other.right;
        self.critical += other.critical;
        self.critical_right += other.critical_right;
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        1.0
    } else {
        part as f64 / whole as f64
    }
}

/// Random draws per requested position, because some draws are finished games.
const TRIES: usize = 50;
