//! The engine as a program: what ends a search, and input of any size.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// A search that no test waits for.
const ENDLESS: &str = "go nodes 1000000000000000000";

/// The time that a search may go on after it is told to end. The processor has other work during tests.
const AT_ONCE: Duration = Duration::from_millis(400);

struct Engine {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Engine {
    fn start(agent: &str) -> Engine {
        let mut child = Command::new(env!("CARGO_BIN_EXE_jarmo"))
            .args(["engine", "--agent", agent])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (send, lines) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let _ = send.send(line);
            }
        });
        Engine { input: child.stdin.take(), child, lines }
    }

    fn send(&mut self, text: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(text.as_bytes()).unwrap();
        input.flush().unwrap();
    }

    /// Waits for the line that begins like this.
    fn expect(&self, beginning: &str) -> String {
        loop {
            let wait = Duration::from_secs(30);
            let line = self.lines.recv_timeout(wait).expect(beginning);
            if line.starts_with(beginning) {
                return line;
            }
        }
    }

    /// Waits for the end of the program and returns the time it took.
    fn end(&mut self) -> Duration {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                assert!(status.success(), "{status}");
                return began.elapsed();
            }
            assert!(began.elapsed() < Duration::from_secs(30), "it does not end");
            thread::sleep(Duration::from_millis(2));
        }
    }
}

const AGENTS: [&str; 6] = [
    "alphabeta",
    "alphabeta?mb=1000&lines=3",
    "rollout:1000?mb=64",
    "uniform?mb=64",
    "checkpoints/jarmo.safetensors?mb=64",
    "checkpoints/jarmo.safetensors?sims=0",
];

/// An engine in the middle of a search, with more commands that wait for it.
fn searching(agent: &str) -> Engine {
    let mut engine = Engine::start(agent);
    engine.send("isready\n");
    engine.expect("readyok");
    engine.send(&format!("position startpos\n{ENDLESS}\nuginewgame\n"));
    thread::sleep(Duration::from_millis(100));
    engine
}

#[test]
fn stop_ends_any_search_at_once() {
    for agent in AGENTS {
        let mut engine = searching(agent);
        let began = Instant::now();
        engine.send("stop\n");
        engine.expect("bestmove ");
        assert!(began.elapsed() < AT_ONCE, "{agent}: {:?}", began.elapsed());
        engine.send("query gameover\ngo nodes 1\n");
        engine.expect("response false");
        engine.expect("bestmove ");
    }
}

#[test]
fn quit_and_the_end_of_the_input_end_any_search_at_once() {
    for agent in AGENTS {
        let mut engine = searching(agent);
        engine.send("quit\n"); // the input stays open
        let took = engine.end();
        assert!(took < AT_ONCE, "{agent}: quit: {took:?}");
        engine.expect("bestmove ");
        let mut engine = searching(agent);
        engine.input = None;
        let took = engine.end();
        assert!(took < AT_ONCE, "{agent}: end of input: {took:?}");
        engine.expect("bestmove ");
    }
}

#[test]
fn every_search_that_waits_before_quit_is_answered() {
    let mut engine = Engine::start("alphabeta");
    engine.send(&format!("{ENDLESS}\nposition startpos moves A1-C2\n{ENDLESS}\nquit\n"));
    assert!(engine.end() < Duration::from_secs(5));
    engine.expect("bestmove ");
    engine.expect("bestmove ");
}

#[test]
fn commands_wait_for_a_limited_search_and_then_are_carried_out() {
    let mut engine = Engine::start("alphabeta");
    engine.send("go nodes 100000\nposition startpos moves A1-C2\nquery p1turn\n");
    let last = engine.expect("bestmove ");
    assert!(last.len() > "bestmove ".len());
    engine.expect("response false");
}

/// The most memory that a process has had, in KiB.
#[cfg(target_os = "linux")]
fn peak(child: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn a_line_of_any_length_takes_little_memory_and_is_not_repeated() {
    let mut engine = Engine::start("random");
    let part = "x".repeat(1 << 20);
    for _ in 0..1000 {
        engine.send(&part); // one word of a gigabyte
    }
    engine.send("\n");
    let told = engine.expect("info string");
    assert_eq!(told, "info string a line is longer than 1 MiB and was ignored");
    engine.send("isready\n");
    engine.expect("readyok");
    let peak = peak(&engine.child);
    assert!(peak < 200 << 10, "{peak} KiB");
}

#[test]
fn messages_repeat_little_of_what_was_sent() {
    let long = "y".repeat(100_000);
    for line in [
        long.clone(),
        format!("go {long}"),
        format!("go nodes {long}"),
        format!("query {long}"),
        format!("position startpos {long}"),
        format!("position startpos moves {long}"),
        format!("position startpos moves @{long}"),
        format!("position fen {long}"),
        format!("position fen {long} w - - 0"),
        format!("position fen bbbbb/5/5/5/wwwww w {long} - 0"),
        format!("position fen bbbbb/5/5/5/wwwww w - - {long}"),
        format!("position {long}"),
        format!("setoption {long}"),
        format!("setoption name {long} value 1"),
        format!("setoption name Seed value {long}"),
        format!("setoption name Agent value {long}"),
        format!("setoption name Agent value alphabeta:{long}"),
        format!("setoption name Agent value alphabeta?{long}=1"),
        format!("setoption name Agent value rollout?root={long}"),
        format!("setoption name Agent value {long}.safetensors"),
        format!("setoption name Agent value rollout?tables={long}"),
        format!("setoption name Agent value {}.safetensors", "z".repeat(900)),
        format!("setoption name Agent value alphabeta?{}=1", "z".repeat(900)),
        format!("setoption name Agent value rollout?root={}", "z".repeat(900)),
    ] {
        let mut engine = Engine::start("random");
        engine.send(&format!("{line}\n"));
        let told = engine.expect("info string");
        let repeated = told.matches(['y', 'z']).count();
        let shown: String = told.chars().take(300).collect();
        // An agent, its setting, and the value: 80 characters each.
        assert!(repeated <= 245 && told.len() < 700, "{shown}");
    }
    let mut engine = Engine::start("random");
    engine.send("setoption name MultiPV value 65\nsetoption name Simulations value 1000000001\n");
    assert!(engine.expect("info string").contains("from 1 to 64"));
    assert!(engine.expect("info string").contains("from 0 to 1000000000"));
}

#[test]
fn arguments_are_repeated_in_short_too() {
    let long = "y".repeat(100_000);
    let cases: [&[&str]; 7] = [
        &["perft", "--depth", &long],
        &["perft", "--depth", "1", "--position", &long],
        &["perft", "--depth", "1", "--game", &long],
        &["rules", "show", "--moves", &long],
        &["engine", "--agent", &long],
        &[&long],
        &["perft", &long],
    ];
    for args in cases {
        let output = Command::new(env!("CARGO_BIN_EXE_jarmo")).args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.matches('y').count() < 200, "{}: {}", args[0].len(), told.len());
    }
}
