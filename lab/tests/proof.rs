//! Proofs: made from tables, checked by the rules alone.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use assert_cmd::Command;
use jarmo_core::env::Line;
use jarmo_core::game::{Game, Mask, Player};
use jarmo_core::games::{Jarmo, JarmoPosition};
use jarmo_exact::ExactError;
use jarmo_exact::proof::{Claim, Proof, ProofStrategy, check};
use jarmo_exact::tables::{BuildSettings, Tables, build};
use lab::proof::{Made, make};
use predicates::str::contains;
use xxhash_rust::xxh3::xxh3_64;

/// White wins in 23 plies, the longest win of force 4.
const WON: &str = "5/b4/4b/5/2w1w w - - 0";

static TABLES: LazyLock<Tables> = LazyLock::new(|| Tables::solve(&Jarmo::standard(), 4).unwrap());

fn opening(text: &str) -> Line<JarmoPosition> {
    Line::at(Jarmo::standard().parse_position(text).unwrap())
}

fn made(openings: &[Line<JarmoPosition>], search: u32) -> Made {
    make(&Jarmo::standard(), &TABLES, openings, search, "a test".to_owned()).unwrap()
}

fn read(made: &Made) -> Proof {
    Proof::from_bytes(&Jarmo::standard(), &made.to_bytes()).unwrap()
}

fn proof(texts: &[&str], search: u32) -> Proof {
    let openings: Vec<_> = texts.iter().map(|text| opening(text)).collect();
    read(&made(&openings, search))
}

fn checked(proof: &Proof) -> Result<Vec<(Claim, u32)>, ExactError> {
    let mut seen = Vec::new();
    check(proof, |claim, checked| {
        seen.push((claim.clone(), checked.plies));
    })?;
    Ok(seen)
}

/// The file with another content after the checksum, and a checksum that fits.
fn with_rest(bytes: &[u8], change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    const TITLE_AND_KEY: usize = "jarmo proof 1\nchecksum: ".len();
    let (start, digits_and_rest) = bytes.split_at(TITLE_AND_KEY);
    let mut rest = digits_and_rest[16..].to_vec();
    change(&mut rest);
    let digits = format!("{:016x}", xxh3_64(&[start, &rest].concat()));
    [start, digits.as_bytes(), &rest].concat()
}

fn replaced(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    with_rest(bytes, |rest| {
        let at = rest.windows(from.len()).position(|part| part == from.as_bytes());
        let at = at.expect("the file has this text");
        rest.splice(at..at + from.len(), to.bytes());
    })
}

#[test]
fn a_proof_holds_with_every_length_of_search() {
    for search in [1, 3, 5] {
        // Black to move has lost, and then White wins.
        let proof = proof(&[WON, "5/b4/4b/2w2/4w b - - 0"], search);
        let seen = checked(&proof).unwrap();
        assert_eq!(seen[0].0.winner, Player::White);
        assert_eq!((seen[0].0.plies, seen[0].1), (23, 23));
        assert_eq!(seen.len(), 2);
    }
    assert!(proof(&[WON], 5).moves() < proof(&[WON], 1).moves());
}

#[test]
fn all_decided_positions_of_small_forces_can_be_proven() {
    let game = Jarmo::standard();
    let mut proven = 0;
    for layer in TABLES.layers() {
        let step = layer.size / 150;
        for index in (0..layer.size).step_by(step) {
            let position = layer.placement(index).position();
            let decided = TABLES.proven(&position).and_then(|value| value.plies);
            if game.outcome(&position).is_some() || decided.is_none() {
                continue;
            }
            let proof = read(&made(&[Line::at(position)], 3));
            let text = game.position_text(&position);
            checked(&proof).unwrap_or_else(|flaw| panic!("{text}: {flaw}"));
            proven += 1;
        }
    }
    assert!(proven > 200, "{proven}");
}

#[test]
fn the_strategy_wins_games_by_the_rules() {
    let proof = proof(&[WON], 1);
    let game = Jarmo::standard();
    for turn in 0..50 {
        let mut position = opening(WON).position;
        for ply in 0_u64.. {
            assert!(ply < 23);
            let legal = game.legal(&position);
            let action = match position.to_move() {
                Player::White => proof.next(&game, &position).unwrap().0,
                // Another sequence of replies every turn.
                Player::Black => legal.nth((turn * 7 + ply * 5) as u32 % legal.count()),
            };
            assert!(legal.contains(action));
            game.play(&mut position, action);
            if let Some(outcome) = game.outcome(&position) {
                assert_eq!(outcome.winner, Some(Player::White));
                break;
            }
        }
    }
}

#[test]
fn a_false_proof_is_found_out() {
    let game = Jarmo::standard();
    let bytes = made(&[opening(WON)], 1).to_bytes();
    let flaw = |bytes: &[u8]| {
        let proof = Proof::from_bytes(&game, bytes).unwrap();
        checked(&proof).unwrap_err().to_string()
    };
    let black = replaced(&bytes, "claim: white", "claim: black");
    assert!(flaw(&black).contains("no move is stored"), "{}", flaw(&black));
    let sooner = replaced(&bytes, "| 23 |", "| 22 |");
    assert!(flaw(&sooner).contains("the win takes 23 plies and not 22"));

    // Every stored move is needed: none can be replaced by all others without a flaw.
    let count = proof(&[WON], 1).moves();
    let mut found = 0;
    for number in 0..count {
        let other = with_rest(&bytes, |rest| {
            let actions = actions_at(rest);
            rest[actions[number]] = (rest[actions[number]] + 1) % game.actions() as u8;
        });
        let proof = Proof::from_bytes(&game, &other).unwrap();
        found += usize::from(checked(&proof).is_err());
    }
    assert!(found * 10 > count * 8, "{found} of {count}");
}

/// The places of the actions among the bytes after the checksum.
fn actions_at(rest: &[u8]) -> Vec<usize> {
    let head = rest.windows(2).position(|pair| pair == b"\n\n").unwrap();
    let mut places = Vec::new();
    let mut at = head + 2;
    while at < rest.len() {
        while rest[at] >= 128 {
            at += 1;
        }
        places.push(at + 1);
        at += 2;
    }
    places
}

#[test]
fn a_proof_is_read_as_it_was_written_and_damage_is_named() {
    let game = Jarmo::standard();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small.proof");
    let made = made(&[opening(WON)], 3);
    made.save(&path).unwrap();
    let read = Proof::load(&game, &path).unwrap();
    assert_eq!((&*read.made, read.search, read.moves()), (&*made.made, made.search, made.moves.len()));
    assert_eq!(read.claims, made.claims);
    for (position, action) in &made.moves {
        assert_eq!(read.action(position), Some(*action));
    }
    for over in ["w4/5/2b2/5/5 b - - 0", "5/5/5/5/w4 w - - 0"] {
        let position = game.parse_position(over).unwrap();
        assert_eq!(read.action(&position), None, "the game is over");
    }

    let bytes = fs::read(&path).unwrap();
    for place in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[place] ^= 4;
        fs::write(&path, &damaged).unwrap();
        let error = Proof::load(&game, &path).unwrap_err().to_string();
        assert!(error.contains("small.proof: "), "{error}");
    }
    for length in 0..bytes.len() {
        assert!(Proof::from_bytes(&game, &bytes[..length]).is_err());
    }
    let refused = |from, to, message| {
        let error = Proof::from_bytes(&game, &replaced(&bytes, from, to)).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    };
    refused("game: jarmo", "game: guard", "a proof for guard");
    refused("rules: 1", "rules: 7", "rules version 7");
    refused("A1-C2", "A1-E5", "another board");
    refused("search: 3", "search: 9", "longer than");
    refused("claim: white", "claim: green", "cannot be read");
    refused("b4/4b", "b4/3b", "row");
}

#[test]
fn only_decided_positions_inside_exact_tables_can_be_proven() {
    let game = Jarmo::standard();
    let try_it = |text: &str| {
        let made = make(&game, &TABLES, &[opening(text)], 5, String::new());
        made.unwrap_err().to_string()
    };
    assert!(try_it("1w3/1b3/5/b4/w4 w - - 0").contains("is drawn"));
    let start = game.position_text(&game.start());
    assert!(try_it(&start).contains("have no distance"));
    assert!(try_it("w4/5/2b2/5/5 b - - 0").contains("the game is over"));
}

#[test]
fn the_program_proves_a_position() {
    let folder = tempfile::tempdir().unwrap();
    let game = Jarmo::standard();
    let settings = BuildSettings { force: 4, save_every: Duration::from_secs(1000) };
    build(&game, folder.path(), settings, &mut |_| {}).unwrap();
    let file = folder.path().join("won.proof");
    let lab = |more: &[&str]| {
        let mut command = Command::cargo_bin("lab").unwrap();
        command.arg("proof").arg("--tables").arg(folder.path());
        command.arg("--out").arg(&file).args(more).assert()
    };
    lab(&["--position", WON]).success().stderr(contains("won.proof: 1 claims, "));
    let read = Proof::load(&game, &file).unwrap();
    assert_eq!(checked(&read).unwrap()[0].1, 23);
    let kept = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/won.proof"));
    assert_eq!(fs::read(&file).unwrap(), fs::read(kept).unwrap());
    lab(&[]).code(1).stderr(contains("openings have force 10, but the tables end at force 4"));
}
