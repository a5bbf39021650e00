//! The server as a program: a greedy client that leaves, and signals.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use assert_cmd::cargo::cargo_bin;
use serde_json::json;

use crate::crowd::{open_from, play_from};

struct Program {
    child: Child,
    address: SocketAddr,
    _output: BufReader<ChildStdout>,
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts `play --web`, by another program if one is given.
fn start(by: &[&str]) -> Option<Program> {
    let play = cargo_bin("play");
    let mut words: Vec<&str> = by.to_vec();
    words.push(play.to_str().unwrap());
    let mut child = Command::new(words[0])
        .args(&words[1..])
        .args(["--web", "--port", "0"])
        .env("JARMO_CHECKPOINTS", "")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("http://")?.strip_suffix('/')?;
    Some(Program { address: address.parse().unwrap(), child, _output: output })
}

/// The processor time that a process has used.
#[cfg(target_os = "linux")]
fn processor_time(child: &Child) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    let fields: Vec<i64> = fields.split(' ').filter_map(|one| one.parse().ok()).collect();
    // The state is no number; without it, user and system time are numbers 10 and 11, in hundredths of a second.
    Duration::from_millis(10 * (fields[10] + fields[11]) as u64)
}

#[test]
#[cfg(target_os = "linux")]
fn a_greedy_client_that_leaves_neither_delays_others_nor_keeps_the_server_busy() {
    let program = start(&[]).unwrap();
    let heavy = json!({ "white": "alphabeta:2000000", "black": "alphabeta:2000000" });
    let greedy: Vec<u16> = (0..60).map(|_| open_from([127, 0, 0, 1], program.address, &heavy).status).collect();
    assert_eq!(greedy.iter().filter(|status| **status == 201).count(), 50);
    assert_eq!(greedy.iter().filter(|status| **status == 429).count(), 10);
    let normal = [127, 0, 0, 2];
    let view = open_from(normal, program.address, &json!({ "black": "best" })).json();
    let took = play_from(normal, program.address, view["id"].as_str().unwrap(), "A1-C2");
    assert!(took < Duration::from_secs(10), "{took:?}");
    let began = Instant::now();
    loop {
        let before = processor_time(&program.child);
        thread::sleep(Duration::from_millis(500));
        if processor_time(&program.child) - before <= Duration::from_millis(20) {
            break;
        }
        let busy = began.elapsed();
        assert!(busy < Duration::from_secs(20), "the server thinks for no one");
    }
}

/// Sends a signal to the process that plays.
#[cfg(target_os = "linux")]
fn signal(name: &str, process: u32) {
    let sent = Command::new("kill").args([name, &process.to_string()]).status();
    assert!(sent.unwrap().success());
}

#[cfg(target_os = "linux")]
fn ends(program: &mut Program) {
    let began = Instant::now();
    while program.child.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < Duration::from_secs(5), "it does not end");
        thread::sleep(Duration::from_millis(5));
    }
    assert!(program.child.wait().unwrap().success());
}

#[test]
#[cfg(target_os = "linux")]
fn signals_end_the_server_also_as_the_first_process_of_a_container() {
    for name in ["-TERM", "-INT"] {
        let mut program = start(&[]).unwrap();
        signal(name, program.child.id());
        ends(&mut program);
        let container = ["unshare", "--user", "--map-root-user", "--fork", "--pid"];
        let Some(mut program) = start(&container) else {
            eprintln!("{name} not tested in a container: this system allows none");
            continue;
        };
        let parent = program.child.id();
        let children = format!("/proc/{parent}/task/{parent}/children");
        let child = std::fs::read_to_string(children).unwrap();
        signal(name, child.trim().parse().unwrap());
        ends(&mut program);
    }
}
