//! A game from another crate: drawn as text, without words in the language tables, and without an evaluation.

use std::sync::atomic::AtomicBool;

use jarmo::Games;
use jarmo::agent::AgentSpec;
use jarmo::catalog::GameSettings;
use jarmo::games::Scripted;
use jarmo::games::scripted::Node;
use play::agents::{AgentCache, MOVE_TIME};
use play::error::SessionError;
use play::lang::Language;
use play::options::Options;
use play::session::Session;
use play::specs::Store;
use play::thought::Time;

fn games() -> Games {
    let lost = Node::black([Node::end(0, 1), Node::end(0, 2)]);
    let won = Node::black([Node::end(2, 0), Node::end(1, 0)]);
    Games::shipped().register(Scripted::new(&Node::white([lost, won])))
}

fn session(games: Games, seats: [&str; 2]) -> Result<Session, SessionError> {
    let store = Store { games, ..Store::default() };
    Session::new(store, "scripted", GameSettings::default(), None, seats, 1)
}

#[test]
fn a_registered_game_is_shown_by_its_drawing() {
    let mut session = session(games(), ["human", "human"]).unwrap();
    let board = session.board();
    assert!(board.layout().is_none());
    assert_eq!(board.drawing().as_deref(), Some("node 0, ply 0\n"));
    assert_eq!(board.scene().legal.len(), 2);
    session.play("1").unwrap();
    session.play("0").unwrap();
    let end = session.board().outcome(2).unwrap();
    assert_eq!(end.score, Some([2, 0]));
    for language in Language::ALL {
        let texts = language.texts();
        assert_eq!(texts.rules("scripted"), texts.get("no_rules"));
    }
}

#[test]
fn a_level_without_an_evaluation_searches_with_playouts() {
    let mut session = session(games(), ["best", "human"]).unwrap();
    let job = session.job().unwrap();
    let thought = job.run(&mut AgentCache::default(), Time::alone(play::machine::clock, &AtomicBool::new(false)));
    let thought = thought.unwrap();
    assert_eq!(thought.text, "1");
    assert!(session.finish(&job, Ok(thought)));
    let agents = session.board().agents();
    for strength in [agents.analyst(MOVE_TIME), agents.reviewer()] {
        assert!(matches!(strength.spec, AgentSpec::Rollout(_)));
    }
    let refused = session.set_seat(jarmo::game::Player::White, "greedy");
    assert!(refused.unwrap_err().to_string().contains("scripted has no evaluation"));
}

#[test]
fn the_screen_opens_only_games_with_a_board() {
    let open = |game| {
        let store = Store { games: games(), needs_layout: true, ..Store::default() };
        Session::new(store, game, GameSettings::default(), None, ["human", "human"], 1)
    };
    let error = open("scripted").err().unwrap();
    assert_eq!(error.to_string(), "scripted has no board to show here; play it by lines of text, with --plain");
    assert!(open("tammi").is_ok());
}

#[test]
fn a_game_without_lesson_and_puzzles_says_so() {
    let lost = Node::black([Node::end(0, 1), Node::end(0, 2)]);
    let own = || Games::empty().register(Scripted::new(&Node::white([lost.clone()])));
    for (option, part) in [("--learn", "no lesson"), ("--puzzles", "no puzzles")] {
        let arguments = ["play", "--plain", "--lang", "en", option].map(Into::into);
        let failure = Options::of(own(), arguments).unwrap().run().unwrap_err();
        assert!(failure.message.contains(part), "{}", failure.message);
        assert_eq!(failure.status, 2);
    }
}
