//! The `play` program; everything it does is in the library.

use std::io::{self, Write};
use std::process::ExitCode;

use play::options::Options;

fn main() -> ExitCode {
    match Options::read().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // If the message cannot be written, the exit status still reports the failure.
            let _ = writeln!(io::stderr(), "error: {}", failure.message);
            ExitCode::from(failure.status)
        }
    }
}
