//! Evaluators: from batches of positions to policies and values.

mod cache;
mod endgame;
mod evaluator;
mod rest;
mod rollout;
mod scripted;
mod value;

pub use cache::Cache;
pub use endgame::WithEndgames;
pub use evaluator::{Evaluation, Evaluator, Uniform, favourite};
pub use rollout::Rollout;
pub use scripted::ScriptedEvaluator;
pub use value::Value;
