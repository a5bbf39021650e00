//! The `jarmo` program: the command line over the library.

use std::process::ExitCode;

use jarmo::catalog::Shipped;

fn main() -> ExitCode {
    jarmo::cli::main(&Shipped)
}
