//! The options of the program, and what it tells shells and the manual about them.

use std::any::TypeId;
use std::net::IpAddr;
use std::path::PathBuf;

use assert_cmd::Command;
use clap::{CommandFactory, Parser};
use play::lang::Language;
use play::options::Options;
use play::server::Origin;
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
        TypeId::of::<Origin>(),
    ];
    let mut command = Options::command();
    command.build();
    assert_eq!(numbers::try_every_number(&command, &others), 5);
}

#[test]
fn a_folder_that_is_not_the_page_is_refused() {
    for (folder, problem) in [("/nonexistent", "No such file"), (".", "tools/build_page")] {
        let mut program = Command::cargo_bin("play").unwrap();
        let refused = program.args(["--web", "--port", "0", "--page", folder]).assert().code(1);
        refused.stderr(contains("--page").and(contains(folder)).and(contains(problem)));
    }
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

#[test]
fn a_player_whose_name_is_misspelt_is_suggested() {
    for (typed, meant) in [("mediun", "medium"), ("Hard", "hard"), ("bst", "best"), ("rolout:800", "rollout")] {
        let mut command = Command::cargo_bin("play").unwrap();
        let refused = command.args(["--plain", "--opponent", typed]).assert().code(2);
        refused.stderr(contains(format!("did you mean `{meant}`?")));
    }
    let mut command = Command::cargo_bin("play").unwrap();
    let refused = command.args(["--plain", "--opponent", "stockfish"]).assert().code(2);
    refused.stderr(contains("did you mean").not());
}

#[test]
fn the_folder_of_a_run_is_a_player() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run-1");
    let checkpoints = run.join("checkpoints");
    std::fs::create_dir_all(&checkpoints).unwrap();
    let play = |args: &[&str], input: &str| {
        let mut command = Command::cargo_bin("play").unwrap();
        command.current_dir(folder.path()).env("JARMO_CHECKPOINTS", "").args(args);
        command.write_stdin(input.to_owned()).assert()
    };
    play(&["--opponent", "run-1"], "").code(2).stderr(contains("run-1").and(contains("no checkpoints")));
    std::fs::write(checkpoints.join("step-00000100.safetensors"), "an older one").unwrap();
    std::fs::copy("../checkpoints/jarmo.safetensors", checkpoints.join("step-00002000.safetensors")).unwrap();
    for who in ["run-1", "run-1/", "./run-1?sims=1", "run-1/checkpoints", "run:run-1@2000"] {
        play(&["--opponent", who], "A1-C2\nquit\n").success().stdout(contains("\n> "));
    }
    play(&["--opponent", "run:run-1@7"], "").code(2).stderr(contains("the steps are 100, 2000"));
    let seats = "white run-1?sims=1\nquit\n";
    play(&["--black", "human", "--white", "human"], seats).success().stdout(contains("\n> "));
    // A level is the level, whatever the folder beside it is called.
    std::fs::create_dir(folder.path().join("newcomer")).unwrap();
    play(&["--opponent", "newcomer"], "quit\n").success();
}

#[test]
fn an_export_that_cannot_be_written_is_reported_before_the_analysis() {
    let folder = tempfile::tempdir().unwrap();
    let game = folder.path().join("game.jsonl");
    std::fs::write(&game, r#"{"game":"connect_four","moves":["D","C","D"]}"#).unwrap();
    let export = |out: &str| {
        let mut command = Command::cargo_bin("play").unwrap();
        command.env("JARMO_CHECKPOINTS", "").args(["--analyse", game.to_str().unwrap(), "--export", out]).assert()
    };
    let place = folder.path().to_str().unwrap();
    for out in ["/nonexistent/x", place] {
        export(out).failure().stderr(contains("--export").and(contains(out))).stdout("");
    }
    // An analysis that is refused leaves no file behind.
    let out = folder.path().join("out.jsonl");
    std::fs::write(&game, "no game").unwrap();
    export(out.to_str().unwrap()).failure();
    assert!(!out.exists());
}
