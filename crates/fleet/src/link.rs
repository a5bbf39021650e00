//! A connection to a NATS server: its address and key, errors with remedies, and deadlines for every call.

mod relay;

use std::error::Error;
use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_nats::connection::State;
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::message::{PublishMessage, StreamMessage};
use async_nats::jetstream::{self, Context, ErrorCode};
use async_nats::{
    Client, ClientError, ConnectError, ConnectErrorKind, ConnectOptions, Event, Message, RequestErrorKind, rustls,
};
use futures_util::{Stream, StreamExt};
use nkeys::KeyPair;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use super::FleetError;
use jarmo_host::files::{SETTINGS_BYTES, read_text};

pub(super) const ANSWER: Duration = Duration::from_secs(10); // the longest wait, unless a call has its own deadline
const FAREWELL: Duration = Duration::from_secs(1); // at most, until what was sent has left this machine
const MOST_UNREAD: usize = 256; // messages of one kind; later ones are dropped, and their senders try again

/// The oldest version of the server that is accepted. Earlier ones cannot list a stream, and those before 2.10.23 can
/// lose a stream in a crash.
const LEAST_VERSION: [i64; 3] = [2, 11, 0];

/// The address of a server, with key and certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// `nats://HOST:PORT`, or `tls://HOST:PORT`.
    pub url: String,
    /// The file of the user's key; `None` for a server without users.
    pub key: Option<PathBuf>,
    /// The certificate of the authority that signed the server's certificate; `None` for the authorities that the
    /// system trusts.
    pub authority: Option<PathBuf>,
}

/// A connection, which reconnects by itself.
pub struct Link {
    pub(super) runtime: Runtime,
    pub(super) client: Client,
    pub(super) context: Context,
    pub(super) user: String,      // the public key, or `open`
    is_refused: Arc<AtomicBool>,  // the server does not let this user in any more
    open: watch::Receiver<usize>, // connections to the server
}

impl Link {
    /// Connects under this name. Fails if the server is too old.
    pub fn open(address: &Address, name: &str) -> Result<Link, FleetError> {
        let url = &address.url;
        if !(url.starts_with("nats://") || url.starts_with("tls://")) {
            return Err(FleetError::new(format!(
                "{url:?} is not the address of a server, such as nats://localhost:4222 or tls://alice:4222"
            )));
        }
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("fleet")
            .enable_all()
            .build()
            .map_err(FleetError::new)?;
        let is_refused = Arc::<AtomicBool>::default();
        let refused = Arc::clone(&is_refused);
        let mut options = ConnectOptions::new()
            .name(name)
            .subscription_capacity(MOST_UNREAD)
            .connection_timeout(2 * ANSWER) // longer than that of the relay
            .event_callback(move |event| {
                hear(&event, &refused);
                std::future::ready(())
            });
        let mut user = "open".to_owned();
        if let Some(path) = &address.key {
            let pair = read_key(path)?;
            user = pair.public_key();
            options = options.nkey(pair.seed().map_err(FleetError::new)?);
        }
        let authority = address.authority.as_deref().map(relay::certificates).transpose()?;
        let reached = runtime.block_on(relay::open(url, authority));
        let (local, open) = reached.map_err(|error| unreached(url, &error))?;
        let client = runtime.block_on(options.connect(local));
        let client = client.map_err(|error| unaccepted(url, &error))?;
        let [major, minor, patch] = LEAST_VERSION;
        if !client.is_server_compatible(major, minor, patch) {
            let version = client.server_info().version;
            return Err(FleetError::new(format!(
                "{url}: nats-server {version} is too old; version {major}.{minor}.{patch} or newer is needed"
            )));
        }
        let mut context = {
            let _inside = runtime.enter(); // the context starts a task
            jetstream::new(client.clone())
        };
        context.set_timeout(ANSWER);
        Ok(Link { runtime, client, context, user, is_refused, open })
    }

    /// Whether the server can be reached.
    pub fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// Fails if the server no longer accepts this user.
    pub(super) fn check_admission(&self) -> Result<(), FleetError> {
        match self.is_refused.load(Ordering::Relaxed) {
            false => Ok(()),
            true => Err(FleetError::new(
                "the server no longer accepts this key; ask whoever runs the server for another one",
            )),
        }
    }

    /// Sends a message and waits at most `patience` until a stream has stored it. The stream drops a second message of
    /// the same name.
    pub(super) fn publish(
        &self,
        subject: &str,
        name: &str,
        bytes: Vec<u8>,
        patience: Duration,
    ) -> Result<(), FleetError> {
        let message = PublishMessage::build().message_id(name).payload(bytes.into());
        let sent = self.within(patience, async {
            let sent = self.context.send_publish(subject.to_owned(), message).await;
            sent?.await
        })?;
        sent.map(|_| ()).map_err(|error| {
            let said: Option<&jetstream::Error> = error.source().and_then(|source| source.downcast_ref());
            // The code of every failure to store; a full disk is another one.
            let is_refused = |said: &jetstream::Error| {
                said.error_code() == ErrorCode::STREAM_STORE_FAILED && said.to_string().contains("maximum")
            };
            match error.kind() {
                _ if said.is_some_and(is_refused) => FleetError::Full(error.to_string()),
                PublishErrorKind::StreamNotFound => FleetError::Missing(error.to_string()),
                _ => FleetError::Transient(error.to_string()),
            }
        })
    }

    /// Sends a question to another program and waits for its answer.
    pub(super) fn ask(&self, subject: &str, bytes: Vec<u8>) -> Result<Vec<u8>, FleetError> {
        let asked = self.client.request(subject.to_owned(), bytes.into());
        let answer = self.within(ANSWER, asked)?;
        let answer = answer.map_err(|error| match error.kind() {
            RequestErrorKind::NoResponders => FleetError::Missing(error.to_string()),
            _ => FleetError::Transient(error.to_string()),
        })?;
        Ok(answer.payload.to_vec())
    }

    /// The answers to a request with several answers, in order.
    pub(super) fn ask_for_many(&self, subject: &str, question: String) -> Result<Vec<StreamMessage>, FleetError> {
        let inbox = self.client.new_inbox();
        self.wait(async {
            let mut heard = self.client.subscribe(inbox.clone()).await?;
            self.client.publish_with_reply(subject.to_owned(), inbox, question.into()).await?;
            let mut answers = Vec::new();
            while let Some(message) = heard.next().await {
                if message.status.is_some() {
                    break; // the end, or that there is nothing
                }
                answers.push(message.try_into()?);
            }
            Ok::<_, async_nats::Error>(answers)
        })
    }

    /// Sends a message that may get lost.
    pub(super) fn send(&self, subject: &str, bytes: Vec<u8>) -> Result<(), FleetError> {
        self.wait(self.client.publish(subject.to_owned(), bytes.into()))
    }

    /// The next message, if one arrives within this time.
    pub(super) fn next(
        &self,
        heard: &mut (impl Stream<Item = Message> + Unpin),
        patience: Duration,
    ) -> Option<Message> {
        let next = async { tokio::time::timeout(patience, heard.next()).await };
        self.runtime.block_on(next).ok().flatten()
    }

    /// Waits at most as long as the server may take for an answer.
    pub(super) fn wait<T, E: Display>(&self, what: impl Future<Output = Result<T, E>>) -> Result<T, FleetError> {
        self.within(ANSWER, what)?.map_err(FleetError::new)
    }

    /// The result of an operation, with this time limit.
    pub(super) fn within<T>(&self, most: Duration, what: impl Future<Output = T>) -> Result<T, FleetError> {
        self.check_admission()?;
        let result = self.runtime.block_on(async { tokio::time::timeout(most, what).await });
        result.map_err(|_| FleetError::Transient(format!("no answer within {} s", most.as_secs())))
    }
}

impl Drop for Link {
    /// Waits until what was sent is on its way to the server.
    fn drop(&mut self) {
        let Link { runtime, client, open, .. } = self;
        let left = async {
            let _ = client.drain().await; // ends the connection
            let _ = open.wait_for(|count| *count == 0).await;
        };
        let _ = runtime.block_on(async { tokio::time::timeout(FAREWELL, left).await });
    }
}

/// Records whether the server accepts this user.
fn hear(event: &Event, is_refused: &AtomicBool) {
    match event {
        Event::Connected => is_refused.store(false, Ordering::Relaxed),
        // The client reports a failed attempt to connect again by the name of the kind of error.
        Event::ClientError(ClientError::Other(kind))
            if *kind == ConnectErrorKind::AuthorizationViolation.to_string() =>
        {
            is_refused.store(true, Ordering::Relaxed);
        }
        _ => {}
    }
}

/// Reads the file of a user's key.
pub(super) fn read_key(path: &Path) -> Result<KeyPair, FleetError> {
    let wrong =
        |problem: &dyn Display| FleetError::new(format!("{}: {problem}; `fleet up` writes such files", path.display()));
    let seed = read_text(path, SETTINGS_BYTES).map_err(|error| wrong(&error))?;
    KeyPair::from_seed(seed.trim()).map_err(|_| wrong(&"it contains no key"))
}

/// The error where no connection could be made, with the remedy.
fn unreached(url: &str, error: &io::Error) -> FleetError {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
    let problem = match inner {
        Some(rustls::Error::InvalidCertificate(_)) => {
            "the server's certificate is not trusted, or is for another host; it takes the authority.pem of this \
             server, and the host that it was made for"
                .to_owned()
        }
        Some(rustls::Error::InvalidMessage(_)) => {
            let plain = url.replacen("tls://", "nats://", 1);
            format!("the server does not encrypt connections; reach it as {plain}, or make one that does")
        }
        _ if error.kind() == io::ErrorKind::InvalidInput => error.to_string(),
        _ => return unavailable(url, &error),
    };
    FleetError::new(format!("{url}: {problem}"))
}

/// The error where the server did not let this program in, with the remedy.
fn unaccepted(url: &str, error: &ConnectError) -> FleetError {
    match error.kind() {
        ConnectErrorKind::AuthorizationViolation => {
            FleetError::new(format!("{url}: the server does not know this key, or needs one"))
        }
        ConnectErrorKind::Io | ConnectErrorKind::TimedOut => unavailable(url, error),
        _ => FleetError::new(format!("{url}: {error}")),
    }
}

/// The error for a server that may be there later.
fn unavailable(url: &str, error: &dyn Display) -> FleetError {
    FleetError::Transient(format!("{url}: {error}; `fleet up` starts a server and prints how to reach it"))
}
