//! Exact tables: solved, stored, used.

mod at_work;
mod exam;
mod files;
mod lost;
mod packed;
mod proof;
mod puzzles;
mod program;
mod tammi;
mod truth;
mod yardstick;
