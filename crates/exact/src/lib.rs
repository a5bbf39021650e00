//! Exact endgame tables and proofs, and the list of shipped games by name with their agents, exams and tables.
//!
//! Modules import only modules that come earlier in this list.

mod error;
pub mod tables;
pub mod proof;
pub mod catalog;
pub mod agent;

pub use error::{ExactError, ExactErrorKind};
