//! The program `jarmo`, and rules for its sources.

mod architecture;
#[cfg(feature = "net")]
mod numbers;
#[cfg(feature = "cli")]
mod program;
