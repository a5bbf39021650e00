//! Analysis by clicks: the moves of a line, and a better move in place of a mistake.

use crate::chromium::Browser;
use crate::http::serve;
use play::server::ServerLimits;
use serde_json::json;

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn a_line_is_walked_through_and_becomes_a_variation() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    browser.load(r#"{"game":"jarmo","moves":["A1-C2","A5-B3"]}"#);
    browser.click("#analyse");
    let third = "const third = [...document.querySelectorAll('#ideas .move')].find(({ at }) => at === 3);";
    browser.wait(&format!("{third} return third !== undefined"));
    browser.run(&format!("{third} window.line = third.line; third.click()"));
    browser.wait("return document.getElementById('status').textContent === `Line: ${line.slice(0, 3).join(' ')}`");
    browser.wait(&format!("{third} return third.ariaCurrent === 'true'"));
    assert_eq!(browser.moves(), 2, "the game stays as it is");
    browser.press("body", "<");
    browser.wait("return document.getElementById('status').textContent === `Line: ${line.slice(0, 2).join(' ')}`");
    browser.press("body", ">");
    browser.wait("return document.getElementById('status').textContent === `Line: ${line.slice(0, 3).join(' ')}`");
    browser.click("#line-play");
    browser.wait_for_moves(5);
    assert!(!browser.shows("#line-leave"));
    browser.wait("return document.getElementById('analyse').ariaSelected === 'true'");
    // A move on the board beside a line from an earlier position makes a variation.
    browser.click("#first");
    browser.wait("return document.getElementById('first').disabled");
    browser.wait("return document.querySelectorAll('#ideas .move').length > 0");
    browser.run("document.querySelector('#ideas .move').click()");
    browser.wait_for_text("status", "Line: ");
    browser.cell(*browser.cells("source").last().unwrap());
    browser.cell(*browser.cells("target").last().unwrap());
    browser.wait("return document.querySelectorAll('#moves button').length > 5");
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn the_better_move_is_found_in_place_of_a_mistake() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    // White must stop the four in column A, and plays G.
    browser.load(r#"{"game":"connect_four","moves":["D","A","D","A","C","A","G"]}"#);
    assert!(!browser.shows("#retry"));
    browser.click("#analyse");
    browser.wait("return !document.getElementById('retry').hidden");
    browser.click("#retry");
    browser.wait_for_text("status", "Find a better move for Yellow than G.");
    for hidden in ["#bar", "#graph", "#ideas board", "#moves .bad"] {
        let script = format!(
            "return document.querySelector('{hidden}')?.checkVisibility({{ visibilityProperty: true }}) ?? false"
        );
        assert_eq!(browser.run(&script), json!(false), "{hidden}");
    }
    browser.cell(1);
    browser.wait_for_text("status", "B loses");
    browser.click("#retry-again");
    browser.wait_for_text("status", "Find a better move");
    browser.cell(21);
    browser.wait_for_text("status", "A is as good as the best move.");
    browser.click("#retry-again");
    browser.wait_for_text("status", "Find a better move");
    browser.click("#retry-leave");
    browser.wait("return !document.getElementById('retry').hidden");
    assert_eq!(browser.moves(), 7);
    browser.press("body", "t");
    browser.wait_for_text("status", "Find a better move");
    browser.click("#retry-show");
    browser.wait_for_text("status", "A");
    // Leaving the analysis takes away what was tried.
    browser.click("#retry-again");
    browser.wait_for_text("status", "Find a better move");
    browser.cell(1);
    browser.wait_for_text("status", "B loses");
    browser.click("#moves-tab");
    browser.wait_for_moves(7);
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn the_graph_says_who_is_better_when_and_how_much() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    browser.load(r#"{"game":"connect_four","moves":["D","A","D","A","C","A","G"]}"#);
    browser.click("#analyse");
    browser.wait_for_text("graph-now", "After move 4. G: Yellow 0%");
    assert_eq!(browser.text("graph-end"), "4");
    let box_text = browser.text("graph-box");
    assert!(box_text.contains("Yellow better") && box_text.contains("Red better"));
    browser.click("#first");
    browser.wait_for_text("graph-now", "Starting position: Yellow ");
    let label = browser.run("return document.getElementById('graph').ariaLabel");
    assert!(label.as_str().unwrap().starts_with("Evaluation move by move. Starting position"), "{label}");
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn the_summary_leads_to_each_mistake_and_the_number_of_lines_is_chosen() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    browser.load(r#"{"game":"connect_four","moves":["D","A","D","A","C","A","G"]}"#);
    browser.click("#analyse");
    browser.wait_for_text("said", "Analysed.");
    let mistakes = browser.text("mistakes");
    assert!(mistakes.contains("4. G ??"), "{mistakes}");
    browser.click("#first");
    browser.wait("return document.getElementById('first').disabled");
    browser.run(
        "[...document.querySelectorAll('#mistakes button')].find((one) => one.textContent.includes('4. G')).click()",
    );
    browser.wait("return document.getElementById('last').disabled");
    browser.click("#retry");
    browser.wait_for_text("status", "Find a better move for Yellow than G.");
    browser.click("#retry-leave");
    browser.click("#first");
    browser.wait("return document.querySelectorAll('#ideas tr').length >= 3");
    browser.choose("lines", "2");
    browser.wait("return document.querySelectorAll('#ideas tr').length === 2");
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn a_dot_of_the_graph_leads_to_its_mistake() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    browser.load(r#"{"game":"connect_four","moves":["D","A","D","A","C","A","G"]}"#);
    browser.click("#analyse");
    browser.wait_for_text("said", "Analysed.");
    browser.click("#first");
    browser.wait("return document.getElementById('first').disabled");
    browser.run(
        "[...document.querySelectorAll('#graph .mistake')].find((dot) => dot.textContent === '4. G ??')
             .dispatchEvent(new MouseEvent('click', { bubbles: true }))",
    );
    browser.wait("return document.getElementById('last').disabled");
    let height = browser.run("return document.getElementById('graph').getBoundingClientRect().height");
    assert!((90.0..=110.0).contains(&height.as_f64().unwrap()), "{height}");
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn moves_stand_in_pairs_and_a_lost_game_is_not_green() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    browser.load(r#"{"game":"connect_four","moves":["D","A","D","A","C","A","G"]}"#);
    let rows = browser.run("return [...document.querySelectorAll('#moves li')].map((row) => [...row.children].map((part) => part.textContent))");
    assert_eq!(rows[0], json!(["1.", "D", "A"]));
    assert_eq!(rows[3], json!(["4.", "G", ""]));
    let colour = "return getComputedStyle(document.getElementById('status')).color";
    let before = browser.run(colour);
    browser.seat("black", "best");
    browser.wait_for_text("status", "You lose");
    let lost = browser.run(colour);
    assert_eq!(lost, browser.run("return getComputedStyle(document.getElementById('message')).color"));
    assert_ne!(lost, before);
}

/// Loads a game that a person has lost by one bad move, and waits for its report.
pub(crate) fn load_lost_game(browser: &Browser) {
    let from = r#""position":"7/7/7/b6/b2w3/b1ww3 w 6","moves":["G","A"]"#;
    browser.load(&format!(r#"{{"game":"connect_four","white":"human","black":"newcomer",{from}}}"#));
    browser.wait_for_moves(2);
    browser.click("#report-open");
    browser.wait("return document.querySelector('#report ol') !== null");
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn a_finished_game_has_a_report_whose_mistakes_become_exercises() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    browser.load(r#"{"game":"connect_four","moves":["D","A","D","A","C","A","G"]}"#);
    browser.wait_for_moves(7);
    assert!(!browser.shows("#report-open"), "the game is not over");
    load_lost_game(&browser);
    let report = browser.text("report");
    for part in ["Accuracy0", "Turning point: after 1. G Red stayed ahead.", "G loses in 1 ply, because of A."] {
        assert!(report.contains(part), "{part}: {report}");
    }
    browser.click("#report li button");
    browser.wait("return document.querySelector('#moves [aria-current]')?.textContent.startsWith('G')");
    browser.click("#report .main");
    browser.wait_for_text("exercise-text", "Find a better move for Yellow than G.");
    // The answer to a wrong try is played on the board.
    browser.cell(6);
    browser.wait_for_text("exercise-said", "The reply is A.");
    browser.wait("return document.querySelector('[data-cell=\"21\"]').ariaLabel.startsWith('A4, Red')");
    // As if the server had closed the session that judges the moves.
    browser.run(
        "const old = window.fetch; const own = localStorage.getItem('session'); let gone = null;
         window.fetch = (path, options) => {
             const key = options?.headers['X-Session'];
             if (key && key !== own && path.startsWith('/api/session?')) gone ??= key;
             return key === gone ? Promise.resolve(new Response('{\"error\":\"gone\"}', { status: 404 })) : old(path, options);
         }",
    );
    browser.click("#exercise-again");
    browser.wait("return document.querySelector('[data-cell=\"21\"]').ariaLabel.startsWith('A4, empty')");
    browser.cell(0);
    browser.wait_for_text("exercise-said", "A is as good as the best move. That was the last one.");
    browser.click("#exercise-leave");
    browser.wait_for_moves(2);
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn a_mistake_that_is_solved_comes_back_on_another_day() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    browser.click("#deck");
    browser.wait_for_text("deck-count", "Due now: 0. In all: 0.");
    browser.click("#deck-box form button");
    load_lost_game(&browser);
    browser.wait("return localStorage.getItem('deck') !== null");
    browser.open_link(browser.run("return location.href.split('#')[0] + '#deck'").as_str().unwrap());
    browser.wait_for_text("exercise-text", "Find a better move for Yellow than G.");
    browser.cell(0);
    browser.wait_for_text("exercise-said", "A is as good as the best move.");
    browser.click("#deck");
    browser.wait_for_text("deck-count", "Due now: 0. In all: 1.");
    let later = "return Date.parse(JSON.parse(localStorage.getItem('deck')).cards[0].state.due) - Date.now() > 20 * 3600 * 1000";
    assert_eq!(browser.run(later), json!(true));
    assert_eq!(browser.run("return document.querySelectorAll('#deck-days .done').length"), json!(1));
}
