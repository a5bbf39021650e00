//! The first visit, the guided lesson, and puzzles.

use crate::chromium::Browser;
use crate::http::serve;
use crate::web::open;
use play::lessons;
use play::puzzles;
use play::server::ServerLimits;
use play::session::Session;
use serde_json::json;

/// Clicks a move of jarmo or of a game with columns, as a person would.
fn click(browser: &Browser, session: &mut Session, text: &str) {
    let legal = session.board().scene().legal;
    let gesture = &legal.iter().find(|one| one.text == text).unwrap().gesture;
    for cell in [gesture.from, gesture.to].into_iter().flatten() {
        browser.wait(&format!("return document.querySelector('[data-cell=\"{cell}\"]').matches('.source, .target')"));
        browser.cell(cell as u64);
    }
    session.play(text).unwrap();
}

/// Plays the line of a puzzle: the player's moves on the page, the replies in the session alone.
fn solve(browser: &Browser, session: &mut Session, line: &[String]) {
    for (ply, text) in line.iter().enumerate() {
        if ply % 2 == 0 {
            click(browser, session, text);
            let reply = line.get(ply + 1);
            let said = reply.map_or("is solved.".to_owned(), |reply| format!("The reply is {reply}."));
            browser.wait_for_text("exercise-said", &said);
        } else {
            session.play(text).unwrap();
        }
    }
}

fn said(browser: &Browser) -> String {
    browser.text("exercise-said")
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn the_lesson_of_every_game_is_done_by_clicks() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    for game in ["jarmo", "guard", "tammi", "connect_four"] {
        browser.choose("game", game);
        browser.wait_for_game(game);
        browser.click("#learn");
        let steps = lessons::of(game);
        for (place, step) in steps.iter().enumerate() {
            let heading = format!("Step {} of {}: ", place + 1, steps.len());
            browser.wait_for_text("exercise-heading", &heading);
            assert!(!browser.shows("#new") && !browser.shows("#bar"));
            let mut session = step.session(game);
            click(&browser, &mut session, &step.accept[0]);
            browser.wait_for_text("exercise-said", "Right.");
            assert!(browser.cells("source").is_empty(), "the step is over");
            if place + 1 < steps.len() {
                browser.click("#exercise-next");
            }
        }
        assert!(said(&browser).contains("That was the lesson."));
        assert_eq!(browser.run("return document.getElementById('exercise-next').disabled"), json!(true));
        browser.click("#exercise-leave");
        browser.wait_for_game(game);
        assert!(browser.shows("#new") && !browser.shows("#exercise"));
    }
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn other_moves_are_answered_and_the_game_comes_back() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    browser.cell(0);
    browser.cell(7);
    browser.wait_for_moves(1);
    browser.press("body", "l");
    browser.wait_for_text("exercise-heading", "Step 1 of 6: Lines");
    browser.wait("return document.activeElement.id === 'exercise-heading'");
    browser.press("body", "n");
    assert!(!browser.shows("#new"), "keys of the game do nothing here");
    // Another move, and then one that the rules forbid.
    browser.cell(1);
    browser.wait_for_text("said", "archer on B1 picked");
    browser.cell(8);
    browser.wait_for_text("exercise-said", "the task is a different move");
    browser.cell(0);
    browser.cell(24);
    browser.wait_for_text("exercise-said", "no line leads from A1 to E5");
    for step in 2..=5 {
        browser.click("#exercise-next");
        browser.wait_for_text("exercise-heading", &format!("Step {step} of 6"));
    }
    // The shuttle is crossed out, and the rule says why.
    browser.wait("return document.querySelectorAll('.line.banned').length === 1");
    browser.cell(0);
    browser.cell(7);
    browser.wait_for_text("exercise-said", "no endless shuttling");
    browser.click("#exercise-solution");
    browser.wait_for_text("exercise-said", "Right.");
    browser.click("#exercise-back");
    browser.wait_for_text("exercise-heading", "Step 4 of 6");
    assert_eq!(browser.cells("redeploy"), [1, 2, 3]);
    browser.choose("language", "de");
    browser.wait_for_text("exercise-heading", "Schritt 4 von 6: Wiedereinsetzen");
    browser.click("#exercise-leave");
    browser.wait_for_moves(1);
    browser.wait_for_piece(7);
    assert!(browser.label(7).starts_with("C2, Weiß"));
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn a_lesson_that_does_not_load_can_be_tried_again() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    browser.run(
        "window.broken = true; const old = window.fetch;
         window.fetch = (path, options) => (window.broken && path.startsWith('/api/lesson')
             ? Promise.reject(new TypeError()) : old(path, options))",
    );
    browser.press("body", "l");
    browser.wait_for_text("exercise-said", "connection to the program is lost");
    browser.run("window.broken = false");
    browser.click("#exercise-again");
    browser.wait_for_text("exercise-heading", "Step 1 of 6: Lines");
    assert!(!browser.shows("#exercise-again"));
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn the_first_visit_asks_whom_to_play_once() {
    let browser = Browser::start();
    browser.visit(serve(["human", "easy"], ServerLimits::default()));
    browser.wait("return document.getElementById('welcome-box').open");
    let value = |id: &str| browser.run(&format!("return document.getElementById('{id}').value"));
    assert_eq!(value("welcome-level"), json!("easy"));
    let levels = browser.run("return document.getElementById('welcome-level').length");
    assert!(levels.as_u64().unwrap() >= 7, "{levels}");
    browser.click("#welcome-games label:has([value=connect_four])");
    browser.choose("welcome-side", "black");
    browser.choose("welcome-level", "newcomer");
    browser.click("#welcome-play");
    browser.wait_for_game("connect_four");
    browser.wait_for_text("strip-bottom", "Yellow · newcomer");
    browser.wait_for_moves(1);
    browser.reload();
    let open = "return document.getElementById('welcome-box').open";
    assert_eq!(browser.run(open), json!(false), "it is shown once");
    browser.click("#welcome-open");
    assert_eq!(browser.run(open), json!(true), "it can be opened again");
    let chosen = "return document.querySelector('#welcome-games :checked').value";
    assert_eq!(browser.run(chosen), json!("connect_four"));
    assert_eq!(value("welcome-side"), json!("black"));
    browser.click("#welcome-games label:has([value=tammi])");
    browser.click("#welcome-learn");
    browser.wait_for_game("tammi");
    browser.wait_for_text("exercise-heading", "Step 1 of 3");
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn the_first_visit_keeps_the_opponent_of_the_command_line_also_as_black() {
    let seat = "rollout:7";
    let browser = Browser::start();
    browser.visit(serve([seat, "human"], ServerLimits::default()));
    browser.wait("return document.getElementById('welcome-box').open");
    assert_eq!(browser.value("welcome-level"), seat);
    assert_eq!(browser.value("welcome-side"), "black");
    browser.click("#welcome-games label:has([value=tammi])");
    browser.wait_for_text("welcome-about", "Draughts on the dark squares");
    browser.click("#welcome-play");
    browser.wait_for_text("strip-top", "White · rollout:7");
    browser.wait("return document.activeElement.matches('#board .cell')");
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn a_failed_puzzle_is_analysed_and_other_games_say_whose_puzzles_they_are() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    browser.choose("game", "guard");
    browser.wait_for_game("guard");
    assert_eq!(browser.text("puzzles"), "Puzzles (Jarmo)");
    browser.click("#puzzles");
    browser.wait_for_text("exercise-heading", "Jarmo: Puzzle");
    assert!(!browser.shows("#exercise-analyse"));
    let puzzle = puzzles::Progress::default().choose(puzzles::of("jarmo"));
    let mut session = puzzles::session(puzzle, 0);
    let legal = session.board().scene().legal;
    let wrong = legal.iter().find(|one| one.text != puzzle.line[0]).unwrap();
    click(&browser, &mut session, &wrong.text);
    browser.wait_for_text("exercise-said", "Try again");
    browser.wait_for_text("exercise-said", "The reply is ");
    browser.click("#exercise-analyse");
    browser.wait_for_moves(1);
    browser.wait("return document.getElementById('analyse').ariaSelected === 'true'");
    // The best reply is the refutation.
    browser.wait("return document.querySelectorAll('#ideas tr').length > 0");
    // Back to the puzzles, and from there to the game.
    browser.run("history.back()");
    browser.wait_for_text("exercise-heading", "Jarmo: Puzzle");
    browser.click("#exercise-leave");
    browser.wait_for_game("guard");
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn a_puzzle_is_solved_by_clicks_and_the_rating_is_kept() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    browser.click("#puzzles");
    browser.wait_for_text("exercise-note", "Your rating: 1000");
    let kept = || browser.run("return JSON.parse(localStorage.getItem('puzzles'))");
    let puzzle = puzzles::Progress::default().choose(puzzles::of("jarmo"));
    browser.wait_for_text("exercise-heading", &puzzle.rating.to_string());
    let mut session = puzzles::session(puzzle, 0);
    solve(&browser, &mut session, &puzzle.line);
    browser.wait_for_text("exercise-said", "The puzzle is solved.");
    let first = kept()["rating"].as_i64().unwrap();
    assert!(first > 1000, "{first}");
    browser.choose("language", "de");
    browser.wait("return document.getElementById('exercise-said').textContent === ''");
    let solved = browser.run("return document.getElementById('exercise-solution').disabled");
    assert_eq!(solved, json!(true), "in another language, too");
    browser.choose("language", "en");
    browser.wait_for_text("exercise-note", &format!("Your rating: {first} (+"));
    // The rating survives a reload, and the puzzle does not come again.
    browser.reload();
    browser.click("#puzzles");
    browser.wait_for_text("exercise-note", &format!("Your rating: {first}."));
    let mut progress = puzzles::Progress::default();
    progress.count(puzzle, true, puzzles::of("jarmo").len());
    assert_eq!(i64::from(progress.rating), first, "one scale for all");
    let puzzle = progress.choose(puzzles::of("jarmo"));
    browser.wait_for_text("exercise-heading", &puzzle.rating.to_string());
    let heading = browser.text("exercise-heading");
    // A wrong move counts at once, and only once.
    let session = puzzles::session(puzzle, 0);
    let legal = session.board().scene().legal;
    let wrong = legal.iter().find(|one| one.text != puzzle.line[0]).unwrap();
    let cells = [wrong.gesture.from, wrong.gesture.to];
    for _ in 0..2 {
        for cell in cells.into_iter().flatten() {
            browser
                .wait(&format!("return document.querySelector('[data-cell=\"{cell}\"]').matches('.source, .target')"));
            browser.cell(cell as u64);
        }
        browser.wait_for_text("exercise-said", "Try again");
        let second = kept();
        assert!(second["rating"].as_i64().unwrap() < first);
        assert_eq!(second["count"], json!(2));
        assert_eq!(second["latest"][1]["solved"], json!(false));
        browser.wait_for_text("exercise-said", "The reply is ");
        browser.click("#exercise-again");
        browser.wait("return document.getElementById('exercise-said').textContent === ''");
    }
    browser.click("#exercise-solution");
    let solution = format!("The solution: {}", puzzle.line.join(" "));
    browser.wait_for_text("exercise-said", &solution);
    assert_eq!(kept()["count"], json!(2));
    browser.click("#exercise-next");
    browser.wait("return document.getElementById('exercise-said').textContent === ''");
    assert_ne!(browser.text("exercise-heading"), heading);
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn an_address_opens_puzzles_and_the_way_back_leads_to_a_game() {
    let address = serve(["human", "human"], ServerLimits::default());
    let browser = Browser::start();
    browser.open_link(&format!("http://{address}/#puzzles=tammi"));
    browser.wait_for_text("exercise-heading", "Tammi: Puzzle");
    browser.click("#exercise-leave");
    browser.wait_for_game("jarmo");
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn an_address_with_a_lesson_or_puzzles_that_there_are_not_says_so() {
    let address = serve(["human", "human"], ServerLimits::default());
    let browser = Browser::start();
    browser.open(address);
    for hash in ["puzzles=chess", "puzzles=guard", "learn=foo", "learn"] {
        browser.open_link(&format!("http://{address}/#{hash}"));
        browser.wait_for_text("message", &format!("#{hash}"));
        browser.run("location.hash = '#game=tammi'");
        browser.wait_for_game("tammi");
        browser.run(&format!("location.hash = '#{hash}'"));
        browser.wait_for_text("message", &format!("#{hash}"));
        browser.wait("return location.hash.startsWith('#game=tammi')");
        assert!(!browser.shows("#exercise"), "{hash}");
    }
    browser.run("location.hash = '#puzzles'");
    browser.wait_for_text("exercise-heading", "Jarmo: Puzzle");
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn the_welcome_stands_before_no_invitation() {
    let address = serve(["human", "easy"], ServerLimits::default());
    let invite = || {
        let (key, _) = open(address, json!({"game": "tammi", "duel": "white"}));
        format!("http://{address}/#join={}", key.split('.').next().unwrap())
    };
    let welcomed = "return document.getElementById('welcome-box').open";
    let browser = Browser::start();
    browser.open_link(&invite());
    browser.wait_for_text("duel", "You play Black");
    assert_eq!(browser.run(welcomed), json!(false));
    browser.reload();
    browser.wait_for_text("duel", "You play Black");
    assert_eq!(browser.run(welcomed), json!(false), "after a reload");
    // The page is open already, and asks whom to play.
    let browser = Browser::start();
    browser.visit(address);
    browser.wait(welcomed);
    let link = invite();
    browser.run(&format!("location.href = '{link}'"));
    browser.wait_for_text("duel", "You play Black");
    assert_eq!(browser.run(welcomed), json!(false), "in an open page");
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn puzzles_are_shown_from_the_side_of_the_player() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    browser.click("#puzzles");
    for _ in 0..8 {
        browser.wait("return document.getElementById('exercise-text').textContent !== ''");
        let task = browser.text("exercise-text");
        let player = if task.starts_with("Black") { "Black" } else { "White" };
        browser.wait_for_text("strip-bottom", player);
        let asked = "performance.getEntriesByType('resource').length";
        let before = browser.run(&format!("return {asked}"));
        browser.click("#exercise-next");
        browser.wait(&format!("return {asked} > {before}"));
    }
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn puzzles_of_connect_four_are_solved_in_its_column() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    browser.choose("game", "connect_four");
    browser.wait_for_game("connect_four");
    assert_eq!(browser.text("puzzles"), "Puzzles");
    browser.click("#puzzles");
    let puzzle = puzzles::Progress::default().choose(puzzles::of("connect_four"));
    browser.wait_for_text("exercise-heading", &format!("Connect four: Puzzle, rating {}", puzzle.rating));
    let mut session = puzzles::session(puzzle, 0);
    solve(&browser, &mut session, &puzzle.line);
    let kept = browser.run("return JSON.parse(localStorage.getItem('puzzles-connect_four')).count");
    assert_eq!(kept, json!(1));
    assert_eq!(browser.run("return localStorage.getItem('puzzles')"), json!(null));
    assert_eq!(
        browser.run("return location.hash"),
        json!(format!("#puzzles=connect_four&from={}", puzzle.position.replace(' ', "_")))
    );
}
