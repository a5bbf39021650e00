//! `jarmo completions` and `jarmo man`: what a shell and the manual need to know about the program.

use std::io::{Write, stdout};

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;

use super::Failure;
use jarmo_core::game::shorten;
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

pub(super) fn completions(mut command: Command, args: CompletionsArgs) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, program::name(), &mut script);
    Ok(stdout().write_all(&script)?)
}

pub(super) fn man(mut command: Command, args: ManArgs) -> Result<(), Failure> {
    command.build();
    let page = args.command.iter().try_fold(&command, |command, name| {
        let found = command.find_subcommand(name);
        found.ok_or_else(|| unknown(command, name))
    })?;
    // The version of the command line has several lines; the foot of a page has room for one.
    let man = Man::new(page.clone()).source(this_program());
    let mut text = Vec::new(); // because a closed pipe is no error
    man.render(&mut text)?;
    Ok(stdout().write_all(&text)?)
}

fn unknown(command: &Command, name: &str) -> Failure {
    let known: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
    let known = match known.len() {
        0 => "it has none".to_owned(),
        _ => format!("choose one of {}", known.join(", ")),
    };
    let whole = command.get_bin_name().unwrap_or(program::name());
    Failure::usage(format!("{whole} has no command `{}`; {known}", shorten(name)))
}
