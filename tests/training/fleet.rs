//! A run with files from other machines: each is taken once, old ones are dropped, no sample is used more than was
//! asked for, and the recorded order gives the same weights again.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, mpsc};
use std::thread;
use std::time::Duration;

use jarmo::TrainError;
use jarmo::config::Config;
use jarmo::erase;
use jarmo::eval::Uniform;
use jarmo::games::ConnectFour;
use jarmo::net::AgentFile;
use jarmo::observe::{Event, FleetCounts, FleetReport};
use jarmo::replay::{Sample, Samples};
use jarmo::run::{Delivery, FileId, Fleet, RunFolder, Seen, Sent, Supply, run};
use jarmo::selfplay::{Counts, SelfPlay};
use jarmo::train::OpenDevice;
use tempfile::TempDir;

fn config(more: &[&str]) -> Config {
    let settings = [
        "run.first_samples=64",
        "run.reuse=2",
        "run.batch=32",
        "evaluation.every=0",
        "run.checkpoint=20",
        "fleet.max_age=1000",
    ];
    super::run::config(&[&settings[..], more].concat())
}

/// Files of about this many samples each.
fn files(count: u64, config: &Config) -> Vec<Delivery> {
    let game = ConnectFour::new(0);
    let mut play = SelfPlay::new(&game, &config.selfplay, vec![Uniform], 3);
    let mut samples = Samples::new();
    let file = |number: u64| {
        while samples.len() < 64 {
            samples.extend(&play.round().samples);
        }
        Delivery {
            sent: Sent {
                id: FileId(u128::from(number) + 1),
                sequence: number,
                key: "key".to_owned(),
                worker: "test".to_owned(),
                weights: 0,
            },
            games: Vec::new(),
            bytes: 100,
            samples: std::mem::take(&mut samples),
            counts: Counts::default(),
        }
    };
    (0..count).map(file).collect()
}

/// Files that are handed over from memory: a fleet without machines.
#[derive(Default)]
struct Handed {
    files: Mutex<VecDeque<Delivery>>,
    published: Mutex<Vec<u64>>,
}

impl Handed {
    /// Hands over these files in their order.
    fn new(files: impl IntoIterator<Item = Delivery>) -> Handed {
        Handed { files: Mutex::new(files.into_iter().collect()), published: Mutex::default() }
    }

    /// The learning steps of the networks that were published.
    fn published(&self) -> Vec<u64> {
        self.published.lock().expect("no thread panics").clone()
    }

    fn files(&self) -> MutexGuard<'_, VecDeque<Delivery>> {
        self.files.lock().expect("no thread panics")
    }
}

impl Supply for Handed {
    fn begin(&self, seen: &Seen) -> Result<(), TrainError> {
        self.files().retain(|file| !seen.contains_key(&file.sent.id));
        Ok(())
    }

    fn waiting(&self) -> usize {
        self.files().iter().map(|file| file.samples.len()).sum()
    }

    fn take(&self) -> Result<Option<Delivery>, TrainError> {
        Ok(self.files().pop_front())
    }

    fn publish(&self, agent: AgentFile) {
        let step = agent.header().provenance.step;
        self.published.lock().expect("no thread panics").push(step);
    }

    fn saved(&self, _: &Seen) -> Result<(), TrainError> {
        Ok(())
    }

    fn report(&self, counted: FleetCounts) -> FleetReport {
        FleetReport { counted, queued: self.files().len() as u64, connected: true, ..FleetReport::default() }
    }

    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Runs with these files until a limit is reached. Returns the last report.
fn learn(folder: &TempDir, config: &Config, supply: &dyn Supply) -> FleetReport {
    let path = folder.path().join("run");
    let opened = match path.exists() {
        false => RunFolder::create(&path, config, None),
        true => RunFolder::open(&path).map(|(folder, _)| folder),
    };
    let fleet = Fleet { supply, plays_here: false };
    let mut last = FleetReport::default();
    let (opened, cpu) = (opened.unwrap(), OpenDevice::cpu());
    let never = AtomicBool::new(false);
    let game = erase(ConnectFour::new(0));
    run(game.as_ref(), config, &opened, &cpu, Some(fleet), &never, |event| {
        if let Event::Fleet(report) = event {
            last = report.clone();
        }
    })
    .unwrap();
    last
}

fn folder(path: &TempDir) -> RunFolder {
    RunFolder::open(&path.path().join("run")).unwrap().0
}

/// Asserts that the run took the first of these files in their order.
fn assert_first_taken(files: &[Delivery], place: &TempDir) {
    let order = folder(place).order().unwrap();
    let taken: Vec<FileId> = order.iter().map(|line| line.sent.as_ref().unwrap().id).collect();
    let wanted: Vec<FileId> = files.iter().map(|file| file.sent.id).take(taken.len()).collect();
    assert!(!taken.is_empty());
    assert_eq!(taken, wanted);
}

#[test]
fn each_file_is_taken_once_in_the_order_of_arrival() {
    let (place, config) = (tempfile::tempdir().unwrap(), config(&["run.steps=60"]));
    let files = files(20, &config);
    let twice = files.iter().flat_map(|file| [file.clone(), file.clone()]);
    let supply = Handed::new(twice);
    learn(&place, &config, &supply);
    assert!(supply.published().len() > 1, "{:?}", supply.published());
    assert_first_taken(&files, &place);
    // The second run goes on with the files that the first one did not take.
    let mut longer = config.clone();
    longer.run.steps = 75;
    learn(&place, &longer, &Handed::new(files.clone()));
    assert_first_taken(&files, &place);
}

#[test]
fn no_sample_is_used_more_often_than_was_asked_for() {
    let (place, config) = (tempfile::tempdir().unwrap(), config(&["run.steps=40"]));
    learn(&place, &config, &Handed::new(files(30, &config)));
    let order = folder(&place).order().unwrap();
    let mut samples = 0;
    for line in &order {
        let used = line.step as f64 * 32.0;
        assert!(used <= 2.0 * samples as f64, "{line:?}");
        samples += line.samples;
    }
}

#[test]
fn the_last_step_is_in_a_checkpoint_also_if_no_file_came_after_the_one_before() {
    let place = tempfile::tempdir().unwrap();
    // After a small file a cycle has at most 32 steps, so 46 need two, and the second one ends between two checkpoints.
    let config = config(&["run.steps=40", "run.batch=512", "run.reuse=1", "run.checkpoint=32"]);
    let mut file = files(2, &config);
    let few = file[0].samples.clone();
    while file[0].samples.len() < 23_700 {
        file[0].samples.extend(&few);
    }
    learn(&place, &config, &Handed::new(file));
    for step in [32, 40] {
        let agent = format!("run/checkpoints/step-{step:08}.safetensors");
        assert!(place.path().join(&agent).exists(), "{agent}");
    }
}

#[test]
fn a_learner_that_panics_ends_the_run() {
    let (place, config) = (tempfile::tempdir().unwrap(), config(&["run.steps=60"]));
    let mut bad = files(1, &config);
    let sample = Sample { features: &[u16::MAX], actions: &[0], policy: &[1.0], result: [1.0, 0.0, 0.0], score: 0 };
    bad[0].samples.push(sample); // the network has no such input
    let supply = Handed::new(bad.into_iter().chain(files(20, &config)));
    let (ended, end) = mpsc::channel();
    thread::spawn(move || ended.send(catch_unwind(AssertUnwindSafe(|| learn(&place, &config, &supply))).is_err()));
    assert_eq!(end.recv_timeout(Duration::from_secs(60)), Ok(true), "the run never ends");
}

#[test]
fn files_of_old_weights_are_dropped_and_counted() {
    let place = tempfile::tempdir().unwrap();
    let mut config = config(&["run.steps=60", "fleet.max_age=20"]);
    let mut files = files(40, &config);
    let mut later = files.split_off(20);
    learn(&place, &config, &Handed::new(files));
    for file in later.iter_mut().step_by(2) {
        file.sent.weights = 60;
    }
    config.run.steps = 75;
    let report = learn(&place, &config, &Handed::new(later));
    assert_eq!((report.counted.files, report.counted.stale), (30, 10));
    for line in folder(&place).order().unwrap() {
        let weights = line.sent.unwrap().weights;
        assert!(line.step - weights <= 20, "{weights} {}", line.step);
    }
}
