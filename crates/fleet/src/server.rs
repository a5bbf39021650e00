//! The configuration of a server: JetStream, limits, users with keys, TLS.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use nkeys::KeyPair;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair as TlsKey,
    KeyUsagePurpose,
};

use super::FleetError;
use super::places::{
    AGENTS, NETWORKS, PAIRS, PLAYERS, RUNS, progress_subject, results_subject, samples_subject,
};
use jarmo_host::files::{SETTINGS_BYTES, read_text, write_whole};

const CONFIG: &str = "server.conf";
const LEARNER: &str = "learner.key";
const AUTHORITY: &str = "authority.pem";
const CERTIFICATE: &str = "server.pem";
const CERTIFICATE_KEY: &str = "server-key.pem";

/// What a server is to be like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSettings {
    /// The folder for the configuration, the keys and the server's data.
    pub folder: PathBuf,
    /// The name or address under which other machines reach the server.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// How many different keys for workers. One is enough for any number of machines that trust each other.
    pub workers: u32,
    /// Whether connections are encrypted, with an authority made for this server.
    pub tls: bool,
    /// The most gigabytes of the server's data.
    pub gigabytes: u32,
}

/// The files of a server.
pub struct Server {
    settings: ServerSettings,
}

/// What [`Server::write`] did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// All files are new.
    New,
    /// There was a server in the folder; its files stay as they are.
    Kept,
}

impl Server {
    /// A server with these settings.
    pub fn new(settings: ServerSettings) -> Server {
        Server { settings }
    }

    /// Writes the files. An existing server keeps its files, because its keys are on other machines.
    pub fn write(&self) -> Result<Written, FleetError> {
        let folder = &self.settings.folder;
        let wrong = |error: io::Error| FleetError::new(format!("{}: {error}", folder.display()));
        if self.config().exists() {
            return Ok(Written::Kept);
        }
        fs::create_dir_all(folder).map_err(wrong)?;
        let learner = self.new_key(LEARNER)?;
        let names = (1..=self.settings.workers).map(worker_key);
        let workers: Vec<(String, String)> = names
            .map(|name| Ok((name.clone(), self.new_key(&name)?)))
            .collect::<Result<_, FleetError>>()?;
        if self.settings.tls {
            self.write_certificates()?;
        }
        let config = self.config_text(&learner, &workers)?;
        write_whole(&self.config(), config.as_bytes()).map_err(wrong)?;
        Ok(Written::New)
    }

    /// The configuration of `nats-server`.
    pub fn config(&self) -> PathBuf {
        self.settings.folder.join(CONFIG)
    }

    /// The learner's key.
    pub fn learner_key(&self) -> PathBuf {
        self.settings.folder.join(LEARNER)
    }

    /// The first key for workers.
    pub fn worker_key(&self) -> PathBuf {
        self.settings.folder.join(worker_key(1))
    }

    /// The certificate that learner and workers need, if there is one.
    pub fn authority(&self) -> Option<PathBuf> {
        let path = self.settings.folder.join(AUTHORITY);
        path.exists().then_some(path)
    }

    /// The address for learner and workers.
    pub fn url(&self) -> String {
        let scheme = match self.authority() {
            Some(_) => "tls",
            None => "nats",
        };
        let text = read_text(&self.config(), SETTINGS_BYTES).unwrap_or_default();
        let address = text
            .lines()
            .find_map(|line| line.strip_prefix("# Address: "));
        let own = format!("{}:{}", self.settings.host, self.settings.port);
        format!("{scheme}://{}", address.unwrap_or(&own))
    }

    /// Makes a key, writes its secret half to a file that only this user can read, and returns its public half.
    fn new_key(&self, name: &str) -> Result<String, FleetError> {
        let pair = KeyPair::new_user();
        let seed = pair.seed().map_err(FleetError::new)?;
        self.write_secret(name, &(seed + "\n"))?;
        Ok(pair.public_key())
    }

    fn write_secret(&self, name: &str, text: &str) -> Result<(), FleetError> {
        let path = self.settings.folder.join(name);
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
            let path = self.settings.folder.join(name);
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
        let ServerSettings {
            folder,
            host,
            port,
            tls,
            gigabytes,
            ..
        } = &self.settings;
        let folder = folder.canonicalize();
        let folder = folder.map_err(FleetError::new)?;
        let path = |name: &str| folder.join(name).display().to_string();
        let shown = match host.parse::<IpAddr>() {
            Ok(IpAddr::V6(address)) => format!("[{address}]"),
            _ => host.clone(),
        };
        let mut text = format!(
            "# A server for a fleet, written by `jarmo fleet up`. docs/fleet.md says what is what.\n\
             # Address: {shown}:{port}\n\n\
             server_name: jarmo\n\
             listen: \"0.0.0.0:{port}\"\n\
             max_payload: 1MB\n\n\
             jetstream {{\n  \
             store_dir: {:?}\n  \
             # An acknowledged file is on the disk, even if the power fails.\n  \
             sync_interval: always\n  \
             max_file_store: {gigabytes}GB\n}}\n\n",
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
            text += "    } }\n";
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
