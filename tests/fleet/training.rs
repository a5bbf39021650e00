//! A learner and workers: nothing is lost and nothing is learned twice, whoever is killed.

use std::collections::BTreeSet;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use serde_json::Value;

use super::server::{self, Server, TINY, first_worker as worker, jarmo, stop, until};

/// More settings, with which a file is there within a second.
const FAST: [&str; 4] = ["--set", "selfplay.games=64", "--set", "run.reuse=0.5"];

fn learner(server: &Server, more: &[&str]) -> Child {
    server::learner(server, &[&FAST, more].concat())
}

/// The names of the files that workers say the server has.
fn sent(server: &Server, log: &str) -> BTreeSet<String> {
    let log = server.log(log);
    let events = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let sent = events.filter(|event| event["event"] == "sent");
    sent.map(|event| event["of"]["id"].as_str().unwrap().to_owned()).collect()
}

/// The names of the files in the window, in their order.
fn taken(server: &Server) -> Vec<String> {
    let order = server.log("run/order.jsonl");
    let lines = order.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter_map(|line| Some(line["id"].as_str()?.to_owned())).collect()
}

/// The status of a fleet, as the learner's key sees it.
fn status(server: &Server) -> Value {
    let ended = server.command(&["fleet", "status", &server.url(), "--json"], "learner", "seen.log").status();
    assert!(ended.unwrap().success());
    serde_json::from_str(server.log("seen.log").lines().last().unwrap()).unwrap()
}

#[test]
fn nothing_is_lost_or_learned_twice_when_a_learner_a_worker_and_the_server_are_killed() {
    let Some(mut server) = Server::start(&[]) else {
        return;
    };
    let more = ["--set", "run.first_samples=1000", "--set", "replay.capacity=10000000"];
    let mut first = learner(&server, &more);
    let (mut doomed, survivor) = (worker(&server, "one.log"), worker(&server, "two.log"));
    until("files arrive", || taken(&server).len() >= 3);
    first.kill().unwrap();
    first.wait().unwrap();
    let url = server.url();
    let resume = ["train", "--resume", "run", "--fleet", &url, "--no-play"];
    let again = || server.command(&resume, "learner", "learner.log").spawn().unwrap();
    let second = again();
    let before = taken(&server).len();
    until("files arrive again", || taken(&server).len() >= before + 3);
    doomed.kill().unwrap();
    doomed.wait().unwrap();
    let before = taken(&server).len();
    until("the other worker goes on", || taken(&server).len() >= before + 2);
    stop(survivor);
    let sent: BTreeSet<String> = sent(&server, "one.log").union(&sent(&server, "two.log")).cloned().collect();
    assert!(sent.len() >= 8, "{}", sent.len());
    until("all files are taken", || {
        let taken = taken(&server);
        sent.iter().all(|id| taken.contains(id))
    });
    stop(second);
    let all = taken(&server);
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "none twice");
    server.crash();
    let status = server.command(&["fleet", "status", &url], "learner", "status.log").status();
    assert!(status.unwrap().success());
    assert!(server.log("status.log").contains("learner: run"), "{}", server.log("status.log"));
}

#[test]
fn a_worker_may_do_nothing_but_work_and_says_what_it_does() {
    let Some(server) = Server::start(&["--tls"]) else {
        return;
    };
    let url = server.url();
    let seen = server.command(&["fleet", "status", &url], "status", "nothing.log").status();
    assert!(seen.unwrap().success(), "without a learner there is nothing to see");
    let first = learner(&server, &["--set", "run.first_samples=1000"]);
    let helper = worker(&server, "one.log");
    until("files arrive", || !taken(&server).is_empty());
    let refused = server.command(&["fleet", "status", &url], "worker-1", "refused.log").status();
    assert!(!refused.unwrap().success(), "a worker sees no other worker");
    let said = server.log("refused.log");
    assert!(said.contains("status.key"), "it says what is needed: {said}");
    let seen = || {
        let status = status(&server);
        assert!(status["workers"].as_array().unwrap().len() <= 1);
        status["workers"][0].clone()
    };
    until("the status shows the worker's samples", || seen()["samples"].as_u64() > Some(0));
    // Without the authority's certificate, the server is a stranger.
    let mut stranger = jarmo(server.folder(), &["fleet", "status", &url]);
    let output = stranger.args(["--key", "server/learner.key"]).output().unwrap();
    assert!(!output.status.success());
    stop(helper);
    until("the status says that the only worker is silent", || seen()["since_heard"].as_f64() > Some(3.0));
    stop(first);
    let secret = fs::read_to_string(server.folder().join("server/learner.key")).unwrap();
    for log in ["learner.log", "one.log", "server.log"] {
        assert!(!server.log(log).contains(secret.trim()), "{log} holds a secret");
    }
}

#[test]
fn a_wrong_key_is_refused_and_leaves_no_folder() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    fs::write(server.folder().join("server/nobody.key"), "SUAKEY").unwrap();
    let url = server.url();
    let train = ["train", "--run", "refused", "--fleet", &url];
    let refused = server.command(&train, "nobody", "wrong.log").status();
    assert!(!refused.unwrap().success());
    let said = server.log("wrong.log");
    assert!(said.contains("it contains no key"), "{said}");
    assert!(!server.folder().join("refused").exists());
    // A server without encryption says so, and is not waited for.
    let encrypted = url.replace("nats://", "tls://");
    let work = ["worker", &encrypted, "--threads", "1"];
    let refused = server.command(&work, "worker-1", "tls.log").status();
    assert!(!refused.unwrap().success());
    let said = server.log("tls.log");
    assert!(said.contains("does not encrypt"), "{said}");
}

#[test]
fn nothing_is_lost_when_another_run_uses_the_server_in_between() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let first = learner(&server, &["--set", "run.first_samples=1000"]);
    let mut helper = worker(&server, "one.log");
    until("files arrive", || !taken(&server).is_empty());
    stop(first);
    let before = sent(&server, "one.log").len();
    until("files wait", || sent(&server, "one.log").len() > before + 2);
    // Another run begins, and the worker follows.
    let url = server.url();
    let train = ["train", "--run", "other", "--fleet", &url, "--no-play"];
    let other = server.command(&[&train[..], &TINY, &FAST].concat(), "learner", "other.log").spawn().unwrap();
    until("the other run gets files", || server.log("other/order.jsonl").contains("worker"));
    helper.kill().unwrap();
    helper.wait().unwrap();
    stop(other);
    let again = ["run", "other"].map(|run| {
        let resume = ["train", "--resume", run, "--fleet", &url, "--no-play"];
        let log = format!("{run}.log");
        server.command(&resume, "learner", &log).spawn().unwrap()
    });
    let sent = sent(&server, "one.log");
    until("all files of both runs are taken", || {
        let (taken, others) = (taken(&server), server.log("other/order.jsonl"));
        let is_taken = |id: &String| taken.contains(id) || others.contains(id.as_str());
        sent.iter().all(is_taken)
    });
    again.into_iter().for_each(stop);
}

#[test]
fn a_server_that_lost_its_data_gets_everything_again() {
    let Some(mut server) = Server::start(&[]) else {
        return;
    };
    let first = learner(&server, &[]);
    let helper = worker(&server, "one.log");
    until("files arrive", || !taken(&server).is_empty());
    stop(helper);
    server.lose_data();
    let before = taken(&server).len();
    let helper = worker(&server, "two.log");
    until("a new worker's files arrive", || taken(&server).len() > before);
    stop(helper);
    stop(first);
}

#[test]
fn after_a_restart_the_server_hears_of_learner_and_worker_again() {
    let Some(mut server) = Server::start(&[]) else {
        return;
    };
    let first = learner(&server, &[]);
    let helper = worker(&server, "one.log");
    until("files arrive", || !taken(&server).is_empty());
    server.crash();
    until("the status shows both", || {
        let seen = status(&server);
        seen["runs"][0]["is_here"] == true && seen["workers"][0]["worker"].is_string()
    });
    stop(helper);
    stop(first);
}

#[test]
fn a_revoked_key_is_shut_out() {
    let Some(server) = Server::start(&["--workers", "2"]) else {
        return;
    };
    let first = learner(&server, &[]);
    let mut rogue = worker(&server, "one.log");
    until("files arrive", || !taken(&server).is_empty());
    let order = server.log("run/order.jsonl");
    let line: Value = serde_json::from_str(order.lines().next().unwrap()).unwrap();
    let key = line["key"].as_str().unwrap();
    let config = server.log("server/server.conf");
    assert!(config.contains(key), "the key is the server's: {key}");
    let revoke = ["fleet", "key", "revoke", "worker-1", "--dir", "server"];
    let output = jarmo(server.folder(), &revoke).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains(key) && !said.contains("not found"), "{said}");
    until("the worker ends", || rogue.try_wait().unwrap().is_some());
    assert!(!rogue.wait().unwrap().success());
    let said = server.log("one.log");
    assert!(said.contains("no longer accepts this key"), "{said}");
    // The other key still works.
    let before = taken(&server).len();
    let url = server.url();
    let work = ["worker", &url, "--threads", "1", "--json"];
    let helper = server.command(&work, "worker-2", "two.log").spawn();
    until("the other key's files arrive", || taken(&server).len() > before);
    stop(helper.unwrap());
    stop(first);
}

#[cfg(target_os = "linux")]
#[test]
fn an_empty_queue_of_pairs_does_not_slow_self_play() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let url = server.url();
    let more = ["--set", "run.reuse=0.01", "--set", "fleet.queue=1000"];
    let first = learner(&server, &more);
    let helper = worker(&server, "one.log");
    until("files arrive", || !taken(&server).is_empty());
    // Time on a processor and in the queue for one, so that other programs of this machine do not matter.
    let busy = || -> u64 {
        let threads = fs::read_dir(format!("/proc/{}/task", helper.id())).unwrap();
        let times = threads.filter_map(|thread| {
            let times = fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
            let times = times.split(' ').take(2);
            Some(times.map(|time| time.parse::<u64>().unwrap()).sum::<u64>())
        });
        times.sum()
    };
    let share = || {
        let (begun, before) = (Instant::now(), busy());
        thread::sleep(Duration::from_secs(6));
        (busy() - before) as f64 / begun.elapsed().as_nanos() as f64
    };
    let before = share();
    let arena = ["arena", "rollout:10", "random", "--game", "connect_four"];
    let games = ["--games", "8", "--fleet", &url];
    let played = server.command(&[&arena[..], &games].concat(), "learner", "arena.log").status();
    assert!(played.unwrap().success(), "{}", server.log("arena.log"));
    let after = share();
    assert!(after > 0.8 * before, "{before} before, {after} after");
    stop(helper);
    stop(first);
}

#[test]
fn matches_are_played_while_the_queue_is_full_and_nobody_learns() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let url = server.url();
    let first = learner(&server, &["--set", "fleet.queue=1"]);
    let mut helper = worker(&server, "one.log");
    until("files arrive", || !taken(&server).is_empty());
    stop(first);
    until("the queue is full", || server.log("one.log").contains("waiting_for_queue"));
    let arena = ["arena", "rollout:10", "random", "--game", "connect_four"];
    let games = ["--games", "8", "--fleet", &url];
    let played = server.command(&[&arena[..], &games].concat(), "learner", "arena.log").status();
    assert!(played.unwrap().success(), "{}", server.log("arena.log"));
    helper.kill().unwrap();
    helper.wait().unwrap();
}

#[test]
fn a_second_server_in_one_folder_and_other_options_are_refused() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let program = env::var("JARMO_NATS_SERVER").unwrap();
    let up = ["fleet", "up", "--dir", "server", "--server", &program];
    let refused = |more: &[&str], why: &str| {
        let second = jarmo(server.folder(), &[&up, more].concat()).output();
        let second = second.unwrap();
        assert!(!second.status.success(), "{second:?}");
        let said = String::from_utf8_lossy(&second.stderr);
        assert!(said.contains(why), "{said}");
    };
    refused(&[], "already listens");
    refused(&["--tls"], "another `tls`");
    refused(&["--workers", "3"], "another `workers`");
    let config = server.log("server/server.conf");
    assert!(config.contains("listen: \"127.0.0.1:"), "{config}");
}

#[test]
fn other_machines_connect_with_encryption_unless_the_user_insists() {
    let folder = tempfile::tempdir().unwrap();
    let up = |more: &[&str]| {
        let up = ["fleet", "up", "--write-only", "--dir", "server", "--host", "alice.example"];
        jarmo(folder.path(), &[&up, more].concat()).output().unwrap()
    };
    let refused = up(&[]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains("--tls") && said.contains("--insecure"), "{said}");
    assert!(!folder.path().join("server").exists());
    let warned = up(&["--insecure"]);
    assert!(warned.status.success(), "{warned:?}");
    assert!(String::from_utf8_lossy(&warned.stdout).contains("warning: connections are not encrypted"));
    fs::remove_dir_all(folder.path().join("server")).unwrap();
    let encrypted = up(&["--tls"]);
    assert!(encrypted.status.success(), "{encrypted:?}");
    assert!(!String::from_utf8_lossy(&encrypted.stdout).contains("warning"));
}

#[test]
fn a_copied_run_is_no_second_learner() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let first = learner(&server, &["--set", "run.first_samples=1000"]);
    let helper = worker(&server, "one.log");
    until("files arrive", || !taken(&server).is_empty());
    // Files of the run come and go meanwhile, so `cp` may miss one.
    Command::new("cp").args(["-r", "run", "copy"]).current_dir(server.folder()).status().unwrap();
    let url = server.url();
    let resume = ["train", "--resume", "copy", "--fleet", &url, "--no-play"];
    let refused = server.command(&resume, "learner", "copy.log").status().unwrap();
    assert!(!refused.success());
    let said = server.log("copy.log");
    assert!(said.contains("this run has a learner already"), "{said}");
    let before = taken(&server).len();
    until("the first one takes files", || taken(&server).len() > before);
    stop(helper);
    stop(first);
}

#[test]
fn no_file_is_lost_if_the_runs_folder_is_renamed() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let mut first = learner(&server, &["--set", "run.checkpoint=1000000"]);
    let helper = worker(&server, "one.log");
    until("files arrive", || taken(&server).len() >= 3);
    first.kill().unwrap();
    first.wait().unwrap();
    let before = sent(&server, "one.log").len();
    until("files wait", || sent(&server, "one.log").len() > before + 2);
    stop(helper);
    let sent = sent(&server, "one.log");
    fs::rename(server.folder().join("run"), server.folder().join("renamed")).unwrap();
    fs::write(server.folder().join("renamed/order.jsonl"), "").unwrap(); // no checkpoint counts its lines
    let url = server.url();
    let resume = ["train", "--resume", "renamed", "--fleet", &url, "--no-play"];
    let again = server.command(&resume, "learner", "renamed.log").spawn().unwrap();
    until("the files are taken", || {
        let order = server.log("renamed/order.jsonl");
        sent.iter().all(|id| order.contains(id.as_str()))
    });
    stop(again);
    assert!(!server.log("renamed.log").contains("no longer fits"), "{}", server.log("renamed.log"));
}

#[test]
fn fleet_up_ends_its_server_at_the_first_signal() {
    let Some(mut server) = Server::start(&[]) else {
        return;
    };
    server.end();
    let program = env::var("JARMO_NATS_SERVER").unwrap();
    let up = ["fleet", "up", "--dir", "server", "--server", &program];
    let mut up = jarmo(server.folder(), &up);
    let up = up.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let up = up.unwrap();
    until("the server listens", || server.listens());
    stop(up);
    assert!(!server.listens());
}
