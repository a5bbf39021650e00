//! The opening explorer, and puzzles that come back.

use std::time::Duration;

use crate::chromium::Browser;
use crate::http::serve;
use play::puzzles;
use play::server::ServerLimits;
use serde_json::{Value, json};

fn rows(browser: &Browser) -> Vec<String> {
    let rows = browser.run("return [...document.querySelectorAll('#openings tr')].map((row) => row.textContent)");
    serde_json::from_value(rows).unwrap()
}

/// Opens the explorer in the analysis of a game, and waits for its moves.
fn explore(browser: &Browser, record: &str) {
    browser.load(record);
    browser.click("#analyse");
    browser.run("document.getElementById('explorer').open = true");
    browser.wait("return document.querySelector('#openings tr, #openings p') !== null");
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn each_move_of_connect_four_has_its_result_and_its_games() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    browser.load(r#"{"game":"connect_four","moves":["D"]}"#);
    assert!(!browser.shows("#explorer"), "only in an analysis");
    explore(&browser, r#"{"game":"connect_four","moves":[]}"#);
    browser.wait("return document.querySelectorAll('#openings tr').length === 7");
    let first = rows(&browser);
    assert!(first[0].starts_with("DYellow wins in 41 plies"), "the most played move is first: {first:?}");
    let ends = ["draw with best play", "Red wins in 40 plies", "Red wins in 42 plies"];
    for (column, end) in
        [("C", ends[0]), ("E", ends[0]), ("B", ends[2]), ("F", ends[2]), ("A", ends[1]), ("G", ends[1])]
    {
        assert!(first.iter().any(|row| row.starts_with(&format!("{column}{end}"))), "{column} {end}: {first:?}");
    }
    // The bar says in words how the games ended.
    let ends = browser.run("return document.querySelector('#openings .ends').ariaLabel");
    assert!(ends.as_str().unwrap().contains("Yellow ") && ends.as_str().unwrap().contains("Red "), "{ends}");
    // A click plays the move; the mirror image of a position has the same results and games.
    browser.run("document.querySelector('#openings .move').click()");
    browser.wait_for_moves(1);
    let sides = [["D", "C"], ["D", "E"]].map(|moves| {
        explore(&browser, &json!({ "game": "connect_four", "moves": moves }).to_string());
        browser.wait_for_text("openings", "Yellow wins in 37 plies");
        rows(&browser)
    });
    let counted = |rows: &[String]| -> Vec<String> {
        let mut rows: Vec<String> = rows.iter().map(|row| row[1..].to_owned()).collect();
        rows.sort();
        rows
    };
    assert_eq!(counted(&sides[0]), counted(&sides[1]));
    // The last ply with results, and one where nothing is known.
    explore(&browser, r#"{"game":"connect_four","moves":["A","A","A","G","G","G","B"]}"#);
    browser.wait("return document.querySelectorAll('#openings tr').length === 7");
    explore(&browser, r#"{"game":"connect_four","moves":["A","A","A","G","G","G","B","B"]}"#);
    browser.wait_for_text("openings", "Nothing is known here");
    explore(&browser, r#"{"game":"tammi","moves":[]}"#.replace("tammi", "connect_four").as_str());
    browser.load(r#"{"game":"tammi","moves":["c3-d4"]}"#);
    browser.click("#analyse");
    browser.wait("return document.getElementById('explorer').hidden");
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn openings_of_jarmo_have_the_results_of_the_proof() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    explore(&browser, r#"{"game":"jarmo","moves":[]}"#);
    browser.wait("return document.querySelectorAll('#openings tr').length === 11");
    let start = rows(&browser).join("\n").replace('\u{2011}', "-");
    for lost in ["A1-B3", "B1-A3", "C1-A2", "C1-E2"] {
        assert!(start.contains(&format!("{lost}Black wins with best play")), "{lost}: {start}");
    }
    assert_eq!(start.matches("draw with best play").count(), 7);
    // The only opening of two plies that is open.
    explore(&browser, r#"{"game":"jarmo","moves":["C1-A2"]}"#);
    browser.wait("return [...document.querySelectorAll('#openings tr')].some((row) => row.textContent.includes('E5'))");
    let replies = rows(&browser).join("\n").replace('\u{2011}', "-");
    assert!(replies.contains("E5-C4–"), "{replies}");
    // Every move of a lost position loses, and the proof has a reply to it.
    explore(&browser, r#"{"game":"jarmo","moves":["A1-B3","A5xB3"]}"#);
    browser.wait(
        "const rows = [...document.querySelectorAll('#openings tr')];
         return rows.length > 5 && rows.every((row) => row.textContent.includes('Black wins with best play'))",
    );
    browser.run("document.querySelector('#openings .move').click()");
    browser.wait_for_moves(3);
    browser.wait_for_text("openings", "Black wins with best play");
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn a_damaged_file_of_openings_is_rejected_and_the_analysis_goes_on() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    browser.run(
        "const usual = fetch; window.damage = true;
         window.fetch = async (what, ...more) => {
             const found = await usual(what, ...more);
             if (!window.damage || !String(what).endsWith('.explorer')) return found;
             const bytes = new Uint8Array(await found.arrayBuffer());
             bytes[bytes.length >> 1] ^= 1;
             return new Response(bytes);
         };",
    );
    explore(&browser, r#"{"game":"jarmo","moves":[]}"#);
    browser.wait_for_text("openings", "The file of openings is damaged or missing; load the page again.");
    browser.wait("return document.querySelectorAll('#ideas tr').length > 0");
    browser.run("window.damage = false; document.getElementById('explorer').open = false");
    browser.wait("return !document.getElementById('explorer').open");
    browser.run("document.getElementById('explorer').open = true");
    browser.wait("return document.querySelectorAll('#openings tr').length === 11");
}

/// The cards of the deck of this browser.
fn deck(browser: &Browser) -> Value {
    browser.run("return JSON.parse(localStorage.getItem('deck'))")
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn a_failed_puzzle_is_refuted_on_the_board_and_comes_back() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    let puzzle = puzzles::of("connect_four").iter().find(|one| one.line.len() == 1).unwrap();
    let address = format!("#puzzles=connect_four&from={}", puzzle.position.replace(' ', "_"));
    let link = browser.run(&format!("return location.href.split('#')[0] + '{address}'"));
    browser.open_link(link.as_str().unwrap());
    browser.wait_for_text("exercise-heading", &format!("rating {}", puzzle.rating));
    let columns = browser
        .run("return [...document.querySelectorAll('#board .cell.target')].map((cell) => Number(cell.dataset.cell))");
    let right = u64::from(puzzle.line[0].as_bytes()[0] - b'A');
    let cell = |is_right: bool| {
        let mut cells = columns.as_array().unwrap().iter().map(|cell| cell.as_u64().unwrap());
        cells.find(|cell| (cell % 7 == right) == is_right).unwrap()
    };
    let stones = "return document.querySelectorAll('#board .piece:not(.gone)').length";
    let before = browser.run(stones).as_u64().unwrap();
    browser.cell(cell(false));
    browser.wait_within(
        Duration::from_secs(30),
        "return document.getElementById('exercise-said').textContent.includes('The reply is ')",
    );
    browser.wait(&format!("{stones} === {}", before + 2));
    browser.wait_for_text("exercise-note", "Your rating: 968 (−32). Current streak: 0. Best streak: 0.");
    // A failed puzzle comes back, and is then a card like any other.
    let card = &deck(&browser)["cards"][0];
    assert_eq!((&card["position"], &card["puzzle"]), (&json!(puzzle.position), &json!(true)));
    browser.run(
        "const deck = JSON.parse(localStorage.getItem('deck'));
         deck.cards[0].state.due = deck.cards[0].state.last_review = new Date(Date.now() - 2 * 864e5).toISOString();
         localStorage.setItem('deck', JSON.stringify(deck));",
    );
    browser.click("#deck");
    browser.wait_for_text("deck-count", "Due now: 1. In all: 1.");
    assert!(!browser.shows("#deck-recall"));
    browser.click("#deck-start");
    browser.wait_for_text("exercise-heading", "Connect four: exercise 1 of 1");
    browser.cell(cell(true));
    browser.wait_for_text("exercise-said", "That was the last one.");
    assert_eq!(deck(&browser)["cards"][0]["state"]["reps"], json!(2));
    let kept = browser.run("return JSON.parse(localStorage.getItem('puzzles-connect_four'))");
    assert_eq!((&kept["rating"], &kept["count"]), (&json!(968), &json!(1)), "it is rated once");
    browser.click("#deck");
    browser.wait_for_text("deck-recalled", "Last 30 days: you remembered 100% of 1");
    assert_eq!(browser.run("return document.querySelectorAll('#deck-curve circle').length"), json!(1));
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn puzzles_have_themes_a_history_and_addresses() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    let [solved, failed] = [0, 1].map(|index| puzzles::of("jarmo")[index].position.as_str());
    let latest = json!([{ "position": failed, "solved": false }, { "position": solved, "solved": true }]);
    let kept = json!({ "rating": 1000, "count": 2, "latest": latest }).to_string();
    browser.run(&format!("localStorage.setItem('puzzles', '{kept}')"));
    browser.click("#puzzles");
    browser.wait_for_text("exercise-note", "Current streak: 1. Best streak: 1.");
    let address = |position: &str| format!("#puzzles=jarmo&from={}", position.replace(' ', "_"));
    let signs = browser
        .run("return [...document.querySelectorAll('#exercise-note a')].map((sign) => sign.getAttribute('href'))");
    assert_eq!(signs, json!([address(failed), address(solved)]));
    // A sign leads to its puzzle.
    browser.run("document.querySelector('#exercise-note a').click()");
    let rating = puzzles::of("jarmo")[1].rating;
    browser.wait_for_text("exercise-heading", &format!("Jarmo: Puzzle, rating {rating}"));
    browser.wait(&format!("return location.hash === '{}'", address(failed)));
    // Of a theme there are only its puzzles.
    browser.choose("exercise-theme", "return");
    browser.wait(&format!("return location.hash !== '{}'", address(failed)));
    let themes =
        |position: &str| puzzles::of("jarmo").iter().find(|one| one.position == position).unwrap().themes.clone();
    for _ in 0..4 {
        browser.wait(
            "return document.getElementById('exercise-said').textContent === '' && location.hash.includes('from=')",
        );
        let hash = browser.run("return decodeURI(location.hash)");
        let (_, from) = hash.as_str().unwrap().split_once("from=").unwrap();
        assert!(themes(&from.replace('_', " ")).contains(&"return".to_owned()), "{hash}");
        browser.click("#exercise-next");
        browser.wait(&format!("return decodeURI(location.hash) !== '{}'", hash.as_str().unwrap()));
    }
}
