//! Variations: nothing is lost by moving, and they can be marked, commented, put in front, deleted, linked and kept.

use crate::chromium::Browser;
use crate::http::serve;
use crate::web::{command, open};
use play::server::ServerLimits;
use serde_json::json;

const RECORD: &str = r#"{"game":"connect_four","moves":["D","D","C","C"]}"#;

const TREE: &str = "D D ?! {why} ( E F ( G ) ) C C";

fn record(browser: &Browser) -> serde_json::Value {
    let line = browser.run("return JSON.parse(localStorage.getItem('games'))[0].record");
    serde_json::from_str(line.as_str().unwrap()).unwrap()
}

fn wait_for_tree(browser: &Browser, text: &str) {
    let now = "JSON.parse(JSON.parse(localStorage.getItem('games'))[0].record).tree";
    browser.wait(&format!("return ({now} ?? '') === {}", json!(text)));
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn a_move_from_an_earlier_position_is_asked_about_and_keeps_the_rest() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    browser.load(RECORD);
    browser.wait_for_moves(4);
    browser.click("#first");
    browser.wait("return document.getElementById('first').disabled");
    browser.cell(0);
    browser.wait("return document.getElementById('ask-box').open");
    // Closed without an answer, the game stays as it is.
    browser.run("document.getElementById('ask-box').close()");
    assert_eq!(browser.moves(), 4);
    browser.cell(0);
    browser.click("#ask-play");
    browser.wait_for_moves(5);
    wait_for_tree(&browser, "A ( D D C C )");
    assert_eq!(record(&browser)["moves"], json!(["A"]));
    // It asks only once: the game continues there.
    browser.cell(1);
    browser.wait_for_moves(6);
    assert_eq!(browser.run("return document.getElementById('ask-box').open"), json!(false));
    // A click on a move of the variation shows it again.
    browser.click("#moves .aside button");
    browser.wait("return document.querySelector('#moves .aside [aria-current]') !== null");
    browser.wait_for_text("status", "Red to move");
    // After an undo nothing is asked.
    browser.click("#moves li button");
    browser.wait("return document.querySelector('#moves li button').ariaCurrent === 'true'");
    browser.click("#undo");
    browser.wait("return document.getElementById('undo').disabled");
    browser.cell(6);
    browser.wait_for_moves(7);
    wait_for_tree(&browser, "G ( A B ) ( D D C C )");
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn variations_of_an_analysis_are_edited_and_outlive_a_reload_and_a_link() {
    let browser = Browser::at(serve(["human", "newcomer"], ServerLimits::default()));
    browser.load(RECORD);
    browser.click("#analyse");
    browser.click("#back");
    browser.click("#back");
    browser.wait_for_text("graph-now", "After move 1…");
    browser.cell(4);
    browser.wait_for_moves(5);
    wait_for_tree(&browser, "D D C ( E ) C");
    // The agent does not answer.
    browser.wait_for_text("status", "Red to move");
    browser.run("[...document.querySelectorAll('#marks button')].find((one) => one.textContent === '?!').click()");
    wait_for_tree(&browser, "D D C ( E ?! ) C");
    browser
        .run("const field = document.getElementById('comment'); field.value = 'too {far}, _really_'; field.onchange()");
    wait_for_tree(&browser, "D D C ( E ?! {too (far), _really_} ) C");
    let label = browser.run("return document.querySelector('#moves .aside button').ariaLabel");
    assert_eq!(label, json!("2. E ?! too (far), _really_"));
    browser.reload();
    browser.wait_for_moves(5);
    let link = browser.run("return location.href");
    let link = link.as_str().unwrap();
    assert!(link.contains("&tree=D_D_C_(_E_") && link.ends_with("at=4"), "{link}");
    let other = Browser::at(serve(["human", "human"], ServerLimits::default()));
    let (_, hash) = link.split_once('#').unwrap();
    other.run(&format!("location.hash = {}", json!(hash)));
    other.wait_for_moves(5);
    other.wait("return document.querySelector('#moves .aside [aria-current]') !== null");
    wait_for_tree(&other, "D D C ( E ?! {too (far), _really_} ) C");
    browser.click("#promote");
    wait_for_tree(&browser, "D D E ?! {too (far), _really_} ( C C )");
    browser.click("#remove");
    wait_for_tree(&browser, "");
    browser.wait_for_moves(4);
}

#[test]
fn the_session_brings_back_what_was_removed_until_the_next_change() {
    let address = serve(["human", "human"], ServerLimits::default());
    let line = json!({"game": "connect_four", "moves": ["D", "D", "C", "C"], "tree": TREE}).to_string();
    let (id, before) = open(address, json!({ "record": line }));
    let send = |message: serde_json::Value| {
        let answer = command(address, &id, message);
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.json()
    };
    let node = before["line"][2].clone();
    let view = send(json!({"do": "remove", "node": node}));
    assert_eq!((&view["removed"], view["tree"].as_array().unwrap().len()), (&json!(3), 4));
    assert_eq!(send(json!({"do": "go", "place": 0}))["removed"], 3, "looking around changes nothing");
    let view = send(json!({"do": "unremove"}));
    for part in ["record", "tree", "line", "cursor", "number", "live"] {
        assert_eq!(view[part], before[part], "{part}");
    }
    assert_eq!(view["removed"], json!(null));
    send(json!({"do": "remove", "node": node}));
    let mark = json!({"do": "remark", "node": view["line"][1], "mark": "!", "comment": ""});
    assert_eq!(send(mark)["removed"], json!(null));
    assert_eq!(send(json!({"do": "unremove"}))["tree"].as_array().unwrap().len(), 4, "nothing comes back");
    // A single move is played again as easily.
    let last = view["line"][1].clone();
    let end = send(json!({"do": "show", "node": last}))["line"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(send(json!({"do": "remove", "node": end}))["removed"], json!(null));
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn moves_that_were_removed_come_back_as_they_were() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    browser.load(&json!({"game": "connect_four", "moves": ["D", "D", "C", "C"], "tree": TREE}).to_string());
    browser.wait_for_moves(7);
    browser.click("#analyse");
    browser.wait("return document.documentElement.hasAttribute('data-analysing')");
    browser.click("#first");
    browser.wait("return document.getElementById('first').disabled");
    browser.click("#forward");
    browser.wait_for_text("graph-now", "After move 1.");
    browser.click("#forward");
    browser.wait_for_text("graph-now", "After move 1…");
    assert!(!browser.shows("#removed"));
    browser.click("#remove");
    wait_for_tree(&browser, "D E F ( G )");
    browser.wait_for_text("removed", "3 moves deleted.");
    browser.click("#first");
    browser.wait("return document.getElementById('first').disabled");
    browser.reload();
    browser.wait_for_moves(4);
    browser.click("#unremove");
    wait_for_tree(&browser, TREE);
    browser.wait_for_moves(7);
    assert!(!browser.shows("#removed"));
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn a_list_of_moves_is_drawn_only_if_it_changes_and_keeps_the_focus() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    browser.load(RECORD);
    browser.wait_for_moves(4);
    browser.run("window.first = document.querySelector('#moves button'); window.first.focus()");
    browser.run("document.getElementById('evaluate').click()");
    browser.wait("return document.getElementById('graph-box').hidden");
    assert_eq!(browser.run("return document.activeElement === window.first"), json!(true));
    browser.choose("language", "de");
    browser.wait("return !window.first.isConnected");
    assert_eq!(browser.run("return document.activeElement.dataset.node === window.first.dataset.node"), json!(true));
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn a_comment_is_saved_before_the_wheel_leaves_its_move() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    browser.load(RECORD);
    browser.click("#analyse");
    browser.wait("return !document.getElementById('remark').hidden");
    let field = browser.element("#comment");
    let id = field.as_object().unwrap().values().next().unwrap().as_str().unwrap();
    browser.call("POST", &format!("/element/{id}/value"), json!({"text": "good"}));
    browser.run(
        "document.getElementById('board').dispatchEvent(new WheelEvent('wheel', { deltaY: -100, cancelable: true }))",
    );
    wait_for_tree(&browser, "D D C C {good}");
    browser.wait_for_text("graph-now", "After move 2.");
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn a_variation_is_made_with_the_keyboard_alone() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    browser.load(RECORD);
    browser.wait_for_moves(4);
    browser.press("body", "Home");
    browser.wait("return document.getElementById('first').disabled");
    browser.press("[data-cell=\"0\"]", "Enter");
    browser.wait("return document.activeElement.id === 'ask-play'");
    browser.press("#ask-play", "Enter");
    browser.run("document.activeElement.click()"); // what Enter does on a button
    browser.wait_for_moves(5);
    wait_for_tree(&browser, "A ( D D C C )");
    assert!(browser.run("return document.querySelector('#moves .aside button').tabIndex").as_i64().unwrap() >= 0);
}
