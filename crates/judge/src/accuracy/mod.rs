//! How often decisions keep the best result, compared with exact results.
//!
//! A decision is *right* if its action has the same result under perfect play as the best action, however long it
//! takes. In many positions every action is right. The others are *critical* positions, which are also counted
//! separately.
//!
//! An [`Exam`] is a set of positions with the exact result of every action. An agent can take it without tables or a
//! solver, and a training run gives it to its network at every checkpoint. [`Exam::built_in`] is the exam that is
//! part of the program.

mod cause;
mod decision;
mod exam;
mod file;
mod report;
mod svg;
mod tally;
mod watch;

pub use cause::{Cause, Causes, LEAST_POLICY, MORE_SEARCH};
pub(crate) use decision::{is_mistake, results};
pub(crate) use exam::Asked;
pub use exam::{Exam, Question};
pub use file::ExamHeader;
pub use report::{Accuracy, FEWEST, Mistake};
pub use svg::draw_stages;
pub use tally::{ExamScore, Phase, Stage, Tally, share_with_error};
pub use watch::Watch;
