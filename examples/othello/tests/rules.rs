//! The rules against published numbers, the contract of games, and positions by hand.

use jarmo::game::{Game, Mask, conformance, perft};
use othello::Othello;

#[test]
fn othello_keeps_the_contract_of_a_game() {
    let mut seed = 1_u64;
    let mut choose = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) as usize % below
    };
    for max_plies in [0, 30] {
        let game = Othello::default().with_max_plies(max_plies);
        conformance::check(&game, 200, &mut choose);
    }
}

/// The counts are those that Othello programs agree on; a pass counts as a move.
#[test]
fn perft_counts_are_the_published_ones() {
    let game = Othello::default();
    let published = [4, 12, 56, 244, 1396, 8200, 55092, 390_216, 3_005_288];
    for (turns, count) in (1..).zip(published) {
        assert_eq!(perft(&game, &game.start(), turns), count, "{turns} turns");
    }
}

#[test]
fn a_player_without_a_move_passes_and_the_game_ends_when_neither_can_move() {
    let game = Othello::default();
    let mut position = game.parse_position("8/8/8/8/8/8/8/wbbb4 b 3").unwrap();
    let legal = game.legal(&position);
    let texts = legal.iter().map(|action| game.action_text(&position, action));
    assert_eq!(texts.collect::<Vec<_>>(), ["pass"]);
    game.play_text(&mut position, "pass").unwrap();
    game.play_text(&mut position, "e1").unwrap();
    let end = game.outcome(&position).expect("all discs are white");
    assert_eq!(end.score, Some([5, 0]));
}

#[test]
fn errors_say_what_is_wrong() {
    let game = Othello::default();
    let mut position = game.start();
    for (action, problem) in [
        ("a1", "a disc on a1 would turn none"),
        ("pass", "a pass is legal only without a move"),
        ("j9", "expected a square a1 to h8, or pass"),
    ] {
        let error = game.play_text(&mut position, action).unwrap_err().to_string();
        assert!(error.ends_with(problem), "{error}");
    }
    assert!(game.parse_position("8/8/8/3bw3/3wb3/8/8/w7 w 0").is_err());
}
