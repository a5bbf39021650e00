//! Random histories of the values that learners write for a run: leases and the current run. Learners start in the
//! run's folder and in a copy of it, are killed and paused; values are lost, damaged, written late or again.
//!
//! The server and the time are a model. What decides is the learners' own.

use super::Lease;
use crate::places::Listed;
use crate::status::LEARNER;
use crate::supply::{LEAVES_AFTER, is_free};
use jarmo_core::random::{Stream, below, stream};
use rand::Rng;

const HISTORIES: u64 = 10_000;
const EVENTS: usize = 80;
const FOLDERS: [(&str, &str); 3] = [("one", "here"), ("one", "a copy"), ("two", "elsewhere")]; // run and place

/// A value in a bucket.
#[derive(Clone, Debug, Default)]
struct Entry {
    value: Option<String>,
    revision: u64,
}

impl Entry {
    fn put(&mut self, value: Option<String>) {
        *self = Entry { value, revision: self.revision + 1 };
    }

    fn bytes(&self) -> &[u8] {
        self.value.as_deref().unwrap_or_default().as_bytes()
    }
}

#[derive(Default)]
struct Learner {
    lease: Option<Lease>,
    taking: Option<(Lease, u64)>, // begins, and has seen this revision
    late: Option<String>,         // a lease that it has sent and that has not arrived
    begun: f64,
    is_lost: bool,
}

#[derive(Default)]
struct World {
    now: f64,
    holder: u64,
    leases: [Entry; 2], // of the runs
    current: Entry,
    heard: [Option<f64>; 2], // the last sign of life of a run
    learners: [Learner; 3],
    written: Vec<(usize, String)>, // leases, by their runs
}

fn run_of(folder: usize) -> usize {
    usize::from(FOLDERS[folder].0 == "two")
}

fn text(lease: &Lease) -> String {
    serde_json::to_string(lease).unwrap()
}

impl World {
    fn lives(&self) -> Vec<Listed> {
        let life = |(run, heard): (&str, Option<f64>)| {
            let age = self.now - heard?;
            Some(Listed { of: LEARNER.to_owned(), name: run.to_owned(), content: Vec::new(), age })
        };
        ["one", "two"].into_iter().zip(self.heard).filter_map(life).collect()
    }

    /// The first half of [`Lease::take`].
    fn begin(&mut self, folder: usize) {
        let (run, place) = FOLDERS[folder];
        let entry = &self.leases[run_of(folder)];
        self.holder += 1;
        let [run, place, key] = [run, place, ""].map(str::to_owned);
        let ours = Lease { holder: self.holder, run, folder: place.clone(), place, key };
        if entry.value.is_none() || ours.rival(entry.bytes(), &self.lives()).is_none() {
            let revision = entry.revision;
            self.learners[folder] = Learner { taking: Some((ours, revision)), ..Learner::default() };
        }
    }

    /// The second half: the server writes the lease only if nobody has written since.
    fn take(&mut self, folder: usize) {
        let run = run_of(folder);
        let Some((ours, revision)) = self.learners[folder].taking.take() else {
            return;
        };
        if self.leases[run].revision == revision {
            self.leases[run].put(Some(text(&ours)));
            self.written.push((run, text(&ours)));
            self.current.put(Some(ours.run.clone()));
            self.heard[run] = Some(self.now);
            self.learners[folder] = Learner { lease: Some(ours), begun: self.now, ..Learner::default() };
        }
    }

    /// The server takes what a learner has sent before, also if the learner was killed since then.
    fn arrive(&mut self, folder: usize) {
        if let Some(lease) = self.learners[folder].late.take() {
            self.leases[run_of(folder)].put(Some(lease));
        }
    }

    /// As a learner gives signs of life and looks at the server.
    fn look(&mut self, folder: usize, is_late: bool) {
        self.arrive(folder); // one connection keeps the order
        let run = run_of(folder);
        let learner = &mut self.learners[folder];
        let Some(ours) = learner.lease.as_ref().filter(|_| !learner.is_lost) else {
            return;
        };
        match ours.is_in(self.leases[run].bytes()) {
            Some(false) => {
                learner.is_lost = true;
                return;
            }
            Some(true) => {}
            None => {
                learner.late = Some(text(ours));
                if is_late {
                    return; // it waits for the answer
                }
            }
        }
        let (name, begun) = (ours.run.clone(), learner.begun);
        self.arrive(folder);
        self.heard[run] = Some(self.now);
        let current = self.current.value.as_deref().map(str::as_bytes);
        if is_free(current, &self.lives()) && self.now - begun > LEAVES_AFTER {
            self.current.put(Some(name));
        }
    }

    fn is_learning(&self, folder: usize) -> bool {
        let learner = &self.learners[folder];
        learner.lease.is_some() && !learner.is_lost
    }

    fn event(&mut self, random: &mut Stream) {
        let mut draw = |bound: usize| below(random.next_u64(), bound as u32) as usize;
        let folder = draw(FOLDERS.len());
        match draw(16) {
            // The lock of a folder keeps a second learner out.
            0 | 1 if self.learners[folder].lease.is_none() => self.begin(folder),
            2 | 3 => self.take(folder),
            4..=8 => self.look(folder, draw(4) == 0),
            9 => {
                // Killed; what it sent may still be on its way.
                self.learners[folder] = Learner { late: self.learners[folder].late.take(), ..Learner::default() };
            }
            10 => self.arrive(folder),
            11 => {
                let garbage = [None, Some("{}"), Some(""), Some("{\"total\":0}")][draw(4)];
                self.leases[run_of(folder)].put(garbage.map(str::to_owned));
            }
            12 => self.current.put([None, Some("other"), Some("")][draw(3)].map(str::to_owned)),
            13 if !self.written.is_empty() && draw(4) == 0 => {
                let (run, lease) = self.written[draw(self.written.len())].clone();
                self.leases[run].put(Some(lease)); // a server that comes back with an old disk
            }
            _ => self.now += [0.5, 2.0, 8.0, 15.0][draw(4)],
        }
    }
}

#[test]
fn in_every_history_a_run_has_one_learner_and_workers_find_one_that_lives() {
    let [mut copies, mut losses] = [0; 2];
    for history in 0..HISTORIES {
        let mut random = stream(history, 3);
        let mut world = World::default();
        for _ in 0..EVENTS {
            world.event(&mut random);
        }
        copies += u32::from(world.is_learning(0) && world.is_learning(1));
        assert!(!world.learners[2].is_lost, "history {history}: a run without a copy lost its learner");
        // Everything comes to rest: what was sent arrives, no learner begins, and those that live look again and again.
        for folder in 0..FOLDERS.len() {
            world.arrive(folder);
            world.learners[folder].taking = None;
        }
        let before = [0, 1, 2].map(|folder| world.is_learning(folder));
        for _ in 0..8 {
            world.now += 2.0;
            (0..FOLDERS.len()).for_each(|folder| world.look(folder, false));
        }
        let after = [0, 1, 2].map(|folder| world.is_learning(folder));
        assert!(!(after[0] && after[1]), "history {history}: a run has two learners");
        for (run, folders) in [(0, 0..2), (1, 2..3)] {
            let holder = &world.leases[run];
            for folder in folders.filter(|folder| after[*folder]) {
                let lease = world.learners[folder].lease.as_ref().unwrap();
                assert_eq!(
                    lease.is_in(holder.bytes()),
                    Some(true),
                    "history {history}: {folder} learns without a lease"
                );
            }
        }
        losses += u32::from(before != after);
        if after.contains(&true) {
            let current = world.current.value.as_deref();
            let living = (0..FOLDERS.len()).filter(|folder| after[*folder]).map(|folder| FOLDERS[folder].0);
            let found = living.clone().any(|run| Some(run) == current);
            assert!(
                found,
                "history {history}: workers play for {current:?}, and {:?} live",
                living.collect::<Vec<_>>()
            );
        }
    }
    assert!(copies > 100 && losses > 100, "{copies} with two learners at once, {losses} in which one stops");
}
