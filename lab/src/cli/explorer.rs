//! `lab explorer`

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::{CommandResult, output, thread_pool};
use crate::exam::BitBully;
use crate::explorer::{Explorer, Keyed, count, plies, winners};
use jarmo_core::game::Game;
use jarmo_core::games::ConnectFour;
use jarmo_core::numbers::{NumberRange, THREADS};
use jarmo_core::record::GameRecord;
use jarmo_exact::proof::shipped;
use jarmo_host::files::{read_text, write_whole};
use jarmo_host::program::this_program;

/// Make the file of the opening explorer from records of games and exact results
#[derive(clap::Args)]
#[command(after_help = "\
With --python, the games are of connect four, and a solver gives the results of all positions of the first plies. \
Without it they are of jarmo, and the shipped proof gives the results.")]
pub(super) struct Args {
    /// Files of game records, as `jarmo arena --games-out` writes them
    #[arg(value_name = "GAMES", required = true)]
    games: Vec<PathBuf>,
    /// The file to write
    #[arg(long, value_name = "FILE", value_parser = output)]
    out: PathBuf,
    /// The Python that has the solver, the packages bitbully and bitbully-databases (connect four)
    #[arg(long, value_name = "PROGRAM")]
    python: Option<PathBuf>,
    /// The last ply with exact results [default: connect four 8, jarmo 5]
    #[arg(long, value_name = "PLY", value_parser = PLIES.parser::<u32>())]
    plies: Option<u32>,
    /// Leave out positions in which fewer games made a move
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = LEAST.parser::<u32>())]
    least: u32,
    /// Threads of the solver [default: one per core]
    #[arg(long, value_name = "T", value_parser = THREADS.parser::<usize>())]
    threads: Option<usize>,
}

const PLIES: NumberRange<u64> = NumberRange::new(1, 12);
const LEAST: NumberRange<u64> = NumberRange::new(1, 1_000_000);

/// The largest file of records.
const MOST_BYTES: u64 = 1 << 30;

pub(super) fn run(args: &Args) -> CommandResult {
    let mut records = Vec::new();
    for path in &args.games {
        for line in read_text(path, MOST_BYTES)?.lines() {
            records.push(GameRecord::parse(line).map_err(|error| format!("{}: {error}", path.display()))?);
        }
    }
    let explorer = match &args.python {
        None => {
            let proof = shipped();
            let winners = winners(&proof, args.plies.unwrap_or(5));
            Explorer { board: proof.game.board_text(), winners, ..begun(&proof.game, &records, args)? }
        }
        Some(python) => {
            let game = ConnectFour::new(0);
            let pool = thread_pool(args.threads)?;
            let solver = BitBully::start(python, pool.current_num_threads())?;
            let mut solve = |positions: &[_]| pool.install(|| solver.solve(&game, positions));
            let plies = plies(&game, args.plies.unwrap_or(8), &mut solve)?;
            let begun = begun(&game, &records, args)?;
            Explorer { plies, made: format!("{}; {}", begun.made, solver.name()), ..begun }
        }
    };
    let bytes = explorer.to_bytes()?;
    write_whole(&args.out, &bytes)?;
    let (positions, moves) = (explorer.played.len(), explorer.winners.len() + explorer.plies.concat().len());
    println!("{} bytes; {positions} positions of {} games, {moves} exact results", bytes.len(), explorer.games);
    Ok(())
}

/// A file without exact results.
fn begun<G: Keyed>(game: &G, records: &[GameRecord], args: &Args) -> Result<Explorer, Box<dyn std::error::Error>> {
    Ok(Explorer {
        format: 1,
        game: game.id().to_owned(),
        board: String::new(),
        made: this_program(),
        games: records.len(),
        winners: BTreeMap::new(),
        plies: Vec::new(),
        played: count(game, records, args.least)?,
    })
}
