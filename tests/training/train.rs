//! The learner: burn computes the same as the frozen network, gradients point downhill, and a learner
//! from a file continues as if it had never been saved.

use jarmo::encode::Encode;
use jarmo::eval::{EvalBatch, Evaluator};
use jarmo::game::Mask;
use jarmo::games::{ConnectFour, Jarmo};
use jarmo::net::{FrozenNet, KernelKind, NetEvaluator, NetSettings, NetShape, Weights};
use jarmo::random::{below, stream};
use jarmo::replay::{Sample, Samples};
use jarmo::train::{Learner, LearnerSettings, OpenDevice, Predictions, on_device};
use rand::Rng;

const NET: NetSettings = NetSettings { width: 64, blocks: 1 };
const SETTINGS: LearnerSettings = LearnerSettings { rate: 0.003, warm_up: 5, decay: 0, average: 0.9 };

/// Positions of random games with targets that follow from the position: the lowest legal action
/// is right, a side wins when the ply is even, and the score is the number of legal actions.
fn batch<G: Encode>(game: &G, rows: usize, seed: u64) -> Samples {
    let mut stream = stream(seed, 0);
    let mut batch = Samples::new();
    let mut position = game.start();
    while batch.len() < rows {
        let legal = game.legal(&position);
        if legal.is_empty() {
            position = game.start();
            continue;
        }
        let mut features = Vec::new();
        game.inputs(&position, |index| features.push(index as u16));
        let lowest = legal.nth(0);
        let actions: Vec<u16> = legal.iter().map(|action| action.0).collect();
        let right = legal.iter().map(|action| u8::from(action == lowest));
        let policy: Vec<f32> = right.map(f32::from).collect();
        let result = match game.ply(&position) % 2 {
            0 => [1.0, 0.0, 0.0],
            _ => [0.0, 0.25, 0.75],
        };
        batch.push(Sample {
            features: &features,
            actions: &actions,
            policy: &policy,
            result,
            score: (legal.count() % 10) as i8,
        });
        let rank = below(stream.next_u64(), legal.count());
        game.play(&mut position, legal.nth(rank));
    }
    batch
}

fn learner<G: Encode>(game: &G) -> Learner {
    Learner::new(SETTINGS, weights(game, 1), &OpenDevice::cpu())
}

fn weights<G: Encode>(game: &G, seed: u64) -> Weights {
    Weights::random(NET, NetShape::of(game), &mut stream(seed, 0))
}

/// Evaluates the same positions with the processor's kernels and with burn, as on a graphics card.
fn burn_computes_what_the_kernels_compute<G: Encode>(game: &G) {
    let mut learner = learner(game);
    for seed in 0..3 {
        learner.step(&batch(game, 64, seed)).unwrap(); // away from the symmetric start
    }
    let weights = &learner.weights();
    let mut positions = Vec::new();
    let (mut position, mut draws) = (game.start(), stream(8, 0));
    while positions.len() < 100 {
        let legal = game.legal(&position);
        if legal.is_empty() {
            position = game.start();
            continue;
        }
        positions.push(position);
        let action = legal.nth(below(draws.next_u64(), legal.count()));
        game.play(&mut position, action);
    }
    let evaluate = |evaluator: &mut dyn Evaluator<G>| {
        let mut batch = EvalBatch::new(game.actions());
        for position in &positions {
            batch.push(*position, 0);
        }
        evaluator.evaluate(&mut batch);
        let rows = 0..batch.len();
        let logits: Vec<f32> = rows.clone().flat_map(|row| batch.logits(row).to_vec()).collect();
        (logits, rows.map(|row| *batch.evaluation(row)).collect::<Vec<_>>())
    };
    let on_device = on_device(weights, &OpenDevice::cpu());
    let (expected, expected_values) = evaluate(&mut NetEvaluator::with_net(game.clone(), on_device));
    let largest = expected.iter().fold(0.0_f32, |most, n| most.max(n.abs()));
    assert!(largest > 0.01);
    for kind in KernelKind::ALL {
        let tolerance = match kind {
            KernelKind::Int8 => 0.02,
            KernelKind::Portable => 1e-5,
        };
        let net = FrozenNet::with_kernel(weights, kind);
        let (logits, values) = evaluate(&mut NetEvaluator::with_net(game.clone(), net));
        for (one, other) in logits.iter().zip(&expected) {
            assert!((one - other).abs() <= largest * tolerance, "{kind}: {one}, {other}");
        }
        for (one, other) in values.iter().zip(&expected_values) {
            let (one, other) = (one.value, other.value);
            let apart = (one.win - other.win).abs().max((one.draw - other.draw).abs());
            assert!(apart <= tolerance, "{kind}: {one:?} {other:?}");
            assert!((one.score - other.score).abs() <= 10.0 * tolerance, "{kind}: {one:?} {other:?}");
        }
    }
}

#[test]
fn burn_computes_what_every_kernel_computes() {
    burn_computes_what_the_kernels_compute(&Jarmo::standard());
    burn_computes_what_the_kernels_compute(&ConnectFour::new(0));
}

#[test]
fn predictions_improve_on_a_batch_that_is_learned() {
    let game = Jarmo::standard();
    let mut learner = learner(&game);
    let batch = batch(&game, 256, 3);
    let first = learner.step(&batch).unwrap().measures.unwrap().predictions;
    for _ in 0..150 {
        learner.step(&batch).unwrap();
    }
    let last = learner.step(&batch).unwrap().measures.unwrap().predictions;
    assert_eq!((first.rows, last.rows), (256, 256));
    // The targets are certain, and the network becomes so.
    assert!(first.target_entropy.abs() < 1e-6);
    assert!(last.policy_entropy < 0.5 * first.policy_entropy);
    assert!(last.agreed > 230 && last.agreed > first.agreed, "{}", last.agreed);
    let gap = |predictions: &Predictions| -> f64 {
        predictions.bins.iter().map(|bin| bin.rows * bin.gap().abs()).sum::<f64>() / 256.0
    };
    assert!(gap(&last) < 0.1, "{}", gap(&last));
    assert_eq!(last.bins.iter().map(|bin| bin.rows).sum::<f64>(), 256.0);
}

#[test]
fn the_loss_falls_on_what_can_be_learned() {
    let game = Jarmo::standard();
    let mut learner = learner(&game);
    let before = learner.step(&batch(&game, 128, 0)).unwrap().measures.unwrap().losses;
    for seed in 1..150 {
        learner.step(&batch(&game, 128, seed)).unwrap();
    }
    let after = learner.step(&batch(&game, 128, 1000)).unwrap().measures.unwrap().losses;
    // Uniform predictions: about ten legal actions, three results, 21 scores.
    assert!((1.5..3.0).contains(&before.policy), "{before:?}");
    assert!((0.9..1.3).contains(&before.result), "{before:?}");
    assert!((2.9..3.2).contains(&before.score), "{before:?}");
    assert!(after.policy < 0.5 * before.policy, "{after:?}");
    assert!(after.result < 0.9 * before.result, "{after:?}");
    assert!(after.score < 0.9 * before.score, "{after:?}");
    let sum = after.policy + after.result + 0.25 * after.score;
    assert!((after.total - sum).abs() < 1e-4);
}

#[test]
fn new_weights_of_a_grown_network_learn() {
    let game = Jarmo::standard();
    let wide = NetSettings { width: 96, blocks: 2 };
    let grown = weights(&game, 1).grown(wide, &mut stream(2, 0)).unwrap();
    let mut learner = Learner::new(SETTINGS, grown, &OpenDevice::cpu());
    for seed in 0..2 {
        learner.step(&batch(&game, 64, seed)).unwrap();
    }
    let batch = batch(&game, 64, 2);
    let (_, gradients) = learner.loss_of(&batch);
    let moves = |name: &str, row: usize, column: usize| {
        let gradient = &gradients[name];
        gradient.data[row * gradient.dims[1] + column] != 0.0
    };
    let seen = usize::from(batch.get(0).features[0]);
    let units = (64..96).filter(|&unit| moves("stem.weight", seen, unit));
    assert!(units.count() > 16);
    for (name, outputs) in [("blocks.0.weight", 96), ("policy.weight", 84)] {
        let new = (64..96).filter(|&unit| (0..outputs).any(|out| moves(name, unit, out)));
        assert!(new.count() > 16, "{name}");
    }
    let weights = learner.weights();
    let block = weights.get("blocks.1.weight").iter();
    assert!(block.filter(|&&weight| weight != 0.0).count() > 64 * 64);
}

#[test]
fn illegal_actions_get_no_gradient() {
    let game = Jarmo::standard();
    let mut learner = learner(&game);
    let mut only = Samples::new();
    only.push(Sample { features: &[0, 30], actions: &[3, 4], policy: &[0.5, 0.5], result: [1.0, 0.0, 0.0], score: 10 });
    let before = learner.weights();
    learner.step(&only).unwrap();
    let after = &learner.weights();
    let moved = |weights: &Weights| weights.get("policy.bias").to_vec();
    for (action, (before, after)) in moved(&before).iter().zip(moved(after)).enumerate() {
        // 3 and 4 are almost equally likely already, so they may change as well.
        assert!([3, 4].contains(&action) || *before == after, "action {action}");
    }
    assert_ne!(before.get("result.bias"), after.get("result.bias"));
}

#[test]
fn gradients_agree_with_differences_of_the_loss() {
    let game = Jarmo::standard();
    let mut learner = learner(&game);
    for seed in 0..5 {
        learner.step(&batch(&game, 64, seed)).unwrap();
    }
    let batch = batch(&game, 32, 5);
    let weights = learner.weights();
    let (_, gradients) = learner.loss_of(&batch);
    let squares: f32 = gradients.values().flat_map(|gradient| &gradient.data).map(|g| g * g).sum();
    let length = squares.sqrt();
    let step = 0.01;
    let moved = |sign: f32| {
        let mut tensors = weights.tensors().clone();
        for (name, tensor) in &mut tensors {
            for (weight, gradient) in tensor.data.iter_mut().zip(&gradients[name].data) {
                *weight += sign * step * gradient / length;
            }
        }
        let moved = Weights::new(NET, *weights.shape(), tensors).unwrap();
        Learner::new(SETTINGS, moved, &OpenDevice::cpu()).loss_of(&batch).0.total
    };
    let slope = (moved(1.0) - moved(-1.0)) / (2.0 * step);
    assert!((slope / length - 1.0).abs() < 0.02, "{slope}, {length}");
}

#[test]
fn a_learner_from_a_file_continues_bit_for_bit() {
    let game = Jarmo::standard();
    let mut whole = learner(&game);
    for seed in 0..4 {
        whole.step(&batch(&game, 48, seed)).unwrap();
    }
    let mut resumed = Learner::from_bytes(SETTINGS, &OpenDevice::cpu(), &whole.to_bytes()).unwrap();
    assert_eq!(resumed.steps(), 4);
    for seed in 4..8 {
        let expected = whole.step(&batch(&game, 48, seed)).unwrap();
        assert_eq!(resumed.step(&batch(&game, 48, seed)).unwrap(), expected);
    }
    for learner in [&mut whole, &mut resumed] {
        learner.end_turn().unwrap();
    }
    assert_eq!(resumed.weights(), whole.weights());
    assert_eq!(resumed.average(), whole.average());
    assert_ne!(*whole.average(), whole.weights());
}

#[test]
fn the_rate_rises_and_falls_as_set() {
    let settings = LearnerSettings { rate: 0.001, warm_up: 4, decay: 10, ..SETTINGS };
    let game = ConnectFour::new(0);
    let mut learner = Learner::new(settings, weights(&game, 1), &OpenDevice::cpu());
    let mut rates = Vec::new();
    for seed in 0..16 {
        rates.push(1000.0 * learner.rate());
        let step = learner.step(&batch(&game, 8, seed)).unwrap();
        assert_eq!(1000.0 * step.rate, rates[seed as usize]);
    }
    // A quarter more in each step of the warm-up; halfway down 0.05 + 0.95 / 2; then 0.05.
    for (step, expected) in [(0, 0.25), (1, 0.5), (3, 1.0), (8, 0.525), (13, 0.05), (15, 0.05)] {
        assert!((rates[step] - expected).abs() < 1e-4, "{rates:?}");
    }
}

#[test]
fn an_exploding_loss_stops_the_learner_and_keeps_its_weights() {
    let game = Jarmo::standard();
    let mut tensors = weights(&game, 1).tensors().clone();
    tensors.get_mut("result.bias").unwrap().data[1] = 1e4; // sure of a draw in every position
    let sure = Weights::new(NET, NetShape::of(&game), tensors).unwrap();
    let mut learner = Learner::new(SETTINGS, sure, &OpenDevice::cpu());
    let before = learner.to_bytes();
    let error = learner.step(&batch(&game, 16, 0)).unwrap_err().to_string();
    assert!(error.starts_with("step 1: the loss is "), "{error}");
    assert!(error.contains("above 100; lower learner.rate"), "{error}");
    assert_eq!(learner.to_bytes(), before);
    let mut broken = Samples::new();
    broken.push(Sample { features: &[0], actions: &[0], policy: &[f32::NAN], result: [1.0, 0.0, 0.0], score: 0 });
    let error = learner.step(&broken).unwrap_err().to_string();
    assert!(error.contains("the loss is NaN"), "{error}");
    assert_eq!(learner.to_bytes(), before);
}

#[test]
fn a_broken_learner_file_is_refused() {
    let game = Jarmo::standard();
    let whole = learner(&game).to_bytes();
    for cut in (0..whole.len()).step_by(9973) {
        assert!(Learner::from_bytes(SETTINGS, &OpenDevice::cpu(), &whole[..cut]).is_err());
    }
    let agent = safetensors::serialize(Vec::<(String, safetensors::tensor::TensorView<'_>)>::new(), None);
    let error = Learner::from_bytes(SETTINGS, &OpenDevice::cpu(), &agent.unwrap()).err().unwrap();
    assert!(error.to_string().starts_with("it contains no learner"), "{error}");
}
