//! `jarmo tables`

use std::any::Any;
use std::io::{Write, stdout};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Subcommand;

use super::{Failure, position_of, seconds};
use jarmo_core::game::{Proven, Verdict};
use jarmo_core::games::{Jarmo, Tammi};
use jarmo_core::numbers::{NumberRange, QUIET_LIMIT, SEED};
use jarmo_exact::ExactError;
use jarmo_exact::catalog::{Catalog, CatalogGame, GameSettings, GameTask};
use jarmo_exact::tables::index::{LEAST_FORCE, MOST_FORCE};
use jarmo_exact::tables::{BuildSettings, PliesTo, Solvable, TableProgress, Tables, build, pack, verify};

/// Forces of tables. Not every game has all of them.
const FORCE: NumberRange<u64> = NumberRange::new(LEAST_FORCE as u64, MOST_FORCE as u64);
/// Tables of jarmo are packed beyond this force by default.
const WHOLE: u32 = 7;
const GIBIBYTES: NumberRange<f64> = NumberRange::new(0.5, 1024.0);
const SAMPLES: NumberRange<u64> = NumberRange::new(1, 1_000_000_000);
/// Plies of openings: five are 160,000 openings.
const OPENINGS: NumberRange<u64> = NumberRange::new(1, 5);
/// Plies of a line of best actions.
const LINE: NumberRange<u64> = NumberRange::new(0, 1000);

/// Exact tables: the results of all positions with little left on the board
#[derive(Subcommand)]
pub(super) enum Command {
    /// Solve all positions up to a force
    Build(BuildArgs),
    /// Compress tables: jarmo's to the results without distances, in a thirty-fifth of the space (with the default distances, a twenty-seventh); tammi's to a sixth, with distances
    Pack(PackArgs),
    /// Check tables: every byte, random positions against their successors, and games played out
    Verify(VerifyArgs),
    /// Print the exact results of a position and of its actions
    Probe(ProbeArgs),
    /// Print the exact results of all openings of a length
    Openings(OpeningsArgs),
}

#[derive(clap::Args)]
pub(super) struct BuildArgs {
    #[command(flatten)]
    game: SolvedGameArgs,
    /// What may be left on the board: archers and marks of jarmo, 2 to 10; pieces of tammi, 2 to 5
    #[arg(long, value_name = "F")]
    #[arg(value_parser = FORCE.parser::<u32>())]
    force: u32,
    /// The folder to build in; intact layers that are already there are kept
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    /// The memory to use, in GiB; a layer that is larger lies partly on the disk [default: half of what the
    /// machine has]
    #[arg(long, value_name = "GIB", value_parser = GIBIBYTES.parser::<f64>())]
    memory: Option<f64>,
    /// Save the unfinished layer every this many seconds
    #[arg(long, value_name = "SECONDS", default_value = "300", value_parser = seconds)]
    save_every: Duration,
}

#[derive(clap::Args)]
pub(super) struct PackArgs {
    /// The folder of tables
    #[arg(value_name = "FOLDER")]
    tables: PathBuf,
    #[command(flatten)]
    game: SolvedGameArgs,
    /// The folder of the packed tables; sound ones that are already there are kept
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    /// Copy whole tables up to this force, so that wins need no search there; 0 for none [default: 7 in jarmo, 0 in tammi, whose packed tables have distances]
    #[arg(long, value_name = "F", value_parser = FORCE.or_zero().parser::<u32>())]
    distances: Option<u32>,
}

#[derive(clap::Args)]
pub(super) struct VerifyArgs {
    /// The folder of tables
    #[arg(value_name = "FOLDER")]
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
    /// The folder of tables
    #[arg(value_name = "FOLDER", default_value = "tables")]
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
    /// The folder of tables
    #[arg(value_name = "FOLDER", default_value = "tables")]
    tables: PathBuf,
    #[command(flatten)]
    game: SolvedGameArgs,
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

/// A game with exact tables and the settings of its rules.
#[derive(clap::Args)]
struct SolvedGameArgs {
    /// The game: jarmo or tammi; `openings` is for jarmo
    #[arg(long = "game", default_value = "jarmo", value_name = "NAME")]
    name: String,
    /// A board file with other lines than the standard board (jarmo)
    #[arg(long, value_name = "FILE")]
    board: Option<PathBuf>,
    /// Plies without a capture after which tammi is drawn [default: 30]
    #[arg(long, value_name = "PLIES", value_parser = QUIET_LIMIT.parser::<u32>())]
    quiet_limit: Option<u32>,
}

impl Command {
    fn game(&self) -> &SolvedGameArgs {
        match self {
            Command::Build(BuildArgs { game, .. })
            | Command::Pack(PackArgs { game, .. })
            | Command::Verify(VerifyArgs { game, .. })
            | Command::Probe(ProbeArgs { game, .. })
            | Command::Openings(OpeningsArgs { game, .. }) => game,
        }
    }

    fn run_for<G: Solvable>(&self, game: &G) -> Result<(), Failure> {
        match self {
            Command::Build(args) => run_build(game, args),
            Command::Verify(args) => run_verify(game, args),
            Command::Probe(args) => run_probe(game, args),
            Command::Pack(PackArgs { tables, out, distances, .. }) => {
                let whole = distances.unwrap_or(if G::PACKED_PLIES.is_none() { WHOLE } else { 0 });
                Ok(pack(game, tables, out, whole, &mut show_progress())?)
            }
            Command::Openings(_) => {
                let problem = "this command is for jarmo only, not for";
                Err(Failure::usage(format!("{problem} {}", game.id())))
            }
        }
    }
}

pub(super) fn run<C: Catalog>(games: &C, command: Command) -> Result<(), Failure> {
    let game = command.game();
    let settings = GameSettings { board: game.board.clone(), quiet_limit: game.quiet_limit, max_plies: None };
    games.with_game(&game.name, &settings, &command)?
}

/// The games with exact tables run the command.
impl GameTask for &Command {
    type Output = Result<(), Failure>;

    fn run<G: CatalogGame>(self, game: G) -> Result<(), Failure> {
        let id = game.id();
        let game: &dyn Any = &game;
        match (self, game.downcast_ref::<Jarmo>(), game.downcast_ref::<Tammi>()) {
            (Command::Openings(args), Some(jarmo), _) => run_openings(jarmo, args),
            (_, Some(jarmo), _) => self.run_for(jarmo),
            (_, _, Some(tammi)) => self.run_for(tammi),
            _ => Err(Failure::usage(ExactError::no_tables(id))),
        }
    }
}

/// Prints messages; how far the work is, once a second.
fn show_progress() -> impl FnMut(TableProgress) {
    let mut shown = Instant::now();
    move |progress| {
        let due = shown.elapsed() >= Duration::from_secs(1);
        if due || !matches!(progress, TableProgress::Working(..)) {
            shown = Instant::now();
            eprintln!("{progress}");
        }
    }
}

fn run_build<G: Solvable>(game: &G, args: &BuildArgs) -> Result<(), Failure> {
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
    build(game, &args.out, settings, &mut show_progress())?;
    Ok(())
}

fn run_verify<G: Solvable>(game: &G, args: &VerifyArgs) -> Result<(), Failure> {
    let tables = Tables::open(game, &args.tables)?;
    let mut out = stdout().lock();
    let mut sound = true;
    for check in verify(game, &tables, args.samples, args.seed) {
        let state = if check.mistakes.is_empty() { "right" } else { "WRONG" };
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
    if sound { Ok(()) } else { Err(Failure::Status(1)) }
}

/// The tables of a folder, a position in them, and its value for the player to move.
fn open_at<G: Solvable>(
    game: &G,
    folder: &Path,
    position: Option<&str>,
) -> Result<(Tables<G>, G::Position, Proven), Failure> {
    let tables = Tables::open(game, folder)?;
    let position = position_of(game, position)?;
    let Some(proven) = tables.proven(&position) else {
        return Err(Failure::new(format!(
            "the position has force {}, but the tables in {} end at {}",
            G::force(&position),
            folder.display(),
            tables.force()
        )));
    };
    Ok((tables, position, proven))
}

fn run_probe<G: Solvable>(game: &G, args: &ProbeArgs) -> Result<(), Failure> {
    let (tables, start, proven) = open_at(game, &args.tables, args.position.as_deref())?;
    let mut out = stdout().lock();
    writeln!(out, "{}: {proven}", game.to_move(&start).name())?;
    if G::PLIES_TO == PliesTo::Capture && proven.plies.is_some_and(|plies| plies > 0) {
        writeln!(out, "plies count to the next capture or the end of the game")?;
    }
    for value in tables.actions(game, &start).unwrap_or_default() {
        let text = game.action_text(&start, value.action);
        writeln!(out, "  {text:6} {}", value.proven)?;
    }
    let line = tables.best_line(game, &start, args.line).unwrap_or_default();
    if !line.is_empty() {
        writeln!(out, "{}", line.join(" "))?;
    }
    Ok(())
}

fn run_openings(game: &Jarmo, args: &OpeningsArgs) -> Result<(), Failure> {
    let (tables, start, proven) = open_at(game, &args.tables, args.position.as_deref())?;
    let mut out = stdout().lock();
    writeln!(out, "{}: {proven}", start.to_move().name())?;
    for plies in 1..=args.plies {
        let openings = tables.openings(game, &start, plies).unwrap_or_default();
        let count = |verdict| {
            let verdicts = openings.iter().map(|(_, value)| value.verdict);
            verdicts.filter(|&one| one == verdict).count()
        };
        writeln!(
            out,
            "{} openings of {plies} plies: white wins {}, {} are drawn, black wins {}",
            openings.len(),
            count(Verdict::Win),
            count(Verdict::Draw),
            count(Verdict::Loss)
        )?;
        if args.list && plies == args.plies {
            for (opening, for_white) in &openings {
                let actions = opening.move_texts(game).join(" ");
                writeln!(out, "  {actions}  white: {for_white}")?;
            }
        }
    }
    Ok(())
}
