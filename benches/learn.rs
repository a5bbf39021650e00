//! One gradient step with the default network, for each game: `cargo bench --bench learn`.

use divan::{Bencher, black_box};
use jarmo::config::Config;
use jarmo::encode::Encode;
use jarmo::env::VecEnv;
use jarmo::game::{Action, Mask};
use jarmo::games::{ConnectFour, Guard, Jarmo, Tammi};
use jarmo::net::{NetShape, Weights};
use jarmo::random::stream;
use jarmo::replay::{Sample, Samples};
use jarmo::train::Learner;

fn main() {
    divan::main();
}

/// Positions from random games, with uniform policy targets and even results.
fn batch<G: Encode>(game: &G, rows: usize) -> Samples {
    let mut batch = Samples::new();
    let mut env = VecEnv::new(game.clone(), 1, 1);
    let mut action = [Action(0)];
    while batch.len() < rows {
        let (position, legal) = (env.position(0), env.legal(0));
        let mut features = Vec::new();
        game.inputs(position, |feature| features.push(feature as u16));
        let actions: Vec<u16> = legal.iter().map(|action| action.0).collect();
        batch.push(Sample {
            features: &features,
            policy: &vec![1.0 / actions.len() as f32; actions.len()],
            actions: &actions,
            result: [0.5, 0.0, 0.5],
            score: 0,
        });
        env.sample(&mut action);
        env.step(&action);
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
        .bench_local(|| black_box(learner.step(&batch)).expect("finite gradients"));
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
