//! A server in a temporary folder, and the programs that use it.

#[path = "../../crates/fleet/tests/kit/machine.rs"]
mod machine;

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use machine::nats_server;
use tempfile::TempDir;

/// A running server with its keys.
pub(crate) struct Server {
    folder: TempDir,
    port: u16,
    process: Child,
    tls: bool,
}

impl Server {
    /// Starts a server with these further arguments of `fleet up`. `None` if this machine has none.
    pub(crate) fn start(arguments: &[&str]) -> Option<Server> {
        let program = nats_server()?;
        let folder = tempfile::tempdir().unwrap();
        let port = free_port();
        let text = port.to_string();
        let up = ["fleet", "up", "--write-only", "--dir", "server", "--port", &text];
        let status = jarmo(folder.path(), &[&up, arguments].concat()).status().unwrap();
        assert!(status.success());
        let process = start_server(Path::new(&program), folder.path());
        let mut server = Server { folder, port, process, tls: arguments.contains(&"--tls") };
        server.wait();
        Some(server)
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn url(&self) -> String {
        let scheme = if self.tls { "tls" } else { "nats" };
        format!("{scheme}://localhost:{}", self.port)
    }

    /// A command with the address and a key; its output goes to a file of this name.
    pub(crate) fn command(&self, arguments: &[&str], key: &str, log: &str) -> Command {
        let mut all: Vec<String> = arguments.iter().map(|text| (*text).to_owned()).collect();
        all.extend(["--key".to_owned(), format!("server/{key}.key")]);
        if self.tls {
            all.extend(["--authority".to_owned(), "server/authority.pem".to_owned()]);
        }
        let mut command = jarmo(self.folder(), &all);
        let log = File::options().create(true).append(true).open(self.folder().join(log)).unwrap();
        command.stdout(log.try_clone().unwrap()).stderr(log);
        command
    }

    pub(crate) fn log(&self, name: &str) -> String {
        fs::read_to_string(self.folder().join(name)).unwrap_or_default()
    }

    /// Kills the server and starts it again with the same data.
    pub(crate) fn crash(&mut self) {
        self.end();
        self.start_again();
    }

    /// Kills the server, deletes its data and starts it again.
    pub(crate) fn lose_data(&mut self) {
        self.end();
        fs::remove_dir_all(self.folder().join("server/data")).unwrap();
        self.start_again();
    }

    /// Kills the server.
    pub(crate) fn end(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Whether something listens on its port.
    pub(crate) fn listens(&self) -> bool {
        std::net::TcpStream::connect(("127.0.0.1", self.port)).is_ok()
    }

    fn start_again(&mut self) {
        let program = env::var_os("JARMO_NATS_SERVER").unwrap();
        self.process = start_server(Path::new(&program), self.folder.path());
        self.wait();
    }

    fn wait(&mut self) {
        until("the server listens", || self.listens());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn start_server(program: &Path, folder: &Path) -> Child {
    let config = folder.join("server/server.conf");
    let log = File::options().create(true).append(true).open(folder.join("server.log")).unwrap();
    let mut server = Command::new(program);
    server.arg("-c").arg(config).stdout(Stdio::null()).stderr(log);
    server.spawn().expect("nats-server starts")
}

pub(crate) fn jarmo(folder: &Path, arguments: &[impl AsRef<str>]) -> Command {
    let mut command = Command::new(program());
    command.current_dir(folder);
    command.args(arguments.iter().map(AsRef::as_ref));
    command
}

fn program() -> PathBuf {
    assert_cmd::cargo::cargo_bin!("jarmo").to_owned()
}

/// Waits until something holds, for at most two minutes.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(120), "{what}");
        thread::sleep(Duration::from_millis(50));
    }
}

/// A free port, which no test of the crates takes.
pub(crate) fn free_port() -> u16 {
    machine::free_port(20_000)
}

/// A small network and few simulations, so that games are soon there.
pub(crate) const TINY: [&str; 14] = [
    "--set",
    "game.name=connect_four",
    "--set",
    "net.width=32",
    "--set",
    "net.blocks=1",
    "--set",
    "selfplay.simulations=2",
    "--set",
    "evaluation.every=0",
    "--set",
    "run.batch=64",
    "--set",
    "fleet.max_age=1000000",
];

/// A learner of the run `run` that does not play.
pub(crate) fn learner(server: &Server, more: &[&str]) -> Child {
    let url = server.url();
    let train = ["train", "--run", "run", "--fleet", &url, "--no-play"];
    let all = [&train[..], &TINY, more].concat();
    server.command(&all, "learner", "learner.log").spawn().unwrap()
}

/// A worker of one thread.
pub(crate) fn worker(server: &Server, key: &str, log: &str, more: &[&str]) -> Child {
    let url = server.url();
    let work = ["worker", &url, "--threads", "1"];
    let all = [&work[..], more].concat();
    server.command(&all, key, log).spawn().unwrap()
}

/// A worker with the first key, which prints every event as a line of JSON.
pub(crate) fn first_worker(server: &Server, log: &str) -> Child {
    worker(server, "worker-1", log, &["--json"])
}

/// Sends SIGTERM, as a cloud does before it takes a machine away, and waits for the end.
pub(crate) fn stop(mut process: Child) {
    let id = process.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert!(process.wait().unwrap().success());
}
