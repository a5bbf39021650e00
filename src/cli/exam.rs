//! `jarmo exam make` and `jarmo exam show`

use std::io::{Write, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;

use super::solved::{SolvedGameArgs, SolvedTask};
use super::{CommandResult, Failure, thread_pool};
use jarmo_core::game::{Game, Player};
use jarmo_core::numbers::{NumberRange, SEED, THREADS};
use jarmo_exact::agent::{AGENTS, AgentSpec, build};
use jarmo_exact::catalog::{Catalog, CatalogGame, GameSettings, GameTask};
use jarmo_exact::tables::{Solvable, Tables};
use jarmo_judge::accuracy::{
    Draw, Exam, ExamHeader, HasExam, Mix, Phase, random_of_tables, solve_by_tables,
};

/// Make and show exams: positions with the exact result of every action
#[derive(Subcommand)]
pub(super) enum Command {
    /// Draw positions and solve them with exact tables
    #[command(after_help = "\
A third of the positions are random placements of all forces, a third come from games of the agent against
itself, and a third are openings of 1 to 12 random plies. If the tables do not reach openings, the other two
kinds are half each. Of each kind, half are critical: some action loses the best result. No position occurs twice.")]
    Make(MakeArgs),
    /// Say what an exam is and count its questions
    Show(ShowArgs),
}

#[derive(clap::Args)]
pub(super) struct MakeArgs {
    #[command(flatten)]
    game: SolvedGameArgs,
    /// The directory of tables
    #[arg(long, value_name = "DIR")]
    tables: PathBuf,
    /// The file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// The agent that plays against itself
    #[arg(long, value_name = "AGENT", default_value = "alphabeta:20000", help = agent_help())]
    agent: AgentSpec,
    /// Number of positions
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = POSITIONS.parser::<usize>())]
    positions: usize,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = SEED.parser::<u64>())]
    seed: u64,
    /// Threads [default: one per core]
    #[arg(long, value_name = "T", value_parser = THREADS.parser::<usize>())]
    threads: Option<usize>,
}

#[derive(clap::Args)]
pub(super) struct ShowArgs {
    /// The exam
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The board file of an exam on another board than the standard one
    #[arg(long, value_name = "FILE")]
    board: Option<PathBuf>,
}

/// Positions of an exam: at least one critical and one other of each kind.
const POSITIONS: NumberRange<u64> = NumberRange::new(6, 1_000_000);

fn agent_help() -> String {
    format!("The agent that plays against itself: {AGENTS}")
}

pub(super) fn run<C: Catalog>(games: &C, command: Command) -> CommandResult {
    match command {
        Command::Make(args) => args.game.run(games, MakeTask(&args))?,
        Command::Show(args) => {
            let header = ExamHeader::load(&args.file).map_err(Failure::new)?;
            let settings = GameSettings {
                board: args.board.clone(),
                ..GameSettings::default()
            };
            games.with_game(&header.game, &settings, ShowTask(&args))?
        }
    }
}

struct MakeTask<'a>(&'a MakeArgs);

impl SolvedTask for MakeTask<'_> {
    type Output = CommandResult;

    fn run<G: CatalogGame + Solvable + HasExam>(self, game: G) -> CommandResult {
        let args = self.0;
        let pool = thread_pool(args.threads)?;
        let agents = (0..pool.current_num_threads()).map(|_| build(game.clone(), &args.agent));
        let agents: Result<Vec<_>, _> = agents.collect();
        let mut agents = agents.map_err(Failure::usage)?;
        let tables = Tables::open(&game, &args.tables).map_err(Failure::new)?;
        let exam = pool.install(|| {
            let mut solve = |positions: &[G::Position]| solve_by_tables(&game, &tables, positions);
            let draw = Draw::new(&game, &mut solve, Mix::HalfCritical, args.seed);
            let solver = format!("exact tables of force 2 to {}", tables.force());
            let random = |stream: &mut _| random_of_tables(&tables, stream);
            let name = "random placements of all these forces";
            draw.exam(args.positions, random, name, &mut agents, &solver)
        });
        exam.save(&args.out).map_err(Failure::new)?;
        show(&game, &exam)
    }
}

struct ShowTask<'a>(&'a ShowArgs);

impl GameTask for ShowTask<'_> {
    type Output = CommandResult;

    fn run<G: CatalogGame>(self, game: G) -> CommandResult {
        let exam = Exam::load(&game, &self.0.file).map_err(Failure::new)?;
        show(&game, &exam)
    }
}

fn show<G: Game>(game: &G, exam: &Exam<G>) -> CommandResult {
    let mut out = stdout().lock();
    writeln!(out, "{} questions of {}", exam.len(), game.id())?;
    writeln!(out, "made by {}", exam.made())?;
    writeln!(out, "  phase    to move  questions  critical")?;
    for phase in Phase::ALL {
        for player in Player::BOTH {
            let group = exam.questions().iter().filter(|question| {
                question.phase == phase && game.to_move(&question.position) == player
            });
            let critical = group.clone().filter(|question| question.is_critical());
            let (phase, player) = (phase.name(), player.name());
            let (questions, critical) = (group.clone().count(), critical.count());
            writeln!(out, "  {phase:7}  {player:7}  {questions:9}  {critical:8}")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
