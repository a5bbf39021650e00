//! `jarmo proof`

use std::io::{Write, stdout};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Subcommand;

use super::{CommandResult, Failure, in_file, position_of};
use jarmo_core::env::Opening;
use jarmo_core::game::{Action, Game, Mask, Verdict};
use jarmo_core::games::{Jarmo, JarmoPosition};
use jarmo_core::numbers::NumberRange;
use jarmo_exact::proof::{MOST_SEARCH, Proof, check, make};
use jarmo_exact::tables::Tables;
use jarmo_exact::tables::index::Placement;

/// Proofs: who wins after decided openings of jarmo, checked by the rules alone
#[derive(Subcommand)]
pub(super) enum Command {
    /// Replay the strategies of a proof against every reply
    #[command(after_help = "\
It needs no tables and takes about three minutes. Both players keep to the rules of jarmo as they are: the
shuttle rule is followed on every path, and a player whom it leaves no move passes.")]
    Verify(FileArgs),
    /// Print the claims of a proof, or its move in a position
    Show(ShowArgs),
    /// Make a proof of all decided openings up to a length, from exact tables
    Make(MakeArgs),
}

#[derive(clap::Args)]
pub(super) struct FileArgs {
    /// The proof
    #[arg(value_name = "FILE", default_value = "checkpoints/jarmo.proof")]
    file: PathBuf,
}

#[derive(clap::Args)]
pub(super) struct ShowArgs {
    #[command(flatten)]
    file: FileArgs,
    /// The position
    #[arg(long, value_name = "TEXT")]
    position: Option<String>,
}

#[derive(clap::Args)]
pub(super) struct MakeArgs {
    /// The directory of tables, up to force 10
    #[arg(long, value_name = "DIR")]
    tables: PathBuf,
    /// The file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// The most plies of an opening
    #[arg(long, value_name = "PLIES", default_value_t = 2, value_parser = PLIES.parser::<u32>())]
    plies: u32,
    /// Prove the result of this position instead of openings; its history is left out
    #[arg(long, value_name = "TEXT", conflicts_with = "plies")]
    position: Option<String>,
    /// Leave wins of this many plies to the checker's search
    #[arg(long, value_name = "PLIES", default_value_t = 5, value_parser = SEARCH.parser::<u32>())]
    search: u32,
}

const PLIES: NumberRange<u64> = NumberRange::new(1, 4);
const SEARCH: NumberRange<u64> = NumberRange::new(1, MOST_SEARCH as u64);

pub(super) fn run(command: Command) -> CommandResult {
    match command {
        Command::Verify(args) => run_verify(&args),
        Command::Show(args) => run_show(&args),
        Command::Make(args) => run_make(&args),
    }
}

fn load(args: &FileArgs) -> Result<Proof, Failure> {
    Proof::load(&Jarmo::standard(), &args.file).map_err(Failure::new)
}

fn run_verify(args: &FileArgs) -> CommandResult {
    let proof = load(args)?;
    let begun = Instant::now();
    let mut out = stdout().lock();
    let mut written = Ok(());
    let result = check(&proof, |claim, checked| {
        let opening = claim.text(proof.game());
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
    result.map_err(|flaw| in_file(&args.file, format_args!("NOT PROVEN: {flaw}")))?;
    writeln!(
        out,
        "all {} claims are proven, in {:.0} s",
        proof.claims().len(),
        begun.elapsed().as_secs_f64()
    )?;
    Ok(ExitCode::SUCCESS)
}

fn run_show(args: &ShowArgs) -> CommandResult {
    let proof = load(&args.file)?;
    let mut out = stdout().lock();
    if args.position.is_some() {
        let position = position_of(proof.game(), args.position.as_deref())?;
        match proof.action(&position) {
            Some(action) => writeln!(out, "{}", proof.game().action_text(&position, action))?,
            None => writeln!(out, "no move is stored for this position")?,
        }
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(out, "made by {}", proof.made().escape_debug())?;
    writeln!(
        out,
        "{} moves; wins of {} plies are left to search",
        proof.moves(),
        proof.search()
    )?;
    for claim in proof.claims() {
        let opening = claim.text(proof.game());
        writeln!(
            out,
            "{opening}: {} wins within {} plies",
            claim.winner.name(),
            claim.plies
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

fn run_make(args: &MakeArgs) -> CommandResult {
    let game = Jarmo::standard();
    let tables = Tables::open(&game, &args.tables).map_err(Failure::new)?;
    let (openings, what) = match &args.position {
        Some(text) => {
            let position = position_of(&game, Some(text))?;
            let position = Placement::of(&position).position();
            (vec![Opening::at(position)], "one position".to_owned())
        }
        None => (
            decided(&game, &tables, args.plies)?,
            format!("all decided openings of 1 to {} plies", args.plies),
        ),
    };
    let made = format!(
        "jarmo {}; exact tables of force 2 to {}; {what}",
        env!("CARGO_PKG_VERSION"),
        tables.force(),
    );
    let proof = make(&game, &tables, &openings, args.search, made).map_err(Failure::new)?;
    proof.save(&args.out).map_err(Failure::new)?;
    eprintln!(
        "{}: {} claims, {} moves",
        args.out.display(),
        proof.claims().len(),
        proof.moves()
    );
    Ok(ExitCode::SUCCESS)
}

/// All openings up to a length that one side wins, in the order of their lengths and actions.
fn decided(
    game: &Jarmo,
    tables: &Tables,
    plies: u32,
) -> Result<Vec<Opening<JarmoPosition>>, Failure> {
    let mut found = Vec::new();
    let mut layer = vec![Opening::at(game.start())];
    for _ in 0..plies {
        let longer = |opening: &Opening<JarmoPosition>| {
            let legal: Vec<Action> = game.legal(&opening.position).iter().collect();
            let longer = legal.into_iter().map(|action| opening.then(game, action));
            longer.collect::<Vec<_>>()
        };
        layer = layer.iter().flat_map(longer).collect();
        for opening in &layer {
            let value = tables.proven(&opening.position).ok_or_else(|| {
                Failure::new(format!(
                    "openings have force {}, but the tables end at force {}",
                    opening.position.force(),
                    tables.force()
                ))
            })?;
            if value.verdict != Verdict::Draw {
                found.push(opening.clone());
            }
        }
    }
    Ok(found)
}
