//! Networks against their formulas, written down here a second time without any thought of speed,
//! and agent files against everything that can be wrong with one.

use std::collections::BTreeMap;

use jarmo::encode::Encode;
use jarmo::game::Mask;
use jarmo::games::{ConnectFour, Jarmo};
use jarmo::net::{
    FeatureBatch, FrozenNet, KernelKind, Logits, NetSettings, NetShape, Network, RESULTS, Tensor, Weights,
};
use jarmo::random::{below, stream};
use rand::{Rng, RngExt};

/// Weights with noise everywhere, biases and heads too, so that nothing hides behind a zero.
fn noisy_weights(config: NetSettings, shape: NetShape, seed: u64) -> Weights {
    let mut stream = stream(seed, 0);
    let mut tensors = BTreeMap::new();
    for plan in config.tensors(&shape) {
        let spread = if plan.fan_in == 0 { 0.3 } else { (3.0 / plan.fan_in as f32).sqrt() };
        let size: usize = plan.dims.iter().product();
        let data = (0..size).map(|_| spread * (2.0 * stream.random::<f32>() - 1.0)).collect();
        let dims = plan.dims;
        tensors.insert(plan.name, Tensor { dims, data });
    }
    Weights::new(config, shape, tensors).unwrap()
}

/// Features of the positions of random games.
fn positions<G: Encode>(game: &G, count: usize) -> FeatureBatch {
    let mut stream = stream(3, 0);
    let mut batch = FeatureBatch::new();
    let mut position = game.start();
    while batch.len() < count {
        batch.push(game, &position);
        let legal = game.legal(&position);
        if legal.is_empty() {
            position = game.start();
        } else {
            let rank = below(stream.next_u64(), legal.count());
            game.play(&mut position, legal.nth(rank));
        }
    }
    batch
}

/// `x W + b` for one row.
fn dense(weights: &Weights, name: &str, input: &[f64]) -> Vec<f64> {
    let bias = weights.get(&format!("{name}.bias"));
    let matrix = weights.get(&format!("{name}.weight"));
    let outputs = bias.len();
    assert_eq!(matrix.len(), input.len() * outputs);
    let sum = |output: usize| -> f64 {
        let products = input.iter().enumerate();
        products.map(|(place, number)| number * f64::from(matrix[place * outputs + output])).sum()
    };
    (0..outputs).map(|output| sum(output) + f64::from(bias[output])).collect()
}

fn relu(numbers: Vec<f64>) -> Vec<f64> {
    numbers.into_iter().map(|number| number.max(0.0)).collect()
}

fn add(left: Vec<f64>, right: &[f64]) -> Vec<f64> {
    left.iter().zip(right).map(|(l, r)| l + r).collect()
}

/// The numbers of all heads, policy, result and score, by the formulas in docs/formats.md.
fn reference(weights: &Weights, features: &[u32]) -> Vec<f64> {
    let shape = weights.shape();
    let mut input = vec![0.0; shape.features];
    for &feature in features {
        input[feature as usize] = 1.0;
    }
    let mut trunk = relu(dense(weights, "stem", &input));
    for block in 0..weights.settings().blocks {
        let step = dense(weights, &format!("blocks.{block}"), &trunk);
        trunk = relu(add(step, &trunk));
    }
    let heads = shape.heads();
    heads.flat_map(|(head, _)| dense(weights, head, &trunk)).collect()
}

fn all_heads(logits: &Logits, row: usize) -> Vec<f32> {
    [logits.policy(row), logits.result(row), logits.score(row)].concat()
}

fn check_against_formula<G: Encode>(game: &G, config: NetSettings) {
    let shape = NetShape::of(game);
    let weights = noisy_weights(config, shape, 1);
    let batch = positions(game, 23);
    let expected: Vec<Vec<f64>> = (0..batch.len()).map(|row| reference(&weights, batch.row(row))).collect();
    let largest = expected.iter().flatten().fold(0.0, |m, n| n.abs().max(m));
    assert!(largest > 0.5, "a test of numbers, not of zeros");
    for kind in KernelKind::ALL {
        let tolerance = largest
            * match kind {
                KernelKind::Int8 => 0.02,
                KernelKind::Portable => 1e-5,
            };
        let mut net = FrozenNet::with_kernel(&weights, kind);
        let mut logits = Logits::new(shape);
        net.evaluate(&batch, &mut logits);
        for (row, expected) in expected.iter().enumerate() {
            let computed = all_heads(&logits, row);
            assert_eq!(computed.len(), shape.actions + RESULTS + shape.scores());
            for (place, (&computed, expected)) in computed.iter().zip(expected).enumerate() {
                assert!(
                    (f64::from(computed) - expected).abs() < tolerance,
                    "{} {config}, {kind}, row {row}, number {place}: {computed}, not {expected}",
                    game.id()
                );
            }
        }
    }
}

#[test]
fn every_kernel_computes_the_formula() {
    for (width, blocks) in [(32, 0), (96, 2), (160, 3)] {
        check_against_formula(&Jarmo::standard(), NetSettings { width, blocks });
        check_against_formula(&ConnectFour::new(0), NetSettings { width, blocks });
    }
}

#[test]
fn an_answer_is_the_same_bits_in_every_batch_and_every_clone() {
    let game = Jarmo::standard();
    let shape = NetShape::of(&game);
    let batch = positions(&game, 211);
    let config = NetSettings { width: 96, blocks: 2 };
    let weights = noisy_weights(config, shape, 2);
    for kind in KernelKind::ALL {
        let mut net = FrozenNet::with_kernel(&weights, kind);
        let mut together = Logits::new(shape);
        net.evaluate(&batch, &mut together);
        let mut clone = net.clone();
        for size in [1, 2, 5, 50] {
            for first in [0, 100, 161] {
                let mut part = FeatureBatch::new();
                for row in first..first + size {
                    part.push_indices(batch.row(row).iter().copied());
                }
                let mut alone = Logits::new(shape);
                clone.evaluate(&part, &mut alone);
                for row in 0..size {
                    let (alone, together) = (all_heads(&alone, row), all_heads(&together, first + row));
                    assert_eq!(alone, together, "{kind}, {size} from {first}");
                }
            }
        }
    }
}

fn check_growth<G: Encode>(game: &G, small: NetSettings, large: NetSettings) {
    let shape = NetShape::of(game);
    let weights = noisy_weights(small, shape, 4);
    let grown = weights.grown(large, &mut stream(5, 0)).unwrap();
    assert_eq!(grown.settings(), large);
    let batch = positions(game, 23);
    for row in 0..batch.len() {
        let before = reference(&weights, batch.row(row));
        let after = reference(&grown, batch.row(row));
        let most = |numbers: &[f64]| numbers.iter().fold(0.0, |most: f64, n| most.max(n.abs()));
        let changes: Vec<f64> = before.iter().zip(&after).map(|(b, a)| b - a).collect();
        assert_eq!(before.len(), after.len());
        assert!(most(&before) > 0.1, "a test of numbers, not of zeros");
        assert!(most(&changes) < 1e-9, "{small} to {large}: {}", most(&changes));
    }
}

#[test]
fn a_grown_network_gives_the_same_answers() {
    let net = |width, blocks| NetSettings { width, blocks };
    for large in [net(64, 2), net(96, 2), net(64, 4), net(128, 3)] {
        check_growth(&Jarmo::standard(), net(64, 2), large);
        check_growth(&ConnectFour::new(0), net(64, 2), large);
    }
}

#[test]
fn a_network_does_not_shrink() {
    let net = |width, blocks| NetSettings { width, blocks };
    let from = net(64, 2);
    let weights = noisy_weights(from, NetShape::of(&Jarmo::standard()), 4);
    for to in [net(32, 2), net(64, 1)] {
        let refused = weights.grown(to, &mut stream(5, 0)).unwrap_err();
        let expected = format!("its network is {from}, the settings say {to}");
        assert!(refused.to_string().contains(&expected), "{refused}");
    }
}

#[test]
fn no_position_is_an_empty_answer() {
    let game = Jarmo::standard();
    let weights = noisy_weights(NetSettings { width: 32, blocks: 1 }, NetShape::of(&game), 1);
    let mut net = FrozenNet::new(&weights);
    assert_eq!(net.kernel(), KernelKind::best());
    net.evaluate(&FeatureBatch::new(), &mut Logits::new(*net.shape()));
}

#[test]
fn sizes_that_no_network_can_have_are_refused_with_the_right_ones() {
    let net = |width, blocks| NetSettings { width, blocks };
    for (config, message) in [
        (net(0, 1), "net.width = 0: it must be a multiple of 32"),
        (net(100, 1), "net.width = 100: it must be a multiple of 32"),
        (net(8192, 1), "from 32 to 4096"),
        (net(64, 65), "net.blocks = 65: it must be a whole number from 0 to 64"),
    ] {
        let error = config.validate().unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn weights_that_do_not_fit_their_network_are_refused_by_name() {
    let config = NetSettings { width: 32, blocks: 1 };
    let shape = NetShape::of(&Jarmo::standard());
    let whole = noisy_weights(config, shape, 1).tensors().clone();
    type Damage = fn(&mut BTreeMap<String, Tensor>);
    let cases: [(Damage, &str); 4] = [
        (|t| drop(t.remove("stem.bias")), "`stem.bias` is missing"),
        (|t| t.get_mut("stem.bias").unwrap().dims = vec![4, 8], "needs [32]"),
        (|t| t.get_mut("result.weight").unwrap().data[7] = f32::NAN, "`result.weight` holds NaN at index 7"),
        (
            |t| {
                let extra = t["stem.bias"].clone();
                t.insert("blocks.1.bias".to_owned(), extra);
            },
            "`blocks.1.bias` belongs to no network mlp 32x1",
        ),
    ];
    for (damage, message) in cases {
        let mut tensors = whole.clone();
        damage(&mut tensors);
        let error = Weights::new(config, shape, tensors).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}
