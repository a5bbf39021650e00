//! The page without a server: the folder that `tools/build_page` has made, named by `JARMO_PAGE`.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use flate2::read::GzDecoder;
use jarmo_core::net::{AgentFile, KernelKind};
use jarmo_web::{Asked, Tab};
use serde_json::{Value, json};

use crate::access::check;
use crate::chromium::Browser;
use crate::http::{serve, serve_options};
use play::levels::Level;
use play::server::{ServerLimits, StaticPage};

/// A server of files for one folder. It answers nothing once it is stopped.
struct Files {
    address: SocketAddr,
    stopped: Arc<AtomicBool>,
}

/// The folder of the page.
fn page() -> PathBuf {
    PathBuf::from(std::env::var_os("JARMO_PAGE").unwrap())
}

impl Files {
    fn serve() -> Files {
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
fn move_once(browser: &Browser) {
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
    browser.wait("return document.getElementById('seat-black').value === 'mine.safetensors'");
    move_once(&browser);
    browser.wait_for_moves(2);
}

/// A small network learns connect four with few simulations, which takes seconds.
fn let_it_learn(browser: &Browser) {
    browser.run(
        "document.getElementById('network').value = 'small';
         document.getElementById('network').onchange();
         document.getElementById('simulations').value = 8;
         document.getElementById('workers').value = 1;",
    );
    browser.click("#start");
    browser.wait_within(LEARNS, "return document.documentElement.dataset.learning === 'true'");
}

/// Long enough for the first steps on a busy machine.
const LEARNS: Duration = Duration::from_secs(120);

/// The training steps that the view shows.
const SHOWN: &str =
    "Number(document.querySelector('#figures div:nth-child(2) dd').textContent.replaceAll(/[^0-9]/g, ''))";

#[test]
#[cfg_attr(not(page), ignore = "JARMO_PAGE is not set")]
fn a_tab_learns_goes_on_after_it_was_closed_and_its_agent_plays() {
    let files = Files::serve();
    let browser = Browser::start();
    browser.open(files.address);
    let link = format!("http://{}/learn.html#game=connect_four", files.address);
    browser.open_link(&link);
    let_it_learn(&browser);
    browser.wait_within(LEARNS, &format!("return {SHOWN} > 40"));
    browser.wait_within(LEARNS, "return Number(document.getElementById('curve').dataset.points) > 1");
    browser.wait_within(LEARNS, "return document.querySelector('#ladder .won') !== null");
    browser.wait("return document.querySelector('#board .piece') !== null");
    assert_eq!(browser.text("trouble"), "");

    // The first checkpoint, which has learned nothing, is asked what it thinks, and plays a match against the newest.
    browser.run(
        "const time = document.getElementById('time');
         time.value = 0;
         time.dispatchEvent(new Event('input'));",
    );
    browser.wait_for_text("moment", "at step 0,");
    browser.wait_for_text("said", "Arrows:");
    browser.wait("return !document.getElementById('match').disabled");
    browser.click("#match");
    browser.wait_within(LEARNS, "return document.getElementById('matched').textContent.includes('of 20 points')");

    if cfg!(axe) {
        check(&browser, "learning");
        browser.resize(390, 844);
        check(&browser, "learning, small");
    }

    // The file is one that other programs read.
    browser.run(
        "URL.createObjectURL = (file) => {
             file.arrayBuffer().then((bytes) => { window.taken = Array.from(new Uint8Array(bytes)); });
             return '#';
         };",
    );
    browser.click("#download");
    browser.wait("return window.taken !== undefined");
    let taken: Vec<u8> = serde_json::from_value(browser.run("return window.taken")).unwrap();
    let agent = AgentFile::from_bytes(&taken).unwrap();
    assert_eq!(agent.header().version.game, "connect_four");
    assert!(agent.header().provenance.step > 40);

    browser.click("#pause");
    browser.wait_within(LEARNS, "return document.documentElement.dataset.saved !== undefined");
    let saved = browser.run("return Number(document.documentElement.dataset.saved)").as_u64().unwrap();
    browser.open_link(&link);
    browser.wait("return !document.getElementById('go').hidden");
    assert!(browser.text("state").contains("Connect four"), "{}", browser.text("state"));
    browser.click("#go");
    browser.wait_within(LEARNS, &format!("return document.querySelector('#figures dd') !== null && {SHOWN} > {saved}"));

    browser.wait("return !document.getElementById('challenge').disabled");
    browser.click("#challenge");
    browser
        .wait_within(LEARNS, "return location.pathname === '/' && document.documentElement.dataset.ready === 'true'");
    browser.wait("return document.getElementById('seat-black').value.startsWith('learned-connect_four-')");
    move_once(&browser);
    browser.wait_for_moves(2);
}

#[test]
#[cfg_attr(not(page), ignore = "JARMO_PAGE is not set")]
fn a_foreign_file_and_a_second_tab_are_told_what_is_wrong() {
    let files = Files::serve();
    let browser = Browser::start();
    browser.open(files.address);
    let link = format!("http://{}/learn.html#game=connect_four", files.address);
    browser.open_link(&link);
    browser.run(
        "const files = new DataTransfer();
         files.items.add(new File(['no agent'], 'holiday.safetensors'));
         document.getElementById('file').files = files.files;
         document.getElementById('file').dispatchEvent(new Event('change'));",
    );
    browser.wait_for_text("trouble", "holiday.safetensors cannot be opened");
    browser.run(
        "navigator.locks.request('jarmo-learn', { steal: true }, () => new Promise(() => {}));
         document.getElementById('start').disabled = false",
    );
    browser.click("#start");
    browser.wait_for_text("trouble", "Another tab");
}

#[test]
#[cfg_attr(not(page), ignore = "JARMO_PAGE is not set")]
fn an_agent_learns_in_the_page_of_a_server_that_has_the_folder() {
    let folder = StaticPage::read(&page()).unwrap();
    let address = serve_options(["human", "human"], |options| options.page = Some(Arc::new(folder)));
    let browser = Browser::at(address);
    browser.wait("return !document.getElementById('watch').hidden");
    browser.run("document.getElementById('watch').click()");
    browser.wait("return location.pathname === '/tab/learn.html' && document.getElementById('start') !== null");
    browser.wait("return document.getElementById('game').value === 'jarmo'");
    browser.choose("game", "connect_four");
    let_it_learn(&browser);
    browser.wait_within(LEARNS, &format!("return {SHOWN} > 0"));
    assert_eq!(browser.text("trouble"), "");
    // Without the folder there is nothing to watch.
    let bare = Browser::at(serve(["human", "human"], ServerLimits::default()));
    bare.wait_for_game("jarmo");
    assert!(bare.run("return document.getElementById('watch').hidden").as_bool().unwrap());
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
