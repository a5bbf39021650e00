//! A worker can put any bytes into the header of a message. No client library could read these.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use jarmo_core::games::ConnectFour;
use jarmo_facade::erase;
use jarmo_fleet::{Link, play_matches, status};
use jarmo_learn::run::Supply;

use super::kit::{RUN, Shouter, Stranger, TestServer, file, learner};
use super::{play, report, take, tournament_of_two};

/// Unreadable ones, and some that look like answers of the server.
const HEADERS: [&[u8]; 6] = [
    b"NATS/1.0\r\nno colon\r\n\r\n",
    b"NATS/2.0\r\n\r\n",
    b"\xff\xfe\xfd",
    b"NATS/1.0 abc\r\n\r\n",
    b"NATS/1.0 409 Consumer Deleted\r\n\r\n",
    b"NATS/1.0 204 EOB\r\nNats-Sequence: 1\r\n\r\n",
];

#[test]
fn headers_stop_neither_learner_nor_status() {
    let Some(server) = TestServer::start(2) else {
        return;
    };
    let supply = learner(&server, RUN, 64);
    let (mut rogue, honest) = (Shouter::with_key(&server, 1), Stranger::with_key(&server, 2));
    let key = Stranger::with_key(&server, 1).key;
    for (number, header) in HEADERS.iter().enumerate() {
        let seed = number as u64;
        rogue.send(format!("jarmo.samples.{RUN}.{key}").as_bytes(), header, &file(RUN, 0, seed, "").0);
        rogue.send(format!("jarmo.progress.{key}.rogue-{number}").as_bytes(), header, b"{}");
        // The last part of this subject is any bytes, too.
        let subject = [b"jarmo.progress.", key.as_bytes(), b".Nats-Subject:\rx\xff"].concat();
        rogue.send(&subject, header, b"{}");
        honest.report(&format!("honest-{number}"));
        honest.ask(&honest.files(RUN), file(RUN, 0, 100 + seed, "").0, None).unwrap();
    }
    let taken = take(&supply, 2 * HEADERS.len());
    let honest_files = taken.iter().filter(|file| file.sent.key == honest.key).count();
    assert_eq!(honest_files, HEADERS.len());
    let seen = status(&Link::open(&server.learner(), "status").unwrap()).unwrap();
    assert_eq!(seen.runs.len(), 1);
    for (key, name) in [(&key, "rogue"), (&honest.key, "honest")] {
        let names = seen.workers.iter().filter(|worker| worker.key == *key).map(|worker| worker.worker.clone());
        let mut names: Vec<_> = names.filter(|worker| worker.starts_with(name)).collect();
        names.sort();
        let expected: Vec<_> = (0..HEADERS.len()).map(|number| format!("{name}-{number}")).collect();
        assert_eq!(names, expected);
    }
    assert!(report(&supply).connected);
    assert_eq!(supply.warnings(), Vec::<String>::new());
}

#[test]
fn headers_stop_no_match() {
    let Some(server) = TestServer::start(2) else {
        return;
    };
    let game = erase(ConnectFour::new(0));
    let (settings, mut tournament) = tournament_of_two(game.as_ref());
    let link = Link::open(&server.learner(), "arena").unwrap();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let (server, stop) = (&server, &stop);
        scope.spawn(move || {
            let (mut rogue, key) = (Shouter::with_key(server, 1), Stranger::with_key(server, 1).key);
            let mut sent = 0;
            while !stop.load(Ordering::Relaxed) {
                rogue.send(format!("jarmo.blocks.{key}").as_bytes(), HEADERS[sent % HEADERS.len()], b"");
                sent += 1;
            }
            assert!(sent > 10, "{sent} messages");
        });
        scope.spawn(move || play(server, 2, stop, |_, _| ()));
        let mut warnings = Vec::new();
        let tell = |warning| warnings.push(warning);
        let played = play_matches(&link, game.as_ref(), &settings, tournament.as_mut(), stop, &mut (), tell);
        stop.store(true, Ordering::Relaxed);
        played.unwrap();
        assert_eq!(warnings, Vec::<String>::new());
    });
    assert!(tournament.is_over());
}
