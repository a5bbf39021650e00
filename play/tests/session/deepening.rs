//! Looking further at a position in the analysis.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use jarmo::catalog::GameSettings;
use play::agents::AgentCache;
use play::session::Session;
use play::specs::Store;
use play::thought::Time;

/// Answers the next job within this time. Returns the nodes of the answer for the first position.
fn answer(session: &mut Session, most: Option<Duration>) -> u64 {
    let stop = AtomicBool::new(false);
    let time = Time { most, ..Time::alone(play::machine::clock, &stop) };
    let job = session.job().expect("there is something to think about");
    let thought = job.run(&mut AgentCache::default(), time);
    session.finish(&job, Ok(thought.unwrap()));
    session.thought(0).unwrap().nodes
}

#[test]
fn the_analysis_looks_further_at_a_position_until_nothing_more_comes_of_it() {
    let (settings, people) = (GameSettings::default(), ["human", "human"]);
    let mut session = Session::new(Store::default(), "connect_four", settings, None, people, 1).unwrap();
    session.set_deepening(true);
    assert!(!session.deepening(), "it is a part of the analysis");
    session.set_analysing(true);
    let studied = answer(&mut session, None);
    assert!(session.job().is_none());

    session.set_deepening(true);
    assert_eq!(session.next_round(), Some(1));
    let deeper = answer(&mut session, None);
    assert!(deeper > studied, "{studied} and {deeper}");
    assert_eq!(session.next_round(), Some(2));
    // A search that comes less far than the one before it is the last.
    assert_eq!(answer(&mut session, Some(Duration::from_millis(5))), deeper);
    assert!(session.job().is_none() && session.deepening());

    // Another position begins anew, and the first one stays as it is.
    session.play("D").unwrap();
    assert_eq!(answer(&mut session, None), deeper);
    let first_look = session.thought(1).unwrap().nodes;
    assert_eq!(session.next_round(), Some(1));
    assert_eq!(answer(&mut session, None), deeper);
    assert!(session.thought(1).unwrap().nodes > first_look);
    session.go_to(0);
    assert_eq!(session.next_round(), None);
    assert_eq!(session.thought(0).unwrap().nodes, deeper);
    session.set_analysing(false);
    assert!(!session.deepening());
}
