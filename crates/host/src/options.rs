//! What the command lines of all programs have in common: numbers, help and short errors, completions for a shell, the
//! manual page.

use std::io::{self, Write, stderr, stdout};

use clap::Command;
use clap::error::{ContextKind, ContextValue};
pub use clap_complete::Shell;
use clap_mangen::Man;

use jarmo_core::game::shorten;

/// The error with a short form of what was given.
pub fn shortened(mut error: clap::Error) -> clap::Error {
    use ContextKind::{InvalidArg, InvalidSubcommand, InvalidValue};
    for kind in [InvalidArg, InvalidSubcommand, InvalidValue] {
        if let Some(ContextValue::String(text)) = error.get(kind) {
            let short = ContextValue::String(shorten(text));
            error.insert(kind, short);
        }
    }
    error.remove(ContextKind::Suggested); // it repeats the argument
    error
}

/// The command and all below it, where a negative number is a wrong value of an option and not an unknown option.
pub fn with_negative_numbers(command: Command) -> Command {
    let command = command.mut_args(|arg| {
        let has_value = arg.get_long().is_some() && arg.get_action().takes_values();
        arg.allow_negative_numbers(has_value)
    });
    command.mut_subcommands(with_negative_numbers)
}

/// Prints an error, or the help that was asked for, and returns the exit status. It is 1 for help that could not be
/// printed; a closed pipe is no error.
pub fn print_error(error: &clap::Error) -> u8 {
    match error.print() {
        Err(failed) if error.exit_code() == 0 && failed.kind() != io::ErrorKind::BrokenPipe => {
            let _ = writeln!(stderr(), "error: standard output: {failed}");
            1
        }
        _ => error.exit_code() as u8,
    }
}

/// Prints a script that completes the options of a program with this name in a shell.
pub fn print_completions(mut command: Command, shell: Shell, program: &str) -> io::Result<()> {
    let mut script = Vec::new(); // because a closed pipe is no error
    clap_complete::generate(shell, &mut command, program, &mut script);
    stdout().write_all(&script)
}

/// Prints the manual page of a command. `program` is a name and a version in one line.
pub fn print_manual(command: Command, program: String) -> io::Result<()> {
    let mut page = Vec::new(); // because a closed pipe is no error
    Man::new(command).source(program).render(&mut page)?;
    stdout().write_all(&page)
}
