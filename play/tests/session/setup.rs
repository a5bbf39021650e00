//! Positions that are set up, branches, and moves that are tried.

use std::sync::atomic::AtomicBool;

use crate::common::chooser;
use jarmo::catalog::{GAMES, GameSettings};
use jarmo::view::Setup;
use play::agents::AgentCache;
use play::session::Session;
use play::specs::Store;
use play::thought::Time;

fn people(game: &str) -> Session {
    Session::new(Store::default(), game, GameSettings::default(), None, ["human", "human"], 1).unwrap()
}

#[test]
fn a_position_is_written_from_its_pieces_mover_and_fields() {
    for game in GAMES {
        let mut choose = chooser(5);
        let mut session = people(game);
        for _ in 0..60 {
            let legal = session.board().scene().legal;
            if legal.is_empty() {
                break;
            }
            let text = legal[choose(legal.len())].text.clone();
            session.play(&text).unwrap();
            let board = session.board();
            let (scene, text) = (board.scene(), board.position_text());
            let fields = text.split(' ').skip(2).map(str::to_owned);
            let setup = Setup {
                pieces: scene.pieces.clone(),
                to_move: scene.to_move,
                fields: fields.take(board.palette().fields.len()).collect(),
            };
            assert_eq!(board.setup_text(&setup), text, "{game}");
            assert!(board.at_position(&text).is_ok(), "{game}: {text}");
        }
    }
}

#[test]
fn the_usual_fields_of_every_game_fit_its_start() {
    for game in GAMES {
        let session = people(game);
        let board = session.board();
        let text = board.position_text();
        let fields: Vec<&str> = text.split(' ').skip(2).collect();
        for (field, text) in board.palette().fields.iter().zip(fields) {
            assert_eq!(field.usual, text, "{game} {}", field.key);
        }
    }
}

#[test]
fn a_branch_leaves_the_game_as_it_is() {
    let mut session = people("connect_four");
    for text in ["D", "C", "D"] {
        session.play(text).unwrap();
    }
    let line = ["A", "B"].map(str::to_owned);
    let branch = session.board().branch(1, &line).unwrap();
    let texts: Vec<String> = branch.moves().into_iter().map(|one| one.text).collect();
    assert_eq!((texts.join(""), branch.cursor()), ("DAB".to_owned(), 3));
    assert_eq!(session.board().moves().len(), 3);
    assert!(session.board().branch(0, &["H".to_owned()]).is_err());
}

/// Runs jobs until the session wants none.
fn work(session: &mut Session) {
    let (mut cache, stop) = (AgentCache::default(), AtomicBool::new(false));
    while let Some(job) = session.job() {
        let thought = job.run(&mut cache, Time::alone(play::machine::clock, &stop)).unwrap();
        session.finish(&job, Ok(thought));
    }
}

#[test]
fn a_move_that_is_tried_is_compared_with_the_best() {
    let mut session = people("connect_four");
    for text in ["D", "A", "D", "A", "C", "A", "G"] {
        session.play(text).unwrap();
    }
    session.set_analysing(true);
    work(&mut session);
    for (text, is_good) in [("B", false), ("A", true)] {
        session.play_line(6, &[text.to_owned()]).unwrap();
        work(&mut session);
        let tried = &session.assessments()[6];
        assert_eq!((tried.text.as_str(), tried.mark.is_empty()), (text, is_good));
    }
    assert_eq!(session.record().moves.len(), 7, "the game stays as it is");
    assert!(session.play_line(6, &["H".to_owned()]).is_err());
}
