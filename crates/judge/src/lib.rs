//! Finds out who is stronger and who is right: matches with error bars, exams with exact answers, puzzles, and the
//! yardstick.
//!
//! Modules import only modules that come earlier in this list.

mod error;
pub mod spread;
mod plot;
pub mod accuracy;
pub mod puzzles;
pub mod arena;
pub mod yardstick;

pub use error::JudgeError;
pub use plot::{Curve, braille, draw_curves};
