use tokio::io::{BufReader, BufWriter};
use tokio::runtime::Builder;

use super::{filter, introduced};

/// What the client hears if the server says this.
fn heard(said: &[u8]) -> Vec<u8> {
    let mut heard = Vec::new();
    let runtime = Builder::new_current_thread().build().unwrap();
    runtime.block_on(filter(&mut BufReader::new(said), &mut BufWriter::new(&mut heard))).unwrap();
    heard
}

/// A message with a header.
fn message(about: &str, header: &[u8], payload: &[u8]) -> Vec<u8> {
    let start = format!("HMSG {about} {} {}\r\n", header.len(), header.len() + payload.len());
    [start.as_bytes(), header, payload, b"\r\n"].concat()
}

#[test]
fn messages_of_workers_have_no_headers() {
    for header in
        [&b"NATS/1.0\r\nA: b\r\n\r\n"[..], b"NATS/1.0 409 Full\r\n\r\n", b"\xff\r\n\0", b"MSG a 1 3\r\nabc\r\n"]
    {
        let said = [&message("jarmo.samples.run.KEY 3 $JS.ACK.x", header, b"games\r\n"), &b"PING\r\n"[..]].concat();
        let expected = b"MSG jarmo.samples.run.KEY 3 $JS.ACK.x 7\r\ngames\r\n\r\nPING\r\n";
        assert_eq!(heard(&said), expected, "{header:?}");
    }
    let said = message("jarmo.blocks.KEY 3", b"x", b"");
    assert_eq!(heard(&said), b"MSG jarmo.blocks.KEY 3 0\r\n\r\n");
}

#[test]
fn of_a_stored_message_the_servers_headers_remain() {
    let server = |name: &[u8]| {
        let rest = b"\r\nNats-Sequence: 7\r\nNats-Time-Stamp: 2026-11-30T00:00:00Z\r\n\r\n";
        [b"\r\nNats-Subject: jarmo.progress.KEY.", name, rest].concat()
    };
    let stored = |header: &[u8], name: &[u8]| [header, b"Nats-Stream: JARMO_PROGRESS", &server(name)].concat();
    for header in [
        &b"NATS/1.0\r\n"[..],
        b"NATS/1.0\r\nNats-Subject: $KV.a\r\nNats-Sequence: 1\r\n",
        b"NATS/1.0 204 EOB\r\n",
        b"\xff",
    ] {
        // The name can contain a header, and bytes that are no text.
        for (name, shown) in [(&b"one"[..], "one"), (b"Nats-Subject: x", "Nats-Subject: x"), (b"\xff\r", "\u{fffd}?")] {
            let expected = message("_INBOX.a 2", &[b"NATS/1.0", &*server(shown.as_bytes())].concat(), b"{}");
            assert_eq!(heard(&message("_INBOX.a 2", &stored(header, name), b"{}")), expected, "{header:?}, {shown}");
        }
    }
}

#[test]
fn what_the_server_and_the_learner_say_is_not_changed() {
    let stored =
        b"NATS/1.0\r\nKV-Operation: DEL\r\nNats-Subject: $KV.jarmo_runs.run.learner\r\nNats-Sequence: 7\r\n\r\n";
    for said in [
        &message("_INBOX.a 2", b"NATS/1.0 404 No Messages\r\n\r\n", b""),
        &message("_INBOX.a 2", b"NATS/1.0 503\r\nNats-Subject: jarmo.blocks.KEY\r\n\r\n", b""),
        &message("_INBOX.a 2", stored, b""),
        &message("$KV.jarmo_runs.orders 2 $JS.ACK.x", b"NATS/1.0\r\nKV-Operation: DEL\r\n\r\n", b"")[..],
        b"MSG $KV.jarmo_runs.orders 2 5\r\n\r\nHMS\r\n+OK\r\n",
        b"-ERR 'Authorization Violation'\r\n",
    ] {
        assert_eq!(heard(said), said, "{}", String::from_utf8_lossy(said));
    }
}

#[test]
fn the_client_hears_of_no_encryption_and_no_other_servers() {
    let said = br#"INFO {"version":"2.14.0","tls_required":true,"connect_urls":["10.0.0.7:4222"],"nonce":"abc"} "#;
    let expected = r#"{"version":"2.14.0","tls_required":false,"nonce":"abc"}"#;
    let heard = introduced(&[said, &b"\r\n"[..]].concat());
    let heard: serde_json::Value = serde_json::from_slice(heard.strip_prefix(b"INFO ").unwrap()).unwrap();
    assert_eq!(heard, serde_json::from_str::<serde_json::Value>(expected).unwrap());
}
