//! The `play` program; everything it does is in the library.

use std::process::ExitCode;

use jarmo_exact::catalog::Shipped;

fn main() -> ExitCode {
    play::main(Shipped)
}
