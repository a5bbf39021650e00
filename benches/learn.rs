//! A step of the learner, for each game with the default network: `cargo bench --bench learn`.

use divan::{Bencher, black_box};
use jarmo::config::Config;
use jarmo::encode::Encode;
use jarmo::game::Mask;
use jarmo::games::{ConnectFour, Guard, Jarmo, Tammi};
use jarmo::net::{NetShape, Weights};
use jarmo::random::{below, stream};
use jarmo::train::{Learner, TrainBatch};
use rand::Rng;

fn main() {
    divan::main();
}

/// Positions of random games, with targets as good as any.
fn batch<G: Encode>(game: &G, rows: usize) -> TrainBatch {
    let mut batch = TrainBatch::new(NetShape::of(game));
    let (mut position, mut draws) = (game.start(), stream(1, 1));
    while batch.len() < rows {
        let legal = game.legal(&position);
        if legal.is_empty() {
            position = game.start();
            continue;
        }
        let mut features = Vec::new();
        game.inputs(&position, |feature| features.push(feature as u32));
        let share = 1.0 / legal.count() as f32;
        let policy = legal.iter().map(|action| (action.index(), share));
        batch.push(features, policy, [0.5, 0.0, 0.5], 0);
        let place = below(draws.next_u64(), legal.count());
        game.play(&mut position, legal.nth(place));
    }
    batch
}

fn step<G: Encode>(bencher: Bencher<'_, '_>, game: &G) {
    let config = Config::default();
    let shape = NetShape::of(game);
    let mut learner = Learner::new(
        config.learner,
        Weights::random(config.net, shape, &mut stream(1, 0)),
    );
    let batch = batch(game, config.run.batch);
    bencher
        .counter(divan::counter::ItemsCount::new(batch.len()))
        .bench_local(|| black_box(learner.step(&batch)).expect("a sound step"));
}

#[divan::bench]
fn jarmo(bencher: Bencher<'_, '_>) {
    step(bencher, &Jarmo::standard());
}

#[divan::bench]
fn guard(bencher: Bencher<'_, '_>) {
    step(bencher, &Guard::standard());
}

#[divan::bench]
fn tammi(bencher: Bencher<'_, '_>) {
    step(bencher, &Tammi::standard());
}

#[divan::bench]
fn connect_four(bencher: Bencher<'_, '_>) {
    step(bencher, &ConnectFour::new(0));
}
