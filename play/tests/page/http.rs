//! A client for one request at a time, and a server to ask.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use jarmo::catalog::GameSettings;
use play::lang::Language;
use play::server::{self, Defaults, ServerLimits, ServerOptions};
use play::specs::Store;
use serde_json::Value;

/// An answer.
pub(crate) struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {}", self.body))
    }
}

/// Sends a request as it is written and reads all of the answer.
pub(crate) fn send(address: SocketAddr, request: &[u8]) -> Answer {
    send_by(TcpStream::connect(address).unwrap(), request)
}

/// The same by an open connection.
pub(crate) fn send_by(mut stream: TcpStream, request: &[u8]) -> Answer {
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    // A server may answer and close before it has read all of a request that it refuses.
    let _ = stream.write_all(request);
    let mut text = Vec::new();
    let mut part = [0; 4096];
    // Not every server closes the connection that it was asked to close.
    while !is_whole(&text) {
        match stream.read(&mut part) {
            Ok(0) | Err(_) => break,
            Ok(length) => text.extend_from_slice(&part[..length]),
        }
    }
    let text = String::from_utf8_lossy(&text);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
    Answer { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
}

/// Whether an answer has as many bytes as its head says.
fn is_whole(answer: &[u8]) -> bool {
    let Some(end) = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n") else {
        return false;
    };
    let head = String::from_utf8_lossy(&answer[..end]).to_ascii_lowercase();
    let length = head.split("content-length:").nth(1);
    let length = length.and_then(|rest| rest.lines().next()?.trim().parse().ok());
    length.is_some_and(|length: usize| answer.len() >= end + 4 + length)
}

/// Sends a request with a body and more header lines.
pub(crate) fn request(address: SocketAddr, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    request_by(TcpStream::connect(address).unwrap(), method, path, headers, body)
}

/// The same by an open connection.
pub(crate) fn request_by(stream: TcpStream, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let address = stream.peer_addr().unwrap();
    let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    if !headers.iter().any(|(name, _)| *name == "Host") {
        text += &format!("Host: {address}\r\n");
    }
    for (name, value) in headers {
        text += &format!("{name}: {value}\r\n");
    }
    text += &format!("Content-Length: {}\r\n\r\n{body}", body.len());
    send_by(stream, text.as_bytes())
}

/// Starts a server for the rest of the test.
pub(crate) fn serve(seats: [&str; 2], bounds: ServerLimits) -> SocketAddr {
    serve_with(Store::default(), seats, bounds)
}

/// The same with trained agents and tables.
pub(crate) fn serve_with(store: Store, seats: [&str; 2], bounds: ServerLimits) -> SocketAddr {
    serve_options(seats, |options| {
        options.defaults.store = store;
        options.bounds = bounds;
    })
}

/// The same with other options.
pub(crate) fn serve_options(seats: [&str; 2], change: impl FnOnce(&mut ServerOptions)) -> SocketAddr {
    let mut options = ServerOptions {
        defaults: Defaults {
            language: Language::En,
            game: "jarmo".to_owned(),
            seats: seats.map(str::to_owned).into(),
            settings: GameSettings::default(),
            store: Store::default(),
            record: None,
            analyse: false,
        },
        bounds: ServerLimits::default(),
        folder: None,
        origins: Vec::new(),
        proxies: Vec::new(),
        page: None,
    };
    change(&mut options);
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = server::bind(([127, 0, 0, 1], 0).into()).await.unwrap();
            tell.send(listener.local_addr().unwrap()).unwrap();
            server::run(listener, options, std::future::pending()).await.unwrap();
        });
    });
    told.recv().unwrap()
}
