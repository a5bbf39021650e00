//! Games are learned once, whatever file and key they come in, and a run has one learner.

use std::fs;
use std::thread;
use std::time::Duration;

use jarmo_fleet::GameFile;
use jarmo_learn::run::{Delivery, Seen, Supply};
use serde_json::json;

use super::kit::{RUN, Stranger, TestServer, file, idle_learner, learner, learner_in, open, settings, until};
use super::{report, take};

/// The same games in another file: its worker has another name.
fn renamed(content: &[u8], worker: &str) -> Vec<u8> {
    let mut file = GameFile::from_bytes(content).unwrap();
    worker.clone_into(&mut file.worker);
    file.to_bytes()
}

fn samples(files: &[Delivery]) -> u64 {
    files.iter().map(|file| file.samples.len() as u64).sum()
}

#[test]
fn the_same_games_are_learned_once_whatever_file_and_key_they_come_in() {
    let Some(server) = TestServer::start(2) else {
        return;
    };
    let supply = learner(&server, RUN, 64);
    let [first, second] = [1, 2].map(|key| Stranger::with_key(&server, key));
    let (content, positions) = file(RUN, 0, 1, "");
    first.ask(&first.files(RUN), content.clone(), None).unwrap();
    let mut taken = take(&supply, 1);
    for number in 0..30 {
        let sender = [&first, &second][number % 2];
        let again = renamed(&content, &format!("worker-{number}"));
        sender.ask(&sender.files(RUN), again, None).unwrap();
    }
    // Younger weights make no new game, and half of a file may be new.
    let (other, new) = file(RUN, 0, 2, "");
    let mut mixed = GameFile::from_bytes(&content).unwrap();
    mixed.games.extend(GameFile::from_bytes(&other).unwrap().games);
    second.ask(&second.files(RUN), mixed.to_bytes(), None).unwrap();
    taken.extend(take(&supply, 1));
    until("the others are dropped", || report(&supply).duplicates == 30);
    assert!(supply.take().unwrap().is_none());
    assert_eq!(samples(&taken), positions + new);
    assert_eq!(report(&supply).bad, 0);
    // Nor does a game count twice in one file.
    let (twice, once) = file(RUN, 0, 3, "");
    let mut twice = GameFile::from_bytes(&twice).unwrap();
    twice.games.push(twice.games[0].clone());
    first.ask(&first.files(RUN), twice.to_bytes(), None).unwrap();
    assert_eq!(samples(&take(&supply, 1)), once);
    // A learner that is started again knows the games of its checkpoint.
    let games = taken.iter().flat_map(|file| file.games.iter().map(|game| (*game, 0)));
    let seen: Seen = games.collect();
    drop(supply);
    let supply = idle_learner(&server, RUN, 64).unwrap();
    supply.begin(&seen).unwrap();
    first.ask(&first.files(RUN), renamed(&content, "later"), None).unwrap();
    until("it is dropped", || report(&supply).duplicates > 0);
}

#[test]
fn a_key_fills_no_more_than_its_share_while_another_one_sends() {
    let Some(server) = TestServer::start(2) else {
        return;
    };
    let mut config = settings(64);
    config.fleet.share = 0.55;
    config.replay.capacity = 100_000;
    let supply = open(&server, RUN, &server.folder(RUN), &config).unwrap();
    supply.begin(&Seen::default()).unwrap();
    let [flood, honest] = [1, 2].map(|key| Stranger::with_key(&server, key));
    // Alone, a key may send all. Each file is 5,000 samples or a little more.
    let large = |seed: u64, samples: u64| {
        let (content, mut positions) = file(RUN, 0, 1000 * seed, "");
        let mut large = GameFile::from_bytes(&content).unwrap();
        for seed in 1000 * seed + 1.. {
            if positions > samples {
                break;
            }
            let (content, more) = file(RUN, 0, seed, "");
            large.games.extend(GameFile::from_bytes(&content).unwrap().games);
            positions += more;
        }
        large.to_bytes()
    };
    let files: Vec<_> = (0..14).map(|seed| large(seed, 5000)).collect();
    let send = |who: &Stranger, files: &[Vec<u8>]| {
        for file in files {
            until("a file is sent", || who.ask(&who.files(RUN), file.clone(), None).is_ok());
        }
    };
    send(&flood, &files[..4]);
    take(&supply, 4);
    send(&honest, &files[4..6]);
    take(&supply, 2);
    // Now it has two thirds, and after another file of the other key four sevenths: its files wait.
    send(&flood, &files[6..10]);
    until("it is said", || supply.warnings().iter().any(|warning| warning.contains("has sent 55% of the newest")));
    send(&honest, &files[10..11]);
    assert_eq!(take(&supply, 1)[0].sent.key, honest.key);
    thread::sleep(Duration::from_secs(3));
    assert!(supply.take().unwrap().is_none());
    // They are delivered again, and taken while there is room.
    send(&honest, &files[11..]);
    assert!(take(&supply, 4).iter().any(|file| file.sent.key == flood.key));
    // No worker makes a file as large as this one.
    send(&honest, &[large(14, 10_000)]);
    until("it is refused", || supply.warnings().iter().any(|warning| warning.contains("more than 8192 samples")));
}

#[test]
fn a_copied_folder_gets_no_files_while_the_runs_learner_is_there() {
    let Some(server) = TestServer::start(2) else {
        return;
    };
    let supply = learner(&server, RUN, 64);
    let [worker, rogue] = [1, 2].map(|key| Stranger::with_key(&server, key));
    let copy = server.folder("copy");
    fs::create_dir_all(&copy).unwrap();
    fs::copy(server.folder(RUN).join("fleet.id"), copy.join("fleet.id")).unwrap();
    // More names than the server keeps hide no learner.
    for number in 0..21_000 {
        rogue.send(&rogue.progress(&format!("name-{number}")), b"{}".to_vec());
    }
    rogue.report("last");
    let refused = learner_in(&server, "copy", &copy, 64).err().unwrap().to_string();
    assert!(refused.contains("has a learner already"), "{refused}");
    assert!(refused.contains(&server.folder(RUN).display().to_string()), "{refused}");
    for seed in 0..5 {
        worker.ask(&worker.files(RUN), file(RUN, 0, seed, "").0, None).unwrap();
    }
    assert_eq!(take(&supply, 5).len(), 5, "the first one has them all");
    // After a clean stop, the copy is the run.
    drop(supply);
    let supply = learner_in(&server, "copy", &copy, 64).unwrap();
    supply.begin(&Seen::default()).unwrap();
    worker.ask(&worker.files("copy"), file("copy", 0, 9, "").0, None).unwrap();
    take(&supply, 1);
}

#[test]
fn a_smaller_queue_deletes_no_file_that_waits() {
    const FILES: u64 = 20;
    let Some(server) = TestServer::start(1) else {
        return;
    };
    drop(idle_learner(&server, RUN, 64).unwrap());
    let worker = Stranger::with_key(&server, 1);
    for seed in 0..FILES {
        worker.ask(&worker.files(RUN), file(RUN, 0, seed, "").0, None).unwrap();
    }
    let supply = learner(&server, RUN, 4);
    assert_eq!(take(&supply, FILES as usize).len() as u64, FILES);
}

#[test]
fn a_learner_that_lost_its_run_stops_and_acknowledges_nothing_more() {
    let Some(server) = TestServer::start(1) else {
        return;
    };
    let supply = learner(&server, RUN, 64);
    let owner = Stranger::with_file(&server, &server.learner().key.unwrap());
    let other = br#"{"holder":1,"run":"run","place":"elsewhere","folder":"copy on bob"}"#;
    let id = fs::read_to_string(server.folder(RUN).join("fleet.id")).unwrap();
    let consumers = || {
        let answer = owner.ask(&format!("$JS.API.CONSUMER.NAMES.JARMO_SAMPLES_{RUN}"), vec![], None).unwrap();
        let answer: serde_json::Value = serde_json::from_slice(&answer).unwrap();
        serde_json::from_value::<Vec<String>>(answer["consumers"].clone()).unwrap()
    };
    let own = consumers().remove(0);
    owner.ask(&format!("$KV.jarmo_runs.{id}.learner"), other.to_vec(), None).unwrap();
    // The other one takes its place at the queue, and keeps it.
    owner.ask(&format!("$JS.API.CONSUMER.DELETE.JARMO_SAMPLES_{RUN}.{own}"), vec![], None).unwrap();
    let theirs = "learner-0000000000000001";
    let config = json!({"durable_name": theirs, "ack_policy": "explicit"});
    let wanted = json!({"stream_name": format!("JARMO_SAMPLES_{RUN}"), "config": config}).to_string();
    let create = format!("$JS.API.CONSUMER.DURABLE.CREATE.JARMO_SAMPLES_{RUN}.{theirs}");
    owner.ask(&create, wanted.into_bytes(), None).unwrap();
    until("it stops", || supply.take().is_err());
    thread::sleep(Duration::from_secs(2));
    assert_eq!(consumers(), [theirs]);
    assert!(supply.waiting() > 0, "the run asks");
    drop(supply);
    let lease = owner.ask(&format!("$JS.API.DIRECT.GET.KV_jarmo_runs.$KV.jarmo_runs.{id}.learner"), vec![], None);
    assert_eq!(lease.unwrap(), other, "it leaves the other one its run");
}
