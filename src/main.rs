//! The `jarmo` program: the command line over the library.

use std::process::ExitCode;

use jarmo::Games;

fn main() -> ExitCode {
    jarmo::cli::main(&Games::shipped())
}
