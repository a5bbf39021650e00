//! `jarmo arena` on the command line.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::nets::{tiny, with_header};
use assert_cmd::prelude::*;
use jarmo::games::{Guard, Jarmo};
use predicates::prelude::*;
use predicates::str::{contains, is_empty, is_match};
use serde_json::Value;

fn arena(args: &str) -> Command {
    let mut command = Command::cargo_bin("jarmo").unwrap();
    command.arg("arena").args(args.split(' '));
    command
}

/// The path of a new file for one test.
fn fresh(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("arena-{name}"));
    let _ = fs::remove_file(&path);
    path
}

fn with_file(command: &str, option: &str, path: &PathBuf) -> Command {
    let mut command = arena(command);
    command.arg(option).arg(path);
    command
}

fn json(mut command: Command) -> Value {
    let output = command.arg("--json").assert().success().get_output().stdout.clone();
    serde_json::from_slice(&output).unwrap()
}

#[test]
fn a_match_prints_a_table() {
    arena("uniform?sims=4 random --games 2 --anchor uniform?sims=4=0")
        .assert()
        .success()
        .stdout(contains("relative to uniform?sims=4 = 0"));
    arena("greedy random --games 20 --anchor random=0").assert().success().stdout(
        contains("jarmo: 1 match of 20 games, openings: 467 balanced ones, seed 1")
            .and(is_match(r"\n 1 greedy +\+\d+ +\d+ +20 ").unwrap())
            .and(is_match(r"\n 2 random +0 +0 +20 ").unwrap())
            .and(is_match(r"\n   greedy – random +20 ").unwrap())
            .and(contains("relative to random = 0"))
            .and(contains("  diff\n")),
    );
    // A game without points has no column for their difference.
    arena("greedy random --games 4 --game connect_four").assert().success().stdout(contains("diff").not());
}

#[test]
fn a_round_robin_of_many_agents_lists_no_matches() {
    let matches = |agents: usize, more: &str| {
        let args = format!("{} --games 2{more}", vec!["random"; agents].join(" "));
        let text = arena(&args).assert().success().get_output().stdout.clone();
        let text = String::from_utf8(text).unwrap();
        let left_out = text.contains("matches are left out; the JSON report has them");
        (text.lines().filter(|line| line.contains(" – ")).count(), left_out)
    };
    assert_eq!(matches(5, ""), (10, false));
    assert_eq!(matches(6, ""), (0, true));
    assert_eq!(matches(6, " --gauntlet"), (5, false));
    let report = json(arena("random random random random random random --games 2"));
    assert_eq!(report["matches"].as_array().unwrap().len(), 15);
}

#[test]
fn a_match_reports_its_opening_pairs() {
    let args = "greedy rollout:100 --games 40 --seed 5";
    let report = json(arena(args));
    let pairs: Vec<u64> =
        report["matches"][0]["pairs"].as_array().unwrap().iter().map(|count| count.as_u64().unwrap()).collect();
    assert_eq!(pairs.iter().sum::<u64>(), 20);
    let (lost, even, won) = (pairs[0] + pairs[1], pairs[2], pairs[3] + pairs[4]);
    assert!(lost > 0 && even > 0 && won > 0, "{pairs:?}");
    let line = format!("greedy won {won}, lost {lost} and tied {even}.");
    arena(args).assert().success().stdout(contains(line));
}

#[test]
fn json_has_the_whole_report_and_csv_the_ratings() {
    let args = "random greedy rollout:20 --games 10 --seed 5 --nodes 10 --game guard";
    let report = json(arena(args));
    assert_eq!(report["game"], "guard");
    assert_eq!(report["nodes"], 10);
    assert_eq!(report["games"], 30);
    assert_eq!(report["agents"].as_array().unwrap().len(), 3);
    assert_eq!(report["matches"].as_array().unwrap().len(), 3);
    let csv = arena(args).arg("--csv").assert().success().get_output().stdout.clone();
    let csv = String::from_utf8(csv).unwrap();
    let columns: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
    assert_eq!(columns, [19; 4]);
    let best = csv.lines().nth(1).unwrap();
    assert!(best.starts_with(report["agents"][0]["name"].as_str().unwrap()));
}

#[test]
fn tables_count_the_results_that_agents_throw_away() {
    let folder = tempfile::tempdir().unwrap();
    let tables = folder.path().to_str().unwrap();
    let mut build = Command::cargo_bin("jarmo").unwrap();
    build.args(["tables", "build", "--force", "4", "--out", tables]);
    build.assert().success();
    // White wins in 23 plies, and in 1.
    let positions = ["5/b4/4b/5/2w1w w - - 0", "5/2w2/5/2b2/5 w - - 0"];
    let line = |position| format!("{{\"game\":\"jarmo\",\"position\":\"{position}\",\"moves\":[]}}\n");
    let openings = folder.path().join("openings.jsonl");
    fs::write(&openings, positions.map(line).concat()).unwrap();
    let openings = openings.to_str().unwrap();
    let games = format!("random rollout?tables={tables} --games 20 --openings {openings} --tables {tables}");
    let report = json(arena(&games));
    assert_eq!(report["judged"], true);
    let count = |list: &Value, what: &str| -> u64 {
        let parts = list.as_array().unwrap().iter();
        parts.map(|part| part[what].as_u64().unwrap()).sum()
    };
    for agent in report["agents"].as_array().unwrap() {
        let all = &agent["mistakes"];
        let (known, mistakes) = (all["known"].as_u64(), all["mistakes"].as_u64());
        assert!(known > Some(10), "{agent}");
        assert_eq!(mistakes > Some(0), agent["name"] == "random", "{agent}");
        assert_eq!(all["per_game"], mistakes.unwrap() as f64 / 20.0);
        let games = all["games"].as_u64();
        assert!(games <= mistakes && games <= Some(20), "{agent}");
        assert_eq!(games > Some(0), mistakes > Some(0), "{agent}");
        for parts in [&all["by_ply"], &all["by_force"]] {
            assert_eq!(Some(count(parts, "known")), known);
            assert_eq!(Some(count(parts, "mistakes")), mistakes);
        }
        let forces = all["by_force"].as_array().unwrap().iter();
        assert!(forces.clone().all(|part| part["force"].as_u64() <= Some(4)));
    }
    let text = arena(&games).assert().success().get_output().stdout.clone();
    let text = String::from_utf8(text).unwrap();
    assert!(["mistakes  ", "games with any", "at force 4"].iter().all(|part| text.contains(part)), "{text}");
    let unjudged = json(arena("random greedy --games 2"));
    assert!(unjudged["agents"][0]["mistakes"].is_null());
    arena("random greedy --game tammi --games 2 --tables .")
        .assert()
        .code(1)
        .stderr(contains("--tables: . has no tables of tammi"));
}

#[test]
fn a_gauntlet_leaves_out_games_among_the_others() {
    let report = json(arena("random greedy random --games 4 --gauntlet"));
    let firsts = report["matches"].as_array().unwrap().iter().map(|row| &row["first"]);
    assert_eq!(firsts.collect::<Vec<_>>(), ["random", "random"]);
    let names = report["agents"].as_array().unwrap().iter().map(|row| row["name"].as_str());
    assert!(names.flatten().any(|name| name == "random#2"));
}

#[test]
fn a_sequential_test_reports_its_decision_and_games() {
    arena("greedy random --sprt 0,50 --games 1000")
        .assert()
        .success()
        .stdout(is_match(r"Sequential test: 50 Elo rather than 0, after \d+ games \(log").unwrap());
    arena("random greedy --sprt -10,50 --games 1000")
        .assert()
        .success()
        .stdout(contains("Sequential test: -10 Elo rather than 50"));
    arena("random random --sprt 0,5 --games 20")
        .assert()
        .success()
        .stdout(contains("undecided between 0 and 5 Elo after 20 games"));
}

#[test]
fn bad_arguments_are_refused_before_anything_is_played() {
    let games = fresh("nothing.jsonl");
    for (args, status, message) in [
        ("random", 2, "a tournament needs at least two agents"),
        (
            "random greedy --games 7",
            2,
            "the number must be even, because each opening is played from both sides; take 6 or 8",
        ),
        ("random greedy --games 0", 2, "from 2 to 1000000"),
        ("random oracle", 2, "unknown agent; agents are random"),
        ("random rolout:100", 2, "did you mean `rollout`?"),
        ("random runs/oracle", 2, "or a run's folder, run:FOLDER or run:FOLDER@STEP"),
        ("random greedy --every 2", 2, "no agent is a run; name one as run:FOLDER"),
        ("random greedy --every 0", 2, "--every"),
        ("random greedy --game chess", 2, "unknown game `chess`"),
        ("random missing.safetensors", 2, "missing.safetensors"),
        ("random greedy --openings missing.txt", 1, "missing.txt: "),
        ("random greedy --random-plies 500", 2, "use fewer --random-plies"),
        ("random greedy --anchor rollout:5=0", 2, "does not take part in the tournament; choose one of random, greedy"),
        ("random greedy --anchor random", 2, "such as random=0"),
        ("random greedy --sprt 5,0", 2, "the smaller one first, such as 0,20"),
        ("random greedy random --sprt 0,5", 2, "compares two agents, not 3"),
        ("random greedy --nodes 0", 2, "--nodes"),
        ("random trained?sims=0 --nodes 5", 2, "trained?sims=0 plays without search"),
        ("random greedy --nodes 5 --movetime 5", 2, "cannot be used with"),
        ("random greedy --json --csv", 2, "cannot be used with"),
        ("random greedy --threads 0", 2, "--threads"),
    ] {
        with_file(args, "--games-out", &games).assert().code(status).stdout(is_empty()).stderr(contains(message));
        assert!(!games.exists(), "{args}");
    }
    arena("random greedy --resume missing.jsonl").assert().code(1).stderr(contains("missing.jsonl"));
}

/// A run with three checkpoints of untrained networks.
fn run_of_three(folder: &Path) -> String {
    let run = folder.join("first");
    fs::create_dir_all(run.join("checkpoints")).unwrap();
    for step in [100, 200, 300] {
        let path = run.join(format!("checkpoints/step-{step:08}.safetensors"));
        jarmo::agent_file::save(&tiny(&Jarmo::standard(), step), &path).unwrap();
    }
    run.display().to_string()
}

#[test]
fn a_run_expands_to_its_checkpoints_and_its_ratings_are_drawn_over_steps() {
    let folder = tempfile::tempdir().unwrap();
    let run = run_of_three(folder.path());
    let (picture, games) = (folder.path().join("r.svg"), folder.path().join("g.jsonl"));
    let args = format!("run:{run} random --nodes 2 --games 4 --anchor random=0");
    let mut command = with_file(&args, "--svg", &picture);
    command.arg("--games-out").arg(&games);
    let report = json(command);
    let mut rows: Vec<(&str, &Value)> = report["agents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["name"].as_str().unwrap(), &row["checkpoint"]["step"]))
        .collect();
    rows.sort_by_key(|(name, _)| *name);
    assert_eq!(
        rows,
        [
            ("first@100", &Value::from(100)),
            ("first@200", &Value::from(200)),
            ("first@300", &Value::from(300)),
            ("random", &Value::Null),
        ]
    );
    let svg = fs::read_to_string(&picture).unwrap();
    assert_eq!(svg.matches("<circle").count(), 3, "a dot per checkpoint");
    assert!(svg.contains("training step"));
    // Other paths of the same run give the same names, so the games can be resumed.
    let args = format!("{run}/checkpoints random --nodes 2 --games 4 --anchor random=0");
    assert_eq!(json(with_file(&args, "--resume", &games)), report);
    let few = json(arena(&format!("{run} --every 2 --nodes 2 --games 2")));
    assert_eq!(few["matches"][0]["first"], "first@100");
    assert_eq!(few["matches"][0]["second"], "first@300");
}

#[test]
fn agent_files_that_do_not_fit_are_refused_before_anything_is_played() {
    let folder = tempfile::tempdir().unwrap();
    let games = folder.path().join("games.jsonl");
    let run = run_of_three(folder.path());
    let file = tiny(&Jarmo::standard(), 1);
    let save = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    save("guard.safetensors", &tiny(&Guard::standard(), 1).to_bytes());
    for (name, from, to) in [
        ("rules", r#""rules_version":1"#, r#""rules_version":9"#),
        ("encoder", r#""encoder_version":3"#, r#""encoder_version":7"#),
    ] {
        save(&format!("{name}.safetensors"), &with_header(&file, from, to));
    }
    save("torn.safetensors", &file.to_bytes()[..1000]);
    for (agent, message) in [
        ("guard.safetensors", "it is for guard, not for jarmo; choose a file for jarmo, or the game guard"),
        ("rules.safetensors", "rules version 9 of jarmo, this program has version 1; use the version"),
        ("encoder.safetensors", "encoder version 7, this program needs 3; use the version"),
        ("torn.safetensors", "not a complete safetensors file"),
        ("missing.safetensors", "no such file; agent files there: "),
    ] {
        let path = folder.path().join(agent).display().to_string();
        with_file(&format!("random {path}"), "--games-out", &games)
            .assert()
            .code(2)
            .stdout(is_empty())
            .stderr(contains(message).and(contains(agent)));
    }
    for (agents, message) in [
        (format!("random run:{run}@150"), "no such step; the steps are 100, 200, 300"),
        (format!("random run:{run}@last"), "expected run:FOLDER@STEP"),
        (format!("random run:{run}/none"), "there is no folder "),
        (format!("random {}", folder.path().display()), "no checkpoints in "),
        (format!("{run} --every 3"), "a tournament needs at least two agents"),
        (format!("random {run} --game guard"), "it is for jarmo, not for guard"),
    ] {
        with_file(&agents, "--games-out", &games).assert().code(2).stdout(is_empty()).stderr(contains(message));
    }
    assert!(!games.exists());
}

#[test]
fn a_run_stands_for_its_newest_checkpoint_wherever_an_agent_does() {
    let folder = tempfile::tempdir().unwrap();
    let run = run_of_three(folder.path());
    let newest = format!("{run}/checkpoints/step-00000300.safetensors");
    let spec = |text: &str| jarmo::agent::read_spec(text).map(|spec| spec.to_string());
    assert_eq!(spec(&run).unwrap(), newest);
    assert_eq!(spec(&format!("{run}/checkpoints?sims=5")).unwrap(), format!("{newest}?sims=5"));
    assert_eq!(spec(&format!("run:{run}@100")).unwrap(), newest.replace("300", "100"));
    assert_eq!(spec("rollout:5").unwrap(), "rollout:5");
    for (text, message) in [
        (format!("run:{run}@150"), "no such step; the steps are 100, 200, 300"),
        (folder.path().display().to_string(), "no checkpoints in "),
        ("runs/none".to_owned(), "or a run's folder, run:FOLDER or run:FOLDER@STEP"),
    ] {
        let error = spec(&text).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    let program = |args: &[&str]| {
        let mut command = Command::cargo_bin("jarmo").unwrap();
        command.args(args);
        command.assert().success()
    };
    let shown = program(&["inspect", &newest, "--position", "start"]).get_output().stdout.clone();
    program(&["inspect", &run, "--position", "start"]).stdout(shown);
    program(&["accuracy", &run, "--nodes", "0"]).stdout(contains(&newest));
    program(&["bench", "search", "--agent", &run, "--sims", "2", "--seconds", "0.01"]).stdout(contains(&newest));
    let out = folder.path().join("agent.safetensors");
    program(&["export", &run, "--out", out.to_str().unwrap()]);
    assert_eq!(fs::read(&out).unwrap(), fs::read(&newest).unwrap());
    program(&["engine", "--agent", &run]).stdout(is_empty());
    let yardstick = ["yardstick", &run, "--nodes", "0", "--fresh", "0", "--games", "0", "--starts", "0"];
    program(&yardstick).stdout(contains("step-00000300"));
}

#[test]
fn an_agent_file_of_a_game_that_is_unknown_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let chess = with_header(&tiny(&Jarmo::standard(), 1), r#""game":"jarmo""#, r#""game":"chess""#);
    let path = folder.path().join("chess.safetensors");
    fs::write(&path, chess).unwrap();
    let path = path.to_str().unwrap();
    for args in [&["accuracy", path][..], &["yardstick", path], &["inspect", path, "--position", "start"]] {
        let mut command = Command::cargo_bin("jarmo").unwrap();
        let message = format!("{path}: it plays chess, but this program only has jarmo, guard, tammi, connect_four;");
        command.args(args).assert().code(1).stderr(contains(message));
    }
}

#[test]
fn a_time_per_move_overrides_all_specs() {
    let games = fresh("movetime.jsonl");
    // With the limits of the specs the first move alone would take hours.
    let endless = "rollout:1000000000 alphabeta:1000000000000";
    let args = format!("{endless} --movetime 2 --games 2 --threads 1");
    let begun = Instant::now();
    let report = json(with_file(&args, "--games-out", &games));
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    assert_eq!((&report["games"], &report["movetime_ms"]), (&2.into(), &2.into()));
    let text = fs::read_to_string(&games).unwrap();
    for line in text.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        assert_eq!(record["arena"]["movetime_ms"], 2);
    }
    with_file(endless, "--resume", &games)
        .assert()
        .code(1)
        .stderr(contains("the time per move in milliseconds is 2 in the record and not set in this tournament"));
}

#[test]
fn the_games_are_saved_and_the_probe_reads_them() {
    let games = fresh("kept.jsonl");
    with_file("random greedy --games 6", "--games-out", &games).assert().success();
    let text = fs::read_to_string(&games).unwrap();
    assert_eq!(text.lines().count(), 6);
    let output = assert_cmd::Command::cargo_bin("jarmo")
        .unwrap()
        .args(["rules", "trace"])
        .write_stdin(text.clone())
        .assert()
        .success()
        .get_output()
        .stdout
        .clone();
    let traced: Vec<Value> =
        String::from_utf8(output).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let outcome = |value: &Value| value["outcome"].clone();
    let ends: Vec<Value> = traced.iter().map(outcome).filter(|outcome| !outcome.is_null()).collect();
    let recorded: Vec<Value> = text.lines().map(|line| outcome(&serde_json::from_str(line).unwrap())).collect();
    assert_eq!(ends, recorded);
    with_file("random greedy --games 6", "--games-out", &games)
        .assert()
        .code(1)
        .stderr(contains("already exists; choose another name, or resume it"));
    assert_eq!(fs::read_to_string(&games).unwrap(), text);
}

#[test]
fn a_torn_file_is_resumed_with_a_warning_and_a_foreign_one_refused() {
    let games = fresh("resumed.jsonl");
    let args = "random greedy --games 20 --seed 4";
    let whole = json(with_file(args, "--games-out", &games));
    let text = fs::read_to_string(&games).unwrap();
    fs::write(&games, &text[..text.len() * 2 / 3]).unwrap();
    let mut resume = with_file(args, "--resume", &games);
    let resumed = resume.arg("--json").assert().success().stderr(contains("written incompletely"));
    let resumed: Value = serde_json::from_slice(&resumed.get_output().stdout).unwrap();
    assert_eq!(resumed, whole);
    let lines = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(lines(&fs::read_to_string(&games).unwrap()), lines(&text));
    with_file("random greedy --games 20 --seed 5", "--resume", &games)
        .assert()
        .code(1)
        .stdout(is_empty())
        .stderr(contains("arena-resumed.jsonl: game 1 "))
        .stderr(contains("does not belong to this tournament: the seed is 4 in the record and 5 in this tournament"));
}

#[test]
fn the_picture_is_written_to_its_file() {
    let picture = fresh("picture.svg");
    with_file("random greedy --games 4", "--svg", &picture).assert().success();
    let svg = fs::read_to_string(&picture).unwrap();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert_eq!(svg.matches("<circle").count(), 2);
}

#[cfg(unix)]
#[test]
fn ctrl_c_prints_the_table_so_far_and_keeps_the_games() {
    let games = fresh("stopped.jsonl");
    let args = "rollout:300 rollout:200 --games 200000 --threads 1";
    let child = with_file(args, "--games-out", &games).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    // The table counts complete pairs, of which many are played at a time.
    let written = || fs::read_to_string(&games).unwrap_or_default().lines().count();
    while written() < 40 && begun.elapsed() < Duration::from_secs(120) {
        thread::sleep(Duration::from_millis(20));
    }
    let signal = ["-INT", &child.id().to_string()].map(str::to_owned);
    assert!(Command::new("kill").args(signal).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let (out, err) = (String::from_utf8(output.stdout), String::from_utf8(output.stderr));
    assert!(out.unwrap().contains("1 match of 200000 games"));
    assert!(err.unwrap().contains("to continue"));
    let kept = fs::read_to_string(&games).unwrap();
    assert!(kept.ends_with('\n') && kept.lines().count() >= 40);
}

#[cfg(unix)]
#[test]
fn ctrl_c_before_any_game_has_ended_prints_no_table() {
    for format in ["", " --json"] {
        let games = fresh("none.jsonl");
        let args = format!("alphabeta:1000000000000 alphabeta:1000000000000 --games 2 --threads 1{format}");
        let mut command = with_file(&args, "--games-out", &games);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let begun = Instant::now();
        while !games.exists() && begun.elapsed() < Duration::from_secs(60) {
            thread::sleep(Duration::from_millis(20));
        }
        thread::sleep(Duration::from_millis(500)); // until it listens for Ctrl-C
        let signal = ["-INT", &child.id().to_string()].map(str::to_owned);
        assert!(Command::new("kill").args(signal).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(130), 0));
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(err.contains("stopped after 0 of 2 games; to continue, "), "{err}");
    }
}

/// Writing a file that grows too large fails as on a full disk does.
#[cfg(unix)]
#[test]
fn a_full_disk_ends_a_tournament_with_the_way_to_continue() {
    let games = fresh("full.jsonl");
    let jarmo = assert_cmd::cargo::cargo_bin!("jarmo");
    let (jarmo, file) = (jarmo.display(), games.display());
    // Eight blocks of 512 bytes.
    let script = format!(
        "trap '' XFSZ; ulimit -f 8; exec '{jarmo}' arena random greedy --games 200 --threads 1 --games-out '{file}'"
    );
    let failed = Command::new("sh").args(["-c", &script]).assert().code(1);
    failed.stderr(contains("arena-full.jsonl: ").and(contains("to continue, run the same command with --resume")));
    with_file("random greedy --games 200", "--resume", &games).assert().success();
}

#[test]
fn measurements_show_their_progress_and_their_result_so_far_after_ctrl_c() {
    for (command, progress, result) in [
        ("accuracy rollout:300 --game connect_four --threads 1", ": exam, ", "  all decisions"),
        ("yardstick random rollout:300 --game connect_four --threads 1", "rollout:300: exam, ", "random"),
        ("bench selfplay --game connect_four --set selfplay.games=16 --seconds 600", "measuring: 0%", "per second: "),
        ("bench env --seconds 600", "measuring: 0%", " M plies/s"),
    ] {
        let mut child = Command::cargo_bin("jarmo")
            .unwrap()
            .args(command.split(' '))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut told = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        let first = told.next().unwrap();
        assert!(first.contains(progress), "{command}: {first}");
        let signal = ["-INT", &child.id().to_string()].map(str::to_owned);
        assert!(Command::new("kill").args(signal).status().unwrap().success());
        let last = told.last().unwrap();
        assert!(last.starts_with("stopped; "), "{command}: {last}");
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{command}");
        let out = String::from_utf8(output.stdout).unwrap();
        assert!(out.contains(result), "{command}: {out}");
    }
}
