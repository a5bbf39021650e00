//! `jarmo proof`

use std::io::{Write, stdout};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use clap::Subcommand;

use super::{Failure, in_file};
use jarmo_core::game::Game;
use jarmo_core::games::Jarmo;
use jarmo_exact::proof::{self, Proof, check};

/// Proofs: who wins after decided openings of jarmo, checked using only the rules
#[derive(Subcommand)]
pub(super) enum Command {
    /// Replay the strategies of a proof against every reply
    #[command(after_help = "\
It needs no tables and takes about three minutes. Both players obey the full rules of jarmo: the shuttle
rule applies on every path, and a player whom it leaves without a move passes.")]
    Verify(FileArgs),
    /// Print the claims of a proof, or its move in a position
    Show(ShowArgs),
}

#[derive(clap::Args)]
pub(super) struct FileArgs {
    /// The proof file [default: the one that is part of the program]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
}

#[derive(clap::Args)]
pub(super) struct ShowArgs {
    #[command(flatten)]
    file: FileArgs,
    /// The position
    #[arg(long, value_name = "TEXT")]
    position: Option<String>,
}

pub(super) fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Verify(args) => run_verify(&args),
        Command::Show(args) => run_show(&args),
    }
}

fn load(args: &FileArgs) -> Result<Arc<Proof>, Failure> {
    match &args.file {
        Some(file) => Ok(Arc::new(Proof::load(&Jarmo::standard(), file)?)),
        None => Ok(proof::shipped()),
    }
}

fn run_verify(args: &FileArgs) -> Result<(), Failure> {
    let proof = load(args)?;
    let begun = Instant::now();
    let mut out = stdout().lock();
    let mut written = Ok(());
    let result = check(&proof, |claim, checked| {
        let opening = claim.text(&proof.game);
        let winner = claim.winner.name();
        let line = writeln!(
            out,
            "{opening}: {winner} wins, within {} plies ({} positions so far)",
            checked.plies, checked.positions
        );
        if written.is_ok() {
            written = line.and_then(|()| out.flush());
        }
    });
    written?;
    result.map_err(|flaw| {
        let flaw = format!("NOT PROVEN: {flaw}");
        match &args.file {
            Some(file) => in_file(file, flaw),
            None => Failure::new(flaw),
        }
    })?;
    Ok(writeln!(out, "all {} claims are proven, in {:.0} s", proof.claims.len(), begun.elapsed().as_secs_f64())?)
}

fn run_show(args: &ShowArgs) -> Result<(), Failure> {
    let proof = load(&args.file)?;
    let mut out = stdout().lock();
    if let Some(text) = &args.position {
        let position = match text.as_str() {
            "start" => proof.game.start(),
            text => proof.game.parse_position(text).map_err(|error| Failure::usage(format!("--position: {error}")))?,
        };
        match proof.action(&position) {
            Some(action) => writeln!(out, "{}", proof.game.action_text(&position, action))?,
            None => writeln!(out, "no move is stored for this position")?,
        }
        return Ok(());
    }
    writeln!(out, "made by {}", proof.made.escape_debug())?;
    writeln!(out, "{} moves; wins of at most {} plies are found by search", proof.moves(), proof.search)?;
    for claim in &proof.claims {
        let opening = claim.text(&proof.game);
        writeln!(out, "{opening}: {} wins within {} plies", claim.winner.name(), claim.plies)?;
    }
    Ok(())
}
