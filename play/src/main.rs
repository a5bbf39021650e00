//! The `play` program; everything it does is in the library.

use std::process::ExitCode;

use play::Games;

fn main() -> ExitCode {
    play::main(Games::shipped())
}
