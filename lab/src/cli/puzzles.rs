//! `lab puzzles`

use std::collections::HashSet;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use super::{BoardArgs, CommandResult, output, thread_pool};
use crate::puzzles::{Games, Solved, Solver, from_exam, from_games, make};
use jarmo_core::game::Game;
use jarmo_core::games::{ConnectFour, Jarmo, Tammi};
use jarmo_core::numbers::{NumberRange, SEED, THREADS};
use jarmo_exact::agent::AgentSpec;
use jarmo_exact::tables::{ShuttleBounds, Tables};
use jarmo_host::files;
use jarmo_judge::accuracy::{Exam, ExamHeader};
use jarmo_judge::puzzles::Puzzle;

const COUNT: NumberRange<u64> = NumberRange::new(1, 100_000);
const POSITIONS: NumberRange<u64> = NumberRange::new(1, 10_000_000);

/// Make puzzles: positions in which a single action wins, or saves the draw
#[derive(clap::Args)]
#[command(after_help = "\
Positions of jarmo are taken from games of the player against itself. A win is checked against every reply under the \
shuttle rule, which the tables leave out; of a puzzle to save the draw, all other actions are. Positions of tammi and \
connect four are those of an exam: tammi's are solved by tables, connect four's, with 18 stones or more, by search.")]
pub(super) struct Args {
    /// The folder of tables; jarmo's with distances [default: tables]
    #[arg(value_name = "FOLDER")]
    tables: Option<PathBuf>,
    /// The folder of what each side holds under the shuttle rule (`lab real build`): draws must be held
    #[arg(long, value_name = "FOLDER")]
    holds: Option<PathBuf>,
    /// Keep the puzzles of this file, except draws that are not held, and make only the missing ones
    #[arg(long, value_name = "FILE", requires = "holds")]
    keep: Option<PathBuf>,
    /// Make puzzles of tammi or connect four from this exam
    #[arg(long, value_name = "FILE", conflicts_with_all = ["holds", "board", "player", "positions", "seed"])]
    exam: Option<PathBuf>,
    #[command(flatten)]
    board: BoardArgs,
    /// The file to write
    #[arg(long, value_name = "FILE", value_parser = output)]
    out: PathBuf,
    /// The most puzzles to make
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = COUNT.parser::<usize>())]
    count: usize,
    /// Positions with a single right action to choose from
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = POSITIONS.parser::<usize>())]
    positions: usize,
    /// The agent that plays the games; it must make mistakes
    #[arg(long, value_name = "AGENT", default_value = "trained?sims=0&sampling=1.5")]
    player: AgentSpec,
    /// The agent with a network whose simulations measure the difficulty
    #[arg(long, value_name = "AGENT", default_value = "trained")]
    solver: AgentSpec,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = SEED.parser::<u64>())]
    seed: u64,
    /// Threads [default: one per core]
    #[arg(long, value_name = "T", value_parser = THREADS.parser::<usize>())]
    threads: Option<usize>,
}

pub(super) fn run(args: &Args) -> CommandResult {
    let pool = thread_pool(args.threads)?;
    let tell = |done: String| eprintln!("{done}");
    let tables = args.tables.as_deref().unwrap_or(Path::new("tables"));
    let puzzles = pool.install(|| -> Result<Vec<Puzzle>, Box<dyn Error + Send + Sync>> {
        if let Some(exam) = &args.exam {
            let wanted = (args.count, &args.solver);
            if ExamHeader::load(exam)?.game == Tammi::standard().id() {
                let game = Tammi::standard();
                let positions = from_exam(&game, &Exam::load(&game, exam)?);
                return Ok(make(&game, &Tables::open(&game, tables)?, &positions, wanted, tell)?);
            }
            if args.tables.is_some() {
                return Err("connect four has no tables; leave out the folder".into());
            }
            let game = ConnectFour::new(0);
            let positions = from_exam(&game, &Exam::load(&game, exam)?);
            return Ok(make(&game, &Solver::new(), &positions, wanted, tell)?);
        }
        let game = args.board.jarmo().map_err(|error| error.to_string())?;
        let holds = args.holds.as_ref().map(|folder| ShuttleBounds::open(&game, folder));
        let truth = Solved { tables: Tables::open(&game, tables)?, holds: holds.transpose()? };
        let mut puzzles = kept(&game, &truth, args.keep.as_deref())?;
        tell(format!("{} puzzles are kept", puzzles.len()));
        let games = Games { positions: args.positions, player: args.player.clone(), seed: args.seed };
        let mut positions = from_games(&game, &truth.tables, &games)?;
        let texts: HashSet<String> = puzzles.iter().map(|one| one.position.clone()).collect();
        positions.retain(|position| !texts.contains(&game.position_text(position)));
        let missing = args.count.saturating_sub(puzzles.len());
        puzzles.extend(make(&game, &truth, &positions, (missing, &args.solver), tell)?);
        puzzles.sort_by_key(|puzzle| puzzle.rating);
        Ok(puzzles)
    });
    let puzzles = puzzles.map_err(|error| error.to_string())?;
    if puzzles.is_empty() {
        let more = match args.exam {
            Some(_) => "use another exam, or tables of a higher force",
            None => "raise --positions",
        };
        return Err(format!("no puzzle was found; {more}").into());
    }
    let line = |puzzle: &Puzzle| puzzle.to_line() + "\n";
    let text: String = puzzles.iter().map(line).collect();
    files::write_whole(&args.out, text.as_bytes()).map_err(|error| format!("{}: {error}", args.out.display()))?;
    eprintln!("{}: {} puzzles", args.out.display(), puzzles.len());
    Ok(())
}

/// The puzzles of a file that stand under the shuttle rule.
fn kept(game: &Jarmo, truth: &Solved, path: Option<&Path>) -> Result<Vec<Puzzle>, Box<dyn Error + Send + Sync>> {
    let mut puzzles = Vec::new();
    let text = path.map(fs::read_to_string).transpose()?.unwrap_or_default();
    for line in text.lines() {
        let puzzle = Puzzle::parse(line)?;
        match truth.stands(game, &puzzle)? {
            true => puzzles.push(puzzle),
            false => eprintln!("not held: {line}"),
        }
    }
    Ok(puzzles)
}
