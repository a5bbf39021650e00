//! What made the files that come with jarmo, and what measured the decisions behind it.
//!
//! Players and learners need none of it: the program `lab` is for those who change jarmo. Modules import only modules
//! that come earlier in this list.

pub mod exam;
pub mod proof;
pub mod puzzles;
pub mod balance;
pub mod explorer;
pub mod shuttle_bounds;
pub mod lookups;
pub mod shuttle;
pub mod signature;
pub mod pictures;
pub mod ceiling;
pub mod cli;
