//! `lab balance`

use std::fs;
use std::io::{Write, stderr};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::{BoardArgs, CommandResult, output};
use crate::balance::white_scores;
use jarmo_core::game::{Game, Verdict};
use jarmo_core::numbers::{NumberRange, RANDOM_PLIES, SEED, THREADS};
use jarmo_exact::agent::{AgentSpec, build_all};
use jarmo_exact::tables::Tables;
use jarmo_host::program::cores;
use jarmo_judge::arena::{BOARD, Openings};

/// Drawn openings that are tried for one that is kept.
const TRIED: usize = 6;

const OPENINGS: NumberRange<u64> = NumberRange::new(1, 10_000);
const GAMES: NumberRange<u64> = NumberRange::new(1, 10_000);
const UNEVENNESS: NumberRange<f64> = NumberRange::new(0.0, 0.5);

/// Choose openings that are drawn and equally hard for both sides
#[derive(clap::Args)]
pub(super) struct Args {
    /// The folder of tables
    #[arg(value_name = "FOLDER", default_value = "tables")]
    tables: PathBuf,
    #[command(flatten)]
    board: BoardArgs,
    /// The file to write
    #[arg(long, value_name = "FILE", value_parser = output)]
    out: PathBuf,
    /// The agent that plays both sides; it must make mistakes
    #[arg(long, value_name = "AGENT")]
    agent: AgentSpec,
    /// Plies of an opening
    #[arg(long, value_name = "PLIES", default_value_t = 4)]
    #[arg(value_parser = RANDOM_PLIES.parser::<u32>())]
    plies: u32,
    /// The most openings to keep, the most balanced ones
    #[arg(long, value_name = "N", default_value_t = 500)]
    #[arg(value_parser = OPENINGS.parser::<usize>())]
    openings: usize,
    /// Games of the agent from each opening
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = GAMES.parser::<u32>())]
    games: u32,
    /// Openings are kept only if White's share of the points differs from one half by this at most
    #[arg(long, value_name = "SHARE", default_value_t = 0.1, value_parser = UNEVENNESS.parser::<f64>())]
    unevenness: f64,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = SEED.parser::<u64>())]
    seed: u64,
    /// Threads [default: one per core]
    #[arg(long, value_name = "T", value_parser = THREADS.parser::<usize>())]
    threads: Option<usize>,
}

pub(super) fn run(args: &Args) -> CommandResult {
    let game = args.board.jarmo()?;
    let agents = build_all(&game, &args.agent, args.threads.unwrap_or_else(cores))?;
    let tables = Tables::open(&game, &args.tables)?;
    let most = TRIED * args.openings;
    let all = Openings::random(&game, args.plies, most, args.seed)?;
    let is_drawn = |position| match tables.proven(position) {
        Some(proven) => Ok(proven.verdict == Verdict::Draw),
        None => Err(format!(
            "the tables in {} end at force {}, and openings have {}",
            args.tables.display(),
            tables.force(),
            position.force()
        )),
    };
    let mut drawn = Vec::new();
    let tried = all.distinct.min(most);
    for opening in &all.list()[..tried] {
        if is_drawn(&opening.position)? {
            drawn.push(opening.clone());
        }
    }
    eprintln!("{} of {tried} openings of {} random plies are drawn", drawn.len(), args.plies);

    let planned = drawn.len() * args.games as usize;
    let mut shown = Instant::now();
    let tell = |done| {
        if shown.elapsed() >= Duration::from_secs(10) {
            shown = Instant::now();
            // A closed standard error is no reason to stop.
            let _ = writeln!(stderr(), "{done} of {planned} games");
        }
    };
    let scores = white_scores(&game, agents, &drawn, args.games, args.seed, tell);
    let unevenness = |score: f64| (score - 0.5).abs();
    let mut kept: Vec<_> = drawn.into_iter().zip(scores).collect();
    kept.retain(|(_, score)| unevenness(*score) <= args.unevenness);
    let even = kept.len();
    kept.sort_by(|(_, one), (_, other)| unevenness(*one).total_cmp(&unevenness(*other)));
    kept.truncate(args.openings);
    if kept.is_empty() {
        let problem = "no opening is drawn and balanced; raise --unevenness, or take an agent that makes mistakes";
        return Err(problem.into());
    }
    let widest = kept.last().map_or(0.0, |(_, score)| unevenness(*score));
    let kept: Vec<_> = kept.into_iter().map(|(opening, _)| opening).collect();
    let comments = [
        "Balanced openings of jarmo, one per line.".to_owned(),
        format!("Drawn under best play (exact tables), after {} random plies, seed {}.", args.plies, args.seed),
        format!(
            "In {} games from each, {} against itself scored {:.0} to {:.0} % with White.",
            args.games,
            args.agent,
            100.0 * (0.5 - widest),
            100.0 * (0.5 + widest)
        ),
    ];
    let comments = comments.iter().map(|comment| format!("# {comment}"));
    let board = format!("{BOARD}{}", game.board_text());
    let openings = kept.iter().map(|opening| opening.move_texts(&game).join(" "));
    let lines: Vec<String> = comments.chain([board]).chain(openings).collect();
    let text = lines.join("\n") + "\n";
    fs::write(&args.out, text).map_err(|error| format!("{}: {error}", args.out.display()))?;
    eprintln!("{even} of them are balanced; {}: {} openings", args.out.display(), kept.len());
    Ok(())
}
