//! The `jarmo` program for othello: `othello train`, `othello arena rollout:100 random`, `othello engine`, and so on.

use std::process::ExitCode;

use jarmo::catalog::{Catalog, Empty}; // with `Shipped` instead of `Empty`, it also has the games of jarmo
use othello::Othello;

fn main() -> ExitCode {
    let games = Empty.register(Othello::default());
    jarmo::cli::main(&games.trained_with(include_str!("../othello.toml")))
}
