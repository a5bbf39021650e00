//! Files that a user names and that are no files: pipes, devices, and files far too large.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command as System;
use std::time::Duration;

use crate::nets::tiny;
use assert_cmd::Command;
use jarmo::games::Jarmo;
use predicates::str::contains;

/// Every way to name an input on the command line; `AGENT` is a sound agent.
const COMMANDS: [&[&str]; 11] = [
    &["inspect", "INPUT.safetensors"],
    &["arena", "INPUT.safetensors", "random", "--games", "2"],
    &["arena", "random", "greedy", "--openings", "INPUT", "--games", "2"],
    &["arena", "random", "greedy", "--resume", "INPUT", "--games", "2"],
    &["rules", "show", "--board", "INPUT"],
    &["export", "INPUT.safetensors", "--out", "out.safetensors"],
    &["export", "AGENT", "--results", "INPUT", "--out", "out.safetensors"],
    &["train", "--config", "INPUT", "--run", "run"],
    &["train", "--from", "INPUT.safetensors", "--run", "run"],
    &["train", "--set", "game.board='INPUT'", "--run", "run"],
    &["config", "--config", "INPUT"],
];

/// Makes an input under a name with every ending, and checks that every command refuses it by name.
fn check(make: impl Fn(&Path), message: &str) {
    let home = tempfile::tempdir().unwrap();
    for name in ["input", "input.safetensors"] {
        make(&home.path().join(name));
    }
    let agent = home.path().join("agent.safetensors");
    jarmo::agent_file::save(&tiny(&Jarmo::standard(), 1), &agent).unwrap();
    for arguments in COMMANDS {
        let words = arguments.iter().map(|word| {
            let word = word.replace("INPUT", "input");
            word.replace("AGENT", "agent.safetensors")
        });
        let refused = Command::cargo_bin("jarmo")
            .unwrap()
            .args(words)
            .current_dir(home.path())
            .timeout(Duration::from_secs(20))
            .assert()
            .failure();
        refused.stderr(contains("input")).stderr(contains(message));
        assert!(!home.path().join("run").exists(), "{arguments:?}");
    }
}

#[test]
fn a_pipe_is_refused() {
    let make = |path: &Path| {
        assert!(System::new("mkfifo").arg(path).status().unwrap().success());
    };
    check(make, "a pipe or a device, not a file");
}

#[test]
fn a_device_is_refused() {
    let make = |path: &Path| std::os::unix::fs::symlink("/dev/zero", path).unwrap();
    check(make, "a pipe or a device, not a file");
}

#[test]
fn a_file_far_too_large_is_refused_before_it_is_read() {
    let make = |path: &Path| File::create(path).unwrap().set_len(10 << 30).unwrap();
    check(make, "10737418240 bytes");
    // A sound beginning does not help.
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("agent.safetensors");
    jarmo::agent_file::save(&tiny(&Jarmo::standard(), 1), &path).unwrap();
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(10 << 30).unwrap();
    Command::cargo_bin("jarmo")
        .unwrap()
        .arg("inspect")
        .arg(&path)
        .timeout(Duration::from_secs(20))
        .assert()
        .code(1)
        .stderr(contains("it has 10737418240 bytes, but its header states"));
}
