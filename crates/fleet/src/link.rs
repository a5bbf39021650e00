//! A connection to the server, with deadlines for everything.

use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::{self, Context, Message};
use async_nats::{Client, ConnectOptions, Event, ServerError};
use futures_util::StreamExt;
use nkeys::KeyPair;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;

use super::FleetError;
use jarmo_host::files::{SETTINGS_BYTES, read_text};

/// Servers before this version can lose a stream in a crash.
const LEAST_VERSION: [u64; 3] = [2, 10, 23];

/// The longest wait for an answer. Longer reads have deadlines of their own.
const ANSWER: Duration = Duration::from_secs(10);

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
    connected: Arc<AtomicBool>,
    denied: Arc<Notify>, // the server refused something to the user
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
        let connected = Arc::new(AtomicBool::new(true));
        let seen = Arc::clone(&connected);
        let denied = Arc::new(Notify::new());
        let deny = Arc::clone(&denied);
        let mut options = ConnectOptions::new()
            .name(name)
            .require_tls(url.starts_with("tls:"))
            .request_timeout(Some(ANSWER))
            .connection_timeout(ANSWER)
            .reconnect_delay_callback(|attempts| {
                LONGEST_PAUSE.min(Duration::from_millis(100) * attempts.min(100) as u32)
            })
            .event_callback(move |event| {
                match event {
                    Event::Connected => seen.store(true, Ordering::Relaxed),
                    Event::Disconnected | Event::Closed => seen.store(false, Ordering::Relaxed),
                    // The server does not answer the request itself.
                    Event::ServerError(ServerError::Other(error))
                        if error.contains("Permissions Violation for Publish") =>
                    {
                        deny.notify_waiters();
                    }
                    _ => {}
                }
                std::future::ready(())
            });
        let mut user = "open".to_owned();
        if let Some(path) = &address.key {
            let wrong = |problem: &dyn Display| {
                FleetError::new(format!(
                    "{}: {problem}; `fleet up` writes such files, one for the learner and one for workers",
                    path.display()
                ))
            };
            let seed = read_text(path, SETTINGS_BYTES).map_err(|error| wrong(&error))?;
            let seed = seed.trim();
            let pair = KeyPair::from_seed(seed).map_err(|_| wrong(&"it holds no key"))?;
            user = pair.public_key();
            options = options
                .nkey(seed.to_owned())
                .custom_inbox_prefix(format!("_INBOX_{user}"));
        }
        if let Some(path) = &address.authority {
            if let Err(error) = read_text(path, SETTINGS_BYTES) {
                return Err(FleetError::new(format!("{}: {error}", path.display())));
            }
            options = options.add_root_certificates(path.clone());
        }
        let client = runtime.block_on(options.connect(url.as_str()));
        let client = client.map_err(|error| {
            use async_nats::ConnectErrorKind::{Dns, Io, TimedOut};
            if error.to_string().contains("invalid peer certificate") {
                return FleetError::new(format!(
                    "{url}: the server's certificate is not trusted, or is for another host; give the authority.pem \
                     of this server with --authority, and the host that `fleet up --host` named"
                ));
            }
            let problem = FleetError::new(format!(
                "{url}: {error}; `fleet up` starts a server and says how to reach it"
            ));
            match error.kind() {
                Dns | Io | TimedOut => problem.passing(),
                _ => problem,
            }
        })?;
        let version = client.server_info().version;
        if !is_new_enough(&version) {
            let [major, minor, patch] = LEAST_VERSION;
            return Err(FleetError::new(format!(
                "{url}: nats-server {version} can lose a stream in a crash; version {major}.{minor}.{patch} or newer \
                 is needed"
            )));
        }
        let _inside = runtime.enter(); // the context starts a task
        let mut context = jetstream::new(client.clone());
        context.set_timeout(ANSWER);
        Ok(Link {
            runtime: Arc::new(runtime),
            client,
            context,
            user,
            connected,
            denied,
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
        self.connected.load(Ordering::Relaxed)
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
        self.wait(async {
            let sent = self.context.send_publish(subject.to_owned(), message).await;
            let sent = sent.map_err(|error| error.to_string())?.await;
            sent.map(|_| ()).map_err(|error| error.to_string())
        })
    }

    /// The next messages of a queue, at most so many. While there are none, it waits this long.
    pub(super) fn fetch(
        &self,
        queue: &PullConsumer,
        most: usize,
        patience: Duration,
    ) -> Result<Vec<Message>, FleetError> {
        self.wait(async {
            let batch = queue.batch().max_messages(most).expires(patience);
            let messages = batch.messages().await.map_err(|error| error.to_string())?;
            let messages: Vec<_> = messages.collect().await;
            let messages: Result<Vec<Message>, _> = messages.into_iter().collect();
            messages.map_err(|error| error.to_string())
        })
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
        let denied = FleetError::new(
            "the server does not let this key do that: learners, arenas and `fleet status` need learner.key, workers \
             a key of their own",
        );
        let result = self.runtime.block_on(async {
            tokio::select! {
                result = tokio::time::timeout(most, what) => result.map(|done| done.map_err(FleetError::new)),
                () = self.denied.notified() => Ok(Err(denied)),
            }
        });
        match result {
            Ok(done) => done,
            Err(_) => Err(FleetError::new(format!(
                "no answer within {} s",
                most.as_secs()
            ))),
        }
    }
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
