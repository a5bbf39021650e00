//! The program as a person or a script uses it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use assert_cmd::prelude::*;
use predicates::prelude::*;
use predicates::str::{contains, is_empty, is_match};

fn jarmo(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("jarmo").unwrap();
    command.args(args);
    command
}

fn trace(input: &str) -> assert_cmd::assert::Assert {
    assert_cmd::Command::from(jarmo(&["rules", "trace"])).write_stdin(input).assert()
}

#[test]
fn perft_prints_the_count() {
    jarmo(&["perft", "--game", "jarmo", "--depth", "4"]).assert().success().stdout("17524\n").stderr(is_empty());
    jarmo(&["perft", "--depth", "0"]).assert().success().stdout("1\n");
    let end = "5/5/5/5/w4 w - - 0";
    let args = ["perft", "--depth", "2", "--position", end];
    jarmo(&args).assert().success().stdout("0\n");
}

#[test]
fn perft_divides_by_the_first_action_and_ends_with_the_sum() {
    jarmo(&["perft", "--depth", "3", "--divide"])
        .assert()
        .success()
        .stdout(contains("A1-B3 ").and(contains("E1-D3 ")).and(is_match(r"\n1472\n$").unwrap()));
}

#[test]
fn trace_continues_after_a_line_that_fails() {
    let good = r#"{"game":"tammi","moves":["c3-d4"]}"#;
    let bad = [
        ("{\"game\":\"jarmo\",\"moves\":", "line 2: expected"),
        ("", "line 2: expected"),
        (r#"["jarmo",null,null,["A1-C2"]]"#, "line 2: expected"),
        ("[]", "line 2: expected"),
        (r#"{"moves":[]}"#, "missing field `game`"),
        (r#"{"game":"jarmo"}"#, "missing field `moves`"),
        (r#"{"game":"chess","moves":[]}"#, "unknown game `chess`"),
        (r#"{"game":"jarmo","moves":[],"max_plies":-1}"#, "invalid value"),
        (r#"{"game":"jarmo","moves":[1]}"#, "invalid type"),
        (r#"{"game":"jarmo","position":"9 w - - 0","moves":[]}"#, "illegal position: board `9`"),
    ];
    for (line, part) in bad {
        trace(&format!("{good}\n{line}\n{good}\n")).code(1).stdout(contains(part).and(predicate::function(
            |out: &str| {
                let lines: Vec<&str> = out.lines().collect();
                lines.len() == 5 && lines[2].starts_with("{\"error\":") && lines[..2] == lines[3..]
            },
        )));
    }
}

#[test]
fn an_illegal_action_ends_its_game_with_the_rule_it_breaks() {
    let line = r#"{"game":"jarmo","moves":["A1-C2","A5-B3","C2-C2","C2-A1"]}"#;
    trace(line).code(1).stdout(
        is_match(r"(?m)\A(\{.position.*\n){3}\{.error.:.line 1: move 3: action `C2-C2`: no line leads.*\n\z").unwrap(),
    );
    let line = r#"{"game":"jarmo","moves":["A5-B3"]}"#;
    trace(line).code(1).stdout(contains("white has no piece on A5"));
    let line = r#"{"game":"connect_four","moves":["D","D","D","D","D","D","D"]}"#;
    trace(line).code(1).stdout(contains("move 7: action `D`: column D is full"));
}

#[test]
fn trace_takes_a_position_and_a_limit() {
    let line = r#"{"game":"jarmo","position":"bbbbb/5/5/5/wwwww w - - 8","max_plies":9,"moves":["A1-C2"],"other":1}"#;
    trace(line).success().stdout(contains(r#""legal":[],"outcome":{"winner":null,"score":[5,5],"truncated":true}}"#));
    let line = r#"{"game":"jarmo","position":"bbbbb/5/5/5/wwwww w - - 200","max_plies":0,"moves":[]}"#;
    trace(line).success().stdout(contains(r#""outcome":null"#));
    trace(r#"{"game":"jarmo","position":"bbbbb/5/5/5/wwwww w - - 200","moves":[]}"#)
        .success()
        .stdout(contains(r#""truncated":true"#));
}

#[test]
fn trace_gives_each_game_only_its_own_settings() {
    let quiet = r#"{"game":"tammi","position":"8/8/8/8/8/b7/8/4W3 w - 4 40","moves":["e1-f2"]}"#;
    let other = r#"{"game":"jarmo","moves":[]}"#;
    assert_cmd::Command::from(jarmo(&["rules", "trace", "--quiet-limit", "5"]))
        .write_stdin(format!("{quiet}\n{other}\n"))
        .assert()
        .success()
        .stdout(contains(r#""winner":null,"score":null,"truncated":false"#));
}

#[test]
fn a_line_too_long_to_be_a_game_is_refused_and_skipped() {
    let long = format!("{{\"game\":\"jarmo\",\"moves\":[\"{}\"]}}", "A".repeat(17 << 20));
    trace(&format!("{long}\n{{\"game\":\"guard\",\"moves\":[]}}\n"))
        .code(1)
        .stdout(contains("line 1: longer than 16 MiB").and(contains("start 0,0 0,0 0 0")));
}

#[test]
fn trace_reads_bytes_that_are_not_text() {
    let mut input = b"\xff\xfe\n".to_vec();
    input.extend(br#"{"game":"guard","moves":[]}"#);
    assert_cmd::Command::from(jarmo(&["rules", "trace"]))
        .write_stdin(input)
        .assert()
        .code(1)
        .stdout(contains("line 1").and(contains("start 0,0 0,0 0 0")));
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let mut child =
        jarmo(&["rules", "trace"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let golden = std::fs::read("tests/data/golden/jarmo.jsonl").unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let feeder = std::thread::spawn(move || {
        // The program exits before it has read all of this.
        let _ = stdin.write_all(&golden).and_then(|()| stdin.write_all(&golden));
    });
    let mut first = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut first).unwrap();
    assert!(first.contains("bbbbb/5/5/5/wwwww"));
    drop(stdout);
    let output = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

#[test]
fn show_draws_the_board_and_lists_the_actions() {
    jarmo(&["rules", "show", "--moves", "A1-C2", "A5-B3"]).assert().success().stdout(
        contains("(w)")
            .and(contains("position: 1bbbb/5/1b3/2w2/1wwww w A1-C2*1 A5-B3*1 2"))
            .and(contains("legal (12): B1-A3")),
    );
    let args = ["rules", "show", "--game", "tammi", "--moves", "c3-d4 f6-e5"];
    jarmo(&args).assert().success().stdout(contains("legal (1): d4xf6"));
    let args = ["rules", "show", "--position", "5/5/1b3/5/w1B2 w - - 0", "--moves", "A1xB3"];
    jarmo(&args).assert().success().stdout(contains("result: black wins, 1:2"));
    let args = ["rules", "show", "--max-plies", "1", "--moves", "A1-C2"];
    jarmo(&args).assert().success().stdout(contains("result: draw, 5:5, truncated"));
}

#[test]
fn wrong_options_are_named_with_the_remedy() {
    let cases: [(&[&str], &str); 14] = [
        (&["inspect", "trained"], "this command needs a file; that of `trained` is "),
        (&["report", "trained"], "this command needs a file; that of `trained` is "),
        (&["perft", "--game", "chess", "--depth", "1"], "choose one of jarmo, guard, tammi, connect_four"),
        (&["perft", "--depth", "1", "--position", "x"], "--position: position `x`: expected"),
        (&["rules", "show", "--moves", "A1-A1"], "--moves: number 1: action `A1-A1`: no line leads"),
        (&["perft", "--depth", "1", "--board", "no/file"], "no/file: "),
        (&["perft", "--game", "tammi", "--depth", "1", "--board", "x"], "tammi has no board"),
        (&["perft", "--depth", "1", "--quiet-limit", "9"], "jarmo has no quiet limit"),
        (&["perft", "--game", "tammi", "--depth", "1", "--quiet-limit", "0"], "--quiet-limit"),
        (&["perft", "--depth", "101"], "--depth"),
        (&["rules", "trace", "--board", "no/file"], "no/file: "),
        (&["rules", "trace", "--quiet-limit", "99"], "a whole number from 1 to 60"),
        (&["bench", "env", "--games", "0"], "--games"),
        (&["bench", "env", "--seconds", "0"], "--seconds"),
    ];
    for (args, part) in cases {
        jarmo(args).assert().code(2).stdout(is_empty()).stderr(contains(part).and(contains("panicked").not()));
    }
}

#[test]
fn a_board_file_with_an_error_is_refused_with_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("board.toml");
    let standard = include_str!("../../crates/core/src/games/board/standard.toml");
    std::fs::write(&path, standard.replace("\"A1-C2\"", "\"A1-B3\"")).unwrap();
    let path = path.to_str().unwrap();
    jarmo(&["perft", "--depth", "1", "--board", path])
        .assert()
        .code(2)
        .stderr(contains("board.toml: line 2 `A1-B3` repeats line 1 `A1-B3`"));
    std::fs::write(path, standard).unwrap();
    jarmo(&["perft", "--depth", "3", "--board", path]).assert().success().stdout("1472\n");
}

#[test]
fn bench_env_reports_its_measurements() {
    let args = ["bench", "env", "--game", "guard", "--games", "256", "--seconds", "0.02"];
    let output = jarmo(&args).args(["--observe", "--threads", "2", "--json"]).output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["game"], "guard");
    assert_eq!(json["games"], 256);
    assert_eq!(json["observe"], true);
    assert_eq!(json["threads"], 2);
    for key in ["plies_per_s", "plies_per_cpu_s", "games_per_s", "mean_length"] {
        assert!(json[key].as_f64().unwrap() > 1.0, "{key}");
    }
    jarmo(&args).assert().success().stdout(contains("M plies/s"));
}

#[test]
fn completions_and_manual_pages_know_every_command() {
    let commands = ["arena", "engine", "completions", "man", "perft"];
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let assert = jarmo(&["completions", shell]).assert().success();
        let script = String::from_utf8(assert.get_output().stdout.clone()).unwrap();
        assert!(commands.iter().all(|name| script.contains(name)), "{shell}");
        assert!(script.contains("depth"), "{shell}");
        if shell == "bash" {
            assert!(["jarmo guard tammi connect_four", "cpu cuda wgpu"].iter().all(|values| script.contains(values)));
        }
    }
    jarmo(&["completions", "cmd"]).assert().code(2);
    for name in commands {
        let page = format!("jarmo\\-{name}(1)");
        jarmo(&["man"]).assert().success().stdout(contains(page));
    }
    jarmo(&["man", "bench", "env"])
        .assert()
        .success()
        .stdout(is_match("\n.TH jarmo-bench-env 1 .*\"jarmo [0-9.]+\" *\n").unwrap().and(contains("\\-\\-seconds")));
    jarmo(&["man", "frobnicate"])
        .assert()
        .code(2)
        .stderr(contains("jarmo has no command `frobnicate`; choose one of accuracy, arena"));
}

#[test]
fn a_locale_without_unicode_gets_no_braille() {
    let braille = |text: &str| text.contains(|letter| ('\u{2800}'..='\u{28ff}').contains(&letter));
    for (locale, expected) in [("C", false), ("C.UTF-8", true)] {
        let mut command = jarmo(&["rules", "show"]);
        command.env("LC_ALL", locale);
        let assert = command.assert().success().stdout(contains("(b)"));
        let text = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
        assert_eq!(braille(&text), expected, "{text}");
        assert_eq!(text.is_ascii(), !expected, "{text}");
    }
}
