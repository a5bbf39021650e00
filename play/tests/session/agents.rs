//! Where trained agents are searched for, and how those that do not fit are reported.

use std::fs;
use std::path::Path;

use crate::nets::{tiny, with_header};
use assert_cmd::Command;
use jarmo::catalog::GAMES;
use jarmo::games::{Guard, Jarmo};
use play::agents::MOVE_TIME;
use play::levels::Level;
use play::session::Session;
use play::specs::Store;

/// The output of a game against the default opponent, who answers.
fn opponent(mut command: Command, folder: &Path) -> String {
    command.current_dir(folder).env("LANG", "C.UTF-8").env_remove("LC_ALL").env_remove("LC_MESSAGES");
    let assert = command.arg("--plain").write_stdin("A1-C2\nlist\n").assert().success();
    let said = String::from_utf8(assert.get_output().stdout.clone()).unwrap();
    let list = said.lines().find(|line| line.starts_with("A1-C2 "));
    assert_eq!(list.unwrap().split(' ').count(), 2, "the opponent has answered");
    said
}

fn play() -> Command {
    let mut command = Command::cargo_bin("play").unwrap();
    command.env_remove("JARMO_CHECKPOINTS");
    command
}

#[test]
fn a_trained_agent_in_checkpoints_becomes_the_default_opponent() {
    let folder = tempfile::tempdir().unwrap();
    // Without a folder, the agent that is part of the program plays.
    let said = opponent(play(), folder.path());
    assert!(!said.contains("trained agent"), "{said}");
    let mut without = play();
    without.env("JARMO_CHECKPOINTS", "");
    let said = opponent(without, folder.path());
    assert!(said.contains("No trained agent found"), "{said}");
    fs::create_dir(folder.path().join("checkpoints")).unwrap();
    let file = folder.path().join("checkpoints/jarmo.safetensors");
    jarmo::agent_file::save(&tiny(&Jarmo::standard(), 1), &file).unwrap();
    let said = opponent(play(), folder.path());
    assert!(!said.contains("trained agent"), "{said}");
    fs::write(file, "no agent").unwrap();
    let said = opponent(play(), folder.path());
    assert!(said.contains("cannot play: checkpoints/jarmo.safetensors"), "{said}");
}

#[test]
fn the_folder_in_the_environment_replaces_the_default_folders() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["checkpoints", "others", "empty"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    for name in ["checkpoints", "others"] {
        let file = folder.path().join(name).join("jarmo.safetensors");
        fs::write(file, "no agent").unwrap(); // the refusal names the file
    }
    for (name, expected) in
        [("others", "cannot play: others/jarmo"), ("empty", "No trained agent found"), ("", "No trained agent found")]
    {
        let mut command = play();
        command.env("JARMO_CHECKPOINTS", name);
        let said = opponent(command, folder.path());
        assert!(said.contains(expected), "{name}: {said}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn checkpoints_beside_the_program_are_found_from_every_folder() {
    let installed = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let program = installed.path().join("play");
    fs::hard_link(assert_cmd::cargo::cargo_bin("play"), &program).unwrap();
    fs::create_dir(installed.path().join("checkpoints")).unwrap();
    let file = installed.path().join("checkpoints/jarmo.safetensors");
    fs::write(&file, "no agent").unwrap(); // the refusal names the file
    let mut command = Command::new(program);
    command.env_remove("JARMO_CHECKPOINTS");
    let elsewhere = tempfile::tempdir().unwrap();
    let said = opponent(command, elsewhere.path());
    let file = file.canonicalize().unwrap(); // the program reports the path without symbolic links
    assert!(said.contains(file.to_str().unwrap()), "{said}");
}

#[test]
fn an_unusable_trained_agent_is_reported_and_the_built_in_agent_plays() {
    let file = tiny(&Jarmo::standard(), 1);
    let cases = [
        (
            with_header(&file, r#""encoder_version":3"#, r#""encoder_version":7"#),
            "encoder version 7, this program needs 3",
        ),
        (tiny(&Guard::standard(), 1).to_bytes(), "it is for guard, not for jarmo"),
        (file.to_bytes()[..99].to_vec(), "not a complete safetensors file"),
    ];
    for (bytes, problem) in cases {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("checkpoints")).unwrap();
        fs::write(folder.path().join("checkpoints/jarmo.safetensors"), bytes).unwrap();
        let said = opponent(play(), folder.path());
        let refusal = "The trained agent cannot play: checkpoints/jarmo.safetensors: ";
        assert!(said.contains(refusal) && said.contains(problem), "{said}");
    }
}

#[test]
fn a_trained_agent_plays_every_level_that_searches_and_evaluates() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jarmo.safetensors");
    jarmo::agent_file::save(&tiny(&Jarmo::standard(), 1), &path).unwrap();
    let store = Store { agents: vec![folder.path().to_owned()], ..Store::default() };
    let seats = ["human", "human"];
    let session = Session::new(store, "jarmo", Default::default(), None, seats, 0).unwrap();
    let agents = session.board().agents();
    assert!(agents.is_trained());
    let is_file = |spec: &str| spec.starts_with(path.to_str().unwrap());
    for level in Level::ALL {
        let spec = agents.of_level(level).spec.to_string();
        assert_eq!(is_file(&spec), level > Level::Newcomer, "{spec}");
    }
    assert!(is_file(&agents.analyst(MOVE_TIME).spec.to_string()));
    // The store has no agent for tammi.
    let other = session.beside("tammi", seats, 0).unwrap();
    assert!(!other.board().agents().is_trained());
    assert_eq!(other.board().agents().refused(), None);
}

#[test]
fn the_program_has_a_trained_agent_for_every_game() {
    for game in GAMES {
        let store = Store { built_in: true, ..Store::default() };
        let seats = ["human", "trained:8"];
        let session = Session::new(store, game, Default::default(), None, seats, 0).unwrap();
        let agents = session.board().agents();
        assert_eq!(agents.refused(), None, "{game}");
        let spec = agents.of_level(Level::Medium).spec.to_string();
        assert!(spec.starts_with("trained"), "{game}: {spec}");
    }
}

#[test]
fn levels_rise_in_steps_that_a_person_can_climb() {
    let session = |game, store| {
        let seats = ["human", "easy"];
        Session::new(store, game, Default::default(), None, seats, 0).unwrap()
    };
    for game in GAMES {
        let built_in = Store { built_in: true, ..Store::default() };
        let session = session(game, built_in);
        let ratings = Level::ALL.map(|level| session.rating(level, game).expect("all levels are measured"));
        let steps = ratings.windows(2).map(|pair| i32::from(pair[1]) - i32::from(pair[0]));
        for step in steps {
            assert!((150..=300).contains(&step), "{game}: {ratings:?}");
        }
    }
    // Another agent has other strengths.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jarmo.safetensors");
    jarmo::agent_file::save(&tiny(&Jarmo::standard(), 1), &path).unwrap();
    let other = Store { agents: vec![folder.path().to_owned()], ..Store::default() };
    assert_eq!(session("jarmo", other).rating(Level::Easy, "jarmo"), None);
}
