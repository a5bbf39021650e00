//! The program `lab`.

use std::process::ExitCode;

fn main() -> ExitCode {
    lab::cli::main()
}
