//! Connections that others need: slow heads and bodies, answers that nobody reads, and requests that wait for news.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread::sleep;
use std::time::Duration;

use crate::crowd::{connect_from, open_from};
use crate::http::{request_by, serve};
use play::server::ServerLimits;
use serde_json::json;

/// Room for eight addresses with ten connections each, which is as many as an address may have.
const BOUNDS: fn() -> ServerLimits = || ServerLimits { connections: 80, per_address: 5, ..ServerLimits::default() };

/// Connects from eight addresses, ten times each, and sends something.
fn crowd(server: SocketAddr, sends: &str) -> Vec<TcpStream> {
    let connect = |number: u8| {
        let mut stream = connect_from([127, 0, 0, 1 + number % 8], server);
        stream.write_all(sends.as_bytes()).unwrap();
        sleep(Duration::from_millis(5)); // so many at the same instant would drive each other out
        stream
    };
    let crowd = (0..80).map(connect).collect();
    sleep(Duration::from_millis(300));
    crowd
}

/// Opens a game of two people. Returns the key of a seat, and a request that waits for the next move.
fn game_and_question(server: SocketAddr) -> (String, String) {
    let view = open_from([127, 0, 2, 1], server, &json!({"duel": "white"})).json();
    let key = view["id"].as_str().unwrap().to_owned();
    let (name, _) = key.split_once('.').unwrap();
    let head = format!("Host: localhost\r\nX-Session: {name}\r\n\r\n");
    let waits = format!("GET /api/session?since={} HTTP/1.1\r\n{head}", view["version"]);
    (key, waits)
}

/// Asks for a file of the page from forty other addresses, which all get it.
fn serves_others(server: SocketAddr) {
    let ask = |number| request_by(connect_from([127, 0, 1, number], server), "GET", "/icon.svg", &[], "").status;
    let refused: Vec<u16> = (1..=40).map(ask).filter(|status| *status != 200).collect();
    assert!(refused.is_empty(), "{} of 40: {refused:?}", refused.len());
}

#[test]
fn slow_heads_and_bodies_of_eight_addresses_shut_nobody_out() {
    let body = "POST /api/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 60\r\n\r\n{";
    for sends in ["", "GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", body] {
        let server = serve(["human", "human"], BOUNDS());
        let _crowd = crowd(server, sends);
        serves_others(server);
    }
}

#[test]
fn who_reads_no_answers_shuts_nobody_out() {
    let server = serve(["human", "human"], BOUNDS());
    // More answers than a connection takes that nobody reads.
    let _crowd = crowd(server, &"GET /play.js HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(400));
    sleep(Duration::from_secs(2));
    serves_others(server);
}

#[test]
fn those_who_wait_for_news_give_way_to_others_and_not_to_each_other() {
    let server = serve(["human", "human"], BOUNDS());
    let (_, waits) = game_and_question(server);
    let crowd = crowd(server, &waits);
    // One of their own number has no such right.
    let another = request_by(connect_from([127, 0, 0, 1], server), "GET", "/icon.svg", &[], "");
    assert!([0, 503].contains(&another.status), "{}", another.status); // a reset may overtake the word
    serves_others(server);
    let open = |mut stream: &TcpStream| {
        stream.set_nonblocking(true).unwrap();
        stream.read(&mut [0]).is_err() // nothing to read yet
    };
    let left = crowd.iter().filter(|stream| open(stream)).count();
    assert!(left >= 70, "{left} of 80 still wait");
}

#[test]
fn answered_requests_stay_when_slow_ones_come() {
    let server = serve(["human", "human"], BOUNDS());
    let (key, waits) = game_and_question(server);
    let mut waiting = connect_from([127, 0, 2, 1], server);
    waiting.write_all(waits.as_bytes()).unwrap();
    sleep(Duration::from_millis(100));
    for _ in 0..3 {
        drop(crowd(server, ""));
    }
    let play = json!({"do": "play", "text": "A1-C2"}).to_string();
    let headers = [("Content-Type", "application/json"), ("X-Session", key.as_str())];
    let stream = connect_from([127, 0, 2, 2], server);
    assert_eq!(request_by(stream, "POST", "/api/session", &headers, &play).status, 200);
    let mut answer = [0; 12];
    waiting.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200");
}

#[test]
fn a_slow_client_makes_room_for_its_own_address_first() {
    let server = serve(["human", "human"], BOUNDS());
    let slow: Vec<TcpStream> = (0..10).map(|_| connect_from([127, 0, 0, 1], server)).collect();
    sleep(Duration::from_millis(200));
    // Its address has as many as it may have, and someone else there asks for the page.
    let answer = request_by(connect_from([127, 0, 0, 1], server), "GET", "/icon.svg", &[], "");
    assert_eq!(answer.status, 200);
    let mut closed = &slow[0];
    closed.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    assert_eq!(closed.read(&mut [0]).unwrap(), 0, "the oldest one is closed");
}
