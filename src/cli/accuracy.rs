//! `jarmo accuracy`

use std::io::{Write, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;
use serde::Serialize;
use serde_json::json;

use super::solved::SolvedGameArgs;
use super::{CommandResult, Failure, thread_pool};
use jarmo::accuracy::{Accuracy, Exam, Tally};
use jarmo::agent::{AGENTS, Agent, AgentSpec, build, build_without_search};
use jarmo::game::Game;
use jarmo::games::Jarmo;
use jarmo::numbers::{BUDGET, NumberRange, SEED, THREADS};
use jarmo::tables::Tables;

/// Measure how often agents keep the best result, according to exact tables
#[derive(clap::Args)]
pub(super) struct Args {
    /// The agents
    #[arg(value_name = "AGENT", required = true, help = agents_help())]
    agents: Vec<AgentSpec>,
    /// The directory of tables
    #[arg(long, value_name = "DIR")]
    tables: PathBuf,
    #[command(flatten)]
    game: SolvedGameArgs,
    /// Number of positions of each kind
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = POSITIONS.parser::<usize>())]
    positions: usize,
    /// Kind of positions: random ones, positions from the agent's games against itself, or both
    #[arg(long, value_enum, default_value = "both")]
    from: Source,
    /// Nodes or simulations per decision, several to compare; 0 uses the network of an agent file
    /// without search and skips other agents
    /// [default: the number in the agent's spec, and 0 for agent files]
    #[arg(
        long,
        visible_alias = "sims",
        value_name = "N,N…",
        value_delimiter = ',',
        value_parser = BUDGET.or_zero().parser::<u64>()
    )]
    nodes: Vec<u64>,
    /// Threads [default: one per core]
    #[arg(long, value_name = "T", value_parser = THREADS.parser::<usize>())]
    threads: Option<usize>,
    /// Number of the worst mistakes to list
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = POSITIONS.or_zero().parser::<usize>())]
    worst: usize,
    /// Seed of positions and agents
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = SEED.parser::<u64>())]
    seed: u64,
    /// Print one JSON object per line for every agent, kind of positions and budget
    #[arg(long)]
    json: bool,
}

/// Positions of an exam.
const POSITIONS: NumberRange<u64> = NumberRange::new(1, 10_000_000);

fn agents_help() -> String {
    format!("The agents: {AGENTS}")
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Source {
    Random,
    Selfplay,
    Both,
}

/// An agent per thread, and the budgets to measure one after another.
struct Examinee {
    agents: Vec<Box<dyn Agent<Jarmo>>>,
    budgets: Vec<ExamBudget>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ExamBudget {
    /// The network without search.
    NoSearch,
    /// The number in the spec.
    OfSpec,
    /// This many nodes or simulations.
    Nodes(u64),
}

impl ExamBudget {
    fn nodes(self) -> Option<u64> {
        match self {
            ExamBudget::NoSearch => Some(0),
            ExamBudget::OfSpec => None,
            ExamBudget::Nodes(nodes) => Some(nodes),
        }
    }
}

pub(super) fn run(args: Args) -> CommandResult {
    let game = args.game.jarmo()?;
    let tables = Tables::open(&game, &args.tables).map_err(Failure::new)?;
    let pool = thread_pool(args.threads)?;
    let threads = pool.current_num_threads();
    let mut candidates = Vec::new();
    for spec in &args.agents {
        candidates.extend(candidates_of(&args, &game, spec, threads)?);
    }
    if candidates.is_empty() {
        return Err(Failure::usage(
            "--nodes 0 needs an agent with a network; give another number of nodes",
        ));
    }
    let random = Exam::random(&game, &tables, args.positions, args.seed);
    for Examinee { agents, budgets } in &mut candidates {
        for budget in budgets {
            let (nodes, count, seed) = (budget.nodes(), args.positions, args.seed);
            if args.from != Source::Selfplay {
                let accuracy = pool.install(|| random.take(agents, nodes, seed));
                report(&args, &game, agents[0].name(), *budget, "random", &accuracy)?;
            }
            if args.from != Source::Random {
                let accuracy = pool.install(|| {
                    let exam = Exam::self_play(&game, &tables, agents, nodes, count, seed);
                    exam.take(agents, nodes, seed)
                });
                let name = agents[0].name();
                report(&args, &game, name, *budget, "self-play", &accuracy)?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The candidates of a spec: its network without search, if there is one and `--nodes` asks for it, and
/// the agent itself, if it is to search.
fn candidates_of(
    args: &Args,
    game: &Jarmo,
    spec: &AgentSpec,
    threads: usize,
) -> Result<Vec<Examinee>, Failure> {
    let mut candidates = Vec::new();
    if args.nodes.is_empty() || args.nodes.contains(&0) {
        let network = || build_without_search(game.clone(), spec).transpose();
        let agents: Option<Vec<_>> = (0..threads).map(|_| network()).collect();
        let agents = agents.map(|agents| agents.into_iter().collect::<Result<Vec<_>, _>>());
        if let Some(agents) = agents {
            candidates.push(Examinee {
                agents: agents.map_err(Failure::usage)?,
                budgets: vec![ExamBudget::NoSearch],
            });
        }
    }
    let budgets: Vec<ExamBudget> = match &args.nodes[..] {
        [] => vec![ExamBudget::OfSpec],
        nodes => {
            let searches = nodes.iter().filter(|&&nodes| nodes > 0);
            searches.map(|&nodes| ExamBudget::Nodes(nodes)).collect()
        }
    };
    if !budgets.is_empty() {
        let agents = (0..threads).map(|_| build(game.clone(), spec));
        let agents: Result<Vec<_>, _> = agents.collect();
        candidates.push(Examinee {
            agents: agents.map_err(Failure::usage)?,
            budgets,
        });
    }
    Ok(candidates)
}

fn report(
    args: &Args,
    game: &Jarmo,
    agent: &str,
    budget: ExamBudget,
    source: &str,
    accuracy: &Accuracy,
) -> Result<(), Failure> {
    let mut out = stdout().lock();
    if args.json {
        let line = json!({
            "agent": agent, "nodes": budget.nodes(), "positions": source,
            "all": accuracy.all, "groups": accuracy.groups, "worst": worst(args, game, accuracy),
        });
        writeln!(out, "{line}")?;
        return Ok(());
    }
    let budget = match budget {
        ExamBudget::NoSearch => ", network without search".to_owned(),
        ExamBudget::OfSpec => String::new(),
        ExamBudget::Nodes(nodes) => format!(", {nodes} nodes"),
    };
    writeln!(out, "{agent}{budget}, {source} positions")?;
    writeln!(
        out,
        "  force  to move  decisions    right  critical    right"
    )?;
    let mut row = |force: &str, side: &str, tally: &Tally| {
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
    for mistake in worst(args, game, accuracy) {
        let Mistake {
            position,
            chosen,
            got,
            better,
            missed,
        } = mistake;
        writeln!(
            out,
            "  {position}: {chosen} ({got}), right is {better} ({missed})"
        )?;
    }
    writeln!(out)?;
    Ok(())
}

/// A wrong decision, as text.
#[derive(Serialize)]
struct Mistake {
    position: String,
    chosen: String,
    got: String,
    better: String,
    missed: String,
}

fn worst(args: &Args, game: &Jarmo, accuracy: &Accuracy) -> Vec<Mistake> {
    let listed = accuracy.blunders.iter().take(args.worst);
    listed
        .map(|blunder| {
            let action = |action| game.action_text(&blunder.position, action);
            Mistake {
                position: game.position_text(&blunder.position),
                chosen: action(blunder.chosen),
                got: blunder.got.to_string(),
                better: action(blunder.better),
                missed: blunder.missed.to_string(),
            }
        })
        .collect()
}
