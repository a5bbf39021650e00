//! `jarmo tables`

use std::io::{Write, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Subcommand;
use serde_json::json;

use super::solved::{JarmoArgs, SolvedGameArgs, SolvedTask};
use super::{CommandResult, Failure, balance, position_of, puzzles, real, seconds};
use crate::accuracy::HasExam;
use crate::bench;
use crate::catalog::{Catalog, CatalogGame};
use crate::game::{Game, Player, Proven};
use crate::numbers::{NumberRange, SEED};
use crate::tables::index::{LEAST_FORCE, MOST_FORCE};
use crate::tables::{
    BuildProgress, BuildSettings, Change, MOST_SHUTTLE_FORCE, OpeningCounts, PackProgress, PliesTo,
    SideStats, Solvable, Tables, build, pack, shuttle_effect, verify,
};

/// Forces of tables. Not every game has all of them.
const FORCE: NumberRange<u64> = NumberRange::new(LEAST_FORCE as u64, MOST_FORCE as u64);
const SHUTTLE_FORCE: NumberRange<u64> =
    NumberRange::new(LEAST_FORCE as u64, MOST_SHUTTLE_FORCE as u64);
const GIBIBYTES: NumberRange<f64> = NumberRange::new(0.5, 1024.0);
const SAMPLES: NumberRange<u64> = NumberRange::new(1, 1_000_000_000);
const LOOKUPS: NumberRange<u64> = NumberRange::new(2, 100_000_000);
/// Plies of openings: five are 160,000 openings.
const OPENINGS: NumberRange<u64> = NumberRange::new(1, 5);
/// Plies of a line of best actions.
const LINE: NumberRange<u64> = NumberRange::new(0, 1000);

/// Exact tables: the results of all positions with little left on the board
#[derive(Subcommand)]
pub(super) enum Command {
    /// Solve all positions up to a force
    Build(BuildArgs),
    /// Compress tables to the results without distances, in a twentieth of the space
    Pack(PackArgs),
    /// Check tables: every byte, random positions against their successors, and games played out
    Verify(VerifyArgs),
    /// Print the exact results of a position and of its actions
    Probe(ProbeArgs),
    /// Print the exact results of all openings of a length
    Openings(OpeningsArgs),
    /// Choose openings that are drawn and equally hard for both sides
    Balance(balance::Args),
    /// Make puzzles: positions in which a single action wins, or saves the draw
    Puzzles(puzzles::Args),
    /// Solve the smallest forces with the shuttle rule and print what it changes
    Shuttle(ShuttleArgs),
    /// Find what each side does not lose under the shuttle rule
    #[command(subcommand)]
    Real(real::Command),
    /// Measure the time of a lookup
    Bench(BenchArgs),
    /// Count won, drawn and lost positions for every force and side to move
    Stats(StatsArgs),
}

#[derive(clap::Args)]
pub(super) struct BuildArgs {
    #[command(flatten)]
    game: SolvedGameArgs,
    /// What may be left on the board: archers and marks of jarmo, 2 to 10; pieces of tammi, 2 to 5
    #[arg(long, value_name = "F")]
    #[arg(value_parser = FORCE.parser::<u32>())]
    force: u32,
    /// The directory to build in; intact layers that are already there are kept
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The memory to use, in GiB; a layer that is larger lies partly on the disk [default: half of what the
    /// machine has]
    #[arg(long, value_name = "GIB", value_parser = GIBIBYTES.parser())]
    memory: Option<f64>,
    /// Save the unfinished layer every this many seconds
    #[arg(long, value_name = "SECONDS", default_value = "300", value_parser = seconds)]
    save_every: Duration,
}

#[derive(clap::Args)]
pub(super) struct PackArgs {
    /// The directory of tables
    #[arg(value_name = "DIR")]
    tables: PathBuf,
    #[command(flatten)]
    game: JarmoArgs,
    /// The directory of the packed results; sound ones that are already there are kept
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Copy whole tables up to this force, so that wins need no search there; 0 for none
    #[arg(long, value_name = "F", default_value_t = 7)]
    #[arg(value_parser = FORCE.or_zero().parser::<u32>())]
    distances: u32,
}

#[derive(clap::Args)]
pub(super) struct VerifyArgs {
    /// The directory of tables
    #[arg(value_name = "DIR")]
    tables: PathBuf,
    #[command(flatten)]
    game: SolvedGameArgs,
    /// Random positions to check in every layer
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = SAMPLES.parser::<u64>())]
    samples: u64,
    /// Seed of the random positions
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = SEED.parser::<u64>())]
    seed: u64,
}

#[derive(clap::Args)]
pub(super) struct ProbeArgs {
    /// The directory of tables
    #[arg(value_name = "DIR", default_value = "tables")]
    tables: PathBuf,
    #[command(flatten)]
    game: SolvedGameArgs,
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
    /// The directory of tables
    #[arg(value_name = "DIR", default_value = "tables")]
    tables: PathBuf,
    #[command(flatten)]
    game: JarmoArgs,
    /// The position in which the openings begin [default: the start]
    #[arg(long, value_name = "TEXT")]
    position: Option<String>,
    /// Count openings of one action to this many
    #[arg(long, value_name = "PLIES", default_value_t = 4)]
    #[arg(value_parser = OPENINGS.parser::<u32>())]
    plies: u32,
    /// List every opening of the largest length
    #[arg(long)]
    list: bool,
}

#[derive(clap::Args)]
pub(super) struct ShuttleArgs {
    #[command(flatten)]
    game: JarmoArgs,
    /// The most archers and marks on the board; 4 takes 1.2 GiB of memory and 5 minutes of processor
    /// time
    #[arg(long, value_name = "F", default_value_t = 3)]
    #[arg(value_parser = SHUTTLE_FORCE.parser::<u32>())]
    force: u32,
}

#[derive(clap::Args)]
pub(super) struct BenchArgs {
    /// The directory of tables
    #[arg(value_name = "DIR")]
    tables: PathBuf,
    #[command(flatten)]
    game: SolvedGameArgs,
    /// Number of lookups
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    #[arg(value_parser = LOOKUPS.parser::<u32>())]
    lookups: u32,
}

#[derive(clap::Args)]
pub(super) struct StatsArgs {
    /// The directory of tables
    #[arg(value_name = "DIR")]
    tables: PathBuf,
    #[command(flatten)]
    game: SolvedGameArgs,
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
}

pub(super) fn run<C: Catalog>(games: &C, command: Command) -> CommandResult {
    match command {
        Command::Build(args) => args.game.run(games, BuildTask(&args))?,
        Command::Pack(args) => run_pack(games, &args),
        Command::Verify(args) => args.game.run(games, VerifyTask(&args))?,
        Command::Probe(args) => args.game.run(games, ProbeTask(&args))?,
        Command::Openings(args) => run_openings(games, &args),
        Command::Balance(args) => balance::run(games, &args),
        Command::Puzzles(args) => puzzles::run(games, &args),
        Command::Real(command) => real::run(games, command),
        Command::Bench(args) => args.game.run(games, BenchTask(&args))?,
        Command::Shuttle(args) => run_shuttle(games, &args),
        Command::Stats(args) => args.game.run(games, StatsTask(&args))?,
    }
}

fn open<G: Solvable>(game: &G, folder: &Path) -> Result<Tables<G>, Failure> {
    Tables::open(game, folder).map_err(Failure::new)
}

struct BuildTask<'a>(&'a BuildArgs);

impl SolvedTask for BuildTask<'_> {
    type Output = CommandResult;

    fn run<G: CatalogGame + Solvable + HasExam>(self, game: G) -> CommandResult {
        run_build(&game, self.0)
    }
}

fn run_build<G: Solvable>(game: &G, args: &BuildArgs) -> CommandResult {
    if !G::FORCES.contains(&args.force) {
        return Err(Failure::usage(format!(
            "--force {}: tables of {} have {} to {} {}",
            args.force,
            game.id(),
            G::FORCES.start(),
            G::FORCES.end(),
            G::FORCE_COUNTS
        )));
    }
    let settings = BuildSettings {
        force: args.force,
        memory: args.memory.map(|gib| (gib * f64::from(1 << 30)) as u64),
        save_every: args.save_every,
    };
    let mut shown = Instant::now();
    let mut tell = |progress| match progress {
        BuildProgress::Kept { force } => eprintln!("force {force}: already there"),
        BuildProgress::Rebuilding(problem) => eprintln!("{problem}: building it again"),
        BuildProgress::Resumed { force } => {
            eprintln!("force {force}: going on with the unfinished layer");
        }
        BuildProgress::Working { force, done, left } => {
            if shown.elapsed() >= Duration::from_secs(1) {
                shown = Instant::now();
                let left = left.as_secs_f64().ceil();
                eprintln!(
                    "force {force}: {:.0} %, about {left} s left in total",
                    100.0 * done
                );
            }
        }
        BuildProgress::Built {
            force,
            positions,
            took,
        } => {
            eprintln!(
                "force {force}: {positions} positions in {:.1} s",
                took.as_secs_f64()
            );
        }
    };
    build(game, &args.out, settings, &mut tell).map_err(Failure::new)?;
    Ok(ExitCode::SUCCESS)
}

fn run_pack<C: Catalog>(games: &C, args: &PackArgs) -> CommandResult {
    let game = args.game.jarmo(games)?;
    let mut shown = Instant::now();
    let mut tell = |progress| match progress {
        PackProgress::Kept { force } => eprintln!("force {force}: already there"),
        PackProgress::Copied { force } => eprintln!("force {force}: copied, with distances"),
        PackProgress::Working { force, done } => {
            if shown.elapsed() >= Duration::from_secs(1) {
                shown = Instant::now();
                eprintln!("force {force}: {:.0} %", 100.0 * done);
            }
        }
        PackProgress::Packed {
            force,
            positions,
            bytes,
            took,
        } => eprintln!(
            "force {force}: {positions} positions in {bytes} bytes, {:.3} bits each, {:.1} s",
            8.0 * bytes as f64 / positions as f64,
            took.as_secs_f64()
        ),
    };
    pack(&game, &args.tables, &args.out, args.distances, &mut tell).map_err(Failure::new)?;
    Ok(ExitCode::SUCCESS)
}

struct VerifyTask<'a>(&'a VerifyArgs);

impl SolvedTask for VerifyTask<'_> {
    type Output = CommandResult;

    fn run<G: CatalogGame + Solvable + HasExam>(self, game: G) -> CommandResult {
        run_verify(&game, self.0)
    }
}

fn run_verify<G: Solvable>(game: &G, args: &VerifyArgs) -> CommandResult {
    let tables = open(game, &args.tables)?;
    let mut out = stdout().lock();
    let mut sound = true;
    for check in verify(game, &tables, args.samples, args.seed) {
        let state = if check.mistakes.is_empty() {
            "right"
        } else {
            "WRONG"
        };
        writeln!(
            out,
            "force {}: {state}; {} random positions checked against their successors, {} games played out",
            check.force, check.positions, check.games
        )?;
        for mistake in &check.mistakes {
            writeln!(out, "  {mistake}")?;
        }
        sound &= check.mistakes.is_empty();
    }
    Ok(if sound {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// A position of the tables, and its value for the player to move.
fn inside<G: Solvable>(
    tables: &Tables<G>,
    folder: &Path,
    game: &G,
    text: Option<&str>,
) -> Result<(G::Position, Proven), Failure> {
    let position = position_of(game, text)?;
    let Some(proven) = tables.proven(&position) else {
        return Err(Failure::new(format!(
            "the position has force {}, but the tables in {} end at {}",
            G::force(&position),
            folder.display(),
            tables.force()
        )));
    };
    Ok((position, proven))
}

struct ProbeTask<'a>(&'a ProbeArgs);

impl SolvedTask for ProbeTask<'_> {
    type Output = CommandResult;

    fn run<G: CatalogGame + Solvable + HasExam>(self, game: G) -> CommandResult {
        run_probe(&game, self.0)
    }
}

fn run_probe<G: Solvable>(game: &G, args: &ProbeArgs) -> CommandResult {
    let tables = open(game, &args.tables)?;
    let (start, proven) = inside(&tables, &args.tables, game, args.position.as_deref())?;
    let mut out = stdout().lock();
    writeln!(out, "{}: {proven}", game.to_move(&start).name())?;
    if G::PLIES_TO == PliesTo::Capture && proven.plies.is_some_and(|plies| plies > 0) {
        writeln!(
            out,
            "plies count to the next capture or the end of the game"
        )?;
    }
    for value in tables.actions(game, &start).unwrap_or_default() {
        let text = game.action_text(&start, value.action);
        writeln!(out, "  {text:6} {}", value.proven)?;
    }
    let line = tables
        .best_line(game, &start, args.line)
        .unwrap_or_default();
    if !line.is_empty() {
        writeln!(out, "{}", line.join(" "))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn run_openings<C: Catalog>(games: &C, args: &OpeningsArgs) -> CommandResult {
    let game = args.game.jarmo(games)?;
    let tables = open(&game, &args.tables)?;
    let (start, proven) = inside(&tables, &args.tables, &game, args.position.as_deref())?;
    let mut out = stdout().lock();
    writeln!(out, "{}: {proven}", start.to_move().name())?;
    for plies in 1..=args.plies {
        let openings = tables.openings(&game, &start, plies).unwrap_or_default();
        let OpeningCounts {
            white,
            drawn,
            black,
        } = OpeningCounts::of(&openings);
        writeln!(
            out,
            "{} openings of {plies} plies: white wins {white}, {drawn} are drawn, black wins {black}",
            openings.len()
        )?;
        if args.list && plies == args.plies {
            for opening in &openings {
                let actions = opening.actions.join(" ");
                writeln!(out, "  {actions}  white: {}", opening.for_white)?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

struct BenchTask<'a>(&'a BenchArgs);

impl SolvedTask for BenchTask<'_> {
    type Output = CommandResult;

    fn run<G: CatalogGame + Solvable + HasExam>(self, game: G) -> CommandResult {
        run_bench(&game, self.0)
    }
}

fn run_bench<G: Solvable>(game: &G, args: &BenchArgs) -> CommandResult {
    let tables = open(game, &args.tables)?;
    let mut out = stdout().lock();
    for speed in bench::tables(&tables, args.lookups, 1) {
        writeln!(
            out,
            "force {}: {:.0} ns per lookup, {:.0} ns if each depends on the one before, \
             {:.0} ns in batches",
            speed.force,
            1e9 * speed.throughput,
            1e9 * speed.latency,
            1e9 * speed.at_once
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

fn run_shuttle<C: Catalog>(games: &C, args: &ShuttleArgs) -> CommandResult {
    let game = args.game.jarmo(games)?;
    let effects = shuttle_effect(&game, args.force).map_err(Failure::new)?;
    let mut out = stdout().lock();
    for effect in effects {
        let mut show = |what: String, change: &Change| -> std::io::Result<()> {
            writeln!(
                out,
                "force {}: of {} {what}, {} have another result and {} another distance",
                effect.force,
                change.positions,
                change.other_result(),
                change.other_distance
            )?;
            let names = ["loss", "draw", "win"];
            for (without, row) in names.iter().zip(change.results) {
                for (with, count) in names.iter().zip(row) {
                    if with != without && count > 0 {
                        writeln!(out, "  {without} becomes {with}: {count}")?;
                    }
                }
            }
            if let Some(position) = change.example {
                writeln!(out, "  for example {}", game.position_text(&position))?;
            }
            Ok(())
        };
        for (streak, change) in effect.streaks.iter().enumerate() {
            let what = match streak {
                0 => "placements without a move before".to_owned(),
                _ => format!("positions whose longest streak is {streak}"),
            };
            show(what, change)?;
        }
        show("positions with all streaks".to_owned(), &effect.all())?;
    }
    Ok(ExitCode::SUCCESS)
}

struct StatsTask<'a>(&'a StatsArgs);

impl SolvedTask for StatsTask<'_> {
    type Output = CommandResult;

    fn run<G: CatalogGame + Solvable + HasExam>(self, game: G) -> CommandResult {
        run_stats(&game, self.0)
    }
}

fn run_stats<G: Solvable>(game: &G, args: &StatsArgs) -> CommandResult {
    let tables = open(game, &args.tables)?;
    let mut out = stdout().lock();
    let stats = tables.stats();
    if args.json {
        let text = |longest: &Option<(u32, G::Position)>| {
            longest.map(|(plies, position)| {
                json!({"plies": plies, "position": game.position_text(&position)})
            })
        };
        let layers: Vec<_> = stats
            .iter()
            .map(|layer| {
                let side = |side: &SideStats| {
                    json!({"to_move": side.to_move, "won": side.won, "drawn": side.drawn,
                           "lost": side.lost, "over": side.over})
                };
                let sides: Vec<_> = layer.sides.iter().map(side).collect();
                json!({"force": layer.force, "sides": sides,
                       "longest_win": text(&layer.longest_win),
                       "longest_loss": text(&layer.longest_loss)})
            })
            .collect();
        writeln!(out, "{}", json!({"game": game.id(), "layers": layers}))?;
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(
        out,
        "force  to move         won       drawn        lost        over  longest win"
    )?;
    for layer in &stats {
        for side in &layer.sides {
            writeln!(
                out,
                "{:5}  {:7} {:11} {:11} {:11} {:11}",
                layer.force,
                side.to_move.map_or("either", Player::name),
                side.won,
                side.drawn,
                side.lost,
                side.over
            )?;
        }
        if let Some((plies, position)) = layer.longest_win {
            let text = game.position_text(&position);
            writeln!(out, "{:64}{plies} plies: {text}", "")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
