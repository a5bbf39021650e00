//! `lab round`: agents that take less room.

use std::path::PathBuf;

use jarmo_core::numbers::NumberRange;
use jarmo_host::agent_file;

use super::{CommandResult, output};

const STEPS: NumberRange<u64> = NumberRange::new(1, 1000);

/// Round the weights of an agent, so that its file takes less room
#[derive(clap::Args)]
pub(super) struct Args {
    /// The agent file
    #[arg(value_name = "FILE")]
    agent: PathBuf,
    /// Round each matrix to multiples of at most its root mean square divided by N
    #[arg(long, value_name = "N", value_parser = STEPS.parser::<u16>())]
    steps: u16,
    /// The agent file to write
    #[arg(long, value_name = "FILE", value_parser = output)]
    out: PathBuf,
}

pub(super) fn run(args: &Args) -> CommandResult {
    let rounded = agent_file::load(&args.agent)?.rounded(args.steps);
    agent_file::save(&rounded, &args.out)?;
    Ok(())
}
