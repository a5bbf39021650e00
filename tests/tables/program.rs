//! `jarmo tables` and `jarmo accuracy` on the command line.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use assert_cmd::prelude::*;
use jarmo::games::Jarmo;
use jarmo::net::{AgentFile, NetSettings, NetShape, Provenance, Weights};
use jarmo::random::stream;
use jarmo::tables::Tables;
use predicates::prelude::*;
use predicates::str::{contains, is_empty, is_match};
use serde_json::Value;

use crate::exam::of_tables;

fn jarmo(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("jarmo").unwrap();
    command.args(arguments);
    command
}

fn build(folder: &Path, force: &str) {
    let out = folder.to_str().unwrap();
    jarmo(&["tables", "build", "--game", "jarmo", "--force", force, "--out", out])
        .assert()
        .success()
        .stdout(is_empty())
        .stderr(contains(format!("force {force}: ")));
}

#[test]
fn tables_are_built_verified_and_probed() {
    let folder = tempfile::tempdir().unwrap();
    build(folder.path(), "4");
    let tables = folder.path().to_str().unwrap();
    jarmo(&["tables", "build", "--force", "4", "--out", tables])
        .assert()
        .success()
        .stderr(contains("force 4: already there"));
    jarmo(&["tables", "verify", tables, "--samples", "1000"])
        .assert()
        .success()
        .stdout(contains("force 4: right; 1000 random positions"));
    let position = "5/b4/4b/5/2w1w w - - 0";
    jarmo(&["tables", "probe", tables, "--position", position])
        .assert()
        .success()
        .stdout(contains("white: win in 23\n").and(contains("win in 23\n").count(2)));

    // White can capture the last archer.
    let position = "5/1w3/1bw2/2w2/5 w - - 0";
    jarmo(&["tables", "openings", tables, "--position", position, "--plies", "1"])
        .assert()
        .success()
        .stdout(contains("14 openings of 1 ply: white wins 13, 1 are drawn, black wins 0"));
    jarmo(&["tables", "probe", tables, "--position", position, "--line", "5"])
        .assert()
        .success()
        .stdout(contains("  C2-A1  draw\nC3xB3\n"));
    jarmo(&["tables", "probe", tables, "--position", "5/5/5/2w2/5 b - - 0"])
        .assert()
        .success()
        .stdout("black: over, lost\n");
}

#[test]
fn the_same_commands_build_and_use_tables_of_tammi() {
    let folder = tempfile::tempdir().unwrap();
    let tables = folder.path().to_str().unwrap();
    let tammi = |arguments: &[&str]| jarmo(&[arguments, &["--game", "tammi"]].concat()).assert();
    tammi(&["tables", "build", "--force", "3", "--out", tables])
        .success()
        .stderr(contains("force 3: 196032 positions in "));
    tammi(&["tables", "build", "--force", "6", "--out", tables])
        .code(2)
        .stderr(contains("--force 6: tables of tammi have 2 to 5 pieces"));
    tammi(&["tables", "openings", tables]).code(2).stderr(contains("for jarmo only, not for tammi"));
    let packed = folder.path().join("packed");
    let packed = packed.to_str().unwrap();
    tammi(&["tables", "pack", tables, "--out", packed]).success().stderr(contains("force 3: 196032 positions in "));
    tammi(&["tables", "verify", tables, "--samples", "1000"])
        .success()
        .stdout(contains("force 3: right; 1000 random positions"));
    let won = "8/8/8/4b3/8/8/8/6w1 b - 0 0";
    for folder in [tables, packed] {
        tammi(&["tables", "probe", folder, "--position", won, "--line", "50"])
            .success()
            .stdout(contains("black: win in 13\nplies count to the next capture").and(contains("x")));
    }
    tammi(&["accuracy", "random"]).success().stdout(contains("random\n").and(contains("  force 3")));
    let arena = ["arena", "random", "greedy", "--games", "20", "--tables", tables];
    tammi(&arena).success().stdout(contains("   mistakes").and(contains("at force 3")));

    // A quiet limit is one of tammi, whose tables here are for another.
    let limited = ["tables", "verify", tables, "--quiet-limit", "20"];
    jarmo(&limited).assert().code(1).stderr(contains("another limit on plies without a capture"));

    // Without --game, all tables in the folder are verified.
    build(folder.path(), "2");
    let verify = || jarmo(&["tables", "verify", tables, "--samples", "100"]).assert();
    verify().success().stdout(contains("jarmo, force 2: right").and(contains("tammi, force 2: right")));
    fs::write(folder.path().join("tammi-02.table"), "JARMO").unwrap();
    verify().code(1).stdout(contains("jarmo, force 2: right")).stderr(contains("tammi-02.table: is truncated"));
}

#[test]
fn accuracy_has_no_row_for_a_few_positions() {
    let asked = |line: &str| -> Option<u64> {
        let words: Vec<&str> = line.split_whitespace().collect();
        ["force", "ply"].contains(words.first()?).then(|| words[2].parse().unwrap())
    };
    for game in ["jarmo", "connect_four"] {
        let output = jarmo(&["accuracy", "random", "--game", game, "--worst", "0"]);
        let text = String::from_utf8({ output }.output().unwrap().stdout).unwrap();
        let rows: Vec<u64> = text.lines().filter_map(asked).collect();
        assert!(rows.len() > 3 && rows.iter().all(|&asked| asked >= 20), "{text}");
    }
}

#[test]
fn accuracy_shows_shares_and_the_worst_mistakes() {
    let folder = tempfile::tempdir().unwrap();
    let exam = folder.path().join("own.exam");
    make_exam(3, 300, &exam);
    let common = ["accuracy", "random", "--exam", exam.to_str().unwrap()];
    jarmo(&[&common[..], &["--worst", "1"]].concat())
        .assert()
        .success()
        .stdout(contains("random\n").and(contains(", right is ").count(1)));
    let output = jarmo(&[&common[..], &["--nodes", "1,2", "--json"]].concat()).output().unwrap();
    let lines: Vec<Value> =
        String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[1]["nodes"], 2);
    assert_eq!(lines[0]["all"]["decisions"], 300);
    assert!(lines[0]["worst"][0]["position"].is_string());
}

/// The lines of JSON that `jarmo accuracy` prints.
fn accuracies(arguments: &[&str]) -> Vec<Value> {
    let output = jarmo(&[&["accuracy", "--json"], arguments].concat()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.collect()
}

#[test]
fn accuracy_measures_a_network_without_search_and_with_several_budgets() {
    let folder = tempfile::tempdir().unwrap();
    let exam = folder.path().join("own.exam");
    make_exam(3, 200, &exam);
    let exam = exam.to_str().unwrap();
    let file = folder.path().join("untrained.safetensors");
    let game = Jarmo::standard();
    let config = NetSettings { width: 32, blocks: 1 };
    let weights = Weights::random(config, NetShape::of(&game), &mut stream(1, 0));
    let file_of_agent = AgentFile::new(&game, weights, Provenance::default(), Vec::new());
    jarmo::agent_file::save(&file_of_agent, &file).unwrap();
    let file = file.to_str().unwrap();
    let measure = |more: &[&str]| accuracies(&[&[file, "random", "--exam", exam], more].concat());
    let what = |line: &Value| {
        let agent = line["agent"].as_str().unwrap().to_owned();
        (agent, line["nodes"].clone())
    };
    let lines = measure(&["--sims", "0,16,64", "--threads", "1"]);
    let measured: Vec<_> = lines.iter().map(what).collect();
    let case = |agent: &str, nodes: i64| (agent.to_owned(), nodes.into());
    assert_eq!(measured, [case(file, 0), case(file, 16), case(file, 64), case("random", 16), case("random", 64)]);
    let share = |line: &Value| line["all"]["critical_right"].as_u64().unwrap();
    assert!(share(&lines[0]) + 20 < share(&lines[2]), "search helps");
    let threads = measure(&["--sims", "0,16,64", "--threads", "3"]);
    assert_eq!(threads, lines);

    let lines = measure(&[]);
    let budgets: Vec<_> = lines.iter().map(|line| line["nodes"].clone()).collect();
    assert_eq!(budgets, [0.into(), 64.into(), Value::Null]);
    let columns = |agent: &str, columns: &str| {
        let shown = contains("untrained.safetensors").and(is_match(format!("decisions +{columns}\n")).unwrap());
        jarmo(&["accuracy", agent, "--exam", exam]).assert().success().stdout(shown);
    };
    columns(file, "network +64");
    columns(&format!("{file}?sims=8"), "network +8");
    columns(&format!("{file}?sims=0"), "as given");
    jarmo(&["accuracy", file, "--exam", exam, "--nodes", "0", "--causes"])
        .assert()
        .code(2)
        .stderr(contains("--causes needs a number of --nodes above 0"));
    jarmo(&["accuracy", "random", "--exam", exam, "--nodes", "0"])
        .assert()
        .code(2)
        .stdout(is_empty())
        .stderr(contains("--nodes 0 needs an agent with a network"));
}

#[test]
fn training_takes_an_exam_of_ones_own() {
    let folder = tempfile::tempdir().unwrap();
    let (run, exam) = (folder.path().join("run"), folder.path().join("own.exam"));
    make_exam(5, 60, &exam);
    let mut command = jarmo(&["train", "--steps", "20", "--run", run.to_str().unwrap()]);
    for setting in [
        "net.width=32",
        "net.blocks=1",
        "selfplay.games=128",
        "selfplay.simulations=2",
        "run.threads=1",
        "run.batch=64",
        "run.first_samples=4096",
        "run.checkpoint=10",
        &format!("evaluation.exam={}", exam.display()),
    ] {
        command.args(["--set", setting]);
    }
    command.assert().success();
    let metrics = fs::read_to_string(run.join("metrics.jsonl")).unwrap();
    let line: Value = serde_json::from_str(metrics.lines().next().unwrap()).unwrap();
    let score = &line["accuracy"];
    assert_eq!(score["decisions"], 60);
    assert_eq!(score["end"]["decisions"], 60);
    assert_eq!(score["opening"]["decisions"], 0);
}

/// Writes an exam of random positions up to this force.
fn make_exam(force: u32, positions: usize, out: &Path) {
    let game = Jarmo::standard();
    let tables = Tables::solve(&game, force).unwrap();
    of_tables(&game, &tables, positions).save(out).unwrap();
}

#[test]
fn exams_are_shown_and_refused() {
    let folder = tempfile::tempdir().unwrap();
    let exam = folder.path().join("own.exam");
    make_exam(4, 60, &exam);
    let path = exam.to_str().unwrap();
    jarmo(&["exam", "show", path])
        .assert()
        .success()
        .stdout(contains("60 questions of jarmo").and(contains("  end      white  ")));
    let lines = accuracies(&["random", "--exam", path]);
    assert_eq!(lines[0]["all"]["decisions"], 60);

    let mut bytes = fs::read(&exam).unwrap();
    bytes.truncate(bytes.len() - 100);
    let cut = folder.path().join("cut.exam");
    fs::write(&cut, bytes).unwrap();
    let cut = cut.to_str().unwrap();
    let cases: [(&[&str], i32, &str); 5] = [
        (&["exam", "show", cut], 1, "cut.exam: it ends after 5"),
        (&["accuracy", "random", "--exam", cut], 1, "cut.exam: it ends after"),
        (&["accuracy", "random", "--exam", "checkpoints/README.md"], 1, "README.md: not an exam"),
        (
            &["accuracy", "checkpoints/connect_four.safetensors", "--exam", path],
            1,
            "own.exam: an exam for jarmo, not for connect_four",
        ),
        (&["accuracy", "random", "--game", "guard"], 2, "no exam for guard"),
    ];
    for (arguments, status, message) in cases {
        jarmo(arguments).assert().code(status).stdout(is_empty()).stderr(contains(message));
    }
}

#[test]
fn accuracy_needs_no_tables_and_takes_the_game_from_agent_files() {
    let lines = accuracies(&["checkpoints/jarmo.safetensors", "checkpoints/connect_four.safetensors", "--sims", "0"]);
    let games: Vec<&Value> = lines.iter().map(|line| &line["game"]).collect();
    assert_eq!(games, ["jarmo", "connect_four"]);
    for line in &lines {
        assert_eq!(line["nodes"], 0);
        let count = |key: &str| line["all"][key].as_u64().unwrap();
        assert_eq!((count("decisions"), count("critical")), (20_000, 10_000));
        let share = count("critical_right") as f64 / 10_000.0;
        assert!((0.6..0.999).contains(&share), "{share}");
        let phases: Vec<&Value> = line["groups"].as_array().unwrap().iter().map(|one| &one["phase"]).collect();
        assert_eq!(phases, ["opening", "opening", "middle", "middle", "end", "end"]);
    }
    jarmo(&["accuracy", "checkpoints/jarmo.safetensors", "--game", "connect_four"])
        .assert()
        .code(2)
        .stderr(contains("it is for jarmo, not for connect_four"));
}

#[test]
fn bad_input_is_refused_with_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    build(folder.path(), "3");
    let tables = folder.path().to_str().unwrap();
    let start = "bbbbb/5/5/5/wwwww w - - 0";
    let board = folder.path().join("board.toml");
    let standard = include_str!("../../crates/core/src/games/board/standard.toml");
    fs::write(&board, standard.replace("\"A1-B3\"", "\"A1-A2\", \"A1-B3\"")).unwrap();
    let board = board.to_str().unwrap();
    let damaged = tempfile::tempdir().unwrap();
    let cut = damaged.path().join("force-02.table");
    fs::write(&cut, "JARMO").unwrap();
    let cut = damaged.path().to_str().unwrap();
    let unmade = damaged.path().join("packed");
    let cases: [(&[&str], i32, &str); 10] = [
        (&["tables", "verify", "nowhere"], 1, "nowhere: is missing"),
        (&["tables", "pack", "nowhere", "--out", unmade.to_str().unwrap()], 1, "force-02.table: is missing"),
        (&["tables", "verify", cut], 1, "force-02.table: is truncated"),
        (&["tables", "probe", tables, "--board", board], 1, "another board"),
        (&["tables", "verify", tables, "--game", "guard"], 2, "for jarmo and tammi only, not for guard"),
        (&["tables", "probe", tables, "--position", start], 1, "end at 3"),
        (&["tables", "probe", tables, "--position", "x"], 2, "--position"),
        (&["tables", "build", "--force", "11", "--out", "x"], 2, "from 2 to 10"),
        (&["accuracy", "rollout?tables=nowhere"], 2, "nowhere: is missing"),
        (&["accuracy", "random", "--worst", "101"], 2, "from 0 to 100"),
    ];
    for (arguments, status, message) in cases {
        jarmo(arguments).assert().code(status).stdout(is_empty()).stderr(contains(message));
    }
    assert!(!unmade.exists());
}

#[test]
fn a_build_that_is_killed_at_any_moment_ends_with_the_same_tables() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let build = || jarmo(&["tables", "build", "--force", "5", "--out", out, "--save-every", "0.05"]);
    let mut killed = 0;
    for number in 0..40 {
        let mut child = build().stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_millis(50 + 17 * (number % 10)));
        killed += u32::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
        if folder.path().join("force-05.table").exists() {
            break;
        }
    }
    assert!(killed > 0);
    build().assert().success();
    let game = Jarmo::standard();
    let (built, whole) = (Tables::open(&game, folder.path()).unwrap(), Tables::solve(&game, 5).unwrap());
    assert!((2..=5).all(|force| built.bytes(force) == whole.bytes(force)));
}

#[test]
fn one_process_at_a_time_builds_in_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let held = jarmo::files::lock_folder(folder.path()).unwrap().unwrap();
    let out = folder.path().to_str().unwrap();
    let arguments = ["tables", "build", "--force", "3", "--out", out];
    jarmo(&arguments).assert().code(1).stderr(contains("another process is building tables in this folder"));
    drop(held);
    jarmo(&arguments).assert().success();
}

#[test]
fn a_proof_is_verified_and_shown_on_the_command_line() {
    const FILE: &str = "tests/data/won.proof"; // `lab proof --position` made it
    let won = "5/b4/4b/5/2w1w w - - 0";
    jarmo(&["proof", "verify", FILE])
        .assert()
        .success()
        .stdout(contains(format!("{won}: white wins, within 23 plies")))
        .stdout(contains("all 1 claims are proven"));
    jarmo(&["proof", "show", FILE, "--position", won])
        .assert()
        .success()
        .stdout(predicates::str::is_match("^[A-E][1-5][-x][A-E][1-5]\n$").unwrap());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("won.proof");
    fs::write(&file, "jarmo proof 9\n").unwrap();
    jarmo(&["proof", "verify", file.to_str().unwrap()])
        .assert()
        .failure()
        .stderr(contains("won.proof: another format, `jarmo proof 9`"));
}
