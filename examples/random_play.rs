//! Random play through the environment: 1024 slots in lockstep, and the results of the games.
//!
//! `cargo run --release --example random_play`

use jarmo::env::VecEnv;
use jarmo::game::{Action, Player};
use jarmo::games::Jarmo;

fn main() {
    let mut env = VecEnv::new(Jarmo::standard(), 1024, 1);
    let mut actions = vec![Action(0); env.len()];
    let [mut white, mut black, mut drawn] = [0; 3];
    for _ in 0..200 {
        env.sample(&mut actions); // Or choose from env.legal(slot) with a policy of your own.
        env.step(&actions);
        for game in env.finished() {
            match game.outcome.winner {
                Some(Player::White) => white += 1,
                Some(Player::Black) => black += 1,
                None => drawn += 1,
            }
        }
    }
    let games = white + black + drawn;
    println!("{games} games: {white} white wins, {black} black wins, {drawn} draws");
}
