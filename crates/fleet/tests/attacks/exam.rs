//! Answers that no search gave: the learner searches some of the positions again.

use std::thread;
use std::time::{Duration, Instant};

use jarmo_core::agent::AgentSpec;
use jarmo_core::games::ConnectFour;
use jarmo_core::net::{AgentFile, FrozenNet, KernelKind};
use jarmo_exact::agent;
use jarmo_learn::run::Supply;
use jarmo_selfplay::selfplay::Searched;

use super::kit::{RUN, Stranger, TestServer, file_by, learner, until};

fn trained() -> AgentFile {
    let AgentSpec::Network(source, _) = "trained".parse().unwrap() else {
        panic!("an agent file");
    };
    agent::load(&source, &ConnectFour::new(0)).unwrap()
}

#[test]
fn a_key_whose_answers_are_no_searches_is_left_waiting_and_an_honest_one_is_not() {
    let changes: [fn(&mut Searched); 3] =
        [|_| (), |search| search.expected = [0.0, 0.0, 1.0], |search| search.policy.rotate_left(1)];
    let Some(server) = TestServer::start(changes.len() as u32) else {
        return;
    };
    let supply = learner(&server, RUN, 64);
    let agent = trained();
    let net = FrozenNet::with_kernel(agent.weights(), KernelKind::best());
    let step = agent.header().provenance.step;
    supply.publish(agent.clone());
    let keys: Vec<_> = (1..=changes.len() as u32).map(|key| Stranger::with_key(&server, key)).collect();
    let network = format!("$JS.API.DIRECT.GET.KV_jarmo_runs.$KV.jarmo_runs.{RUN}.network");
    until("the network is there", || keys[0].ask(&network, Vec::new(), None).is_ok_and(|found| !found.is_empty()));
    let (mut warnings, mut seed) = (String::new(), 0);
    let mut send = |sender: &Stranger, change: &fn(&mut Searched)| {
        seed += 1;
        let content = file_by(&net, RUN, step, seed, change);
        let _ = sender.ask(&sender.files(RUN), content, None); // a key that is left waiting has a full queue
    };
    let begun = Instant::now();
    loop {
        assert!(begun.elapsed() < Duration::from_secs(300), "the others are not found out: {warnings}");
        keys.iter().zip(&changes).for_each(|(sender, change)| send(sender, change));
        while supply.take().unwrap().is_some() {}
        thread::sleep(Duration::from_millis(100));
        warnings += &supply.warnings().join("\n");
        if keys[1..].iter().all(|sender| warnings.contains(&format!("{}: its ", sender.key))) {
            break;
        }
    }
    assert!(warnings.contains("its values are not those of searches"), "{warnings}");
    assert!(warnings.contains("its policies are not those of searches"), "{warnings}");
    for _ in 0..20 {
        send(&keys[0], &changes[0]);
        thread::sleep(Duration::from_millis(50));
    }
    until("the honest key's files are taken", || {
        warnings += &supply.warnings().join("\n");
        supply.take().unwrap().is_some_and(|file| file.sent.key == keys[0].key)
    });
    assert!(!warnings.contains(&keys[0].key), "{warnings}");
}
