//! `jarmo.VecEnv`: the library's environment on NumPy arrays.

mod arrays;
mod games;
mod python;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub(crate) use games::build;
use jarmo_core::env::{EnvSettings, Features, Rows};
use pyo3::PyResult;
pub(crate) use python::{VecEnv, bench_env};

use crate::players::Player;
use crate::position::Position;
use crate::refusal::Checked;

pub struct EnvArguments {
    pub settings: EnvSettings,
    pub opponent: Option<Player>,
    /// Interrupts an opponent that searches.
    pub stop: Arc<AtomicBool>,
}

/// Which games start again.
pub enum Reset<'a> {
    /// All, as in a new environment with this seed.
    Seed(u64),
    /// All, with a seed for each slot, `[games]`.
    Seeds(&'a [u64]),
    /// Those of the slots that are set, `[games]`.
    Where(&'a [bool]),
    /// Those of these slots, from these positions.
    At(&'a [(usize, &'a Position)]),
}

/// An environment of a game whose type is not known. What fails changes nothing.
pub trait AnyEnv: Send + Sync {
    fn reset(&mut self, reset: &Reset<'_>) -> PyResult<()>;
    /// Plays one action per game and writes the results, or says which action is wrong and why.
    fn step(&mut self, actions: &[i64], rows: Rows<'_>) -> PyResult<()>;
    /// What interrupts a reset or a step that can take long.
    fn stop(&self) -> Option<Arc<AtomicBool>>;
    /// Writes the results of the last step.
    fn write(&self, rows: Rows<'_>);
    /// A legal action per game, uniformly at random; -1 where the game is over.
    fn sample(&self, out: &mut [i64]);
    /// The slots whose games ended in the last step, and their last positions.
    fn finished(&self) -> Vec<(usize, Position)>;
    fn finished_slots(&self) -> Vec<i64>;
    /// Writes the features of their last positions in numbers that are 0.
    fn write_finished(&self, features: Features<'_>, threats: bool);
    fn position(&self, slot: usize) -> Position;
    /// The caller's side in every game.
    fn sides(&self) -> Vec<i8>;
    fn steps(&self) -> u64;
    /// The seed, or those of the slots, `[games]`.
    fn seeds(&self) -> Vec<u64>;
    fn save(&self) -> Vec<u8>;
    fn restore(&mut self, saved: &[u8]) -> Checked<()>;
}
