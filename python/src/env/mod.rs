//! `jarmo.VecEnv`: many games in lockstep on NumPy arrays.

mod games;
mod log;
mod out;
mod part;
mod python;

use std::sync::Arc;

pub use games::build;
pub use out::{Features, Masks, Out};
pub use python::{VecEnv, bench_env};

use crate::position::AnyPosition;

/// When the next game begins in a slot whose game has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Autoreset {
    /// In the next step, which ignores the action of this slot.
    NextStep,
    /// At once.
    SameStep,
    /// When the caller resets it.
    Disabled,
}

/// The side of the caller in games against an opponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Learner {
    White,
    Black,
    /// Drawn for each game.
    Random,
}

/// How an environment is made.
#[derive(Clone, Debug)]
pub struct EnvSettings {
    pub games: usize,
    pub seed: u64,
    pub threads: usize,
    pub autoreset: Autoreset,
    pub opponent: Option<String>,
    pub learner: Learner,
    pub opening_plies: u32,
    pub threats: bool,
}

/// An environment of a game whose type is not known.
pub trait AnyEnv: Send + Sync {
    /// Starts other games: all of them, or where `which` is set. With a seed, as a new environment with it.
    fn reset(&mut self, seed: Option<u64>, which: Option<&[bool]>) -> Result<(), String>;
    /// Takes one action per game for the next step, or says which is wrong and why.
    fn set_actions(&mut self, actions: &[i64]) -> Result<(), String>;
    /// Plays the actions and writes the results.
    fn step(&mut self, out: Out<'_>);
    /// Writes the results of the last step.
    fn write(&self, out: Out<'_>);
    /// A legal action per game, uniformly at random; -1 where the game is over.
    fn sample(&self, out: &mut [i64]);
    /// The slots whose games ended in the last step, and their last positions.
    fn ended(&self) -> Vec<(usize, Box<dyn AnyPosition>)>;
    /// The number of slots whose games ended in the last step.
    fn ended_count(&self) -> usize;
    /// Writes the slots whose games ended, and the features of their last positions in numbers that are 0.
    fn write_ended(&self, slots: &mut [i64], features: Features<'_>);
    fn position(&self, slot: usize) -> Box<dyn AnyPosition>;
    /// The learner's side in every game.
    fn sides(&self) -> Vec<i8>;
    fn steps(&self) -> u64;
    fn seed(&self) -> u64;
    fn save(&self) -> Vec<u8>;
    fn restore(&mut self, saved: &[u8]) -> Result<(), String>;
}

/// The environment of a game that is named by its trait object.
pub fn make(
    game: &Arc<dyn crate::game::AnyGame>,
    settings: EnvSettings,
) -> Result<Box<dyn AnyEnv>, String> {
    game.clone().env(settings)
}
