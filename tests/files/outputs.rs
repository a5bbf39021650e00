//! Outputs that cannot be written: folders, pipes and devices that a user names, and a full disk.

use std::fs::{self, File};
use std::os::unix::fs::{FileTypeExt, symlink};
use std::path::Path;
use std::process::Command as System;
use std::time::Duration;

use crate::nets::tiny;
use assert_cmd::Command;
use jarmo::games::Jarmo;
use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;

/// Ways to name an output on the command line; `agent.safetensors` is a sound agent.
const COMMANDS: [&str; 3] = [
    "export agent.safetensors --out OUTPUT",
    "arena random greedy --games 2 --svg OUTPUT",
    "accuracy random --game connect_four --svg OUTPUT",
];

/// Makes an output, and checks that every command refuses it by name and leaves it as it is.
fn check(name: &str, make: impl Fn(&Path), is_there: impl Fn(&Path) -> bool, message: &str) {
    let home = tempfile::tempdir().unwrap();
    let output = home.path().join(name);
    make(&output);
    let agent = home.path().join("agent.safetensors");
    jarmo::agent_file::save(&tiny(&Jarmo::standard(), 1), &agent).unwrap();
    for command in COMMANDS {
        Command::cargo_bin("jarmo")
            .unwrap()
            .args(command.replace("OUTPUT", name).split(' '))
            .current_dir(home.path())
            .timeout(Duration::from_secs(20))
            .assert()
            .code(1)
            .stdout("")
            .stderr(contains(format!("{name}: ")).and(contains(message)));
        assert!(is_there(&output), "{command}");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 2, "{command}");
    }
}

#[test]
fn an_output_in_a_missing_folder_is_refused_before_the_work() {
    let home = tempfile::tempdir().unwrap();
    for command in [
        "arena alphabeta:100000000 alphabeta:100000000 --games 2000 --svg no/such.svg",
        "accuracy alphabeta:100000000 --svg no/such.svg",
        "yardstick alphabeta:100000000 --svg no/such.svg",
        "export agent.safetensors --out no/such.safetensors",
    ] {
        Command::cargo_bin("jarmo")
            .unwrap()
            .args(command.split(' '))
            .current_dir(home.path())
            .timeout(Duration::from_secs(20))
            .assert()
            .code(1)
            .stdout("")
            .stderr(contains("no/such.s").and(contains(": no is no folder (")));
    }
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn a_pipe_is_not_replaced_and_nothing_waits_for_its_reader() {
    let make = |path: &Path| {
        assert!(System::new("mkfifo").arg(path).status().unwrap().success());
    };
    let is_there = |path: &Path| fs::metadata(path).unwrap().file_type().is_fifo();
    check("pipe", make, is_there, "a pipe or a device, not a file; name a file");
}

#[test]
fn a_device_is_not_replaced() {
    let make = |path: &Path| symlink("/dev/null", path).unwrap();
    let is_there = |path: &Path| path.is_symlink();
    check("device", make, is_there, "a pipe or a device, not a file; name a file");
}

#[test]
fn a_folder_is_not_replaced() {
    let make = |path: &Path| fs::create_dir(path).unwrap();
    check("folder", make, Path::is_dir, "a folder, not a file");
}

#[test]
fn help_that_cannot_be_printed_is_an_error() {
    for arguments in [&["--help"][..], &["--version"], &["help", "train"]] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let answer = System::new(env!("CARGO_BIN_EXE_jarmo")).args(arguments).stdout(full).output().unwrap();
        assert_eq!(answer.status.code(), Some(1), "{arguments:?}");
        assert!(String::from_utf8(answer.stderr).unwrap().starts_with("error: standard output: "));
    }
}
