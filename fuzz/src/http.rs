//! A running server and one connection to it.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use jarmo::catalog::GameSettings;
use play::lang::Language;
use play::server::{self, Defaults, ServerLimits, ServerOptions};
use play::specs::Store;
use tempfile::TempDir;

/// A client with an open session.
pub(crate) struct Page {
    address: SocketAddr,
    stream: TcpStream,
    session: String,
    saved: Option<TempDir>, // the folder of the saved games
    files: u64,             // saved games so far
}

/// The secret of the invited person in the saved game that the corpus begins with.
const SECRET: &str = "00000000000000000000000000000001";

impl Page {
    /// Of a server that saves nothing.
    pub(crate) fn open() -> Page {
        let mut page = Page::of(None);
        page.begin();
        page
    }

    /// Of a server that saves games of two people, of which it keeps only the last one in memory.
    pub(crate) fn with_saved() -> Page {
        Page::of(Some(tempfile::tempdir().expect("a temporary folder")))
    }

    fn of(saved: Option<TempDir>) -> Page {
        let address = serve(saved.as_ref().map(|folder| folder.path().to_owned()));
        Page { address, stream: connect(address), session: String::new(), saved, files: 0 }
    }

    /// Opens a session.
    fn begin(&mut self) {
        let answer = self.request("POST", "/api/sessions", b"{}");
        self.session = id_in(&answer);
    }

    /// Sends a body to the session.
    pub(crate) fn post(&mut self, body: &[u8]) {
        if self.asked("POST", "/api/session", body) == 404 {
            self.begin(); // closed after a long run
        }
    }

    /// Looks at the session with a query. The first byte selects what is looked at.
    pub(crate) fn look(&mut self, bytes: &[u8]) {
        const PATHS: [&str; 4] = ["scene", "moves", "picture", "record"];
        let Some((first, query)) = bytes.split_first() else {
            return;
        };
        let fits = query.iter().filter(|byte| byte.is_ascii_graphic() && **byte != b'#');
        let query: String = fits.map(|byte| char::from(*byte)).take(2000).collect();
        let path = format!("/api/{}?{query}", PATHS[usize::from(*first) % PATHS.len()]);
        if self.asked("GET", &path, b"") == 404 {
            self.begin();
        }
    }

    /// Opens a saved game with this content, as someone who watches and as one of the two.
    pub(crate) fn open_saved(&mut self, content: &[u8]) {
        self.files += 1;
        let id = format!("{:032x}", self.files);
        let folder = self.saved.as_ref().expect("a server that saves games").path();
        let path = folder.join(format!("{id}.json"));
        fs::write(&path, content).expect("room in the temporary folder");
        self.session.clone_from(&id);
        if self.asked("GET", "/api/session", b"") != 404 {
            self.session = format!("{id}.{SECRET}");
            self.asked("GET", "/api/session", b"");
            self.asked("POST", "/api/session", br#"{"do": "offer", "what": "undo"}"#);
            self.asked("POST", "/api/session", br#"{"do": "resign"}"#);
        }
        let _ = fs::remove_file(path); // a game that is refused was not read
    }

    /// The status of an answer, which must be anything but an error of the server.
    fn asked(&mut self, method: &str, path: &str, body: &[u8]) -> u16 {
        let answer = self.request(method, path, body);
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        assert!((200..500).contains(&status), "{answer}");
        status
    }

    fn request(&mut self, method: &str, path: &str, body: &[u8]) -> String {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nX-Session: {}\r\nContent-Length: {}\r\n\r\n",
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

/// The session that an answer names.
fn id_in(answer: &str) -> String {
    let (_, rest) = answer.split_once("\"id\":\"").expect("a session");
    rest.split('"').next().expect("a name").to_owned()
}

/// A saved game of two, after a move of each.
pub(crate) fn written() -> Vec<Vec<u8>> {
    let mut page = Page::with_saved();
    let opening = br#"{"game": "connect_four", "duel": "white", "clock": [60, 2]}"#;
    let first = id_in(&page.request("POST", "/api/sessions", opening));
    let (id, _) = first.split_once('.').expect("a secret");
    page.session = id.to_owned();
    page.asked("POST", "/api/join", format!(r#"{{"secret": "{SECRET}"}}"#).as_bytes());
    page.session.clone_from(&first);
    page.asked("POST", "/api/session", br#"{"do": "play", "text": "D"}"#);
    page.session = format!("{id}.{SECRET}");
    page.asked("POST", "/api/session", br#"{"do": "play", "text": "C"}"#);
    let folder = page.saved.as_ref().expect("a folder").path();
    vec![fs::read(folder.join(format!("{id}.json"))).expect("it was saved")]
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("the server listens");
    let patience = Some(Duration::from_secs(30));
    stream.set_read_timeout(patience).expect("a time above 0");
    stream.set_nodelay(true).expect("an open connection");
    stream
}

/// Starts a server for the rest of the process.
fn serve(folder: Option<PathBuf>) -> SocketAddr {
    let bounds = match folder {
        Some(_) => ServerLimits { per_address: 1, idle_if_full: Duration::ZERO, ..ServerLimits::default() },
        None => ServerLimits::default(),
    };
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
        bounds,
        folder,
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
