//! The configuration of a server: JetStream, limits, accounts with keys, TLS.

mod users;

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::net::{Ipv4Addr, Ipv6Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use futures_util::TryStreamExt;
use nkeys::KeyPair;
use rcgen::{BasicConstraints, Certificate, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyUsagePurpose};
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use super::link::read_key;
use super::places::{BLOCKED, PROGRESS, SAMPLES, progress_subject, runs, samples_subject};
use super::{Address, FleetError, Link, json};
use jarmo_host::files::{SETTINGS_BYTES, read_text, write_whole};
pub use users::{Role, User};

const CONFIG: &str = "server.conf";
const AUTHORITY: &str = "authority.pem";
const CERTIFICATE: &str = "server.pem";
const CERTIFICATE_KEY: &str = "server-key.pem";
const PROCESS: &str = "server.pid";
const SETTINGS: &str = "# Settings: "; // then all that the configuration was written from

const PURGE: Duration = Duration::from_secs(60); // at most, to delete the files of a key
const RELOAD: Duration = Duration::from_secs(2); // at most, to read a configuration again
const BETWEEN_RELOADS: Duration = Duration::from_millis(500); // so that the second signal is not merged with the first

/// The settings of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ServerSettings {
    /// The name or address under which other machines reach the server. With the default, `localhost`, they cannot.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The number of keys for workers. One key is enough for any number of machines that trust each other.
    pub workers: u32,
    /// Whether connections are encrypted, with an authority made for this server.
    pub tls: bool,
    /// The limit of the server's data in gigabytes.
    pub gigabytes: u32,
}

impl Default for ServerSettings {
    fn default() -> ServerSettings {
        ServerSettings { host: "localhost".to_owned(), port: 4222, workers: 1, tls: false, gigabytes: 10 }
    }
}

/// The files of a server. The configuration file contains this value as a line.
#[derive(Serialize, Deserialize)]
pub struct Server {
    #[serde(skip)]
    folder: PathBuf,
    /// Its settings.
    #[serde(flatten)]
    pub settings: ServerSettings,
    /// All users. Change them by the methods, which write the files.
    pub users: Vec<User>,
}

impl Server {
    /// Writes the files. Returns whether the server is new. An existing server must have these settings; it keeps its
    /// keys, because other machines use them, and gets a configuration of this version.
    pub fn write(folder: &Path, settings: ServerSettings) -> Result<(Server, bool), FleetError> {
        if folder.join(CONFIG).exists() {
            let server = Server::open(folder)?;
            let [there, wanted] = [&server.settings, &settings]
                .map(|settings| serde_json::to_value(settings).expect("settings are plain data"));
            let mut wanted = wanted.as_object().into_iter().flatten();
            return match wanted.find(|(name, value)| there[name] != **value) {
                None => server.write_config().map(|()| (server, false)),
                Some((name, _)) => Err(FleetError::new(format!(
                    "{}: the server in this folder was made with another `{name}`; leave it as it is, or make another \
                     server in another folder",
                    folder.display()
                ))),
            };
        }
        fs::create_dir_all(folder).map_err(FleetError::at(folder))?;
        let mut server = Server { folder: folder.to_owned(), settings, users: Vec::new() };
        let workers = (1..=server.settings.workers).map(|number| (format!("worker-{number}"), Role::Worker));
        let others = [Role::Learner, Role::Watcher].map(|role| (role.name().to_owned(), role));
        let users = others.into_iter().chain(workers).map(|(name, role)| server.new_user(&name, role));
        server.users = users.collect::<Result<_, _>>()?;
        if server.settings.tls {
            server.write_certificates()?;
        }
        server.write_config()?;
        Ok((server, true))
    }

    /// The server whose files are in a folder.
    pub fn open(folder: &Path) -> Result<Server, FleetError> {
        let config = folder.join(CONFIG);
        let wrong = |problem: &dyn std::fmt::Display| {
            FleetError::new(format!("{}: {problem}; `fleet up` writes such a file", config.display()))
        };
        let text = read_text(&config, SETTINGS_BYTES).map_err(|error| wrong(&error))?;
        let line = text.lines().find_map(|line| line.strip_prefix(SETTINGS));
        let line = line.ok_or_else(|| wrong(&"it does not say its settings"))?;
        let server: Server = serde_json::from_str(line).map_err(|error| wrong(&error))?;
        Ok(Server { folder: folder.to_owned(), ..server })
    }

    /// Makes a key.
    pub fn add(&mut self, name: &str, role: Role) -> Result<(), FleetError> {
        let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
        if name.is_empty() || !name.chars().all(fits) {
            return Err(FleetError::new(format!("{name:?}: a name of a key has letters, digits, - and _")));
        }
        if self.users.iter().any(|user| user.name == name) {
            return Err(FleetError::new(format!("there is a key {name} already")));
        }
        let user = self.new_user(name, role)?;
        self.users.push(user);
        self.write_config()
    }

    /// Replaces a key by a new one with the same name and file. Files sent with the old key stay.
    pub fn rotate(&mut self, name: &str) -> Result<(), FleetError> {
        let place = self.users.iter().position(|user| user.name == name);
        let place = place.ok_or_else(|| FleetError::new(format!("there is no key {name}")))?;
        let role = self.users[place].role;
        self.users[place] = self.new_user(name, role)?;
        self.write_config()
    }

    /// Removes a key, given by its name, its public half or its file. Returns the public half.
    pub fn revoke(&mut self, key: &str) -> Result<String, FleetError> {
        let named = self.users.iter().find(|user| user.name == key);
        let key = match named {
            Some(user) => user.key.clone(),
            None if Path::new(key).exists() => read_key(Path::new(key))?.public_key(),
            None => key.to_owned(),
        };
        KeyPair::from_public_key(&key)
            .map_err(|_| FleetError::new(format!("{key}: neither a name, nor a public key, nor a file of a key")))?;
        let role = self.users.iter().find(|user| user.key == key);
        if role.is_some_and(|user| user.role == Role::Learner) {
            return Err(FleetError::new(
                "the learner's key cannot be revoked, because the server needs one; rotate it",
            ));
        }
        self.users.retain(|user| user.key != key);
        self.write_config()?;
        Ok(key)
    }

    /// Tells learners to drop the files of a key, and deletes its files at the running server. Returns their number.
    pub fn purge(&self, key: &str) -> Result<u64, FleetError> {
        let url = format!("{}://localhost:{}", self.scheme(), self.settings.port);
        let address = Address { url, key: Some(self.first_key(Role::Learner)), authority: self.authority() };
        // A server that is reading its configuration again can refuse a key that it knows.
        let link = Link::open(&address, "revoke").or_else(|_| {
            thread::sleep(RELOAD);
            Link::open(&address, "revoke")
        })?;
        let purge = async {
            let runs = runs(&link.context).await?;
            let blocked = runs.get(BLOCKED).await?;
            // A list that cannot be read begins anew: the keys in it are no longer in the configuration.
            let mut blocked: BTreeSet<String> =
                blocked.and_then(|keys| serde_json::from_slice(&keys).ok()).unwrap_or_default();
            blocked.insert(key.to_owned());
            runs.put(BLOCKED, json(&blocked).into()).await?;
            let mut files = 0;
            for name in link.context.stream_names().try_collect::<Vec<_>>().await? {
                let stream = link.context.get_stream_no_info(&name).await?;
                if let Some(run) = name.strip_prefix(SAMPLES) {
                    files += stream.purge().filter(samples_subject(run, key)).await?.purged;
                } else if name == PROGRESS {
                    stream.purge().filter(progress_subject(key, "*")).await?;
                }
            }
            Ok::<_, async_nats::Error>(files)
        };
        link.within(PURGE, purge)?.map_err(FleetError::new)
    }

    /// Reloads the configuration of the running server. Returns whether the server was found. nats-server (2.14)
    /// connects the imports of a new account only at the second reload.
    pub fn reload(&self) -> bool {
        self.signal() && {
            thread::sleep(BETWEEN_RELOADS);
            self.signal()
        }
    }

    fn signal(&self) -> bool {
        // If nothing listens, the number may be another program's by now.
        let id = read_text(&self.folder.join(PROCESS), SETTINGS_BYTES).ok().filter(|_| self.listens());
        #[cfg(unix)]
        {
            use rustix::process::{Pid, Signal, kill_process};
            let id = id.and_then(|id| Pid::from_raw(id.trim().parse().ok()?));
            id.is_some_and(|id| kill_process(id, Signal::HUP).is_ok())
        }
        #[cfg(not(unix))]
        {
            let _ = id;
            false
        }
    }

    /// Whether something on this machine listens on the server's port.
    pub fn listens(&self) -> bool {
        TcpStream::connect((Ipv4Addr::LOCALHOST, self.settings.port)).is_ok()
    }

    /// The configuration of `nats-server`.
    pub fn config(&self) -> PathBuf {
        self.folder.join(CONFIG)
    }

    /// The file of the first key for this.
    pub fn first_key(&self, role: Role) -> PathBuf {
        let user = self.users.iter().find(|user| user.role == role);
        self.key_file(user.map_or(role.name(), |user| &user.name))
    }

    /// The file of a key.
    pub fn key_file(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.key"))
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
        let shown = host.parse::<Ipv6Addr>().map_or_else(|_| host.clone(), |address| format!("[{address}]"));
        format!("{}://{shown}:{}", self.scheme(), self.settings.port)
    }

    /// Makes a key and writes its secret half to a file that only this user can read.
    fn new_user(&self, name: &str, role: Role) -> Result<User, FleetError> {
        let pair = KeyPair::new_user();
        let seed = pair.seed().map_err(FleetError::new)?;
        self.write_private(&format!("{name}.key"), &(seed + "\n"))?;
        Ok(User { name: name.to_owned(), key: pair.public_key(), role })
    }

    /// Writes a certificate of the server and that of a new authority, which signed it and whose key is thrown away.
    fn write_certificates(&self) -> Result<(), FleetError> {
        let host = &self.settings.host;
        let (authority, certificate, key) =
            certify(host).map_err(|error| FleetError::new(format!("a certificate for {host}: {error}")))?;
        self.write_private(CERTIFICATE_KEY, &key.serialize_pem())?;
        self.write_file(CERTIFICATE, &certificate.pem())?;
        self.write_file(AUTHORITY, &authority.pem())
    }

    fn write_file(&self, name: &str, text: &str) -> Result<(), FleetError> {
        let path = self.folder.join(name);
        write_whole(&path, text.as_bytes()).map_err(FleetError::at(&path))
    }

    /// Writes a file that only this user can read, as temporary files are.
    fn write_private(&self, name: &str, text: &str) -> Result<(), FleetError> {
        let path = self.folder.join(name);
        let written = || {
            let mut file = NamedTempFile::new_in(&self.folder)?;
            file.write_all(text.as_bytes())?;
            file.as_file().sync_all()?;
            Ok(file.persist(&path)?)
        };
        written().map(|_| ()).map_err(FleetError::at(&path))
    }

    fn write_config(&self) -> Result<(), FleetError> {
        let ServerSettings { host, port, tls, gigabytes, .. } = &self.settings;
        let folder = self.folder.canonicalize().map_err(FleetError::at(&self.folder))?;
        let path = |name: &str| folder.join(name).display().to_string();
        let listens = match host.as_str() {
            "localhost" => "127.0.0.1",
            _ if host.parse::<Ipv6Addr>().is_ok() => "[::]",
            _ => "0.0.0.0",
        };
        let (certificate, key) = (path(CERTIFICATE), path(CERTIFICATE_KEY));
        let tls = match tls {
            true => format!("tls {{\n  cert_file: {certificate:?}\n  key_file: {key:?}\n}}\n\n"),
            false => String::new(),
        };
        let accounts: String = self.users.iter().map(User::account).collect();
        let text = format!(
            "# A server for a fleet, written by `jarmo fleet up`. docs/fleet.md explains it.\n\
             {SETTINGS}{}\n\n\
             server_name: jarmo\n\
             listen: \"{listens}:{port}\"\n\
             pid_file: {:?}\n\
             max_payload: 1MB\n\n\
             jetstream {{\n  \
             store_dir: {:?}\n  \
             # An acknowledged file is on the disk, even if the power fails.\n  \
             sync_interval: always\n  \
             max_file_store: {gigabytes}GB\n  \
             max_memory_store: 256MB\n}}\n\n\
             {tls}accounts {{\n{accounts}}}\n",
            json(self),
            path(PROCESS),
            path("data"),
        );
        self.write_file(CONFIG, &text)
    }
}

/// A new authority, a certificate for a host that it signed, and the certificate's key. They end in the year 4096.
fn certify(host: &str) -> Result<(Certificate, Certificate, rcgen::KeyPair), rcgen::Error> {
    let mut authority = CertificateParams::new([])?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    authority.distinguished_name.push(DnType::CommonName, "jarmo fleet");
    let issuer = CertifiedIssuer::self_signed(authority, rcgen::KeyPair::generate()?)?;
    let mut names = vec![host, "localhost", "127.0.0.1"];
    names.dedup();
    let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
    let mut server = CertificateParams::new(names)?;
    server.distinguished_name.push(DnType::CommonName, "jarmo server");
    let key = rcgen::KeyPair::generate()?;
    let certificate = server.signed_by(&key, &issuer)?;
    Ok((issuer.as_ref().clone(), certificate, key))
}
