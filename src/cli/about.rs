//! `jarmo completions` and `jarmo man`: what a shell and the manual need to know about the program.

use clap::Command;

use super::Failure;
use jarmo_core::game::shorten;
use jarmo_host::options::{Shell, print_completions, print_manual};
use jarmo_host::program::{self, this_program};

/// Print a script that completes commands and options in a shell
#[derive(clap::Args)]
pub(super) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Print the manual page of the program or of a command
#[derive(clap::Args)]
pub(super) struct ManArgs {
    /// The command, such as `train` or `bench env`
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
}

pub(super) fn completions(command: Command, args: CompletionsArgs) -> Result<(), Failure> {
    Ok(print_completions(command, args.shell, program::name())?)
}

pub(super) fn man(mut command: Command, args: ManArgs) -> Result<(), Failure> {
    command.build();
    let page = args.command.iter().try_fold(&command, |command, name| {
        let found = command.find_subcommand(name);
        found.ok_or_else(|| unknown(command, name))
    })?;
    Ok(print_manual(page.clone(), this_program())?)
}

fn unknown(command: &Command, name: &str) -> Failure {
    let known: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
    let known = match known.len() {
        0 => "it has no subcommands".to_owned(),
        _ => format!("choose one of {}", known.join(", ")),
    };
    let whole = command.get_bin_name().unwrap_or(program::name());
    Failure::usage(format!("{whole} has no command `{}`; {known}", shorten(name)))
}
