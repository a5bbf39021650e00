//! `jarmo arena`

use std::io::{self, Write, stderr, stdout};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use console::Term;

use super::block::{LiveBlock, time_left};
use super::interrupt::{INTERRUPTED, stop_on_interrupt};
use super::measure::plays_without_search;
use super::{Failure, GameArgs, check_output, in_file, write_output};
use jarmo_core::error::FileError;
use jarmo_core::numbers::{BUDGET, MATCH_GAMES, MILLISECONDS, NumberRange, RANDOM_PLIES, SEED, THREADS};
use jarmo_exact::agent::{AGENTS, AgentError, AgentSpec};
use jarmo_facade::measure::{MeasureError, OpeningsPlan, TournamentPlan};
use jarmo_facade::{AgentPlan, Games};
#[cfg(feature = "fleet")]
use jarmo_fleet::{MatchSettings, play_matches};
use jarmo_host::program::{cores, quoted};
use jarmo_host::record::{GameRecord, RecordFile};
use jarmo_judge::arena::{
    Anchor, Budget, Entrant, Expanded, Observer, Over, Pairing, Report, Settings, Sprt, Standings, entrants, expand,
};

/// Play agents against each other and rate them, with error bars
#[derive(clap::Args)]
#[command(after_help = "\
AGENT may also be a training run: run:FOLDER@STEP is one checkpoint, run:FOLDER or any folder is all of
its checkpoints (see --every). Settings after ? apply to each of them.
Each opening is played twice with the sides swapped, and the two games count as one pair.
Ctrl-C stops and prints the table so far; with --games-out no finished game is lost.
docs/evaluating.md explains the numbers.")]
pub(super) struct Args {
    /// The agents
    #[arg(value_name = "AGENT", required = true, help = format!("The agents, two for a match, more for a round robin: {AGENTS}"))]
    agents: Vec<String>,
    #[command(flatten)]
    pub(super) game: GameArgs,
    /// Use only every K-th checkpoint of a run, counted back from the last
    #[arg(long, value_name = "K", value_parser = EVERY.parser::<usize>())]
    every: Option<usize>,
    /// Games per match: an even number
    #[arg(long, value_name = "N", default_value = "200", value_parser = even_games)]
    games: u32,
    /// The first agent plays against all others, which do not play each other
    #[arg(long)]
    gauntlet: bool,
    /// Simulations or nodes per move for every agent; overrides the spec
    #[arg(long, visible_alias = "sims", value_name = "N", conflicts_with = "movetime")]
    #[arg(value_parser = BUDGET.parser::<u64>())]
    nodes: Option<u64>,
    /// Milliseconds per move for every agent; each thread plays one game at a time
    #[arg(long, value_name = "MS", value_parser = MILLISECONDS.parser::<u64>())]
    movetime: Option<u64>,
    /// Random plies at the start of each game; with --openings, the plies to use from each line of the file
    /// [default: the game's balanced openings, or 2 random plies in a game without a list]
    #[arg(long, value_name = "PLIES", value_parser = RANDOM_PLIES.parser::<u32>())]
    random_plies: Option<u32>,
    /// Openings, one per line: a game record, or actions separated by spaces
    #[arg(long, value_name = "FILE")]
    openings: Option<PathBuf>,
    /// Seed of openings and agents
    #[arg(long, value_name = "N", default_value = "1", value_parser = SEED.parser::<u64>())]
    seed: u64,
    /// Threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = THREADS.parser::<usize>())]
    threads: Option<usize>,
    /// An agent with a fixed rating, such as random=0 [default: the mean of all ratings is 0]
    #[arg(long, value_name = "AGENT=ELO")]
    anchor: Option<Anchor>,
    /// Sequential test of two agents: stop when it is clear whether the first one is stronger by ELO0 or
    /// by ELO1, with an error probability of about 5% each
    #[arg(long, value_name = "ELO0,ELO1", allow_hyphen_values = true)]
    sprt: Option<Sprt>,
    /// Exact tables, packed or not: count the mistakes of each agent, by ply and force
    #[arg(long, value_name = "FOLDER")]
    tables: Option<PathBuf>,
    /// Write the result to standard output as JSON
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Write the ratings to standard output as CSV
    #[arg(long)]
    csv: bool,
    /// Draw the ratings as SVG to this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Draw the ratings of checkpoints over hours of CPU time instead of steps
    #[arg(long, requires = "svg")]
    over_cpu: bool,
    /// Write every game to this new file, one per line
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    games_out: Option<PathBuf>,
    /// Continue the tournament in this file, and append to it. You can ask for more games and agents than
    /// before
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    #[cfg(feature = "train")]
    #[command(flatten)]
    device: super::device::DeviceArgs,
    #[cfg(feature = "fleet")]
    #[command(flatten)]
    fleet: FleetArgs,
}

/// The machines of `--fleet`.
#[cfg(feature = "fleet")]
#[derive(clap::Args)]
struct FleetArgs {
    /// Let the workers of the NATS server at this address play all games (see `jarmo fleet up`)
    #[arg(long, value_name = "URL", conflicts_with_all = ["movetime", "threads", "device"])]
    fleet: Option<String>,
    #[command(flatten)]
    access: super::fleet::AccessArgs,
}

const EVERY: NumberRange<u64> = NumberRange::new(1, 1_000_000);

pub(super) fn even_games(text: &str) -> Result<u32, String> {
    match MATCH_GAMES.parse::<u32>(text) {
        Ok(games) if games % 2 == 1 => Err(format!(
            "the number must be even, because each opening is played from both sides; take {} or {}",
            games - 1,
            games + 1
        )),
        parsed => parsed.map_err(|error| error.to_string()),
    }
}

impl Args {
    fn settings(&self) -> Settings {
        Settings {
            pairing: if self.gauntlet { Pairing::Gauntlet } else { Pairing::RoundRobin },
            pairs: self.games / 2,
            seed: self.seed,
            budget: Budget { nodes: self.nodes, movetime_ms: self.movetime },
            anchor: self.anchor.clone(),
            sprt: self.sprt,
            ..Settings::default()
        }
    }

    /// The participants and their specs, in the same order.
    fn field(&self) -> Result<(Vec<Entrant>, Vec<AgentSpec>), Failure> {
        let every = self.every.unwrap_or(1);
        let mut agents: Vec<Expanded> = Vec::new();
        for text in &self.agents {
            agents.extend(expand(text, every).map_err(Failure::usage)?);
        }
        if self.every.is_some() && agents.iter().all(|agent| agent.checkpoint.is_none()) {
            return Err(Failure::usage(
                "--every selects checkpoints of a run, but no agent is a run; name one as run:FOLDER",
            ));
        }
        let mut specs: Vec<AgentSpec> = Vec::with_capacity(agents.len());
        for agent in &mut agents {
            let spec: AgentSpec = agent.spec.parse().map_err(|error: AgentError| Failure::usage(error))?;
            agent.spec = spec.to_string();
            specs.push(spec);
        }
        if self.nodes.is_some_and(|nodes| nodes > 0)
            && let Some(spec) = specs.iter().find(|spec| plays_without_search(spec))
        {
            return Err(Failure::usage(format!("{spec} plays without search; leave out sims=0, or --nodes")));
        }
        Ok((entrants(&agents), specs))
    }

    /// The file of game records, if any, and the records it already has.
    fn records(&self) -> Result<(Option<RecordFile>, Vec<GameRecord>), Failure> {
        if let Some(path) = &self.games_out {
            let file = RecordFile::create(path)?;
            return Ok((Some(file), Vec::new()));
        }
        let Some(path) = &self.resume else {
            return Ok((None, Vec::new()));
        };
        let resumed = RecordFile::resume(path)?;
        if resumed.torn_bytes > 0 {
            eprintln!("warning: {}: the last game was written incompletely and is played again", path.display());
        }
        Ok((Some(resumed.file), resumed.records))
    }
}

pub(super) fn run(games: &Games, args: &Args) -> Result<(), Failure> {
    let game = args.game.open(games, None)?;
    check_output(args.svg.as_deref())?;
    let (entrants, specs) = args.field()?;
    #[cfg(feature = "fleet")]
    let link = args.fleet.access.connect(args.fleet.fleet.as_deref(), "arena")?;
    #[cfg(not(feature = "fleet"))]
    let link: Option<std::convert::Infallible> = None;
    #[cfg(feature = "train")]
    let networks = args.device.networks()?;
    #[cfg(not(feature = "train"))]
    let networks = jarmo_exact::agent::Networks::new();
    let agents: Vec<AgentPlan> = specs.iter().map(|spec| AgentPlan::new(spec.clone(), &networks)).collect();
    let plan = TournamentPlan {
        entrants,
        agents: &agents,
        openings: match &args.openings {
            Some(path) => OpeningsPlan::File(path, args.random_plies),
            None => OpeningsPlan::Usual(args.random_plies),
        },
        settings: args.settings(),
        // With a fleet, a wrong spec is found here and not by every worker.
        threads: if link.is_some() { 1 } else { args.threads.unwrap_or_else(cores) },
        tables: args.tables.as_deref(),
    };
    let mut tournament = game.tournament(plan).map_err(|error| match error {
        MeasureError::Openings(error) => Failure::usage(format!("{error}; use fewer --random-plies")),
        MeasureError::Match(error) => Failure::usage(error),
        MeasureError::Tables(error) => Failure::new(format!("--tables: {error}")),
        error => Failure::from(error),
    })?;
    let (file, records) = args.records()?;
    if let Some(path) = &args.resume {
        tournament.restore(&records).map_err(|error| in_file(path, error))?;
    }
    let stop = stop_on_interrupt()?;
    let (distinct, pairs) = (tournament.distinct_openings(), args.games / 2);
    if pairs as usize > distinct {
        eprintln!("note: there are only {distinct} different openings for {pairs} pairs, so some are repeated");
    }
    let mut watch = Watch::new(file, tournament.standings());
    let played: Result<(), Failure> = match link {
        None => tournament.play(&stop, &mut watch).map_err(Failure::from),
        #[cfg(feature = "fleet")]
        Some(link) => {
            let settings = MatchSettings { rules: args.game.rules.settings(None), agents: specs };
            let warn = |warning| eprintln!("warning: {warning}");
            play_matches(&link, game.as_ref(), &settings, tournament.as_mut(), &stop, &mut watch, warn)
                .map_err(Failure::from)
        }
    };
    watch.clear()?;
    let report = Report::new(tournament.standings());
    if report.games > 0 {
        write_report(args, &report)?;
    }
    played?;
    if stop.load(Ordering::Relaxed) {
        eprintln!("{}", interrupted(args, &report));
        return Err(Failure::Status(INTERRUPTED));
    }
    Ok(())
}

fn write_report(args: &Args, report: &Report) -> Result<(), Failure> {
    let mut out = stdout().lock();
    if args.json {
        serde_json::to_writer_pretty(&mut out, report).map_err(io::Error::from)?;
        writeln!(out)?;
    } else if args.csv {
        write!(out, "{}", report.to_csv())?;
    } else {
        let terminal = Term::stdout();
        let width = if terminal.is_term() { usize::from(terminal.size().1).saturating_sub(1) } else { usize::MAX };
        write!(out, "{}", report.to_text(width))?;
    }
    if let Some(path) = &args.svg {
        let title = format!("Ratings in {}", report.conditions.game);
        let over = if args.over_cpu { Over::ProcessorTime } else { Over::Steps };
        write_output(path, report.to_svg(&title, over))?;
    }
    Ok(())
}

fn interrupted(args: &Args, report: &Report) -> String {
    let so_far = format!("stopped after {} of {} games", report.games, report.planned_games);
    match args.games_out.as_ref().or(args.resume.as_ref()) {
        None => format!("{so_far}; the games are not saved (use --games-out FILE to save them)"),
        Some(path) => format!("{so_far}; to continue, run the same command with --resume {}", quoted(path)),
    }
}

/// Writes the records and shows the standings: a live table on a terminal, lines elsewhere.
pub(super) struct Watch {
    file: Option<RecordFile>,
    block: Option<LiveBlock>,
    begun: Instant,
    games_before: u32,
    shown: Instant,
}

impl Watch {
    pub(super) fn new(file: Option<RecordFile>, before: &Standings) -> Watch {
        let block = LiveBlock::on(Term::buffered_stderr());
        Watch { file, block, begun: Instant::now(), games_before: before.games(), shown: Instant::now() }
    }

    /// Removes the table from a terminal.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        self.block.as_mut().map_or(Ok(()), |block| block.draw([], [], ""))
    }

    /// Progress, speed and remaining time.
    fn pace(&self, standings: &Standings) -> String {
        let (games, planned) = (standings.games(), standings.planned_games());
        let seconds = self.begun.elapsed().as_secs_f64();
        let rate = f64::from(games - self.games_before) / seconds;
        if rate == 0.0 {
            return format!("{games} of {planned} games, no game has ended yet");
        }
        let (played, all) = (games - self.games_before, planned - self.games_before);
        let left = time_left(self.begun.elapsed(), f64::from(played) / f64::from(all));
        format!("{games} of {planned} games, {rate:.2} games/s{left}")
    }
}

impl Observer for Watch {
    fn game(&mut self, record: &GameRecord) -> Result<(), FileError> {
        match &mut self.file {
            Some(file) => file.append(record).map_err(|error| {
                format!("{error}; to continue, run the same command with --resume and this file").into()
            }),
            None => Ok(()),
        }
    }

    fn standings(&mut self, standings: &Standings) {
        const TABLE_EVERY: Duration = Duration::from_millis(500);
        const LINE_EVERY: Duration = Duration::from_secs(10);
        let every = match self.block {
            Some(_) => TABLE_EVERY,
            None => LINE_EVERY,
        };
        if self.shown.elapsed() < every {
            return;
        }
        self.shown = Instant::now();
        let pace = self.pace(standings);
        // A closed standard error is no reason to stop.
        let _ = match &mut self.block {
            None => writeln!(stderr(), "{pace}"),
            Some(block) => {
                let table = Report::new(standings).agents_table(block.width());
                let text = format!("{pace}\n\n{table}");
                block.draw([], text.lines(), "")
            }
        };
    }
}
