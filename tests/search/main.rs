//! Search, and agents without networks.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/trees.rs"]
mod trees;

mod agents;
mod mctx;
mod reuse;
mod sampling;
mod tree;
