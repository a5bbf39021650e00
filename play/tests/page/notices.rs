//! What the page says: how a game ended, what is forbidden and why, and who begins the next game.

use crate::chromium::Browser;
use crate::http::serve;
use play::server::ServerLimits;
use serde_json::json;

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn the_end_says_who_won_and_why_and_offers_a_rematch() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    // White's last archer outside the goal row goes there.
    browser.load(r#"{"game":"jarmo","position":"2W2/3w1/2b2/5/4b w - - 0","moves":[]}"#);
    browser.seat("black", "newcomer");
    browser.wait_for_text("strip-top", "newcomer");
    assert!(!browser.shows("#rematch"));
    browser.cell(18);
    browser.cell(21);
    browser.wait_for_text("status", "You win, 4 : 3");
    browser.wait_for_text("notes", "White has no archer outside the goal row.");
    browser.click("#rematch");
    browser.wait_for_text("strip-top", "White · newcomer");
    browser.wait("return document.querySelectorAll('#board .piece:not(.gone)').length === 10");
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn the_winning_four_are_marked() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    let won = "return document.querySelectorAll('#board .piece.won').length";
    browser.load(r#"{"game":"connect_four","moves":["D","A","D","A","D","B","D"]}"#);
    browser.wait_for_text("notes", "Yellow has four in a line.");
    browser.wait("return document.querySelectorAll('#board .piece.won').length === 4");
    browser.click("#back");
    browser.wait_for_text("status", "Yellow to move");
    browser.wait("return document.querySelectorAll('#board .piece.won').length === 0");
    assert_eq!(browser.run(won), json!(0));
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn a_forbidden_shuttle_is_crossed_out() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    let banned = "return document.querySelectorAll('.line.banned').length";
    let moves = ["A1-C2", "A5-C4", "C2-A1", "C4-A5"].repeat(2);
    let record = json!({"game": "jarmo", "moves": moves}).to_string();
    browser.load(&record);
    browser.wait_for_text("notes", "White may not play A1-C2 now");
    assert_eq!(browser.run(banned), json!(1));
    browser.cell(0);
    assert!(browser.label(7).contains("forbidden"), "{}", browser.label(7));
    browser.cell(7);
    browser.wait_for_text("message", "no endless shuttling");
    browser.click("#first");
    browser.wait_for_text("notes", "");
    browser.wait("return document.getElementById('first').disabled");
    assert_eq!(browser.run(banned), json!(0));
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn a_redeploy_says_what_it_is() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    browser.load(r#"{"game":"jarmo","position":"2W2/5/2b2/5/w3w w - - 0","moves":[]}"#);
    browser.wait_for_text("notes", "White may bring back a captured archer");
    assert_eq!(browser.cells("redeploy"), [1, 2, 3]);
    assert_eq!(browser.label(3), "D1, empty, an archer can be brought back here");
    browser.cell(3);
    browser.wait_for_text("notes", "White brought back an archer on D1.");
    browser.wait_for_text("notes", "The archer on C5 has lost its mark.");
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn a_man_that_cannot_move_says_why_in_the_language_chosen() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    browser.choose("game", "tammi");
    browser.wait_for_game("tammi");
    browser.cell(0);
    browser.wait_for_text("message", "b2 is not empty");
    browser.choose("language", "de");
    browser.wait_for_text("status", "Weiß am Zug");
    assert_eq!(browser.text("message"), "", "no error of another language");
    browser.cell(0);
    browser.wait_for_text("message", "b2 ist nicht leer");
    // White must capture on d4, so the free man on g3 is refused, too.
    browser.load(r#"{"game":"tammi","moves":["c3-d4","f6-e5"]}"#);
    browser.wait_for_moves(2);
    browser.cell(11);
    browser.wait_for_text("message", "Schlagen ist Pflicht");
    browser.choose("game", "guard");
    browser.wait_for_game("guard");
    assert_eq!(browser.text("message"), "", "no error of another game");
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn a_new_game_after_a_record_is_the_game_from_its_start_with_the_players_before() {
    let browser = Browser::at(serve(["human", "greedy"], ServerLimits::default()));
    browser.load(r#"{"game":"jarmo","position":"2W2/3w1/2b2/5/4b w - - 0","moves":[]}"#);
    browser.wait_for_text("strip-top", "Black · human");
    browser.click("#new");
    browser.wait_for_text("strip-top", "Black · greedy");
    browser.wait("return document.querySelectorAll('#board .piece:not(.gone)').length === 10");
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn the_board_and_the_sound_stay_as_they_were_chosen() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    let board = || browser.run("return document.documentElement.dataset.board");
    let sound = || browser.run("return document.getElementById('sound').ariaPressed");
    assert_eq!((board(), sound()), (json!("wood"), json!("true")));
    browser.click("#board-theme");
    browser.click("#sound");
    browser.reload();
    assert_eq!((board(), sound()), (json!("stone"), json!("false")));
    browser.click("#board-theme");
    assert_eq!(board(), json!("wood"));
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn an_evaluation_that_was_turned_off_stays_off_in_another_game() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    let is = |pressed: bool| {
        browser.wait(&format!("return document.getElementById('evaluate').ariaPressed === '{pressed}'"));
    };
    browser.click("#evaluate");
    is(false);
    browser.choose("game", "tammi");
    browser.wait_for_game("tammi");
    is(false);
    browser.click("#evaluate");
    is(true);
    browser.choose("game", "jarmo");
    browser.wait_for_game("jarmo");
    is(true);
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn the_theme_follows_the_system_until_another_is_chosen() {
    let browser = Browser::start();
    let theme = || browser.run("return document.documentElement.dataset.theme");
    let is = |name: &str| {
        browser.wait(&format!("return document.documentElement.dataset.theme === '{name}'"));
    };
    browser.system_theme("light");
    browser.open(serve(["human", "human"], ServerLimits::default()));
    is("light");
    browser.system_theme("dark");
    is("dark");
    browser.click("#theme");
    is("light");
    browser.reload();
    assert_eq!(theme(), json!("light"), "the choice is kept");
    browser.click("#theme");
    browser.system_theme("light");
    is("light");
}
