//! Matches on workers: the same games and the same table as on one machine.

use std::process::Stdio;
use std::{fs, thread};

use jarmo::games::board::Board;
use serde_json::Value;

use super::server::{Server, first_worker as worker, jarmo, stop, until};

const PLAYERS: [&str; 4] = ["trained?sims=24", "rollout:60", "--game", "connect_four"];

/// The pairs that a worker says it has played.
fn pairs(server: &Server, log: &str) -> u64 {
    let log = server.log(log);
    let events = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let played = events.filter(|event| event["event"] == "pairs");
    played.map(|event| event["of"].as_u64().unwrap()).sum()
}

/// The output of a tournament on this machine alone.
fn alone(server: &Server, arguments: &[&str]) -> String {
    let output = jarmo(server.folder(), arguments).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The output of a tournament on workers.
fn shared(server: &Server, arguments: &[&str]) -> String {
    let url = server.url();
    let all = [arguments, &["--fleet", &url]].concat();
    let mut arena = server.command(&all, "learner", "arena.log");
    let output = arena.stdout(Stdio::piped()).output().unwrap();
    assert!(output.status.success(), "{}", server.log("arena.log"));
    String::from_utf8(output.stdout).unwrap()
}

/// The games of a file in an order that does not depend on when they ended.
fn games(server: &Server, name: &str) -> Vec<String> {
    let text = fs::read_to_string(server.folder().join(name)).unwrap();
    let mut games: Vec<String> = text.lines().map(str::to_owned).collect();
    games.sort_unstable();
    games
}

#[test]
fn the_table_is_the_same_on_workers_even_if_one_of_them_is_killed() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let arena = [&["arena"], &PLAYERS[..], &["--games", "300", "--seed", "5"]].concat();
    let expected = alone(&server, &[&arena[..], &["--games-out", "alone.jsonl"]].concat());
    let (mut doomed, survivor) = (worker(&server, "one.log"), worker(&server, "two.log"));
    let found = thread::scope(|scope| {
        let run = [&arena[..], &["--games-out", "shared.jsonl"]].concat();
        let server = &server;
        let found = scope.spawn(move || shared(server, &run));
        until("both workers play", || pairs(server, "one.log") > 0 && pairs(server, "two.log") > 0);
        doomed.kill().unwrap();
        doomed.wait().unwrap();
        found.join().unwrap()
    });
    assert_eq!(found, expected);
    assert_eq!(games(&server, "shared.jsonl"), games(&server, "alone.jsonl"));
    assert!(pairs(&server, "one.log") < 150);
    stop(survivor);
}

#[test]
fn a_sequential_test_ends_at_the_same_game() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let helper = worker(&server, "one.log");
    let arena = ["arena", "rollout:30", "random", "--game", "connect_four"];
    let test = ["--games", "2000", "--sprt", "0,60", "--json"];
    let arena = [&arena[..], &test].concat();
    let expected = alone(&server, &arena);
    assert_eq!(shared(&server, &arena), expected);
    let report: Value = serde_json::from_str(&expected).unwrap();
    assert!(report["games"].as_u64().unwrap() < 2000);
    stop(helper);
}

#[test]
fn workers_get_a_board_of_ones_own() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let helper = worker(&server, "one.log");
    let lines = Board::standard().text() + " A1-A2";
    let lines: Vec<&str> = lines.split(' ').collect();
    fs::write(server.folder().join("own.toml"), format!("name = \"own\"\nlines = {lines:?}\n")).unwrap();
    let arena = ["arena", "greedy", "random", "--game", "guard", "--board", "own.toml", "--games", "20"];
    let expected = alone(&server, &arena);
    assert_eq!(shared(&server, &arena), expected);
    until("the worker says that it played them", || pairs(&server, "one.log") == 10);
    stop(helper);
}

#[test]
fn a_match_that_depends_on_the_machine_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = ["--fleet", "nats://localhost:1"];
    let refused = |more: &[&str]| {
        let arena = [&["arena"], more, &nowhere].concat();
        let output = jarmo(folder.path(), &arena).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let timed = refused(&["random", "greedy", "--movetime", "10"]);
    assert!(timed.contains("--movetime"), "{timed}");
}
