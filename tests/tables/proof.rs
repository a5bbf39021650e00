//! Agents that play the wins of the shipped proof. `lab` makes proofs, and tests that they hold.

use jarmo::agent::{Limit, Request, build};
use jarmo::game::{Game, Mask, Player};
use jarmo::games::{Guard, Jarmo};
use jarmo::random::stream;
use rand::Rng;

/// Wins every game from here, whatever the opponent plays.
fn always_wins(opening: &[&str], winner: Player) {
    let game = Jarmo::standard();
    // One simulation with a policy at random: without the proof it loses many of these games.
    let spec = "trained?sims=1&proof=yes".parse().unwrap();
    let mut agent = build(game.clone(), &spec).unwrap();
    for turn in 0..20 {
        let mut random = stream(5, turn);
        let mut position = game.start();
        for action in opening {
            game.play_text(&mut position, action).unwrap();
        }
        let outcome = loop {
            if let Some(outcome) = game.outcome(&position) {
                break outcome;
            }
            let action = if position.to_move() == winner {
                let request = Request { position, stream: &mut random, limit: Limit::default(), memory: None };
                let decision = agent.choose(&mut [request]).remove(0);
                assert_eq!(decision.value.expectation(), 1.0, "the win is certain");
                decision.action
            } else {
                let legal = game.legal(&position);
                legal.nth((random.next_u64() % u64::from(legal.count())) as u32)
            };
            game.play(&mut position, action);
        };
        assert_eq!(outcome.winner, Some(winner), "{opening:?}");
    }
}

#[test]
fn an_agent_with_the_proof_wins_decided_openings() {
    always_wins(&["B1-A3"], Player::Black);
    always_wins(&["C1-A2"], Player::Black);
    always_wins(&["A1-C2", "B5-A3"], Player::White);
    always_wins(&["E1-D3", "B5-D4"], Player::White);
}

#[test]
fn a_game_without_a_proof_refuses_the_setting() {
    let game = Guard::standard();
    let spec = "trained?proof=yes".parse().unwrap();
    let error = build(game, &spec).err().unwrap().to_string();
    assert!(error.contains("setting proof=yes"), "{error}");
}
