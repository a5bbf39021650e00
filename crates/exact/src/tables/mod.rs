//! Exact values of all positions up to a force: archers plus marks in jarmo, pieces in tammi.
//!
//! [`build`] solves them layer by layer into a folder, [`Tables`] opens it for lookups, and [`verify`]
//! checks it against the rules. What the tables need to know of a game is [`Solvable`]. Some rules that depend on
//! the history of a game are not in the tables; `docs/tables.md` says which, and
//! `docs/lab/tables.md` how the solvers work. Search and self-play use the tables through [`Endgames`], which applies the move limit.

mod build;
pub mod code;
mod endgames;
mod file;
pub mod index;
mod jarmo;
pub mod lines;
mod lookup;
mod map;
mod packed;
pub mod shuttle_bounds;
mod solvable;
mod solve;
mod solver;
mod stats;
pub mod subsets;
mod tammi;
mod verify;

pub use build::{BuildSettings, TableProgress};
pub use endgames::{HasEndgames, RandomEndgames};
pub(crate) use endgames::{draw_endgames, open_shared};
pub use file::{Owner, TableId, checksum, lock};
pub use jarmo_core::known::Endgames;
pub use lookup::{ActionValue, Tables, build};
pub use map::{allocate, map_mut};
pub use packed::pack;
pub use shuttle_bounds::ShuttleBounds;
pub use solvable::{Job, Layer, LayerEvent, Packed, PliesTo, Solvable, TableKind, owner, random_position};
pub use solver::{OpeningValues, Probe, Solver};
pub use stats::{LayerStats, SideStats};
pub use tammi::TammiLayer;
pub use verify::{LayerCheck, verify};
