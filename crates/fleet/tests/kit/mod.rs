//! A server, learners inside this process, files of games, and a client that keeps no rule.

mod machine;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use async_nats::{Client, ConnectOptions, HeaderMap};
use data_encoding::BASE64URL_NOPAD;
use jarmo_core::eval::{Evaluator, Uniform};
use jarmo_core::games::ConnectFour;
use jarmo_core::net::{FrozenNet, GameVersion, NetEvaluator};
use jarmo_facade::erase;
use jarmo_fleet::{Address, FleetError, GameFile, Link, NatsSupply, Role, Server, ServerSettings};
use jarmo_learn::config::Config;
use jarmo_learn::run::{Seen, Supply};
use jarmo_selfplay::selfplay::{Searched, SelfPlay, SelfPlaySettings};
use machine::{free_port, nats_server};
use nkeys::KeyPair;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// The run of tests that have one.
pub(crate) const RUN: &str = "run";

/// A running server with its keys.
pub(crate) struct TestServer {
    folder: TempDir,
    server: Server,
    process: Child,
}

impl TestServer {
    /// Starts a server with so many keys for workers. `None` if this machine has none.
    pub(crate) fn start(workers: u32) -> Option<TestServer> {
        TestServer::start_with(ServerSettings { workers, ..ServerSettings::default() })
    }

    /// Starts a server that encrypts, with a certificate for 127.0.0.1. It listens on 127.0.0.2 as well.
    pub(crate) fn encrypted() -> Option<TestServer> {
        TestServer::start_with(ServerSettings { host: "127.0.0.1".to_owned(), tls: true, ..ServerSettings::default() })
    }

    fn start_with(settings: ServerSettings) -> Option<TestServer> {
        let program = nats_server()?;
        let folder = tempfile::tempdir().unwrap();
        let port = free_port(10_000);
        let settings = ServerSettings { port, ..settings };
        let (server, _) = Server::write(&folder.path().join("server"), settings).unwrap();
        let mut process = Command::new(program);
        process.arg("-c").arg(server.config());
        let process = process.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let process = process.expect("nats-server starts");
        until("the server listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        Some(TestServer { folder, server, process })
    }

    /// The address with the learner's key.
    pub(crate) fn learner(&self) -> Address {
        self.address(&self.server.first_key(Role::Learner))
    }

    /// The file of a worker's key.
    pub(crate) fn key(&self, worker: u32) -> PathBuf {
        self.server.key_file(&format!("worker-{worker}"))
    }

    /// The address with a key.
    pub(crate) fn address(&self, key: &Path) -> Address {
        Address { url: self.server.url(), key: Some(key.to_owned()), authority: self.server.authority() }
    }

    /// The server's files and keys.
    pub(crate) fn keys(&mut self) -> &mut Server {
        &mut self.server
    }

    /// Deletes what a key sent.
    pub(crate) fn purge(&self, key: &str) -> u64 {
        self.server.purge(key).unwrap()
    }

    /// The file of the key that can only look.
    pub(crate) fn watcher(&self) -> PathBuf {
        self.server.first_key(Role::Watcher)
    }

    /// A folder for a run.
    pub(crate) fn folder(&self, run: &str) -> PathBuf {
        self.folder.path().join(run)
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A learner of connect four that has begun, with a queue for so many files.
pub(crate) fn learner(server: &TestServer, run: &str, queue: u64) -> NatsSupply {
    let supply = idle_learner(server, run, queue).unwrap();
    supply.begin(&Seen::default()).unwrap();
    supply
}

/// A learner of connect four that has made its places at the server and takes nothing yet.
pub(crate) fn idle_learner(server: &TestServer, run: &str, queue: u64) -> Result<NatsSupply, FleetError> {
    learner_in(server, run, &server.folder(run), queue)
}

/// A learner of a run with this folder.
pub(crate) fn learner_in(server: &TestServer, run: &str, folder: &Path, queue: u64) -> Result<NatsSupply, FleetError> {
    open(server, run, folder, &settings(queue))
}

/// The settings of the learners above.
pub(crate) fn settings(queue: u64) -> Config {
    let mut config = Config::default();
    config.game.name = "connect_four".to_owned();
    config.fleet.queue = queue;
    config.fleet.games = 16;
    config.selfplay.simulations = 2;
    config
}

/// A learner with these settings.
pub(crate) fn open(server: &TestServer, run: &str, folder: &Path, config: &Config) -> Result<NatsSupply, FleetError> {
    fs::create_dir_all(folder).unwrap();
    let link = Link::open(&server.learner(), "learner").unwrap();
    NatsSupply::open(link, erase(ConnectFour::new(0)).as_ref(), run.to_owned(), folder, config)
}

/// A file of games by a network of so many learning steps, and its positions. Another seed gives another file.
pub(crate) fn file(run: &str, weights: u64, seed: u64, worker: &str) -> (Vec<u8>, u64) {
    let file = played(vec![Uniform], run, weights, seed, worker);
    (file.to_bytes(), file.games.iter().map(|game| game.searches.len() as u64).sum())
}

/// A file of games that this network played, with what they found changed.
pub(crate) fn file_by(net: &FrozenNet, run: &str, weights: u64, seed: u64, change: &fn(&mut Searched)) -> Vec<u8> {
    let evaluator = NetEvaluator::with_net(ConnectFour::new(0), net.clone());
    let mut file = played(vec![evaluator], run, weights, seed, "");
    file.games.iter_mut().flat_map(|game| &mut game.searches).for_each(change);
    file.to_bytes()
}

fn played<E: Evaluator<ConnectFour>>(evaluators: Vec<E>, run: &str, weights: u64, seed: u64, worker: &str) -> GameFile {
    let game = ConnectFour::new(0);
    let settings = SelfPlaySettings { games: 4, simulations: 2, ..Config::default().selfplay };
    let mut play = SelfPlay::new(&game, &settings, evaluators, seed);
    play.keep_episodes(weights);
    let mut games = Vec::new();
    while games.len() < 4 {
        games.extend(play.round().episodes);
    }
    GameFile {
        run: run.to_owned(),
        origin: GameVersion::of(&game),
        worker: worker.to_owned(),
        program: "test".to_owned(),
        games,
    }
}

/// Someone with a worker's key who keeps no rule.
pub(crate) struct Stranger {
    runtime: Runtime,
    client: Client,
    /// The public half of the key.
    pub key: String,
}

impl Stranger {
    pub(crate) fn with_key(server: &TestServer, number: u32) -> Stranger {
        Stranger::with_file(server, &server.key(number))
    }

    pub(crate) fn with_file(server: &TestServer, file: &Path) -> Stranger {
        Stranger::try_with_file(server, file).expect("the server knows the key")
    }

    /// `None` if the server does not know the key.
    pub(crate) fn try_with_file(server: &TestServer, file: &Path) -> Option<Stranger> {
        let seed = fs::read_to_string(file).unwrap();
        let key = KeyPair::from_seed(seed.trim()).unwrap().public_key();
        let runtime = Runtime::new().unwrap();
        let options = ConnectOptions::with_nkey(seed.trim().to_owned());
        let client = runtime.block_on(options.connect(server.server.url()));
        Some(Stranger { client: client.ok()?, runtime, key })
    }

    /// The subject of its files.
    pub(crate) fn files(&self, run: &str) -> String {
        format!("jarmo.samples.{run}.{}", self.key)
    }

    /// The subject of what it says of itself under a name.
    pub(crate) fn progress(&self, name: &str) -> String {
        format!("jarmo.progress.{}.{name}", self.key)
    }

    /// Says under a name that it is there.
    pub(crate) fn report(&self, name: &str) {
        self.ask(&self.progress(name), b"{}".to_vec(), None).unwrap();
    }

    /// Sends without waiting for an answer.
    pub(crate) fn send(&self, subject: &str, content: Vec<u8>) {
        let sent = self.client.publish(subject.to_owned(), content.into());
        self.runtime.block_on(sent).unwrap();
    }

    /// Sends a question whose answer goes to a subject of its choice, and waits until all of that has happened.
    pub(crate) fn divert(&self, subject: &str, content: Vec<u8>, reply: &str) {
        let sent = async {
            self.client.publish_with_reply(subject.to_owned(), reply.to_owned(), content.into()).await?;
            self.client.flush().await?;
            Ok::<_, async_nats::Error>(())
        };
        self.runtime.block_on(sent).unwrap();
        thread::sleep(Duration::from_millis(200));
    }

    /// The answer to a request, or why there is none.
    pub(crate) fn ask(&self, subject: &str, content: Vec<u8>, headers: Option<HeaderMap>) -> Result<Vec<u8>, String> {
        let headers = headers.unwrap_or_default();
        let asked = self.client.request_with_headers(subject.to_owned(), headers, content.into());
        let asked = async { tokio::time::timeout(Duration::from_secs(3), asked).await };
        let answer = self.runtime.block_on(asked);
        let answer = answer.map_err(|_| "no answer".to_owned())?;
        let answer = answer.map_err(|error| error.to_string())?.payload;
        let text = String::from_utf8_lossy(&answer);
        match text.contains(r#""error""#) {
            true => Err(text.into_owned()),
            false => Ok(answer.to_vec()),
        }
    }
}

/// A connection with a worker's key and no client library: it can send headers that none would write.
pub(crate) struct Shouter(BufReader<TcpStream>);

impl Shouter {
    pub(crate) fn with_key(server: &TestServer, number: u32) -> Shouter {
        let seed = fs::read_to_string(server.key(number)).unwrap();
        let pair = KeyPair::from_seed(seed.trim()).unwrap();
        let mut connection = BufReader::new(TcpStream::connect(("127.0.0.1", server.server.settings.port)).unwrap());
        let mut info = String::new();
        connection.read_line(&mut info).unwrap();
        let info: serde_json::Value = serde_json::from_str(info.strip_prefix("INFO ").unwrap()).unwrap();
        let signed = pair.sign(info["nonce"].as_str().unwrap().as_bytes()).unwrap();
        let (key, signature) = (pair.public_key(), BASE64URL_NOPAD.encode(&signed));
        let about = format!(r#"{{"nkey":"{key}","sig":"{signature}","headers":true,"verbose":false}}"#);
        connection.get_mut().write_all(format!("CONNECT {about}\r\n").as_bytes()).unwrap();
        Shouter(connection)
    }

    /// Sends a message, and waits until the server has read it.
    pub(crate) fn send(&mut self, subject: &[u8], header: &[u8], content: &[u8]) {
        let sizes = format!(" {} {}\r\n", header.len(), header.len() + content.len());
        let message = [b"HPUB ", subject, sizes.as_bytes(), header, content, b"\r\nPING\r\n"].concat();
        self.0.get_mut().write_all(&message).unwrap();
        let mut answer = String::new();
        while !answer.ends_with("PONG\r\n") {
            answer.clear();
            assert_ne!(self.0.read_line(&mut answer).unwrap(), 0, "the server has closed the connection");
        }
    }
}

/// Waits until something holds, for at most a minute.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}
