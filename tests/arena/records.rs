//! Game records on disk, and openings from files.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use jarmo::arena::Openings;
use jarmo::game::Game;
use jarmo::games::{Jarmo, Tammi};
use jarmo::record::{GameRecord, RecordFile};

/// The path of a new file for one test.
fn fresh(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("records-{name}"));
    let _ = fs::remove_file(&path);
    path
}

fn record(moves: &[&str]) -> GameRecord {
    GameRecord {
        game: "jarmo".into(),
        moves: moves.iter().map(|&text| text.to_owned()).collect(),
        ..GameRecord::default()
    }
}

#[test]
fn a_record_needs_only_game_and_moves_and_ignores_unknown_keys() {
    let bare = GameRecord::parse(r#"{"game":"jarmo","moves":["A1-C2"]}"#).unwrap();
    assert_eq!(bare, record(&["A1-C2"]));
    assert_eq!(GameRecord::parse(&bare.to_line()).unwrap(), bare);
    let line = r#"{"game":"jarmo","comment":{"by":"me"},"moves":["A1-C2"]}"#;
    assert_eq!(GameRecord::parse(line).unwrap(), bare);
    assert_eq!(bare.to_line(), r#"{"format":1,"game":"jarmo","moves":["A1-C2"]}"#);
    for (line, message) in [
        ("", "expected a game record"),
        ("[]", "expected a game record"),
        (r#"{"moves":[]}"#, "missing field `game`"),
        (r#"{"game":"jarmo"}"#, "missing field `moves`"),
        (r#"{"format":2,"game":"jarmo","moves":[]}"#, "has format 2, but this build reads format 1"),
    ] {
        let error = GameRecord::parse(line).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn a_replay_plays_every_move_and_names_the_one_that_fails() {
    let game = Jarmo::standard();
    let replay = record(&["A1-C2", "d5-b4"]).replay(&game).unwrap();
    assert_eq!((replay.start, replay.actions.len()), (game.start(), 2));
    assert_eq!(game.ply(&replay.position), 2);
    let from_position = GameRecord { position: Some("5/5/w4/b4/5 w - - 0".into()), max_plies: Some(3), ..record(&[]) };
    let start = from_position.replay(&game).unwrap().position;
    assert_eq!(game.position_text(&start), "5/5/w4/b4/5 w - - 0");
    assert_eq!(from_position.rules(&game).unwrap().max_plies(), 3);
    let refused = |record: GameRecord| record.replay(&game).err().unwrap().to_string();
    assert!(refused(record(&["A1-C2", "A1-C2"])).starts_with("move 2: "));
    let nowhere = GameRecord { position: Some("nowhere".into()), ..record(&[]) };
    assert!(refused(nowhere).starts_with("illegal position: "));
    assert!(record(&[]).replay(&Tammi::standard()).is_err());
}

#[test]
fn a_half_written_last_line_is_dropped_and_the_others_are_kept() {
    let path = fresh("torn");
    let mut file = RecordFile::create(&path).unwrap();
    file.append(&record(&["A1-C2"])).unwrap();
    file.append(&record(&["B1-A3"])).unwrap();
    drop(file);
    let whole = fs::read(&path).unwrap();
    for cut in whole.len() / 2 + 1..whole.len() {
        fs::write(&path, &whole[..cut]).unwrap();
        let mut resumed = RecordFile::resume(&path).unwrap();
        // A last line that lacks only its newline is complete.
        let complete = cut == whole.len() - 1;
        assert_eq!(resumed.records.len(), 1 + usize::from(complete), "cut at {cut}");
        assert_eq!(resumed.torn_bytes > 0, !complete);
        resumed.file.append(&record(&["C1-A2"])).unwrap();
        drop(resumed);
        let records = RecordFile::resume(&path).unwrap().records;
        assert_eq!(records.len(), 2 + usize::from(complete));
        assert_eq!(records.last().unwrap(), &record(&["C1-A2"]));
    }
}

#[cfg(unix)]
#[test]
fn a_closed_file_is_free_even_while_this_process_starts_others() {
    let path = fresh("closed");
    drop(RecordFile::create(&path).unwrap());
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                // Memory that has to be copied makes a start slow, so that many closings fall into it.
                Command::new("true").env("LONG", "x".repeat(100_000)).status().unwrap();
            }
        });
        let opened = (0..5_000).try_for_each(|_| RecordFile::resume(&path).map(drop));
        done.store(true, Ordering::Relaxed);
        opened.unwrap();
    });
}

#[test]
fn damaged_existing_and_missing_files_are_refused() {
    let path = fresh("refused");
    let missing = RecordFile::resume(&path).unwrap_err().to_string();
    assert!(missing.contains("records-refused"), "{missing}");
    let file = RecordFile::create(&path).unwrap();
    let taken = RecordFile::create(&path).unwrap_err().to_string();
    assert!(taken.contains("or resume it"), "{taken}");
    let locked = RecordFile::resume(&path).unwrap_err().to_string();
    assert!(locked.contains("another process is writing"), "{locked}");
    drop(file);
    fs::write(&path, "{\"game\":\"jarmo\",\"moves\":[]}\nrubbish\n{}\n").unwrap();
    let before = fs::read(&path).unwrap();
    let damaged = RecordFile::resume(&path).unwrap_err().to_string();
    assert!(damaged.contains("line 2: expected a game record"), "{damaged}");
    assert_eq!(fs::read(&path).unwrap(), before, "the file is unchanged");
}

#[test]
fn openings_are_read_from_records_and_lists_of_moves() {
    let game = Jarmo::standard();
    let path = fresh("openings");
    let text = "# two formats\nA1-C2 D5-B4\n\n\
        {\"game\":\"jarmo\",\"moves\":[\"B1-A3\",\"D5-E3\",\"A3-B5\"]}\na1-c2 d5-b4\n";
    fs::write(&path, text).unwrap();
    let openings = Openings::from_file(&game, &path, None).unwrap();
    assert_eq!(openings.distinct, 2, "the last line repeats the first");
    assert_eq!(openings.of_pair(0).actions.len(), 2);
    assert_eq!(openings.of_pair(1).actions.len(), 3);
    assert_eq!(openings.of_pair(0), openings.of_pair(2));
    let shorter = Openings::from_file(&game, &path, Some(1)).unwrap();
    assert!((0..2).all(|pair| shorter.of_pair(pair).actions.len() == 1));
    for (text, message) in [
        ("", "no openings"),
        ("A1-A2", "line 1: move 1: "),
        ("A1-C2\n{\"game\":\"tammi\",\"moves\":[]}", "line 2: the record is a game of tammi, not of jarmo"),
        ("A1-C2\n{broken", "line 2: expected a game record"),
        ("# board: A1-A2 A1-B3\nA1-C2", "openings for another board, with the lines A1-A2 A1-B3"),
        ("{\"game\":\"jarmo\",\"position\":\"w4/5/5/5/b4 w - - 0\",\"moves\":[]}", "is over"),
    ] {
        fs::write(&path, text).unwrap();
        let error = Openings::from_file(&game, &path, None).unwrap_err().to_string();
        assert!(error.contains(message), "{error} has no {message}");
        assert!(error.contains("records-openings"), "{error}");
    }
}

#[test]
fn the_order_of_random_openings_does_not_depend_on_their_number() {
    let game = Jarmo::standard();
    for plies in [0, 2, 3, 9] {
        let few = Openings::random(&game, plies, 40, 8).unwrap();
        let many = Openings::random(&game, plies, 400, 8).unwrap();
        let other = Openings::random(&game, plies, 40, 9).unwrap();
        assert!((0..40).all(|pair| few.of_pair(pair) == many.of_pair(pair)));
        let differ = (0..40).any(|pair| few.of_pair(pair) != other.of_pair(pair));
        assert_eq!(differ, plies > 0);
        let seen: HashSet<_> = (0..40).map(|pair| few.of_pair(pair).position).collect();
        assert_eq!(seen.len(), if plies == 0 { 1 } else { 40 });
        for pair in 0..40 {
            let opening = few.of_pair(pair);
            assert_eq!(opening.actions.len(), plies as usize);
            assert!(game.outcome(&opening.position).is_none());
        }
    }
    let error = Openings::random(&game, 5000, 1, 8).unwrap_err().to_string();
    assert!(error.contains("is over after 5000 random plies"), "{error}");
}
