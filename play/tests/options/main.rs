//! The options of the program, and what it tells shells and the manual about them.

use std::any::TypeId;
use std::net::IpAddr;
use std::path::PathBuf;

use assert_cmd::Command;
use clap::{CommandFactory, Parser};
use play::lang::Language;
use play::options::Options;
use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;

#[path = "../../../tests/common/numbers.rs"]
mod numbers;

#[test]
fn every_number_has_bounds_that_its_error_names() {
    let others = [
        TypeId::of::<String>(),
        TypeId::of::<PathBuf>(),
        TypeId::of::<IpAddr>(),
        TypeId::of::<Language>(),
        TypeId::of::<Option<PathBuf>>(),
    ];
    let mut command = Options::command();
    command.build();
    assert_eq!(numbers::try_every_number(&command, &others), 5);
}

#[test]
fn completions_and_the_manual_page_know_every_option() {
    let command = Options::command();
    let options: Vec<&str> = command.get_arguments().filter_map(|one| one.get_long()).collect();
    assert!(options.len() > 15);
    let printed = |args: &[&str]| {
        let assert = Command::cargo_bin("play").unwrap().args(args).assert();
        String::from_utf8(assert.success().get_output().stdout.clone()).unwrap()
    };
    for shell in ["bash", "zsh", "fish"] {
        let script = printed(&["--completions", shell]);
        for option in &options {
            assert!(script.contains(option), "{shell}: {option}");
        }
    }
    let page = printed(&["--man"]);
    for option in &options {
        let escaped = option.replace('-', "\\-");
        assert!(page.contains(&format!("\\-\\-{escaped}")), "{option}");
    }
    Command::cargo_bin("play")
        .unwrap()
        .args(["--completions", "cmd"])
        .assert()
        .code(2)
        .stderr(contains("cmd").and(contains("bash")));
}

#[test]
fn the_full_screen_needs_a_terminal_and_unicode() {
    let usual = Options::parse_from(["play"]);
    assert!(!usual.is_plain(true, true));
    assert!(usual.is_plain(true, false) && usual.is_plain(false, true));
    assert!(Options::parse_from(["play", "--plain"]).is_plain(true, true));
}

#[test]
fn a_game_begins_with_a_position() {
    let play = |args: &[&str]| {
        let mut command = Command::cargo_bin("play").unwrap();
        command.env("JARMO_CHECKPOINTS", "").args(args);
        command.write_stdin("moves\nquit\n").assert()
    };
    let position = "5/b4/4b/5/2w1w w - - 0";
    let people = ["--white", "human", "--black", "human"];
    play(&[&["--position", position], &people[..]].concat())
        .success()
        .stdout(contains("E1-C2").and(contains("A1-C2").not()));
    // White is an agent and moves first.
    play(&["--position", position, "--side", "black", "--opponent", "greedy"])
        .success()
        .stdout(contains("Black to move"));
    play(&["--position", "5/5"]).code(2).stderr(contains("--position: illegal position: position `5/5`"));
    play(&["--position", position, "--game", "tammi"]).code(2).stderr(contains("--position"));
    play(&["--position", position, "--load", "games.jsonl"]).code(2).stderr(contains("--load"));
    play(&["--position", position, "--analyse", "games.jsonl"])
        .code(2)
        .stderr(contains("--position: a record has a position of its own"));
}
