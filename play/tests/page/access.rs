//! The page for everybody: contrast, screen readers, the keyboard, small screens and large letters.

use std::collections::BTreeMap;
use std::env;
use std::fs;

use crate::chromium::Browser;
use crate::http::serve;
use crate::study::load_lost_game;
use play::server::ServerLimits;
use serde_json::{Value, json};

/// The rules of axe-core that the page breaks, with the places.
fn problems(browser: &Browser, axe: &str) -> Value {
    if browser.run("return 'axe' in window") == json!(false) {
        browser.run(axe);
    }
    browser.call(
        "POST",
        "/execute/async",
        json!({"args": [], "script": "const done = arguments[0];
            const short = ({ id, nodes }) => [id, nodes.map((node) => node.target.join(' '))];
            axe.run().then(({ violations }) => done(violations.map(short)), (error) => done(String(error)))"}),
    )
}

/// Checks the page with axe-core, in light and dark.
pub(crate) fn check(browser: &Browser, what: &str) {
    let path = env::var_os("JARMO_AXE").expect("the tests were built with it");
    let axe = fs::read_to_string(path).unwrap();
    for theme in ["light", "dark"] {
        browser.system_theme(theme);
        browser.wait(&format!("return document.documentElement.dataset.theme === '{theme}'"));
        assert_eq!(problems(browser, &axe), json!([]), "{what}, {theme}");
    }
}

#[test]
#[cfg_attr(not(all(browser, axe)), ignore = "needs chromedriver, and axe-core in JARMO_AXE")]
fn axe_finds_nothing_in_light_and_dark() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    let clean = |what: &str| check(&browser, what);
    clean("start");
    browser.cell(0);
    browser.cell(7);
    browser.wait_for_moves(1);
    browser.click("#hint");
    browser.wait("return document.querySelectorAll('#ideas tr').length >= 3");
    clean("hint");
    browser.load(r#"{"game":"connect_four","moves":["D","A","D","A","C","A","G"]}"#);
    browser.click("#analyse");
    browser.wait("return !document.getElementById('retry').hidden");
    clean("a blunder in analysis");
    browser.click("#retry");
    browser.wait_for_text("status", "Find a better move for Yellow");
    clean("retry");
    browser.click("#retry-leave");
    browser.wait("return document.getElementById('retry').hidden === false");
    browser.click("#first");
    browser.wait("return document.getElementById('first').disabled");
    browser.cell(0);
    browser.wait_for_moves(8);
    clean("a variation that can be marked");
    browser.click("#moves-tab");
    browser.wait("return document.getElementById('last').disabled");
    browser.click("#first");
    browser.wait("return document.getElementById('first').disabled");
    browser.cell(1);
    browser.wait("return document.getElementById('ask-box').open");
    clean("a question");
    browser.run("document.getElementById('ask-box').close()");
    for game in ["tammi", "guard"] {
        browser.choose("game", game);
        browser.wait_for_game(game);
        clean(game);
    }
    for (button, dialog) in [
        ("#games", "games"),
        ("#help", "help"),
        ("#rules", "rules"),
        ("#record-open", "record"),
        ("#editor-open", "editor"),
        ("#invite", "invite"),
        ("#seat-black", "seat"),
        ("#deck", "deck"),
    ] {
        browser.click(button);
        browser.wait(&format!("return document.getElementById('{dialog}-box').open"));
        clean(dialog);
        browser.run(&format!("document.getElementById('{dialog}-box').close()"));
    }
    browser.resize(390, 844);
    clean("small");
    browser.click("#invite");
    browser.choose("invite-clock", "[60,0]");
    browser.click("#invite-make");
    browser.wait("return document.getElementById('duel-link') !== null");
    clean("a game of two");
    browser.run("['low', 'runs'].forEach((name, at) => document.querySelectorAll('.clock')[at].classList.add(name))");
    for theme in ["dark", "light"] {
        browser.system_theme(theme);
        clean("clocks that run");
    }
}

#[test]
#[cfg_attr(not(all(browser, axe)), ignore = "needs chromedriver, and axe-core in JARMO_AXE")]
fn axe_finds_nothing_in_a_report_and_its_exercises() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    load_lost_game(&browser);
    check(&browser, "report");
    browser.click("#report .main");
    browser.wait_for_text("exercise-text", "Find a better move for Yellow than G.");
    browser.cell(6);
    browser.wait_for_text("exercise-said", "The reply is A.");
    check(&browser, "a wrong try");
    browser.click("#exercise-leave");
    browser.load(r#"{"game":"connect_four","moves":["D"]}"#);
    browser.click("#analyse");
    browser.run("document.getElementById('explorer').open = true");
    browser.wait("return document.querySelector('#openings tr') !== null");
    check(&browser, "the opening explorer");
    browser.click("#deck");
    browser.wait_for_text("deck-count", "In all: 1.");
    check(&browser, "own mistakes");
}

#[test]
#[cfg_attr(not(all(browser, axe)), ignore = "needs chromedriver, and axe-core in JARMO_AXE")]
fn axe_finds_nothing_at_the_first_visit_in_the_lesson_and_in_puzzles() {
    let browser = Browser::start();
    browser.visit(serve(["human", "random"], ServerLimits::default()));
    let clean = |what: &str| check(&browser, what);
    clean("first visit");
    browser.click("#welcome-learn");
    browser.wait_for_text("exercise-heading", "Step 1 of 6");
    clean("lesson");
    browser.cell(1);
    browser.cell(8);
    browser.wait_for_text("exercise-said", "the task is a different move");
    clean("lesson, not the move");
    browser.click("#exercise-leave");
    browser.click("#puzzles");
    browser.wait_for_text("exercise-heading", "Puzzle");
    clean("puzzle");
    browser.click("#exercise-solution");
    browser.wait_for_text("exercise-said", "The solution");
    clean("puzzle, solution");
    browser.resize(390, 844);
    clean("puzzle, small");
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn the_mark_of_a_bad_move_can_be_read_on_the_selected_move() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    // White misses a win on D.
    browser.load(r#"{"game":"connect_four","moves":["D","C","D","C","D","B","A"]}"#);
    browser.click("#analyse");
    browser.wait("return document.querySelector('#moves [aria-current] .bad') !== null");
    let colours = "const colour = (selector) => getComputedStyle(document.querySelector(selector)).color;
        return [colour('#moves [aria-current] .bad'), colour('#moves [aria-current]')]";
    let colours = browser.run(colours);
    assert_eq!(colours[0], colours[1], "axe-core passes over such short texts");
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn switching_the_evaluation_off_moves_nothing() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    browser.resize(390, 844);
    let place = || {
        browser.run(
            "return ['board', 'evaluate'].map((id) => {
                 const box = document.getElementById(id).getBoundingClientRect();
                 return [box.left, box.top + scrollY, box.width, box.height]; })",
        )
    };
    let before = place();
    browser.click("#evaluate");
    browser.wait("return document.getElementById('evaluate').ariaPressed === 'false'");
    assert_eq!(place(), before);
    assert!(!browser.shows("#graph"));
}

/// The colours of a theme by name.
fn colours(theme: &str) -> BTreeMap<String, String> {
    let (_, rest) = theme.split_once('{').unwrap();
    let (body, _) = rest.split_once('}').unwrap();
    let pairs = body.split(';').filter_map(|part| part.split_once(": "));
    pairs.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect()
}

/// The relative luminance of a colour `#rrggbb`, as WCAG defines it.
fn luminance(colour: &str) -> f64 {
    let part = |place: usize| {
        let value = u8::from_str_radix(&colour[place..place + 2], 16).unwrap();
        let value = f64::from(value) / 255.0;
        if value <= 0.03928 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
}

#[test]
fn the_colours_of_every_theme_have_contrast() {
    let sheet = include_str!("../../src/server/page/play.css");
    let with = |mut all: BTreeMap<String, String>, rules: &[&str]| {
        for rule in rules {
            let (_, rest) = sheet.split_once(rule).unwrap();
            all.extend(colours(rest));
        }
        all
    };
    let usual = with(colours(sheet), &[":root, .picture"]);
    // Text needs 4.5, other marks 3.
    let page = [
        ("--dim", "--page", 4.5),
        ("--dim", "--card", 4.5),
        ("--ink", "--card", 4.5),
        ("--accent", "--page", 4.5),
        ("--accent-ink", "--accent", 4.5),
        ("--warn", "--page", 4.5),
        ("--focus", "--page", 3.0),
    ];
    let board = [
        ("--label", "--wood", 4.5),
        ("--frame-ink", "--frame", 4.5),
        ("--lit-ink", "--lit", 4.5),
        ("--white-ink", "--white-fill", 4.5),
        ("--black-ink", "--black-fill", 4.5),
        ("--lit", "--mark", 3.0),
        ("--lit", "--wood", 3.0),
        ("--lit", "--hole", 3.0),
        ("--lit", "--white-fill", 3.0),
        ("--mark", "--black-fill", 3.0),
        ("--mark", "--mark-edge", 3.0),
        ("--last", "--wood", 3.0),
        ("--wrong", "--wood", 3.0),
    ];
    let themes = [
        ("light", usual.clone(), page.as_slice()),
        ("dark", with(usual.clone(), &[":root[data-theme=\"dark\"]"]), page.as_slice()),
        ("wood", usual.clone(), board.as_slice()),
        (
            "stone",
            with(usual.clone(), &[":root[data-board=\"stone\"]", ":root[data-board=\"stone\"],"]),
            board.as_slice(),
        ),
    ];
    for (theme, colours, pairs) in themes {
        for (first, second, least) in pairs {
            let (a, b) = (luminance(&colours[*first]), luminance(&colours[*second]));
            let ratio = (a.max(b) + 0.05) / (a.min(b) + 0.05);
            assert!(ratio >= *least, "{theme}: {first} on {second}: {ratio:.2}");
        }
    }
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn moves_captures_and_the_picked_piece_are_announced() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    let live = "return document.getElementById('said').getAttribute('aria-live')";
    assert_eq!(browser.run(live), json!("polite"));
    let record = r#"{"game":"jarmo","moves":["A1-C2","A5-B3","B1-D2"]}"#;
    browser.load(record);
    browser.wait_for_moves(3);
    browser.cell(11);
    let picked = "archer on B3 picked. Targets: ";
    browser.wait_for_text("said", picked);
    // News of the session, as of a judgement that arrives, do not take the sentence away.
    browser.run("document.getElementById('evaluate').click()");
    browser.wait("return document.getElementById('graph-box').hidden");
    assert!(browser.text("said").starts_with(picked));
    browser.cell(13);
    browser.wait("return document.querySelector('.cell.picked') === null");
    browser.load(r#"{"game":"jarmo","position":"2W2/5/2b2/5/w2ww b - - 0","moves":[]}"#);
    browser.wait("return document.querySelectorAll('.cell.source').length > 0");
    browser.cell(12);
    browser.cell(3);
    browser.wait_for_text("said", "Black: marked archer from C3 to D1, captures on D1.");
    browser.click("#undo");
    browser.wait_for_text("said", "Starting position");
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn hints_analysis_and_undo_are_announced() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    browser.load(r#"{"game":"connect_four","moves":["D","A","D","A","C","A","G"]}"#);
    browser.click("#undo");
    browser.wait_for_text("said", "Position after move 3… A");
    browser.click("#hint");
    browser.wait_for_text("said", "Best: A, ");
    browser.click("#last");
    browser.wait_for_text("said", "Yellow: stone on G1.");
    browser.click("#analyse");
    browser.wait_for_text("said", "Analysed. Yellow: ?! ");
    browser.wait_for_text("said", "Best: A, 100%");
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn the_lines_of_the_analysis_are_on_the_screen() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    browser.load(r#"{"game":"jarmo","moves":["A1-C2","A5-B3"]}"#);
    browser.click("#analyse");
    browser.wait("return document.querySelectorAll('#ideas tr').length >= 3");
    for (width, height) in [(1366, 768), (1280, 800), (1280, 720), (390, 844)] {
        browser.resize(width, height);
        browser.wait(&format!("return innerWidth === {width} && innerHeight === {height}"));
        let found = browser.run(
            "const box = (id) => document.querySelector(id).getBoundingClientRect();
             return [box('#ideas').bottom, box('#play').bottom, box('#ideas').top - box('.step').bottom, box('#moves').top, box('.step').top - box('#strip-bottom').bottom]",
        );
        let number = |place: usize| found[place].as_f64().unwrap();
        let high = f64::from(height);
        assert!(number(0) < high, "{width}x{height}: {found}");
        if width > 760 {
            assert!(number(1) <= high && number(3) < high, "nothing is below: {found}");
        } else {
            let near = |place| (0.0..60.0).contains(&number(place));
            assert!(near(4) && near(2), "the buttons, then the lines, directly under the board: {found}");
        }
    }
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn the_head_of_the_page_fits_a_phone_in_every_language() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    browser.resize(360, 740);
    browser.choose("game", "connect_four");
    browser.wait_for_game("connect_four");
    for language in ["en", "de", "it", "fi", "eo"] {
        browser.choose("language", language);
        browser.wait(&format!("return document.documentElement.lang === '{language}'"));
        let fits = "const box = (id) => document.getElementById(id).getBoundingClientRect();
            const select = document.getElementById('game');
            const measure = document.createElement('canvas').getContext('2d');
            measure.font = getComputedStyle(select).font;
            const name = measure.measureText(select.selectedOptions[0].textContent).width;
            return [box('menu-open').right <= innerWidth && box('menu-open').top < 20 && box('help').top < 20, name + 25 <= box('game').width]";
        assert_eq!(browser.run(fits), json!([true, true]), "{language}");
    }
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn shortcuts_work_on_the_board_and_are_listed() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    browser.cell(0);
    browser.cell(7);
    browser.wait_for_moves(1);
    browser.press("[data-cell=\"7\"]", "u");
    browser.wait("return document.getElementById('undo').disabled");
    browser.press("[data-cell=\"7\"]", ">");
    browser.wait("return document.getElementById('redo').disabled");
    browser.press("[data-cell=\"7\"]", "?");
    browser.wait("return document.getElementById('help-box').open");
    let help = browser.text("help-text");
    for key in ["u undo", "n new game", "z back", "g my games", "? this list"] {
        assert!(help.contains(key), "{key}: {help}");
    }
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn phones_and_large_letters_have_a_usable_board() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    // A phone on its side, a screen of 1280 at 200 %, and a small phone.
    for (width, height, least) in [(844, 390, 300.0), (640, 500, 320.0), (320, 568, 240.0)] {
        browser.resize(width, height);
        browser.wait(&format!("return innerWidth === {width}"));
        let script = "const box = document.getElementById('board').getBoundingClientRect();
            return [Math.min(box.width, box.height), box.bottom - innerHeight,
                document.documentElement.scrollWidth - innerWidth]";
        let found = browser.run(script);
        let number = |place: usize| found[place].as_f64().unwrap();
        assert!(number(0) >= least, "{width}x{height}: {found}");
        assert!(number(1) <= 0.0, "{width}x{height}: below the screen: {found}");
        assert!(number(2) <= 0.0, "{width}x{height}: wider than the screen: {found}");
        let heading = "return document.querySelector('h1').checkVisibility()";
        assert_eq!(browser.run(heading), json!(true), "{width}x{height}");
    }
}
