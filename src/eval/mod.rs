//! Positions → (policy, value), a batch at a time.

mod evaluator;
mod uniform;
mod value;

pub use evaluator::{Evaluation, Evaluator, Proven};
pub use uniform::Uniform;
pub use value::Value;
