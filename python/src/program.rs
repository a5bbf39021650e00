//! The command `jarmo`: the program, with `play` as one of its commands.

use std::ffi::OsString;
use std::io::{Write, stdout};

use clap::Command;
use jarmo::Games;
use jarmo::cli::{Inner, run};
use pyo3::prelude::*;

const PLAY: Inner = Inner { name: "play", command: play_command, run: play::run };

/// The options of `play`, without those that `jarmo completions` and `jarmo man play` have under the right name.
fn play_command(games: &Games) -> Command {
    let command = play::options::command(games);
    ["completions", "man"].iter().fold(command, |command, name| command.mut_arg(name, |arg| arg.hide(true)))
}

/// Runs the program with these arguments, of which the first is what was typed to start it; returns the exit status.
/// `jarmo.__main__` calls it.
#[pyfunction]
pub(crate) fn run_program(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| {
        let status = run(&Games::shipped(), arguments, Some(PLAY));
        let _ = stdout().flush(); // Python would not do it at its end, and the status says enough where nobody reads
        status
    })
}
