//! The extension module of the Python package `jarmo`: the library on NumPy arrays, training, and the programs.
//!
//! Python classes are not generic, so each class holds a trait object that was made for its game. Rust code runs
//! with Python's lock released; only arrays and calls of the user's function need it.

mod agent;
mod arena;
mod array;
mod ask;
mod env;
mod exam;
mod game;
mod network;
mod number;
mod players;
mod position;
mod program;
mod refusal;
mod samples;
mod search;
mod tables;
mod threads;
mod train;
mod yardstick;

use pyo3::prelude::*;

/// See the package `jarmo`.
#[pymodule]
mod _jarmo {
    #[pymodule_export]
    use super::{
        agent::Agent,
        arena::arena,
        env::{VecEnv, bench_env},
        exam::exam,
        game::PyGame,
        network::save_agent,
        position::Position,
        program::run_program,
        samples::SelfPlay,
        search::search,
        tables::Tables,
        train::{Training, create_run, read_run},
        yardstick::{PyYardstick, decide, exam_questions, yardstick_report, yardstick_rows, yardstick_seal},
    };

    #[pymodule_init]
    fn init(module: &super::Bound<'_, super::PyModule>) -> super::PyResult<()> {
        use super::PyModuleMethods;
        jarmo::train::register_built_in();
        module.add("GAMES", jarmo_exact::catalog::GAMES)?;
        module.add("__version__", jarmo_host::program::VERSION)
    }
}
