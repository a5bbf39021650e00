//! A training run: stopped and resumed it equals the run that was never stopped, and whatever can
//! go wrong with its folder is said clearly and loses nothing.
#![cfg(feature = "net")]

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use assert_cmd::Command;
use jarmo::config::Config;
use jarmo::games::{ConnectFour, Tammi};
use jarmo::net::AgentFile;
use jarmo::run::{Ended, Event, Metrics, RunFolder, run};
use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;

fn config(settings: &[&str]) -> Config {
    let small = [
        "game.name=connect_four",
        "net.width=32",
        "net.blocks=1",
        "selfplay.games=96",
        "selfplay.simulations=4",
        "replay.capacity=9000",
        "run.threads=1",
        "run.batch=256",
        "run.first_samples=4096",
        "run.reuse=2.5",
        "run.checkpoint=50",
        "learner.warm_up=10",
    ];
    let settings: Vec<String> = [&small, settings]
        .concat()
        .iter()
        .map(|&s| s.to_owned())
        .collect();
    Config::layered(&[], &settings).unwrap()
}

/// Runs until a limit, or until `stop_after` lines of metrics; answers what ended it.
fn train(folder: &RunFolder, config: &Config, stop_after: usize) -> Ended {
    let stop = AtomicBool::new(false);
    let mut lines = 0;
    run(ConnectFour::new(0), config, folder, &stop, |event| {
        if let Event::Metrics(_) = event {
            lines += 1;
            stop.store(lines >= stop_after, std::sync::atomic::Ordering::Relaxed);
        }
    })
    .unwrap()
}

/// The metrics of a run without what depends on the clock.
fn metrics(path: &Path) -> Vec<Metrics> {
    let text = fs::read_to_string(path.join("metrics.jsonl")).unwrap();
    let lines = text.lines().map(|line| {
        let mut metrics: Metrics = serde_json::from_str(line).unwrap();
        metrics.timing = serde_json::from_str(
            r#"{"seconds":0,"games_per_s":0,"positions_per_s":0,"evaluations_per_s":0,
                "steps_per_s":0,"learning":0}"#,
        )
        .unwrap();
        metrics
    });
    lines.collect()
}

fn newest(folder: &RunFolder) -> AgentFile {
    AgentFile::load(&folder.newest_agent().unwrap()).unwrap()
}

#[test]
fn a_run_stopped_and_resumed_equals_one_that_never_stopped() {
    let home = tempfile::tempdir().unwrap();
    let config = config(&["run.steps=160"]);
    let whole = home.path().join("whole");
    let folder = RunFolder::create(&whole, &config).unwrap();
    assert_eq!(train(&folder, &config, usize::MAX), Ended::Limit);
    let expected = metrics(&whole);
    assert_eq!(expected.last().unwrap().step, 160);
    assert!(expected.len() >= 4);

    let parts = home.path().join("parts");
    let first = RunFolder::create(&parts, &config).unwrap();
    assert_eq!(train(&first, &config, 1), Ended::Stopped);
    drop(first);
    assert!(metrics(&parts).len() < expected.len());
    // As if it had been killed after a checkpoint: what it wrote later is not to be believed.
    fs::write(parts.join("replay/00000099.safetensors"), "half a file").unwrap();
    let stray = expected.last().unwrap();
    let mut text = fs::read_to_string(parts.join("metrics.jsonl")).unwrap();
    text += &format!("{}\n{{\"step\":", serde_json::to_string(stray).unwrap());
    fs::write(parts.join("metrics.jsonl"), text).unwrap();

    for stop_after in [1, usize::MAX] {
        let (folder, kept) = RunFolder::open(&parts).unwrap();
        assert_eq!(kept, config);
        train(&folder, &kept, stop_after);
    }
    assert_eq!(metrics(&parts), expected);
    let (parts, _) = RunFolder::open(&parts).unwrap();
    assert_eq!(newest(&parts).weights(), newest(&folder).weights());
    assert_eq!(newest(&parts).header().provenance.step, 160);
}

#[test]
fn only_the_newest_checkpoints_are_kept() {
    let home = tempfile::tempdir().unwrap();
    let config = config(&["run.steps=240", "run.checkpoint=20", "run.keep=2"]);
    let folder = RunFolder::create(home.path(), &config).unwrap();
    train(&folder, &config, usize::MAX);
    let count = |name: &str| fs::read_dir(home.path().join(name)).unwrap().count();
    assert_eq!(count("checkpoints"), 2);
    assert_eq!(count("resume"), 4);
    // The window needs 9000 samples of at least 4096 a file.
    assert!(count("replay") <= 3, "{}", count("replay"));
}

#[test]
fn a_loss_that_explodes_stops_the_run_and_keeps_its_checkpoint() {
    let home = tempfile::tempdir().unwrap();
    let mut config = config(&["run.steps=40"]);
    let folder = RunFolder::create(home.path(), &config).unwrap();
    train(&folder, &config, usize::MAX);
    let before = fs::read(folder.newest_agent().unwrap()).unwrap();
    config.run.steps = 200;
    config.learner.explode = 0.001;
    let stop = AtomicBool::new(false);
    let error = run(ConnectFour::new(0), &config, &folder, &stop, |_| ()).unwrap_err();
    assert!(
        error.to_string().contains("above learner.explode = 0.001"),
        "{error}"
    );
    assert!(
        error
            .to_string()
            .contains("go on with: jarmo train --resume"),
        "{error}"
    );
    assert_eq!(fs::read(folder.newest_agent().unwrap()).unwrap(), before);
}

#[test]
fn a_folder_in_use_or_of_another_game_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let config = config(&["run.steps=20"]);
    let folder = RunFolder::create(home.path(), &config).unwrap();
    let message = |error: jarmo::run::RunError| error.to_string();
    let held = message(RunFolder::open(home.path()).unwrap_err());
    assert!(
        held.contains("another process is training in this folder"),
        "{held}"
    );
    let again = message(RunFolder::create(home.path(), &config).unwrap_err());
    assert!(again.contains("already holds a run"), "{again}");
    train(&folder, &config, usize::MAX);
    let stop = AtomicBool::new(false);
    let other = run(Tammi::new(30, 200), &config, &folder, &stop, |_| ()).unwrap_err();
    assert!(
        message(other.clone()).contains("samples of connect_four"),
        "{other}"
    );
    let nothing = message(RunFolder::open(&home.path().join("nothing")).unwrap_err());
    assert!(nothing.contains("no run was started here"), "{nothing}");
}

fn program(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("jarmo").unwrap();
    command.args(arguments);
    command
}

#[test]
fn train_resume_and_export_on_the_command_line() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("run");
    let run = path.to_str().unwrap();
    let settings = [
        "--config",
        "configs/smoke.toml",
        "--set",
        "selfplay.simulations=2",
    ];
    program(&["train", "--run", run, "--steps", "40"])
        .args(settings)
        .assert()
        .success()
        .stdout(contains("step 40: checkpoint").and(contains("evaluate it: jarmo arena")));
    program(&["train", "--run", run])
        .args(settings)
        .assert()
        .code(1)
        .stderr(contains("already holds a run").and(contains("jarmo train --resume")));
    program(&["train", "--resume", run, "--steps", "60"])
        .assert()
        .success()
        .stdout(contains("step 60: checkpoint"));
    let out = home.path().join("agent.safetensors");
    let out = out.to_str().unwrap();
    program(&["export", run, "--out", out])
        .assert()
        .success()
        .stdout(contains("step 60"));
    program(&["export", run, "--checkpoint", "7", "--out", out])
        .assert()
        .code(1)
        .stderr(contains("there are checkpoints of steps 40, 60"));
    program(&["inspect", out])
        .assert()
        .success()
        .stdout(contains("step 60"));
    program(&["train", "--resume", home.path().to_str().unwrap()])
        .assert()
        .code(1)
        .stderr(contains("no run was started here"));
    program(&["train", "--set", "run.stps=1"])
        .assert()
        .code(2)
        .stderr(contains("the nearest is run.steps"));
    program(&["train", "--set", "game.name=chess"])
        .assert()
        .code(2)
        .stderr(contains("no game is called `chess`"));
}
