//! Where a server is, how to get in, and why that fails.

use std::error::Error;
use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use async_nats::{ConnectError, ConnectErrorKind, ConnectOptions, rustls};
use nkeys::KeyPair;

use super::FleetError;
use jarmo_host::files::{SETTINGS_BYTES, read_text};

/// Servers before this version cannot list a stream, and those before 2.10.23 can lose one in a crash.
const LEAST_VERSION: [u64; 3] = [2, 11, 0];

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

/// Adds the user's key and the authority. Returns the user's public key as well.
pub(super) fn identify(mut options: ConnectOptions, address: &Address) -> Result<(ConnectOptions, String), FleetError> {
    let mut user = "open".to_owned();
    if let Some(path) = &address.key {
        let pair = read_key(path)?;
        user = pair.public_key();
        options = options.nkey(pair.seed().map_err(FleetError::new)?).custom_inbox_prefix(format!("_INBOX_{user}"));
    }
    if let Some(path) = &address.authority {
        read_text(path, SETTINGS_BYTES).map_err(FleetError::at(path))?;
        options = options.add_root_certificates(path.clone());
    }
    Ok((options, user))
}

/// Reads the file of a user's key.
pub(super) fn read_key(path: &Path) -> Result<KeyPair, FleetError> {
    let wrong =
        |problem: &dyn Display| FleetError::new(format!("{}: {problem}; `fleet up` writes such files", path.display()));
    let seed = read_text(path, SETTINGS_BYTES).map_err(|error| wrong(&error))?;
    KeyPair::from_seed(seed.trim()).map_err(|_| wrong(&"it holds no key"))
}

/// Why a connection could not be made, and what to do.
pub(super) fn explain(url: &str, error: &ConnectError) -> FleetError {
    let inner = error.source().and_then(|source| source.downcast_ref());
    let inner = inner.and_then(io::Error::get_ref);
    match inner.and_then(|inner| inner.downcast_ref()) {
        Some(rustls::Error::InvalidCertificate(_)) => {
            return FleetError::new(format!(
                "{url}: the server's certificate is not trusted, or is for another host; it takes the authority.pem \
                 of this server, and the host that it was made for"
            ));
        }
        Some(rustls::Error::InvalidMessage(_)) => {
            let plain = url.replacen("tls://", "nats://", 1);
            return FleetError::new(format!(
                "{url}: the server does not encrypt connections; reach it as {plain}, or make one that does"
            ));
        }
        _ => {}
    }
    let problem = format!("{url}: {error}; `fleet up` starts a server and says how to reach it");
    match error.kind() {
        ConnectErrorKind::AuthorizationViolation => {
            FleetError::new(format!("{url}: the server does not know this key, or needs one"))
        }
        ConnectErrorKind::Dns | ConnectErrorKind::Io | ConnectErrorKind::TimedOut => FleetError::Passing(problem),
        _ => FleetError::Lasting(problem),
    }
}

pub(super) fn check_version(url: &str, version: &str) -> Result<(), FleetError> {
    if is_new_enough(version) {
        return Ok(());
    }
    let [major, minor, patch] = LEAST_VERSION;
    Err(FleetError::new(format!(
        "{url}: nats-server {version} is too old; version {major}.{minor}.{patch} or newer is needed"
    )))
}

fn is_new_enough(version: &str) -> bool {
    let plain = version.split('-').next().unwrap_or_default();
    let parts: Vec<u64> = plain.split('.').map_while(|part| part.parse().ok()).collect();
    parts.len() == LEAST_VERSION.len() && parts[..] >= LEAST_VERSION[..]
}

#[cfg(test)]
mod tests {
    use super::is_new_enough;

    #[test]
    fn old_servers_are_refused() {
        for version in ["2.11.0", "2.11.3", "2.14.0", "3.0.0", "2.12.1-beta.2"] {
            assert!(is_new_enough(version), "{version}");
        }
        for version in ["2.10.23", "2.9.30", "1.4.1", "", "new", "2.10"] {
            assert!(!is_new_enough(version), "{version}");
        }
    }
}
