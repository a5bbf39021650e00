//! `jarmo tables real`

use std::io::{Write, stdout};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Subcommand, ValueEnum};

use super::tables::SolvedGameArgs;
use super::{CommandResult, Failure, position_of};
use jarmo_core::game::{Game, Mask, Player};
use jarmo_core::games::{Jarmo, JarmoPosition};
use jarmo_core::numbers::NumberRange;
use jarmo_exact::tables::index::{LEAST_FORCE, MOST_FORCE};
use jarmo_exact::tables::{Holds, RealProgress, Tables, build_real};

const FORCE: NumberRange<u64> = NumberRange::new(LEAST_FORCE as u64, MOST_FORCE as u64);
const PLIES: NumberRange<u64> = NumberRange::new(0, 4);

/// Jarmo with the shuttle rule: the placements that each side does not lose
#[derive(Subcommand)]
pub(super) enum Command {
    /// Find the placements that a side does not lose, up to a force, from tables
    #[command(after_help = "\
The work can be killed at any time; the same command continues it. It takes one thread, and 1.25 bytes of
memory for each placement with one side to move: 16 GB for force 10.")]
    Build(BuildArgs),
    /// Print what is proven of a position and of the openings from it
    Show(ShowArgs),
    /// Count what a side holds by force and by the result of the tables
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
    game: SolvedGameArgs,
    /// The directory of tables
    #[arg(value_name = "DIR")]
    tables: PathBuf,
    /// The directory to write to; finished forces that are already there are kept
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
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
    game: SolvedGameArgs,
    /// The directory that `build` wrote
    #[arg(value_name = "DIR")]
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
    game: SolvedGameArgs,
    /// The directory of tables
    #[arg(value_name = "DIR")]
    tables: PathBuf,
    /// The directory that `build` wrote
    #[arg(value_name = "DIR")]
    holds: PathBuf,
}

impl Command {
    pub(super) fn game(&self) -> &SolvedGameArgs {
        match self {
            Command::Build(BuildArgs { game, .. })
            | Command::Show(ShowArgs { game, .. })
            | Command::Stats(StatsArgs { game, .. }) => game,
        }
    }
}

pub(super) fn run(game: &Jarmo, command: &Command) -> CommandResult {
    match command {
        Command::Build(args) => run_build(game, args),
        Command::Show(args) => run_show(game, args),
        Command::Stats(args) => run_stats(game, args),
    }
}

fn run_build(game: &Jarmo, args: &BuildArgs) -> CommandResult {
    let tables = Tables::open(game, &args.tables).map_err(Failure::new)?;
    let sides: &[Player] = match args.side {
        Side::White => &[Player::White],
        Side::Black => &[Player::Black],
        Side::Both => &Player::BOTH,
    };
    for &side in sides {
        let mut shown = Instant::now();
        let mut tell = |progress| show_progress(side, progress, &mut shown);
        build_real(game, &tables, &args.out, side, args.force, &mut tell).map_err(Failure::new)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn show_progress(side: Player, progress: RealProgress, shown: &mut Instant) {
    let side = side.name();
    let due = shown.elapsed() >= Duration::from_secs(1);
    let line = match progress {
        RealProgress::Kept { force } => format!("force {force}: already there"),
        RealProgress::Resumed { force } => format!("force {force}: going on"),
        RealProgress::Filled { force, done } if due => {
            format!("force {force}: {:.0} % filled", 100.0 * done)
        }
        RealProgress::Counted { force, done } if due => {
            format!("force {force}: {:.0} % counted", 100.0 * done)
        }
        RealProgress::Round {
            force,
            round,
            done,
            lowered,
        } if due || done == 1.0 => {
            let share = 100.0 * done;
            format!("force {force}: round {round}, {share:.0} %, {lowered} lowered")
        }
        RealProgress::Built {
            force,
            placements,
            took,
        } => {
            let took = took.as_secs_f64();
            format!("force {force}: {placements} placements in {took:.1} s")
        }
        RealProgress::Filled { .. } | RealProgress::Counted { .. } | RealProgress::Round { .. } => {
            return;
        }
    };
    *shown = Instant::now();
    eprintln!("{side}, {line}");
}

fn run_show(game: &Jarmo, args: &ShowArgs) -> CommandResult {
    let game = game.clone().with_max_plies(0);
    let holds = Holds::open(&game, &args.holds).map_err(Failure::new)?;
    let start = position_of(&game, args.position.as_deref())?;
    let mut out = stdout().lock();
    writeln!(out, "{}", describe(&game, &holds, &start))?;
    let mut openings = vec![(String::new(), start)];
    for _ in 0..args.plies {
        let mut longer = Vec::new();
        for (text, position) in &openings {
            for action in game.legal(position).iter() {
                let mut next = *position;
                game.play(&mut next, action);
                let action = game.action_text(position, action);
                longer.push((format!("{text}{action} "), next));
            }
        }
        openings = longer;
    }
    if args.plies > 0 {
        for (text, position) in &openings {
            writeln!(out, "  {text} {}", describe(&game, &holds, position))?;
        }
        let drawn = |(_, position): &&(String, JarmoPosition)| {
            let value = holds.value(&game, position);
            value.is_some_and(|value| value.is_drawn())
        };
        let drawn = openings.iter().filter(drawn).count();
        let (all, plies) = (openings.len(), args.plies);
        writeln!(out, "{drawn} of {all} openings of {plies} plies are drawn")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What is proven of a position.
fn describe(game: &Jarmo, holds: &Holds, position: &JarmoPosition) -> &'static str {
    let Some(value) = holds.value(game, position) else {
        return "over";
    };
    match (value.white_holds, value.black_holds) {
        (Some(true), Some(true)) => "drawn",
        (Some(true), _) => "white does not lose",
        (_, Some(true)) => "black does not lose",
        _ => "open",
    }
}

fn run_stats(game: &Jarmo, args: &StatsArgs) -> CommandResult {
    let tables = Tables::open(game, &args.tables).map_err(Failure::new)?;
    let holds = Holds::open(game, &args.holds).map_err(Failure::new)?;
    let mut out = stdout().lock();
    writeln!(
        out,
        "force  bound       drawn   not held   unless streak is 1          2          3          4         won   not held     unless"
    )?;
    for side in Player::BOTH {
        for force in LEAST_FORCE..=MOST_FORCE {
            let Some(counts) = holds.counts(&tables, side, force) else {
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
    Ok(ExitCode::SUCCESS)
}
