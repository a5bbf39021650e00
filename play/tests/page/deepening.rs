//! The analysis that looks further at a position.

use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::chromium::Browser;
use crate::http::{request, serve};
use crate::web::{JSON, command, open};
use play::server::ServerLimits;
use serde_json::{Value, json};

#[test]
fn a_position_is_looked_at_further_within_bounds_while_others_have_their_turns() {
    let bounds = ServerLimits { thinkers: 1, thought: Duration::from_millis(400), ..ServerLimits::default() };
    let address = serve(["human", "human"], bounds);
    let (id, _) = open(address, json!({"game": "connect_four", "analyse": true}));
    let news = |id: &str, view: &Value| {
        let path = format!("/api/session?since={}", view["version"]);
        request(address, "GET", &path, &[("X-Session", id)], "").json()
    };
    let mut view = command(address, &id, json!({"do": "deepen", "on": true})).json();
    assert_eq!(view["deepening"], true);
    let (mut counts, mut answered) = (Vec::new(), None);
    let begun = Instant::now();
    // Meanwhile an agent of another session answers.
    let (other, _) = open(address, json!({"white": "human", "black": "greedy"}));
    let mut game = command(address, &other, json!({"do": "play", "text": "A1-C2"})).json();
    while view["unstudied"] != 0 || view["deeper"] == true || game["moves"].as_array().unwrap().len() < 2 {
        assert!(begun.elapsed() < Duration::from_secs(60), "{view}");
        if game["moves"].as_array().unwrap().len() < 2 {
            game = news(&other, &game);
            answered = Some(begun.elapsed());
        }
        counts.extend(view["thought"]["nodes"].as_u64());
        if view["unstudied"] != 0 || view["deeper"] == true {
            view = news(&id, &view);
        }
    }
    counts.extend(view["thought"]["nodes"].as_u64());
    // A fast machine may have searched all that the bounds allow by the first answer.
    assert!(counts.len() > 1 && counts.is_sorted() && counts[0] > 0, "{counts:?}");
    assert!(answered.unwrap() < Duration::from_secs(10), "{answered:?}");
    assert_eq!(view["deepening"], true, "it goes on at another position");
    let over = command(address, &id, json!({"do": "deepen", "on": false})).json();
    assert_eq!(over["deepening"], false);
    let wrong = request(address, "POST", "/api/session", &[JSON, ("X-Session", &id)], r#"{"do":"deepen"}"#);
    assert_eq!(wrong.status, 400);
}

#[test]
fn a_search_that_was_stopped_begins_again() {
    let address = serve(["human", "human"], ServerLimits::default());
    let (id, _) = open(address, json!({}));
    let send = |message: Value| command(address, &id, message).json();
    send(json!({"do": "evaluate", "on": false}));
    send(json!({"do": "play", "text": "A1-C2"}));
    send(json!({"do": "hint"}));
    sleep(Duration::from_millis(200));
    send(json!({"do": "go", "place": 0})); // stops it
    let mut view = send(json!({"do": "go", "place": 1}));
    let begun = Instant::now();
    while view["hint"].is_null() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{view}");
        let path = format!("/api/session?since={}", view["version"]);
        view = request(address, "GET", &path, &[("X-Session", &id)], "").json();
    }
    assert!(view["hint"]["millis"].as_u64().unwrap() > 500, "{}", view["hint"]);
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn the_page_counts_what_is_searched_and_searches_on() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    browser.load(r#"{"game":"connect_four","moves":["D","C"]}"#);
    assert!(!browser.shows("#deepen"));
    browser.click("#analyse");
    browser.wait_for_text("searched", "searched");
    browser.wait("return !document.getElementById('notes').textContent.includes('Analysing')");
    let before = browser.text("searched");
    browser.click("#deepen");
    browser.wait(&format!("return document.getElementById('searched').textContent !== '{before}'"));
    browser.wait_within(
        Duration::from_secs(60),
        "return !document.getElementById('searched').textContent.includes('so far')",
    );
    assert_ne!(browser.text("searched"), before);
    assert_eq!(browser.run("return document.getElementById('deepen').ariaPressed"), json!("true"));
    browser.click("#moves-tab");
    browser.wait("return !document.getElementById('searched').checkVisibility()");
}
