//! A server checks where a key sends, not where the answer goes. So no key may share an account with what it attacks.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use jarmo_core::games::ConnectFour;
use jarmo_facade::erase;
use jarmo_fleet::{Link, play_matches, status};
use jarmo_learn::run::Supply;
use serde_json::{Value, json};

use super::kit::{RUN, Stranger, TestServer, file, idle_learner, learner, until};
use super::{report, take, task_of, tournament_of_two};

/// The question that a worker may ask, for a value that is not there.
const NOTHING: &str = "$JS.API.DIRECT.GET.KV_jarmo_runs.$KV.jarmo_runs.nothing";

/// What a stream holds, as the learner sees it; an error if there is none.
fn stream(learner: &Stranger, name: &str) -> Result<u64, String> {
    let answer = learner.ask(&format!("$JS.API.STREAM.INFO.{name}"), Vec::new(), None)?;
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    Ok(answer["state"]["messages"].as_u64().unwrap())
}

fn owner(server: &TestServer) -> Stranger {
    Stranger::with_file(server, &server.learner().key.unwrap())
}

#[test]
fn an_answer_purges_and_deletes_nothing() {
    let Some(server) = TestServer::start(2) else {
        return;
    };
    drop(idle_learner(&server, RUN, 64).unwrap());
    let [rogue, honest] = [1, 2].map(|key| Stranger::with_key(&server, key));
    honest.ask(&honest.files(RUN), file(RUN, 0, 1, "").0, None).unwrap();
    let queue = format!("JARMO_SAMPLES_{RUN}");
    let targets = [&queue, "KV_jarmo_runs", "OBJ_jarmo_networks", "JARMO_PROGRESS"];
    let own = rogue.progress("rogue");
    let watcher = Stranger::with_file(&server, &server.watcher());
    for target in targets {
        for order in ["PURGE", "DELETE"] {
            let reply = format!("$JS.API.STREAM.{order}.{target}");
            rogue.divert(NOTHING, Vec::new(), &reply);
            rogue.divert(&own, b"{}".to_vec(), &reply);
            watcher.divert("$JS.API.DIRECT.GET.KV_jarmo_runs", br#"{"seq":99}"#.to_vec(), &reply);
        }
    }
    let owner = owner(&server);
    for target in targets {
        stream(&owner, target).unwrap();
    }
    assert_eq!(stream(&owner, &queue), Ok(1), "the acknowledged file waits");
    let supply = learner(&server, RUN, 64);
    assert_eq!(take(&supply, 1)[0].sent.key, honest.key);
}

#[test]
fn an_acknowledgement_is_nobodys_file() {
    let Some(server) = TestServer::start(2) else {
        return;
    };
    let supply = learner(&server, RUN, 64);
    let [rogue, honest] = [1, 2].map(|key| Stranger::with_key(&server, key));
    for seed in 0..3 {
        rogue.divert(&rogue.files(RUN), file(RUN, 0, seed, "").0, &honest.files(RUN));
    }
    rogue.divert(NOTHING, Vec::new(), &honest.files(RUN));
    let forged = file(RUN, 0, 8, "").0; // in the place of an answer
    rogue.divert(&rogue.progress("rogue"), forged, &honest.files(RUN));
    honest.ask(&honest.files(RUN), file(RUN, 0, 9, "").0, None).unwrap();
    let taken = take(&supply, 4);
    let honest_files = taken.iter().filter(|file| file.sent.key == honest.key).count();
    assert_eq!(honest_files, 1);
    assert_eq!(report(&supply).bad, 0);
    let warnings = supply.warnings().join("\n");
    assert!(!warnings.contains(&honest.key), "{warnings}");
}

#[test]
fn an_answer_overwrites_no_settings_and_no_list_of_revoked_keys() {
    let Some(server) = TestServer::start(2) else {
        return;
    };
    let supply = learner(&server, RUN, 64);
    let watcher = Stranger::with_file(&server, &server.watcher());
    let rogue = Stranger::with_key(&server, 1);
    let before = owner(&server).ask("$JS.API.DIRECT.GET.KV_jarmo_runs.$KV.jarmo_runs.run.settings", vec![], None);
    for key in [&format!("{RUN}.settings"), &format!("{RUN}.network"), "blocked", "orders", "current"] {
        let reply = format!("$KV.jarmo_runs.{key}");
        for question in ["$JS.API.STREAM.INFO.KV_jarmo_runs", NOTHING] {
            rogue.divert(question, Vec::new(), &reply);
            watcher.divert(question, Vec::new(), &reply);
        }
        watcher.divert("jarmo.info.KV_jarmo_runs", Vec::new(), &reply);
    }
    let after = owner(&server).ask("$JS.API.DIRECT.GET.KV_jarmo_runs.$KV.jarmo_runs.run.settings", vec![], None);
    assert_eq!(before, after);
    server.purge(&rogue.key);
    drop(supply);
    drop(learner(&server, RUN, 64));
    let link = Link::open(&server.learner(), "status").unwrap();
    assert_eq!(status(&link).unwrap().runs.len(), 1);
}

#[test]
fn an_answer_to_games_deletes_no_agents() {
    let Some(server) = TestServer::start(1) else {
        return;
    };
    let game = erase(ConnectFour::new(0));
    let (settings, mut tournament) = tournament_of_two(game.as_ref());
    let link = Link::open(&server.learner(), "arena").unwrap();
    let (rogue, stop) = (Stranger::with_key(&server, 1), AtomicBool::new(false));
    thread::scope(|scope| {
        let (server, stop) = (&server, &stop);
        scope.spawn(move || {
            let blocks = format!("jarmo.blocks.{}", rogue.key);
            let mut task = Value::Null;
            until("a block comes", || {
                let block = rogue.ask(&blocks, Vec::new(), None).unwrap_or_default();
                task = task_of(&block).unwrap_or_default();
                !task.is_null()
            });
            let results = format!("jarmo.results.{}.{}", task["content"]["tournament"].as_str().unwrap(), rogue.key);
            // The arena answers games of a block that there is not with nothing, as it does all that it takes.
            task["content"] = json!({ "number": 1_000_000, "games": [] });
            let answer = zstd::bulk::compress(task.to_string().as_bytes(), 1).unwrap();
            rogue.divert(&results, answer, "$JS.API.STREAM.DELETE.OBJ_jarmo_agents");
            rogue.divert(&blocks, Vec::new(), "$JS.API.STREAM.DELETE.OBJ_jarmo_agents");
            let left = stream(&owner(server), "OBJ_jarmo_agents");
            stop.store(true, Ordering::Relaxed);
            left.unwrap();
        });
        play_matches(&link, game.as_ref(), &settings, tournament.as_mut(), stop, &mut (), |_| ()).unwrap();
    });
}

#[test]
fn keys_come_and_go_while_the_others_work() {
    let Some(mut server) = TestServer::start(2) else {
        return;
    };
    let supply = learner(&server, RUN, 64);
    let [first, second] = [1, 2].map(|key| Stranger::with_key(&server, key));
    let name = "bob";
    server.keys().add(name, jarmo_fleet::Role::Worker).unwrap();
    assert!(server.keys().reload());
    let bob = server.keys().key_file(name);
    let mut third = None;
    until("the server knows the new key", || {
        third = third.take().or_else(|| Stranger::try_with_file(&server, &bob));
        third.is_some()
    });
    let third = third.unwrap();
    until("its file is taken", || third.ask(&third.files(RUN), file(RUN, 0, 3, "").0, None).is_ok());
    server.keys().revoke("worker-2").unwrap();
    assert!(server.keys().reload());
    server.purge(&second.key);
    for (seed, sender) in [(4, &first), (5, &third)] {
        sender.ask(&sender.files(RUN), file(RUN, 0, seed, "").0, None).unwrap();
    }
    let keys: Vec<_> = take(&supply, 3).into_iter().map(|file| file.sent.key).collect();
    assert_eq!(keys, [&third.key, &first.key, &third.key].map(String::clone));
    assert!(Stranger::try_with_file(&server, &server.key(2)).is_none());
}
