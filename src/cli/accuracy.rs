//! `jarmo accuracy`

use std::io::{Write, stdout};
use std::path::PathBuf;

use rayon::ThreadPool;

use super::accuracy_report::{Measured, to_json, write_table};
use super::{Failure, check_output, first, game_of_file, thread_pool, write_output};
use jarmo_core::numbers::{BUDGET, NumberRange, SEED, THREADS};
use jarmo_exact::agent::{AGENTS, AgentSpec, Agents, build_all, build_without_search};
use jarmo_exact::catalog::{Catalog, CatalogGame, GameSettings, GameTask};
use jarmo_judge::accuracy::{Exam, ExamHeader, FEWEST, draw_stages};

/// Measure how often agents keep the best result
#[derive(clap::Args)]
pub(super) struct Args {
    /// The agents
    #[arg(value_name = "AGENT", required = true, help = format!("The agents: {AGENTS}"))]
    agents: Vec<AgentSpec>,
    /// The exam [default: the one that is part of this program]
    #[arg(long, value_name = "FILE")]
    exam: Option<PathBuf>,
    /// The game: {games} [default: that of the agent file or the exam, otherwise {first}]
    #[arg(long, value_name = "NAME")]
    game: Option<String>,
    /// A board file with other lines than the standard board (jarmo and guard)
    #[arg(long, value_name = "FILE")]
    board: Option<PathBuf>,
    /// Nodes or simulations per decision, several to compare; 0 uses the network of an agent file without search and
    /// skips other agents [default: the number in the agent's spec, and 0 for agent files]
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
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = WORST.parser::<usize>())]
    worst: usize,
    /// Count the causes of wrong decisions, for each number of --nodes but 0: `policy` (the network gives the
    /// right actions together under 1 %), `search` (ten times the number finds one), otherwise `value`
    #[arg(long, requires = "nodes")]
    causes: bool,
    /// Draw the share of critical decisions that were wrong as SVG to this file, over force or ply, a
    /// curve for each number of --nodes; for one agent
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Seed of positions and agents
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = SEED.parser::<u64>())]
    seed: u64,
    /// Print one JSON object per line for every agent and budget
    #[arg(long)]
    json: bool,
}

const WORST: NumberRange<u64> = NumberRange::new(0, 10_000_000);

/// An agent per thread, and the budgets to measure one after another.
type Examinee<G> = (Agents<G>, Vec<ExamBudget>);

/// Nodes or simulations per decision, 0 for the network without search; `None` is the number in the spec.
pub(super) type ExamBudget = Option<u64>;

/// The measurement of an agent, ready to begin.
type Measurement<'a> = Box<dyn FnOnce() -> Result<(), Failure> + 'a>;

pub(super) fn run<C: Catalog>(games: &C, args: Args) -> Result<(), Failure> {
    let has_network = |spec: &AgentSpec| matches!(spec, AgentSpec::Network(..));
    if !args.nodes.is_empty() && args.nodes.iter().all(|&nodes| nodes == 0) && !args.agents.iter().any(has_network) {
        return Err(Failure::usage("--nodes 0 needs an agent with a network; give another number of nodes"));
    }
    if args.svg.is_some() && args.agents.len() > 1 {
        return Err(Failure::usage("--svg draws one agent; give only one"));
    }
    check_output(args.svg.as_deref())?;
    let pool = thread_pool(args.threads)?;
    let exam = args.exam.as_deref().map(ExamHeader::load).transpose()?;
    let settings = GameSettings { board: args.board.clone(), ..GameSettings::default() };
    // All agents are built before the first one is measured.
    let mut measurements = Vec::new();
    for spec in &args.agents {
        let game = game_of(games, &args, exam.as_ref(), spec);
        let task = ExamTask { args: &args, pool: &pool, spec };
        measurements.push(games.with_game(&game, &settings, task)??);
    }
    for measurement in measurements {
        measurement()?;
    }
    if !args.json {
        let mut out = stdout().lock();
        writeln!(out, "± is half the 95 % interval. Rows of a force or ply have at least {FEWEST} positions.")?;
        if args.exam.is_none() {
            writeln!(out, "The exams are part of this program; no tables are needed.")?;
        }
    }
    Ok(())
}

/// The game that an agent is examined in.
fn game_of<C: Catalog>(games: &C, args: &Args, exam: Option<&ExamHeader>, spec: &AgentSpec) -> String {
    let of_exam = || Some(exam?.game.clone());
    let game = args.game.clone().or_else(|| game_of_file(spec)).or_else(of_exam);
    game.unwrap_or_else(|| first(games).to_owned())
}

/// Prepares the measurement of an agent by an exam.
struct ExamTask<'a> {
    args: &'a Args,
    pool: &'a ThreadPool,
    spec: &'a AgentSpec,
}

impl<'a> GameTask for ExamTask<'a> {
    type Output = Result<Measurement<'a>, Failure>;

    fn run<G: CatalogGame>(self, game: G) -> Self::Output {
        let exam = match &self.args.exam {
            Some(path) => Exam::load(&game, path)?,
            None => Exam::built_in(&game).ok_or_else(|| {
                let name = game.id();
                Failure::usage(format!("this program has no exam for {name} on this board; give one with --exam FILE"))
            })?,
        };
        let candidates = self.candidates(&game)?;
        Ok(Box::new(move || self.measure(&game, candidates, &exam)))
    }
}

impl ExamTask<'_> {
    fn measure<G: CatalogGame>(&self, game: &G, candidates: Vec<Examinee<G>>, exam: &Exam<G>) -> Result<(), Failure> {
        let ExamTask { args, pool, spec } = self;
        let network = if args.causes { build_without_search(game, spec, 1).map_err(Failure::usage)? } else { None };
        let mut networks = network.unwrap_or_default();
        let mut measured = Vec::new();
        let name = spec.to_string();
        for (mut agents, budgets) in candidates {
            for budget in budgets {
                let accuracy = pool.install(|| exam.take(&mut agents, budget, args.seed));
                let searches = budget.filter(|&nodes| args.causes && nodes > 0);
                let causes = searches.map(|nodes| {
                    pool.install(|| exam.causes(&accuracy.wrong, &mut networks, &mut agents, nodes, args.seed))
                });
                let one = Measured { budget, accuracy, causes };
                if args.json {
                    let line = to_json(game, &name, &one, args.worst);
                    writeln!(stdout().lock(), "{line}")?;
                }
                measured.push(one);
            }
        }
        // An agent without a network has nothing to show where only networks are asked.
        if !args.json && !measured.is_empty() {
            write_table(&mut stdout().lock(), game, &name, &measured, args.worst)?;
        }
        if let Some(path) = &args.svg {
            let curves = measured.iter().map(|one| (one.column(), &one.accuracy));
            write_output(path, draw_stages(&name, &curves.collect::<Vec<_>>()))?;
        }
        Ok(())
    }

    /// The candidates of the spec: its network without search, if there is one and `--nodes` asks for it, and the agent
    /// itself, if it is to search.
    fn candidates<G: CatalogGame>(&self, game: &G) -> Result<Vec<Examinee<G>>, Failure> {
        let ExamTask { args, pool, spec } = self;
        let threads = pool.current_num_threads();
        let mut candidates = Vec::new();
        if args.nodes.is_empty() || args.nodes.contains(&0) {
            let networks = build_without_search(game, spec, threads).map_err(Failure::usage)?;
            candidates.extend(networks.map(|agents| (agents, vec![Some(0)])));
        }
        let budgets: Vec<ExamBudget> = match &args.nodes[..] {
            [] => vec![None],
            nodes => nodes.iter().filter(|&&nodes| nodes > 0).copied().map(Some).collect(),
        };
        if !budgets.is_empty() {
            candidates.push((build_all(game, spec, threads).map_err(Failure::usage)?, budgets));
        }
        Ok(candidates)
    }
}
