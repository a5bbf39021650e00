//! `jarmo worker`

use std::io::{self, Write};
use std::time::{Duration, Instant};

use super::Failure;
use super::device::DeviceArgs;
use super::fleet::ServerArgs;
use super::interrupt::stop_on_interrupt;
use jarmo_core::numbers::{NumberRange, THREADS};
use jarmo_facade::Games;
use jarmo_fleet::{Doing, WorkerEvent, WorkerSettings, WorkerStatus, work};

/// Play for a learner or an arena on another machine. Ctrl-C sends the finished games and stops
#[derive(clap::Args)]
pub(super) struct WorkerArgs {
    #[command(flatten)]
    server: ServerArgs,
    /// Play only for this run, with its name from `fleet status` [default: the run whose learner started last]
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    /// Threads of self-play [default: one per core]
    #[arg(long, value_name = "N", value_parser = THREADS.parser::<usize>())]
    threads: Option<usize>,
    #[command(flatten)]
    device: DeviceArgs,
    /// The name of this machine in `fleet status` [default: its host name]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Stop after this many minutes
    #[arg(long, value_name = "N", value_parser = MINUTES.parser::<u64>())]
    minutes: Option<u64>,
    /// Stop after this many finished games
    #[arg(long, value_name = "N", value_parser = GAMES.parser::<u64>())]
    games: Option<u64>,
    /// Print lines of this level and more important ones
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    log: Level,
    /// Print every event as a line of JSON
    #[arg(long)]
    json: bool,
}

/// How important a line of a log is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
enum Level {
    /// Also every file and every network
    Debug,
    /// What the worker does
    #[default]
    Info,
    /// Only problems, after which the worker tries again
    Warning,
}

const MINUTES: NumberRange<u64> = NumberRange::new(1, 1 << 24);
const GAMES: NumberRange<u64> = NumberRange::new(1, 1 << 48);

pub(super) fn run_worker(games: &Games, args: WorkerArgs) -> Result<(), Failure> {
    let device = args.device.open()?;
    let settings = WorkerSettings {
        address: args.server.address(),
        name: args.name,
        run: args.run,
        threads: args.threads,
        device,
        time: args.minutes.map(|minutes| Duration::from_secs(60 * minutes)),
        most_games: args.games,
    };
    let stop = stop_on_interrupt()?;
    let mut printer = WorkerPrinter { json: args.json, log: args.log, ..WorkerPrinter::default() };
    work(games, &settings, &stop, |event, status| printer.event(event, status))?;
    if !args.json {
        printer.note(Level::Info, "stopped");
    }
    Ok(())
}

/// Prints what a worker does, a line per event; files and pairs at most every few seconds.
#[derive(Default)]
struct WorkerPrinter {
    json: bool,
    log: Level,
    doing: Option<Doing>, // said last
    shown: Option<Instant>,
}

impl WorkerPrinter {
    fn event(&mut self, event: &WorkerEvent, status: &WorkerStatus) {
        if self.json {
            let text = serde_json::to_string(event).expect("an event is plain data");
            return self.say(&text);
        }
        match event {
            WorkerEvent::Doing(doing) => {
                if self.doing.replace(*doing) != Some(*doing) {
                    self.note(Level::Info, doing.text());
                }
            }
            WorkerEvent::Playing(what) => self.note(Level::Info, what),
            WorkerEvent::Network(step) => self.note(Level::Debug, &format!("network of step {step}")),
            WorkerEvent::Pairs(_) => {
                self.note_now_and_then(&format!("pairs of games played for arenas: {}", status.pairs));
            }
            WorkerEvent::Warning(warning) => self.note(Level::Warning, warning),
            WorkerEvent::Sent { id, samples, .. } => {
                self.note(Level::Debug, &format!("file {id}, {samples} samples"));
                self.note_now_and_then(&format!(
                    "files sent: {}, with {} samples, {:.0} kB; network of step {}",
                    status.files,
                    status.samples,
                    status.bytes as f64 / 1000.0,
                    status.weights
                ));
            }
        }
    }

    fn note_now_and_then(&mut self, text: &str) {
        const EVERY: Duration = Duration::from_secs(5);
        if self.shown.is_none_or(|shown| shown.elapsed() > EVERY) {
            self.shown = Some(Instant::now());
            self.note(Level::Info, text);
        }
    }

    /// Prints a line of this level. Info stands without a word.
    fn note(&self, level: Level, text: &str) {
        if level >= self.log {
            match level {
                Level::Debug => self.say(&format!("debug: {text}")),
                Level::Info => self.say(text),
                Level::Warning => self.say(&format!("warning: {text}")),
            }
        }
    }

    fn say(&self, text: &str) {
        let mut out = io::stdout().lock();
        let _ = writeln!(out, "{text}").and_then(|()| out.flush()); // a closed pipe stops no worker
    }
}
