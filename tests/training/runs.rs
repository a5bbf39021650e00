//! Many runs: the list, comparisons, reports and sweeps.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::{self, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use assert_cmd::Command;
use assert_cmd::cargo::cargo_bin;
#[cfg(unix)]
use jarmo::files::is_locked;
use jarmo::run::RunFolder;
use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;
use serde_json::Value;

use crate::run::config;
#[cfg(unix)]
use crate::run::{saved_step, send, wait_for};

/// The shortest run on the command line.
const QUICK: [&str; 6] = ["--config", "configs/smoke.toml", "--set", "selfplay.simulations=2", "--steps", "40"];

fn program(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("jarmo").unwrap();
    command.args(arguments);
    command
}

fn trained(home: &Path, name: &str, settings: &[&str]) -> String {
    let run = home.join(name).to_str().unwrap().to_owned();
    let settings = settings.iter().flat_map(|setting| ["--set", setting]);
    program(&["train", "--run", &run]).args(QUICK).args(settings).assert().success();
    run
}

fn json(arguments: &[&str]) -> Value {
    let output = program(arguments).assert().success().get_output().stdout.clone();
    serde_json::from_slice(&output).unwrap()
}

#[test]
fn runs_are_listed_with_what_they_are_doing_and_without_locks() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().to_str().unwrap();
    trained(home.path(), "ended", &[]);
    let path = home.path().join("ended/metrics.jsonl");
    OpenOptions::new().append(true).open(path).unwrap().write_all(b"{\"step\":60,\"ga").unwrap(); // half-written
    let at = |name: &str| home.path().join(name);
    let running = RunFolder::create(&at("inner/running"), &config(&[]), None).unwrap();
    drop(RunFolder::create(&at("stopped"), &config(&[]), None).unwrap());
    drop(RunFolder::create(&at("other"), &config(&[]), None).unwrap());
    fs::write(at("other/config.toml"), "[selfplay]\nsimulation = 3\n").unwrap(); // of another version
    drop(RunFolder::create(&at("torn"), &config(&[]), None).unwrap());
    fs::write(at("torn/resume/current.json"), "{").unwrap();
    fs::create_dir(at("no-run")).unwrap();
    fs::write(at("no-run/config.toml"), "").unwrap();

    let runs = json(&["runs", place, "--json"]);
    let states: Vec<_> = runs.as_array().unwrap().iter().map(|run| [&run["name"], &run["state"]]).collect();
    let expected = [
        ["ended", "finished"],
        ["inner/running", "running"],
        ["other", "broken"],
        ["stopped", "stopped"],
        ["torn", "broken"],
    ];
    assert_eq!(states, expected);
    assert_eq!((&runs[0]["steps"], &runs[0]["game"]), (&40.into(), &"connect_four".into()));
    assert_eq!(runs[0]["exam_step"], 40, "a run takes an exam at its limit");
    if cfg!(target_os = "linux") {
        assert_eq!(runs[1]["process"], process::id());
    }
    let text = program(&["runs", place, "--sort", "steps"]).assert().success();
    text.stdout(contains("other/config.toml: unknown setting").and(contains("torn/resume/current.json: damaged")));
    let names = |options: &[&str]| -> Vec<String> {
        let runs = json(&[&["runs", place, "--json"], options].concat());
        runs.as_array().unwrap().iter().map(|run| run["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&["--state", "broken", "--reverse"]), ["torn", "other"]);
    assert_eq!(names(&["--game", "connect_four", "--name", "ing"]), ["inner/running"]);
    assert_eq!(names(&["--sort", "steps"])[0], "ended");
    drop(running);
    assert_eq!(names(&["--state", "running"]), [""; 0]);
    program(&["runs", at("no-run").to_str().unwrap()]).assert().success().stdout(contains("no runs below"));
    program(&["runs", place, "--name", "zzz"]).assert().success().stdout(contains(" pass the filters\n"));
    program(&["runs", place, "--game", "conect_four"])
        .assert()
        .code(2)
        .stderr(contains("unknown game `conect_four`; choose one of jarmo, guard, tammi, connect_four"));
    program(&["runs", at("nothing").to_str().unwrap()]).assert().code(1).stderr(contains("nothing"));
}

#[test]
fn runs_are_compared_by_the_settings_in_which_they_differ() {
    let home = tempfile::tempdir().unwrap();
    let (one, two) = (trained(home.path(), "one", &["run.seed=1"]), trained(home.path(), "two", &["run.seed=2"]));
    let wide = trained(home.path(), "wide", &["net.width=96"]);
    let svg = home.path().join("curves.svg");
    let compare = ["runs", "compare", &one, &two, &wide];
    program(&compare).args(["--svg".as_ref(), svg.as_os_str()]).assert().success().stdout(
        contains("net.width=64")
            .and(contains("net.width=96"))
            .and(contains("policy loss over CPU time"))
            .and(contains("⠀")),
    );
    assert!(fs::read_to_string(svg).unwrap().contains("policy loss"));
    let compared = json(&[&compare[..], &["--json", "--match", "--games", "2", "--nodes", "2"]].concat());
    assert_eq!(compared["settings"], serde_json::json!(["net.width"]));
    assert_eq!(compared["groups"][0]["runs"].as_array().unwrap().len(), 2);
    assert!(compared["match"]["verdict"].as_str().unwrap().contains("B's network takes"), "{compared}");
    let copy = home.path().join("copy");
    fs::create_dir(&copy).unwrap();
    for file in ["config.toml", "manifest.toml", "metrics.jsonl"] {
        fs::copy(Path::new(&one).join(file), copy.join(file)).unwrap();
    }
    let refused = program(&["runs", "compare", &one, copy.to_str().unwrap()]).assert().code(1);
    refused.stderr(contains("have the same settings and the same seed, 1; leave one of them out"));
    let twice = json(&["runs", "compare", &one, &format!("{one}/."), "--json"]);
    assert_eq!(twice["groups"][0]["runs"].as_array().unwrap().len(), 1);
    let other = trained(home.path(), "other", &["game.name=tammi"]);
    program(&["runs", "compare", &one, &other]).assert().code(1).stderr(contains("compare runs of one game"));
    let all = home.path().to_str().unwrap();
    program(&["runs", "compare", all]).assert().code(1).stderr(contains("compare runs of one game"));
    program(&["runs", "compare", &one, &two, "--match"]).assert().code(2).stderr(contains("the same settings"));
    let nothing = tempfile::tempdir().unwrap();
    program(&["runs", "compare", nothing.path().to_str().unwrap()])
        .assert()
        .code(1)
        .stderr(contains("no run was started here"));
}

#[test]
fn a_report_is_one_file_about_a_run_or_an_agent() {
    let home = tempfile::tempdir().unwrap();
    let run = trained(home.path(), "c4<", &["evaluation.every=20", "evaluation.games=2"]);
    let out = home.path().join("report.html");
    let write = |source: &str| {
        program(&["report", source, "--out", out.to_str().unwrap()]).assert().success();
        let text = fs::read_to_string(&out).unwrap();
        let (_, data) = text.split_once(r#"<script type="application/json" id="data">"#).unwrap();
        let data: Value = serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap();
        assert!(text.contains("<title>") && !text.contains("src=") && !text.contains("href=") && !text.contains("{{"));
        data
    };
    let data = write(&run);
    assert_eq!((&data["name"], &data["run"]["steps"]), (&"c4<".into(), &40.into()));
    assert!(data["ladder"][0]["elo"].is_f64() && data["games"][0]["scenes"].as_array().unwrap().len() > 7);
    assert_eq!(data["exam"]["mistakes"].as_array().unwrap().len(), 6);
    let listed = json(&["runs", &run, "--json"]);
    assert_eq!(listed[0]["searched"]["score"], data["exam"]["scores"][1]);
    let agent = home.path().join("agent.safetensors");
    program(&["export", &run, "--out", agent.to_str().unwrap()]).assert().success();
    let data = write(agent.to_str().unwrap());
    assert_eq!((&data["name"], &data["run"]), (&"agent".into(), &Value::Null));
    program(&["report", "README.md"]).assert().code(1).stderr(contains("README.md"));
}

#[test]
fn a_sweep_that_was_killed_continues() {
    let home = tempfile::tempdir().unwrap();
    let (file, folder) = (home.path().join("rates.toml"), home.path().join("sweep"));
    let smoke = fs::canonicalize("configs/smoke.toml").unwrap();
    let text = format!(
        "config = [{smoke:?}]\nset = [\"selfplay.simulations=2\", \"evaluation.every=0\", \"run.steps=0\"]\nseeds = [1, 2]\n\
         cpu_minutes = 0.1\nhalving = true\n[vary]\n\"learner.rate\" = [0.001, 0.002]\n"
    );
    fs::write(&file, &text).unwrap();
    let sweep = ["sweep", file.to_str().unwrap(), "--run", folder.to_str().unwrap(), "--json"];
    let mut child = process::Command::new(cargo_bin("jarmo")).args(sweep).stdout(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    while !folder.join("02-seed1").exists() && begun.elapsed() < Duration::from_secs(60) {
        thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let result = json(&sweep);
    let runs = result["runs"].as_array().unwrap();
    let names: Vec<_> = runs.iter().map(|run| run["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["01-seed1", "01-seed2", "02-seed1", "02-seed2"]);
    let finished: Vec<_> = runs.iter().filter(|run| run["state"] == "finished").collect();
    let groups = result["comparison"]["groups"].as_array().unwrap();
    assert_eq!((finished.len(), groups.len()), (2, 1)); // one choice was dropped
    // The exams of the final weights count.
    let number = |value: &Value| value.as_f64().unwrap();
    let exams = finished.iter().map(|run| 100.0 * (number(&run["exam"]["right"]) / number(&run["exam"]["decisions"])));
    let mut exams: Vec<f64> = exams.collect();
    exams.sort_by(f64::total_cmp);
    assert_eq!(exams, ["low", "high"].map(|end| number(&groups[0]["right"][end])));
    let first = &result["halvings"][0];
    assert_eq!(first["settings"], serde_json::json!(["learner.rate"]));
    assert_eq!(first["groups"].as_array().unwrap().len(), 2); // its settings are shown
    let steps = |result: &Value| -> Vec<Value> {
        result["runs"].as_array().unwrap().iter().map(|run| run["steps"].clone()).collect()
    };
    let again = program(&sweep[..4]).assert().success(); // nothing is left to do
    again.stdout(
        contains("The better half of these continued: connect_four, after").and(contains("learner.rate=0.002")),
    );
    assert_eq!(steps(&json(&sweep)), steps(&result));
    let beside: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(beside.len(), 4 + 2, "{beside:?}"); // the runs, the copy of the file, and the lock

    fs::write(&file, text.replace("0.002", "0.003")).unwrap();
    program(&sweep).assert().code(1).stderr(contains("choose another folder with --run"));
    for (from, to, problem) in [
        ("learner.rate", "learner.rat", "the nearest is learner.rate"),
        ("seeds = [1, 2]", "seeds = []", "seeds: give at least one"),
        ("seeds = [1, 2]", "seeds = [1, 2, 1]", "seeds: 1 is listed twice"),
        ("[vary]", "[vary]\n\"run.seed\" = [5, 6]", "vary.run.seed: use seeds"),
        ("[vary]", "[vary]\n\"run.steps\" = [5, 6]", "vary.run.steps: use seeds"),
        ("[0.001, 0.002]", "[0.001, 0.001]", "vary: learner.rate=0.001 is listed twice"),
        ("[0.001, 0.002]", "[]", "vary.learner.rate: expected values"),
        ("[0.001, 0.002]", "{ from = 1, to = 2 }", "need samples"),
        ("halving", "halve", "unknown field `halve`"),
        ("selfplay.simulations=2", "game.name=guard", "the runs take no exam; set measure = \"match\""),
        ("halving", "measure = \"match\"\nhalving", "the runs play no matches; set evaluation.every"),
    ] {
        fs::write(&file, text.replace(from, to)).unwrap();
        program(&sweep).assert().code(2).stderr(contains(problem));
    }
}

#[test]
#[cfg(unix)]
fn a_stopped_sweep_stops_its_runs_which_save() {
    let home = tempfile::tempdir().unwrap();
    let (file, folder) = (home.path().join("long.toml"), home.path().join("sweep"));
    let smoke = fs::canonicalize("configs/smoke.toml").unwrap();
    let set = ["selfplay.simulations=2", "evaluation.every=0", "run.steps=0", "run.checkpoint=1000000"];
    let text = format!("config = [{smoke:?}]\nset = {set:?}\nseeds = [1, 2]\njobs = 2\ncpu_minutes = 100\n[vary]\n");
    fs::write(&file, text).unwrap();
    let runs = ["01-seed1", "01-seed2"].map(|name| folder.join(name));
    let start = || {
        let mut sweep = process::Command::new(cargo_bin("jarmo"));
        sweep.arg("sweep").arg(&file).arg("--run").arg(&folder).stdout(Stdio::null()).spawn().unwrap()
    };
    let mut sweep = start();
    wait_for("training steps", || runs.iter().all(|run| run.join("metrics.jsonl").exists()));
    send("-TERM", &sweep);
    assert_eq!(sweep.wait().unwrap().code(), Some(130));
    assert!(runs.iter().all(|run| saved_step(run) >= Some(20)));

    // A second signal ends everything.
    let mut sweep = start();
    wait_for("the runs", || runs.iter().all(|run| is_locked(run).0));
    send("-INT", &sweep);
    send("-TERM", &sweep);
    assert_eq!(sweep.wait().unwrap().code(), Some(130));
    assert!(!runs.iter().any(|run| is_locked(run).0));
}
