//! Search, and agents that need nothing else.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/trees.rs"]
mod trees;

mod agents;
mod mctx;
mod reuse;
mod tree;
