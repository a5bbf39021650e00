//! What a stranger with a worker's key can do to a fleet: nothing but waste its own share.
//!
//! The server is the program in the environment variable JARMO_NATS_SERVER. Without it, tests that need it say that they
//! are left out; with JARMO_FLEET=1 they fail.

#[path = "../kit/mod.rs"]
mod kit;
mod exam;
mod games;
mod headers;
mod replies;
mod values;

use std::collections::BTreeSet;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use async_nats::HeaderMap;
use jarmo_core::games::ConnectFour;
use jarmo_exact::agent::AgentSpec;
use jarmo_exact::catalog::GameSettings;
use jarmo_facade::measure::{AnyTournament, OpeningsPlan, TournamentPlan};
use jarmo_facade::{AgentPlan, AnyGame, Games, erase};
use jarmo_fleet::{
    Link, MOST_BYTES, MatchSettings, WorkerEvent, WorkerSettings, WorkerStatus, play_matches, status, work,
};
use jarmo_judge::arena::{Entrant, Settings};
use jarmo_learn::observe::{FleetCounts, FleetReport};
use jarmo_learn::run::{Delivery, Supply};
use jarmo_learn::train::OpenDevice;

use kit::{RUN, Stranger, TestServer, file, learner, until};

/// The files of a learner until so many have come.
fn take(supply: &impl Supply, count: usize) -> Vec<Delivery> {
    let mut taken = Vec::new();
    until("files are taken", || {
        taken.extend(supply.take().unwrap());
        taken.len() >= count
    });
    taken
}

/// A block of a tournament.
fn task_of(block: &[u8]) -> Option<serde_json::Value> {
    let text = zstd::bulk::decompress(block, 1 << 24).ok()?;
    serde_json::from_slice(&text).ok()
}

/// The tournament that a block belongs to.
fn tournament_of(block: &[u8]) -> Option<String> {
    Some(task_of(block)?["content"]["tournament"].as_str()?.to_owned())
}

/// A tournament of two agents, and how workers are to play it.
fn tournament_of_two(game: &dyn AnyGame) -> (MatchSettings, Box<dyn AnyTournament>) {
    let specs: [AgentSpec; 2] = ["rollout:5", "random"].map(|spec| spec.parse().unwrap());
    let plan = TournamentPlan {
        entrants: ["one", "two"].map(|name| Entrant { name: name.to_owned(), checkpoint: None }).into(),
        agents: &specs.clone().map(|spec| AgentPlan::given(spec, None)),
        openings: OpeningsPlan::Usual(Some(2)),
        settings: Settings { pairs: 60, ..Settings::default() },
        threads: 1,
        tables: None,
    };
    let tournament = game.tournament(plan).unwrap();
    (MatchSettings { rules: GameSettings::default(), agents: specs.into() }, tournament)
}

/// Works with a worker's key until `stop` is set. `hear` gets the events.
fn play(server: &TestServer, key: u32, stop: &AtomicBool, hear: impl FnMut(&WorkerEvent, &WorkerStatus)) {
    let settings = WorkerSettings {
        address: server.address(&server.key(key)),
        name: Some("honest".to_owned()),
        run: None,
        threads: Some(1),
        device: OpenDevice::cpu(),
        time: None,
        most_games: None,
    };
    work(&Games::empty().register(ConnectFour::new(0)), &settings, stop, hear).unwrap();
}

fn report(supply: &impl Supply) -> FleetReport {
    supply.report(FleetCounts::default())
}

#[test]
fn a_files_sender_is_its_key_and_its_counts_are_its_games() {
    let Some(server) = TestServer::start(2) else {
        return;
    };
    let supply = learner(&server, RUN, 64);
    let stranger = Stranger::with_key(&server, 1);
    // The name of another worker in the file changes nothing.
    let (content, positions) = file(RUN, 0, 1, "worker-2");
    stranger.ask(&stranger.files(RUN), content, None).unwrap();
    let taken = take(&supply, 1);
    assert_eq!(taken[0].sent.key, stranger.key);
    assert_eq!(taken[0].counts.positions, positions);
    // The server takes nothing under another key.
    let other = Stranger::with_key(&server, 2).files(RUN);
    assert!(stranger.ask(&other, file(RUN, 0, 2, "").0, None).is_err());
    // Weights that no network has had, and those beyond the newest network.
    for weights in [1 << 63, u64::MAX, 1] {
        let (content, _) = file(RUN, weights, weights, "");
        stranger.ask(&stranger.files(RUN), content, None).unwrap();
    }
    until("bad files are counted", || report(&supply).bad == 3);
    assert_eq!(supply.waiting(), 0);
}

#[test]
fn a_flood_fills_the_room_of_its_own_key() {
    const QUEUE: u64 = 20;
    let Some(server) = TestServer::start(2) else {
        return;
    };
    let supply = learner(&server, RUN, QUEUE);
    let [flood, honest] = [1, 2].map(|key| Stranger::with_key(&server, key));
    // The first files are taken at once; the learner looks at bad ones, and at few good ones ahead of its loop.
    let rubbish = |number: usize| {
        let mut content = vec![0; MOST_BYTES];
        content[..8].copy_from_slice(&number.to_le_bytes());
        content
    };
    let mut refused = 0;
    for number in 0..600 {
        refused += u32::from(flood.ask(&flood.files(RUN), rubbish(number), None).is_err());
        if refused > 20 {
            break;
        }
    }
    assert!(refused > 20, "the queue has no limit for a key");
    honest.ask(&honest.files(RUN), file(RUN, 0, 1, "").0, None).unwrap();
    let taken = take(&supply, 1);
    assert_eq!(taken[0].sent.key, honest.key, "an honest key's file arrives");
    // What a key says of itself is as limited: large words are refused, and of many names few are shown.
    let said = |number: usize| flood.progress(&format!("name-{number}"));
    assert!(flood.ask(&said(0), vec![b' '; 990_000], None).is_err());
    for number in 0..6000 {
        flood.send(&said(number), br#"{"worker":"rogue"}"#.to_vec());
    }
    honest.report("honest");
    let link = Link::open(&server.learner(), "status").unwrap();
    let seen = status(&link).unwrap();
    assert!(seen.workers.len() <= 4097, "{}", seen.workers.len());
    let names: BTreeSet<_> = seen.workers.iter().map(|worker| &worker.worker).collect();
    assert!(names.contains(&"honest".to_owned()));
}

#[test]
fn eleven_hundred_large_messages_fill_nothing() {
    let Some(server) = TestServer::start(2) else {
        return;
    };
    let supply = learner(&server, RUN, 64);
    let [rogue, honest] = [1, 2].map(|key| Stranger::with_key(&server, key));
    // Its own subjects, and those of the buckets, which it may not write.
    let subjects = [
        rogue.progress("rogue"),
        rogue.files(RUN),
        format!("$KV.jarmo_runs.{RUN}.settings"),
        "$O.jarmo_networks.C.rogue".to_owned(),
    ];
    for number in 0..1100 {
        rogue.send(&subjects[number % subjects.len()], vec![0; 990_000]);
    }
    until("the server has read them", || rogue.ask(&subjects[0], b"{}".to_vec(), None).is_ok());
    let content = file(RUN, 0, 1, "").0;
    until("an honest file arrives", || {
        let answer = honest.ask(&honest.files(RUN), content.clone(), None);
        answer.is_ok()
    });
    assert_eq!(take(&supply, 1)[0].sent.key, honest.key);
    let link = Link::open(&server.learner(), "status").unwrap();
    let seen = status(&link).unwrap();
    assert_eq!(seen.runs.len(), 1, "the settings can be read");
    assert!(seen.runs[0].queued_bytes < 1_000_000, "{seen}");
    assert_eq!(report(&supply).bad, 0, "no large message was taken");
}

#[test]
fn rubbish_at_full_speed_stops_no_honest_worker() {
    const FILES: u64 = 200;
    let Some(server) = TestServer::start(2) else {
        return;
    };
    let supply = learner(&server, RUN, 64);
    let honest = Stranger::with_key(&server, 2);
    let rate = |first: u64| {
        let files: Vec<_> = (first..first + FILES).map(|seed| file(RUN, 0, seed, "").0).collect();
        let begun = Instant::now();
        for content in files {
            // Like a worker: again, while its own share of the queue is full.
            until("a file is taken", || {
                let answer = honest.ask(&honest.files(RUN), content.clone(), None);
                answer.is_ok()
            });
        }
        FILES as f64 / begun.elapsed().as_secs_f64()
    };
    rate(0); // the first ones are slower
    let before = rate(FILES);
    let stop = AtomicBool::new(false);
    let (during, sent) = thread::scope(|scope| {
        let (server, stop) = (&server, &stop);
        let flood = scope.spawn(move || {
            let rogue = Stranger::with_key(server, 1);
            let mut sent = 0_u64;
            while !stop.load(Ordering::Relaxed) {
                let mut rubbish = vec![0; MOST_BYTES];
                rubbish[..8].copy_from_slice(&sent.to_le_bytes());
                let _ = rogue.ask(&rogue.files(RUN), rubbish, None);
                sent += 1;
            }
            sent
        });
        let during = rate(2 * FILES);
        stop.store(true, Ordering::Relaxed);
        (during, flood.join().unwrap())
    });
    eprintln!("honest files/s: {before:.0} alone, {during:.0} beside {sent} of rubbish");
    let taken = take(&supply, 3 * FILES as usize);
    assert!(taken.iter().all(|file| file.sent.key == honest.key));
}

#[test]
fn a_rollup_header_erases_nothing() {
    let Some(server) = TestServer::start(2) else {
        return;
    };
    let _supply = learner(&server, RUN, 64);
    let [rogue, honest] = [1, 2].map(|key| Stranger::with_key(&server, key));
    honest.report("honest");
    for what in ["all", "sub"] {
        let mut headers = HeaderMap::new();
        headers.insert("Nats-Rollup", what);
        for subject in [rogue.progress("rogue"), rogue.files(RUN)] {
            let answer = rogue.ask(&subject, b"{}".to_vec(), Some(headers.clone()));
            let refused = answer.unwrap_err();
            assert!(refused.contains("rollup"), "{refused}");
        }
    }
    let link = Link::open(&server.learner(), "status").unwrap();
    let seen = status(&link).unwrap();
    assert!(seen.workers.iter().any(|worker| worker.worker == "honest"));
}

#[test]
fn after_a_hundred_bad_files_a_key_is_left_waiting_and_others_are_not() {
    let Some(server) = TestServer::start(2) else {
        return;
    };
    let supply = learner(&server, RUN, 1000);
    let [rogue, honest] = [1, 2].map(|key| Stranger::with_key(&server, key));
    for number in 0_u64..300 {
        let rubbish = number.to_le_bytes().to_vec();
        rogue.ask(&rogue.files(RUN), rubbish, None).unwrap();
    }
    rogue.ask(&rogue.files(RUN), file(RUN, 0, 1, "").0, None).unwrap();
    honest.ask(&honest.files(RUN), file(RUN, 0, 2, "").0, None).unwrap();
    assert_eq!(take(&supply, 1)[0].sent.key, honest.key);
    until("a hundred are counted", || report(&supply).bad >= 100);
    let warnings = supply.warnings().join("\n");
    assert!(warnings.contains(&rogue.key), "{warnings}");
    assert!(warnings.contains("100 bad files"), "{warnings}");
    thread::sleep(Duration::from_secs(1));
    assert!(supply.take().unwrap().is_none(), "its good file is left as well");
    // A file is kept before it is counted.
    let kept = || fs::read_dir(server.folder(RUN).join("quarantine")).unwrap().count() as u64;
    until("each one is kept", || kept() == report(&supply).bad);
    let bad = report(&supply).bad;
    assert!((100..100 + 2 * 64).contains(&bad), "{bad}: two requests' worth more");
}

#[test]
fn two_runs_at_once_get_their_own_files() {
    let Some(server) = TestServer::start(1) else {
        return;
    };
    let runs = ["first", "second"];
    let supplies = runs.map(|run| learner(&server, run, 64));
    let worker = Stranger::with_key(&server, 1);
    for number in 0..6 {
        for run in runs {
            let content = file(run, 0, number, "").0;
            worker.ask(&worker.files(run), content, None).unwrap();
        }
    }
    for supply in &supplies {
        let ids: BTreeSet<_> = take(supply, 6).iter().map(|file| file.sent.id).collect();
        assert_eq!(ids.len(), 6);
        assert_eq!(report(supply).bad, 0);
    }
    // A file under the other run's subject is refused.
    let strange = file(runs[1], 0, 9, "").0;
    worker.ask(&worker.files(runs[0]), strange, None).unwrap();
    until("it is counted", || report(&supplies[0]).bad == 1);
    let link = Link::open(&server.learner(), "status").unwrap();
    let seen = status(&link).unwrap();
    assert_eq!(seen.runs.iter().filter(|run| run.is_here).count(), 2);
}

#[test]
fn encrypted_connections_need_the_authority_and_the_right_name() {
    let Some(server) = TestServer::encrypted() else {
        return;
    };
    let address = server.learner();
    assert!(address.url.starts_with("tls://"));
    Link::open(&address, "known").unwrap();
    let mut stranger = address.clone();
    stranger.authority = None;
    let refused = Link::open(&stranger, "stranger").err().unwrap();
    assert!(refused.to_string().contains("not trusted"), "{refused}");
    let mut other = address.clone();
    other.url = other.url.replace("127.0.0.1", "127.0.0.2");
    let refused = Link::open(&other, "other").err().unwrap();
    assert!(refused.to_string().contains("another host"), "{refused}");
    // Without encryption the server lets nobody in, and says no secret.
    let mut plain = address;
    plain.url = plain.url.replace("tls://", "nats://");
    plain.authority = None;
    assert!(Link::open(&plain, "plain").is_err());
}

#[test]
fn a_key_that_takes_all_blocks_of_a_match_stops_nothing() {
    let Some(server) = TestServer::start(2) else {
        return;
    };
    let game = erase(ConnectFour::new(0));
    let (settings, mut tournament) = tournament_of_two(game.as_ref());
    let link = Link::open(&server.learner(), "arena").unwrap();
    let (stop, held) = (AtomicBool::new(false), AtomicBool::new(false));
    let rogue = Stranger::with_key(&server, 1);
    thread::scope(|scope| {
        // It asks for blocks as fast as it can, and answers none but with the words of a consumer in progress.
        let (server, stop, held) = (&server, &stop, &held);
        scope.spawn(move || {
            let subject = format!("jarmo.blocks.{}", rogue.key);
            let mut answers = 0;
            while !stop.load(Ordering::Relaxed) {
                let answer = rogue.ask(&subject, Vec::new(), None);
                // A worker that waits for an answer plays nothing. Only a question that crosses the arena's farewell
                // gets none: the client drops what comes after it has unsubscribed and before the server knows.
                if answer == Err("no answer".to_owned()) {
                    assert!(stop.load(Ordering::Relaxed), "the arena answers to its end");
                    break;
                }
                answers += u32::from(answer.is_ok());
                if answers > 100
                    && let Some(tournament) = answer.ok().and_then(|block| tournament_of(&block))
                {
                    let results = format!("jarmo.results.{tournament}.{}", rogue.key);
                    let _ = rogue.ask(&results, b"+WPI".to_vec(), None);
                }
                held.store(answers > 100, Ordering::Relaxed);
            }
        });
        scope.spawn(move || {
            until("the rogue holds what it gets", || held.load(Ordering::Relaxed));
            play(server, 2, stop, |_, _| ());
        });
        let played = play_matches(&link, game.as_ref(), &settings, tournament.as_mut(), stop, &mut (), |_| ());
        stop.store(true, Ordering::Relaxed);
        played.unwrap();
    });
    assert!(tournament.is_over());
}
