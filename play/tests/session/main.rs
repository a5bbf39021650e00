//! Sessions: moves, agents, tables, and texts.

#[path = "../../../tests/common/mod.rs"]
mod common;
#[path = "../../../tests/common/nets.rs"]
mod nets;

mod agents;
mod deepening;
mod ends;
mod lang;
mod lessons;
mod registered;
mod session;
mod setup;
mod tables;
mod tree;
