//! Lessons and puzzles by lines of text and on the screen.

use std::path::Path;

use assert_cmd::Command;
use play::puzzles::{Progress, of};
use predicates::prelude::*;
use predicates::str::contains;

fn play(args: &[&str], data: &Path, input: &str) -> assert_cmd::assert::Assert {
    let mut command = Command::cargo_bin("play").unwrap();
    command
        .env("LANG", "C.UTF-8")
        .env("JARMO_CHECKPOINTS", "")
        .env("XDG_DATA_HOME", data)
        .env_remove("LC_ALL")
        .env_remove("LC_MESSAGES")
        .args(args)
        .write_stdin(input.to_owned());
    command.assert().success()
}

#[test]
fn the_lesson_of_jarmo_by_lines() {
    let folder = tempfile::tempdir().unwrap();
    let input = "B1-D2\nA1-E5\nundo\na1-c2\nD2-B3\nnext\nD1-C3\nnext\nD4-B5\nnext\n@C1\nnext\n\
                 A1-C2\nA1-B3\nnext\nsolution\nnext\n";
    play(&["--plain", "--learn"], folder.path(), input).stdout(
        contains("Step 1 of 6: Lines")
            .and(contains("the task is a different move"))
            .and(contains("A1-E5: no line leads from A1 to E5"))
            .and(contains("Right. That is a whole turn"))
            .and(contains("This exercise is finished."))
            .and(contains("Step 2 of 6: Capture and mark"))
            .and(contains("Right. The captured archer"))
            .and(contains("Right. This archer has arrived"))
            .and(contains("Right. You have one archer more"))
            .and(contains("no endless shuttling"))
            .and(contains("Right. From your next turn"))
            .and(contains("You win 4 : 3"))
            .and(contains("That was the lesson."))
            .and(contains("Points 5:5")),
    );
}

#[test]
fn the_game_comes_back_after_a_lesson() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["--plain", "--game", "tammi", "--black", "human"];
    let input = "c3-b4\nlearn\nc3xe5\nback\nleave\nlist\n";
    play(&args, folder.path(), input).stdout(
        contains("Step 1 of 3: Men and captures")
            .and(contains("Right. But this capture is not over yet."))
            .and(predicates::str::ends_with("c3-b4\n")),
    );
}

/// The moves of a player's solution, one a line.
fn solve(progress: &Progress) -> String {
    let line = &progress.choose(of("jarmo")).line;
    let own: Vec<&str> = line.iter().step_by(2).map(String::as_str).collect();
    own.join("\n")
}

#[test]
fn puzzles_by_lines_keep_the_rating_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["--plain", "--puzzles"];
    let mut progress = Progress::default();
    let input = solve(&progress) + "\n";
    let first = progress.choose(of("jarmo"));
    let change = progress.count(first, true, of("jarmo").len());
    let line = format!("Your rating: {} ({change:+})", progress.rating);
    play(&args, folder.path(), &input).stdout(
        contains(format!("Puzzle, rating {}", first.rating))
            .and(contains("Your rating: 1000\n"))
            .and(contains("The puzzle is solved."))
            .and(contains(line)),
    );
    let file = folder.path().join("jarmo/puzzles.json");
    let read = |file: &Path| -> Progress { serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap() };
    assert_eq!(read(&file), progress);
    // Another puzzle: its solution is shown, and it counts as failed.
    let second = progress.choose(of("jarmo"));
    assert_ne!(first, second);
    let solution = format!("The solution: {}", second.line.join(" "));
    play(&args, folder.path(), "solution\nsolution\nnext\n").stdout(
        contains(format!("Your rating: {}\n", progress.rating))
            .and(contains(solution))
            .and(contains("This exercise is finished.")),
    );
    progress.count(second, false, of("jarmo").len());
    assert_eq!(read(&file), progress);
}

#[test]
fn a_rating_that_cannot_be_kept_is_a_message() {
    let folder = tempfile::tempdir().unwrap();
    let blocked = folder.path().join("jarmo");
    std::fs::write(&blocked, "not a folder").unwrap();
    let args = ["--plain", "--puzzles"];
    let input = solve(&Progress::default()) + "\nnext\nquit\n";
    play(&args, folder.path(), &input).stdout(
        contains("The puzzle is solved.").and(contains("Your rating cannot be saved: ")).and(contains("puzzles.json")),
    );
    std::fs::remove_file(&blocked).unwrap();
    std::fs::create_dir(&blocked).unwrap();
    std::fs::write(blocked.join("puzzles.json"), "{").unwrap();
    play(&args, folder.path(), &input).stdout(contains("Your rating cannot be saved: "));
    let text = std::fs::read_to_string(blocked.join("puzzles.json")).unwrap();
    assert_eq!(text, "{", "a file that cannot be read is not written over");
}

#[test]
fn connect_four_has_puzzles_and_a_rating_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["--plain", "--puzzles", "--game", "connect_four"];
    let puzzle = Progress::default().choose(of("connect_four"));
    let own: Vec<&str> = puzzle.line.iter().step_by(2).map(String::as_str).collect();
    let input = own.join("\n") + "\n";
    play(&args, folder.path(), &input)
        .stdout(contains(format!("Puzzle, rating {}", puzzle.rating)).and(contains("The puzzle is solved.")));
    let mut guard = Command::cargo_bin("play").unwrap();
    let guard = guard.args(["--plain", "--puzzles", "--game", "guard", "--lang", "en"]);
    guard.assert().code(2).stderr(contains("There are no puzzles"));
    let kept = |name: &str| folder.path().join("jarmo").join(name).exists();
    assert!(kept("puzzles-connect_four.json") && !kept("puzzles.json"));
}
