//! The `jarmo` program for a network of one's own: `own_network train --minutes 2 --run run`, `own_network arena`, and
//! so on.

use std::process::ExitCode;

fn main() -> ExitCode {
    jarmo::cli::main(&own_network::games())
}
