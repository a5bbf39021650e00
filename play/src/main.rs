//! The `play` program; everything it does is in the library.

use std::io::{self, Write};
use std::process::ExitCode;

use play::options::Options;

fn main() -> ExitCode {
    match Options::read().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // Where even this cannot be written, the exit status says it.
            let _ = writeln!(io::stderr(), "error: {}", failure.message);
            ExitCode::from(failure.status)
        }
    }
}
