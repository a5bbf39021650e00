//! The `jarmo` program; everything it does is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    jarmo::cli::main()
}
