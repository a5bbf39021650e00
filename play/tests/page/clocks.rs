//! The clocks of games of two.

use std::net::SocketAddr;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::chromium::Browser;
use crate::fits::CUT;
use crate::friends::{join, look};
use crate::http::{request, serve, serve_options};
use crate::web::{JSON, command, open};
use play::lang::Language;
use play::server::ServerLimits;
use serde_json::{Value, json};

/// A game of connect four with this time and increment: the keys of White and Black.
fn timed_game(address: SocketAddr, clock: [u32; 2]) -> [String; 2] {
    let (white, _) = open(address, json!({"game": "connect_four", "duel": "white", "clock": clock}));
    let name = white.split('.').next().unwrap().to_owned();
    let (black, view) = join(address, &name);
    let full = 1000 * clock[0];
    let expected = json!({"initial": full, "increment": 1000 * clock[1], "left": [full, full], "running": null});
    assert_eq!(view["duel"]["clock"], expected);
    [white, black]
}

fn play(address: SocketAddr, key: &str, column: &str) -> Value {
    let answer = command(address, key, json!({"do": "play", "text": column}));
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.json()
}

/// A game of jarmo in which each side has moved: White's key, and the page of the guest, who plays Black.
fn after_two_moves(address: SocketAddr, clock: [u32; 2]) -> (String, Browser) {
    let (white, _) = open(address, json!({"game": "jarmo", "duel": "white", "clock": clock}));
    let guest = Browser::at(address);
    guest.open_link(&format!("http://{address}/#join={}", white.split('.').next().unwrap()));
    guest.wait_for_text("duel", "You play Black");
    play(address, &white, "A1-C2");
    guest.wait_for_moves(1);
    guest.cell(20);
    guest.cell(11);
    (white, guest)
}

#[test]
fn the_server_ends_a_game_by_time_and_tells_who_waits() {
    let address = serve(["human", "human"], ServerLimits::default());
    let [white, black] = timed_game(address, [1, 0]);
    play(address, &white, "D");
    sleep(Duration::from_millis(300));
    let view = play(address, &black, "C");
    assert_eq!(view["duel"]["clock"]["left"], json!([1000, 1000]), "the first moves take no time");
    assert_eq!(view["duel"]["clock"]["running"], "white");
    let begun = Instant::now();
    let path = format!("/api/session?since={}", view["version"]);
    let view = request(address, "GET", &path, &[("X-Session", &black)], "").json();
    assert!((900..3000).contains(&begun.elapsed().as_millis()), "{:?}", begun.elapsed());
    assert_eq!(view["duel"]["ended"], json!({"winner": "black", "by_time": true}));
    assert_eq!(view["duel"]["clock"]["left"], json!([0, 1000]));
    assert_eq!(view["scene"]["outcome"]["winner"], "black");
    let late = command(address, &white, json!({"do": "play", "text": "D"}));
    assert!(late.status == 422 && late.body.contains("over"), "{}", late.body);
}

#[test]
fn clocks_outlive_the_server_and_a_restart_takes_no_time() {
    let folder = tempfile::tempdir().unwrap();
    let server = || serve_options(["human", "human"], |options| options.folder = Some(folder.path().join("duels")));
    let first = server();
    let [white, black] = timed_game(first, [60, 2]);
    play(first, &white, "D");
    play(first, &black, "C");
    sleep(Duration::from_millis(300));
    let saved = play(first, &white, "D")["duel"]["clock"].clone();
    let left = saved["left"][0].as_u64().unwrap();
    assert!((60_000..61_700).contains(&left) && saved["running"] == "black", "{saved}");
    sleep(Duration::from_millis(300));
    let second = server();
    assert_eq!(look(second, &white)["duel"]["clock"], saved);
    sleep(Duration::from_millis(300));
    let left = look(second, &white)["duel"]["clock"]["left"][1].as_u64().unwrap();
    assert!(left <= 59_700, "{left}: it runs on when one of them is back");
}

#[test]
fn impossible_clocks_are_refused() {
    let address = serve(["human", "human"], ServerLimits::default());
    for (opening, status) in [
        (json!({"duel": "white", "clock": [0, 5]}), 400),
        (json!({"duel": "white", "clock": [10_801, 0]}), 400),
        (json!({"duel": "white", "clock": [60, 181]}), 400),
        (json!({"duel": "white", "clock": [60]}), 400),
        (json!({"duel": "white", "clock": [-1, 0]}), 400),
        (json!({"clock": [60, 0]}), 422),
    ] {
        let answer = request(address, "POST", "/api/sessions", &[JSON], &opening.to_string());
        assert_eq!(answer.status, status, "{opening}: {}", answer.body);
        assert!(answer.body.contains("clock") || answer.body.contains("not a message"), "{}", answer.body);
    }
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn clocks_stand_in_the_cards_and_little_time_is_marked_and_said() {
    let address = serve(["human", "human"], ServerLimits::default());
    let inviter = Browser::at(address);
    inviter.resize(390, 844);
    inviter.choose("game", "jarmo");
    for language in Language::ALL {
        inviter.choose("language", language.code());
        inviter.wait(&format!("return document.documentElement.lang === '{}'", language.code()));
        inviter.click("#invite");
        assert_eq!(inviter.run("return document.querySelectorAll('#invite-clock option').length"), json!(6));
        inviter.choose("invite-clock", "[1800,20]");
        assert_eq!(inviter.run(CUT), json!([]), "{language:?}: invitation");
        inviter.run("document.getElementById('invite-box').close()");
    }
    inviter.choose("language", "en");
    inviter.wait("return document.documentElement.lang === 'en'");
    inviter.click("#invite");
    inviter.click("#invite-make");
    inviter.wait_for_text("duel", "30 min + 20 s per move.");
    assert!(inviter.text("strip-top").contains("30:00") && inviter.text("strip-bottom").contains("30:00"));
    for language in Language::ALL {
        inviter.choose("language", language.code());
        inviter.wait(&format!("return document.documentElement.lang === '{}'", language.code()));
        assert_eq!(inviter.run(CUT), json!([]), "{language:?}: cards");
        assert_eq!(inviter.run("return document.documentElement.scrollWidth <= innerWidth"), json!(true));
    }

    let (_, guest) = after_two_moves(address, [4, 1]);
    guest.wait_for_text("time-said", "White has 4 s left.");
    let clock = "const clock = document.querySelector('#strip-top .clock');";
    let marked = format!("{clock} return clock.role === 'timer' && clock.matches('.low.runs') && clock.ariaLabel");
    assert_eq!(guest.run(&marked), json!("White: Time"));
    guest.wait(&format!("{clock} return /^0:0[0-3]\\.\\d$/.test(clock.textContent)"));
    guest.wait_for_text("status", "You win");
    guest.wait_for_text("notes", "White has run out of time.");
    assert_eq!(guest.run(&format!("{clock} return clock.textContent")), json!("0:00.0"));
    guest.click("#new");
    guest.wait("return document.querySelector('.clock') === null");
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn a_running_game_with_a_clock_is_left_only_after_a_question() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    browser.click("#invite");
    browser.choose("invite-clock", "[60,0]");
    browser.click("#invite-make");
    browser.wait_for_text("duel", "1 min + 0 s per move.");
    browser.run("window.asked = []; window.confirm = (question) => { window.asked.push(question); return false; }");
    browser.press("body", "n");
    browser.choose("game", "tammi");
    assert_eq!(browser.run("return window.asked.length"), json!(2));
    assert_eq!(browser.value("game"), "jarmo");
    assert!(browser.shows(".clock"));
    browser.click("#record-open");
    browser.wait("return document.getElementById('record-box').open");
    browser.run("document.getElementById('record-text').value = '{\"game\":\"tammi\",\"moves\":[]}'");
    browser.click("#record-load");
    browser.wait("return window.asked.length === 3");
    assert_eq!(browser.run("return document.getElementById('record-box').open"), json!(true));
    browser.run("document.getElementById('record-box').close()");
    assert_eq!(browser.value("game"), "jarmo");
    browser.run("window.confirm = () => true");
    browser.click("#new");
    browser.wait("return document.querySelector('.clock') === null");
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn clocks_go_on_during_a_puzzle() {
    let address = serve(["human", "human"], ServerLimits::default());
    let (white, guest) = after_two_moves(address, [300, 3]);
    guest.wait("return document.querySelector('.clock.runs')?.ariaLabel === 'White: Time'");
    guest.press("body", "o");
    guest.wait("return document.documentElement.dataset.mode === 'exercise'");
    play(address, &white, "B1-D2");
    guest.wait("return document.querySelector('.clock.runs')?.ariaLabel === 'Black: Time'");
}
