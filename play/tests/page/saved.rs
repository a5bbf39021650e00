//! Games of two people on disk: what is damaged, crafted, or too much.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::chromium::Browser;
use crate::crowd::{connect_from, open_from};
use crate::friends::{game_of_two, join, look};
use crate::http::{request, request_by, serve_options};
use crate::web::{JSON, command, open};
use jarmo::checksum::sealed_line;
use play::server::ServerLimits;
use serde_json::{Value, json};

/// Starts a server that keeps games in a folder.
fn server(folder: &Path, bounds: ServerLimits) -> SocketAddr {
    serve_options(["human", "human"], |options| {
        options.folder = Some(folder.to_owned());
        options.bounds = bounds;
    })
}

fn status(address: SocketAddr, key: &str) -> u16 {
    request(address, "GET", "/api/session", &[("X-Session", key)], "").status
}

/// Opens a game of two people from an address, and returns its name.
fn duel_from(client: [u8; 4], address: SocketAddr) -> String {
    let answer = open_from(client, address, &json!({"game": "connect_four", "duel": "white"}));
    assert_eq!(answer.status, 201, "{}", answer.body);
    assert_eq!(answer.json()["duel"]["kept"], true);
    let key = answer.json()["id"].as_str().unwrap().to_owned();
    key.split('.').next().unwrap().to_owned()
}

/// The names of the games on disk.
fn names(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    files.map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned()).collect()
}

/// A game with a move on disk: the folder, the file, and the keys of White, Black and those who watch.
fn kept() -> (tempfile::TempDir, PathBuf, [String; 3]) {
    let folder = tempfile::tempdir().unwrap();
    let address = server(folder.path(), ServerLimits::default());
    let keys = game_of_two(address);
    assert_eq!(command(address, &keys[0], json!({"do": "play", "text": "D"})).status, 200);
    assert_eq!(command(address, &keys[0], json!({"do": "offer", "what": "undo"})).status, 200);
    let file = folder.path().join(format!("{}.json", keys[2]));
    (folder, file, keys)
}

/// The name of a copy of a saved game.
fn name(number: usize) -> String {
    format!("{number:032x}")
}

#[test]
fn no_saved_game_is_believed_after_a_flipped_bit_or_a_cut() {
    let (folder, file, _) = kept();
    let content = fs::read(&file).unwrap();
    let write = |number: usize, content: &[u8]| {
        fs::write(folder.path().join(format!("{}.json", name(number))), content).unwrap();
    };
    let bits = 8 * content.len();
    for bit in 0..bits {
        let mut damaged = content.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        write(bit, &damaged);
    }
    for length in 0..content.len() {
        write(bits + length, &content[..length]);
    }
    let count = bits + content.len();
    write(count, &content);
    assert!(bits > 2000, "{bits}");
    let address = server(folder.path(), ServerLimits { per_address: 500, ..ServerLimits::default() });
    let believed: Vec<usize> = (0..count).filter(|number| status(address, &name(*number)) != 404).collect();
    assert!(believed.is_empty(), "{} of {count} files: {believed:?}", believed.len());
    assert_eq!(status(address, &name(count)), 200, "the whole one is a game");
}

#[test]
fn a_crafted_game_with_the_right_checksum_stops_no_request() {
    let (folder, file, [_, black, _]) = kept();
    let (_, secret) = black.split_once('.').unwrap();
    let line = fs::read_to_string(&file).unwrap();
    let sound: Value = serde_json::from_str(&line).unwrap();
    let mut changes: Vec<(&str, Value)> = vec![
        ("/number", json!(u64::MAX)),
        ("/number", json!(-1)),
        ("/record", json!("{}")),
        ("/record", json!(r#"{"game":"connect_four","position":"9","moves":[]}"#)),
        ("/record", json!(json!({"game": "connect_four", "moves": vec!["D"; 9000]}).to_string())),
        ("/record", json!(r#"{"game":"chess","moves":[]}"#)),
        ("/duel/ended", json!({"winner": "red"})),
        ("/duel/ended", json!({"winner": null})),
        ("/duel", Value::Null),
    ];
    for value in [json!(2), json!(9_000_000_000_u64), json!(-1), json!("watcher"), json!("guest")] {
        changes.push(("/duel/offer", json!([value, "undo"])));
        changes.push(("/duel/white", value));
    }
    for (number, (place, value)) in changes.iter().enumerate() {
        let mut content = sound.clone();
        *content.pointer_mut(place).unwrap() = value.clone();
        content.as_object_mut().unwrap().remove("check");
        let file = folder.path().join(format!("{}.json", name(number)));
        fs::write(file, sealed_line(&content.to_string())).unwrap();
    }
    let address = server(folder.path(), ServerLimits { per_address: 500, ..ServerLimits::default() });
    for (number, change) in changes.iter().enumerate() {
        let key = format!("{}.{secret}", name(number));
        let asked = [
            request(address, "GET", "/api/session", &[("X-Session", &key)], ""),
            command(address, &key, json!({"do": "play", "text": "C"})),
            command(address, &key, json!({"do": "offer", "what": "undo"})),
            command(address, &key, json!({"do": "resign"})),
            command(address, &key, json!({"do": "offer", "what": "rematch"})),
        ];
        let statuses = asked.map(|answer| answer.status);
        assert!(statuses.iter().all(|status| [200, 404, 422].contains(status)), "{change:?}: {statuses:?}");
    }
}

#[test]
#[cfg(unix)]
fn a_saved_game_is_its_owners_and_holds_no_secret() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, file, [white, black, _]) = kept();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(folder.path()), mode(&file)), (0o700, 0o600));
    let content = fs::read_to_string(&file).unwrap();
    for key in [white, black] {
        let (_, secret) = key.split_once('.').unwrap();
        assert!(!content.contains(secret), "{content}");
    }
    // A folder of an earlier program becomes private, too.
    let open = tempfile::tempdir().unwrap();
    fs::set_permissions(open.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let address = server(open.path(), ServerLimits::default());
    game_of_two(address);
    assert_eq!(mode(open.path()), 0o700);
}

#[test]
fn games_of_one_address_shut_no_others_out_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let bounds = ServerLimits { per_address: 3, ..ServerLimits::default() };
    let (greedy, normal) = ([127, 0, 0, 1], [127, 0, 0, 2]);
    let first = server(folder.path(), bounds);
    let theirs = [(); 3].map(|()| duel_from(greedy, first));
    let own = duel_from(normal, first);
    let second = server(folder.path(), bounds);
    let look = |client, name: &str| {
        let stream = connect_from(client, second);
        request_by(stream, "GET", "/api/session", &[("X-Session", name)], "").status
    };
    assert_eq!(theirs.each_ref().map(|name| look(greedy, name)), [200; 3]);
    assert_eq!(look(normal, &own), 200);
    // Who has as many games open as are allowed is told so, not that the game is gone.
    let another = duel_from(normal, first);
    assert_eq!(look(greedy, &another), 429);
    assert_eq!(look(normal, &another), 200);
}

#[test]
fn the_game_used_least_recently_goes_first_and_only_of_who_has_most() {
    let folder = tempfile::tempdir().unwrap();
    let bounds = ServerLimits { per_address: 3, kept: 5, idle_if_full: Duration::ZERO, ..ServerLimits::default() };
    let (greedy, normal, late) = ([127, 0, 0, 1], [127, 0, 0, 2], [127, 0, 0, 3]);
    let address = server(folder.path(), bounds);
    let own = duel_from(normal, address);
    let [first, second, third] = [(); 3].map(|()| duel_from(greedy, address));
    std::thread::sleep(Duration::from_millis(1100)); // the disk knows the second
    assert_eq!(look(address, &first)["duel"]["kept"], true); // it is used
    let fourth = duel_from(greedy, address);
    let mut now = names(folder.path());
    now.sort();
    let sorted = |names: [&String; 4]| {
        let mut names = names.map(String::to_owned);
        names.sort();
        names.to_vec()
    };
    assert_eq!(now, sorted([&own, &first, &third, &fourth]), "{second} is gone");
    // The quotas are the same after a restart.
    let address = server(folder.path(), bounds);
    let fifth = duel_from(greedy, address);
    let mut now = names(folder.path());
    now.sort();
    assert_eq!(now, sorted([&own, &first, &fourth, &fifth]), "{third} is gone");
    // The folder is full with another one: the client with most games gives way.
    let other = duel_from(late, address);
    let more = duel_from(normal, address);
    let now = names(folder.path());
    assert_eq!(now.len(), 5);
    for name in [&own, &other, &more] {
        assert!(now.contains(name));
    }
}

#[test]
fn players_see_that_their_game_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let address = server(folder.path(), ServerLimits::default());
    let name = duel_from([127, 0, 0, 1], address);
    let (key, view) = join(address, &name);
    assert_eq!(view["duel"]["kept"], true);
    fs::remove_dir_all(folder.path()).unwrap();
    fs::write(folder.path(), "no folder").unwrap();
    let view = command(address, &key, json!({"do": "offer", "what": "draw"})).json();
    assert_eq!(view["duel"]["kept"], false);
    assert_eq!(view["duel"]["offer"]["what"], "draw", "it is played all the same");
    fs::remove_file(folder.path()).unwrap();
    let view = command(address, &key, json!({"do": "decline"})).json();
    assert_eq!(view["duel"]["kept"], true, "there is room again");
}

#[test]
fn a_game_that_made_room_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let bounds = ServerLimits { per_address: 50, kept: 1, ..ServerLimits::default() };
    let address = server(folder.path(), bounds);
    let (first, view) = open(address, json!({"duel": "white"}));
    assert_eq!(view["duel"]["kept"], true);
    let waiting = format!("/api/session?since={}", look(address, &first)["version"]);
    let key = first.clone();
    let news = std::thread::spawn(move || request(address, "GET", &waiting, &[("X-Session", &key)], "").json());
    std::thread::sleep(Duration::from_millis(200));
    let (second, _) = open(address, json!({"duel": "white"}));
    assert_eq!(news.join().unwrap()["duel"]["kept"], false);
    // The next move keeps it again, in place of the other one.
    command(address, &first, json!({"do": "play", "text": "A1-C2"}));
    assert_eq!(look(address, &first)["duel"]["kept"], true);
    assert_eq!(look(address, &second)["duel"]["kept"], false);
    let without = serve_options(["human", "human"], |_| {});
    assert_eq!(open(without, json!({"duel": "white"})).1["duel"]["kept"], false);
}

#[test]
fn a_file_of_an_earlier_program_is_no_game_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    let old = json!({
        "record": r#"{"format":1,"game":"connect_four","moves":["D"]}"#,
        "number": 1,
        "duel": {"people": [{"secret": "0".repeat(32)}, {"secret": null}], "white": 0, "offer": null, "ended": null},
    });
    let file = folder.path().join(format!("{}.json", name(7)));
    fs::write(&file, old.to_string()).unwrap();
    let address = server(folder.path(), ServerLimits::default());
    assert_eq!(status(address, &name(7)), 404);
    assert!(file.exists());
    let headers = [JSON, ("X-Session", &name(7))];
    let answer = request(address, "POST", "/api/join", &headers, &json!({"secret": "1".repeat(32)}).to_string());
    assert_eq!(answer.status, 404);
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn the_page_says_that_a_game_is_not_kept() {
    let browser = Browser::at(serve_options(["human", "human"], |_| {}));
    browser.click("#invite");
    browser.click("#invite-make");
    browser.wait_for_text("duel", "has not saved this game");
    let folder = tempfile::tempdir().unwrap();
    let browser = Browser::at(server(folder.path(), ServerLimits::default()));
    browser.click("#invite");
    browser.click("#invite-make");
    browser.wait_for_text("duel", "has not come yet");
    assert!(!browser.text("duel").contains("has not saved this game"));
}
