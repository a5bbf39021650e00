//! Exact values of all jarmo positions up to a force.

pub mod code;
pub mod index;
pub mod lines;
pub mod solve;
pub mod subsets;
