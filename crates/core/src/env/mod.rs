//! Steps thousands of games together: observe, mask, step, restart. The caller provides the actions.
//!
//! ```
//! use jarmo_core::env::VecEnv;
//! use jarmo_core::game::Action;
//! use jarmo_core::games::Jarmo;
//!
//! let mut env = VecEnv::new(Jarmo::standard(), 64, 7);
//! let mut actions = vec![Action(0); env.len()];
//! let mut finished = 0;
//! for _ in 0..300 {
//!     env.sample(&mut actions); // or a policy's choice among env.legal(slot)
//!     env.step(&actions);
//!     finished += env.finished().count();
//! }
//! assert!(finished > 64);
//! ```

mod games;
mod line;
mod log;
mod rows;
mod saved;
mod settings;
mod shard;
mod stats;
mod vec_env;

pub use line::Line;
pub use rows::{Features, Masks, Rows};
pub use saved::{EnvState, SavedEnv, SavedGame, SavedRules};
pub use settings::{Autoreset, EnvSettings, Interrupted, Keep, Opponent, Seat};
pub use shard::{Finished, Shard};
pub use stats::GameStats;
pub use vec_env::VecEnv;
