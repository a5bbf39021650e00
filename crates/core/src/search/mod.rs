//! Search: trees that grow by select and expand, many at a time; alpha-beta; hand-written evaluations.
//!
//! Nothing here draws random numbers, starts threads or knows a network.

pub mod alphabeta;
mod answer;
mod batch;
mod bounds;
mod gumbel;
mod grow;
pub mod heuristic;
mod noise;
mod math;
mod puct;
mod tree;

pub use alphabeta::AlphaBeta;
pub use answer::RootAction;
pub use batch::Batch;
pub use grow::{Leaf, SearchRule, Step, Tree};
pub use gumbel::GumbelSettings;
pub use heuristic::{HasHeuristic, Heuristic};
pub use noise::{dirichlet, gumbel_noise};
pub use puct::PuctSettings;
pub use tree::TreeSize;
