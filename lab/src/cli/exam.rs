//! `lab exam`

use std::path::PathBuf;

use clap::ValueEnum;

use super::{BoardArgs, CommandResult, agents, thread_pool};
use crate::exam::{Draw, HasExam, Mix, Source, random_of_tables, solve_by_tables};
use jarmo_core::games::Tammi;
use jarmo_core::games::tammi::{DEFAULT_MAX_PLIES, DEFAULT_QUIET_LIMIT};
use jarmo_core::numbers::{NumberRange, QUIET_LIMIT, SEED, THREADS};
use jarmo_exact::agent::AgentSpec;
use jarmo_exact::catalog::CatalogGame;
use jarmo_exact::tables::{Solvable, Tables};

/// Draw an exam: positions that exact tables solve
#[derive(clap::Args)]
#[command(after_help = "\
Each source gives the same number of positions, and of each half are critical: some action loses the best result. \
Positions after random openings are left out if the tables do not reach the start of the game. No position occurs \
twice. `jarmo accuracy --exam FILE` examines agents.")]
pub(super) struct Args {
    /// The game
    #[arg(long, value_enum, default_value = "jarmo")]
    game: SolvedGame,
    #[command(flatten)]
    board: BoardArgs,
    /// Plies without a capture after which tammi is drawn [default: 30]
    #[arg(long, value_name = "PLIES", value_parser = QUIET_LIMIT.parser::<u32>())]
    quiet_limit: Option<u32>,
    /// The folder of tables
    #[arg(long, value_name = "FOLDER")]
    tables: PathBuf,
    /// The file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// The agent that plays against itself
    #[arg(long, value_name = "AGENT", default_value = "alphabeta:20000")]
    agent: AgentSpec,
    /// Number of positions
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = POSITIONS.parser::<usize>())]
    positions: usize,
    /// Sources of positions: random bare positions of all forces, games of the agent against itself, openings of 1 to 12
    /// random plies
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "random,selfplay,openings"
    )]
    from: Vec<SourceName>,
    /// Take positions as they are drawn, however few are critical
    #[arg(long)]
    as_drawn: bool,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = SEED.parser::<u64>())]
    seed: u64,
    /// Threads [default: one per core]
    #[arg(long, value_name = "T", value_parser = THREADS.parser::<usize>())]
    threads: Option<usize>,
}

/// Positions of an exam: at least one critical and one other of each source.
const POSITIONS: NumberRange<u64> = NumberRange::new(6, 1_000_000);

/// The games with exact tables.
#[derive(Clone, Copy, ValueEnum)]
enum SolvedGame {
    Jarmo,
    Tammi,
}

#[derive(Clone, Copy, ValueEnum)]
enum SourceName {
    Random,
    Selfplay,
    Openings,
}

pub(super) fn run(args: &Args) -> CommandResult {
    match args.game {
        SolvedGame::Jarmo if args.quiet_limit.is_some() => Err("jarmo has no quiet limit".into()),
        SolvedGame::Jarmo => make(args, &args.board.jarmo()?),
        SolvedGame::Tammi if args.board.board.is_some() => Err("tammi has no board file".into()),
        SolvedGame::Tammi => {
            let quiet = args.quiet_limit.unwrap_or(DEFAULT_QUIET_LIMIT);
            make(args, &Tammi::new(quiet, DEFAULT_MAX_PLIES))
        }
    }
}

fn make<G: CatalogGame + Solvable + HasExam>(args: &Args, game: &G) -> CommandResult {
    let pool = thread_pool(args.threads)?;
    let mut agents = agents(game, &args.agent, pool.current_num_threads())?;
    let tables = Tables::open(game, &args.tables)?;
    let mix = match args.as_drawn {
        true => Mix::AsDrawn,
        false => Mix::HalfCritical,
    };
    let sources: Vec<Source> = args.from.iter().map(|&name| name.into()).collect();
    let exam = pool.install(|| {
        let mut solve = |positions: &[G::Position]| solve_by_tables(game, &tables, positions);
        let draw = Draw::new(game, &mut solve, mix, args.seed);
        let solver = format!("exact tables of force 2 to {}", tables.force());
        let random = |stream: &mut _| random_of_tables(&tables, stream);
        let name = "random bare positions of all these forces";
        draw.exam(args.positions, &sources, random, name, &mut agents, &solver)
    });
    if exam.is_empty() {
        return Err("no position was found; take tables of higher forces".into());
    }
    exam.save(&args.out)?;
    eprintln!(
        "{} questions of {}, made by {}",
        exam.len(),
        game.id(),
        exam.made()
    );
    Ok(())
}

impl From<SourceName> for Source {
    fn from(name: SourceName) -> Source {
        match name {
            SourceName::Random => Source::Random,
            SourceName::Selfplay => Source::SelfPlay,
            SourceName::Openings => Source::Openings,
        }
    }
}
