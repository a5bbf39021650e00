//! The `jarmo` program for othello: `othello train`, `othello arena rollout:100 random`, `othello engine`, and so on.

use std::process::ExitCode;

use jarmo::Games;
use othello::Othello;

fn main() -> ExitCode {
    // With `Games::shipped()` it also has the games of jarmo.
    let games = Games::empty().register(Othello::default());
    jarmo::cli::main(&games.trained_with(include_str!("../othello.toml")))
}
