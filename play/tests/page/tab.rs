//! The page without a server: the folder that `tools/build_page` has made, named by `JARMO_PAGE`.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use flate2::read::GzDecoder;
use jarmo_core::net::KernelKind;
use jarmo_web::{Asked, Tab};
use serde_json::{Value, json};

use crate::chromium::Browser;
use play::levels::Level;

/// A server of files for one folder. It answers nothing once it is stopped.
pub(crate) struct Files {
    pub address: SocketAddr,
    stopped: Arc<AtomicBool>,
}

/// The folder of the page.
pub(crate) fn page() -> PathBuf {
    PathBuf::from(std::env::var_os("JARMO_PAGE").unwrap())
}

impl Files {
    pub(crate) fn serve() -> Files {
        let folder = page();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let stopped = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&stopped);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                if stop.load(Ordering::Relaxed) {
                    continue;
                }
                let mut line = String::new();
                let mut reader = BufReader::new(&stream);
                let _ = reader.read_line(&mut line);
                let path = line.split(' ').nth(1).unwrap_or("/");
                let path = path.trim_start_matches('/').split('?').next().unwrap();
                let name = if path.is_empty() { "index.html" } else { path };
                let kind = match name.rsplit('.').next().unwrap() {
                    "html" => "text/html",
                    "js" => "text/javascript",
                    "css" => "text/css",
                    "svg" => "image/svg+xml",
                    "png" => "image/png",
                    "webmanifest" => "application/manifest+json",
                    _ => "application/octet-stream",
                };
                let (status, content) = match fs::read(folder.join(name)) {
                    Ok(content) => ("200 OK", content),
                    Err(_) => ("404 Not Found", b"nothing here".to_vec()),
                };
                let head = format!(
                    "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                    content.len()
                );
                let _ = stream.write_all(head.as_bytes());
                let _ = stream.write_all(&content);
            }
        });
        Files { address, stopped }
    }
}

/// Makes the first move that the board offers.
pub(crate) fn move_once(browser: &Browser) {
    browser.wait("return document.querySelector('.cell.source, .cell.target') !== null");
    if let Some(source) = browser.cells("source").first() {
        browser.cell(*source);
        browser.wait("return document.querySelector('.cell.target') !== null");
    }
    browser.cell(browser.cells("target")[0]);
}

#[test]
#[cfg_attr(not(page), ignore = "JARMO_PAGE is not set")]
fn every_level_answers_in_every_game_and_the_page_says_so_in_every_language() {
    let files = Files::serve();
    let browser = Browser::at(files.address);
    for game in ["jarmo", "guard", "tammi", "connect_four"] {
        browser.choose("game", game);
        browser.wait_for_game(game);
        for level in Level::ALL {
            browser.click("#new");
            browser.wait_for_moves(0);
            browser.seat("black", level.name());
            move_once(&browser);
            browser.wait("return document.querySelectorAll('#moves button').length >= 2");
            browser.my_turn();
        }
    }
    assert_eq!(browser.text("message"), "");
    for (language, title) in [("de", "Vier gewinnt"), ("fi", "Neljän suora"), ("en", "Connect four")] {
        browser.choose("language", language);
        browser.wait(&format!("return document.documentElement.lang === '{language}'"));
        let shown = browser.text("title");
        assert_eq!(shown.to_lowercase(), title.to_lowercase());
    }
}

#[test]
#[cfg_attr(not(page), ignore = "JARMO_PAGE is not set")]
fn a_game_is_analysed_and_its_link_opens_it() {
    let files = Files::serve();
    let browser = Browser::at(files.address);
    let link = format!("http://{}/#game=jarmo&moves=A1-C2,C5-E4,B1-D2", files.address);
    browser.open_link(&link);
    browser.wait_for_moves(3);
    browser.click("#analyse");
    browser.wait("return document.documentElement.hasAttribute('data-analysing')");
    let done = "return document.querySelector('#ideas tr, #ideas li, #ideas button') !== null
        && !document.getElementById('notes').textContent.includes('left')";
    browser.wait_within(Duration::from_secs(30), done);
    browser.click("#puzzles");
    browser.wait("return document.querySelector('#exercise-text p') !== null");
    browser.click("#exercise-leave");
    browser.click("#learn");
    browser.wait("return document.getElementById('exercise-heading').textContent.includes('1')");
}

#[test]
#[cfg_attr(not(page), ignore = "JARMO_PAGE is not set")]
fn without_the_network_the_page_opens_with_its_game() {
    let files = Files::serve();
    let browser = Browser::at(files.address);
    move_once(&browser);
    browser.wait_for_moves(2);
    browser.run("navigator.serviceWorker.ready.then(() => { document.body.dataset.offline = 'ready' })");
    browser.wait("return document.body.dataset.offline === 'ready' && navigator.serviceWorker.controller !== null");
    files.stopped.store(true, Ordering::Relaxed);
    browser.reload();
    browser.wait_for_moves(2);
    move_once(&browser);
    browser.wait_for_moves(4);
    assert_eq!(browser.text("message"), "");
    // Only a server brings two players together.
    browser.click("#menu-open");
    assert!(browser.shows("#record-open"));
    assert!(!browser.shows("#invite"));
}

#[test]
#[cfg_attr(not(page), ignore = "JARMO_PAGE is not set")]
fn the_first_visit_shows_ratings_and_an_evaluation_outlives_a_reload() {
    let files = Files::serve();
    let browser = Browser::start();
    browser.visit(files.address);
    browser.wait("return document.getElementById('welcome-box').open");
    let rating = Level::Easy.rating("jarmo").unwrap();
    browser.wait_for_text("welcome-level", &format!("easy ({rating})"));
    assert!(browser.shows("#welcome-hint"));
    browser.open_link(&format!("http://{}/#game=jarmo&moves=A1-C2,C5-E4,B1-D2", files.address));
    browser.wait_for_moves(3);
    browser.click("#analyse");
    browser.wait_for_text("graph-now", "%");
    let shown = browser.text("graph-now");
    browser.click("#moves-tab");
    browser.reload();
    browser.wait_for_moves(3);
    assert_eq!(browser.text("graph-now"), shown);
}

#[test]
#[cfg_attr(not(page), ignore = "JARMO_PAGE is not set")]
fn an_agent_file_that_is_dropped_plays() {
    let files = Files::serve();
    let browser = Browser::at(files.address);
    browser.run(
        "const link = document.querySelector('link[rel=stylesheet]').href;
         fetch(new URL('jarmo.bin', link))
             .then((answer) => new Response(answer.body.pipeThrough(new DecompressionStream('gzip'))).arrayBuffer())
             .then((packed) => {
                 const parts = new Uint8Array(packed);
                 const half = Math.ceil(parts.length / 2);
                 const bytes = parts.map((_, place) => parts[place % 2 * half + (place >> 1)]);
                 const dataTransfer = new DataTransfer();
                 dataTransfer.items.add(new File([bytes], 'mine.safetensors'));
                 document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true }));
             })",
    );
    browser.wait("return document.getElementById('seat-black').dataset.who === 'mine.safetensors'");
    move_once(&browser);
    browser.wait_for_moves(2);
}

#[test]
fn an_agent_file_that_comes_twice_has_one_name() {
    let mut tab = Tab::new(|| Duration::ZERO);
    let names = [1, 2, 1].map(|byte| tab.take_own("mine.safetensors", vec![byte]));
    assert_eq!(names, ["mine.safetensors", "2-mine.safetensors", "mine.safetensors"]);
}

/// Runs the program itself with a folder, a game and messages; the program thinks once before it answers each
/// message.
const RUN: &str = "
    const [address, game, messages] = JSON.parse(ARGUMENTS);
    const load = async (name) => {
        const { body } = await fetch(new URL(name, address));
        const unpacked = body.pipeThrough(new DecompressionStream('gzip'));
        return new Uint8Array(await new Response(unpacked).arrayBuffer());
    };
    const run = async () => {
        const imports = { page: { now: () => 0 } };
        const { instance } = await WebAssembly.instantiate(await load('program.bin'), imports);
        const program = instance.exports;
        const put = (bytes) => {
            const place = program.room(bytes.length);
            new Uint8Array(program.memory.buffer, place, bytes.length).set(bytes);
        };
        const name = new TextEncoder().encode(game);
        put(new Uint8Array([...name, ...(await load(`${game}.bin`))]));
        program.take_agent(name.length);
        return messages.map((message) => {
            program.think();
            put(new TextEncoder().encode(JSON.stringify(message)));
            const length = program.ask();
            const answer = new Uint8Array(program.memory.buffer, program.answer(), length);
            return JSON.parse(new TextDecoder().decode(answer)).text;
        });
    };
    return run();";

/// Kernels of small integers give the same bits, but exponential functions of two machines may differ in the last one.
fn is_same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| is_same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            let same = |(key, value)| right.get(key).is_some_and(|other| is_same(value, other));
            left.len() == right.len() && left.iter().all(same)
        }
        (Value::Number(left), Value::Number(right)) => (left.as_f64().unwrap() - right.as_f64().unwrap()).abs() < 1e-6,
        _ => left == right,
    }
}

#[test]
#[cfg_attr(not(page), ignore = "JARMO_PAGE is not set")]
fn the_program_of_the_page_computes_the_same_numbers_as_this_one() {
    // The analysis takes the best kernel of the machine, which may be another one than that of the page.
    let analyse = KernelKind::best() == KernelKind::Int8;
    let files = Files::serve();
    let browser = Browser::at(files.address);
    let sheet = browser.run("return document.querySelector('link[rel=stylesheet]').href");
    let address = sheet.as_str().unwrap().trim_end_matches("play.css");
    let folder = address.trim_end_matches('/').rsplit('/').next().unwrap();
    for game in ["jarmo", "guard", "tammi", "connect_four"] {
        let message = |path: &str, body: Value| {
            let body = (!body.is_null()).then(|| body.to_string());
            json!({"path": path, "session": "0", "body": body, "id": "0", "seed": 1})
        };
        let seat = "trained?sims=100&kernel=int8";
        let opening = json!({ "game": game, "white": seat, "black": seat });
        let session = "/api/session?lang=en";
        let mut messages = vec![message("/api/sessions?lang=en", opening)];
        messages.resize(10, message(session, Value::Null));
        if analyse {
            messages.push(message(session, json!({"do": "analyse", "on": true})));
            messages.resize(12, message(session, Value::Null));
        }
        let arguments = json!([address, game, messages]).to_string();
        let answers = browser.run(&RUN.replace("ARGUMENTS", &json!(arguments).to_string()));
        let answers = answers.as_array().unwrap();

        let mut bytes = Vec::new();
        let file = fs::File::open(page().join(folder).join(format!("{game}.bin"))).unwrap();
        GzDecoder::new(file).read_to_end(&mut bytes).unwrap();
        let mut tab = Tab::new(|| Duration::ZERO);
        tab.take_agent(game, Some(&bytes));
        let mut expected = Value::Null;
        for (place, (message, answer)) in messages.into_iter().zip(answers).enumerate() {
            let asked: Asked = serde_json::from_value(message).unwrap();
            tab.think();
            expected = serde_json::from_str(&tab.answer(&asked).text).unwrap();
            let answer: Value = serde_json::from_str(answer.as_str().unwrap()).unwrap();
            assert!(is_same(&answer, &expected), "{game}, answer {place}: {answer} instead of {expected}");
        }
        assert!(!analyse || expected["thought"]["nodes"] == 50_000, "{expected}");
    }
}
