//! Learning and evaluation through wgpu, which also runs on a CPU with Mesa's Vulkan driver: `.ci/wgpu`.

use std::sync::OnceLock;

use jarmo_core::net::{FeatureBatch, FrozenNet, KernelKind, Logits, NetKind, NetSettings, NetShape, Network, Weights};
use jarmo_core::random::{Stream, below, stream};
use jarmo_selfplay::replay::{Sample, Samples};
use jarmo_train::{DeviceKind, Learner, LearnerSettings, OpenDevice, on_device, register_built_in};
use rand::Rng;

/// Five planes of eight cells.
const SHAPE: NetShape = NetShape { features: 40, actions: 7, points: 3 };
const SETTINGS: LearnerSettings = LearnerSettings { rate: 0.003, warm_up: 20, decay: 1000, average: 0.9 };

fn device() -> OpenDevice {
    static DEVICE: OnceLock<OpenDevice> = OnceLock::new();
    DEVICE.get_or_init(|| OpenDevice::open(DeviceKind::Wgpu).expect("a Vulkan driver")).clone()
}

/// Random weights of a small network of each kind.
fn networks() -> [Weights; 2] {
    register_built_in();
    let size = NetSettings { width: 32, blocks: 1 };
    NetKind::BUILT_IN.map(|name| Weights::random(NetKind::named(name, size, 8), SHAPE, &mut stream(5, 0)))
}

/// Positions whose best action and result follow from their first feature.
fn batch(draws: &mut Stream) -> Samples {
    let mut batch = Samples::new();
    for _ in 0..64 {
        let first = below(draws.next_u64(), 6) as u16;
        let mut features: Vec<u16> = (0..4).map(|plane| 8 * (plane + 1) + below(draws.next_u64(), 8) as u16).collect();
        features.insert(0, first);
        let result = if first < 3 { [1.0, 0.0, 0.0] } else { [0.0, 0.0, 1.0] };
        let score = first as i8 - 3;
        batch.push(Sample { features: &features, actions: &[first, 6], policy: &[0.9, 0.1], result, score });
    }
    batch
}

fn logits(mut net: FrozenNet) -> Vec<f32> {
    let mut features = FeatureBatch::new();
    for first in 0..6 {
        features.push_indices([first, 9, 20, 30, 39]);
    }
    let mut logits = Logits::new(SHAPE);
    net.evaluate(&features, &mut logits);
    (0..6).flat_map(|row| logits.policy(row).to_vec()).collect()
}

fn assert_near(ones: &[f32], others: &[f32], tolerance: f32) {
    let largest = ones.iter().fold(0.0, |most: f32, one| most.max(one.abs()));
    for (one, other) in ones.iter().zip(others) {
        assert!((one - other).abs() <= tolerance * largest, "{one} {other}, at most {largest}");
    }
}

#[test]
fn it_computes_what_the_portable_kernel_computes() {
    for weights in networks() {
        let expected = logits(FrozenNet::with_kernel(&weights, KernelKind::Portable));
        assert_near(&expected, &logits(on_device(&weights, &device())), 1e-4);
        let half = device().in_half_precision().expect("a device with 16-bit numbers");
        assert_near(&expected, &logits(on_device(&weights, &half)), 0.02);
    }
}

#[test]
fn a_run_of_200_steps_learns_and_goes_on_from_its_file() {
    for weights in networks() {
        let name = weights.net().name().to_owned();
        let mut learner = Learner::new(SETTINGS, weights, &device());
        let mut draws = stream(7, 0);
        let loss = |learner: &mut Learner, draws: &mut Stream| {
            learner.step(&batch(draws)).unwrap().measures.map(|measures| measures.losses.total)
        };
        let first = loss(&mut learner, &mut draws).expect("the first step of a cycle is measured");
        for _ in 0..200 {
            loss(&mut learner, &mut draws);
        }
        learner.end_turn().unwrap();
        let mut resumed = Learner::from_bytes(SETTINGS, &device(), &learner.to_bytes()).unwrap();
        assert_eq!((learner.steps(), resumed.steps()), (201, 201));
        let (mut these, mut those) = (stream(8, 0), stream(8, 0));
        let last = loss(&mut learner, &mut these).expect("measured");
        let same = loss(&mut resumed, &mut those).expect("measured");
        assert!((last - same).abs() < 1e-3 && last < 0.6 * first, "{name}: {first}, then {last} and {same}");
    }
}
