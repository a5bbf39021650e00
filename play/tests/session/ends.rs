//! How games end and begin again: the reason beside the board, the winning line, records and rematches.

use crate::common::chooser;
use jarmo::catalog::{GAMES, GameSettings};
use jarmo::record::GameRecord;
use jarmo_session::page;
use play::board::Board;
use play::lang::Language;
use play::matches::Match;
use play::session::Session;
use play::specs::Store;
use serde_json::json;

const RECORD: &str = r#"{"game":"jarmo","position":"2W2/3w1/2b2/5/4b w - - 0","max_plies":9,"moves":["D4-D3"]}"#;

fn session(seats: [&str; 2]) -> Session {
    Session::new(Store::default(), "jarmo", GameSettings::default(), None, seats, 5).unwrap()
}

fn seats(session: &Session) -> [String; 2] {
    session.seats().each_ref().map(ToString::to_string)
}

#[test]
fn the_end_of_every_game_has_a_reason_and_no_other_position_has() {
    for game in GAMES {
        let mut choose = chooser(3);
        let mut seen = Vec::new();
        for _ in 0..60 {
            let mut board = Board::open(&Store::default(), game, &GameSettings::default(), None).unwrap();
            let scene = loop {
                let scene = board.scene();
                let reasons: Vec<&str> =
                    scene.notes.iter().map(|note| note.key).filter(|key| key.starts_with("end_")).collect();
                let ended = scene.outcome.is_some_and(|outcome| !outcome.truncated);
                assert_eq!(!reasons.is_empty(), ended, "{game}: {reasons:?}");
                seen.extend(reasons);
                if scene.outcome.is_some() {
                    break scene;
                }
                let text = &scene.legal[choose(scene.legal.len())].text;
                board.play(text).unwrap();
            };
            let winner = scene.outcome.unwrap().winner;
            let line = game == "connect_four" && winner.is_some();
            assert_eq!(scene.winning.len() >= 4, line, "{game}");
            for cell in scene.winning {
                let piece = scene.pieces.iter().find(|piece| piece.cell == cell);
                assert_eq!(piece.map(|piece| piece.player), winner);
            }
        }
        assert!(!seen.is_empty(), "{game}: some games end without the limit");
    }
}

#[test]
fn reasons_name_what_ended_the_game() {
    let cases = [
        ("jarmo", "2W2/3w1/2b2/5/4b w - - 0", "D4-B5", "end_home_jarmo"),
        ("guard", "4w/1b3/2WW1/5/b1B2 w start 1,0 0,0 0 60", "D3xB4", "end_home_guard"),
        ("connect_four", "7/7/7/w6/wb5/wb4b w 6", "A", "end_four"),
        ("tammi", "8/8/8/8/8/2b5/1w6/8 w - 0 0", "b2xd4", "end_no_piece"),
        ("tammi", "8/8/8/8/7w/b7/1w6/2w5 w - 0 0", "h4-g5", "end_blocked"),
        ("tammi", "1B6/8/8/8/8/8/8/W7 w - 29 40", "a1-b2", "end_quiet"),
    ];
    for (game, position, text, key) in cases {
        let settings = GameSettings::default();
        let mut board = Board::open(&Store::default(), game, &settings, Some(position)).unwrap();
        board.play(text).unwrap();
        let keys: Vec<&str> = board.scene().notes.iter().map(|note| note.key).collect();
        assert_eq!(keys, [key], "{game}");
    }
}

#[test]
fn a_new_game_after_a_record_has_the_start_the_length_and_the_players_of_before() {
    let mut session = session(["human", "greedy"]);
    let fresh = session.record();
    for _ in 0..2 {
        session.load(&GameRecord::parse(RECORD).unwrap()).unwrap();
        assert_eq!(seats(&session), ["human", "human"]);
        assert_eq!(session.record().max_plies, Some(9));
    }
    session.new_game();
    assert_eq!(session.record(), fresh);
    // A player chosen while the record is on the board stays.
    session.load(&GameRecord::parse(RECORD).unwrap()).unwrap();
    session.set_seat(jarmo::game::Player::White, "random").unwrap();
    session.new_game();
    assert_eq!(seats(&session), ["random", "greedy"]);
}

#[test]
fn a_rematch_is_a_new_game_with_the_sides_swapped() {
    let mut session = session(["human", "greedy"]);
    session.play("A1-C2").unwrap();
    let number = session.number;
    session.swap();
    session.new_game();
    assert_eq!(seats(&session), ["greedy", "human"]);
    assert_eq!(session.board().moves().len(), 0);
    assert!(session.number > number, "it is another game");
}

#[test]
fn a_game_that_was_left_goes_on_with_players_place_and_match() {
    let mut session = session(["human", "greedy"]);
    let record = r#"{"game":"jarmo","moves":["A1-C2","A5-B3"]}"#;
    let restore = |session: &mut Session, left: &Match| {
        let seats = ["greedy", "human"];
        let command = json!({ "do": "restore", "record": record, "seats": seats, "place": 1, "match": left });
        page::apply(session, serde_json::from_value(command).unwrap(), Language::En.texts(), &[]).unwrap();
    };
    let mut left = Match { game: 2, points: [3, 4], over: false };
    restore(&mut session, &left);
    assert_eq!(seats(&session), ["greedy", "human"]);
    assert_eq!(session.board().cursor(), 1);
    assert_eq!(session.current_match.as_ref(), Some(&left));
    session.new_game();
    assert_eq!(seats(&session), ["greedy", "human"]);
    // Points that no match has are not believed, because they come from the browser.
    left.points[0] = u32::MAX;
    restore(&mut session, &left);
    assert_eq!(session.current_match, None);
}
