//! Playing in the terminal, by keys or by lines.

#[path = "../../../tests/common/nets.rs"]
mod nets;

mod plain;
mod screen;
mod training;
