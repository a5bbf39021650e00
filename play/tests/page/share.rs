//! Links, positions that are set up, files and pictures.

use std::fs;

use crate::chromium::Browser;
use crate::http::{request, serve, serve_options};
use crate::web::{JSON, command, open};
use play::server::ServerLimits;
use serde_json::{Value, json};

/// The link to the game, from the dialog.
fn link(browser: &Browser, field: &str) -> String {
    browser.click("#record-open");
    browser.wait("return document.getElementById('record-box').open");
    let link = browser.value(field);
    browser.run("document.getElementById('record-box').close()");
    link
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn a_link_opens_the_game_in_another_browser() {
    let (first, second) = (Browser::start(), Browser::start());
    let address = serve(["human", "greedy"], ServerLimits::default());
    first.open(address);
    first.load(r#"{"game":"jarmo","position":"2W2/5/2b2/5/w3w w - - 0","moves":["@D1","C3-B3"]}"#);
    first.wait_for_moves(2);
    first.click("#back");
    first.wait_for_text("status", "Black to move");
    let game = link(&first, "link-game-text");
    let hash = game.split_once('#').unwrap().1;
    assert_eq!(hash, "game=jarmo&from=2W2/5/2b2/5/w3w_w_-_-_0&moves=@D1,C3-B3&at=1");
    second.open_link(&game);
    second.wait_for_moves(2);
    assert_eq!(second.label(3), "D1, White, archer, last move", "one move is played");
    assert!(second.text("strip-top").contains("Black · human"));
    // A reload goes on with the game as it is, and a new game is the usual one.
    second.click("#forward");
    second.wait_for_text("status", "White to move");
    second.reload();
    second.wait_for_moves(2);
    assert_eq!(second.label(11), "B3, Black, archer, last move");
    second.click("#new");
    second.wait("return document.querySelectorAll('#board .piece:not(.gone)').length === 10");
    // The address names no other game than the one shown.
    second.wait("return location.hash === '#game=jarmo'");
    second.wait_for_text("strip-top", "Black · greedy");
    // The position alone.
    let position = link(&first, "link-place-text");
    let start = "#game=jarmo&from=2w2/5/2b2/5/w2ww_b_";
    assert!(position.contains(start), "{position}");
    second.open_link(&position);
    second.wait_for_moves(0);
    second.wait_for_text("status", "Black to move");
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn an_address_without_moves_is_a_new_game_and_that_of_a_kept_game_has_its_players() {
    let address = serve(["human", "newcomer"], ServerLimits::default());
    let browser = Browser::at(address);
    let both = "You are playing both sides";
    browser.open_link(&format!("http://{address}/#game=tammi"));
    browser.wait_for_game("tammi");
    browser.wait_for_text("strip-top", "Black · newcomer");
    browser.open_link(&format!("http://{address}/#game=jarmo"));
    browser.wait_for_game("jarmo");
    browser.cell(0);
    browser.cell(7);
    browser.wait_for_moves(2);
    let hash = browser.run("return location.hash");
    browser.click("#new");
    browser.wait_for_moves(0);
    browser.seat("black", "human");
    browser.wait_for_text("strip-top", "Black · human");
    browser.open_link(&format!("http://{address}/{}", hash.as_str().unwrap()));
    browser.wait_for_moves(2);
    browser.wait_for_text("strip-top", "Black · newcomer");
    assert!(!browser.text("notes").contains(both));
    browser.open_link(&format!("http://{address}/#game=jarmo&moves=B1-D2"));
    browser.wait_for_moves(1);
    browser.wait_for_text("strip-top", "Black · human");
    browser.wait_for_text("notes", both);
    // A link in the place of a record is followed, too.
    browser.load("Look: http://example.org/#game=jarmo&moves=A1-C2,A5-B3&at=1");
    browser.wait_for_moves(2);
    browser.wait("return document.querySelector('#moves [aria-current]')?.textContent === 'A1-C2'");
}

/// A browser whose history has a game of jarmo with one move, one of connect four with two, and a new one of tammi.
fn after_three_games() -> Browser {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    browser.cell(0);
    browser.cell(7);
    browser.wait_for_moves(1);
    browser.run("location.hash = '#game=connect_four&moves=D,C'");
    browser.wait_for_game("connect_four");
    browser.run("location.hash = '#game=tammi'");
    browser.wait_for_game("tammi");
    browser
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn back_and_forward_go_through_the_games_that_were_opened() {
    let browser = after_three_games();
    browser.run("history.back()");
    browser.wait_for_game("connect_four");
    browser.wait_for_moves(2);
    browser.run("history.back()");
    browser.wait_for_game("jarmo");
    browser.wait_for_moves(1);
    browser.run("history.forward()");
    browser.wait_for_game("connect_four");
    // The link is followed again if its game was left.
    browser.click("#new");
    browser.wait_for_moves(0);
    browser.run("history.back()");
    browser.wait_for_moves(2);
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn two_steps_back_at_once_leave_the_history_as_it_is() {
    let browser = after_three_games();
    // The second step comes before the answer to the first one.
    browser.run(
        "const old = window.fetch; const slow = () => new Promise((done) => setTimeout(done, 300));
         window.fetch = (...question) => slow().then(() => old(...question));
         addEventListener('popstate', () => history.back(), { once: true });
         history.back()",
    );
    browser.wait_for_game("jarmo");
    browser.wait("return location.hash === '#game=jarmo&moves=A1-C2'");
    browser.run("history.forward()");
    browser.wait_for_game("connect_four");
    browser.wait_for_moves(2);
    browser.run("history.back()");
    browser.wait_for_game("jarmo");
    browser.wait_for_moves(1);
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn the_address_holds_the_game_and_the_way_back_leads_to_the_one_before() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    let hash = |wanted: &str| browser.wait(&format!("return location.hash === '{wanted}'"));
    hash("#game=jarmo");
    browser.cell(0);
    browser.cell(7);
    hash("#game=jarmo&moves=A1-C2");
    browser.click("#undo");
    hash("#game=jarmo&moves=A1-C2&at=0");
    browser.choose("game", "tammi");
    browser.wait_for_game("tammi");
    hash("#game=tammi");
    for (button, exercise) in [("#puzzles", "#puzzles=tammi"), ("#learn", "#learn=tammi")] {
        browser.click(button);
        browser.wait(&format!("return location.hash.startsWith('{exercise}')"));
        browser.wait_for_text("exercise-heading", ":");
        browser.run("history.back()");
        hash("#game=tammi");
        browser.wait("return document.documentElement.dataset.mode === undefined");
    }
    browser.run("history.back()");
    hash("#game=jarmo&moves=A1-C2&at=0");
    browser.wait_for_game("jarmo");
    browser.run("history.forward()");
    browser.wait_for_game("tammi");
    // An address that shows no game does not stay.
    browser.run("location.hash = '#game=tammi&moves=c3-c4'");
    browser.wait_for_text("message", "Move 1");
    hash("#game=tammi");
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn two_tabs_with_one_game_say_so() {
    let address = serve(["human", "human"], ServerLimits::default());
    let browser = Browser::at(address);
    browser.wait_for_text("status", "White to move");
    let also = "also open in another tab";
    assert!(!browser.text("notes").contains(also));
    let first = browser.call("GET", "/window", json!({}));
    let second = browser.call("POST", "/window/new", json!({"type": "tab"}));
    browser.call("POST", "/window", json!({"handle": second["handle"]}));
    browser.visit(address);
    browser.wait_for_text("notes", also);
    browser.call("POST", "/window", json!({"handle": first}));
    browser.wait_for_text("notes", also);
    browser.choose("game", "guard");
    browser.wait_for_game("guard");
    browser.wait(&format!("return !document.getElementById('notes').textContent.includes('{also}')"));
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn a_bad_link_says_what_is_wrong_in_the_language_chosen() {
    let browser = Browser::start();
    let address = serve(["human", "human"], ServerLimits::default());
    browser.open(address);
    browser.choose("language", "de");
    browser.wait_for_text("status", "Weiß am Zug");
    for (hash, reason) in [
        ("game=chess", "unbekanntes Spiel"),
        ("game=jarmo&moves=A1-C2,A1-A2", "Zug 2, A1-A2"),
        ("game=jarmo&from=5/5", "5/5 ist nicht lesbar"),
        ("game=jarmo&from=wwwww/w4/5/5/bbb2_w_-_-_0", "Weiß hat 6 Schützen"),
        ("game=jarmo&at=x", "`at=x`"),
        ("nonsense", "`#nonsense`"),
        ("join=0", "`#join=0`"),
    ] {
        browser.open_link(&format!("http://{address}/#{hash}"));
        browser.wait_for_text("message", reason);
        browser.wait_for_moves(0);
    }
    let gone = "join=00000000000000000000000000000000";
    browser.open_link(&format!("http://{address}/#{gone}"));
    browser.wait_for_text("message", "Einladung gilt nicht mehr");
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn a_position_is_set_up_by_mouse_and_keyboard_and_played_or_analysed() {
    let browser = Browser::at(serve(["human", "greedy"], ServerLimits::default()));
    browser.click("#editor-open");
    browser.wait_for_text("editor-message", "legal");
    browser.click("#editor-empty");
    browser.wait("return document.getElementById('editor-text').value === '5/5/5/5/5 w - - 0'");
    // The second tool is White's marked archer, the third Black's archer.
    browser.click("input[name=editor-tool][value='1']");
    browser.click("#editor-board [data-cell='12']");
    browser.click("input[name=editor-tool][value='2']");
    browser.run("document.querySelector('#editor-board [data-cell=\"16\"]').focus()");
    for key in ["ArrowRight", "Enter"] {
        browser.run(&format!(
            "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {{ key: '{key}', bubbles: true }}))"
        ));
    }
    browser.wait("return document.getElementById('editor-text').value === '5/2b2/2W2/5/5 w - - 0'");
    browser.click("input[name=editor-mover][value='black']");
    browser.wait("return document.getElementById('editor-text').value.includes(' b ')");
    // Six archers are too many.
    browser.click("input[name=editor-tool][value='0']");
    for cell in 0..5 {
        browser.click(&format!("#editor-board [data-cell='{cell}']"));
    }
    browser.wait_for_text("editor-message", "White has 6 archers");
    let disabled = "return document.getElementById('editor-play').disabled";
    assert_eq!(browser.run(disabled), json!(true));
    browser.click("input[name=editor-tool][value='4']");
    browser.click("#editor-board [data-cell='4']");
    browser.wait_for_text("editor-message", "This position is legal");
    browser.click("#editor-play");
    browser.wait("return !document.getElementById('editor-box').open");
    browser.wait_for_moves(1); // the agent is Black and moves first
    browser.wait_for_text("strip-top", "Black · greedy");
    // Text is taken as well.
    browser.click("#editor-open");
    browser.wait_for_text("editor-message", "legal");
    browser.run(
        "const field = document.getElementById('editor-text'); field.value = '5/b4/4b/5/2w1w w - - 7';
         field.dispatchEvent(new Event('change'))",
    );
    browser.wait("return document.getElementById('editor-field-2').value === '7'");
    browser.click("#editor-analyse");
    browser.wait("return document.getElementById('analyse').ariaSelected === 'true'");
    assert_eq!(browser.run("return document.querySelectorAll('#board .piece:not(.gone)').length"), json!(4));
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn the_editor_plays_what_its_board_shows_and_says_if_no_answer_comes() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    browser.run(
        "const old = window.fetch; const slow = () => new Promise((done) => setTimeout(done, 300));
         window.fetch = (path, options) => {
             if (!path.startsWith('/api/setup')) return old(path, options);
             return slow().then(() => (window.broken ? Promise.reject(new TypeError()) : old(path, options)));
         }",
    );
    browser.click("#editor-open");
    browser.wait_for_text("editor-message", "legal");
    browser.click("input[name=editor-tool][value='4']");
    browser.click("#editor-board [data-cell='0']");
    browser.click("#editor-play");
    browser.wait("return !document.getElementById('editor-box').open");
    browser.wait("return document.querySelectorAll('#board .piece:not(.gone)').length === 9");
    browser.click("#editor-open");
    browser.wait("return document.getElementById('editor-box').open");
    browser.run("window.broken = true");
    browser.click("#editor-board [data-cell='1']");
    browser.wait_for_text("editor-message", "connection to the program is lost");
    let disabled = "return document.getElementById('editor-play').disabled";
    assert_eq!(browser.run(disabled), json!(true));
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn every_game_has_its_editor() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    let open = |game: &str| {
        browser.choose("game", game);
        browser.wait_for_game(game);
        browser.click("#editor-open");
        browser.wait_for_text("editor-message", "legal");
    };
    let close = || drop(browser.run("document.getElementById('editor-box').close()"));
    let text = |wanted: &str| {
        browser.wait(&format!("return document.getElementById('editor-text').value === '{wanted}'"));
    };
    // Stones fall, and the mover follows from their number.
    open("connect_four");
    browser.click("#editor-board [data-cell='38']");
    text("7/7/7/7/7/3w3 b 1");
    browser.click("input[name=editor-tool][value='2']");
    browser.click("#editor-board [data-cell='38']");
    text("7/7/7/7/7/7 w 0");
    close();
    // A man on the far row would be a king.
    open("tammi");
    browser.click("#editor-empty");
    browser.click("#editor-board [data-cell='31']");
    browser.wait_for_text("editor-message", "would be a king");
    close();
    open("guard");
    browser.click("#editor-empty");
    browser.click("#editor-board [data-cell='7']");
    browser.run(
        "const field = document.getElementById('editor-field-1-black'); field.value = '2';
         field.dispatchEvent(new Event('change'))",
    );
    text("5/5/5/2w2/5 w start 0,2 0,0 0 0");
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn records_are_saved_and_loaded_as_files_and_the_board_as_a_picture() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("games.jsonl");
    let games = "{\"game\":\"tammi\",\"moves\":[]}\n{\"game\":\"connect_four\",\"moves\":[\"D\",\"C\"]}\n";
    fs::write(&file, games).unwrap();
    browser.click("#record-open");
    browser.wait("return document.getElementById('record-box').open");
    browser.choose_file("#record-file", &file);
    browser.wait_for_game("connect_four");
    browser.wait_for_moves(2);
    browser.click("#record-open");
    browser.wait("return document.getElementById('record-box').open");
    browser.run(
        "window.saved = []; URL.createObjectURL = (blob) => { blob.text().then((text) => saved.push(text)); return '#'; }",
    );
    browser.click("#record-save");
    browser.wait("return saved.length === 1");
    browser.click("#picture-save");
    browser.wait("return saved.length === 2");
    let saved = browser.run("return saved");
    assert!(saved[0].as_str().unwrap().contains(r#""moves":["D","C"]"#));
    assert!(saved[1].as_str().unwrap().starts_with("<svg"), "{saved}");
    fs::write(&file, "nothing").unwrap();
    browser.choose_file("#record-file", &file);
    browser.wait_for_text("record-message", "not a game record");
}

#[test]
fn other_positions_and_pictures_leave_the_game_as_it_is() {
    let address = serve(["human", "human"], ServerLimits::default());
    let (id, view) = open(address, json!({"game": "connect_four"}));
    let get = |path: &str| request(address, "GET", path, &[("X-Session", &id)], "");
    let seen = get("/api/scene?place=0&moves=D,C,D").json();
    assert_eq!(seen["place"], 3);
    assert_eq!(seen["position"], "7/7/7/7/3w3/2bw3 b 3");
    let picture = get("/api/picture?lang=fi&moves=D");
    assert!(picture.head.contains("content-type: image/svg+xml"));
    assert!(picture.body.contains("Neljän suora"), "{}", picture.body);
    let wrong = get("/api/scene?moves=D,H");
    assert_eq!(wrong.status, 422);
    assert_eq!(get("/api/scene?place=x").status, 400);
    let long = format!("/api/scene?moves={}", vec!["D"; 65].join(","));
    assert_eq!(get(&long).status, 422);
    let after = get("/api/session").json();
    assert_eq!(after["moves"], json!([]));
    assert_eq!(after["number"], view["number"]);
}

#[test]
fn a_session_begins_with_a_record_its_players_and_a_place() {
    let address = serve(["human", "greedy"], ServerLimits::default());
    let record = r#"{"game":"tammi","moves":["c3-d4","f6-e5"]}"#;
    let (_, view) = open(address, json!({"record": record, "place": 1}));
    assert_eq!((&view["game"], &view["cursor"]), (&json!("tammi"), &json!(1)));
    assert_eq!(view["seats"], json!(["human", "human"]));
    let opening = json!({"record": record, "black": "newcomer", "analyse": true});
    let (id, view) = open(address, opening);
    assert_eq!(view["seats"], json!(["human", "newcomer"]));
    assert_eq!(view["analysing"], true);
    let view = command(address, &id, json!({"do": "new_game"})).json();
    assert_eq!(view["moves"], json!([]));
    let bad = json!({"record": r#"{"game":"jarmo","position":"5/5","moves":[]}"#});
    let answer = request(address, "POST", "/api/sessions?lang=it", &[JSON], &bad.to_string());
    assert_eq!(answer.status, 422);
    assert!(answer.body.contains("Posizione impossibile"), "{}", answer.body);
}

#[test]
fn a_server_that_was_given_a_position_begins_there() {
    let record = r#"{"game":"jarmo","position":"5/b4/4b/5/2w1w w - - 0","moves":[]}"#;
    let address = serve_options(["human", "newcomer"], |options| {
        options.defaults.record = Some(record.to_owned());
    });
    let (id, view) = open(address, json!({}));
    assert_eq!(view["position"], "5/b4/4b/5/2w1w w - - 0");
    assert_eq!(view["seats"], json!(["human", "newcomer"]));
    let view = command(address, &id, json!({"do": "new_game"})).json();
    assert_eq!(view["position"], "bbbbb/5/5/5/wwwww w - - 0");
    let setup =
        request(address, "POST", "/api/setup", &[JSON, ("X-Session", &id)], r#"{"text": "5/5/5/5/wwwww w - - 0"}"#);
    assert_eq!(setup.json()["problem"], Value::Null, "{}", setup.body);
}
