//! The extension module of the Python package `jarmo`: the library on NumPy arrays.
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
mod refusal;
mod samples;
mod search;
mod tables;
mod threads;
mod yardstick;

use pyo3::prelude::*;

/// See the package `jarmo`.
#[pymodule]
mod _jarmo {
    #[pymodule_export]
    use super::agent::Agent;
    #[pymodule_export]
    use super::arena::arena;
    #[pymodule_export]
    use super::env::{VecEnv, bench_env};
    #[pymodule_export]
    use super::exam::exam;
    #[pymodule_export]
    use super::game::PyGame;
    #[pymodule_export]
    use super::network::save_agent;
    #[pymodule_export]
    use super::position::Position;
    #[pymodule_export]
    use super::samples::SelfPlay;
    #[pymodule_export]
    use super::search::search;
    #[pymodule_export]
    use super::tables::Tables;
    #[pymodule_export]
    use super::yardstick::{PyYardstick, exam_questions, yardstick_report, yardstick_verify};

    #[pymodule_init]
    fn init(module: &super::Bound<'_, super::PyModule>) -> super::PyResult<()> {
        use super::PyModuleMethods;
        module.add("GAMES", jarmo_exact::catalog::GAMES)?;
        module.add("__version__", jarmo_host::program::VERSION)
    }
}
