//! The program `jarmo`, and rules for its sources.

mod architecture;
#[cfg(feature = "cli")]
mod program;
