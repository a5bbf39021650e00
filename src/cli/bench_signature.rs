//! `jarmo bench signature`

use std::io::{self, Write};
use std::process::ExitCode;

use super::CommandResult;
use jarmo_core::search::{Signature, signature};
use jarmo_exact::catalog::{Catalog, CatalogGame, GameSettings, GameTask};

/// A checksum of search trees for fixed positions of every game, with a uniform evaluator; it is the
/// same on every machine
#[derive(clap::Args)]
pub(super) struct Args {
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

pub(super) fn run<C: Catalog>(games: &C, args: Args) -> CommandResult {
    let mut out = io::stdout().lock();
    for name in games.names() {
        let signature = games.with_game(name, &GameSettings::default(), SignatureTask)?;
        if args.json {
            serde_json::to_writer(&mut out, &signature).map_err(io::Error::from)?;
            writeln!(out)?;
        } else {
            writeln!(out, "{signature}")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

struct SignatureTask;

impl GameTask for SignatureTask {
    type Output = Signature;

    fn run<G: CatalogGame>(self, game: G) -> Signature {
        signature(&game)
    }
}
