//! `jarmo accuracy`

use std::io::{Write, stdout};
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use super::accuracy_report::{to_json, write_table};
use super::interrupt::interrupted;
use super::measure::{MeasureArgs, Measuring, budget_name, budgets, check_nodes};
use super::{Failure, check_output, first, game_of_file, write_output};
use jarmo_core::numbers::NumberRange;
use jarmo_exact::agent::{AGENTS, AgentSpec, TreeSettings, TreeSpec, read_spec};
use jarmo_exact::catalog::GameSettings;
use jarmo_facade::measure::Measured;
use jarmo_facade::{AgentPlan, AnyGame, Games};
use jarmo_judge::accuracy::{ExamHeader, FEWEST, draw_stages};

/// Measure how often agents keep the best result
#[derive(clap::Args)]
pub(super) struct Args {
    /// The agents
    #[arg(value_name = "AGENT", required = true, value_parser = read_spec, help = format!("The agents: {AGENTS}"))]
    agents: Vec<AgentSpec>,
    /// The exam [default: the one that is part of this program]
    #[arg(long, value_name = "FILE")]
    exam: Option<PathBuf>,
    /// A board file that replaces the standard board (jarmo and guard), or random:SEED
    #[arg(long, value_name = "FILE")]
    board: Option<PathBuf>,
    /// Number of the worst mistakes to list
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = WORST.parser::<usize>())]
    worst: usize,
    /// Count the causes of wrong decisions, for each number of --nodes except 0: `policy` (the network gives all right
    /// actions together less than 1%), `search` (ten times as many nodes or simulations find one), otherwise `value`
    #[arg(long, requires = "nodes")]
    causes: bool,
    /// Draw the share of wrong critical decisions over force or ply as SVG to this file, with a curve for each number of
    /// --nodes; needs a single agent
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    #[cfg(feature = "train")]
    #[command(flatten)]
    device: super::device::DeviceArgs,
    #[command(flatten)]
    shared: MeasureArgs,
}

/// As many mistakes as an exam's result keeps.
const WORST: NumberRange<u64> = NumberRange::new(0, 100);

pub(super) fn run(games: &Games, args: Args) -> Result<(), Failure> {
    check_nodes(&args.agents, &args.shared.nodes)?;
    if args.causes && args.shared.nodes.iter().all(|&nodes| nodes == 0) {
        return Err(Failure::usage("--causes needs a number of --nodes above 0; without search there are no causes"));
    }
    if args.svg.is_some() && args.agents.len() > 1 {
        return Err(Failure::usage("--svg draws one agent; give only one"));
    }
    check_output(args.svg.as_deref())?;
    let exam = args.exam.as_deref().map(ExamHeader::load).transpose()?;
    let settings = GameSettings { board: args.board.clone(), ..GameSettings::default() };
    #[cfg(feature = "train")]
    let networks = args.device.networks()?;
    #[cfg(not(feature = "train"))]
    let networks = jarmo_exact::agent::Networks::new();
    let mut examined = Vec::new();
    for spec in &args.agents {
        let of_exam = exam.as_ref().map(|exam| exam.game.as_str());
        let game = games.open(&game_of(games, &args.shared, of_exam, spec)?, &settings)?;
        let exam = game.exam(args.exam.as_deref())?.ok_or_else(|| {
            let name = game.facts().name;
            Failure::usage(format!("this program has no exam for {name} on this board; give one with --exam FILE"))
        })?;
        let agent = AgentPlan::new(spec.clone(), &networks);
        game.agent(&agent)?; // what is wrong with it is reported before the first one is measured
        examined.push((game, exam, agent));
    }
    let measuring = Measuring::new(args.shared.threads, args.shared.seed)?;
    for (spec, (game, exam, agent)) in args.agents.iter().zip(&examined) {
        let name = spec.to_string();
        let mut measured = Vec::new();
        let searched = |tree: &TreeSpec| tree.sims.unwrap_or(TreeSettings::network().simulations).into();
        let usual = match spec {
            AgentSpec::Network(_, tree) if tree.sims != Some(0) => vec![Some(0), Some(searched(tree))],
            AgentSpec::Uniform(tree) | AgentSpec::Rollout(tree) => vec![tree.sims.map(u64::from)],
            AgentSpec::AlphaBeta(settings) => vec![settings.nodes],
            _ => vec![None],
        };
        for budget in budgets(spec, &args.shared.nodes, usual) {
            let one = measuring.run(agent, budget, |examinee, watch| exam.measure(examinee, args.causes, watch))?;
            if args.shared.json {
                writeln!(stdout().lock(), "{}", to_json(game.as_ref(), &name, &one, args.worst))?;
            }
            measured.push(one);
            if measuring.stop.load(Ordering::Relaxed) {
                break;
            }
        }
        show(&args, game.as_ref(), &name, &measured, exam.len())?;
        interrupted(&measuring.stop, "the last results are those of the decisions so far, a random part of the exam")?;
    }
    if !args.shared.json {
        let mut out = stdout().lock();
        writeln!(out, "± is half the 95% interval. Forces and plies shown have at least {FEWEST} critical positions.")?;
        if args.exam.is_none() {
            writeln!(out, "The exams are part of this program; no tables are needed.")?;
        }
    }
    Ok(())
}

/// The game that an agent is measured in, perhaps with an exam.
pub(super) fn game_of(games: &Games, by: &MeasureArgs, exam: Option<&str>, of: &AgentSpec) -> Result<String, Failure> {
    if let Some(game) = &by.game {
        return Ok(game.clone());
    }
    Ok(game_of_file(games, of)?.unwrap_or_else(|| exam.unwrap_or(first(games)).to_owned()))
}

/// Prints the results of an agent, of an exam with so many questions.
fn show(args: &Args, game: &dyn AnyGame, name: &str, measured: &[Measured], questions: usize) -> Result<(), Failure> {
    let is_whole = |one: &Measured| one.accuracy.score().all.decisions == questions as u64;
    if !args.shared.json {
        // A column that was stopped has fewer decisions, and so a table of its own. An agent without a network has nothing
        // to show where only networks are asked.
        for columns in measured.chunk_by(|one, next| is_whole(one) && is_whole(next)) {
            write_table(&mut stdout().lock(), game, name, columns, args.worst)?;
        }
    }
    if let Some(path) = &args.svg {
        let curves = measured.iter().map(|one| (budget_name(one.budget), &one.accuracy));
        write_output(path, draw_stages(name, &curves.collect::<Vec<_>>()))?;
    }
    Ok(())
}
