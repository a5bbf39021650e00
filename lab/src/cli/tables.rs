//! `lab tables`

use std::any::Any;
use std::io::{Write, stdout};
use std::path::PathBuf;

use clap::Subcommand;
use serde_json::json;

use super::CommandResult;
use crate::lookups;
use jarmo_core::game::Player;
use jarmo_core::games::{Jarmo, Tammi};
use jarmo_core::numbers::{NumberRange, QUIET_LIMIT};
use jarmo_exact::ExactError;
use jarmo_exact::catalog::{CatalogGame, GameSettings, GameTask, with_game};
use jarmo_exact::tables::{Layer, LayerStats, SideStats, Solvable, Tables};

const LOOKUPS: NumberRange<u64> = NumberRange::new(2, 100_000_000);

/// Exact tables: their counts, and how fast they are
#[derive(Subcommand)]
pub(super) enum Command {
    /// Measure the time of a lookup
    Bench(BenchArgs),
    /// Count won, drawn and lost positions for every force and side to move
    Stats(StatsArgs),
}

#[derive(clap::Args)]
pub(super) struct BenchArgs {
    /// The folder of tables
    #[arg(value_name = "FOLDER")]
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
    /// The folder of tables
    #[arg(value_name = "FOLDER")]
    tables: PathBuf,
    #[command(flatten)]
    game: SolvedGameArgs,
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
}

/// A game with exact tables and the settings of its rules.
#[derive(clap::Args)]
struct SolvedGameArgs {
    /// The game: jarmo or tammi
    #[arg(long = "game", default_value = "jarmo", value_name = "NAME")]
    name: String,
    /// A board file that replaces the standard board (jarmo)
    #[arg(long, value_name = "FILE")]
    board: Option<PathBuf>,
    /// Plies without a capture after which tammi is drawn [default: 30]
    #[arg(long, value_name = "PLIES", value_parser = QUIET_LIMIT.parser::<u32>())]
    quiet_limit: Option<u32>,
}

pub(super) fn run(command: &Command) -> CommandResult {
    let (Command::Bench(BenchArgs { game, .. }) | Command::Stats(StatsArgs { game, .. })) = command;
    let settings = GameSettings { board: game.board.clone(), quiet_limit: game.quiet_limit, max_plies: None };
    with_game(&game.name, &settings, command)?
}

/// The games with exact tables run the command.
impl GameTask for &Command {
    type Output = CommandResult;

    fn run<G: CatalogGame>(self, game: G) -> CommandResult {
        let id = game.id();
        let game: &dyn Any = &game;
        match (game.downcast_ref::<Jarmo>(), game.downcast_ref::<Tammi>()) {
            (Some(jarmo), _) => self.run_for(jarmo),
            (_, Some(tammi)) => self.run_for(tammi),
            _ => Err(ExactError::no_tables(id).into()),
        }
    }
}

impl Command {
    fn run_for<G: Solvable>(&self, game: &G) -> CommandResult {
        match self {
            Command::Bench(args) => run_bench(game, args),
            Command::Stats(args) => run_stats(game, args),
        }
    }
}

fn run_bench<G: Solvable>(game: &G, args: &BenchArgs) -> CommandResult {
    let tables = Tables::open(game, &args.tables)?;
    let mut out = stdout().lock();
    for speed in lookups::speed(&tables, args.lookups, 1) {
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
    Ok(())
}

fn run_stats<G: Solvable>(game: &G, args: &StatsArgs) -> CommandResult {
    let tables = Tables::open(game, &args.tables)?;
    let mut out = stdout().lock();
    let stats = tables.stats();
    let position = |layer: &LayerStats, index| game.position_text(&G::Layer::new(layer.force).position_at(index));
    if args.json {
        let layers: Vec<_> = stats
            .iter()
            .map(|layer| {
                let text = |longest: Option<(u32, usize)>| {
                    longest.map(|(plies, index)| json!({"plies": plies, "position": position(layer, index)}))
                };
                let side = |side: &SideStats| {
                    json!({"to_move": side.to_move, "won": side.won, "drawn": side.drawn,
                           "lost": side.lost, "over": side.over})
                };
                let sides: Vec<_> = layer.sides.iter().map(side).collect();
                json!({"force": layer.force, "sides": sides,
                       "longest_win": text(layer.longest_win),
                       "longest_loss": text(layer.longest_loss)})
            })
            .collect();
        writeln!(out, "{}", json!({"game": game.id(), "layers": layers}))?;
        return Ok(());
    }
    writeln!(out, "force  to move         won       drawn        lost        over  longest win")?;
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
        if let Some((plies, index)) = layer.longest_win {
            writeln!(out, "{:64}{plies} plies: {}", "", position(layer, index))?;
        }
    }
    Ok(())
}
