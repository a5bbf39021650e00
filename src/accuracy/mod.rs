//! How often a decision keeps the best result, held against exact tables.
//!
//! A decision is *right* if what it leads to has the same result under best play as the best action,
//! however long it takes. Many positions leave nothing to get wrong, because every action keeps the
//! best result; the others are *critical* and counted apart.
//!
//! An [`Exam`] asks agents and tells all about their mistakes. A [`PolicyExam`] asks networks alone,
//! thousands of positions in a few hundredths of a second: it is made to be taken again and again
//! while a network learns.

mod exam;
mod policy;

use serde::{Deserialize, Serialize};

pub use exam::{Accuracy, Blunder, Exam, Group};
pub use policy::PolicyExam;

/// How many decisions were asked for, and how many kept the best result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Decisions.
    pub decisions: u64,
    /// Those that kept the best result.
    pub right: u64,
    /// Decisions in positions where some action does not keep it.
    pub critical: u64,
    /// Those of them that kept it.
    pub critical_right: u64,
}

impl Tally {
    /// The share of all decisions that were right; 1 without any.
    pub fn share(&self) -> f64 {
        share(self.right, self.decisions)
    }

    /// The share of critical decisions that were right; 1 without any.
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

/// Attempts at finding a random position that is not over, for each that is wanted.
const TRIES: usize = 50;
