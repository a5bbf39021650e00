//! Chromium without a screen, driven through chromedriver.

use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::http::{Answer, request};
use serde_json::{Value, json};

/// The key of an element's id in WebDriver's answers.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// How long a test waits for the page.
const PATIENCE: Duration = Duration::from_secs(20);

/// Why an element cannot be clicked yet.
const PASSING: [&str; 3] = ["element not interactable", "element click intercepted", "stale element reference"];

/// A browser that is new to the pages of a test. Starting one takes a second or more, so later tests use it again, in
/// a new tab. Each test has its own origin, whose storage is emptied when the browser is dropped.
pub(crate) struct Browser {
    chromium: Option<Chromium>, // until it is dropped
}

/// Browsers that no test uses.
static IDLE: Mutex<Vec<Chromium>> = Mutex::new(Vec::new());

/// A running browser and its profile.
struct Chromium {
    /// It runs [`GUARD`].
    shell: Child,
    address: SocketAddr,
    session: String,
    process: u64,
    profile: PathBuf,
}

/// Runs the driver. When this program ends, even if it is killed, the input of the shell ends; then driver and browser are
/// killed and the profile is deleted. It is kept after the word `keep`.
const GUARD: &str = r#"chromedriver --port=0 & driver=$!; exec >/dev/null; read -r browser; read -r word
    kill -9 $driver $browser; [ "$word" = keep ] || { wait; sleep 0.2; rm -rf -- "$1"; }"#;

impl Browser {
    /// Starts a browser and opens the page there as someone who has been there before.
    pub(crate) fn at(address: SocketAddr) -> Browser {
        let browser = Browser::start();
        browser.open(address);
        browser
    }

    /// Starts a browser.
    pub(crate) fn start() -> Browser {
        let idle = IDLE.lock().unwrap().pop();
        let chromium = idle.unwrap_or_else(|| Chromium::start(tempfile::tempdir().unwrap().keep()));
        Browser { chromium: Some(chromium) }
    }

    /// Kills the browser at once, and starts another one with its profile.
    pub(crate) fn killed_and_started_again(mut self) -> Browser {
        let chromium = self.chromium.as_mut().unwrap();
        let killed = Command::new("kill").args(["-9", &chromium.process.to_string()]).status().unwrap();
        assert!(killed.success());
        chromium.shell.stdin.take().unwrap().write_all(b"keep\n").unwrap();
        chromium.shell.wait().unwrap();
        let profile = chromium.profile.clone();
        let _ = std::fs::remove_file(profile.join("SingletonLock")); // of the one that was killed
        *chromium = Chromium::start(profile);
        self
    }

    /// Prepares the browser for another test: empties the storage of the origin that it shows, and opens a new tab in
    /// place of all others.
    fn forget(&self) {
        let origin = self.run("return location.origin");
        if origin != json!("null") {
            self.chromium("Storage.clearDataForOrigin", json!({"origin": origin, "storageTypes": "all"}));
        }
        let tab = self.call("POST", "/window/new", json!({"type": "tab"}))["handle"].take();
        for other in self.call("GET", "/window/handles", Value::Null).as_array().unwrap() {
            if *other != tab {
                self.call("POST", "/window", json!({"handle": other}));
                self.call("DELETE", "/window", json!({}));
            }
        }
        self.call("POST", "/window", json!({"handle": tab}));
    }

    pub(crate) fn call(&self, method: &str, path: &str, body: Value) -> Value {
        let answer = self.ask(method, path, body);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.json()["value"].take()
    }

    /// What the driver answers, problems included.
    fn ask(&self, method: &str, path: &str, body: Value) -> Answer {
        let chromium = self.chromium.as_ref().expect("it runs until it is dropped");
        let path = format!("/session/{}{path}", chromium.session);
        let body = if method == "GET" { String::new() } else { body.to_string() };
        request(chromium.address, method, &path, &[], &body)
    }

    /// Opens the page as someone who has been there before.
    pub(crate) fn open(&self, address: SocketAddr) {
        let icon = format!("http://{address}/icon.svg");
        self.call("POST", "/url", json!({"url": icon}));
        self.run("localStorage.setItem('welcomed', 'true')");
        self.visit(address);
    }

    /// Opens the page as it is in this browser.
    pub(crate) fn visit(&self, address: SocketAddr) {
        self.call("POST", "/url", json!({"url": format!("http://{address}/")}));
        self.wait("return document.documentElement.dataset.ready === 'true'");
    }

    /// Opens an address of the page, as a link in another tab would.
    pub(crate) fn open_link(&self, link: &str) {
        self.call("POST", "/url", json!({"url": "about:blank"}));
        self.call("POST", "/url", json!({"url": link}));
        self.wait("return document.documentElement.dataset.ready === 'true'");
    }

    /// The value of a field.
    pub(crate) fn value(&self, id: &str) -> String {
        let value = self.run(&format!("return document.getElementById('{id}').value"));
        value.as_str().unwrap().to_owned()
    }

    pub(crate) fn run(&self, script: &str) -> Value {
        self.call("POST", "/execute/sync", json!({"script": script, "args": []}))
    }

    pub(crate) fn wait(&self, condition: &str) {
        self.wait_within(PATIENCE, condition);
    }

    pub(crate) fn wait_within(&self, limit: Duration, condition: &str) {
        let began = Instant::now();
        while self.run(condition) != json!(true) {
            if began.elapsed() >= limit {
                panic!("{condition}\n{}", self.run("return document.body.innerText"));
            }
            // Each question costs milliseconds of a core.
            sleep((began.elapsed() / 8).clamp(Duration::from_millis(10), Duration::from_millis(200)));
        }
    }

    /// Chooses from a list.
    pub(crate) fn choose(&self, list: &str, value: &str) {
        self.run(&format!(
            "const list = document.getElementById('{list}'); list.value = '{value}';
             list.dispatchEvent(new Event('change'))"
        ));
    }

    /// Chooses who plays a side, from its card.
    pub(crate) fn seat(&self, player: &str, who: &str) {
        self.click(&format!("#seat-{player}"));
        self.click(&format!("#seat-list [data-who=\"{who}\"]"));
    }

    /// Clicks an element as soon as it can be clicked, after opening the menu if that is where it is.
    pub(crate) fn click(&self, selector: &str) {
        let began = Instant::now();
        loop {
            self.run(&format!(
                "document.querySelector('{}')?.closest('[popover]')?.showPopover()",
                selector.replace('\'', "\\'")
            ));
            let element = self.element(selector);
            let id = element[ELEMENT].as_str().unwrap();
            let answer = self.ask("POST", &format!("/element/{id}/click"), json!({}));
            if answer.status == 200 {
                return;
            }
            let value = answer.json()["value"].take();
            let may_pass = PASSING.iter().any(|problem| value["error"] == *problem);
            let problem = &answer.body;
            assert!(may_pass && began.elapsed() < PATIENCE, "{selector}: {problem}");
            sleep(Duration::from_millis(10));
        }
    }

    /// Chooses a file of this machine in a file field.
    pub(crate) fn choose_file(&self, selector: &str, file: &Path) {
        let element = self.element(selector);
        let id = element[ELEMENT].as_str().unwrap();
        let path = format!("/element/{id}/value");
        self.call("POST", &path, json!({"text": file.to_str().unwrap()}));
    }

    pub(crate) fn element(&self, selector: &str) -> Value {
        let place = json!({"using": "css selector", "value": selector});
        self.call("POST", "/element", place)
    }

    /// Presses on a cell, moves over other elements, and releases on the last.
    pub(crate) fn drag(&self, pointer: &str, from: u64, way: &[&str]) {
        let to = |selector: &str| {
            let origin = self.element(selector);
            json!({"type": "pointerMove", "duration": 40, "origin": origin, "x": 0, "y": 0})
        };
        let mut actions = vec![to(&format!("[data-cell=\"{from}\"]")), json!({"type": "pointerDown", "button": 0})];
        actions.extend(way.iter().copied().map(to));
        actions.push(json!({"type": "pointerUp", "button": 0}));
        let hand = json!({"type": "pointer", "id": pointer, "actions": actions,
            "parameters": {"pointerType": pointer}});
        self.call("POST", "/actions", json!({"actions": [hand]}));
    }

    /// Waits until a piece is drawn in the middle of a cell.
    pub(crate) fn wait_for_piece(&self, cell: u64) {
        let script = format!(
            "const middle = (node) => {{ const box = node.getBoundingClientRect();
                 return [box.left + box.width / 2, box.top + box.height / 2]; }};
             const [x, y] = middle(document.querySelector('[data-cell=\"{cell}\"] .hole'));
             return [...document.querySelectorAll('#board .piece .body')].some((piece) =>
                 Math.hypot(middle(piece)[0] - x, middle(piece)[1] - y) < 2);"
        );
        self.wait(&script);
    }

    pub(crate) fn cell(&self, cell: u64) {
        self.click(&format!("[data-cell=\"{cell}\"]"));
    }

    /// The cells of a kind: `source`, `target`, `picked`, `last`.
    pub(crate) fn cells(&self, kind: &str) -> Vec<u64> {
        let script =
            format!("return [...document.querySelectorAll('.cell.{kind}')].map((cell) => Number(cell.dataset.cell))");
        let cells = self.run(&script);
        cells.as_array().unwrap().iter().map(|cell| cell.as_u64().unwrap()).collect()
    }

    pub(crate) fn label(&self, cell: u64) -> String {
        let script = format!("return document.querySelector('[data-cell=\"{cell}\"]').ariaLabel");
        self.run(&script).as_str().unwrap().to_owned()
    }

    /// The text of an element.
    pub(crate) fn text(&self, id: &str) -> String {
        let script = format!("return document.getElementById('{id}').textContent");
        self.run(&script).as_str().unwrap().to_owned()
    }

    /// Waits until the text of an element contains a part.
    pub(crate) fn wait_for_text(&self, id: &str, part: &str) {
        let part = serde_json::to_string(part).unwrap();
        self.wait(&format!("return document.getElementById('{id}').textContent.includes({part})"));
    }

    /// Waits until there are this many moves.
    pub(crate) fn wait_for_moves(&self, count: u64) {
        self.wait(&format!("return document.querySelectorAll('#moves button').length === {count}"));
    }

    /// Waits until the board shows a game.
    pub(crate) fn wait_for_game(&self, game: &str) {
        self.wait(&format!("return document.documentElement.dataset.game === '{game}'"));
    }

    /// Whether an element is shown.
    pub(crate) fn shows(&self, selector: &str) -> bool {
        let script =
            format!("return document.querySelector('{selector}').checkVisibility({{ visibilityProperty: true }})");
        self.run(&script) == json!(true)
    }

    /// Presses a key while the element has the focus.
    pub(crate) fn press(&self, selector: &str, key: &str) {
        self.run(&format!(
            "const node = document.querySelector('{selector}'); node.focus();
             node.dispatchEvent(new KeyboardEvent('keydown', {{ key: '{key}', bubbles: true }}))"
        ));
    }

    /// Opens another tab in front of this one, and leaves it there for some time.
    pub(crate) fn cover_for(&self, time: Duration) {
        let here = self.call("GET", "/window", Value::Null);
        let front = self.call("POST", "/window/new", json!({"type": "tab"}))["handle"].take();
        self.call("POST", "/window", json!({"handle": front}));
        sleep(time);
        self.call("DELETE", "/window", json!({}));
        self.call("POST", "/window", json!({"handle": here}));
    }

    /// Calls Chromium itself.
    pub(crate) fn chromium(&self, command: &str, values: Value) {
        let body = json!({"cmd": command, "params": values});
        self.call("POST", "/goog/cdp/execute", body);
    }

    /// Makes the page this large, in its own pixels.
    pub(crate) fn resize(&self, width: u32, height: u32) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.chromium("Emulation.setDeviceMetricsOverride", size);
    }

    /// Changes the theme of the system: `light` or `dark`.
    pub(crate) fn system_theme(&self, theme: &str) {
        let feature = json!({"name": "prefers-color-scheme", "value": theme});
        self.chromium("Emulation.setEmulatedMedia", json!({"features": [feature]}));
    }

    pub(crate) fn reload(&self) {
        self.call("POST", "/refresh", json!({}));
        self.wait("return document.documentElement.dataset.ready === 'true'");
    }

    pub(crate) fn moves(&self) -> u64 {
        self.run("return document.querySelectorAll('#moves button').length").as_u64().unwrap()
    }

    pub(crate) fn turn(&self) -> String {
        self.run("return document.documentElement.dataset.turn").as_str().unwrap().to_owned()
    }

    pub(crate) fn my_turn(&self) {
        self.wait("return document.documentElement.dataset.turn !== 'agent'");
    }

    /// Loads the game of a record.
    pub(crate) fn load(&self, record: &str) {
        self.click("#record-open");
        self.wait("return document.getElementById('record-box').open");
        let text = serde_json::to_string(record).unwrap();
        self.run(&format!("document.getElementById('record-text').value = {text}"));
        self.click("#record-load");
        self.wait("return !document.getElementById('record-box').open");
    }
}

impl Chromium {
    fn start(profile: PathBuf) -> Chromium {
        let (mut shell, port) = start_driver(&profile);
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-dev-shm-usage",
            "--window-size=1200,1000",
            "--lang=en",
            &format!("--user-data-dir={}", profile.display()),
        ];
        let options = json!({"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": {"args": arguments},
        }}});
        let answer = request(address, "POST", "/session", &[], &options.to_string());
        assert_eq!(answer.status, 200, "{} {}", answer.head, answer.body);
        let value = answer.json()["value"].take();
        let session = value["sessionId"].as_str().unwrap().to_owned();
        let process = value["capabilities"]["goog:processID"].as_u64().unwrap();
        writeln!(shell.stdin.as_mut().unwrap(), "{process}").unwrap();
        Chromium { shell, address, session, process, profile }
    }
}

/// Starts chromedriver at a free port.
fn start_driver(profile: &Path) -> (Child, u16) {
    // Its port may be free for IPv4 and taken for IPv6 or vice versa, and then it fails.
    const TRIES: usize = 10;
    for _ in 0..TRIES {
        let mut shell = Command::new("sh")
            .args(["-c", GUARD, "sh"])
            .arg(profile)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(shell.stdout.take().unwrap()).lines();
        let port = lines.find_map(|line| {
            let line = line.unwrap();
            let number = line.split("started successfully on port ").nth(1)?;
            number.trim_end_matches('.').parse::<u16>().ok()
        });
        std::thread::spawn(move || lines.for_each(drop)); // keeps its pipe from filling up
        match port {
            Some(port) => return (shell, port),
            None => {
                drop(shell.stdin.take());
                shell.wait().unwrap();
            }
        }
    }
    panic!("chromedriver found no port in {TRIES} tries");
}

impl Drop for Browser {
    fn drop(&mut self) {
        let forgotten =
            !std::thread::panicking() && std::panic::catch_unwind(AssertUnwindSafe(|| self.forget())).is_ok();
        let Some(mut chromium) = self.chromium.take() else { return };
        if forgotten {
            IDLE.lock().unwrap().push(chromium);
        } else {
            drop(chromium.shell.stdin.take());
            let _ = chromium.shell.wait();
        }
    }
}
