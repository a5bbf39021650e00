//! The server's program and the ports of this machine. The tests of the whole program take this file, too.

use std::env;
use std::ffi::OsString;
use std::net::TcpListener;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// The program `nats-server`; `None` if this machine has none, unless JARMO_FLEET asks for it.
pub(super) fn nats_server() -> Option<OsString> {
    let program = env::var_os("JARMO_NATS_SERVER");
    if program.is_none() {
        assert!(env::var_os("JARMO_FLEET").is_none(), "JARMO_NATS_SERVER is not set");
        eprintln!("left out: JARMO_NATS_SERVER names no nats-server");
    }
    program
}

/// A free port among the 10,000 from the first one, which no other test of this process was given. They lie below those
/// that the system gives to outgoing connections, so that none of them takes it before the server does.
pub(super) fn free_port(first: u16) -> u16 {
    static GIVEN: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = process::id() * 101 + GIVEN.fetch_add(1, Ordering::Relaxed);
        let port = first + (number % 10_000) as u16;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}
