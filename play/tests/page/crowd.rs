//! Clients that are greedy, leave, or send rubbish, and what others notice of them.

use std::io::Write;
use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use crate::http::{Answer, request, request_by, send, serve, serve_with};
use play::server::ServerLimits;
use play::specs::Store;
use serde_json::{Value, json};

const JSON: (&str, &str) = ("Content-Type", "application/json");

/// Connects from an address of this machine.
pub(crate) fn connect_from(client: [u8; 4], server: SocketAddr) -> TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let stream = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind((IpAddr::from(client), 0).into()).unwrap();
        socket.connect(server).await.unwrap()
    });
    let stream = stream.into_std().unwrap();
    stream.set_nonblocking(false).unwrap();
    stream
}

/// Opens a session from an address.
pub(crate) fn open_from(client: [u8; 4], server: SocketAddr, opening: &Value) -> Answer {
    let stream = connect_from(client, server);
    let body = opening.to_string();
    request_by(stream, "POST", "/api/sessions", &[JSON], &body)
}

/// Plays a move and waits for the agent's answer. Returns the time that takes.
pub(crate) fn play_from(client: [u8; 4], server: SocketAddr, id: &str, text: &str) -> Duration {
    let began = Instant::now();
    let headers = [JSON, ("X-Session", id)];
    let body = json!({ "do": "play", "text": text }).to_string();
    let stream = connect_from(client, server);
    let answer = request_by(stream, "POST", "/api/session", &headers, &body);
    assert_eq!(answer.status, 200, "{}", answer.body);
    let mut view = answer.json();
    while view["thinking"] == true {
        assert!(began.elapsed() < Duration::from_secs(60), "no answer");
        let path = format!("/api/session?since={}", view["version"]);
        let stream = connect_from(client, server);
        view = request_by(stream, "GET", &path, &headers[1..], "").json();
    }
    assert_eq!(view["moves"].as_array().unwrap().len(), 2, "{view}");
    began.elapsed()
}

fn moves(server: SocketAddr, id: &str) -> usize {
    let view = request(server, "GET", "/api/session", &[("X-Session", id)], "").json();
    view["moves"].as_array().unwrap().len()
}

#[test]
fn an_address_has_its_share_of_sessions_and_another_address_its_own() {
    let bounds =
        ServerLimits { sessions: 3, per_address: 2, idle_if_full: Duration::from_secs(3), ..ServerLimits::default() };
    let server = serve(["human", "human"], bounds);
    let open = |client: u8| open_from([127, 0, 0, client], server, &json!({})).status;
    assert_eq!([open(1), open(1), open(1)], [201, 201, 429]);
    assert_eq!([open(2), open(2), open(3)], [201, 503, 503]);
    // There is no room for a session; so nothing of it is looked at, least of all a file.
    let wrong = json!({ "game": "chess" });
    assert_eq!(open_from([127, 0, 0, 1], server, &wrong).status, 429);
    assert_eq!(open_from([127, 0, 0, 3], server, &wrong).status, 503);
    thread::sleep(Duration::from_millis(3100));
    // Sessions that nobody asks for make room, one at a time.
    assert_eq!(open_from([127, 0, 0, 3], server, &wrong).status, 422);
    assert_eq!([open(3), open(3), open(1)], [201, 201, 201]);
    assert_eq!([open(3), open(2)], [429, 503]);
}

#[test]
fn a_trained_agent_is_read_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("jarmo.safetensors");
    std::fs::copy("../checkpoints/jarmo.safetensors", &file).unwrap();
    let store = Store { agents: vec![folder.path().to_owned()], ..Store::default() };
    let seat = format!("{}?sims=8", file.display());
    let server = serve_with(store, ["human", &seat], ServerLimits::default());
    let client = [127, 0, 0, 1];
    let first = open_from(client, server, &json!({})).json();
    assert_eq!(first["trained"], true, "{first}");
    std::fs::write(&file, "no agent").unwrap();
    let second = open_from(client, server, &json!({})).json();
    assert_eq!(second["trained"], true, "{second}");
    play_from(client, server, second["id"].as_str().unwrap(), "A1-C2");
}

#[test]
fn every_thought_has_a_clock_whatever_the_agent() {
    let endless = ["rollout:1000000000?mb=16", "alphabeta:1000000000000"];
    for agent in endless {
        let bounds = ServerLimits { thought: Duration::from_millis(300), ..ServerLimits::default() };
        let server = serve(["human", agent], bounds);
        let client = [127, 0, 0, 1];
        let view = open_from(client, server, &json!({})).json();
        let took = play_from(client, server, view["id"].as_str().unwrap(), "A1-C2");
        assert!(took < Duration::from_secs(5), "{agent}: {took:?}");
    }
}

#[test]
fn a_session_is_thought_about_only_while_it_is_listened_to() {
    let bounds = ServerLimits { absence: Duration::from_millis(300), ..ServerLimits::default() };
    // A move takes longer than the server waits for listeners.
    let server = serve(["alphabeta:1000000", "alphabeta:1000000"], bounds);
    let view = open_from([127, 0, 0, 1], server, &json!({})).json();
    let id = view["id"].as_str().unwrap();
    thread::sleep(Duration::from_millis(2500));
    let alone = moves(server, id);
    assert!(alone <= 2, "{alone} moves without an audience");
    let mut version = view["version"].clone();
    let began = Instant::now();
    while moves(server, id) < alone + 3 {
        assert!(began.elapsed() < Duration::from_secs(30), "it goes on");
        let path = format!("/api/session?since={version}");
        let headers = [("X-Session", id)];
        version = request(server, "GET", &path, &headers, "").json()["version"].clone();
    }
}

#[test]
fn malformed_chunks_get_400_and_endless_ones_an_end() {
    let server = serve(["human", "human"], ServerLimits::default());
    let head = format!(
        "POST /api/sessions HTTP/1.1\r\nHost: {server}\r\nContent-Type: application/json\r\n\
         Transfer-Encoding: chunked\r\n\r\n"
    );
    for chunks in ["zz\r\n{}\r\n0\r\n\r\n", "-2\r\n{}\r\n0\r\n\r\n", "2\r\n{}}}}}}\r\n0\r\n\r\n"] {
        let answer = send(server, format!("{head}{chunks}").as_bytes());
        assert_eq!(answer.status, 400, "{chunks:?}: {}", answer.body);
        assert!(answer.head.contains("connection: close"), "{}", answer.head);
    }
    let whole = send(server, format!("{head}2\r\n{{}}\r\n0\r\n\r\n").as_bytes());
    assert_eq!(whole.status, 201, "{}", whole.body);
    let endless = format!("{head}{}", "400\r\n".to_owned() + &" ".repeat(1024) + "\r\n");
    let more = ("400\r\n".to_owned() + &" ".repeat(1024) + "\r\n").repeat(200);
    let answer = send(server, (endless + &more).as_bytes());
    // The reset that ends the connection may overtake the answer.
    assert!([413, 0].contains(&answer.status), "{}", answer.status);
}

#[test]
fn a_connection_with_many_requests_at_once_does_not_keep_others_waiting() {
    let server = serve(["human", "human"], ServerLimits::default());
    let request_of = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: {server}\r\n\r\n");
    let texts = request_of("/api/texts?lang=de").repeat(400);
    let flood = |client: u8| {
        let stream = connect_from([127, 0, 0, client], server);
        let [mut requests, mut answers] = [&stream, &stream].map(|stream| stream.try_clone().unwrap());
        thread::spawn(move || std::io::copy(&mut answers, &mut std::io::sink()));
        let texts = texts.clone();
        thread::spawn(move || while requests.write_all(texts.as_bytes()).is_ok() {});
        stream
    };
    let floods: Vec<TcpStream> = (1..=8).map(flood).collect();
    thread::sleep(Duration::from_millis(300));
    let mut worst = Duration::ZERO;
    for _ in 0..10 {
        let began = Instant::now();
        let stream = connect_from([127, 0, 1, 1], server);
        assert_eq!(request_by(stream, "GET", "/", &[], "").status, 200);
        worst = worst.max(began.elapsed());
    }
    // Otherwise they would keep a core busy while other tests run.
    floods.iter().for_each(|flood| flood.shutdown(Shutdown::Both).unwrap());
    println!("another client waits {worst:?} at most");
    assert!(worst < Duration::from_millis(1500), "{worst:?}");
}
