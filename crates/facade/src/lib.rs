//! The games by name, each as one object whose type does not name the game.
//!
//! [`Games`] opens a game as an [`AnyGame`]: everything that programs do with a game, whichever it is. A call does a whole
//! piece of work, such as a search, a round of self-play or a tournament, and inside it the code is compiled for the game.
//! The crates above this one have no type parameter for games, so that code is compiled once.
//!
//! Modules import only modules that come earlier in this list.

mod agent;
mod erased;
#[cfg(feature = "selfplay")]
mod net;
#[cfg(feature = "selfplay")]
pub mod selfplay;
#[cfg(feature = "measure")]
pub mod measure;
#[cfg(feature = "bench")]
mod bench;
mod game;
mod games;

pub use agent::{AgentPlan, AnyAgent, AnyRequest, Choose, Files};
#[cfg(feature = "bench")]
pub use bench::Bench;
pub use erased::Facts;
pub use game::{AnyEndgames, AnyGame, Move, View};
pub use games::{Games, Listed, erase};
