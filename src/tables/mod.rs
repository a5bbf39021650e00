//! Exact values of all jarmo positions up to a force: archers plus marks on the board.
//!
//! [`build`] solves them layer by layer into a directory, [`Tables`] opens it for lookups, and [`verify`]
//! checks it against the rules. The solver ignores the shuttle rule and the limit on the length of a
//! game; `docs/tables.md` says how it works and what that leaves open. Search and self-play use the
//! tables through [`Endgames`], which applies the limit.

mod build;
mod code;
mod endgames;
mod file;
pub mod index;
mod lines;
mod lookup;
mod map;
mod openings;
mod packed;
mod progress;
mod shuttle;
mod solve;
mod stats;
mod subsets;
mod verify;

pub use build::{BuildError, BuildProgress, BuildSettings, build, memory_needed};
pub use endgames::{EndgameError, Endgames, Ending, HasEndgames, RandomEndgames};
pub use file::{Problem, TableFileError};
pub use lines::Blockable;
pub use lookup::{ActionValue, Tables};
pub use openings::{OpeningCounts, SolvedOpening};
pub use packed::{PackError, PackProgress, pack};
pub use shuttle::{Change, MOST_SHUTTLE_FORCE, ShuttleEffect, shuttle_effect};
pub use stats::{LayerStats, SideStats};
pub use verify::{LayerCheck, WrongValue, random_position, verify};
