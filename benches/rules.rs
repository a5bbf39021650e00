//! Benchmarks of the hot paths of rules and encoders: `cargo bench --bench rules`.

use divan::{Bencher, black_box};
use jarmo::encode::Encode;
use jarmo::env::VecEnv;
use jarmo::game::{Action, Game, Mask, perft};
use jarmo::games::{ConnectFour, Guard, Jarmo, Tammi};

const GAMES: usize = 1024;

fn main() {
    divan::main();
}

/// The standard rules of each game, for benchmarks that are generic over games.
trait Standard: Encode {
    fn standard_rules() -> Self;
}

impl Standard for Jarmo {
    fn standard_rules() -> Self {
        Jarmo::standard()
    }
}

impl Standard for Guard {
    fn standard_rules() -> Self {
        Guard::standard()
    }
}

impl Standard for Tammi {
    fn standard_rules() -> Self {
        Tammi::standard()
    }
}

impl Standard for ConnectFour {
    fn standard_rules() -> Self {
        ConnectFour::new(0)
    }
}

/// A position, its legal actions, and one of them.
type Case<G> = (<G as Game>::Position, <G as Game>::Mask, Action);

/// Positions from the middle of random games.
fn positions<G: Standard>() -> (G, Vec<Case<G>>) {
    let game = G::standard_rules();
    let mut env = VecEnv::new(game.clone(), GAMES, 1);
    let mut actions = vec![Action(0); GAMES];
    for _ in 0..40 {
        env.sample(&mut actions);
        env.step(&actions);
    }
    env.sample(&mut actions);
    let taken = (0..GAMES).map(|slot| (*env.position(slot), *env.legal(slot), actions[slot]));
    (game, taken.collect())
}

#[divan::bench(types = [Jarmo, Guard, Tammi, ConnectFour])]
fn legal_1024<G: Standard>(bencher: Bencher) {
    let (game, positions) = positions::<G>();
    bencher.bench_local(|| {
        for (position, _, _) in &positions {
            black_box(game.legal(black_box(position)));
        }
    });
}

#[divan::bench(types = [Jarmo, Guard, Tammi, ConnectFour])]
fn play_1024<G: Standard>(bencher: Bencher) {
    let (game, positions) = positions::<G>();
    bencher.bench_local(|| {
        for (position, _, action) in &positions {
            let mut next = *position;
            game.play(&mut next, black_box(*action));
            black_box(next);
        }
    });
}

#[divan::bench(types = [Jarmo, Guard, Tammi, ConnectFour])]
fn choose_1024<G: Standard>(bencher: Bencher) {
    let (_, positions) = positions::<G>();
    bencher.bench_local(|| {
        for (_, legal, _) in &positions {
            black_box(legal.nth(black_box(legal.count() / 2)));
        }
    });
}

#[divan::bench(types = [Jarmo, Guard, Tammi, ConnectFour])]
fn features_1024<G: Standard>(bencher: Bencher) {
    let (game, positions) = positions::<G>();
    let mut features = vec![0.0; game.feature_count()];
    bencher.bench_local(|| {
        for (position, _, _) in &positions {
            game.observe(black_box(position), &mut features);
            black_box(&features);
        }
    });
}

#[divan::bench(types = [Jarmo, Guard, Tammi, ConnectFour])]
fn perft_4<G: Standard>(bencher: Bencher) {
    let game = G::standard_rules().with_max_plies(0);
    let start = game.start();
    bencher.bench_local(|| perft(&game, black_box(&start), 4));
}
