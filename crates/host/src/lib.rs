//! What programs need from the machine that they run on: files and locks, lines of input, and facts about the program
//! itself.
//!
//! Modules import only modules that come earlier in this list.

pub mod program;
pub mod text;
pub mod ascii;
pub mod files;
pub mod container;
pub mod run_folder;
pub mod agent_file;
pub mod record;
pub mod input;
#[cfg(feature = "options")]
pub mod options;
