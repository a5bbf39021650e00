//! `jarmo.VecEnv`: the library's environment on NumPy arrays.

mod games;
mod python;

pub use games::build;
use jarmo_core::env::{EnvSettings, Features, Rows};
pub use python::{VecEnv, bench_env};

use crate::position::AnyPosition;

/// How an environment is made.
pub struct EnvArguments {
    pub settings: EnvSettings,
    pub opponent: Option<String>,
}

/// An environment of a game whose type is not known.
pub trait AnyEnv: Send + Sync {
    /// Starts other games: all of them, or where `which` is set. With a seed, as a new environment with it.
    fn reset(&mut self, seed: Option<u64>, which: Option<&[bool]>) -> Result<(), String>;
    /// Takes one action per game for the next step, or says which is wrong and why.
    fn set_actions(&mut self, actions: &[i64]) -> Result<(), String>;
    /// Plays the actions and writes the results.
    fn step(&mut self, rows: Rows<'_>);
    /// Writes the results of the last step.
    fn write(&self, rows: Rows<'_>);
    /// A legal action per game, uniformly at random; -1 where the game is over.
    fn sample(&self, out: &mut [i64]);
    /// The slots whose games ended in the last step, and their last positions.
    fn finished(&self) -> Vec<(usize, Box<dyn AnyPosition>)>;
    /// The slots whose games ended in the last step.
    fn finished_slots(&self) -> Vec<i64>;
    /// Writes the features of their last positions in numbers that are 0.
    fn write_finished(&self, features: Features<'_>, threats: bool);
    fn position(&self, slot: usize) -> Box<dyn AnyPosition>;
    /// The caller's side in every game.
    fn sides(&self) -> Vec<i8>;
    fn steps(&self) -> u64;
    fn seed(&self) -> u64;
    fn save(&self) -> Vec<u8>;
    fn restore(&mut self, saved: &[u8]) -> Result<(), String>;
}
