//! Random play through the environment: 1024 slots in lockstep, their features as an array, and the results of the games.
//!
//! `cargo run --release --example random_play`

use jarmo::encode::Encode;
use jarmo::env::VecEnv;
use jarmo::game::{Action, Player};
use jarmo::games::Jarmo;
use jarmo::ndarray::{Array4, s};

fn main() {
    let mut env = VecEnv::new(Jarmo::standard(), 1024, 1);
    let (rows, columns) = env.game().grid();
    let mut observation = Array4::zeros((env.len(), env.game().planes(), rows, columns));
    let mut actions = vec![Action(0); env.len()];
    let [mut white, mut black, mut drawn] = [0; 3];
    for _ in 0..200 {
        env.sample(&mut actions); // Or choose from env.legal(slot) with a policy of your own.
        env.step(&actions);
        env.observe(observation.view_mut()); // What a policy sees; it is written in place.
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
    let pieces = observation.slice(s![.., 0, .., ..]).sum() / env.len() as f32;
    println!("{:?} features, {pieces:.2} pieces per game in the first plane", observation.dim());
}
