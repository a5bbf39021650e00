//! Self-play on a device, with a stand-in that takes a fixed time per batch.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread::sleep;
use std::time::{Duration, Instant};

use jarmo::accuracy::Exam;
use jarmo::agent::{Agent, PolicyAgent};
use jarmo::agent_file;
use jarmo::bench;
use jarmo::device::serve;
use jarmo::env::VecEnv;
use jarmo::eval::{EvalBatch, Evaluator};
use jarmo::game::{Action, Game, Mask};
use jarmo::games::{ConnectFour, ConnectFourPosition, Jarmo};
use jarmo::net::{
    FeatureBatch, FrozenNet, KernelKind, Logits, NetEvaluator, NetSettings, NetShape, Network, Traffic, Weights,
};
use jarmo::random::stream;
use jarmo::replay::Samples;
use jarmo::search::{Root, SearchSettings};
use jarmo::selfplay::{SelfPlay, SelfPlaySettings};
use jarmo::train::{OpenDevice, on_device};
use rayon::ThreadPoolBuilder;

const SETTINGS: SelfPlaySettings = SelfPlaySettings {
    games: 60,
    simulations: 8,
    search: SearchSettings::of(Root::Gumbel),
    max_random_plies: 3,
    endgames: 0.0,
    endgame_force: 7,
    lambda: 1.0,
};

fn weights() -> Weights {
    let net = NetSettings { width: 32, blocks: 1 };
    Weights::random(net, NetShape::of(&ConnectFour::new(0)), &mut stream(1, 0))
}

/// A device that computes batches of any size in the same time. Without a network all its logits are 0.
#[derive(Clone)]
struct StandIn {
    net: Option<FrozenNet>,
    latency: Duration,
    counts: Arc<[AtomicU64; 2]>, // batches and positions
}

impl StandIn {
    fn new(net: Option<FrozenNet>, latency: Duration) -> StandIn {
        StandIn { net, latency, counts: Arc::default() }
    }
}

const SHAPE: NetShape = NetShape { features: 2646, actions: 7, points: 0 };

impl Network for StandIn {
    fn shape(&self) -> &NetShape {
        &SHAPE
    }

    fn evaluate(&mut self, batch: &FeatureBatch, logits: &mut Logits) {
        sleep(self.latency);
        match &mut self.net {
            Some(net) => net.evaluate(batch, logits),
            None => *logits = Logits::from_rows(SHAPE, vec![0.0; batch.len() * SHAPE.outputs()]),
        }
        for (count, more) in self.counts.iter().zip([1, batch.len() as u64]) {
            count.fetch_add(more, Ordering::Relaxed);
        }
    }

    fn traffic(&self) -> Option<Traffic> {
        let [batches, positions] = [0, 1].map(|count: usize| self.counts[count].load(Ordering::Relaxed));
        Some(Traffic { batches, positions, ..Traffic::default() })
    }

    fn fork(&self) -> Box<dyn Network> {
        Box::new(self.clone())
    }
}

fn play(nets: Vec<FrozenNet>) -> (Samples, String) {
    let game = ConnectFour::new(0);
    let evaluators = nets.into_iter().map(|net| NetEvaluator::with_net(game.clone(), net)).collect();
    let mut play = SelfPlay::new(&game, &SETTINGS, evaluators, 5);
    let mut samples = Samples::new();
    for _ in 0..30 {
        samples.extend(&play.round().samples);
    }
    (samples, serde_json::to_string(&play.save()).unwrap())
}

#[test]
fn a_device_plays_the_games_that_the_cpu_plays() {
    let net = FrozenNet::with_kernel(&weights(), KernelKind::Portable);
    let stand_in = StandIn::new(Some(net.clone()), Duration::from_micros(200));
    let served = serve(FrozenNet::of(stand_in.clone()).in_batches_of(32));
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let nets = served.for_threads(2);
    assert_eq!(nets.len(), 6, "each thread grows trees of one group while two are at the device");
    assert_eq!(pool.install(|| play(nets)), play(vec![net; 6]));
    assert!(served.traffic().unwrap().busy > 0);
}

#[test]
fn what_waits_for_a_device_is_merged_into_one_batch() {
    let served = serve(FrozenNet::of(StandIn::new(None, Duration::from_millis(100))).in_batches_of(64));
    let mut nets = vec![served.clone(); 20];
    let (mut features, mut logits) = (FeatureBatch::new(), Logits::new(SHAPE));
    features.push_indices([1, 2]);
    for net in &mut nets {
        net.submit(&features, &mut logits);
    }
    for net in &mut nets {
        net.finish(&mut logits);
    }
    let Traffic { batches, positions, .. } = served.traffic().unwrap();
    assert_eq!(positions, 20);
    assert!(batches < 10, "{batches} batches");
}

/// Burn on the CPU takes the place of a GPU.
#[test]
fn a_device_gets_indices_and_returns_the_logits_of_legal_actions() {
    let game = Jarmo::standard();
    let net = NetSettings { width: 64, blocks: 2 };
    let weights = Weights::random(net, NetShape::of(&game), &mut stream(2, 0));
    let mut env = VecEnv::new(game.clone(), 50, 3);
    let mut actions = vec![Action(0); env.len()];
    let mut batch = EvalBatch::new(game.actions());
    for _ in 0..20 {
        for slot in 0..env.len() {
            batch.push(*env.position(slot), 0);
        }
        env.sample(&mut actions);
        env.step(&actions);
    }
    let served = serve(on_device(&weights, &OpenDevice::cpu()));
    let mut expected = batch.clone();
    NetEvaluator::with_net(game.clone(), served.clone()).evaluate(&mut batch);
    let cpu = FrozenNet::with_kernel(&weights, KernelKind::Portable);
    NetEvaluator::with_net(game.clone(), cpu).evaluate(&mut expected);
    let rows = batch.len();
    let mut legal_actions = 0;
    for row in 0..rows {
        for action in game.legal(&batch.positions()[row]).iter() {
            let [one, other] = [&batch, &expected].map(|batch| batch.logits(row)[action.index()]);
            assert!((one - other).abs() < 1e-4, "{one}, {other}");
            legal_actions += 1;
        }
        let [one, other] = [&batch, &expected].map(|batch| batch.evaluation(row).value);
        assert!((one.win - other.win).abs() < 1e-5 && (one.score - other.score).abs() < 1e-4, "{one:?}, {other:?}");
    }
    let Traffic { batches, positions, uploaded, read, kernels, .. } = served.traffic().unwrap();
    assert_eq!((batches, positions, kernels), (1, rows as u64, 8 + 3 * 2));
    let values = 3 + NetShape::of(&game).scores();
    assert_eq!(read, 4 * (legal_actions + rows * values) as u64);
    assert!(uploaded < 420 * positions, "{uploaded} bytes for {positions} positions");
}

/// Makes the trees of a batch expensive to grow, and measures how long search waits for its evaluations.
struct Expensive {
    inner: NetEvaluator<ConnectFour>,
    waited: Arc<AtomicU64>,
}

impl Evaluator<ConnectFour> for Expensive {
    fn batch(&self) -> usize {
        self.inner.batch()
    }

    fn evaluate(&mut self, batch: &mut EvalBatch<ConnectFourPosition>) {
        self.submit(batch);
        self.finish(batch);
    }

    fn submit(&mut self, batch: &mut EvalBatch<ConnectFourPosition>) {
        let work = (0..ROUNDS_OF_WORK).fold(1, |sum: u64, round| black_box(sum.wrapping_mul(0x9e37_79b9) ^ round));
        black_box(work);
        self.inner.submit(batch);
    }

    fn finish(&mut self, batch: &mut EvalBatch<ConnectFourPosition>) {
        let start = nanoseconds();
        self.inner.finish(batch);
        self.waited.fetch_add(nanoseconds() - start, Ordering::Relaxed);
    }
}

/// Several milliseconds.
const ROUNDS_OF_WORK: u64 = 8_000_000;

fn nanoseconds() -> u64 {
    static FIRST: LazyLock<Instant> = LazyLock::new(Instant::now);
    FIRST.elapsed().as_nanos() as u64
}

/// The share of their time that four threads wait for a device, with these evaluators.
fn share_of_waiting(nets: Vec<FrozenNet>) -> f64 {
    let pool = ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    let waited = Arc::<AtomicU64>::default();
    let game = ConnectFour::new(0);
    let evaluator = |net| Expensive { inner: NetEvaluator::with_net(game.clone(), net), waited: waited.clone() };
    let evaluators = nets.into_iter().map(evaluator).collect();
    let mut play = SelfPlay::new(&game, &SETTINGS, evaluators, 1).with_clock(nanoseconds);
    let playing: u64 = (0..2).map(|_| pool.install(|| play.round()).playing).sum();
    waited.load(Ordering::Relaxed) as f64 / playing as f64
}

/// A card may take 1 ms for 4096 positions, whose trees four threads grow in 2 ms. Here both take longer, so that it
/// matters less when a busy machine runs a thread.
#[test]
fn search_hardly_waits_for_a_device_if_each_thread_has_several_groups_of_trees() {
    let served = || serve(FrozenNet::of(StandIn::new(None, Duration::from_millis(8))).in_batches_of(4096));
    let several = share_of_waiting(served().for_threads(4));
    let one = share_of_waiting(vec![served(); 4]);
    println!("waiting: {several:.3} with several groups, {one:.3} with one");
    assert!(several < 0.1 && several < one / 2.0, "waiting: {several} with several groups, {one} with one");
}

#[test]
fn the_benchmark_of_self_play_measures_the_device() {
    let served = serve(FrozenNet::of(StandIn::new(None, Duration::from_millis(1))).in_batches_of(4096));
    let net = ("stand-in".to_owned(), served);
    let time = Duration::from_millis(200);
    let speed = bench::selfplay(&ConnectFour::new(0), &SETTINGS, &weights(), net, 1, time);
    assert!(speed.to_string().contains("\nstand-in: per position"), "{speed}");
    let speed = serde_json::to_value(&speed).unwrap();
    assert!(speed["device"]["positions_per_batch"].as_f64().unwrap() > 1.0, "{speed:#}");
    let idle = speed["device_idle_share"].as_f64().unwrap();
    assert!((0.0..1.0).contains(&idle), "{speed:#}");
}

#[test]
fn in_half_precision_a_trained_network_errs_as_often_as_before() {
    let game = ConnectFour::new(0);
    let exam = Exam::built_in(&game).expect("the program has one");
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/checkpoints/connect_four.safetensors");
    let agent = agent_file::load(file.as_ref()).unwrap();
    let right = |device: OpenDevice| {
        let net = on_device(agent.weights(), &device);
        let agent = PolicyAgent::new(game.clone(), NetEvaluator::with_net(game.clone(), net));
        let mut agents: [Box<dyn Agent<ConnectFour>>; 1] = [Box::new(agent)];
        exam.take(&mut agents, None, 1).score().all.share()
    };
    let (half, whole) = (right(OpenDevice::cpu().in_half_precision().unwrap()), right(OpenDevice::cpu()));
    println!("right decisions: {half:.5} with 16 bits, {whole:.5} with 32");
    assert!((half - whole).abs() < 0.0005, "right decisions: {half} with 16 bits, {whole} with 32");
}
