//! The page in a real browser: Chromium without a screen, driven through chromedriver.
//!
//! Where there is no chromedriver the tests say so and pass; with `JARMO_BROWSER=1` in the environment
//! they fail instead.
#![cfg(feature = "play")]

mod http;

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use http::{request, serve};
use jarmo::play::web::Bounds;
use serde_json::{Value, json};

/// The name under which an element's id comes.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A browser of its own, with nothing remembered.
struct Browser {
    driver: Child,
    address: SocketAddr,
    session: String,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts a browser, or says why there is none.
    fn start() -> Option<Browser> {
        let started = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut driver = match started {
            Ok(driver) => driver,
            Err(error) => {
                let wanted = std::env::var_os("JARMO_BROWSER").is_some();
                assert!(
                    !wanted,
                    "chromedriver: {error}; install chromium and chromium-driver"
                );
                println!("skipped: no chromedriver here ({error})");
                return None;
            }
        };
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let port = lines.find_map(|line| {
            let line = line.unwrap();
            let number = line.split("started successfully on port ").nth(1)?;
            number.trim_end_matches('.').parse::<u16>().ok()
        });
        std::thread::spawn(move || lines.for_each(drop)); // or its pipe would fill up
        let address = SocketAddr::from(([127, 0, 0, 1], port.expect("chromedriver says its port")));
        let profile = tempfile::tempdir().unwrap();
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
            &format!("--user-data-dir={}", profile.path().display()),
        ];
        let options = json!({"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": {"args": arguments},
        }}});
        let answer = request(address, "POST", "/session", &[], &options.to_string());
        assert_eq!(answer.status, 200, "{} {}", answer.head, answer.body);
        let session = answer.json()["value"]["sessionId"]
            .as_str()
            .unwrap()
            .to_owned();
        Some(Browser {
            driver,
            address,
            session,
            _profile: profile,
        })
    }

    fn call(&self, method: &str, path: &str, body: Value) -> Value {
        let path = format!("/session/{}{path}", self.session);
        let body = if method == "GET" {
            String::new()
        } else {
            body.to_string()
        };
        let answer = request(self.address, method, &path, &[], &body);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.json()["value"].take()
    }

    fn open(&self, address: SocketAddr) {
        self.call("POST", "/url", json!({"url": format!("http://{address}/")}));
        self.wait("return document.documentElement.dataset.ready === 'true'");
    }

    fn run(&self, script: &str) -> Value {
        self.call(
            "POST",
            "/execute/sync",
            json!({"script": script, "args": []}),
        )
    }

    fn wait(&self, condition: &str) {
        let began = Instant::now();
        while self.run(condition) != json!(true) {
            let page = self.run("return document.body.innerText");
            assert!(
                began.elapsed() < Duration::from_secs(20),
                "{condition}\n{page}"
            );
            sleep(Duration::from_millis(10));
        }
    }

    fn click(&self, selector: &str) {
        let place = json!({"using": "css selector", "value": selector});
        let element = self.call("POST", "/element", place);
        let id = element[ELEMENT].as_str().unwrap();
        self.call("POST", &format!("/element/{id}/click"), json!({}));
    }

    fn cell(&self, cell: u64) {
        self.click(&format!("[data-cell=\"{cell}\"]"));
    }

    /// The cells of a kind: `source`, `target`, `picked`, `last`.
    fn cells(&self, kind: &str) -> Vec<u64> {
        let script = format!(
            "return [...document.querySelectorAll('.cell.{kind}')].map((cell) => Number(cell.dataset.cell))"
        );
        let cells = self.run(&script);
        cells
            .as_array()
            .unwrap()
            .iter()
            .map(|cell| cell.as_u64().unwrap())
            .collect()
    }

    fn label(&self, cell: u64) -> String {
        let script = format!("return document.querySelector('[data-cell=\"{cell}\"]').ariaLabel");
        self.run(&script).as_str().unwrap().to_owned()
    }

    fn moves(&self) -> u64 {
        self.run("return document.querySelectorAll('#moves button').length")
            .as_u64()
            .unwrap()
    }

    fn turn(&self) -> String {
        self.run("return document.documentElement.dataset.turn")
            .as_str()
            .unwrap()
            .to_owned()
    }

    fn my_turn(&self) {
        self.wait("return document.documentElement.dataset.turn !== 'agent'");
    }

    /// Puts the game of a record on the board.
    fn load(&self, record: &str) {
        self.click("#record-open");
        self.wait("return document.getElementById('record-box').open");
        let text = serde_json::to_string(record).unwrap();
        self.run(&format!(
            "document.getElementById('record-text').value = {text}"
        ));
        self.click("#record-load");
        self.wait("return !document.getElementById('record-box').open");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Ends the browser too; if it does not answer any more, the driver's end does.
        let path = format!("/session/{}", self.session);
        let _ = std::panic::catch_unwind(|| request(self.address, "DELETE", &path, &[], ""));
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

#[test]
fn a_game_to_its_end_by_clicks() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let address = serve(["human", "greedy"], Bounds::default());
    browser.open(address);
    for turn in 0..200 {
        browser.my_turn();
        if browser.turn() == "over" {
            break;
        }
        let before = browser.moves();
        // Whoever gets through first ends the game: play the piece and the target furthest ahead.
        let sources = browser.cells("source");
        let Some(source) = sources.get(sources.len().saturating_sub(1 + turn % 2)) else {
            browser.click("#pass");
            continue;
        };
        browser.cell(*source);
        assert_eq!(browser.cells("picked"), [*source]);
        let target = *browser
            .cells("target")
            .last()
            .expect("a piece that can move has a target");
        browser.cell(target);
        browser.wait(&format!(
            "return document.querySelectorAll('#moves button').length > {before}"
        ));
    }
    assert_eq!(browser.turn(), "over");
    let status = browser.run("return document.getElementById('status').textContent");
    let status = status.as_str().unwrap();
    let words = ["White wins", "Black wins", "Draw"];
    assert!(words.iter().any(|word| status.contains(word)), "{status}");
}

#[test]
fn redeploy_capture_undo_and_reload_by_clicks() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let address = serve(["human", "human"], Bounds::default());
    browser.open(address);
    // White's marked archer stands on C5; B1, C1, D1 are empty, and Black's archer on C3 is in reach of D1.
    browser.load(r#"{"game":"jarmo","position":"2W2/5/2b2/5/w3w w - - 0","moves":[]}"#);
    assert_eq!(browser.cells("target"), [1, 2, 3]);
    browser.cell(3);
    browser.wait("return document.querySelectorAll('#moves button').length === 1");
    assert_eq!(browser.label(3), "D1, White, archer, last move");
    assert_eq!(browser.label(22), "C5, White, archer", "the mark is spent");
    browser.click("#undo");
    browser.wait("return document.getElementById('undo').disabled");
    assert!(browser.label(3).starts_with("D1, empty"));
    assert_eq!(browser.label(22), "C5, White, marked archer");
    browser.click("#redo");
    browser.wait("return document.getElementById('redo').disabled");
    // A target that no line leads to is explained.
    browser.cell(12);
    browser.cell(24);
    browser.wait("return document.getElementById('message').textContent !== ''");
    let message = browser.run("return document.getElementById('message').textContent");
    assert_eq!(message, "C3-E5: no line leads from C3 to E5");
    // Black captures the new archer, and the page remembers it all.
    browser.cell(12);
    browser.cell(3);
    browser.wait("return document.querySelectorAll('#moves button').length === 2");
    let over = browser.turn();
    browser.call("POST", "/refresh", json!({}));
    browser.wait("return document.documentElement.dataset.ready === 'true'");
    assert_eq!(browser.moves(), 2);
    assert_eq!(browser.label(3), "D1, Black, marked archer, last move");
    assert_eq!(browser.turn(), over);
}

#[test]
fn two_browsers_play_two_games() {
    let (Some(first), Some(second)) = (Browser::start(), Browser::start()) else {
        return;
    };
    let address = serve(["human", "human"], Bounds::default());
    first.open(address);
    second.open(address);
    first.cell(0);
    first.cell(7);
    first.wait("return document.querySelectorAll('#moves button').length === 1");
    assert_eq!(second.moves(), 0);
    second.cell(1);
    second.cell(8);
    second.wait("return document.querySelectorAll('#moves button').length === 1");
    assert_eq!(first.label(8), "D2, empty");
    assert_eq!(second.label(7), "C2, empty");
}

#[test]
fn keys_and_languages() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let address = serve(["human", "human"], Bounds::default());
    browser.open(address);
    // A1 to C2 with the keyboard alone.
    let keys = "const send = (key) => document.activeElement.dispatchEvent(
        new KeyboardEvent('keydown', { key, bubbles: true }));
        document.querySelector('[data-cell=\"0\"]').focus();
        for (const key of ['Enter', 'ArrowUp', 'ArrowRight', 'ArrowRight', 'Enter']) send(key);";
    browser.run(keys);
    browser.wait("return document.querySelectorAll('#moves button').length === 1");
    assert_eq!(browser.label(7), "C2, White, archer, last move");
    for (code, word) in [("de", "Schwarz am Zug"), ("fi", "Musta on vuorossa")] {
        browser.run(&format!(
            "const list = document.getElementById('language'); list.value = '{code}';
             list.dispatchEvent(new Event('change'))"
        ));
        browser.wait(&format!(
            "return document.getElementById('status').textContent === '{word}'"
        ));
    }
}
