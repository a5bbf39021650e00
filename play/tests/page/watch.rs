//! The view in which an agent learns in a tab.

use std::fs;
use std::io::Read;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use flate2::read::GzDecoder;
use jarmo_core::net::AgentFile;
use serde_json::{Value, json};

use crate::access::check;
use crate::chromium::Browser;
use crate::http::{request, serve, serve_options};
use crate::tab::{Files, move_once, page};
use play::server::{ServerLimits, StaticPage};

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
    watch(&browser, &files);
    let_it_learn(&browser);
    browser.wait_within(LEARNS, &format!("return {SHOWN} > 40"));
    browser.wait_within(LEARNS, "return Number(document.getElementById('curve').dataset.points) > 1");
    browser.wait_within(LEARNS, "return document.querySelector('#ladder .won') !== null");
    // The shipped agent plays the levels.
    let beaten = "return document.getElementById('milestones').textContent.includes('It beats level “easy”')";
    browser.wait_within(LEARNS, beaten);
    browser.wait("return document.querySelector('#board .piece') !== null");
    assert_eq!(browser.text("trouble"), "");

    // The thoughts are those of the network that is named, also when a newer one has taken its place.
    browser.click("#back");
    let step = "Number(document.getElementById('opinion').dataset.step)";
    let advised = browser.run(&format!("return {step}"));
    browser.wait_within(LEARNS, &format!("return {step} > {advised}"));

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
    watch(&browser, &files);
    browser.wait("return !document.getElementById('go').hidden");
    assert!(browser.text("state").contains("Connect four"), "{}", browser.text("state"));
    browser.click("#go");
    browser.wait_within(LEARNS, &format!("return document.querySelector('#figures dd') !== null && {SHOWN} > {saved}"));

    browser.wait("return !document.getElementById('challenge').disabled");
    browser.click("#challenge");
    browser
        .wait_within(LEARNS, "return location.pathname === '/' && document.documentElement.dataset.ready === 'true'");
    browser.wait("return document.getElementById('seat-black').dataset.who.startsWith('learned-connect_four-')");
    move_once(&browser);
    browser.wait_for_moves(2);
}

/// Opens the view for connect four.
fn watch(browser: &Browser, files: &Files) {
    browser.open_link(&format!("http://{}/learn.html#game=connect_four", files.address));
}

#[test]
#[cfg_attr(not(page), ignore = "JARMO_PAGE is not set")]
fn a_browser_that_is_killed_loses_less_than_a_minute() {
    let files = Files::serve();
    let browser = Browser::start();
    watch(&browser, &files);
    let_it_learn(&browser);
    let saved = "return Number(document.documentElement.dataset.saved ?? 0)";
    browser.wait_within(LEARNS, &format!("{saved} > 0"));
    let first = browser.run(saved).as_u64().unwrap();
    browser.wait_within(Duration::from_secs(60), &format!("{saved} > {first}"));
    let second = browser.run(saved).as_u64().unwrap();
    let browser = browser.killed_and_started_again();
    watch(&browser, &files);
    browser.wait("return !document.getElementById('go').hidden");
    let step = second.to_string();
    assert!(browser.text("state").replace(',', "").contains(&format!("step {step} ")), "{}", browser.text("state"));
    browser.click("#go");
    browser
        .wait_within(LEARNS, &format!("return document.querySelector('#figures dd') !== null && {SHOWN} > {second}"));
    assert_eq!(browser.text("trouble"), "");
}

#[test]
#[cfg_attr(not(page), ignore = "JARMO_PAGE is not set")]
fn learning_continues_behind_another_tab() {
    let files = Files::serve();
    let browser = Browser::start();
    watch(&browser, &files);
    let_it_learn(&browser);
    browser.wait_within(LEARNS, &format!("return {SHOWN} > 0"));
    browser.run(&format!(
        "window.seen = [];
         document.addEventListener('visibilitychange', () => window.seen.push([document.visibilityState, {SHOWN}]));"
    ));
    browser.cover_for(Duration::from_secs(15));
    browser.wait("return window.seen.length >= 2");
    let seen = browser.run("return window.seen");
    assert_eq!((&seen[0][0], &seen[1][0]), (&json!("hidden"), &json!("visible")));
    assert!(seen[1][1].as_u64() > seen[0][1].as_u64(), "{seen}");

    // Another tab deletes what this one could continue.
    browser.click("#pause");
    browser.wait_within(LEARNS, "return document.documentElement.dataset.saved !== undefined");
    watch(&browser, &files);
    browser.wait("return !document.getElementById('go').hidden");
    browser.run(&format!("{STORE} return import(address).then(({{ drop }}) => drop());"));
    browser.click("#go");
    browser.wait("return !document.getElementById('start').hidden");
    assert_eq!(browser.text("trouble"), "");
}

/// The address of what keeps a run.
const STORE: &str =
    "const address = document.querySelector('script[type=module]').src.replace('learn.js', 'learn_store.js');";

/// What learns in Node, which a page runs here.
const LEARNING: &str = include_str!("../../../web/learn/tests/learning.mjs");

const SETTINGS: &str = include_str!("../../../web/learn/tests/settings");

#[test]
#[cfg_attr(not(page), ignore = "JARMO_PAGE is not set")]
fn chromium_learns_the_same_weights_as_node() {
    const STEPS: u32 = 60;
    let files = Files::serve();
    let browser = Browser::at(files.address);
    let sheet = browser.run("return document.querySelector('link[rel=stylesheet]').href");
    let address = sheet.as_str().unwrap().replace("play.css", "learn.bin");
    let script = format!(
        "{}
         return fetch({address:?}).then(async ({{ body }}) => {{
             const unpacked = new Response(body.pipeThrough(new DecompressionStream('gzip')));
             const module = await WebAssembly.compile(await unpacked.arrayBuffer());
             return checksum(learned(module, new TextEncoder().encode({SETTINGS:?}), {STEPS}).agent);
         }});",
        LEARNING.replace("export ", "")
    );
    let here = browser.run(&script);

    let mut program = Vec::new();
    let packed = page().join(address.rsplit('/').nth(1).unwrap()).join("learn.bin");
    GzDecoder::new(fs::File::open(packed).unwrap()).read_to_end(&mut program).unwrap();
    let home = tempfile::tempdir().unwrap();
    let [learn, settings, agent] = ["learn.wasm", "settings", "agent"].map(|name| home.path().join(name));
    fs::write(&learn, program).unwrap();
    fs::write(&settings, SETTINGS).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../web/learn/tests/steps.mjs");
    let mut node = Command::new("node");
    node.arg(script).arg(learn).arg(settings).arg(STEPS.to_string()).arg(agent);
    let output = node.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(here, told["checksum"]);
}

#[test]
#[cfg_attr(not(page), ignore = "JARMO_PAGE is not set")]
fn a_new_run_takes_the_place_of_the_one_that_was_kept() {
    let files = Files::serve();
    let browser = Browser::start();
    watch(&browser, &files);
    let kept = browser.run(&format!(
        "{STORE}
         const run = (byte) => ({{
             files: [{{ number: 0, bytes: byte && new Uint8Array([byte]) }}],
             checkpoints: [{{ step: 0, agent: byte && new Uint8Array([byte]) }}],
         }});
         return import(address).then(async ({{ drop, keep, kept }}) => {{
             await keep(run(1), true);
             await keep(run(2), true);
             const {{ files: [{{ bytes }}], checkpoints: [{{ agent }}] }} = await kept();
             await keep(run(null), false); // the store has the bytes
             await drop();
             const deleted = await keep(run(null), false).catch(({{ message }}) => message);
             return [bytes[0], agent[0], deleted];
         }});",
    ));
    assert_eq!(kept, json!([2, 2, "file-0 was deleted"]));
}

#[test]
#[cfg_attr(not(page), ignore = "JARMO_PAGE is not set")]
fn a_browser_that_cannot_learn_or_keep_what_was_learned_says_so() {
    let files = Files::serve();
    for (browser_is, said, learns) in [
        ("WebAssembly.validate = () => false", "no vector instructions", false),
        ("delete globalThis.WebAssembly", "no WebAssembly", false),
        ("Object.defineProperty(Navigator.prototype, 'hardwareConcurrency', { get: () => 1 })", "one core", true),
    ] {
        let browser = Browser::start();
        browser.chromium("Page.addScriptToEvaluateOnNewDocument", json!({ "source": browser_is }));
        watch(&browser, &files);
        browser.wait_for_text("trouble", said);
        assert_eq!(browser.run("return document.getElementById('start').disabled"), json!(!learns), "{browser_is}");
    }
    let browser = Browser::start();
    let origin = format!("http://{}", files.address);
    watch(&browser, &files);
    let_it_learn(&browser);
    browser.chromium("Storage.overrideQuotaForOrigin", json!({"origin": origin, "quotaSize": 100_000}));
    browser.wait_within(LEARNS, "return document.getElementById('trouble').textContent.includes('no room left')");
    // It continues, and saves as soon as there is room.
    browser.chromium("Storage.overrideQuotaForOrigin", json!({ "origin": origin }));
    browser.click("#pause");
    browser.wait_within(LEARNS, "return document.documentElement.dataset.saved !== undefined");
    assert_eq!(browser.text("trouble"), "");
}

#[test]
#[cfg_attr(not(page), ignore = "JARMO_PAGE is not set")]
fn a_foreign_file_and_a_second_tab_are_told_what_is_wrong() {
    let files = Files::serve();
    let browser = Browser::start();
    browser.open(files.address);
    watch(&browser, &files);
    browser.run(
        "const files = new DataTransfer();
         files.items.add(new File(['no agent'], 'holiday.safetensors'));
         document.getElementById('file').files = files.files;
         document.getElementById('file').dispatchEvent(new Event('change'));",
    );
    browser.wait_for_text("trouble", "holiday.safetensors cannot be opened");
    // Half of an agent.
    let agent = fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../checkpoints/connect_four.safetensors")).unwrap();
    let home = tempfile::tempdir().unwrap();
    let half = home.path().join("half.safetensors");
    fs::write(&half, &agent[..agent.len() / 2]).unwrap();
    browser.choose_file("#file", &half);
    browser.wait_for_text("trouble", "half.safetensors cannot be opened");
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
    let moved = request(address, "GET", "/tab", &[], "");
    assert!(moved.status == 308 && moved.head.contains("location: tab/"), "{}", moved.head);
    let browser = Browser::at(address);
    browser.wait("return !document.getElementById('watch').hidden");
    browser.run("document.getElementById('watch').click()");
    browser.wait("return location.pathname === '/tab/learn.html' && document.getElementById('start') !== null");
    browser.wait("return document.getElementById('game').value === 'jarmo'");
    browser.wait("return document.getElementById('home').href === new URL('/', location).href");
    browser.choose("game", "connect_four");
    let_it_learn(&browser);
    browser.wait_within(LEARNS, &format!("return {SHOWN} > 0"));
    assert_eq!(browser.text("trouble"), "");
    // Without the folder there is nothing to watch.
    let bare = Browser::at(serve(["human", "human"], ServerLimits::default()));
    bare.wait_for_game("jarmo");
    assert!(bare.run("return document.getElementById('watch').hidden").as_bool().unwrap());
}
