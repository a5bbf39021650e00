//! Values of a bucket that cannot be read: they are reported, the last good ones hold, and nobody stops.

use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use jarmo_core::agent::AgentSpec;
use jarmo_core::games::ConnectFour;
use jarmo_exact::agent;
use jarmo_fleet::WorkerEvent;
use jarmo_learn::run::Supply;

use super::kit::{RUN, Stranger, TestServer, file, idle_learner, learner, learner_in, until};
use super::{play, take};

const GARBAGE: &[u8] = br#"{"type":"io.nats.jetstream.api.v1.stream_info_response","total":0}"#;

/// Works with the first key until `stop` is set. Returns the warnings.
fn worker(server: &TestServer, stop: &AtomicBool) -> Vec<String> {
    let warnings = Mutex::new(Vec::new());
    let hear = |event: &WorkerEvent, _: &_| {
        if let WorkerEvent::Warning(warning) = event {
            warnings.lock().unwrap().push(warning.clone());
        }
    };
    play(server, 1, stop, hear);
    warnings.into_inner().unwrap()
}

#[test]
fn a_value_that_cannot_be_read_stops_neither_learner_nor_worker() {
    let Some(server) = TestServer::start(1) else {
        return;
    };
    let owner = Stranger::with_file(&server, &server.learner().key.unwrap());
    let write = |key: &str| owner.ask(&format!("$KV.jarmo_runs.{key}"), GARBAGE.to_vec(), None).unwrap();
    let supply = learner(&server, RUN, 64);
    let AgentSpec::Network(source, _) = "trained".parse().unwrap() else {
        panic!("an agent file");
    };
    supply.publish(agent::load(&source, &ConnectFour::new(0)).unwrap());
    let stop = AtomicBool::new(false);
    let warnings = thread::scope(|scope| {
        let working = scope.spawn(|| worker(&server, &stop));
        take(&supply, 1);
        let begun = Instant::now();
        let keys = [&format!("{RUN}.settings"), &format!("{RUN}.network"), "blocked", "orders"];
        while begun.elapsed() < Duration::from_secs(3) {
            keys.iter().for_each(|key| drop(write(key)));
            thread::sleep(Duration::from_millis(10));
        }
        while supply.take().unwrap().is_some() {}
        take(&supply, 1);
        assert!(!working.is_finished(), "it plays on");
        stop.store(true, Ordering::Relaxed);
        working.join().unwrap()
    });
    for what in ["the newest network", "orders"] {
        assert!(warnings.iter().any(|warning| warning.contains(what)), "{what}: {warnings:?}");
    }
    let mut said = String::new();
    until("the learner writes its settings again", || {
        said += &supply.warnings().join("\n");
        said.contains("what learners write there") && said.contains("revoked keys")
    });
    // A learner that begins while they are there, and a worker that comes later.
    drop(supply);
    write(&format!("{RUN}.network"));
    let supply = idle_learner(&server, RUN, 64).unwrap();
    supply.begin(&Default::default()).unwrap();
    supply.publish(agent::load(&source, &ConnectFour::new(0)).unwrap());
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let working = scope.spawn(|| worker(&server, &stop));
        take(&supply, 1);
        stop.store(true, Ordering::Relaxed);
        working.join().unwrap();
    });
}

/// The value of a key in the bucket of runs.
fn value_of(owner: &Stranger, key: &str) -> String {
    let value = owner.ask(&format!("$JS.API.DIRECT.GET.KV_jarmo_runs.$KV.jarmo_runs.{key}"), Vec::new(), None);
    String::from_utf8_lossy(&value.unwrap_or_default()).into_owned()
}

#[test]
fn a_lease_and_a_current_run_that_cannot_be_read_are_written_again() {
    let Some(server) = TestServer::start(1) else {
        return;
    };
    let owner = Stranger::with_file(&server, &server.learner().key.unwrap());
    let supply = learner(&server, RUN, 64);
    let AgentSpec::Network(source, _) = "trained".parse().unwrap() else {
        panic!("an agent file");
    };
    supply.publish(agent::load(&source, &ConnectFour::new(0)).unwrap());
    let id = fs::read_to_string(server.folder(RUN).join("fleet.id")).unwrap();
    let lease = format!("{id}.learner");
    let copy = server.folder("copy");
    fs::create_dir(&copy).unwrap();
    fs::copy(server.folder(RUN).join("fleet.id"), copy.join("fleet.id")).unwrap();
    for garbage in [GARBAGE, b"two words\r\nPUB jarmo.x 0\r\n\r\n", b"\xff\xfe", b"*.>"] {
        for key in [&*lease, "current"] {
            owner.ask(&format!("$KV.jarmo_runs.{key}"), garbage.to_vec(), None).unwrap();
        }
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            let working = scope.spawn(|| worker(&server, &stop)); // it begins with the garbage
            until("the lease is there again", || value_of(&owner, &lease).contains("holder"));
            until("workers have a run again", || value_of(&owner, "current") == RUN);
            take(&supply, 1);
            stop.store(true, Ordering::Relaxed);
            working.join().unwrap();
        });
        let refused = learner_in(&server, RUN, &copy, 64).err().expect("it is refused").to_string();
        assert!(refused.contains("has a learner already"), "{refused}");
    }
}

#[test]
fn a_key_is_revoked_although_the_list_of_revoked_keys_cannot_be_read() {
    let Some(mut server) = TestServer::start(2) else {
        return;
    };
    let owner = Stranger::with_file(&server, &server.learner().key.unwrap());
    let rogue = Stranger::with_key(&server, 2);
    let idle = idle_learner(&server, RUN, 64).unwrap(); // it takes nothing, so files wait
    for garbage in [GARBAGE, b"[1]", b""] {
        owner.ask("$KV.jarmo_runs.blocked", garbage.to_vec(), None).unwrap();
        rogue.ask(&rogue.files(RUN), file(RUN, 0, garbage.len() as u64, "rogue").0, None).unwrap();
        assert_eq!(server.purge(&rogue.key), 1, "its files are deleted");
        assert_eq!(value_of(&owner, "blocked"), format!("[{:?}]", rogue.key));
    }
    server.keys().revoke("worker-2").unwrap();
    idle.begin(&Default::default()).unwrap();
    let warnings = idle.warnings();
    assert!(warnings.iter().any(|warning| warning.contains("is blocked")), "{warnings:?}");
}
