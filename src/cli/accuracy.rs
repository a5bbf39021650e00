//! `jarmo accuracy`

use std::io::{Write, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;
use rayon::ThreadPool;
use serde::Serialize;
use serde_json::json;

use super::solved::{SolvedTask, with_solved};
use super::{CommandResult, Failure, first, thread_pool};
use crate::accuracy::{
    Accuracy, Draw, Exam, ExamHeader, HasExam, Mix, Phase, Tally, random_of_tables, solve_by_tables,
};
use crate::agent::{AGENTS, Agent, AgentSource, AgentSpec, build, build_without_search};
use crate::catalog::{Catalog, CatalogGame, GameSettings, GameTask};
use crate::game::{Game, Player};
use crate::net::AgentFile;
use crate::numbers::{BUDGET, NumberRange, SEED, THREADS};
use crate::tables::{Solvable, Tables};

/// Measure how often agents keep the best result
#[derive(clap::Args)]
pub(super) struct Args {
    /// The agents
    #[arg(value_name = "AGENT", required = true, help = agents_help())]
    agents: Vec<AgentSpec>,
    /// The exam, as `jarmo exam make` writes it [default: the one that is part of this program]
    #[arg(long, value_name = "FILE", conflicts_with = "tables")]
    exam: Option<PathBuf>,
    /// Draw new positions from this directory of exact tables instead (jarmo and tammi)
    #[arg(long, value_name = "DIR")]
    tables: Option<PathBuf>,
    /// The game: {games} [default: that of the agent file or the exam, otherwise {first}]
    #[arg(long, value_name = "NAME")]
    game: Option<String>,
    /// A board file with other lines than the standard board (jarmo and guard)
    #[arg(long, value_name = "FILE")]
    board: Option<PathBuf>,
    /// With --tables: number of positions of each kind
    #[arg(
        long,
        value_name = "N",
        default_value_t = 2000,
        requires = "tables",
        value_parser = POSITIONS.parser::<usize>()
    )]
    positions: usize,
    /// With --tables: random positions, positions from the agent's games against itself, or both
    #[arg(long, value_enum, default_value = "both", requires = "tables")]
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
struct Examinee<G> {
    agents: Vec<Box<dyn Agent<G>>>,
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

/// The measurement of an agent, ready to begin.
type Measurement<'a> = Box<dyn FnOnce() -> Result<(), Failure> + 'a>;

pub(super) fn run<C: Catalog>(games: &C, args: Args) -> CommandResult {
    let has_network = |spec: &AgentSpec| matches!(spec, AgentSpec::Network(..));
    if !args.nodes.is_empty()
        && args.nodes.iter().all(|&nodes| nodes == 0)
        && !args.agents.iter().any(has_network)
    {
        return Err(Failure::usage(
            "--nodes 0 needs an agent with a network; give another number of nodes",
        ));
    }
    let pool = thread_pool(args.threads)?;
    let exam = args.exam.as_deref().map(ExamHeader::load).transpose();
    let exam = exam.map_err(Failure::new)?;
    let settings = GameSettings {
        board: args.board.clone(),
        ..GameSettings::default()
    };
    if let Some(folder) = &args.tables {
        let name = game_of(games, &args, None, &args.agents[0]);
        let task = TablesTask {
            args: &args,
            pool: &pool,
            folder,
        };
        with_solved(games, &name, &settings, task)??;
        return Ok(ExitCode::SUCCESS);
    }
    // All agents are built before the first one is measured.
    let mut measurements = Vec::new();
    for spec in &args.agents {
        let game = game_of(games, &args, exam.as_ref(), spec);
        let task = ExamTask {
            args: &args,
            pool: &pool,
            spec,
        };
        measurements.push(games.with_game(&game, &settings, task)??);
    }
    for measurement in measurements {
        measurement()?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The game that an agent is examined in. What is wrong with an agent file is reported when the agent is
/// built.
fn game_of<C: Catalog>(
    games: &C,
    args: &Args,
    exam: Option<&ExamHeader>,
    spec: &AgentSpec,
) -> String {
    let of_file = || match spec {
        AgentSpec::Network(AgentSource::File(path), _) => {
            let file = AgentFile::load(path).ok()?;
            Some(file.header().version.game.clone())
        }
        _ => None,
    };
    let of_exam = || Some(exam?.game.clone());
    let game = args.game.clone().or_else(of_file).or_else(of_exam);
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
        let ExamTask { args, pool, spec } = self;
        let exam = match &args.exam {
            Some(path) => Exam::load(&game, path).map_err(Failure::new)?,
            None => Exam::built_in(&game).ok_or_else(|| no_exam(&game))?,
        };
        let candidates = candidates_of(args, &game, spec, pool.current_num_threads())?;
        Ok(Box::new(move || {
            measure(args, pool, &game, candidates, |agents, nodes| {
                vec![("exam", exam.take(agents, nodes, args.seed))]
            })
        }))
    }
}

fn no_exam<G: Game>(game: &G) -> Failure {
    let name = game.id();
    Failure::usage(format!(
        "this program has no exam for {name} on this board; give one with --exam FILE"
    ))
}

/// Measures agents by positions that are drawn from tables.
struct TablesTask<'a> {
    args: &'a Args,
    pool: &'a ThreadPool,
    folder: &'a Path,
}

impl SolvedTask for TablesTask<'_> {
    type Output = Result<(), Failure>;

    fn run<G: CatalogGame + Solvable + HasExam>(self, game: G) -> Result<(), Failure> {
        let TablesTask { args, pool, folder } = self;
        let tables = Tables::open(&game, folder).map_err(Failure::new)?;
        // All agents are built before the first one is measured.
        let agents = args.agents.iter();
        let threads = pool.current_num_threads();
        let agents: Result<Vec<_>, Failure> = agents
            .map(|spec| candidates_of(args, &game, spec, threads))
            .collect();
        for candidates in agents? {
            measure(args, pool, &game, candidates, |agents, nodes| {
                by_tables(args, &game, &tables, agents, nodes)
            })?;
        }
        Ok(())
    }
}

/// The accuracy of agents in positions of each kind that is asked for.
fn by_tables<G: CatalogGame + Solvable + HasExam>(
    args: &Args,
    game: &G,
    tables: &Tables<G>,
    agents: &mut [Box<dyn Agent<G>>],
    nodes: Option<u64>,
) -> Vec<(&'static str, Accuracy<G::Position>)> {
    const ALL: f64 = 1.0;
    let mut solve = |positions: &[G::Position]| solve_by_tables(game, tables, positions);
    let mut results = Vec::new();
    if args.from != Source::Selfplay {
        let mut draw = Draw::new(game, &mut solve, Mix::AsDrawn, args.seed);
        let random = |stream: &mut _| random_of_tables(tables, stream);
        let exam = Exam::new(game, "", draw.random(args.positions, random));
        results.push(("random", exam.take(agents, nodes, args.seed)));
    }
    if args.from != Source::Random {
        let mut draw = Draw::new(game, &mut solve, Mix::AsDrawn, args.seed);
        let questions = draw.self_play(args.positions, ALL, agents, nodes);
        let exam = Exam::new(game, "", questions);
        results.push(("self-play", exam.take(agents, nodes, args.seed)));
    }
    results
}

/// Measures an agent with each of its budgets. `examine` gives the results by kind of positions.
fn measure<G: CatalogGame>(
    args: &Args,
    pool: &ThreadPool,
    game: &G,
    candidates: Vec<Examinee<G>>,
    examine: impl Fn(
        &mut [Box<dyn Agent<G>>],
        Option<u64>,
    ) -> Vec<(&'static str, Accuracy<G::Position>)>
    + Sync,
) -> Result<(), Failure> {
    for Examinee {
        mut agents,
        budgets,
    } in candidates
    {
        for budget in budgets {
            let results = pool.install(|| examine(&mut agents, budget.nodes()));
            for (kind, accuracy) in results {
                report(args, game, agents[0].name(), budget, kind, &accuracy)?;
            }
        }
    }
    Ok(())
}

/// The candidates of a spec: its network without search, if there is one and `--nodes` asks for it, and
/// the agent itself, if it is to search.
fn candidates_of<G: CatalogGame>(
    args: &Args,
    game: &G,
    spec: &AgentSpec,
    threads: usize,
) -> Result<Vec<Examinee<G>>, Failure> {
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

fn report<G: Game>(
    args: &Args,
    game: &G,
    agent: &str,
    budget: ExamBudget,
    kind: &str,
    accuracy: &Accuracy<G::Position>,
) -> Result<(), Failure> {
    let mut out = stdout().lock();
    let all = accuracy.score().all;
    if args.json {
        let groups = groups_of(accuracy);
        let line = json!({
            "agent": agent, "game": game.id(), "nodes": budget.nodes(), "positions": kind,
            "all": all, "groups": groups, "worst": worst(args, game, accuracy),
        });
        writeln!(out, "{line}")?;
        return Ok(());
    }
    let budget = match budget {
        ExamBudget::NoSearch => ", network without search".to_owned(),
        ExamBudget::OfSpec => String::new(),
        ExamBudget::Nodes(nodes) => format!(", {nodes} nodes"),
    };
    writeln!(out, "{agent}{budget}, {kind} positions")?;
    writeln!(
        out,
        "  phase    to move  decisions    right  critical    right"
    )?;
    let mut row = |phase: &str, side: &str, tally: &Tally| {
        writeln!(
            out,
            "  {phase:7}  {side:7}  {:9}  {:6.2}%  {:8}  {:6.2}%",
            tally.decisions,
            100.0 * tally.share(),
            tally.critical,
            100.0 * tally.critical_share()
        )
    };
    for group in &groups_of(accuracy) {
        row(group.phase.name(), group.to_move.name(), &group.tally)?;
    }
    row("all", "both", &all)?;
    for mistake in worst(args, game, accuracy) {
        let MistakeText {
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

/// The decisions in one phase with one player to move.
#[derive(Serialize)]
struct Group {
    phase: Phase,
    to_move: Player,
    #[serde(flatten)]
    tally: Tally,
}

/// All groups with decisions, in the order of phases and players.
fn groups_of<P>(accuracy: &Accuracy<P>) -> Vec<Group> {
    let group = |phase, to_move| Group {
        phase,
        to_move,
        tally: *accuracy.group(phase, to_move),
    };
    let phases = Phase::ALL.into_iter();
    let groups = phases.flat_map(|phase| Player::BOTH.map(|player| group(phase, player)));
    groups.filter(|group| group.tally.decisions > 0).collect()
}

/// A wrong decision, as text.
#[derive(Serialize)]
struct MistakeText {
    position: String,
    chosen: String,
    got: String,
    better: String,
    missed: String,
}

fn worst<G: Game>(args: &Args, game: &G, accuracy: &Accuracy<G::Position>) -> Vec<MistakeText> {
    let listed = accuracy.mistakes.iter().take(args.worst);
    listed
        .map(|mistake| {
            let action = |action| game.action_text(&mistake.position, action);
            MistakeText {
                position: game.position_text(&mistake.position),
                chosen: action(mistake.chosen),
                got: mistake.got.to_string(),
                better: action(mistake.better),
                missed: mistake.missed.to_string(),
            }
        })
        .collect()
}
