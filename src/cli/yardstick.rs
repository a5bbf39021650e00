//! `jarmo yardstick`

use std::env::temp_dir;
use std::fs::{create_dir, remove_dir_all};
use std::io::{Write, stdout};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use super::accuracy::game_of;
use super::interrupt::{INTERRUPTED, interrupted};
use super::measure::{MeasureArgs, Measuring, budgets, check_nodes, has_network};
use super::tables::show_progress;
use super::{Failure, check_output, in_file, write_output};
use jarmo_core::numbers::NumberRange;
use jarmo_exact::agent::{AGENTS, AgentSpec, Networks, read_spec};
use jarmo_exact::catalog::GameSettings;
use jarmo_exact::tables::BuildSettings;
use jarmo_facade::measure::AnyYardstick;
use jarmo_facade::{AgentPlan, AnyGame, Games};
use jarmo_host::{files, program};
use jarmo_judge::yardstick::{Claims, ExamShare, Row, YardstickSettings, to_svg, to_text};

/// Measure agents by exact results: exams, games against the perfect player, the worst case
#[derive(clap::Args)]
pub(super) struct Args {
    /// The agents
    #[arg(value_name = "AGENT", required_unless_present = "verify", value_parser = read_spec)]
    #[arg(help = format!("The agents: {AGENTS}"))]
    agents: Vec<AgentSpec>,
    /// Exact tables, to draw a fresh exam (new random positions) and to judge the games [default: small ones, built in
    /// seconds: jarmo up to force 6, tammi up to 4 pieces]
    #[arg(long, value_name = "FOLDER")]
    tables: Option<PathBuf>,
    /// Number of questions in the fresh exam
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = COUNT.parser::<u32>())]
    fresh: u32,
    /// Number of starting positions for games against the perfect player; each is played from both sides
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = COUNT.parser::<u32>())]
    games: u32,
    /// Number of starting positions for the worst case, in which an adversary looks for the quickest mistake of the agent
    /// without search; each is played from both sides
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = COUNT.parser::<u32>())]
    starts: u32,
    /// In the worst case, stop after this many positions without a mistake; the start then counts as held
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = COUNT.parser::<u32>())]
    positions: u32,
    /// Draw the wrong critical decisions as SVG to this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Recompute every measure in a file of results from the answers in it, instead of measuring agents. If --tables was
    /// used to measure, give the same tables
    #[arg(long, value_name = "FILE", conflicts_with_all = MEASURING)]
    verify: Option<PathBuf>,
    #[command(flatten)]
    shared: MeasureArgs,
}

/// Arguments that say what to measure; in a file of results, every row says it.
const MEASURING: [&str; 10] =
    ["agents", "game", "nodes", "seed", "json", "svg", "fresh", "games", "starts", "positions"];

/// Questions, starts and positions.
const COUNT: NumberRange<u64> = NumberRange::new(0, 1_000_000);

const MOST_BYTES: u64 = 1 << 26;

pub(super) fn run(games: &Games, args: Args) -> Result<(), Failure> {
    if let Some(path) = &args.verify {
        return verify(games, path, &args);
    }
    check_nodes(&args.agents, &args.shared.nodes)?;
    check_output(args.svg.as_deref())?;
    let game = games.open(&game_of(games, &args.shared, None, &args.agents[0])?, &GameSettings::default())?;
    let networks = Networks::new();
    let plans: Vec<AgentPlan> = args.agents.iter().map(|spec| AgentPlan::new(spec.clone(), &networks)).collect();
    for agent in &plans {
        game.agent(agent)?; // what is wrong with it is reported before the tables are built
    }
    let settings = YardstickSettings {
        seed: args.shared.seed,
        fresh: args.fresh,
        games: args.games,
        starts: args.starts,
        positions: args.positions,
    };
    let measuring = Measuring::new(args.shared.threads, args.shared.seed)?;
    let yardstick = open(game.as_ref(), settings, args.tables.as_deref(), &measuring)?;
    let mut rows: Vec<Row> = Vec::new();
    let agents = args.agents.iter().zip(&plans);
    let measured = agents.flat_map(|(spec, agent)| {
        let usual = if has_network(spec) { vec![Some(0), Some(64), Some(256)] } else { vec![None] };
        budgets(spec, &args.shared.nodes, usual).into_iter().map(move |budget| (agent, budget))
    });
    for (agent, budget) in measured {
        let name = agent.to_string();
        let row = measuring.run(agent, budget, |examinee, watch| yardstick.measure(name, examinee, watch));
        if measuring.stop.load(Ordering::Relaxed) {
            break;
        }
        let row = Row { claims: claims(), ..row? }.sealed();
        if args.shared.json {
            writeln!(stdout().lock(), "{}", serde_json::to_string(&row).expect("plain data"))?;
        }
        rows.push(row);
    }
    if !args.shared.json && !rows.is_empty() {
        write!(stdout().lock(), "{}", to_text(&rows))?;
    }
    if let Some(path) = &args.svg {
        write_output(path, to_svg(&format!("Yardstick of {}", game.facts().name), &rows))?;
    }
    interrupted(&measuring.stop, "there is a result for each agent and budget that was measured completely")
}

/// The yardstick of a game. Without a folder of tables, small ones are built first; Ctrl-C then ends the program.
fn open(
    game: &dyn AnyGame,
    settings: YardstickSettings,
    tables: Option<&Path>,
    Measuring { pool, stop, .. }: &Measuring,
) -> Result<Box<dyn AnyYardstick>, Failure> {
    let (None, Some(solver)) = (tables, game.solver()) else {
        return Ok(pool.install(|| game.yardstick(settings, tables))?);
    };
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let folder = temp_dir().join(format!("jarmo-tables-{}-{}", process::id(), now.as_nanos()));
    create_dir(&folder).map_err(|error| in_file(&folder, error))?;
    let mut show = show_progress();
    let mut tell = |progress| {
        if stop.load(Ordering::Relaxed) {
            let _ = remove_dir_all(&folder);
            eprintln!("stopped; nothing was measured");
            process::exit(INTERRUPTED.into());
        }
        show(progress);
    };
    let quick = BuildSettings { force: solver.quick(), save_every: Duration::MAX };
    let built = pool.install(|| solver.build(&folder, quick, &mut tell)).map_err(Failure::from);
    let opened = built.and_then(|()| Ok(pool.install(|| game.yardstick(settings, Some(&folder)))?));
    let _ = remove_dir_all(&folder);
    opened
}

/// What a result says of this measurement besides the measures.
fn claims() -> Claims {
    let machine = [("jarmo", program::VERSION), ("processor", std::env::consts::ARCH)];
    let machine = machine.map(|(name, text)| (name.to_owned(), text.into()));
    Claims { date: today(), machine: machine.into(), ..Claims::default() }
}

/// The date in UTC, such as `2026-11-28`.
fn today() -> String {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    // Years begin in March here, so that leap days are their last; eras have 400 years.
    let days = since.as_secs() / 86_400 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153; // from March
    let (day, month) = (day - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    format!("{}-{month:02}-{day:02}", 400 * era + year + u64::from(month <= 2))
}

fn verify(games: &Games, path: &Path, args: &Args) -> Result<(), Failure> {
    let text = files::read_text(path, MOST_BYTES).map_err(|error| in_file(path, error))?;
    let rows = Row::read_all(&text).map_err(|error| in_file(path, error))?;
    let measuring = Measuring::new(args.shared.threads, args.shared.seed)?;
    let mut last: Option<(&Row, Box<dyn AnyYardstick>)> = None; // rows of one game often come with the same settings
    for (row, number) in rows.iter().zip(1..) {
        let game = games.open(&row.game, &GameSettings::default())?;
        let parts =
            [("fresh", row.fresh.is_some()), ("games", row.games.is_some()), ("worst case", row.worst.is_some())];
        if game.solver().is_none() && args.tables.is_none() && parts.iter().any(|(_, has)| *has) {
            return Err(Failure::new(format_args!(
                "row {number}: a solver judged it, which this program lacks; `yardstick.verify` of the Python package \
                 verifies it"
            )));
        }
        let yardstick = match last.take() {
            Some((before, yardstick)) if (&before.game, before.settings) == (&row.game, row.settings) => yardstick,
            _ => open(game.as_ref(), row.settings, args.tables.as_deref(), &measuring)?,
        };
        let (_, yardstick) = last.insert((row, yardstick));
        let verified = measuring.pool.install(|| yardstick.verify(row));
        verified.map_err(|error| Failure::new(format_args!("row {number}: {error}")))?;
        interrupted(&measuring.stop, "the other rows were not verified")?;
        let of_exam = |ExamShare { wrong, critical, share, .. }: &ExamShare| {
            format!("{wrong} of {critical} critical decisions wrong, {:.2}%", 100.0 * share)
        };
        let exam = row.exam.as_ref().map_or("no exam".to_owned(), of_exam);
        let parts: String = parts.iter().filter(|(_, has)| *has).map(|(name, _)| format!(", {name}")).collect();
        writeln!(stdout().lock(), "{}: {exam}; verified: exam{parts}", row.agent)?;
    }
    writeln!(
        stdout().lock(),
        "Every measure follows from the answers in the file. It cannot be verified who gave the answers, or \
         whether budget, training, date and machine are true."
    )?;
    Ok(())
}
