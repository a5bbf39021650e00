//! A running server and one connection to it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use jarmo::catalog::GameSettings;
use play::lang::Language;
use play::server::{self, Defaults, ServerLimits, ServerOptions};
use play::specs::Store;

/// A page that has opened a session.
pub(crate) struct Page {
    address: SocketAddr,
    stream: TcpStream,
    session: String,
}

impl Page {
    pub(crate) fn open() -> Page {
        let address = serve();
        let mut page = Page { address, stream: connect(address), session: String::new() };
        page.begin();
        page
    }

    /// Opens a session.
    fn begin(&mut self) {
        let answer = self.request("/api/sessions", b"{}");
        let (_, rest) = answer.split_once("\"id\":\"").expect("a session");
        self.session = rest.split('"').next().expect("a name").to_owned();
    }

    /// Sends a body to the session, which must be answered by anything but an error of the server.
    pub(crate) fn post(&mut self, body: &[u8]) {
        let answer = self.request("/api/session", body);
        let status = answer.split(' ').nth(1).expect("a status").to_owned();
        assert!(status.starts_with('2') || status.starts_with('4'), "{answer}");
        if status == "404" {
            self.begin(); // closed after a long run
        }
    }

    fn request(&mut self, path: &str, body: &[u8]) -> String {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nX-Session: {}\r\nContent-Length: {}\r\n\r\n",
            self.address,
            self.session,
            body.len()
        );
        for _ in 0..3 {
            let message = [head.as_bytes(), body].concat();
            let _ = self.stream.write_all(&message);
            if let Some(answer) = self.answer() {
                return answer;
            }
            self.stream = connect(self.address); // the server ends long visits
        }
        panic!("no answer");
    }

    /// A whole answer; `None` if the connection is closed.
    fn answer(&mut self) -> Option<String> {
        let mut text = Vec::new();
        let mut part = [0; 1 << 16];
        loop {
            let read = self.stream.read(&mut part).ok().filter(|&read| read > 0)?;
            text.extend_from_slice(&part[..read]);
            let whole = String::from_utf8_lossy(&text);
            if let Some((head, body)) = whole.split_once("\r\n\r\n") {
                let head = head.to_ascii_lowercase();
                let length = head.split("content-length: ").nth(1)?.lines().next()?;
                if body.len() >= length.parse().ok()? {
                    return Some(whole.into_owned());
                }
            }
        }
    }
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("the server listens");
    let patience = Some(Duration::from_secs(30));
    stream.set_read_timeout(patience).expect("a time above 0");
    stream.set_nodelay(true).expect("an open connection");
    stream
}

/// Starts a server for the rest of the process.
fn serve() -> SocketAddr {
    let options = ServerOptions {
        defaults: Defaults {
            language: Language::En,
            game: "connect_four".to_owned(),
            seats: ["human", "human"].map(str::to_owned).into(),
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
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let listener = server::bind(([127, 0, 0, 1], 0).into()).await.expect("a free port");
            tell.send(listener.local_addr().expect("bound")).expect("asked");
            server::run(listener, options, std::future::pending()).await.expect("runs");
        });
    });
    told.recv().expect("the server starts")
}
