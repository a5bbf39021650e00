//! Keys, orders, limits and the status: what runs a fleet day by day.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use super::server::{Server, free_port, jarmo, learner, stop, until, worker};

fn keys(server: &Server, arguments: &[&str]) -> Output {
    let all = [&["fleet", "key"], arguments, &["--dir", "server"]].concat();
    jarmo(server.folder(), &all).output().unwrap()
}

fn orders(server: &Server, orders: &str) {
    let url = server.url();
    let mut command = server.command(&["fleet", orders, &url], "learner", "orders.log");
    assert!(command.status().unwrap().success(), "{}", server.log("orders.log"));
}

/// The output of `fleet status` with this key.
fn status(server: &Server, key: &str) -> Output {
    let url = server.url();
    let mut command = server.command(&["fleet", "status", &url], key, "status.log");
    command.stdout(Stdio::piped()).output().unwrap()
}

#[test]
fn keys_are_added_listed_rotated_and_revoked_while_the_server_runs() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let added = keys(&server, &["add", "bob"]);
    assert!(added.status.success(), "{added:?}");
    let refused = keys(&server, &["add", "bob"]);
    assert!(!refused.status.success(), "two of one name");
    let listed = String::from_utf8(keys(&server, &["list"]).stdout).unwrap();
    let lines: Vec<_> = listed.lines().collect();
    assert_eq!(lines.len(), 4, "{listed}");
    let bob = lines.iter().find(|line| line.ends_with("worker   bob"));
    let bob = bob.unwrap().split(' ').next().unwrap();
    // The new key works at once.
    let mut helper = worker(&server, "bob", "one.log", &[]);
    until("the worker waits", || server.log("one.log").contains("waiting"));
    let old = fs::read_to_string(server.folder().join("server/bob.key")).unwrap();
    assert!(keys(&server, &["rotate", "bob"]).status.success());
    until("the old key is refused", || helper.try_wait().unwrap().is_some());
    assert!(server.log("one.log").contains("no longer accepts this key"));
    let new = fs::read_to_string(server.folder().join("server/bob.key")).unwrap();
    assert_ne!(old, new);
    let mut helper = worker(&server, "bob", "two.log", &[]);
    until("the worker waits", || server.log("two.log").contains("waiting"));
    assert!(keys(&server, &["revoke", "bob"]).status.success());
    until("the key is refused", || helper.try_wait().unwrap().is_some());
    let listed = String::from_utf8(keys(&server, &["list"]).stdout).unwrap();
    assert!(!listed.contains(bob) && listed.lines().count() == 3, "{listed}");
    let refused = keys(&server, &["revoke", "learner"]);
    assert!(!refused.status.success(), "the server needs it");
}

#[test]
fn another_program_with_the_number_of_a_stopped_server_gets_no_signal() {
    let Some(mut server) = Server::start(&[]) else {
        return;
    };
    server.end();
    let mut other = Command::new("sleep").arg("60").spawn().unwrap();
    let file = server.folder().join("server/server.pid");
    fs::write(file, other.id().to_string()).unwrap();
    let added = keys(&server, &["add", "bob"]);
    assert!(added.status.success(), "{added:?}");
    let said = String::from_utf8_lossy(&added.stdout);
    assert!(said.contains("process was not found"), "{said}");
    thread::sleep(Duration::from_millis(300));
    assert!(other.try_wait().unwrap().is_none(), "it still runs");
    other.kill().unwrap();
    other.wait().unwrap();
}

#[test]
fn the_status_key_can_look_and_nothing_else() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let first = learner(&server, &[]);
    let helper = worker(&server, "worker-1", "one.log", &[]);
    until("the status shows both", || {
        let seen = String::from_utf8(status(&server, "status").stdout).unwrap();
        seen.contains("learner: run") && seen.contains("playing")
    });
    let url = server.url();
    for refused in ["pause", "drain"] {
        let mut command = server.command(&["fleet", refused, &url], "status", "refused.log");
        assert!(!command.status().unwrap().success(), "{refused}");
    }
    assert!(server.log("refused.log").contains("learner.key"));
    // The same as text for Prometheus.
    let port = free_port();
    let serve = ["fleet", "status", &url, "--prometheus", &port.to_string()];
    let serving = server.command(&serve, "status", "serve.log").spawn().unwrap();
    let page = || {
        let Ok(mut client) = TcpStream::connect(("127.0.0.1", port)) else {
            return String::new();
        };
        let mut page = String::new();
        client.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").unwrap();
        client.read_to_string(&mut page).unwrap();
        page
    };
    until("the page shows the worker", || {
        let page = page();
        let is_up = |line: &str| line.starts_with("jarmo_run_is_here{") && line.ends_with(" 1");
        page.lines().any(is_up) && page.contains("jarmo_worker_positions{worker=")
    });
    stop(serving);
    stop(helper);
    stop(first);
}

#[test]
fn workers_pause_resume_and_drain() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let first = learner(&server, &[]);
    let mut helper = worker(&server, "worker-1", "one.log", &["--json"]);
    let said = |what: &str| server.log("one.log").matches(what).count();
    until("files are sent", || said("\"sent\"") > 0);
    orders(&server, "pause");
    until("the worker waits", || said("\"paused\"") == 1);
    let seen = String::from_utf8(status(&server, "learner").stdout).unwrap();
    assert!(seen.contains("paused"), "{seen}");
    let before = said("\"sent\"");
    orders(&server, "resume");
    until("files are sent again", || said("\"sent\"") > before);
    orders(&server, "drain");
    until("the worker ends", || helper.try_wait().unwrap().is_some());
    assert!(helper.wait().unwrap().success());
    // A later one ends as well, until workers may play.
    let mut later = worker(&server, "worker-1", "two.log", &[]);
    until("it ends", || later.try_wait().unwrap().is_some());
    orders(&server, "resume");
    let mut limited = worker(&server, "worker-1", "three.log", &["--games", "1", "--json"]);
    until("it ends after its games", || limited.try_wait().unwrap().is_some());
    assert!(limited.wait().unwrap().success());
    assert!(server.log("three.log").contains("\"sent\""), "and sends them");
    stop(first);
}
