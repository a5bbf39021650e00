//! No game is lost: finished games and those that were left are kept in the browser.

use crate::chromium::Browser;
use crate::http::serve;
use play::server::ServerLimits;
use serde_json::json;

/// The place of a button on the screen.
fn place(browser: &Browser, id: &str) -> serde_json::Value {
    // Boards of other games differ by a point in width.
    browser.run(&format!(
        "const box = document.getElementById('{id}').getBoundingClientRect();
         return [box.left, box.top].map((place) => Math.round(place / 5))"
    ))
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn every_way_to_leave_a_game_can_be_taken_back() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    browser.cell(0);
    browser.cell(7);
    browser.wait_for_moves(1);
    let before = place(&browser, "new");
    let ways: [(&str, &dyn Fn()); 5] = [
        ("button", &|| browser.click("#new")),
        ("key", &|| browser.press("body", "n")),
        ("key on the board", &|| {
            browser.press("[data-cell=\"0\"]", "n");
        }),
        ("match", &|| browser.click("#match")),
        ("menu", &|| browser.choose("game", "tammi")),
    ];
    for (name, leave) in ways {
        leave();
        browser.wait_for_moves(0);
        browser.wait("return !document.getElementById('return').hidden");
        browser.wait_for_text("said", "The last game is kept");
        assert_eq!(place(&browser, "new"), before, "{name}: no button moves");
        browser.click("#return");
        browser.wait_for_moves(1);
        browser.wait_for_game("jarmo");
        assert_eq!(browser.label(7), "C2, White, archer, last move", "{name}");
        assert!(!browser.shows("#return"), "{name}");
    }
    browser.load(r#"{"game":"connect_four","moves":["D","C"]}"#);
    browser.wait_for_game("connect_four");
    browser.press("body", "z");
    browser.wait_for_game("jarmo");
    browser.wait_for_moves(1);
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn a_match_and_its_players_come_back_with_the_game() {
    let browser = Browser::at(serve(["human", "greedy"], ServerLimits::default()));
    browser.click("#match");
    browser.wait_for_text("notes", "game 1 of 2");
    browser.cell(0);
    browser.cell(7);
    browser.wait_for_moves(2);
    browser.choose("game", "tammi");
    browser.wait_for_game("tammi");
    browser.seat("black", "human");
    browser.wait_for_text("strip-top", "Black · human");
    browser.click("#return");
    browser.wait_for_game("jarmo");
    browser.wait_for_moves(2);
    assert!(browser.text("notes").contains("game 1 of 2"));
    assert!(browser.text("strip-top").contains("Black · greedy"));
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn a_game_comes_back_after_the_server_has_lost_it() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    browser.cell(0);
    browser.cell(7);
    browser.wait_for_moves(1);
    // As if the session had been opened at a server that was started again since.
    browser.run(
        "const gone = 'f'.repeat(32); const now = localStorage.getItem('session');
         localStorage.setItem('games', localStorage.getItem('games').replaceAll(now, gone));
         localStorage.setItem('session', gone)",
    );
    browser.reload();
    browser.wait_for_moves(1);
    assert_eq!(browser.text("message"), "");
    assert!(!browser.shows("#return"), "there is nothing to go back to");
    // And while the page is open, in the middle of the game.
    browser.cell(20);
    browser.cell(11);
    browser.wait_for_moves(2);
    browser.seat("black", "newcomer");
    browser.wait_for_text("strip-top", "newcomer");
    browser.run(
        "window.gone = localStorage.getItem('session'); const old = window.fetch;
         window.fetch = (path, options) => (path.startsWith('/api/session?') && options.headers['X-Session'] === gone
             ? Promise.resolve(new Response('{\"error\":\"gone\"}', { status: 404 })) : old(path, options))",
    );
    browser.click("#evaluate");
    browser.wait("return localStorage.getItem('session') !== window.gone");
    browser.wait_for_moves(2);
    browser.wait_for_text("strip-top", "newcomer");
    assert_eq!(browser.text("message"), "");
    // A new game does not become the one before it.
    browser.click("#new");
    browser.wait_for_moves(0);
    browser.run("window.gone = localStorage.getItem('session')");
    browser.click("#evaluate");
    browser.wait("return localStorage.getItem('session') !== window.gone");
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(browser.moves(), 0);
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn a_kept_game_stays_if_its_opponent_is_not_available_here() {
    let address = serve(["human", "human"], ServerLimits::default());
    let browser = Browser::at(address);
    browser.cell(0);
    browser.cell(7);
    browser.wait_for_moves(1);
    browser.run(
        "const gone = 'f'.repeat(32); const games = JSON.parse(localStorage.getItem('games'));
         games[0].seats[1] = 'mine.safetensors'; games[0].key = `${gone}-1`;
         localStorage.setItem('games', JSON.stringify(games)); localStorage.setItem('session', gone)",
    );
    browser.visit(address);
    browser.wait_for_moves(1);
    browser.wait_for_text("message", "mine.safetensors is not available here");
    browser.wait_for_text("strip-top", "Black · human");
    let black = browser.run("return JSON.parse(localStorage.getItem('games')).map(({ seats }) => seats[1])");
    assert_eq!(black, json!(["human", "mine.safetensors"]));
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn what_the_page_cannot_read_is_set_aside() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    browser.cell(0);
    browser.cell(7);
    browser.wait_for_moves(1);
    for (name, content) in [
        ("games", "5"),
        ("games", "[null]"),
        ("games", "{"),
        ("games", r#"[{"key":"a","record":"null","seats":["human","human"],"place":0,"at":1}]"#),
        ("duels", "[7]"),
        ("duels", "null"),
        ("puzzles", r#"{"rating":1,"count":1,"latest":[null]}"#),
        ("session", "\u{fc}\u{1f98a}"),
        ("lines", "many"),
    ] {
        browser.run(&format!("localStorage.setItem('{name}', {})", json!(content)));
        browser.reload();
        browser.wait_for_text("status", "to move");
        browser.run("location.hash = '#join=00000000000000000000000000000000'");
        browser.wait_for_text("message", "no longer valid");
        browser.click("#puzzles");
        browser.wait_for_text("exercise-note", "Your rating: 1000");
        browser.click("#exercise-leave");
        browser.click("#games");
        browser.run("document.getElementById('games-box').close()");
        let kept = browser.run(&format!("return localStorage.getItem('{name}-unreadable')"));
        assert!(["session", "lines"].contains(&name) || kept == json!(content), "{name}: {kept}");
    }
    // Good games beside a bad one stay.
    browser.run("const games = JSON.parse(localStorage.getItem('games')); localStorage.setItem('games', JSON.stringify([null, ...games]))");
    browser.reload();
    let count = browser.run("return JSON.parse(localStorage.getItem('games')).length");
    assert_eq!(count, json!(1));
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn a_finished_game_stays_in_the_list_when_another_move_is_tried() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    browser.load(r#"{"game":"connect_four","moves":["D","A","D","A","D","A"]}"#);
    browser.wait_for_moves(6);
    browser.cell(3 + 7 * 3);
    browser.wait_for_text("status", "Yellow wins");
    browser.click("#undo");
    browser.wait("return document.documentElement.dataset.turn === 'human'");
    browser.cell(4);
    browser.wait_for_text("status", "Red to move");
    browser.click("#games");
    let list = browser.text("games-list");
    assert!(list.contains("Connect four · Yellow wins"), "{list}");
    assert!(list.contains("Connect four · unfinished"), "{list}");
    browser.click("#games-list li:nth-child(2) button");
    browser.wait_for_text("status", "Yellow wins");
    let count = browser.run("return JSON.parse(localStorage.getItem('games')).length");
    assert_eq!(count, json!(2), "a game that goes on is not listed twice");
}

/// Plays a move in a new game of tammi, and changes how the page looks.
fn use_the_page(browser: &Browser) {
    browser.choose("game", "tammi");
    browser.wait_for_game("tammi");
    browser.wait_for_moves(0);
    let theme = browser.run("return document.documentElement.dataset.theme");
    browser.click("#theme");
    assert_ne!(browser.run("return document.documentElement.dataset.theme"), theme);
    browser.click("[data-cell].source");
    browser.click("[data-cell].target");
    browser.wait("return document.querySelectorAll('#moves button').length > 0");
    browser.choose("language", "de");
    browser.wait("return document.documentElement.lang === 'de'");
    assert_eq!(browser.text("message"), "");
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn a_browser_without_room_or_with_blocked_storage_plays_all_the_same() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    browser.run(
        "for (let size = 1 << 22; size >= 1; size >>= 1) {
         try { for (let n = 0; ; n++) localStorage.setItem(`filled-${size}-${n}`, 'x'.repeat(size)); } catch { }
     }",
    );
    use_the_page(&browser);
    let blocked = "for (const name of ['localStorage', 'sessionStorage']) {
         Object.defineProperty(window, name, { get() { throw new DOMException('', 'SecurityError'); } });
     }
     window.BroadcastChannel = class { constructor() { throw new DOMException('', 'SecurityError'); } };";
    browser.chromium("Page.addScriptToEvaluateOnNewDocument", json!({"source": blocked}));
    browser.reload();
    browser.click("#welcome-play");
    use_the_page(&browser);
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn a_kept_game_is_one_step_in_the_history() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    browser.cell(0);
    browser.cell(7);
    browser.wait_for_moves(1);
    browser.choose("game", "tammi");
    browser.wait_for_game("tammi");
    let entries = || browser.run("return history.length").as_u64().unwrap();
    let before = entries();
    browser.click("#games");
    browser.click("#games-list button");
    browser.wait_for_game("jarmo");
    browser.wait_for_moves(1);
    assert_eq!(entries(), before + 1);
    browser.run("history.back()");
    browser.wait_for_game("tammi");
}
