//! How often decisions keep the best result, compared with exact results.
//!
//! A decision is *right* if it leads to the same result under best play as the best action, however long that takes. In
//! many positions every action is right. The others are *critical* positions and counted separately.
//!
//! An [`Exam`] is a set of positions with the exact result of every action. It needs neither tables nor a
//! solver, so it tests agents and, without search, the network of a training run at every checkpoint.
//! [`Exam::built_in`] is the exam that comes with the program.

mod cause;
mod exam;
mod file;
mod report;
mod svg;
mod tally;

pub use cause::{Cause, Causes, LEAST_POLICY, MORE_SEARCH};
pub(crate) use exam::Asked;
pub use exam::{Exam, Question};
pub use file::ExamHeader;
pub use report::{Accuracy, FEWEST, Mistake};
pub use svg::draw_stages;
pub use tally::{ExamScore, Phase, Stage, Tally, share_with_error};
