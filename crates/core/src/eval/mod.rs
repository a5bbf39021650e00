//! Evaluators: from batches of positions to policies and values.

mod cache;
mod endgame;
mod evaluator;
mod passed;
mod policy;
mod rollout;
mod scripted;
mod uniform;
mod value;

pub use cache::Cache;
pub use endgame::WithEndgames;
pub use evaluator::{Evaluation, Evaluator};
pub use policy::favourite;
pub use rollout::Rollout;
pub use scripted::ScriptedEvaluator;
pub use uniform::Uniform;
pub use value::Value;
