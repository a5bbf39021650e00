//! Search: trees that grow one leaf at a time so that many can share a batch of evaluations; alpha-beta; hand-written
//! evaluations.
//!
//! Nothing here draws random numbers, starts threads or depends on a network.

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
mod settings;
mod tree;

pub use alphabeta::AlphaBeta;
pub use answer::{MARGIN, RootAction};
pub use batch::Batch;
pub use grow::{Leaf, SearchPlan, SearchRule, Step, Tree};
pub use gumbel::GumbelSettings;
pub use heuristic::{HasHeuristic, Heuristic};
pub use noise::{dirichlet, gumbel_noise};
pub use puct::PuctSettings;
pub use settings::{Root, SearchSettings};
pub use tree::TreeSize;
