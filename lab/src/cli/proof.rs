//! `lab proof`

use std::path::PathBuf;

use super::{CommandResult, output};
use crate::proof::make;
use jarmo_core::env::Line;
use jarmo_core::game::{Game, Verdict};
use jarmo_core::games::{Jarmo, JarmoPosition};
use jarmo_core::numbers::NumberRange;
use jarmo_exact::proof::MOST_SEARCH;
use jarmo_exact::tables::Tables;
use jarmo_exact::tables::index::Placement;

/// Prove who wins after all decided openings of jarmo up to a length, with exact tables
#[derive(clap::Args)]
pub(super) struct Args {
    /// The folder of tables, up to force 10
    #[arg(long, value_name = "FOLDER")]
    tables: PathBuf,
    /// The file to write
    #[arg(long, value_name = "FILE", value_parser = output)]
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

pub(super) fn run(args: &Args) -> CommandResult {
    let game = Jarmo::standard();
    let tables = Tables::open(&game, &args.tables)?;
    let (openings, what) = match &args.position {
        Some(text) => {
            let position = game.parse_position(text).map_err(|error| format!("--position: {error}"))?;
            let position = Placement::of(&position).position();
            (vec![Line::at(position)], "one position".to_owned())
        }
        None => (decided(&game, &tables, args.plies)?, format!("all decided openings of 1 to {} plies", args.plies)),
    };
    let made = format!("jarmo {}; exact tables of force 2 to {}; {what}", env!("CARGO_PKG_VERSION"), tables.force(),);
    let proof = make(&game, &tables, &openings, args.search, made)?;
    proof.save(&args.out)?;
    eprintln!("{}: {} claims, {} moves", args.out.display(), proof.claims.len(), proof.moves.len());
    Ok(())
}

/// All openings up to a length that one side wins, in the order of their lengths and actions.
fn decided(game: &Jarmo, tables: &Tables, plies: u32) -> Result<Vec<Line<JarmoPosition>>, String> {
    let mut found = Vec::new();
    let mut layer = vec![Line::at(game.start())];
    for _ in 0..plies {
        layer = layer.iter().flat_map(|one| one.longer(game, 1)).collect();
        for opening in &layer {
            let value = tables.proven(&opening.position).ok_or_else(|| {
                format!(
                    "openings have force {}, but the tables end at force {}",
                    opening.position.force(),
                    tables.force()
                )
            })?;
            if value.verdict != Verdict::Draw {
                found.push(opening.clone());
            }
        }
    }
    Ok(found)
}
