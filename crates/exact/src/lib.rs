//! What is known for certain: exact endgame tables and proofs; and the games with all that is known of them, by name.
//!
//! Modules import only modules that come earlier in this list.

mod error;
pub mod tables;
pub mod proof;
pub mod catalog;
pub mod agent;

pub use error::{ExactError, ExactErrorKind};
