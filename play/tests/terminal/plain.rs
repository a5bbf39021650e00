//! Play by lines of text, through pipes.

use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use assert_cmd::Command;
use assert_cmd::cargo::CommandCargoExt;
use jarmo_exact::catalog::GameSettings;
use jarmo_facade::Games;
use play::lang::Language;
use predicates::prelude::*;
use predicates::str::contains;

fn program(args: &[&str]) -> std::process::Command {
    let mut command = std::process::Command::cargo_bin("play").unwrap();
    command
        .env("LANG", "C.UTF-8")
        .env("JARMO_CHECKPOINTS", "") // the same agents everywhere
        .env_remove("LC_ALL")
        .env_remove("LC_MESSAGES")
        .args(args);
    command
}

fn play(args: &[&str], input: &str) -> assert_cmd::assert::Assert {
    Command::from(program(args)).write_stdin(input).assert()
}

/// What the program prints.
fn printed(args: &[&str], input: &str) -> String {
    String::from_utf8(play(args, input).success().get_output().stdout.clone()).unwrap()
}

#[test]
fn a_game_against_an_agent_by_lines_of_text() {
    play(&["--plain", "--opponent", "random"], "A1-C2\nmoves\nlist\nquit\n").success().stdout(
        contains("( b )")
            .and(contains("⠤"))
            .and(contains("White to move"))
            .and(contains("\n> "))
            .and(contains("\nA1-C2 "))
            .and(contains("Points 5:5")),
    );
}

#[test]
fn agents_play_each_other_to_the_end_without_a_terminal() {
    for name in ["jarmo", "guard", "tammi", "connect_four"] {
        let text = printed(&["--game", name, "--white", "greedy", "--black", "random", "--lang", "en"], "");
        let game = Games::shipped().open(name, &GameSettings::default()).unwrap();
        let mut position = game.facts().start.clone();
        for line in text.lines() {
            if let [number, action] = line.split_whitespace().collect::<Vec<_>>()[..]
                && number.trim_end_matches(['.', '…']).parse::<u32>().is_ok()
            {
                (_, position) = game.play_text(&position, action).unwrap();
            }
        }
        let texts = Language::En.texts();
        let result = match position.outcome.expect("the game is over").winner {
            None => "Draw".to_owned(),
            Some(player) => format!("{} wins", texts.player(name, player)),
        };
        assert!(text.lines().any(|line| line.starts_with(&result)), "{text}");
    }
}

#[test]
fn invalid_input_is_explained_and_the_game_continues() {
    let input = "A1-A2\nB9\nfrobnicate\n\nA1-C2\nundo\nredo\nlist\nsave /nowhere/x\nload /nowhere\nwhite unknown\n";
    play(&["--plain", "--black", "human", "--lang", "de"], input).success().stdout(
        contains("A1-A2: keine Linie führt von A1 nach A2")
            .and(contains("B9: erwartet wird ein Zug"))
            .and(contains("`frobnicate` ist hier weder Zug noch Befehl"))
            .and(contains("\nA1-C2\n"))
            .and(contains("/nowhere/x: "))
            .and(contains("/nowhere: "))
            .and(contains("agent `unknown`")),
    );
}

#[test]
fn all_commands_are_accepted() {
    let answer = |command: &str| printed(&["--black", "human", "--lang", "eo"], &format!("{command}\n"));
    let silent = answer("").len();
    for (command, said) in [
        ("rules", "Celo"),
        ("help", "Komandoj"),
        ("hint", "Plej bona:"),
        ("eval", "Plej bona:"),
        ("swap", ""),
        ("new", ""),
        ("match", "Matĉo"),
        ("next", ""),
        ("board", ""),
        ("analyse", ""),
    ] {
        let answer = answer(command);
        assert!(answer.len() > silent && answer.contains(said), "{command}: {answer}");
        assert!(!answer.contains(&format!("`{command}`")), "a command, not an unknown word: {answer}");
    }
}

#[test]
fn a_record_is_saved_loaded_and_analysed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("games.jsonl");
    let out = folder.path().join("annotated.jsonl");
    let (file, out) = (file.to_str().unwrap(), out.to_str().unwrap());
    let moves = "d\nc\nd\nc\nd\nb\na\n";
    let args = ["--game", "connect_four", "--black", "human"];
    play(&args, &format!("{moves}save {file}\n")).success().stdout(contains("Saved"));
    play(&["--analyse", file, "--export", out, "--plain"], "").success().stdout(
        contains("4. A").and(contains("(D)")).and(contains("Analysed. Yellow: ?! 0, ? 0, ?? 1; Red: ?! 1, ? 0, ?? 1.")),
    );
    let annotated = std::fs::read_to_string(out).unwrap();
    assert!(annotated.contains("\"analysis\""));
    play(&["--load", out, "--black", "human"], "list\n").success().stdout(contains("D C D C D B A"));
}

#[test]
fn a_record_without_a_name_is_named_after_its_game() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = program(&["--game", "connect_four", "--black", "human", "--plain"]);
    command.current_dir(folder.path());
    let lines = "d\nc\nsave\nnew\nload\nlist\n";
    Command::from(command).write_stdin(lines).assert().success().stdout(contains("\nD C\n"));
    assert!(folder.path().join("connect_four.jsonl").exists());
}

#[test]
fn the_language_comes_from_the_environment_or_the_option() {
    let mut command = Command::cargo_bin("play").unwrap();
    command.env("JARMO_CHECKPOINTS", "");
    command.env("LC_ALL", "fi_FI.UTF-8").write_stdin("");
    command.assert().success().stdout(contains("Valkoinen on vuorossa"));
    let mut command = Command::cargo_bin("play").unwrap();
    command.env("LC_ALL", "fi_FI.UTF-8").args(["--lang", "it"]).write_stdin("");
    command.assert().success().stdout(contains("Tocca al Bianco"));
    let mut command = Command::cargo_bin("play").unwrap();
    command.env("LC_ALL", "fr_FR.UTF-8").write_stdin("");
    command.assert().success().stdout(contains("White to move"));
}

#[test]
fn a_locale_without_unicode_gets_ascii_output() {
    let mut command = Command::cargo_bin("play").unwrap();
    command.env("LC_ALL", "C").env("LANG", "").args(["--lang", "de"]).write_stdin("rules\n");
    let ascii = predicate::function(|out: &str| out.is_ascii());
    command.assert().success().stdout(ascii.and(contains("( b )")));
}

#[test]
fn a_cell_tells_what_stands_there_and_where_it_leads() {
    let input = "A1-C2\nb5\nC2\nC3\nE5-D3\nC2\n";
    let text = "\nC2, White, archer\nLines to: A1, empty; E1, White, archer; B2, empty; D2, empty; E3, empty\nMoves: ";
    play(&["--plain", "--black", "human"], input).success().stdout(
        contains("\nB5, Black, archer\nLines to: A3, empty; D4, empty\nMoves: B5-A3 B5-D4\n")
            .and(contains(text))
            .and(contains("\nC3, empty\nLines to: ")),
    );
    // Tammi has no lines, and a column of connect four is a move.
    play(&["--plain", "--game", "tammi", "--black", "human"], "c3\nc1\n")
        .success()
        .stdout(contains("\nc3, White, man\nMoves: c3-d4 c3-b4\nc1, White, man\n"));
    play(&["--plain", "--game", "connect_four", "--black", "human"], "d\nlist\n").success().stdout(contains("\nD\n"));
}

#[test]
fn invalid_options_are_named_with_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let bad = folder.path().join("bad.jsonl");
    std::fs::write(&bad, "{\"game\":\"jarmo\",\"moves\":[\"A1-A2\"]}\n").unwrap();
    let bad = bad.to_str().unwrap();
    let cases: [(&[&str], u8, &str); 8] = [
        (&["--game", "chess"], 2, "choose one of jarmo, guard, tammi, connect_four"),
        (&["--opponent", "unknown"], 2, "a player is `human`, a level"),
        (&["--lang", "fr"], 2, "use one of en, de, it, fi, eo"),
        (&["--port", "1"], 2, "--web"),
        (&["--analyse", "no/such/file"], 1, "no/such/file: "),
        (&["--analyse", bad], 1, "move 1: action `A1-A2`: no line leads from A1 to A2"),
        (&["--load", "Cargo.toml"], 1, "Cargo.toml: "),
        (&["--board", "no/file"], 2, "no/file: "),
    ];
    for (args, status, part) in cases {
        play(args, "").code(i32::from(status)).stderr(contains(part).and(contains("panicked").not()));
    }
}

#[test]
#[cfg(unix)]
fn unreadable_input_ends_the_program_with_an_error() {
    let folder = std::fs::File::open("tests").unwrap();
    let mut command = program(&["--plain", "--opponent", "random"]);
    let output = command.stdin(folder).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("standard input: "), "{message}");
    assert!(output.stdout.len() < 10_000);
}

#[test]
fn a_closed_output_is_no_error() {
    let mut child = program(&["--plain", "--opponent", "random"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap(); // closes the input of the program
    assert!(output.status.success(), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
}

/// A game against an agent that thinks for ever about its answer to the first move.
fn thinking() -> (std::process::Child, std::process::ChildStdin) {
    let mut child = program(&["--plain", "--opponent", "alphabeta:1000000000000"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"A1-C2\nlist\n").unwrap();
    std::thread::sleep(Duration::from_millis(300));
    (child, input)
}

#[test]
fn a_search_ends_with_stop_quit_and_the_end_of_the_input() {
    for last in ["stop\n", "quit\n", ""] {
        let (child, mut input) = thinking();
        let began = Instant::now();
        input.write_all(last.as_bytes()).unwrap();
        let open = (last == "quit\n").then_some(input); // `quit` ends the program though the input is open
        let output = child.wait_with_output().unwrap();
        assert!(began.elapsed() < Duration::from_secs(2), "{last:?}");
        drop(open);
        let text = String::from_utf8(output.stdout).unwrap();
        let told = text.find("> ").expect("the agent has moved");
        assert!(text[told..].contains("The search was stopped early."), "{text}");
        assert!(text[told..].contains("\nA1-C2 "), "`list` had its turn: {text}");
    }
}

#[test]
fn a_hint_is_no_move_of_an_agent() {
    let agent = "alphabeta:20000000";
    let game = ["--plain", "--white", agent, "--black", agent];
    play(&game, "stop\nhint\n").success().stdout(contains("It is not your turn."));
}

#[test]
fn agents_alone_play_on_after_the_end_of_the_input_but_not_after_quit() {
    let game = ["--white", "greedy", "--black", "random", "--seed", "4"];
    play(&game, "").success().stdout(contains("wins"));
    play(&game, "quit\n").success();
}

#[test]
#[cfg(target_os = "linux")]
fn a_line_of_any_length_is_skipped_and_messages_repeat_little() {
    let mut child =
        program(&["--plain", "--black", "human"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let part = "x".repeat(1 << 20);
    for _ in 0..400 {
        input.write_all(part.as_bytes()).unwrap();
    }
    let word = &part[..100_000];
    let more = format!("\n{word}\n@{word}\nwhite {word}\nload {word}\nsave {word}/x\nlist\n");
    input.write_all(more.as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    let peak: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(peak < 200 << 10, "{peak} KiB");
    drop(input);
    let text = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    assert!(text.contains("longer than 1 MiB"), "{}", text.len());
    assert!(text.matches('x').count() < 500, "{} bytes", text.len());
}
