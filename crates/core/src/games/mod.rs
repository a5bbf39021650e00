//! The games: jarmo, guard, tammi, connect four, and a scripted game for tests.

pub mod connect_four;
pub mod guard;
pub mod jarmo;
pub mod reasons;
pub mod scripted;
pub mod tammi;
pub mod text;
pub mod board;
mod random_board;

pub use connect_four::{ConnectFour, ConnectFourPosition};
pub use guard::{Guard, GuardPosition};
pub use jarmo::{Jarmo, JarmoPosition};
pub use scripted::{Scripted, ScriptedPosition};
pub use tammi::{Tammi, TammiPosition};
