//! The program, and the rules of the house for its sources.

mod architecture;
#[cfg(feature = "cli")]
mod program;
