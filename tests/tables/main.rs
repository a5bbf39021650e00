//! Exact tables: solved, stored, used.

mod at_work;
mod exam;
mod files;
#[cfg(feature = "cli")]
mod lost;
mod packed;
mod proof;
mod puzzles;
#[cfg(feature = "cli")]
mod program;
mod real;
mod selfplay;
mod tammi;
mod truth;
