//! The tab learns what a program learns natively.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use jarmo_core::net::AgentFile;
use jarmo_selfplay::replay::Samples;
use jarmo_web_learn::{Players, Worker};
use serde_json::Value;

const STEPS: u64 = 200;

const SETTINGS: &str = include_str!("settings");

/// The agent after so many steps, as in `steps.mjs`; milliseconds per step, and positions per second.
fn learn_natively(settings: &str) -> (Vec<u8>, f64, f64) {
    let [mut player, mut learner] = [(), ()].map(|()| Worker::new(settings).unwrap());
    learner.begin_learning(None).unwrap();
    player.play_with(&learner.agent(3).unwrap()).unwrap();
    let (mut taken, mut positions, mut learning, mut playing) = (0, 0, 0.0, 0.0);
    while taken < STEPS {
        let due = learner.steps_due().min(STEPS - taken);
        let begun = Instant::now();
        taken += learner.learn(due).unwrap().len() as u64;
        learning += begun.elapsed().as_secs_f64();
        let begun = Instant::now();
        let file = loop {
            positions += player.round().unwrap();
            if let Some(file) = player.samples() {
                break file;
            }
        };
        playing += begun.elapsed().as_secs_f64();
        if due > 0 {
            player.play_with(&learner.agent(3).unwrap()).unwrap();
        }
        let agent = AgentFile::from_bytes(&learner.agent(3).unwrap()).unwrap();
        let samples = Samples::from_bytes(&file, &agent.header().version).unwrap().len();
        let owed = learner.owed();
        learner.add_samples(&file, true).unwrap();
        assert_eq!(learner.owed() - owed, 4.0 * samples as f64 / 128.0); // reuse and batch
    }
    (learner.agent(3).unwrap(), 1000.0 * learning / STEPS as f64, positions as f64 / playing)
}

/// The largest difference of two weights, and the largest weight.
fn apart(one: &AgentFile, other: &AgentFile) -> (f32, f32) {
    let (mut apart, mut largest) = (0.0_f32, 0.0_f32);
    for (name, tensor) in one.weights().tensors() {
        for (one, other) in tensor.data.iter().zip(other.weights().get(name)) {
            apart = apart.max((one - other).abs());
            largest = largest.max(one.abs());
        }
    }
    (apart, largest)
}

/// Half the points of a match over some pairs of games.
fn share(worker: &mut Worker, first: &str, second: &str) -> f64 {
    const PAIRS: u64 = 10;
    let players = Players { first: first.to_owned(), second: second.to_owned() };
    let score: f64 = (0..PAIRS).map(|seed| worker.play_pair(&players, seed).unwrap().score).sum();
    score / (2 * PAIRS) as f64
}

#[test]
fn settings_that_a_run_rejects_are_rejected() {
    for (settings, part) in [
        ("", "game.name"),
        ("game.name=chess", "chess"),
        ("game.name=jarmo\nnet.width = 33", "a multiple of 32"),
        ("game.name=jarmo\nselfplay.c_puct = -1", "selfplay.c_puct = -1: it must be a number from 0 to 100"),
        ("game.name=jarmo\nselfplay", "expected KEY=VALUE"),
        ("game.name=jarmo\nselfplay = { games = 0, c_puct = -1 }", "selfplay.games = 0"),
        ("game.name=jarmo\nrun.kernel = gpu", "gpu"),
    ] {
        let error = Worker::new(settings).err().unwrap().to_string();
        assert!(error.contains(part), "{settings}: {error}");
    }
    let mut worker = Worker::new("game.name=jarmo").unwrap();
    assert_eq!(worker.round().unwrap_err().to_string(), "there is no player yet");
    assert!(worker.play_with(b"no agent").is_err());
    assert!(worker.take_exam(b"no exam").is_err());
    let players = Players { first: "a".to_owned(), second: "random".to_owned() };
    assert_eq!(worker.play_pair(&players, 1).unwrap_err().to_string(), "there is no agent of this name yet");
}

/// With the program of `tools/build_page` in `JARMO_LEARN`, Node takes the same steps.
#[test]
fn node_learns_what_a_native_program_learns() {
    let (native, ms, speed) = learn_natively(SETTINGS);
    println!("native: {ms:.2} ms per step, {speed:.0} positions/s");
    let mut judge = Worker::new(SETTINGS).unwrap();
    judge.take_agent(0, &native).unwrap();
    assert!(share(&mut judge, "a?sims=16", "random") >= 0.9);
    let opinion = judge.opinion("7/7/7/7/7/7 w 0").unwrap();
    assert_eq!(opinion.moves.len(), 7);
    assert!((opinion.win + opinion.draw + opinion.loss - 1.0).abs() < 1e-3);
    let Some(program) = std::env::var_os("JARMO_LEARN") else {
        assert!(std::env::var_os("JARMO_BROWSER").is_none(), "set JARMO_LEARN to the learn.wasm of tools/build_page");
        return;
    };
    let home = tempfile::tempdir().unwrap();
    let [settings, agent] = ["settings", "agent.safetensors"].map(|name| home.path().join(name));
    std::fs::write(&settings, SETTINGS).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/steps.mjs");
    let mut node = Command::new("node");
    node.arg(script).arg(program).arg(&settings).arg(STEPS.to_string()).arg(&agent);
    let output = node.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    println!("node: {told}");
    assert!(told["last"].as_f64() < told["first"].as_f64(), "{told}");
    assert!(told["refused"].as_str().unwrap().contains("safetensors"), "{told}");
    assert!(told["score"].as_f64().unwrap() >= 0.9, "{told}");
    assert!(told["right"].as_f64().unwrap() > 0.6, "{told}");
    let learned = AgentFile::from_bytes(&std::fs::read(&agent).unwrap()).unwrap();
    assert_eq!(learned.header().provenance.step, STEPS);
    let (apart, largest) = apart(&AgentFile::from_bytes(&native).unwrap(), &learned);
    println!("largest difference of two weights: {apart:e}, largest weight: {largest}");
    assert!(apart < 0.2 * largest, "{apart} {largest}");
}
