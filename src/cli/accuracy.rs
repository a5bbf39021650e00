//! `jarmo accuracy`

use std::io::{Write, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;
use serde_json::{Value as Json, json};

use super::{CommandResult, Failure, GameArgs};
use crate::accuracy::{Accuracy, Exam};
use crate::agent::{Agent, AgentSpec, build};
use crate::game::Game;
use crate::games::Jarmo;
use crate::tables::Tables;

/// Measure how often agents' decisions keep the best result, against exact tables
#[derive(clap::Args)]
pub(super) struct Args {
    /// The agents
    #[arg(value_name = "AGENT", required = true)]
    agents: Vec<AgentSpec>,
    /// The directory of tables
    #[arg(long, value_name = "DIR")]
    tables: PathBuf,
    #[command(flatten)]
    game: GameArgs,
    /// Positions of each kind
    #[arg(long, value_name = "N", default_value_t = 2000)]
    positions: usize,
    /// Which positions: random placements, positions from the agent's games against itself, or both
    #[arg(long, value_enum, default_value = "both")]
    from: Source,
    /// Nodes or simulations a decision, several to compare; 1 shows a network without search
    /// [default: what the agent's spec says]
    #[arg(
        long,
        visible_alias = "sims",
        value_name = "N,N…",
        value_delimiter = ','
    )]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Vec<u64>,
    /// How many of the worst mistakes to list
    #[arg(long, value_name = "N", default_value_t = 3)]
    worst: usize,
    /// The seed of positions and agents
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// One JSON object a line for every agent, kind of positions and budget
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Source {
    Random,
    Selfplay,
    Both,
}

pub(super) fn run(args: Args) -> CommandResult {
    let game = args.game.jarmo()?;
    let tables = Tables::open(&game, &args.tables).map_err(Failure::new)?;
    let make = |spec: &AgentSpec| build(game.clone(), spec).map_err(Failure::usage);
    let mut agents: Vec<_> = args.agents.iter().map(make).collect::<Result<_, _>>()?;
    let budgets = if args.nodes.is_empty() {
        vec![None]
    } else {
        args.nodes.iter().copied().map(Some).collect()
    };
    let random = Exam::random(&game, &tables, args.positions, args.seed);
    for agent in &mut agents {
        for &nodes in &budgets {
            if args.from != Source::Selfplay {
                report(&args, &game, agent.as_mut(), nodes, "random", &random)?;
            }
            if args.from != Source::Random {
                let (count, seed) = (args.positions, args.seed);
                let exam = Exam::self_play(&game, &tables, agent.as_mut(), nodes, count, seed);
                report(&args, &game, agent.as_mut(), nodes, "self-play", &exam)?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn report(
    args: &Args,
    game: &Jarmo,
    agent: &mut dyn Agent<Jarmo>,
    nodes: Option<u64>,
    source: &str,
    exam: &Exam,
) -> Result<(), Failure> {
    let accuracy = exam.take(agent, nodes, args.seed);
    let mut out = stdout().lock();
    if args.json {
        let line = json!({
            "agent": agent.name(), "nodes": nodes, "positions": source,
            "all": accuracy.all, "groups": accuracy.groups, "worst": worst(args, game, &accuracy),
        });
        writeln!(out, "{line}")?;
        return Ok(());
    }
    let budget = nodes.map_or(String::new(), |nodes| format!(", {nodes} nodes"));
    writeln!(out, "{}{budget}, {source} positions", agent.name())?;
    writeln!(
        out,
        "  force  to move  decisions    right  critical    right"
    )?;
    let mut row = |force: &str, side: &str, tally: &crate::accuracy::Tally| {
        writeln!(
            out,
            "  {force:>5}  {side:7}  {:9}  {:6.2}%  {:8}  {:6.2}%",
            tally.decisions,
            100.0 * tally.share(),
            tally.critical,
            100.0 * tally.critical_share()
        )
    };
    for group in &accuracy.groups {
        row(&group.force.to_string(), group.to_move.name(), &group.tally)?;
    }
    row("all", "both", &accuracy.all)?;
    for mistake in worst(args, game, &accuracy) {
        let text = |key: &str| mistake[key].as_str().unwrap_or_default().to_owned();
        writeln!(
            out,
            "  {}: {} ({}), right is {} ({})",
            text("position"),
            text("chosen"),
            text("got"),
            text("better"),
            text("missed")
        )?;
    }
    writeln!(out)?;
    Ok(())
}

fn worst(args: &Args, game: &Jarmo, accuracy: &Accuracy) -> Vec<Json> {
    let listed = accuracy.blunders.iter().take(args.worst);
    listed
        .map(|blunder| {
            let action = |action| game.action_text(&blunder.position, action);
            json!({
                "position": game.position_text(&blunder.position),
                "chosen": action(blunder.chosen), "got": blunder.got.to_string(),
                "better": action(blunder.better), "missed": blunder.missed.to_string(),
            })
        })
        .collect()
}
