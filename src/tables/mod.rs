//! Exact values of all jarmo positions up to a force: archers plus marks on the board.
//!
//! [`build`] solves them layer by layer into a directory, [`Tables`] opens and asks it, [`verify`] holds
//! it against the rules. The game solved is jarmo without the shuttle rule and without a limit on its
//! length; `docs/tables.md` says how, and what that leaves open. Whoever plays asks through
//! [`Endgames`], which looks after the limit.

mod build;
pub mod code;
mod endgames;
mod file;
pub mod index;
mod lines;
mod lookup;
mod map;
mod shuttle;
mod solve;
mod stats;
mod subsets;
mod verify;

pub use build::{BuildError, BuildSettings, Progress, build, memory_needed};
pub use endgames::{EndgameError, Endgames, Ending, HasEndgames, RandomEndgames};
pub use file::{FileError, Problem};
pub use lines::Blockable;
pub use lookup::{ActionValue, Tables};
pub use shuttle::{Change, MOST_SHUTTLE_FORCE, ShuttleEffect, shuttle_effect};
pub use stats::{LayerStats, SideStats};
pub use verify::{LayerCheck, Mistake, random_position, verify};
