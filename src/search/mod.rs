//! Looking ahead: trees grown by select and expand, many at a time, and simple judgements of positions.
//!
//! Nothing here draws a random number, starts a thread or knows a network.

pub mod alphabeta;
mod answer;
mod batch;
mod bounds;
pub mod gumbel;
mod grow;
pub mod heuristic;
mod noise;
mod math;
pub mod puct;
mod signature;
mod tree;

pub use alphabeta::AlphaBeta;
pub use answer::RootAction;
pub use batch::Batch;
pub use grow::{Leaf, Policy, Step, Tree};
pub use gumbel::GumbelSettings;
pub use heuristic::{Heuristic, Judged};
pub use noise::{dirichlet, gumbel_noise};
pub use puct::PuctSettings;
pub use signature::{Signature, signature};
pub use tree::{Children, TreeLimit, TreeSize};
