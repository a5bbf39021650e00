//! `jarmo tables`

use std::io::{IsTerminal, Write, stderr, stdout};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Subcommand;

use super::{Failure, GameArgs, position_of, seconds};
use jarmo_core::game::Verdict;
use jarmo_core::numbers::{NumberRange, SEED};
use jarmo_exact::ExactError;
use jarmo_exact::tables::index::{LEAST_FORCE, MOST_FORCE};
use jarmo_exact::tables::{BuildSettings, LayerCheck, PliesTo, Probe, Solver, TableProgress};
use jarmo_facade::{AnyGame, Games};

/// Forces of tables. Not every game has all of them.
const FORCE: NumberRange<u64> = NumberRange::new(LEAST_FORCE as u64, MOST_FORCE as u64);
const SAMPLES: NumberRange<u64> = NumberRange::new(1, 1_000_000_000);
/// Plies of openings: five are 160,000 openings.
const OPENINGS: NumberRange<u64> = NumberRange::new(1, 5);
/// Plies of a line of best actions.
const LINE: NumberRange<u64> = NumberRange::new(0, 1000);

/// Exact tables: the results of all positions with few pieces left
#[derive(Subcommand)]
pub(super) enum Command {
    /// Solve all positions up to a force
    Build(BuildArgs),
    /// Compress tables: those of jarmo to 1/27 of their size (1/35 with --distances 0), those of tammi to 1/6
    Pack(PackArgs),
    /// Check tables: every byte, and random positions against their successors and by playing them out
    Verify(VerifyArgs),
    /// Print the exact results of a position and of its actions
    Probe(ProbeArgs),
    /// Print the exact results of all openings of jarmo
    Openings(OpeningsArgs),
}

#[derive(clap::Args)]
pub(super) struct BuildArgs {
    #[command(flatten)]
    game: GameArgs,
    /// Solve positions with at most this many archers and marks (jarmo, 2 to 10) or pieces (tammi, 2 to 5)
    #[arg(long, value_name = "F")]
    #[arg(value_parser = FORCE.parser::<u32>())]
    force: u32,
    /// The folder to build in; intact layers that are already there are kept
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    /// Seconds between two saves of the unfinished layer
    #[arg(long, value_name = "SECONDS", default_value = "300", value_parser = seconds)]
    save_every: Duration,
}

#[derive(clap::Args)]
pub(super) struct PackArgs {
    /// The folder of tables
    #[arg(value_name = "FOLDER")]
    tables: PathBuf,
    #[command(flatten)]
    game: GameArgs,
    /// The folder for the packed tables; intact ones that are already there are kept
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    /// Also copy the complete tables up to this force, which contain the plies to the end; 0 for none [default: 7 in jarmo, 0 in tammi]
    #[arg(long, value_name = "F", value_parser = FORCE.or_zero().parser::<u32>())]
    distances: Option<u32>,
}

#[derive(clap::Args)]
pub(super) struct VerifyArgs {
    /// The folder of tables
    #[arg(value_name = "FOLDER")]
    tables: PathBuf,
    #[command(flatten)]
    game: GameArgs,
    /// Random positions to check in every layer
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = SAMPLES.parser::<u64>())]
    samples: u64,
    /// Seed of the random positions
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = SEED.parser::<u64>())]
    seed: u64,
}

#[derive(clap::Args)]
pub(super) struct ProbeArgs {
    /// The folder of tables
    #[arg(value_name = "FOLDER", default_value = "tables")]
    tables: PathBuf,
    #[command(flatten)]
    game: GameArgs,
    /// The position [default: the start]
    #[arg(long, value_name = "TEXT")]
    position: Option<String>,
    /// Print a game of best actions from there, of at most this many plies
    #[arg(long, value_name = "PLIES", default_value_t = 0)]
    #[arg(value_parser = LINE.parser::<u32>())]
    line: u32,
}

#[derive(clap::Args)]
pub(super) struct OpeningsArgs {
    /// The folder of tables
    #[arg(value_name = "FOLDER", default_value = "tables")]
    tables: PathBuf,
    #[command(flatten)]
    game: GameArgs,
    /// The position in which the openings begin [default: the start]
    #[arg(long, value_name = "TEXT")]
    position: Option<String>,
    /// The largest length of openings to count
    #[arg(long, value_name = "PLIES", default_value_t = 4)]
    #[arg(value_parser = OPENINGS.parser::<u32>())]
    plies: u32,
    /// List every opening of the largest length
    #[arg(long)]
    list: bool,
}

impl Command {
    fn game(&self) -> &GameArgs {
        match self {
            Command::Build(BuildArgs { game, .. })
            | Command::Pack(PackArgs { game, .. })
            | Command::Verify(VerifyArgs { game, .. })
            | Command::Probe(ProbeArgs { game, .. })
            | Command::Openings(OpeningsArgs { game, .. }) => game,
        }
    }
}

pub(super) fn run(games: &Games, command: Command) -> Result<(), Failure> {
    if let Command::Verify(args) = &command
        && args.game.game.is_none()
    {
        return verify_all(games, args);
    }
    let game = command.game().open(games, None)?;
    let name = game.facts().version.game.as_str();
    let solver = game.solver().ok_or_else(|| Failure::usage(ExactError::no_tables(name)))?;
    match &command {
        Command::Build(args) => run_build(name, solver, args),
        Command::Pack(PackArgs { tables, out, distances, .. }) => {
            Ok(solver.pack(tables, out, *distances, &mut show_progress())?)
        }
        Command::Verify(args) => run_verify(name, solver, args),
        Command::Probe(args) => run_probe(game.as_ref(), solver, args),
        Command::Openings(args) if name == "jarmo" => run_openings(game.as_ref(), solver, args),
        Command::Openings(_) => Err(Failure::usage(format!("this command is for jarmo only, not for {name}"))),
    }
}

/// Prints messages; how far the work is, once a second in a terminal, and otherwise once a minute.
pub(super) fn show_progress() -> impl FnMut(TableProgress) {
    let pause = Duration::from_secs(if stderr().is_terminal() { 1 } else { 60 });
    let mut shown = Instant::now();
    move |progress| {
        let due = shown.elapsed() >= pause;
        if due || !matches!(progress, TableProgress::Working(..)) {
            shown = Instant::now();
            eprintln!("{progress}");
        }
    }
}

fn run_build(game: &str, solver: &dyn Solver, args: &BuildArgs) -> Result<(), Failure> {
    let (forces, counts) = solver.forces();
    if !forces.contains(&args.force) {
        return Err(Failure::usage(format!(
            "--force {}: tables of {game} have {} to {} {counts}",
            args.force,
            forces.start(),
            forces.end(),
        )));
    }
    let settings = BuildSettings { force: args.force, save_every: args.save_every };
    Ok(solver.build(&args.out, settings, &mut show_progress())?)
}

/// Verifies the tables of all games in a folder.
fn verify_all(games: &Games, args: &VerifyArgs) -> Result<(), Failure> {
    let mut checked = Vec::new();
    for name in games.names() {
        let game = games.open(name, &args.game.rules.settings(None).fitting(name))?;
        if let Some(solver) = game.solver().filter(|solver| solver.has_tables(&args.tables)) {
            checked.push(run_verify(name, solver, args));
        }
    }
    if checked.is_empty() {
        let problem = "is missing or has no tables; build them, or name another folder";
        return Err(Failure::new(format!("{}: {problem}", args.tables.display())));
    }
    checked.into_iter().collect()
}

fn run_verify(game: &str, solver: &dyn Solver, args: &VerifyArgs) -> Result<(), Failure> {
    let mut out = stdout().lock();
    let (mut sound, mut written) = (true, Ok(()));
    solver.verify(&args.tables, args.samples, args.seed, &mut |LayerCheck { force, positions, games, mistakes }| {
        let state = if mistakes.is_empty() { "right" } else { "WRONG" };
        let mut text = format!(
            "{game}, force {force}: {state}; {positions} random positions checked against their successors, {games} games \
             played out\n"
        );
        text.extend(mistakes.iter().map(|mistake| format!("  {mistake}\n")));
        if written.is_ok() {
            written = out.write_all(text.as_bytes());
        }
        sound &= mistakes.is_empty();
    })?;
    written?;
    if sound { Ok(()) } else { Err(Failure::Status(1)) }
}

fn run_probe(game: &dyn AnyGame, solver: &dyn Solver, args: &ProbeArgs) -> Result<(), Failure> {
    let start = position_of(game, args.position.as_deref())?;
    let Probe { proven, plies_to, actions, line } = solver.probe(&args.tables, &start, args.line)?;
    let mut out = stdout().lock();
    writeln!(out, "{}: {proven}", start.to_move.name())?;
    if plies_to == PliesTo::Capture && proven.plies.is_some_and(|plies| plies > 0) {
        writeln!(out, "plies count to the next capture or the end of the game")?;
    }
    for (text, value) in actions {
        writeln!(out, "  {text:6} {value}")?;
    }
    if !line.is_empty() {
        writeln!(out, "{}", line.join(" "))?;
    }
    Ok(())
}

fn run_openings(game: &dyn AnyGame, solver: &dyn Solver, args: &OpeningsArgs) -> Result<(), Failure> {
    let start = position_of(game, args.position.as_deref())?;
    let (proven, by_plies) = solver.openings(&args.tables, &start, args.plies)?;
    let mut out = stdout().lock();
    writeln!(out, "{}: {proven}", start.to_move.name())?;
    for (openings, plies) in by_plies.iter().zip(1..) {
        let count = |verdict| openings.iter().filter(|(_, value)| value.verdict == verdict).count();
        writeln!(
            out,
            "{} openings of {plies} {}: white wins {}, {} are drawn, black wins {}",
            openings.len(),
            if plies == 1 { "ply" } else { "plies" },
            count(Verdict::Win),
            count(Verdict::Draw),
            count(Verdict::Loss)
        )?;
        if args.list && plies == args.plies {
            for (actions, for_white) in openings {
                writeln!(out, "  {actions}  white: {for_white}")?;
            }
        }
    }
    Ok(())
}
