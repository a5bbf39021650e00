//! Exact values of all positions up to a force: archers plus marks in jarmo, pieces in tammi.
//!
//! [`build`] solves them layer by layer into a folder, [`Tables`] opens it for lookups, and [`verify`]
//! checks it against the rules. What the tables need to know of a game is [`Solvable`]. Some rules that depend on
//! the history of a game are not in the tables; `docs/tables.md` says which, and
//! `docs/lab/tables.md` how the solvers work. Search and self-play use the tables through [`Endgames`], which applies the limit on the length.

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
mod progress;
pub mod real;
mod solvable;
mod solve;
mod stats;
pub mod subsets;
mod tammi;
mod verify;

pub use build::{BuildSettings, TableProgress, build};
pub use endgames::{HasEndgames, RandomEndgames};
pub(crate) use endgames::{draw_endgames, open_shared};
pub use file::{Owner, checksum, lock};
pub use jarmo_core::known::Endgames;
pub use lookup::{ActionValue, Tables};
pub use map::allocate;
pub use packed::pack;
pub use real::Holds;
pub use solvable::{Job, Layer, LayerEvent, PliesTo, Solvable};
pub use stats::{LayerStats, SideStats};
pub use tammi::TammiLayer;
pub use verify::{LayerCheck, random_position, verify};
