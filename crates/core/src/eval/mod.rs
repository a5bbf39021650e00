//! Evaluators: they turn batches of positions into policies and values.

mod batch;
mod cache;
mod endgame;
mod evaluator;
mod misses;
mod rollout;
mod scripted;
mod value;

pub use batch::{EvalBatch, EvalRow, Evaluation};
pub use cache::Cache;
pub use endgame::WithEndgames;
pub use evaluator::{Evaluator, Uniform, favourite};
pub use rollout::Rollout;
pub use scripted::ScriptedEvaluator;
pub use value::Value;
