//! `lab real`

use std::io::{Write, stdout};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{Subcommand, ValueEnum};

use super::{BoardArgs, CommandResult};
use crate::shuttle_bounds::{build, counts};
use jarmo_core::env::Line;
use jarmo_core::game::{Game, Player};
use jarmo_core::games::{Jarmo, JarmoPosition};
use jarmo_core::numbers::NumberRange;
use jarmo_exact::tables::index::{LEAST_FORCE, MOST_FORCE};
use jarmo_exact::tables::{ShuttleBounds, TableProgress, Tables};

const FORCE: NumberRange<u64> = NumberRange::new(LEAST_FORCE as u64, MOST_FORCE as u64);
const PLIES: NumberRange<u64> = NumberRange::new(0, 4);

/// Jarmo with the shuttle rule: the bare positions that each side does not lose
#[derive(Subcommand)]
pub(super) enum Command {
    /// Find the bare positions that a side does not lose, up to a force, from tables
    #[command(after_help = "\
The work can be killed at any time; the same command continues it. It takes 1.25 bytes of
memory and of the disk for each bare position with one side to move: 16 GB for force 10.")]
    Build(BuildArgs),
    /// Print what is proven of a position and of the openings from it
    Show(ShowArgs),
    /// Count what a side holds by force and by the result of the tables
    #[command(after_help = "\
Not held: the side to move may lose. Unless: it holds, unless it has just made the reverse of
its only holding move, with the named streak or a longer one. Forces without a table with
distances are left out.")]
    Stats(StatsArgs),
}

#[derive(Clone, Copy, ValueEnum)]
enum Side {
    White,
    Black,
    Both,
}

#[derive(clap::Args)]
pub(super) struct BuildArgs {
    #[command(flatten)]
    board: BoardArgs,
    /// The folder of tables
    #[arg(value_name = "FOLDER")]
    tables: PathBuf,
    /// The folder to write to; finished forces that are already there are kept [default: the folder of tables, so
    /// that agents and measurements that use the tables know the rule]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// The side that must not lose
    #[arg(long, value_name = "SIDE", default_value = "both")]
    side: Side,
    /// The most archers and marks on the board
    #[arg(long, value_name = "F", value_parser = FORCE.parser::<u32>())]
    force: u32,
}

#[derive(clap::Args)]
pub(super) struct ShowArgs {
    #[command(flatten)]
    board: BoardArgs,
    /// The folder that `build` wrote to
    #[arg(value_name = "FOLDER", default_value = "tables")]
    holds: PathBuf,
    /// The position [default: the start]
    #[arg(long, value_name = "TEXT")]
    position: Option<String>,
    /// List the openings of this many plies from the position
    #[arg(long, value_name = "PLIES", default_value_t = 0, value_parser = PLIES.parser::<u32>())]
    plies: u32,
}

#[derive(clap::Args)]
pub(super) struct StatsArgs {
    #[command(flatten)]
    board: BoardArgs,
    /// The folder of tables
    #[arg(value_name = "FOLDER")]
    tables: PathBuf,
    /// The folder that `build` wrote to [default: the folder of tables]
    #[arg(value_name = "FOLDER")]
    holds: Option<PathBuf>,
}

pub(super) fn run(command: &Command) -> CommandResult {
    match command {
        Command::Build(args) => run_build(&args.board.jarmo()?, args),
        Command::Show(args) => run_show(&args.board.jarmo()?.with_max_plies(0), args),
        Command::Stats(args) => run_stats(&args.board.jarmo()?, args),
    }
}

fn run_build(game: &Jarmo, args: &BuildArgs) -> CommandResult {
    let tables = Tables::open(game, &args.tables)?;
    let sides: &[Player] = match args.side {
        Side::White => &[Player::White],
        Side::Black => &[Player::Black],
        Side::Both => &Player::BOTH,
    };
    let out = args.out.as_ref().unwrap_or(&args.tables);
    for &side in sides {
        let mut shown = Instant::now();
        let mut tell = |progress| {
            // How far the work is, once a second.
            if shown.elapsed() >= Duration::from_secs(1) || !matches!(progress, TableProgress::Working(..)) {
                shown = Instant::now();
                eprintln!("{}, {progress}", side.name());
            }
        };
        build(game, &tables, out, side, args.force, &mut tell)?;
    }
    Ok(())
}

fn run_show(game: &Jarmo, args: &ShowArgs) -> CommandResult {
    let holds = ShuttleBounds::open(game, &args.holds)?;
    let start = args.position.as_ref().map_or(Ok(game.start()), |text| game.parse_position(text));
    let start = start.map_err(|error| format!("--position: {error}"))?;
    let mut out = stdout().lock();
    writeln!(out, "{}", describe(game, &holds, &start))?;
    if args.plies > 0 {
        let openings = Line::at(start).longer(game, args.plies);
        let mut drawn = 0;
        for opening in &openings {
            let text = opening.move_texts(game).join(" ");
            let value = describe(game, &holds, &opening.position);
            writeln!(out, "  {text}  {value}")?;
            drawn += u32::from(value == DRAWN);
        }
        let (all, plies) = (openings.len(), args.plies);
        let unit = if plies == 1 { "ply" } else { "plies" };
        writeln!(out, "{drawn} of {all} openings of {plies} {unit} are proven drawn")?;
    }
    Ok(())
}

/// What is proven of a position that neither side loses.
const DRAWN: &str = "drawn";

/// What is proven of a position.
fn describe(game: &Jarmo, holds: &ShuttleBounds, position: &JarmoPosition) -> &'static str {
    if game.outcome(position).is_some() {
        return "over";
    }
    match Player::BOTH.map(|player| holds.holds(position, player)) {
        [None, None] => "no files of this force",
        [Some(true), Some(true)] => DRAWN,
        [Some(true), Some(false)] => "white does not lose",
        [Some(true), None] => "white does not lose; no file of black",
        [Some(false), Some(true)] => "black does not lose",
        [None, Some(true)] => "black does not lose; no file of white",
        [Some(false), _] | [_, Some(false)] => "open",
    }
}

fn run_stats(game: &Jarmo, args: &StatsArgs) -> CommandResult {
    let tables = Tables::open(game, &args.tables)?;
    let holds = ShuttleBounds::open(game, args.holds.as_ref().unwrap_or(&args.tables))?;
    let mut out = stdout().lock();
    writeln!(
        out,
        "force  bound       drawn   not held   unless streak is 1          2          3          4         won   not held     unless"
    )?;
    for side in Player::BOTH {
        for force in LEAST_FORCE..=MOST_FORCE {
            let Some(counts) = counts(&holds, &tables, side, force) else {
                continue;
            };
            let [one, two, three, four] = counts.streaks;
            writeln!(
                out,
                "{force:5}  {:5} {:11} {:10} {one:20} {two:10} {three:10} {four:10} {:11} {:10} {:10}",
                side.name(),
                counts.drawn.iter().sum::<u64>(),
                counts.drawn[0],
                counts.won.iter().sum::<u64>(),
                counts.won[0],
                counts.won[1],
            )?;
        }
    }
    Ok(())
}
