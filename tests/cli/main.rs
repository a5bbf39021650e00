//! The program `jarmo`, and rules for its sources.

mod architecture;
mod numbers;
mod program;
