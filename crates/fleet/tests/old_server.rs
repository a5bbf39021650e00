//! A server that is too old is refused at once, with its version and the remedy. The server of this test is a listener
//! that speaks the first lines of the protocol, so it needs no nats-server.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use jarmo_fleet::{Address, FleetError, Link};

/// Says that it is a server of this version, and answers pings until the client has gone.
fn speak(mut client: TcpStream, version: &str) {
    let info = format!(r#"{{"server_id":"ID","version":"{version}","proto":1,"headers":true,"max_payload":1048576}}"#);
    client.write_all(format!("INFO {info}\r\n").as_bytes()).unwrap();
    let lines = BufReader::new(client.try_clone().unwrap()).lines();
    for _ in lines.map_while(Result::ok).filter(|line| line == "PING") {
        let _ = client.write_all(b"PONG\r\n"); // it may have gone
    }
}

/// Connects with a server of this version.
fn connect(version: &str) -> Result<(), FleetError> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("nats://{}", listener.local_addr().unwrap());
    thread::scope(|scope| {
        scope.spawn(|| speak(listener.accept().unwrap().0, version));
        Link::open(&Address { url, key: None, authority: None }, "test").map(drop)
    })
}

#[test]
fn an_old_server_is_refused_with_its_version_and_the_remedy() {
    for version in ["1.4.1", "2.9.25", "2.10.0", "2.10.29"] {
        let refused = connect(version).unwrap_err();
        assert!(matches!(refused, FleetError::Permanent(_)), "{version}: waiting does not help");
        let said = refused.to_string();
        assert!(said.contains(&format!("nats-server {version} is too old")), "{said}");
        assert!(said.contains("version 2.11.0 or newer is needed"), "{said}");
    }
    for version in ["2.11.0", "2.14.0", "3.0.0"] {
        assert_eq!(connect(version), Ok(()), "{version}");
    }
}
