//! The files of the opening explorer: how moves are counted, and that the shipped results are right.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use jarmo_core::game::{Game, Mask, Proven};
use jarmo_core::games::{ConnectFour, ConnectFourPosition};
use jarmo_core::record::GameRecord;
use jarmo_data::EXPLORERS;
use jarmo_exact::proof::shipped;
use jarmo_judge::accuracy::Exam;
use lab::explorer::{Keyed, count, plies, winners};
use serde_json::{Value, json};

fn file(index: usize) -> Value {
    let mut text = String::new();
    GzDecoder::new(EXPLORERS[index].1).read_to_string(&mut text).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn record(moves: &[&str], opening: usize, winner: &str) -> GameRecord {
    let outcome = json!({ "winner": winner, "score": null, "truncated": false });
    let line = json!({ "game": "connect_four", "moves": moves, "opening_plies": opening, "outcome": outcome });
    GameRecord::parse(&line.to_string()).unwrap()
}

#[test]
fn moves_are_counted_by_position_without_random_ones_and_mirror_images_together() {
    let four = ["D", "A", "D", "A", "D", "A", "D"];
    let mirrored = ["D", "G", "D", "G", "D", "G", "D"];
    let records = [record(&four, 0, "white"), record(&mirrored, 0, "white"), record(&four, 3, "white")];
    let played = count(&ConnectFour::new(0), &records, 2).unwrap();
    assert_eq!(played["//////"], BTreeMap::from([("D".to_owned(), [2, 2, 0])]));
    let [one, other] = ["///w///", "///ww///b"].map(|key| played.get(key));
    assert_eq!(one.unwrap().values().map(|counts| counts[0]).sum::<u32>(), 2);
    assert_eq!(other.unwrap().values().next(), Some(&[3, 3, 0]), "one move of both images");
    assert!(played.values().all(|moves| moves.values().map(|counts| counts[0]).sum::<u32>() >= 2));
}

#[test]
fn the_shipped_winners_of_jarmo_are_those_of_the_proof() {
    let proof = shipped();
    let file = file(0);
    assert_eq!(file["board"], json!(proof.game.board_text()));
    assert_eq!(file["winners"], serde_json::to_value(winners(&proof, 5)).unwrap());
}

/// The positions of connect four by ply in the order of the file, each with its sign there.
fn signs(game: &ConnectFour) -> Vec<BTreeMap<String, (ConnectFourPosition, char)>> {
    let file = file(1);
    let texts: Vec<Vec<char>> =
        file["plies"].as_array().unwrap().iter().map(|text| text.as_str().unwrap().chars().collect()).collect();
    let mut levels: Vec<BTreeMap<String, (ConnectFourPosition, char)>> = Vec::new();
    for text in texts {
        let mut level = BTreeMap::new();
        match levels.last() {
            None => drop(level.insert(game.key(&game.start()).0, (game.start(), ' '))),
            Some(before) => {
                for (position, _) in before.values().filter(|(position, _)| game.outcome(position).is_none()) {
                    for action in game.legal(position).iter() {
                        let mut next = *position;
                        game.play(&mut next, action);
                        level.insert(game.key(&next).0, (next, ' '));
                    }
                }
            }
        }
        assert_eq!(level.len(), text.len());
        for ((_, sign), read) in level.values_mut().zip(text) {
            *sign = read;
        }
        levels.push(level);
    }
    levels
}

/// The sign as a result for the player to move.
fn result(sign: char) -> Proven {
    match sign as u32 {
        46 => Proven::DRAW,
        code if (code - 48) % 2 == 1 => Proven::win(code - 48),
        code => Proven::loss(code - 48),
    }
}

#[test]
fn the_shipped_results_of_connect_four_fit_each_other_and_those_of_the_exam() {
    let game = ConnectFour::new(0);
    let levels = signs(&game);
    assert_eq!(levels.len(), 9);
    // The results of a ply are the best of the results of the next one.
    let mut solve = |positions: &[ConnectFourPosition]| {
        let solved = |position: &ConnectFourPosition| {
            let after = |action| {
                let mut next = *position;
                game.play(&mut next, action);
                let (_, sign) = levels[game.ply(&next) as usize][&game.key(&next).0];
                let Proven { verdict, plies } = result(sign);
                Proven { verdict: verdict.flip(), plies: plies.map(|plies| plies + 1) }
            };
            game.legal(position).iter().map(after).collect()
        };
        Ok(positions.iter().map(solved).collect())
    };
    let again = plies(&game, 8, &mut solve).unwrap();
    let read: Vec<String> = levels.iter().map(|level| level.values().map(|(_, sign)| *sign).collect()).collect();
    assert_eq!(again, read);
    for (position, sign) in levels[..8].iter().flat_map(BTreeMap::values).filter(|(one, _)| game.outcome(one).is_none())
    {
        let best = solve(&[*position]).unwrap().remove(0).into_iter().max_by_key(|one| one.preference());
        assert_eq!(best, Some(result(*sign)));
    }
    let exam = Exam::load(&game, Path::new("../checkpoints/connect_four.exam")).unwrap();
    let mut checked = 0;
    for question in exam.questions().iter().filter(|question| game.ply(&question.position) < 8) {
        let solved = solve(&[question.position]).unwrap().remove(0);
        let plain = |one: &Proven| (one.verdict, one.plies);
        assert_eq!(
            solved.iter().map(plain).collect::<Vec<_>>(),
            question.results.iter().map(plain).collect::<Vec<_>>()
        );
        checked += 1;
    }
    assert!(checked > 1000, "{checked}");
}

#[test]
fn a_file_that_cannot_be_written_is_refused_before_the_work() {
    let mut command = assert_cmd::Command::cargo_bin("lab").unwrap();
    command.args(["explorer", "nowhere.jsonl", "--out", "no/such.explorer"]);
    command.assert().code(2).stderr(predicates::str::contains("no is no folder"));
}
