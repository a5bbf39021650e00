//! The configuration of a server: JetStream, limits, users with keys, TLS.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv6Addr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_nats::jetstream::Context;
use futures_util::TryStreamExt;
use nkeys::KeyPair;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair as TlsKey,
    KeyUsagePurpose,
};

use serde::{Deserialize, Serialize};

use super::link::read_key;
use super::places::{
    AGENTS, BLOCKED, NETWORKS, PAIRS, PLAYERS, PROGRESS, RUNS, SAMPLES, progress_subject,
    results_subject, runs, samples_subject,
};
use super::{Address, FleetError, Link};
use jarmo_host::files::{SETTINGS_BYTES, read_text, write_whole};

const CONFIG: &str = "server.conf";
const LEARNER: &str = "learner.key";
const AUTHORITY: &str = "authority.pem";
const CERTIFICATE: &str = "server.pem";
const CERTIFICATE_KEY: &str = "server-key.pem";
const PROCESS: &str = "server.pid";

/// The beginning of the line with the settings that the configuration was written with.
const SETTINGS: &str = "# Settings: ";

/// The end of a user in the configuration.
const USER_END: &str = "    } }\n";

/// The longest time that deleting the files of a key may take.
const PURGE: Duration = Duration::from_secs(60);

/// What a server is to be like. What is `None` stays as it is, or gets its default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerSettings {
    /// The name or address under which other machines reach the server. With the default, `localhost`, none can.
    pub host: Option<String>,
    /// Its port.
    pub port: Option<u16>,
    /// How many different keys for workers. One is enough for any number of machines that trust each other.
    pub workers: Option<u32>,
    /// Whether connections are encrypted, with an authority made for this server.
    pub tls: Option<bool>,
    /// The most gigabytes of the server's data.
    pub gigabytes: Option<u32>,
}

/// All settings of a server.
struct Complete {
    host: String,
    port: u16,
    workers: u32,
    tls: bool,
    gigabytes: u32,
}

/// The files of a server.
pub struct Server {
    folder: PathBuf,
    settings: Complete,
}

/// What [`Server::write`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// All files are new.
    New,
    /// There was a server in the folder; its files stay as they are.
    Kept,
}

/// What [`Server::block`] did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// The public key.
    pub key: String,
    /// Whether the running server knows it.
    pub is_reloaded: bool,
    /// The files that were deleted.
    pub files: u64,
}

impl Server {
    /// Writes the files. An existing server keeps its files, because its keys are on other machines; it must have these
    /// settings.
    pub fn write(
        folder: &Path,
        settings: &ServerSettings,
    ) -> Result<(Server, Written), FleetError> {
        if folder.join(CONFIG).exists() {
            let server = Server::open(folder)?;
            server.check(settings)?;
            return Ok((server, Written::Kept));
        }
        let server = Server {
            folder: folder.to_owned(),
            settings: complete(settings),
        };
        let wrong = |error: io::Error| FleetError::new(format!("{}: {error}", folder.display()));
        fs::create_dir_all(folder).map_err(wrong)?;
        let learner = server.new_key(LEARNER)?;
        let names = (1..=server.settings.workers).map(worker_key);
        let workers: Vec<(String, String)> = names
            .map(|name| Ok((name.clone(), server.new_key(&name)?)))
            .collect::<Result<_, FleetError>>()?;
        if server.settings.tls {
            server.write_certificates()?;
        }
        let config = server.config_text(&learner, &workers)?;
        write_whole(&server.config(), config.as_bytes()).map_err(wrong)?;
        Ok((server, Written::New))
    }

    /// The server whose files are in a folder.
    pub fn open(folder: &Path) -> Result<Server, FleetError> {
        let config = folder.join(CONFIG);
        let wrong = |problem: &dyn std::fmt::Display| {
            FleetError::new(format!(
                "{}: {problem}; `fleet up` writes such a file",
                config.display()
            ))
        };
        let text = read_text(&config, SETTINGS_BYTES).map_err(|error| wrong(&error))?;
        let line = text.lines().find_map(|line| line.strip_prefix(SETTINGS));
        let line = line.ok_or_else(|| wrong(&"it does not say its settings"))?;
        let settings: ServerSettings = serde_json::from_str(line).map_err(|error| wrong(&error))?;
        Ok(Server {
            folder: folder.to_owned(),
            settings: complete(&settings),
        })
    }

    /// Refuses settings that differ from those that the files were written with.
    fn check(&self, given: &ServerSettings) -> Result<(), FleetError> {
        let there = &self.settings;
        let differs = [
            (
                "--host",
                given.host.as_ref().is_some_and(|host| *host != there.host),
            ),
            ("--port", given.port.is_some_and(|port| port != there.port)),
            (
                "--workers",
                given.workers.is_some_and(|count| count != there.workers),
            ),
            ("--tls", given.tls.is_some_and(|tls| tls != there.tls)),
            (
                "--gigabytes",
                given.gigabytes.is_some_and(|size| size != there.gigabytes),
            ),
        ];
        match differs.iter().find(|(_, differs)| *differs) {
            None => Ok(()),
            Some((option, _)) => Err(FleetError::new(format!(
                "{}: the server in this folder was made with another {option}; omit the option, or make another server \
                 with --dir",
                self.folder.display()
            ))),
        }
    }

    /// Shuts out a key, given by its public half or by its file: the server refuses it, the learners drop its files, and
    /// what it sent is deleted at the server.
    pub fn block(&self, key: &str) -> Result<Blocked, FleetError> {
        let key = match Path::new(key).exists() {
            true => read_key(Path::new(key))?.public_key(),
            false => key.to_owned(),
        };
        KeyPair::from_public_key(&key).map_err(|_| {
            FleetError::new(format!("{key}: neither a public key nor a file of a key"))
        })?;
        let wrong =
            |error: io::Error| FleetError::new(format!("{}: {error}", self.config().display()));
        let text = read_text(&self.config(), SETTINGS_BYTES).map_err(wrong)?;
        let begin = text.find(&format!("    {{ nkey: {key}, permissions: {{\n"));
        if let Some(begin) = begin
            && let Some(length) = text[begin..].find(USER_END)
        {
            let rest = &text[begin + length + USER_END.len()..];
            let text = format!("{}    # blocked: {key}\n{rest}", &text[..begin]);
            write_whole(&self.config(), text.as_bytes()).map_err(wrong)?;
        }
        let is_reloaded = self.reload();
        let address = Address {
            url: format!("{}://localhost:{}", self.scheme(), self.settings.port),
            key: Some(self.learner_key()),
            authority: self.authority(),
        };
        let link = Link::open(&address, "block")?;
        let files = link.wait_for(PURGE, purge(link.context(), &key))?;
        Ok(Blocked {
            key,
            is_reloaded,
            files,
        })
    }

    /// Lets the running server read its configuration again. Returns whether it was found.
    fn reload(&self) -> bool {
        let Ok(text) = read_text(&self.folder.join(PROCESS), SETTINGS_BYTES) else {
            return false;
        };
        #[cfg(unix)]
        {
            use rustix::process::{Pid, Signal, kill_process};
            let id = text.trim().parse().ok().and_then(Pid::from_raw);
            id.is_some_and(|id| kill_process(id, Signal::HUP).is_ok())
        }
        #[cfg(not(unix))]
        {
            let _ = text;
            false
        }
    }

    /// The configuration of `nats-server`.
    pub fn config(&self) -> PathBuf {
        self.folder.join(CONFIG)
    }

    /// The learner's key.
    pub fn learner_key(&self) -> PathBuf {
        self.folder.join(LEARNER)
    }

    /// The first key for workers.
    pub fn worker_key(&self) -> PathBuf {
        self.folder.join(worker_key(1))
    }

    /// The certificate that learner and workers need, if there is one.
    pub fn authority(&self) -> Option<PathBuf> {
        self.settings.tls.then(|| self.folder.join(AUTHORITY))
    }

    fn scheme(&self) -> &'static str {
        if self.settings.tls { "tls" } else { "nats" }
    }

    /// The address for learner and workers.
    pub fn url(&self) -> String {
        let host = &self.settings.host;
        let shown = match host.parse::<IpAddr>() {
            Ok(IpAddr::V6(address)) => format!("[{address}]"),
            _ => host.clone(),
        };
        format!("{}://{shown}:{}", self.scheme(), self.settings.port)
    }

    /// Makes a key, writes its secret half to a file that only this user can read, and returns its public half.
    fn new_key(&self, name: &str) -> Result<String, FleetError> {
        let pair = KeyPair::new_user();
        let seed = pair.seed().map_err(FleetError::new)?;
        self.write_secret(name, &(seed + "\n"))?;
        Ok(pair.public_key())
    }

    fn write_secret(&self, name: &str, text: &str) -> Result<(), FleetError> {
        let path = self.folder.join(name);
        let written = write_private(&path, text.as_bytes());
        written.map_err(|error| FleetError::new(format!("{}: {error}", path.display())))
    }

    /// Writes an authority's certificate, and a certificate and key of the server that it signed.
    fn write_certificates(&self) -> Result<(), FleetError> {
        let host = self.settings.host.clone();
        let made = || -> Result<_, rcgen::Error> {
            let mut authority = CertificateParams::new(Vec::new())?;
            authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
            authority
                .distinguished_name
                .push(DnType::CommonName, "jarmo fleet");
            let authority = CertifiedIssuer::self_signed(authority, TlsKey::generate()?)?;
            let mut names = vec![host, "localhost".to_owned(), "127.0.0.1".to_owned()];
            names.dedup();
            let mut server = CertificateParams::new(names)?;
            server
                .distinguished_name
                .push(DnType::CommonName, "jarmo server");
            let key = TlsKey::generate()?;
            let certificate = server.signed_by(&key, &authority)?;
            Ok((authority.pem(), certificate.pem(), key.serialize_pem()))
        };
        let (authority, certificate, key) = made().map_err(|error| {
            FleetError::new(format!("a certificate for {}: {error}", self.settings.host))
        })?;
        self.write_secret(CERTIFICATE_KEY, &key)?;
        for (name, text) in [(AUTHORITY, authority), (CERTIFICATE, certificate)] {
            let path = self.folder.join(name);
            let written = write_whole(&path, text.as_bytes());
            written.map_err(|error| FleetError::new(format!("{}: {error}", path.display())))?;
        }
        Ok(())
    }

    fn config_text(
        &self,
        learner: &str,
        workers: &[(String, String)],
    ) -> Result<String, FleetError> {
        let Complete {
            host,
            port,
            workers: count,
            tls,
            gigabytes,
        } = &self.settings;
        let folder = self.folder.canonicalize();
        let folder = folder.map_err(FleetError::new)?;
        let path = |name: &str| folder.join(name).display().to_string();
        let listens = match host.as_str() {
            "localhost" => "127.0.0.1",
            _ if host.parse::<Ipv6Addr>().is_ok() => "[::]",
            _ => "0.0.0.0",
        };
        let settings = ServerSettings {
            host: Some(host.clone()),
            port: Some(*port),
            workers: Some(*count),
            tls: Some(*tls),
            gigabytes: Some(*gigabytes),
        };
        let settings = serde_json::to_string(&settings).expect("settings are plain data");
        let mut text = format!(
            "# A server for a fleet, written by `jarmo fleet up`. docs/fleet.md says what is what.\n\
             {SETTINGS}{settings}\n\n\
             server_name: jarmo\n\
             listen: \"{listens}:{port}\"\n\
             pid_file: {:?}\n\
             max_payload: 1MB\n\n\
             jetstream {{\n  \
             store_dir: {:?}\n  \
             # An acknowledged file is on the disk, even if the power fails.\n  \
             sync_interval: always\n  \
             max_file_store: {gigabytes}GB\n  \
             max_memory_store: 256MB\n}}\n\n",
            path(PROCESS),
            path("data")
        );
        if *tls {
            let _ = write!(
                text,
                "tls {{\n  cert_file: {:?}\n  key_file: {:?}\n}}\n\n",
                path(CERTIFICATE),
                path(CERTIFICATE_KEY)
            );
        }
        let _ = write!(
            text,
            "authorization {{\n  users: [\n    # {LEARNER}\n    {{ nkey: {learner} }}\n"
        );
        for (name, key) in workers {
            let _ = write!(text, "    # {name}\n    {{ nkey: {key}, permissions: {{\n");
            let lists = [("publish", may_publish(key)), ("subscribe", may_hear(key))];
            for (what, subjects) in lists {
                let subjects: Vec<String> = subjects
                    .iter()
                    .map(|subject| format!("{subject:?}"))
                    .collect();
                let subjects = subjects.join(",\n        ");
                let _ = write!(
                    text,
                    "      {what}: {{ allow: [\n        {subjects}\n      ] }}\n"
                );
            }
            text += USER_END;
        }
        text += "  ]\n}\n";
        Ok(text)
    }
}

/// What a worker may send: files, games and progress under its own key, and requests to read settings, networks and
/// pairs. It may make no consumer: the server sends what a consumer delivers to any subject.
fn may_publish(key: &str) -> Vec<String> {
    let mut subjects = vec![
        samples_subject("*", key),
        results_subject("*", key),
        progress_subject(key, "*"),
        format!("$JS.API.CONSUMER.INFO.{PAIRS}.{PLAYERS}"),
        format!("$JS.API.CONSUMER.MSG.NEXT.{PAIRS}.{PLAYERS}"),
        format!("$JS.ACK.{PAIRS}.{PLAYERS}.>"),
    ];
    let streams = [
        format!("KV_{RUNS}"),
        format!("OBJ_{NETWORKS}"),
        format!("OBJ_{AGENTS}"),
    ];
    for stream in streams {
        subjects.push(format!("$JS.API.STREAM.INFO.{stream}"));
        subjects.push(format!("$JS.API.DIRECT.GET.{stream}"));
        subjects.push(format!("$JS.API.DIRECT.GET.{stream}.>"));
    }
    subjects
}

/// What a worker may hear: answers to its own requests.
fn may_hear(key: &str) -> Vec<String> {
    vec![format!("_INBOX_{key}.>")]
}

fn complete(settings: &ServerSettings) -> Complete {
    Complete {
        host: settings
            .host
            .clone()
            .unwrap_or_else(|| "localhost".to_owned()),
        port: settings.port.unwrap_or(4222),
        workers: settings.workers.unwrap_or(1),
        tls: settings.tls.unwrap_or(false),
        gigabytes: settings.gigabytes.unwrap_or(10),
    }
}

/// Adds a key to those whose files learners drop, and deletes its files and its progress. Returns the number of files.
async fn purge(context: &Context, key: &str) -> Result<u64, String> {
    let wrong = |error: &dyn std::fmt::Display| error.to_string();
    let runs = runs(context).await.map_err(|error| wrong(&error))?;
    let known = runs.get(BLOCKED).await.map_err(|error| wrong(&error))?;
    let mut keys: BTreeSet<String> = match known {
        Some(keys) => serde_json::from_slice(&keys).map_err(|error| wrong(&error))?,
        None => BTreeSet::new(),
    };
    keys.insert(key.to_owned());
    let keys = serde_json::to_vec(&keys).expect("keys are plain data");
    let put = runs.put(BLOCKED, keys.into()).await;
    put.map_err(|error| wrong(&error))?;
    let names: Result<Vec<String>, _> = context.stream_names().try_collect().await;
    let mut files = 0;
    for name in names.map_err(|error| wrong(&error))? {
        let subject = match name.strip_prefix(SAMPLES) {
            Some(run) => samples_subject(run, key),
            None if name == PROGRESS => progress_subject(key, "*"),
            None => continue,
        };
        let stream = context.get_stream(&name).await;
        let purged = stream
            .map_err(|error| wrong(&error))?
            .purge()
            .filter(subject)
            .await;
        let purged = purged.map_err(|error| wrong(&error))?.purged;
        files += if name == PROGRESS { 0 } else { purged };
    }
    Ok(files)
}

fn worker_key(number: u32) -> String {
    format!("worker-{number}.key")
}

/// Writes a file that only this user can read.
fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    write_whole(path, b"")?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    }
    fs::write(path, content)?;
    fs::File::open(path)?.sync_all()
}

/// The program `nats-server` on the path, if it is there.
pub fn find_server() -> Option<PathBuf> {
    let name = format!("nats-server{}", std::env::consts::EXE_SUFFIX);
    let paths = std::env::var_os("PATH")?;
    std::env::split_paths(&paths)
        .map(|folder| folder.join(&name))
        .find(|path| path.is_file())
}
