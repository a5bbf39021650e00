//! A connection to the server, with deadlines for everything.

use std::error::Error;
use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::{self, Context, ErrorCode, Message};
use async_nats::{
    Client, ClientError, ConnectError, ConnectErrorKind, ConnectOptions, Event, RequestErrorKind,
    ServerError, rustls,
};
use futures_util::StreamExt;
use nkeys::KeyPair;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::FleetError;
use super::error::FleetErrorKind;
use jarmo_host::files::{SETTINGS_BYTES, read_text};

/// Servers before this version can lose a stream in a crash.
const LEAST_VERSION: [u64; 3] = [2, 10, 23];

/// The longest wait for an answer. Longer reads have deadlines of their own.
const ANSWER: Duration = Duration::from_secs(10);

/// The most messages of one kind that wait to be read. Later ones are dropped, and their senders try again.
const MOST_UNREAD: usize = 256;

/// The longest wait between two attempts to connect again.
const LONGEST_PAUSE: Duration = Duration::from_secs(4);

/// A server and how to get in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// `nats://HOST:PORT`, or `tls://HOST:PORT`.
    pub url: String,
    /// The file of the user's key; `None` for a server without users.
    pub key: Option<PathBuf>,
    /// The certificate of the authority that signed the server's; `None` for those that the system trusts.
    pub authority: Option<PathBuf>,
}

/// A connection. It connects again by itself when it is lost.
#[derive(Clone)]
pub struct Link {
    runtime: Arc<Runtime>,
    client: Client,
    context: Context,
    user: String,
    signals: Arc<Signals>,
}

/// What the connection said last.
#[derive(Default)]
struct Signals {
    is_lost: AtomicBool,
    is_refused: AtomicBool, // the server does not let this user in any more
    denied: Notify,         // the server refused something to the user
}

impl Link {
    /// Connects, as `name` in the server's lists. Refuses servers that are too old.
    pub fn open(address: &Address, name: &str) -> Result<Link, FleetError> {
        let url = &address.url;
        if !(url.starts_with("nats://") || url.starts_with("tls://")) {
            return Err(FleetError::new(format!(
                "{url:?} is no address of a server, such as nats://localhost:4222 or tls://alice:4222"
            )));
        }
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("fleet")
            .enable_all()
            .build()
            .map_err(FleetError::new)?;
        let signals = Arc::<Signals>::default();
        let heard = Arc::clone(&signals);
        let options = ConnectOptions::new()
            .name(name)
            .require_tls(url.starts_with("tls:"))
            .subscription_capacity(MOST_UNREAD)
            .request_timeout(Some(ANSWER))
            .connection_timeout(ANSWER)
            .reconnect_delay_callback(|attempts| {
                LONGEST_PAUSE.min(Duration::from_millis(100) * attempts.min(100) as u32)
            })
            .event_callback(move |event| {
                heard.hear(&event);
                std::future::ready(())
            });
        let (options, user) = identify(options, address)?;
        let client = runtime.block_on(options.connect(url.as_str()));
        let client = client.map_err(|error| explain(url, &error))?;
        check_version(url, &client.server_info().version)?;
        let _inside = runtime.enter(); // the context starts a task
        let mut context = jetstream::new(client.clone());
        context.set_timeout(ANSWER);
        Ok(Link {
            runtime: Arc::new(runtime),
            client,
            context,
            user,
            signals,
        })
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    pub(super) fn context(&self) -> &Context {
        &self.context
    }

    /// The public key of the user, or `open`.
    pub(super) fn user(&self) -> &str {
        &self.user
    }

    /// Whether the server can be reached.
    pub fn is_connected(&self) -> bool {
        !self.signals.is_lost.load(Ordering::Relaxed)
    }

    /// Fails if the server does not let this user in any more.
    pub(super) fn check_admission(&self) -> Result<(), FleetError> {
        match self.signals.is_refused.load(Ordering::Relaxed) {
            false => Ok(()),
            true => Err(FleetError::new(
                "the server no longer accepts this key; ask whoever runs the server for another one",
            )),
        }
    }

    /// Sends a message and waits until a stream has it. The stream drops a second one of the same name.
    pub(super) fn publish(
        &self,
        subject: &str,
        name: &str,
        bytes: Vec<u8>,
    ) -> Result<(), FleetError> {
        let message = PublishMessage::build()
            .message_id(name)
            .payload(bytes.into());
        let sent = self.within(ANSWER, async {
            let sent = self.context.send_publish(subject.to_owned(), message).await;
            sent?.await
        })?;
        sent.map(|_| ()).map_err(|error| {
            let said = error.source().and_then(|source| source.downcast_ref());
            let code = said.map(jetstream::Error::error_code);
            let kind = match (error.kind(), code) {
                (_, Some(ErrorCode::STREAM_STORE_FAILED)) => FleetErrorKind::Full,
                (PublishErrorKind::StreamNotFound, _) => FleetErrorKind::Missing,
                _ => FleetErrorKind::Passing,
            };
            FleetError::new(&error).of_kind(kind)
        })
    }

    /// Sends a question to another program and waits for its answer.
    pub(super) fn ask(&self, subject: &str, bytes: Vec<u8>) -> Result<Vec<u8>, FleetError> {
        let asked = self.client.request(subject.to_owned(), bytes.into());
        let answer = self.within(ANSWER, asked)?;
        let answer = answer.map_err(|error| {
            let kind = match error.kind() {
                RequestErrorKind::NoResponders => FleetErrorKind::Missing,
                _ => FleetErrorKind::Passing,
            };
            FleetError::new(&error).of_kind(kind)
        })?;
        Ok(answer.payload.to_vec())
    }

    /// The next messages of a queue, at most so many. While there are none, it waits this long.
    pub(super) fn fetch(
        &self,
        queue: &PullConsumer,
        most: usize,
        patience: Duration,
    ) -> Result<Vec<Message>, FleetError> {
        self.wait(fetch(queue, most, patience))
    }

    /// Begins something without waiting for it.
    pub(super) fn spawn<T: Send + 'static>(
        &self,
        what: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        self.runtime.spawn(what)
    }

    /// Waits for something, for at most as long as the server may take for an answer.
    pub(super) fn wait<T, E: Display>(
        &self,
        what: impl Future<Output = Result<T, E>>,
    ) -> Result<T, FleetError> {
        self.wait_for(ANSWER, what)
    }

    /// Waits for something, for at most this time.
    pub(super) fn wait_for<T, E: Display>(
        &self,
        most: Duration,
        what: impl Future<Output = Result<T, E>>,
    ) -> Result<T, FleetError> {
        self.within(most, what)?.map_err(FleetError::new)
    }

    /// The result of something that takes at most this time.
    fn within<T>(&self, most: Duration, what: impl Future<Output = T>) -> Result<T, FleetError> {
        self.check_admission()?;
        self.runtime.block_on(async {
            tokio::select! {
                result = tokio::time::timeout(most, what) => result.map_err(|_| {
                    let problem = format!("no answer within {} s", most.as_secs());
                    FleetError::new(problem).of_kind(FleetErrorKind::Passing)
                }),
                () = self.signals.denied.notified() => Err(FleetError::new(
                    "the server does not let this key do that: learners, arenas and `fleet status` need learner.key, \
                     workers a key of their own",
                )),
            }
        })
    }
}

impl Signals {
    fn hear(&self, event: &Event) {
        let refused = ConnectErrorKind::AuthorizationViolation;
        match event {
            Event::Connected => {
                self.is_lost.store(false, Ordering::Relaxed);
                self.is_refused.store(false, Ordering::Relaxed);
            }
            Event::Disconnected | Event::Closed => self.is_lost.store(true, Ordering::Relaxed),
            // The client tells a failed attempt to connect again by the name of the kind of error.
            Event::ClientError(ClientError::Other(kind)) if *kind == refused.to_string() => {
                self.is_refused.store(true, Ordering::Relaxed);
            }
            // The server does not answer the request itself.
            Event::ServerError(ServerError::Other(error))
                if error.starts_with("Permissions Violation for Publish") =>
            {
                self.denied.notify_waiters();
            }
            _ => {}
        }
    }
}

/// Adds the user's key and the authority. Returns the user's public key as well.
fn identify(
    mut options: ConnectOptions,
    address: &Address,
) -> Result<(ConnectOptions, String), FleetError> {
    let mut user = "open".to_owned();
    if let Some(path) = &address.key {
        let pair = read_key(path)?;
        user = pair.public_key();
        options = options
            .nkey(pair.seed().map_err(FleetError::new)?)
            .custom_inbox_prefix(format!("_INBOX_{user}"));
    }
    if let Some(path) = &address.authority {
        if let Err(error) = read_text(path, SETTINGS_BYTES) {
            return Err(FleetError::new(format!("{}: {error}", path.display())));
        }
        options = options.add_root_certificates(path.clone());
    }
    Ok((options, user))
}

/// Reads the file of a user's key.
pub(super) fn read_key(path: &Path) -> Result<KeyPair, FleetError> {
    let wrong = |problem: &dyn Display| {
        FleetError::new(format!(
            "{}: {problem}; `fleet up` writes such files, one for the learner and one for workers",
            path.display()
        ))
    };
    let seed = read_text(path, SETTINGS_BYTES).map_err(|error| wrong(&error))?;
    KeyPair::from_seed(seed.trim()).map_err(|_| wrong(&"it holds no key"))
}

/// Why a connection could not be made, and what to do.
fn explain(url: &str, error: &ConnectError) -> FleetError {
    let inner = error.source().and_then(|source| source.downcast_ref());
    let inner = inner.and_then(io::Error::get_ref);
    match inner.and_then(|inner| inner.downcast_ref()) {
        Some(rustls::Error::InvalidCertificate(_)) => {
            return FleetError::new(format!(
                "{url}: the server's certificate is not trusted, or is for another host; give the authority.pem of \
                 this server with --authority, and the host that `fleet up --host` named"
            ));
        }
        Some(rustls::Error::InvalidMessage(_)) => {
            let plain = url.replacen("tls://", "nats://", 1);
            return FleetError::new(format!(
                "{url}: the server does not encrypt connections; reach it as {plain}, or make one with `fleet up --tls`"
            ));
        }
        _ => {}
    }
    let problem = FleetError::new(format!(
        "{url}: {error}; `fleet up` starts a server and says how to reach it"
    ));
    match error.kind() {
        ConnectErrorKind::Dns | ConnectErrorKind::Io | ConnectErrorKind::TimedOut => {
            problem.of_kind(FleetErrorKind::Passing)
        }
        _ => problem,
    }
}

/// The next messages of a queue, at most so many. While there are none, it waits this long.
pub(super) async fn fetch(
    queue: &PullConsumer,
    most: usize,
    patience: Duration,
) -> Result<Vec<Message>, async_nats::Error> {
    let batch = queue.batch().max_messages(most).expires(patience);
    let messages: Vec<_> = batch.messages().await?.collect().await;
    messages.into_iter().collect()
}

fn check_version(url: &str, version: &str) -> Result<(), FleetError> {
    if is_new_enough(version) {
        return Ok(());
    }
    let [major, minor, patch] = LEAST_VERSION;
    Err(FleetError::new(format!(
        "{url}: nats-server {version} can lose a stream in a crash; version {major}.{minor}.{patch} or newer is needed"
    )))
}

fn is_new_enough(version: &str) -> bool {
    let plain = version.split('-').next().unwrap_or_default();
    let parts: Vec<u64> = plain
        .split('.')
        .map_while(|part| part.parse().ok())
        .collect();
    parts.len() == LEAST_VERSION.len() && parts[..] >= LEAST_VERSION[..]
}

#[cfg(test)]
mod tests {
    use super::is_new_enough;

    #[test]
    fn servers_that_can_lose_a_stream_are_too_old() {
        for version in ["2.10.23", "2.11.0", "2.14.0", "3.0.0", "2.12.1-beta.2"] {
            assert!(is_new_enough(version), "{version}");
        }
        for version in ["2.10.22", "2.9.30", "1.4.1", "", "new", "2.10"] {
            assert!(!is_new_enough(version), "{version}");
        }
    }
}
