//! Games of two people: seats, spectators, presence, and what takes both.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::Duration;

use crate::chromium::Browser;
use crate::http::{request, serve, serve_options};
use crate::web::{JSON, command, open};
use play::server::ServerLimits;
use serde_json::{Value, json};

/// Asks for the free seat of a game, with a secret that nobody has used before.
pub(crate) fn join(address: SocketAddr, key: &str) -> (String, Value) {
    static USED: AtomicU64 = AtomicU64::new(1);
    let secret = format!("{:032x}", USED.fetch_add(1, Ordering::Relaxed));
    join_with(address, key, &secret)
}

fn join_with(address: SocketAddr, key: &str, secret: &str) -> (String, Value) {
    let headers = [JSON, ("X-Session", key)];
    let answer = request(address, "POST", "/api/join", &headers, &json!({ "secret": secret }).to_string());
    assert_eq!(answer.status, 200, "{}", answer.body);
    let view = answer.json();
    (view["id"].as_str().unwrap().to_owned(), view)
}

pub(crate) fn look(address: SocketAddr, key: &str) -> Value {
    request(address, "GET", "/api/session", &[("X-Session", key)], "").json()
}

/// The answer to a command that is refused.
fn refused(address: SocketAddr, key: &str, message: Value) -> String {
    let answer = command(address, key, message);
    assert_eq!(answer.status, 422, "{}", answer.body);
    answer.json()["error"].as_str().unwrap().to_owned()
}

/// A game of connect four: the keys of White, Black and the one who watches.
pub(crate) fn game_of_two(address: SocketAddr) -> [String; 3] {
    let (white, view) = open(address, json!({"game": "connect_four", "duel": "white"}));
    assert_eq!(view["duel"]["you"], "white");
    assert_eq!(view["duel"]["joined"], json!([true, false]));
    let name = white.split('.').next().unwrap().to_owned();
    let (black, view) = join(address, &name);
    assert_eq!(view["duel"]["you"], "black");
    let (watcher, view) = join(address, &name);
    assert_eq!((watcher.as_str(), &view["duel"]["you"]), (name.as_str(), &Value::Null));
    assert_eq!(join(address, &black).0, black, "the own seat stays the own");
    [white, black, watcher]
}

#[test]
fn each_person_moves_for_the_own_seat_and_others_only_watch() {
    let address = serve(["human", "greedy"], ServerLimits::default());
    let [white, black, watcher] = game_of_two(address);
    let play = |text: &str| json!({"do": "play", "text": text});
    assert!(refused(address, &watcher, play("D")).contains("watching"));
    assert!(refused(address, &watcher, json!({"do": "resign"})).contains("watching"));
    assert!(refused(address, &black, play("D")).contains("not your turn"));
    let view = command(address, &white, play("D")).json();
    assert_eq!((&view["human"], &view["seats"]), (&json!(false), &json!(["human", "friend"])));
    assert!(refused(address, &white, play("D")).contains("not your turn"));
    let view = look(address, &black);
    assert_eq!((&view["human"], &view["seats"]), (&json!(true), &json!(["friend", "human"])));
    assert_eq!(look(address, &watcher)["human"], false);
    assert_eq!(command(address, &black, play("C")).status, 200);
    assert_eq!(look(address, &watcher)["moves"].as_array().unwrap().len(), 2);
    // A wrong secret is no key, and no session of one browser has seats.
    let name = &watcher;
    let wrong = format!("{name}.{name}");
    let answer = request(address, "GET", "/api/session", &[("X-Session", &wrong)], "");
    assert_eq!(answer.status, 404);
    let (own, _) = open(address, json!({}));
    assert_eq!(join(address, &own).1["duel"], Value::Null);
    assert!(refused(address, &own, json!({"do": "resign"})).contains("No friend"));
}

#[test]
fn nobody_has_help_during_the_game() {
    let address = serve(["human", "human"], ServerLimits::default());
    let [white, black, watcher] = game_of_two(address);
    for message in [
        json!({"do": "hint"}),
        json!({"do": "analyse", "on": true}),
        json!({"do": "evaluate", "on": true}),
        json!({"do": "undo"}),
        json!({"do": "new_game"}),
        json!({"do": "line", "place": 0, "moves": ["D"]}),
        json!({"do": "remove", "node": 1}),
        json!({"do": "show", "node": 0}),
        json!({"do": "seat", "player": "black", "who": "best"}),
    ] {
        for key in [&white, &black] {
            assert!(refused(address, key, message.clone()).contains("Hints and analysis are off"), "{message}");
        }
    }
    let view = look(address, &watcher);
    for key in ["thought", "hint", "known"] {
        assert_eq!(view[key], Value::Null, "{key}");
    }
    assert_eq!(view["values"], json!([null]));
}

#[test]
fn what_takes_both_is_offered_and_accepted() {
    let address = serve(["human", "human"], ServerLimits::default());
    let [white, black, _] = game_of_two(address);
    let offer = |what: &str| json!({"do": "offer", "what": what});
    let tell = |key: &str, message: Value| {
        let answer = command(address, key, message);
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.json()
    };
    assert!(refused(address, &white, offer("undo")).contains("not possible"));
    assert!(refused(address, &white, offer("rematch")).contains("not possible"));
    for (key, text) in [(&white, "D"), (&black, "C"), (&white, "D")] {
        tell(key, json!({"do": "play", "text": text}));
    }
    // Black's last move is the second; the third goes with it.
    let view = tell(&black, offer("undo"));
    assert_eq!(view["duel"]["offer"], json!({"by": "black", "what": "undo"}));
    assert_eq!(view["moves"].as_array().unwrap().len(), 3, "one alone changes nothing");
    tell(&black, offer("undo"));
    let view = tell(&white, offer("undo"));
    assert_eq!(view["moves"].as_array().unwrap().len(), 1);
    assert_eq!(view["duel"]["offer"], Value::Null);
    // An offer is declined, or lapses with the next move.
    tell(&white, offer("draw"));
    assert_eq!(tell(&black, json!({"do": "decline"}))["duel"]["offer"], Value::Null);
    tell(&white, offer("draw"));
    let view = tell(&black, json!({"do": "play", "text": "C"}));
    assert_eq!(view["duel"]["offer"], Value::Null);
    tell(&white, offer("draw"));
    let view = tell(&black, offer("draw"));
    assert_eq!(view["scene"]["outcome"]["winner"], Value::Null);
    assert_eq!(view["duel"]["over"], true);
    assert!(refused(address, &white, json!({"do": "play", "text": "D"})).contains("over"));
    // Another game with the sides swapped, which one of them resigns.
    tell(&black, offer("rematch"));
    let view = tell(&white, offer("rematch"));
    assert_eq!((&view["duel"]["you"], &view["moves"]), (&json!("black"), &json!([])));
    let view = tell(&white, json!({"do": "resign"}));
    assert_eq!(view["scene"]["outcome"]["winner"], "white");
    let record: Value = serde_json::from_str(view["record"].as_str().unwrap()).unwrap();
    assert_eq!(record["outcome"]["winner"], "white");
    assert_eq!(request(address, "GET", "/api/record", &[("X-Session", &black)], "").json(), record);
}

#[test]
fn a_player_who_has_not_moved_can_accept_to_take_back() {
    let address = serve(["human", "human"], ServerLimits::default());
    let [white, black, _] = game_of_two(address);
    let undo = || json!({"do": "offer", "what": "undo"});
    command(address, &white, json!({"do": "play", "text": "D"}));
    assert!(refused(address, &black, undo()).contains("not possible"));
    assert_eq!(command(address, &white, undo()).status, 200);
    let view = command(address, &black, undo()).json();
    assert_eq!(view["moves"], json!([]));
}

#[test]
fn a_game_of_two_has_no_analysis_from_its_beginning_and_an_end() {
    let address = serve(["human", "human"], ServerLimits::default());
    let (_, view) = open(address, json!({"duel": "white", "analyse": true}));
    assert_eq!(view["analysing"], false);
    // Back and forth without end, but for the limit of all games here.
    let moves = ["A1-C2", "A5-C4", "B1-D2", "B5-D4", "C2-A1", "C4-A5", "D2-B1", "D4-B5"];
    let line: Vec<&str> = moves.into_iter().cycle().take(2000).collect();
    let record = json!({"game": "jarmo", "max_plies": 0, "moves": line}).to_string();
    let (key, view) = open(address, json!({"duel": "white", "record": record}));
    assert_eq!(view["moves"].as_array().unwrap().len(), 2000);
    let more = refused(address, &key, json!({"do": "play", "text": "A1-C2"}));
    assert!(more.contains("at most 2000"), "{more}");
}

#[test]
fn a_game_of_two_outlives_the_server_with_its_seats() {
    let folder = tempfile::tempdir().unwrap();
    let server = || {
        serve_options(["human", "easy"], |options| {
            options.folder = Some(folder.path().join("duels"));
        })
    };
    let first = server();
    let [white, black, watcher] = game_of_two(first);
    let view = command(first, &white, json!({"do": "play", "text": "D"})).json();
    let second = server();
    let again = look(second, &black);
    assert_eq!(again["moves"], view["moves"]);
    assert_eq!(again["number"], view["number"], "it is the same game");
    assert!(again["version"].as_u64() > view["version"].as_u64());
    assert_eq!(again["duel"]["you"], "black");
    assert_eq!(look(second, &watcher)["duel"]["joined"], json!([true, true]));
    assert_eq!(command(second, &black, json!({"do": "play", "text": "C"})).status, 200);
    assert_eq!(command(second, &white, json!({"do": "resign"})).status, 200);
    let third = server();
    assert_eq!(look(third, &white)["scene"]["outcome"]["winner"], "black");
    assert_eq!(join(third, &watcher).0, watcher, "both seats are taken");
    let strange = format!("../{}", &watcher[3..]);
    let headers = [("X-Session", strange.as_str())];
    assert_eq!(request(third, "GET", "/api/session", &headers, "").status, 404);
}

#[test]
fn who_asks_for_a_seat_again_gets_the_same_one() {
    let address = serve(["human", "human"], ServerLimits::default());
    let (white, _) = open(address, json!({"game": "connect_four", "duel": "white"}));
    let (name, _) = white.split_once('.').unwrap();
    let [first, second] = ["1", "2"].map(|digit| digit.repeat(32));
    // The answer to the first request may be lost on its way.
    let keys = [(); 3].map(|()| join_with(address, name, &first).0);
    assert_eq!(keys, [(); 3].map(|()| format!("{name}.{first}")));
    assert_eq!(join_with(address, name, &second).0, name, "the seat is taken");
    assert_eq!(look(address, &keys[0])["duel"]["you"], "black");
    let long = "3".repeat(33);
    for secret in ["", "1", &long, "gggggggggggggggggggggggggggggggg"] {
        let headers = [JSON, ("X-Session", name)];
        let answer = request(address, "POST", "/api/join", &headers, &json!({ "secret": secret }).to_string());
        assert_eq!(answer.status, 400, "{secret}");
    }
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn a_lost_answer_to_an_invitation_loses_no_seat() {
    let address = serve(["human", "human"], ServerLimits::default());
    let (white, _) = open(address, json!({"game": "connect_four", "duel": "white"}));
    let (name, _) = white.split_once('.').unwrap();
    let guest = Browser::at(address);
    // The server hears of the request, and the browser never hears of the answer.
    let lose = |times: usize| {
        guest.run(&format!(
            "let left = {times}; const old = window.fetch; window.fetch = async (path, options) => {{
                 const answer = await old(path, options);
                 if (path.startsWith('/api/join') && left-- > 0) throw new TypeError('lost');
                 return answer;
             }}"
        ));
    };
    lose(1);
    guest.run(&format!("location.hash = '#join={name}'"));
    guest.wait_for_text("duel", "You play Red");
    // Also if the page gives up and is loaded again.
    let (white, _) = open(address, json!({"game": "tammi", "duel": "white"}));
    let (name, _) = white.split_once('.').unwrap();
    guest.visit(address);
    lose(100);
    guest.run(&format!("location.hash = '#join={name}'"));
    guest.wait_for_text("message", "connection");
    guest.open_link(&format!("http://{address}/#join={name}"));
    guest.wait_for_text("duel", "You play Black");
    guest.wait_for_game("tammi");
}

#[test]
fn a_person_without_requests_has_left() {
    let address = serve(["human", "human"], ServerLimits::default());
    let [white, black, _] = game_of_two(address);
    assert_eq!(look(address, &white)["duel"]["here"], json!([true, true]));
    sleep(Duration::from_millis(5100));
    assert_eq!(look(address, &white)["duel"]["here"], json!([true, false]));
    assert_eq!(look(address, &black)["duel"]["here"], json!([true, true]));
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn two_people_play_in_two_browsers_and_a_third_watches() {
    let [inviter, guest, third] = [(); 3].map(|()| Browser::start());
    inviter.open(serve(["human", "greedy"], ServerLimits::default()));
    inviter.click("#invite");
    inviter.click("#invite-make");
    inviter.wait_for_text("duel", "has not come yet");
    let link = inviter.value("duel-link");
    guest.open_link(&link);
    inviter.wait_for_text("duel", "Your friend is here");
    // A reload leads to the own seat, even if another tab has opened another game.
    inviter.run("localStorage.removeItem('session')");
    inviter.reload();
    inviter.wait_for_text("duel", "You play White");
    third.open_link(&link);
    third.wait_for_text("duel", "You are watching");
    guest.wait_for_text("duel", "You play Black");
    assert!(guest.text("strip-top").contains("White · friend"), "turned");
    assert_eq!([&inviter, &guest, &third].map(|one| one.cells("source").len()), [5, 0, 0]);
    inviter.cell(0);
    inviter.cell(7);
    guest.wait_for_moves(1);
    // A reload, and the link in the same browser, lead to the own seat.
    guest.reload();
    guest.wait_for_text("duel", "You play Black");
    guest.open_link(&link);
    guest.wait_for_text("duel", "You play Black");
    guest.cell(20);
    guest.cell(11);
    for one in [&inviter, &third] {
        one.wait_for_moves(2);
    }
    // Each looks back alone.
    inviter.click("#back");
    inviter.wait_for_text("status", "Position after move 1");
    assert_eq!(third.text("status"), "White to move");
    inviter.click("#line-leave");
    for id in ["#hint", "#analyse", "#evaluate", "#undo"] {
        assert!(!inviter.shows(id), "{id}");
    }
    let fixed = inviter.run("return document.getElementById('seat-white').disabled");
    assert_eq!(fixed, json!(true), "the players of a game of two stay");
    inviter.wait_for_text("duel", "Hints and analysis are off");
    inviter.click("[data-command=offer_undo]");
    guest.wait_for_text("duel", "asks to take back");
    guest.click("[data-command=accept]");
    for one in [&inviter, &guest, &third] {
        one.wait_for_moves(0);
    }
    guest.call("POST", "/url", json!({"url": "about:blank"}));
    inviter.wait_for_text("duel", "Your friend has left");
    guest.open_link(&link);
    inviter.wait_for_text("duel", "Your friend is here");
    // The second click means it.
    inviter.click("[data-command=resign]");
    inviter.wait_for_text("duel", "Really resign?");
    inviter.click("[data-command=resign]");
    guest.wait_for_text("status", "You win");
    third.wait_for_text("notes", "White has resigned.");
    third.click("[data-command=analysis]");
    third.wait("return document.getElementById('analyse').ariaSelected === 'true'");
    guest.click("[data-command=rematch]");
    inviter.wait_for_text("duel", "offers a rematch");
    inviter.click("[data-command=accept]");
    guest.wait_for_text("duel", "You play White");
    // A game of one's own, and back to the friend.
    guest.click("#new");
    guest.wait("return document.getElementById('duel').hidden");
    guest.click("#return");
    guest.wait_for_text("duel", "You play White");
}
