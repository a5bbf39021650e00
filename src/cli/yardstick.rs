//! `jarmo yardstick`

use std::io::{Write, stdout};
use std::path::{Path, PathBuf};

use rayon::ThreadPool;

use super::{Failure, check_output, first, game_of_file, in_file, thread_pool, write_output};
use jarmo_core::numbers::{BUDGET, NumberRange, SEED, THREADS};
use jarmo_exact::agent::{AGENTS, AgentSpec, Agents, build_all, build_without_search};
use jarmo_exact::catalog::{Catalog, CatalogGame, GameSettings, GameTask};
use jarmo_host::files;
use jarmo_judge::yardstick::{Row, Yardstick, YardstickSettings, to_svg, to_text};

/// Measure agents by exact results: exams, games against the perfect player, the worst case
#[derive(clap::Args)]
pub(super) struct Args {
    /// The agents
    #[arg(value_name = "AGENT", required_unless_present = "verify", help = format!("The agents: {AGENTS}"))]
    agents: Vec<AgentSpec>,
    /// The game: {games} [default: that of the first agent's file, otherwise {first}]
    #[arg(long, value_name = "NAME")]
    game: Option<String>,
    /// Nodes or simulations per decision, several to compare; 0 uses the network of an agent file without search
    /// [default: 0, 64 and 256 for agent files, the number in the spec for others]
    #[arg(
        long,
        visible_alias = "sims",
        value_name = "N,N…",
        value_delimiter = ',',
        value_parser = BUDGET.or_zero().parser::<u64>()
    )]
    nodes: Vec<u64>,
    /// Exact tables that draw the fresh exam and judge the games [default: those that are built in seconds: force 6 of
    /// jarmo, 4 pieces of tammi]
    #[arg(long, value_name = "FOLDER")]
    tables: Option<PathBuf>,
    /// Questions of the fresh exam
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = COUNT.parser::<u32>())]
    fresh: u32,
    /// Starts of games against the perfect player, each from both sides
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = COUNT.parser::<u32>())]
    games: u32,
    /// Starts of the worst case of an agent alone, each from both sides
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = COUNT.parser::<u32>())]
    starts: u32,
    /// The positions after which a start counts as held in the worst case
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = COUNT.parser::<u32>())]
    positions: u32,
    /// Seed of the fresh exam, the starts and the agents
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = SEED.parser::<u64>())]
    seed: u64,
    /// Threads [default: one per core]
    #[arg(long, value_name = "T", value_parser = THREADS.parser::<usize>())]
    threads: Option<usize>,
    /// Draw the wrong critical decisions as SVG to this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Print one JSON object per line for every agent and budget
    #[arg(long)]
    json: bool,
    /// Mark the answers in a file of such lines once more, instead of measuring
    #[arg(long, value_name = "FILE", conflicts_with = "agents")]
    verify: Option<PathBuf>,
}

/// Questions, starts and positions.
const COUNT: NumberRange<u64> = NumberRange::new(0, 1_000_000);

const MOST_BYTES: u64 = 1 << 26;

pub(super) fn run<C: Catalog>(games: &C, args: Args) -> Result<(), Failure> {
    if let Some(path) = &args.verify {
        return verify(games, path);
    }
    check_output(args.svg.as_deref())?;
    let game = args.game.clone().or_else(|| game_of_file(args.agents.first()?));
    let game = game.unwrap_or_else(|| first(games).to_owned());
    let pool = thread_pool(args.threads)?;
    games.with_game(&game, &GameSettings::default(), Measure { args, pool })?
}

struct Measure {
    args: Args,
    pool: ThreadPool,
}

impl GameTask for Measure {
    type Output = Result<(), Failure>;

    fn run<G: CatalogGame>(self, game: G) -> Result<(), Failure> {
        let Measure { args, pool } = self;
        let mut measured = Vec::new();
        for spec in &args.agents {
            let has_network = matches!(spec, AgentSpec::Network(..));
            let budgets: Vec<Option<u64>> = match (&args.nodes[..], has_network) {
                ([], true) => vec![Some(0), Some(64), Some(256)],
                ([], false) => vec![None],
                (nodes, _) => nodes.iter().map(|&nodes| Some(nodes)).collect(),
            };
            for budget in budgets {
                measured.push((spec, budget, agents(&game, spec, budget, pool.current_num_threads())?));
            }
        }
        let tables = match &args.tables {
            Some(folder) => Some(game.open_endgames(folder).map_err(Failure::new)?),
            None => pool.install(|| game.quick_endgames()).map_err(Failure::new)?,
        };
        let settings = YardstickSettings {
            seed: args.seed,
            fresh: args.fresh,
            games: args.games,
            starts: args.starts,
            positions: args.positions,
        };
        let yardstick = Yardstick::new(&game, settings, tables).map_err(Failure::new)?;
        let mut rows: Vec<Row> = Vec::new();
        for (spec, budget, mut agents) in measured {
            let alone = matches!(budget, None | Some(0));
            let row = pool.install(|| yardstick.measure(spec.to_string(), &mut agents, budget, alone));
            if args.json {
                let line = serde_json::to_string(&row).expect("plain data");
                writeln!(stdout().lock(), "{line}")?;
            }
            rows.push(row);
        }
        if !args.json {
            write!(stdout().lock(), "{}", to_text(&rows))?;
        }
        if let Some(path) = &args.svg {
            write_output(path, to_svg(&format!("Yardstick of {}", game.id()), &rows))?;
        }
        Ok(())
    }
}

/// So many agents of a spec, or as many of its network without search for a budget of 0.
fn agents<G: CatalogGame>(game: &G, spec: &AgentSpec, budget: Option<u64>, count: usize) -> Result<Agents<G>, Failure> {
    if budget != Some(0) {
        return build_all(game, spec, count).map_err(Failure::usage);
    }
    let networks = build_without_search(game, spec, count).map_err(Failure::usage)?;
    networks.ok_or_else(|| {
        Failure::usage(format!("--nodes 0 needs an agent with a network, not {spec}; give another number of nodes"))
    })
}

fn verify<C: Catalog>(games: &C, path: &Path) -> Result<(), Failure> {
    let text = files::read_text(path, MOST_BYTES).map_err(|error| in_file(path, error))?;
    for (line, number) in text.lines().zip(1..) {
        let row: Row =
            serde_json::from_str(line).map_err(|error| in_file(path, format_args!("line {number}: {error}")))?;
        let game = row.game.clone();
        games.with_game(&game, &GameSettings::default(), Verify { row, number })??;
    }
    Ok(())
}

struct Verify {
    row: Row,
    number: usize,
}

impl GameTask for Verify {
    type Output = Result<(), Failure>;

    fn run<G: CatalogGame>(self, game: G) -> Self::Output {
        let Verify { row, number } = self;
        let wrong = |error| Failure::new(format_args!("line {number}: {error}"));
        let share = Yardstick::verify(&game, &row).map_err(wrong)?;
        let (agent, wrong, critical) = (&row.agent, share.wrong, share.critical);
        let percent = 100.0 * share.share;
        writeln!(
            stdout().lock(),
            "{agent}: {wrong} of {critical} critical decisions wrong, {percent:.2} %, as it says"
        )?;
        Ok(())
    }
}
