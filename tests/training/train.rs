//! The learner: what burn computes is what the frozen network answers, gradients point downhill,
//! and a learner that was written to a file goes on as if nothing had happened.
#![cfg(feature = "net")]

use jarmo::encode::Encode;
use jarmo::eval::{Evaluation, Evaluator, Value};
use jarmo::game::Mask;
use jarmo::games::{ConnectFour, Jarmo};
use jarmo::net::{FrozenNet, KernelKind, Logits, NetConfig, NetEvaluator, NetShape, Weights};
use jarmo::random::{below, stream};
use jarmo::train::{
    AdamConfig, DeviceEvaluator, Judgement, Learner, LearnerConfig, LossWeights, OpenDevice,
    TrainBatch,
};
use rand::Rng;

const MLP: NetConfig = NetConfig::Mlp {
    width: 64,
    blocks: 1,
};
const CONV: NetConfig = NetConfig::Conv {
    width: 32,
    blocks: 1,
    head_channels: 32,
};

const SETTINGS: LearnerConfig = LearnerConfig {
    rate: 0.003,
    warm_up: 5,
    decay: 0,
    lowest: 0.1,
    clip: 10.0,
    average: 0.9,
    explode: 1e3,
    adam: AdamConfig {
        beta1: 0.9,
        beta2: 0.999,
        epsilon: 1e-8,
        weight_decay: 1e-4,
    },
    loss: LossWeights {
        policy: 1.0,
        result: 1.0,
        score: 0.5,
    },
};

/// Positions of random games with targets that follow from the position: the lowest legal action
/// is right, a side wins when the ply is even, and the score is the number of legal actions.
fn batch<G: Encode>(game: &G, rows: usize, seed: u64) -> TrainBatch {
    let mut stream = stream(seed, 0);
    let mut batch = TrainBatch::new(NetShape::of(game));
    let mut position = game.start();
    while batch.len() < rows {
        let legal = game.legal(&position);
        if legal.is_empty() {
            position = game.start();
            continue;
        }
        let mut features = Vec::new();
        game.inputs(&position, |index| features.push(index as u32));
        let lowest = legal.nth(0);
        let policy = legal
            .iter()
            .map(|action| (action.index(), f32::from(u8::from(action == lowest))));
        let result = match game.ply(&position) % 2 {
            0 => [1.0, 0.0, 0.0],
            _ => [0.0, 0.25, 0.75],
        };
        batch.push(features, policy, result, (legal.count() % 10) as i32);
        let rank = below(stream.next_u64(), legal.count());
        game.play(&mut position, legal.nth(rank));
    }
    batch
}

fn learner<G: Encode>(game: &G, net: NetConfig) -> Learner {
    Learner::new(SETTINGS, net, NetShape::of(game), &mut stream(1, 0))
}

fn burn_and_the_frozen_network_agree<G: Encode>(game: &G, net: NetConfig) {
    let mut learner = learner(game, net);
    for seed in 0..3 {
        learner.step(&batch(game, 64, seed)).unwrap(); // away from the symmetric start
    }
    let weights = learner.weights();
    let batch = batch(game, 37, 9);
    let computed = learner.logits(batch.features());
    let outputs = weights.shape().outputs();
    assert_eq!(computed.len(), batch.len() * outputs);
    let largest = computed.iter().fold(0.0_f32, |most, n| most.max(n.abs()));
    assert!(largest > 0.01);
    for kind in KernelKind::available() {
        let tolerance = largest
            * match kind {
                KernelKind::Avx512Bf16 | KernelKind::AmxBf16 => 0.02,
                _ => 1e-5,
            };
        let mut frozen = FrozenNet::with_kernel(&weights, kind).unwrap();
        let mut logits = Logits::new(*weights.shape());
        frozen.evaluate(batch.features(), &mut logits);
        for (row, computed) in computed.chunks_exact(outputs).enumerate() {
            let answers = [logits.policy(row), logits.result(row), logits.score(row)].concat();
            for (frozen, burn) in answers.iter().zip(computed) {
                assert!(
                    (frozen - burn).abs() <= tolerance,
                    "{kind}: {frozen}, {burn}"
                );
            }
        }
    }
}

#[test]
fn burn_computes_what_every_kernel_computes() {
    for net in [MLP, CONV] {
        burn_and_the_frozen_network_agree(&Jarmo::standard(), net);
        burn_and_the_frozen_network_agree(&ConnectFour::new(0), net);
    }
}

/// Judges the same positions with the processor's kernels and with burn, as on a graphics card.
fn both_evaluators_agree<G: Encode>(game: &G, net: NetConfig) {
    let weights = Weights::random(net, NetShape::of(game), &mut stream(7, 0));
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
    let judge = |evaluator: &mut dyn Evaluator<G>| {
        let mut logits = vec![0.0; positions.len() * game.actions()];
        let mut evaluations = vec![Evaluation::of(Value::EVEN); positions.len()];
        let seeds = vec![0; positions.len()];
        evaluator.evaluate(&positions, &seeds, &mut logits, &mut evaluations);
        (logits, evaluations)
    };
    let net = FrozenNet::with_kernel(&weights, KernelKind::Portable).unwrap();
    let (logits, values) = judge(&mut NetEvaluator::with_net(game.clone(), net));
    let mut on_device = DeviceEvaluator::new(game.clone(), &weights, &OpenDevice::cpu());
    let (device_logits, device_values) = judge(&mut on_device);
    for (one, other) in logits.iter().zip(&device_logits) {
        assert!((one - other).abs() < 1e-3, "{one} {other}");
    }
    for (one, other) in values.iter().zip(&device_values) {
        let (one, other) = (one.value, other.value);
        assert!((one.win - other.win).abs() < 1e-3 && (one.draw - other.draw).abs() < 1e-3);
        assert!((one.score - other.score).abs() < 1e-2, "{one:?} {other:?}");
    }
}

#[test]
fn a_device_judges_as_the_kernels_do() {
    both_evaluators_agree(&Jarmo::standard(), MLP);
    both_evaluators_agree(&ConnectFour::new(0), CONV);
}

#[test]
fn a_judgement_tells_how_well_the_batch_was_known() {
    let game = Jarmo::standard();
    let mut learner = learner(&game, MLP);
    let batch = batch(&game, 256, 3);
    let first = learner.step(&batch).unwrap().judgement;
    for _ in 0..150 {
        learner.step(&batch).unwrap();
    }
    let last = learner.step(&batch).unwrap().judgement;
    assert_eq!((first.rows, last.rows), (256, 256));
    // The targets are certain, and the network comes to be.
    assert!(first.target_entropy.abs() < 1e-6);
    assert!(last.policy_entropy < 0.5 * first.policy_entropy);
    assert!(
        last.agreed > 230 && last.agreed > first.agreed,
        "{}",
        last.agreed
    );
    let gap = |judgement: &Judgement| -> f64 {
        judgement
            .bins
            .iter()
            .map(|bin| bin.rows * bin.gap().abs())
            .sum::<f64>()
            / 256.0
    };
    assert!(gap(&last) < 0.1, "{}", gap(&last));
    assert_eq!(last.bins.iter().map(|bin| bin.rows).sum::<f64>(), 256.0);
}

#[test]
fn the_loss_falls_on_what_can_be_learned() {
    for (net, steps) in [(MLP, 150), (CONV, 60)] {
        let game = Jarmo::standard();
        let mut learner = learner(&game, net);
        let before = learner.step(&batch(&game, 128, 0)).unwrap().losses;
        for seed in 1..steps {
            learner.step(&batch(&game, 128, seed)).unwrap();
        }
        let after = learner.step(&batch(&game, 128, 1000)).unwrap().losses;
        // A start that knows nothing: about ten legal actions, three results, 21 scores.
        assert!((1.5..3.0).contains(&before.policy), "{before:?}");
        assert!((0.9..1.3).contains(&before.result), "{before:?}");
        assert!((2.9..3.2).contains(&before.score), "{before:?}");
        assert!(after.policy < 0.5 * before.policy, "{net}: {after:?}");
        assert!(after.result < 0.9 * before.result, "{net}: {after:?}");
        assert!(after.score < 0.9 * before.score, "{net}: {after:?}");
        let sum = after.policy + after.result + 0.5 * after.score;
        assert!((after.total - sum).abs() < 1e-4);
    }
}

#[test]
fn what_is_new_in_a_grown_network_learns() {
    let game = Jarmo::standard();
    let wide = NetConfig::Mlp {
        width: 96,
        blocks: 2,
    };
    let small = learner(&game, MLP).weights();
    let grown = small.grown(wide, &mut stream(2, 0)).unwrap();
    let mut settings = SETTINGS;
    settings.adam.weight_decay = 0.0; // which would change everything
    let mut learner = Learner::from_weights(settings, &grown);
    for seed in 0..3 {
        learner.step(&batch(&game, 64, seed)).unwrap();
    }
    let learned = learner.weights();
    let changed = |name: &str, row: usize, column: usize| {
        let place = row * grown.tensors()[name].dims[1] + column;
        grown.get(name)[place] != learned.get(name)[place]
    };
    let seen = batch(&game, 1, 0).features().row(0)[0] as usize;
    assert!(
        (64..96)
            .filter(|&unit| changed("stem.weight", seen, unit))
            .count()
            > 16
    );
    for (name, outputs) in [
        ("blocks.0.weight", 96),
        ("policy.weight", grown.shape().actions),
    ] {
        let new = (64..96).filter(|&unit| (0..outputs).any(|out| changed(name, unit, out)));
        assert!(new.count() > 16, "{name}");
    }
    let block = learned.get("blocks.1.weight").iter();
    assert!(block.filter(|&&weight| weight != 0.0).count() > 64 * 64);
}

#[test]
fn illegal_actions_get_no_gradient() {
    let game = Jarmo::standard();
    let mut learner = learner(&game, MLP);
    let mut only = TrainBatch::new(NetShape::of(&game));
    only.push([0, 30], [(3, 0.5), (4, 0.5)], [1.0, 0.0, 0.0], 10);
    let before = learner.weights();
    learner.step(&only).unwrap();
    let after = learner.weights();
    let moved = |weights: &Weights| weights.get("policy.bias").to_vec();
    for (action, (before, after)) in moved(&before).iter().zip(moved(&after)).enumerate() {
        // 3 and 4 are equally likely already but for noise, so they may move too.
        assert!(
            [3, 4].contains(&action) || *before == after,
            "action {action}"
        );
    }
    assert_ne!(before.get("result.bias"), after.get("result.bias"));
}

#[test]
fn gradients_agree_with_differences_of_the_loss() {
    let game = Jarmo::standard();
    let batch = batch(&game, 32, 5);
    for net in [MLP, CONV] {
        let mut learner = learner(&game, net);
        for seed in 0..5 {
            learner.step(&self::batch(&game, 64, seed)).unwrap();
        }
        let (_, gradients) = learner.gradients(&batch);
        let squares: f32 = gradients.values().flatten().map(|g| g * g).sum();
        let length = squares.sqrt();
        let step = 0.01;
        let moved = |sign: f32| {
            let mut weights = learner.numbers().clone();
            for (name, weights) in &mut weights {
                for (weight, gradient) in weights.iter_mut().zip(&gradients[name]) {
                    *weight += sign * step * gradient / length;
                }
            }
            learner.loss_of(&weights, &batch).total
        };
        let slope = (moved(1.0) - moved(-1.0)) / (2.0 * step);
        assert!(
            (slope / length - 1.0).abs() < 0.02,
            "{net}: {slope}, {length}"
        );
    }
}

#[test]
fn a_learner_from_a_file_goes_on_bit_by_bit() {
    let game = Jarmo::standard();
    let mut whole = learner(&game, MLP);
    for seed in 0..4 {
        whole.step(&batch(&game, 48, seed)).unwrap();
    }
    let mut resumed = Learner::from_bytes(SETTINGS, &whole.to_bytes()).unwrap();
    assert_eq!(resumed.steps(), 4);
    for seed in 4..8 {
        let expected = whole.step(&batch(&game, 48, seed)).unwrap();
        assert_eq!(resumed.step(&batch(&game, 48, seed)).unwrap(), expected);
    }
    assert_eq!(resumed.to_bytes(), whole.to_bytes());
    assert_ne!(whole.average(), whole.weights());
}

#[test]
fn the_rate_climbs_and_falls_as_set() {
    let settings = LearnerConfig {
        rate: 0.001,
        warm_up: 4,
        decay: 10,
        lowest: 0.2,
        ..SETTINGS
    };
    let game = ConnectFour::new(0);
    let mut learner = Learner::new(settings, MLP, NetShape::of(&game), &mut stream(1, 0));
    let mut rates = Vec::new();
    for seed in 0..16 {
        rates.push(1000.0 * learner.rate());
        let step = learner.step(&batch(&game, 8, seed)).unwrap();
        assert_eq!(1000.0 * step.rate, rates[seed as usize]);
    }
    // A quarter in each step of the warm-up; halfway down 0.2 + 0.8 / 2; then 0.2 for ever.
    for (step, expected) in [
        (0, 0.25),
        (1, 0.5),
        (3, 1.0),
        (8, 0.6),
        (13, 0.2),
        (15, 0.2),
    ] {
        assert!((rates[step] - expected).abs() < 1e-4, "{rates:?}");
    }
}

#[test]
fn an_exploding_loss_stops_the_learner_and_keeps_its_weights() {
    let game = Jarmo::standard();
    let settings = LearnerConfig {
        explode: 0.5,
        ..SETTINGS
    };
    let mut learner = Learner::new(settings, MLP, NetShape::of(&game), &mut stream(1, 0));
    let before = learner.to_bytes();
    let error = learner.step(&batch(&game, 16, 0)).unwrap_err().to_string();
    assert!(error.starts_with("step 1: the loss is "), "{error}");
    assert!(
        error.contains("above learner.explode = 0.5; lower learner.rate"),
        "{error}"
    );
    assert_eq!(learner.to_bytes(), before);
    let mut broken = TrainBatch::new(NetShape::of(&game));
    broken.push([0], [(0, f32::NAN)], [1.0, 0.0, 0.0], 0);
    let error = learner.step(&broken).unwrap_err().to_string();
    assert!(error.contains("the loss is NaN"), "{error}");
    assert_eq!(learner.to_bytes(), before);
}

#[test]
fn a_broken_learner_file_is_refused() {
    let game = Jarmo::standard();
    let whole = learner(&game, MLP).to_bytes();
    for cut in (0..whole.len()).step_by(9973) {
        assert!(Learner::from_bytes(SETTINGS, &whole[..cut]).is_err());
    }
    let agent = safetensors::serialize(
        Vec::<(String, safetensors::tensor::TensorView<'_>)>::new(),
        None,
    );
    let error = Learner::from_bytes(SETTINGS, &agent.unwrap())
        .err()
        .unwrap();
    assert_eq!(error.to_string(), "it holds no learner");
}
