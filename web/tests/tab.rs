//! What the page hears in a tab without a server.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use jarmo_web::{Answer, Asked, LACKS_AGENT, NOTHING_NEW, Tab, Thinking};
use serde_json::{Value, json};

fn clock() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed()
}

fn ask(tab: &mut Tab, path: &str, session: &str, body: Option<Value>) -> Answer {
    tab.answer(&Asked {
        path: path.to_owned(),
        session: session.to_owned(),
        body: body.map(|body| body.to_string()),
        id: "0123456789abcdef0123456789abcdef".to_owned(),
        seed: 1,
    })
}

fn json_of(answer: &Answer) -> Value {
    serde_json::from_str(&answer.text).unwrap()
}

/// A tab in which the agent of the game has come, and the view of its session.
fn opened(game: &str) -> (Tab, Value) {
    let mut tab = Tab::new(clock);
    let opening = json!({ "game": game, "white": "human", "black": "beginner" });
    let lacks = ask(&mut tab, "/api/sessions?lang=en", "", Some(opening.clone()));
    assert_eq!((lacks.status, lacks.text.as_str()), (LACKS_AGENT, game));
    tab.take_agent(game, None); // that of the program is there
    let answer = ask(&mut tab, "/api/sessions?lang=en", "", Some(opening));
    assert_eq!(answer.status, 200, "{}", answer.text);
    let view = json_of(&answer);
    (tab, view)
}

#[test]
fn a_move_is_answered_in_every_game() {
    for game in ["jarmo", "guard", "tammi", "connect_four"] {
        let (mut tab, view) = opened(game);
        let id = view["id"].as_str().unwrap();
        let session = "/api/session?lang=en";
        let since = format!("{session}&since={}", view["version"]);
        while tab.think() != Thinking::Idle {} // the value of the position
        let since_then = ask(&mut tab, &since, id, None);
        assert_eq!(since_then.status, 200, "a thought is news");
        let mut view = json_of(&since_then);
        for _ in 0..20 {
            if view["moves"].as_array().unwrap().len() >= 4 {
                break;
            }
            let text = &view["scene"]["legal"][0]["text"];
            assert!(view["human"] == json!(true), "{view}");
            let played = ask(&mut tab, session, id, Some(json!({"do": "play", "text": text})));
            assert_eq!(played.status, 200, "{}", played.text);
            while tab.think() != Thinking::Idle {}
            view = json_of(&ask(&mut tab, session, id, None));
        }
        assert!(view["moves"].as_array().unwrap().len() >= 4, "{game}");
        let newest = format!("{session}&since={}", view["version"]);
        assert_eq!(ask(&mut tab, &newest, id, None).status, NOTHING_NEW);
    }
}

#[test]
fn two_people_are_told_that_they_need_a_server() {
    let (mut tab, _) = opened("jarmo");
    let invitation = json!({ "game": "jarmo", "duel": "white" });
    for (path, body) in [("/api/sessions?lang=en", invitation), ("/api/join?lang=en", json!({}))] {
        let answer = ask(&mut tab, path, "", Some(body));
        assert_eq!(answer.status, 422);
        let error = json_of(&answer)["error"].to_string();
        assert!(error.contains("play --web"), "{error}");
    }
}

#[test]
fn an_agent_file_of_the_person_plays() {
    let (mut tab, view) = opened("connect_four");
    let id = view["id"].as_str().unwrap();
    let session = "/api/session?lang=en";
    let seat = |who: &str| Some(json!({"do": "seat", "player": "black", "who": who}));
    let refused = ask(&mut tab, session, id, seat("mine.safetensors"));
    assert_eq!(refused.status, 422, "no such file has come");
    let bytes = include_bytes!("../../checkpoints/connect_four.safetensors");
    let name = tab.take_own("mine.safetensors", bytes.to_vec());
    assert_eq!(name, "mine.safetensors");
    assert_eq!(tab.take_own("again.safetensors", bytes.to_vec()), "mine.safetensors", "the same file");
    let other = include_bytes!("../../checkpoints/jarmo.safetensors");
    assert_eq!(tab.take_own("mine.safetensors", other.to_vec()), "2-mine.safetensors");
    let taken = ask(&mut tab, session, id, seat(&name));
    assert_eq!(json_of(&taken)["seats"][1], json!(name), "{}", taken.text);
    tab.take_own("broken.safetensors", b"nothing".to_vec());
    let broken = ask(&mut tab, session, id, seat("broken.safetensors"));
    assert_eq!(broken.status, 422, "{}", broken.text);
}

#[test]
fn a_session_that_is_not_open_is_not_found() {
    let mut tab = Tab::new(clock);
    assert_eq!(ask(&mut tab, "/api/session?lang=en", "", None).status, 404);
    assert_eq!(tab.think(), Thinking::Idle);
    let texts = ask(&mut tab, "/api/texts?lang=fi", "", None);
    assert_eq!(json_of(&texts)["language"], json!("fi"));
}
