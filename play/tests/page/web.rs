//! The server, asked without a browser: games, bad messages, strangers, and many players at once.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use crate::http::{Answer, request, send, serve, serve_with};
use assert_cmd::Command;
use jarmo::games::Jarmo;
use jarmo::tables::BuildSettings;
use play::server::ServerLimits;
use play::specs::Store;
use predicates::str::contains;
use serde_json::{Value, json};

pub(crate) const JSON: (&str, &str) = ("Content-Type", "application/json");

pub(crate) fn open(address: SocketAddr, opening: Value) -> (String, Value) {
    let answer = request(address, "POST", "/api/sessions", &[JSON], &opening.to_string());
    assert_eq!(answer.status, 201, "{}", answer.body);
    let view = answer.json();
    (view["id"].as_str().unwrap().to_owned(), view)
}

pub(crate) fn command(address: SocketAddr, id: &str, message: Value) -> Answer {
    let headers = [JSON, ("X-Session", id)];
    request(address, "POST", "/api/session", &headers, &message.to_string())
}

fn look(address: SocketAddr, id: &str, query: &str) -> Answer {
    request(address, "GET", &format!("/api/session{query}"), &[("X-Session", id)], "")
}

/// Waits until no search runs.
fn settled(address: SocketAddr, id: &str) -> Value {
    let began = Instant::now();
    let mut view = look(address, id, "").json();
    while view["thinking"] == true {
        assert!(began.elapsed() < Duration::from_secs(30), "the agent answers");
        let query = format!("?since={}", view["version"]);
        view = look(address, id, &query).json();
    }
    view
}

#[test]
fn a_game_by_messages() {
    let address = serve(["human", "greedy"], ServerLimits::default());
    let (id, view) = open(address, json!({}));
    assert_eq!(view["scene"]["legal"].as_array().unwrap().len(), 11);
    let answer = command(address, &id, json!({"do": "play", "text": "A1-C2"}));
    assert_eq!(answer.status, 200);
    let view = settled(address, &id);
    assert_eq!(view["moves"].as_array().unwrap().len(), 2);
    let answer = command(address, &id, json!({"do": "play", "text": "A1-A2"}));
    assert_eq!(answer.status, 422);
    assert_eq!(answer.json()["error"], "A1-A2: no line leads from A1 to A2");
    let view = command(address, &id, json!({"do": "undo"})).json();
    assert_eq!(view["cursor"], 0);
    let record = request(address, "GET", "/api/record", &[("X-Session", &id)], "");
    assert_eq!(record.json()["moves"].as_array().unwrap().len(), 2);
    let load = json!({"do": "load", "record": record.body});
    let view = command(address, &id, load).json();
    assert_eq!(view["seats"], json!(["human", "greedy"]));
}

#[test]
fn bad_messages_get_4xx_and_the_server_goes_on() {
    let address = serve(["human", "greedy"], ServerLimits::default());
    let (id, _) = open(address, json!({}));
    let session = ("X-Session", id.as_str());
    let cases = [
        ("", 400, "not a message"),
        ("{", 400, "not a message"),
        ("[]", 400, "not a message"),
        (r#"{"do":"fly"}"#, 400, "unknown variant"),
        (r#"{"do":"play"}"#, 400, "missing field `text`"),
        (r#"{"do":"play","text":7}"#, 400, "invalid type"),
        (r#"{"do":"go","place":-1}"#, 400, "invalid value"),
        (r#"{"do":"undo","more":1}"#, 400, "unknown field"),
        (r#"{"do":"play","text":"\u0000🦊"}"#, 422, "expected a move"),
        (r#"{"do":"seat","player":"red","who":"human"}"#, 400, "unknown variant"),
        (r#"{"do":"seat","player":"white","who":"/etc/x.safetensors"}"#, 422, "does not offer the agent"),
        (r#"{"do":"seat","player":"white","who":"alphabeta:9?mb=90000"}"#, 422, "does not offer the agent"),
        (r#"{"do":"seat","player":"white","who":"alphabeta:9?tables=/"}"#, 422, "does not offer the agent"),
        (r#"{"do":"load","record":"x"}"#, 422, "expected a game record"),
        (r#"{"do":"load","record":"{\"game\":\"jarmo\",\"moves\":[\"A1-A2\"]}"}"#, 422, "Move 1"),
        (
            r#"{"do":"load","record":"{\"game\":\"jarmo\",\"position\":\"9\",\"moves\":[]}"}"#,
            422,
            "Illegal position: 9 cannot be read",
        ),
        (r#"{"do":"next_game"}"#, 422, "No game of a match"),
    ];
    for (body, status, part) in cases {
        let answer = request(address, "POST", "/api/session", &[JSON, session], body);
        assert_eq!(answer.status, status, "{body}: {}", answer.body);
        assert!(answer.body.contains(part), "{body}: {}", answer.body);
    }
    let plain = request(address, "POST", "/api/session", &[session], r#"{"do":"undo"}"#);
    assert_eq!(plain.status, 415);
    let large = format!("{{\"do\":\"play\",\"text\":\"{}\"}}", "x".repeat(100_000));
    let answer = request(address, "POST", "/api/session", &[JSON, session], &large);
    assert_eq!(answer.status, 413);
    let opening = request(address, "POST", "/api/sessions", &[JSON], r#"{"game":"chess"}"#);
    assert_eq!(opening.status, 422);
    assert!(opening.body.contains("choose one of jarmo"), "{}", opening.body);
    assert_eq!(request(address, "GET", "/api/session", &[], "").status, 400);
    assert_eq!(look(address, &"0".repeat(32), "").status, 404);
    assert_eq!(look(address, &id, "?since=x").status, 400);
    assert_eq!(request(address, "GET", "/../etc/passwd", &[], "").status, 404);
    assert_eq!(request(address, "PUT", "/", &[], "").status, 405);
    assert!((400..500).contains(&send(address, b"nonsense\r\n\r\n").status));
    assert_eq!(look(address, &id, "").status, 200);
}

#[test]
fn pages_of_other_sites_and_other_names_are_turned_away() {
    let address = serve(["human", "greedy"], ServerLimits::default());
    let own = format!("http://{address}");
    let port = address.port();
    let cases = [
        (vec![("Host", "evil.example".to_owned())], 403),
        (vec![("Host", format!("localhost.evil.example:{port}"))], 403),
        (vec![("Host", format!("localhost:{port}"))], 201),
        (vec![("Host", format!("[::1]:{port}"))], 201),
        (vec![("Origin", "http://evil.example".to_owned())], 403),
        (vec![("Origin", "null".to_owned())], 403),
        (vec![("Origin", own.clone())], 201),
        (vec![("Sec-Fetch-Site", "cross-site".to_owned())], 403),
        (vec![("Sec-Fetch-Site", "same-origin".to_owned())], 201),
    ];
    for (headers, status) in cases {
        let mut all = vec![JSON];
        all.extend(headers.iter().map(|(name, value)| (*name, value.as_str())));
        let answer = request(address, "POST", "/api/sessions", &all, "{}");
        assert_eq!(answer.status, status, "{headers:?}");
        assert!(answer.head.contains("content-security-policy: default-src 'none'"));
    }
}

#[test]
fn exact_tables_tell_the_page_what_is_certain() {
    let folder = tempfile::tempdir().unwrap();
    let settings = BuildSettings { force: 4, save_every: Duration::from_secs(1000) };
    jarmo::tables::build(&Jarmo::standard(), folder.path(), settings, &mut |_| {}).unwrap();
    let store = Store { tables: Some(folder.path().to_owned()), ..Store::default() };
    let address = serve_with(store, ["human", "human"], ServerLimits::default());
    let view = request(address, "POST", "/api/sessions", &[JSON], "{}").json();
    assert_eq!(view["known"], Value::Null, "the start lies beyond the tables");
    let session = ("X-Session", view["id"].as_str().unwrap());
    let record = json!({ "game": "jarmo", "position": "5/b4/4b/5/2w1w w - - 0", "moves": [] }).to_string();
    let load = json!({ "do": "load", "record": record }).to_string();
    let view = request(address, "POST", "/api/session", &[JSON, session], &load).json();
    assert_eq!(view["known"], json!({ "winner": "white", "plies": 23 }));
    assert_eq!(view["values"], json!([1.0]));
    // The opening explorer learns what is certain after each move.
    let moves = request(address, "GET", "/api/moves", &[session], "").json();
    assert_eq!((&moves["to_move"], &moves["position"]), (&json!("white"), &view["position"]));
    let best = json!({ "winner": "white", "plies": 22 });
    assert!(moves["moves"].as_array().unwrap().iter().any(|one| one["known"] == best), "{moves}");
    // A game without tables is played as ever.
    let tammi = request(address, "POST", "/api/sessions", &[JSON], r#"{"game":"tammi"}"#);
    assert_eq!((tammi.status, &tammi.json()["known"]), (201, &Value::Null));
}

#[test]
fn an_agent_file_that_does_not_fit_is_named_without_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("jarmo.safetensors"), "no agent").unwrap();
    let store = Store { agents: vec![folder.path().to_owned()], ..Store::default() };
    let address = serve_with(store, ["human", "human"], ServerLimits::default());
    let (_, view) = open(address, json!({}));
    let told = view["refused"].as_str().unwrap();
    assert!(told.starts_with("jarmo.safetensors: "), "{told}");
    assert_eq!(view["trained"], false);
}

#[test]
fn one_session_neither_reads_nor_moves_another() {
    let address = serve(["human", "human"], ServerLimits::default());
    let (first, _) = open(address, json!({}));
    let (second, _) = open(address, json!({"game": "tammi"}));
    assert_ne!(first, second);
    assert_eq!(first.len(), 32);
    assert_eq!(command(address, &first, json!({"do": "play", "text": "A1-C2"})).status, 200);
    let view = look(address, &second, "").json();
    assert_eq!(view["game"], "tammi");
    assert_eq!(view["moves"], json!([]));
}

#[test]
fn there_are_only_so_many_sessions_and_idle_ones_make_room() {
    let bounds = ServerLimits { sessions: 2, idle_if_full: Duration::from_millis(300), ..ServerLimits::default() };
    let address = serve(["human", "human"], bounds);
    let (first, _) = open(address, json!({}));
    open(address, json!({}));
    let refused = request(address, "POST", "/api/sessions", &[JSON], "{}");
    assert_eq!(refused.status, 503);
    thread::sleep(Duration::from_millis(350));
    open(address, json!({}));
    assert_eq!(look(address, &first, "").status, 404);
}

/// Connects, and closes the connection with the test.
fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    let limit = Some(Duration::from_secs(20));
    stream.set_read_timeout(limit).unwrap();
    stream
}

/// What comes until the server closes the connection, while `drip` is sent again and again.
fn dawdle(mut stream: TcpStream, beginning: &str, drip: &[u8]) -> String {
    stream.write_all(beginning.as_bytes()).unwrap();
    let mut writer = stream.try_clone().unwrap();
    let drip = drip.to_vec();
    thread::spawn(move || {
        while !drip.is_empty() && writer.write_all(&drip).is_ok() {
            thread::sleep(Duration::from_millis(30));
        }
    });
    let mut answer = Vec::new();
    let mut part = [0; 1024];
    loop {
        match stream.read(&mut part) {
            Ok(0) => break,
            Ok(length) => answer.extend_from_slice(&part[..length]),
            // What was sent after the server had closed is answered by a reset.
            Err(error) if error.kind() == ErrorKind::ConnectionReset => break,
            Err(error) => panic!("the connection stays open: {error}"),
        }
    }
    String::from_utf8(answer).unwrap()
}

#[test]
fn who_dawdles_is_sent_away() {
    let bounds = ServerLimits { patience: Duration::from_millis(300), ..ServerLimits::default() };
    let address = serve(["human", "human"], bounds);
    let began = Instant::now();
    let head = format!("GET / HTTP/1.1\r\nHost: {address}\r\n");
    assert!(!dawdle(connect(address), &head, b"X-More: 1\r\n").contains("200 OK"));
    let post = format!(
        "POST /api/sessions HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Content-Length: 60000\r\n\r\n"
    );
    let answer = dawdle(connect(address), &post, b" ");
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    assert!(answer.contains("took too long to arrive"), "{answer}");
    assert_eq!(dawdle(connect(address), "", b""), "", "nothing is asked");
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert_eq!(request(address, "GET", "/", &[], "").status, 200);
}

#[test]
fn a_connection_has_its_time_and_then_finishes_what_it_is_at() {
    let bounds = ServerLimits { visit: Duration::from_millis(500), ..ServerLimits::default() };
    let address = serve(["human", "human"], bounds);
    let (id, view) = open(address, json!({}));
    let began = Instant::now();
    let mut stream = connect(address);
    let get =
        format!("GET /api/session?since={} HTTP/1.1\r\nHost: {address}\r\nX-Session: {id}\r\n\r\n", view["version"]);
    stream.write_all(get.as_bytes()).unwrap();
    let later = thread::spawn(move || {
        thread::sleep(Duration::from_millis(1000));
        command(address, &id, json!({"do": "play", "text": "A1-C2"}))
    });
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap(); // until the server closes it
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(began.elapsed() < Duration::from_secs(10), "it is not kept");
    assert_eq!(later.join().unwrap().status, 200);
}

#[test]
fn there_are_only_so_many_connections() {
    let bounds = ServerLimits { connections: 3, ..ServerLimits::default() };
    let address = serve(["human", "human"], bounds);
    // Those that wait for an answer; one without a whole request would make room.
    let (key, view) = open(address, json!({"duel": "white"}));
    let (name, since) = (key.split('.').next().unwrap(), &view["version"]);
    let waits = format!("GET /api/session?since={since} HTTP/1.1\r\nHost: {address}\r\nX-Session: {name}\r\n\r\n");
    let held = [(); 3].map(|()| {
        let mut stream = connect(address);
        stream.write_all(waits.as_bytes()).unwrap();
        stream
    });
    thread::sleep(Duration::from_millis(200)); // they are taken one after another
    let refused = request(address, "GET", "/", &[], "").status;
    assert!([0, 503].contains(&refused), "{refused}"); // a reset may overtake the word
    drop(held);
    let began = Instant::now();
    while request(address, "GET", "/", &[], "").status != 200 {
        assert!(began.elapsed() < Duration::from_secs(10), "there is room again");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_page_is_whole_and_small() {
    let address = serve(["human", "greedy"], ServerLimits::default());
    let began = Instant::now();
    let mut bytes = 0;
    for path in [
        "/",
        "/play.css",
        "/board.js",
        "/play.js",
        "/kept.js",
        "/address.js",
        "/deck.js",
        "/drill.js",
        "/editor.js",
        "/friend.js",
        "/fsrs.js",
        "/report.js",
        "/share.js",
        "/study.js",
        "/panels.js",
        "/texts.js",
        "/icon.svg",
        "/api/texts?lang=de",
    ] {
        let answer = request(address, "GET", path, &[], "");
        assert_eq!(answer.status, 200, "{path}");
        assert!(!answer.body.contains("https://"), "{path} loads nothing from elsewhere");
        bytes += answer.body.len();
    }
    assert!(bytes < 300 * 1024, "{bytes} bytes");
    assert!(began.elapsed() < Duration::from_secs(1));
}

#[test]
fn the_page_is_compressed_and_cached_by_its_hash() {
    let address = serve(["human", "greedy"], ServerLimits::default());
    let index = request(address, "GET", "/", &[], "");
    assert!(index.head.contains("cache-control: no-store"), "{}", index.head);
    let script = index.body.split("src=\"").nth(1).unwrap();
    let (script, _) = script.split_once('"').unwrap();
    let (folder, _) = script.split_once("/play.js").unwrap();
    let lasting = request(address, "GET", &format!("/{script}"), &[], "");
    assert!(lasting.head.contains("max-age=31536000, immutable"), "{}", lasting.head);
    let old = request(address, "GET", &format!("/{}/play.js", "0".repeat(folder.len())), &[], "");
    assert!(old.head.contains("cache-control: no-store"), "{}", old.head);
    let mut bytes = 0;
    for path in ["/", "/play.css", "/play.js", "/board.js", "/api/texts?lang=fi"] {
        let plain = request(address, "GET", path, &[], "");
        let small = request(address, "GET", path, &[("Accept-Encoding", "br, gzip")], "");
        assert!(small.head.contains("content-encoding: gzip"), "{path}: {}", small.head);
        let length = |answer: &Answer| {
            let (_, rest) = answer.head.split_once("content-length: ").unwrap();
            rest.lines().next().unwrap().parse::<usize>().unwrap()
        };
        assert!(length(&small) * 2 < length(&plain), "{path}");
        bytes += length(&small);
        let tag = plain.head.split("etag: ").nth(1).unwrap();
        let tag = tag.lines().next().unwrap();
        let same = request(address, "GET", path, &[("If-None-Match", tag)], "");
        assert_eq!((same.status, same.body.as_str()), (304, ""), "{path}");
    }
    assert!(bytes < 60_000, "{bytes}");
    let view = request(address, "POST", "/api/sessions", &[JSON], "{}");
    assert!(view.head.contains("cache-control: no-store"));
}

#[test]
fn a_record_comes_back_with_its_opponent_and_names_no_folder() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.safetensors");
    std::fs::copy("../checkpoints/jarmo.safetensors", &file).unwrap();
    let mine = format!("{}?sims=1", file.display());
    let address = serve(["human", &mine], ServerLimits::default());
    let (id, view) = open(address, json!({}));
    assert_eq!(view["seats"], json!(["human", "mine.safetensors?sims=1"]));
    let folder = folder.path().to_str().unwrap();
    let record = || request(address, "GET", "/api/record", &[("X-Session", &id)], "").body;
    assert!(!record().contains(folder), "{}", record());
    // The page knows the server's agent by this name.
    let seat = |who: &str| json!({"do": "seat", "player": "black", "who": who});
    let names = ["hard", "mine.safetensors?sims=1", "greedy"];
    for name in names {
        assert_eq!(command(address, &id, seat(name)).status, 200, "{name}");
        let line = record();
        command(address, &id, seat("human"));
        let view = command(address, &id, json!({"do": "load", "record": line})).json();
        assert_eq!(view["seats"], json!(["human", name]));
    }
    // Games without a person, and agents that are not offered, do not begin to play.
    for (white, black) in [("greedy", "random"), ("human", "/etc/x.safetensors")] {
        let line = json!({"game": "jarmo", "white": white, "black": black, "moves": []}).to_string();
        let view = command(address, &id, json!({"do": "load", "record": line})).json();
        assert_eq!(view["seats"], json!(["human", "human"]));
    }
    let greedy = r#"{"game":"jarmo","white":"human","black":"alphabeta:1000000000000?mb=65536","moves":["A1-C2"]}"#;
    let (_, view) = open(address, json!({"record": greedy}));
    assert_eq!(view["seats"], json!(["human", "human"]));
    let restored = json!({"do": "restore", "record": greedy, "seats": ["human", "hard"], "place": 1, "values": []});
    assert_eq!(command(address, &id, restored).json()["seats"], json!(["human", "hard"]));
    let analysed = command(address, &id, json!({"do": "analyse", "on": true}));
    assert!(!analysed.body.contains(folder) && !record().contains(folder), "{}", record());
}

#[test]
fn moves_alone_are_a_record() {
    let address = serve(["human", "human"], ServerLimits::default());
    let (id, _) = open(address, json!({}));
    for text in ["A1-C2 A5-B3 B1-D2", "1. A1-C2 A5-B3\n2. B1-D2", "1.A1-C2, A5-B3, 3.B1-D2"] {
        let view = command(address, &id, json!({"do": "load", "record": text})).json();
        assert_eq!(view["moves"].as_array().map(Vec::len), Some(3), "{text}: {view}");
    }
    for text in ["", "1. 2.", "what is this <", "A1-A9 A5-B3"] {
        let answer = command(address, &id, json!({"do": "load", "record": text}));
        assert_eq!(answer.status, 422, "{text}: {}", answer.body);
    }
}

#[test]
fn a_player_does_not_wait_for_the_thoughts_of_another() {
    let bounds = ServerLimits { thinkers: 1, ..ServerLimits::default() };
    let address = serve(["rollout:100000000", "human"], bounds);
    let (busy, _) = open(address, json!({}));
    let (free, _) = open(address, json!({"white": "human"}));
    let began = Instant::now();
    assert_eq!(command(address, &free, json!({"do": "play", "text": "A1-C2"})).status, 200);
    assert!(began.elapsed() < Duration::from_millis(500), "{:?}", began.elapsed());
    // And a swap of seats stops the long thought.
    assert_eq!(command(address, &busy, json!({"do": "swap"})).status, 200);
}

#[test]
fn two_hundred_games_at_once() {
    const GAMES: usize = 200;
    let address = serve(["human", "greedy"], ServerLimits { per_address: GAMES, ..ServerLimits::default() });
    let began = Instant::now();
    let players: Vec<_> = (0..8)
        .map(|_| {
            thread::spawn(move || {
                let open_one = |_| open(address, json!({})).0;
                let ids: Vec<String> = (0..GAMES / 8).map(open_one).collect();
                for _ in 0..3 {
                    for id in &ids {
                        let view = settled(address, id);
                        if view["scene"]["outcome"].is_null() {
                            let text = view["scene"]["legal"][0]["text"].clone();
                            let answer = command(address, id, json!({"do": "play", "text": text}));
                            assert_eq!(answer.status, 200, "{}", answer.body);
                        }
                    }
                }
                for id in &ids {
                    assert_eq!(settled(address, id)["moves"].as_array().unwrap().len(), 6);
                }
            })
        })
        .collect();
    for player in players {
        player.join().unwrap();
    }
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
}

#[test]
fn two_hundred_games_against_the_best_level() {
    const GAMES: usize = 200;
    let bounds = ServerLimits {
        absence: Duration::from_secs(60), // pages listen all the time
        per_address: GAMES + 1,
        ..ServerLimits::default()
    };
    let address = serve(["human", "best"], bounds);
    let ids: Vec<String> = (0..GAMES).map(|_| open(address, json!({})).0).collect();
    let began = Instant::now();
    for id in &ids {
        let answer = command(address, id, json!({"do": "play", "text": "A1-C2"}));
        assert_eq!(answer.status, 200, "{}", answer.body);
    }
    for id in &ids {
        let view = settled(address, id);
        assert_eq!(view["moves"].as_array().unwrap().len(), 2);
        assert_eq!(view["trouble"], Value::Null);
    }
    // All want 0.85 s at once; so each gets less, and all have their answers soon.
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    // A new connection is answered at once.
    let (id, _) = open(address, json!({"black": "human"}));
    let began = Instant::now();
    assert_eq!(command(address, &id, json!({"do": "play", "text": "B1-D2"})).status, 200);
    assert!(began.elapsed() < Duration::from_millis(500), "{:?}", began.elapsed());
}

#[test]
fn a_port_in_use_is_named_with_the_remedy() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let mut command = Command::cargo_bin("play").unwrap();
    command.args(["--web", "--port", &port]).assert().code(1).stderr(contains("choose one with --port"));
}
