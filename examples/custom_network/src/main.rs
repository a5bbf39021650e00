//! The `jarmo` program with a custom network: `custom_network train --minutes 2 --run run`, `custom_network arena`, and so
//! on.

use std::process::ExitCode;

fn main() -> ExitCode {
    jarmo::cli::main(&custom_network::games())
}
