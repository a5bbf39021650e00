//! `lab exam`

use std::io;
use std::path::PathBuf;

use clap::ValueEnum;

use super::{BoardArgs, CommandResult, output, thread_pool};
use crate::exam::{BitBully, Draw, HasExam, Mix, Source, random_of_tables, solve_by_tables};
use jarmo_core::env::Line;
use jarmo_core::game::Game;
use jarmo_core::games::tammi::{DEFAULT_MAX_PLIES, DEFAULT_QUIET_LIMIT};
use jarmo_core::games::{ConnectFour, ConnectFourPosition, Tammi};
use jarmo_core::numbers::{NumberRange, QUIET_LIMIT, SEED, THREADS};
use jarmo_core::random::{Stream, below};
use jarmo_exact::agent::{AgentSpec, build_all};
use jarmo_exact::catalog::CatalogGame;
use jarmo_exact::tables::{Solvable, Tables};
use jarmo_judge::accuracy::Exam;
use rand::Rng;

/// Draw an exam: positions that exact tables solve, or a solver of connect four
#[derive(clap::Args)]
#[command(after_help = "\
Each source gives the same number of positions, and of each half are critical: some action loses the best result. \
Positions after random openings are left out if the tables do not reach the start of the game. No position occurs \
twice. `jarmo accuracy --exam FILE` examines agents.

Connect four has the same number of positions of each ply from 0 to 34, from random games and games of the agent; of \
the first plies it has all there are.")]
pub(super) struct Args {
    /// The game
    #[arg(long, value_enum, default_value = "jarmo")]
    game: SolvedGame,
    #[command(flatten)]
    board: BoardArgs,
    /// Plies without a capture after which tammi is drawn [default: 30]
    #[arg(long, value_name = "PLIES", value_parser = QUIET_LIMIT.parser::<u32>())]
    quiet_limit: Option<u32>,
    /// The folder of tables (jarmo, tammi)
    #[arg(long, value_name = "FOLDER", required_unless_present = "python", conflicts_with = "python")]
    tables: Option<PathBuf>,
    /// The Python that has the solver, the packages bitbully and bitbully-databases (connect four)
    #[arg(long, value_name = "PROGRAM")]
    python: Option<PathBuf>,
    /// The file to write
    #[arg(long, value_name = "FILE", value_parser = output)]
    out: PathBuf,
    /// The agent that plays against itself
    #[arg(long, value_name = "AGENT", default_value = "alphabeta:20000")]
    agent: AgentSpec,
    /// Number of positions
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = POSITIONS.parser::<usize>())]
    positions: usize,
    /// Sources of positions: random bare positions of all forces (connect four: random games), games of the agent
    /// against itself, openings of 1 to 12 random plies [default: random,selfplay,openings; connect four: random,selfplay]
    #[arg(long, value_enum, value_delimiter = ',')]
    from: Vec<SourceName>,
    /// Take positions as they are drawn, however few are critical
    #[arg(long)]
    as_drawn: bool,
    /// Plies without positions (connect four): 12,13,14 take the solver 20 to 70 ms a position, others 1 on average
    #[arg(
        long,
        value_name = "PLY,PLY…",
        value_delimiter = ',',
        value_parser = PLY.parser::<u32>(),
        requires = "as_drawn",
        conflicts_with = "tables"
    )]
    leave_out: Vec<u32>,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = SEED.parser::<u64>())]
    seed: u64,
    /// Threads [default: one per core]
    #[arg(long, value_name = "T", value_parser = THREADS.parser::<usize>())]
    threads: Option<usize>,
}

/// Positions of an exam: at least one critical and one other of each source.
const POSITIONS: NumberRange<u64> = NumberRange::new(6, 1_000_000);

/// Plies of connect four in which the game is not over.
const PLY: NumberRange<u64> = NumberRange::new(0, 41);

/// The last ply of the questions about connect four.
const LAST_PLY: u32 = 34;

/// The games that are solved.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum SolvedGame {
    Jarmo,
    Tammi,
    #[value(name = "connect_four")]
    ConnectFour,
}

#[derive(Clone, Copy, ValueEnum)]
enum SourceName {
    Random,
    Selfplay,
    Openings,
}

pub(super) fn run(args: &Args) -> CommandResult {
    if args.game != SolvedGame::Jarmo && args.board.board.is_some() {
        return Err("only jarmo has a board file".into());
    }
    if args.game != SolvedGame::Tammi && args.quiet_limit.is_some() {
        return Err("only tammi has a quiet limit".into());
    }
    match args.game {
        SolvedGame::Jarmo => by_tables(args, &args.board.jarmo()?),
        SolvedGame::Tammi => {
            let quiet = args.quiet_limit.unwrap_or(DEFAULT_QUIET_LIMIT);
            by_tables(args, &Tammi::new(quiet, DEFAULT_MAX_PLIES))
        }
        SolvedGame::ConnectFour => by_solver(args, &ConnectFour::new(0)),
    }
}

fn by_tables<G: CatalogGame + Solvable + HasExam>(args: &Args, game: &G) -> CommandResult {
    let folder = args.tables.as_ref();
    let folder = folder.ok_or("--python is for connect_four; give --tables")?;
    let pool = thread_pool(args.threads)?;
    let agent_name = args.agent.to_string();
    let mut agents = build_all(game, &args.agent, pool.current_num_threads())?;
    let tables = Tables::open(game, folder)?;
    let mix = match args.as_drawn {
        true => Mix::AsDrawn,
        false => Mix::HalfCritical,
    };
    let sources = args.sources(&Source::ALL);
    let exam = pool.install(|| {
        let mut solve = |positions: &[G::Position]| solve_by_tables(game, &tables, positions);
        let draw = Draw::new(game, &mut solve, mix, args.seed);
        let solver = format!("exact tables of force 2 to {}", tables.force());
        let random = |stream: &mut _| random_of_tables(&tables, stream);
        let name = "random bare positions of all these forces";
        draw.exam(args.positions, &sources, random, name, (&agent_name, &mut agents), &solver)
    });
    if exam.is_empty() {
        return Err("no position was found; use tables of higher forces".into());
    }
    save(args, game, &exam)
}

fn by_solver(args: &Args, game: &ConnectFour) -> CommandResult {
    let python = args.python.as_ref();
    let python = python.ok_or("connect_four has no tables; give --python")?;
    let pool = thread_pool(args.threads)?;
    let agent_name = args.agent.to_string();
    let mut agents = build_all(game, &args.agent, pool.current_num_threads())?;
    let solver = BitBully::start(python, pool.current_num_threads())
        .map_err(|error| format!("{}: {error}", python.display()))?;
    let mix = match args.as_drawn {
        true => Mix::AsDrawn,
        false => Mix::EachPly(LAST_PLY),
    };
    let sources = args.sources(&[Source::Random, Source::SelfPlay]);
    let mut failed: Option<io::Error> = None;
    let exam = pool.install(|| {
        let mut solve = |positions: &[ConnectFourPosition]| {
            let is_wanted = |position: &ConnectFourPosition| !args.leave_out.contains(&game.ply(position));
            let wanted: Vec<_> = positions.iter().copied().filter(is_wanted).collect();
            let results = match failed {
                None => solver.solve(game, &wanted),
                Some(_) => Ok(Vec::new()),
            };
            let results = results.unwrap_or_else(|error| {
                failed = Some(error);
                Vec::new()
            });
            let mut results = results.into_iter();
            positions.iter().map(|position| if is_wanted(position) { results.next() } else { None }).collect()
        };
        let draw = Draw::new(game, &mut solve, mix, args.seed);
        let random = |stream: &mut Stream| {
            let plies = below(stream.next_u64(), LAST_PLY + 1);
            Line::random(game, plies, stream).position
        };
        let name = "positions of random games";
        let by = format!("solved by {}", solver.name());
        draw.exam(args.positions, &sources, random, name, (&agent_name, &mut agents), &by)
    });
    match failed {
        Some(error) => Err(format!("{}: {error}", python.display()).into()),
        None => save(args, game, &exam),
    }
}

fn save<G: CatalogGame>(args: &Args, game: &G, exam: &Exam<G>) -> CommandResult {
    exam.save(&args.out)?;
    let (count, made) = (exam.len(), exam.made());
    eprintln!("{count} questions of {}, made by {made}", game.id());
    Ok(())
}

impl Args {
    /// The sources that are asked for, or these.
    fn sources(&self, default: &[Source]) -> Vec<Source> {
        match self.from.is_empty() {
            true => default.to_vec(),
            false => self.from.iter().map(|&name| name.into()).collect(),
        }
    }
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
