//! The games by name, each as an object without a type parameter for the game.
//!
//! [`Games`] opens a game as an [`AnyGame`], which can do everything that programs do with a game. A call does a whole
//! piece of work, such as a search, a round of self-play or a tournament, in code that is compiled for the game. The
//! crates above this one have no type parameter for games, so they are compiled only once.
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
