//! Random histories of files: sent again, delivered again and in any order, acknowledgements lost, learners killed.
//!
//! The server's queue, the inbox and the run are a model in memory. What decides about files is the learner's own.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::{Arrivals, INBOX, Inbox, KeptName, check};
use crate::GameFile;
use jarmo_core::env::SavedGame;
use jarmo_core::eval::Uniform;
use jarmo_core::games::ConnectFour;
use jarmo_core::net::GameVersion;
use jarmo_core::random::{Stream, below, stream};
use jarmo_facade::erase;
use jarmo_learn::config::Config;
use jarmo_learn::run::{Delivery, FileId, Seen, Sent};
use jarmo_selfplay::replay::{Sample, Samples};
use jarmo_selfplay::selfplay::{Counts, Episode, Searched, SelfPlay, SelfPlaySettings};
use rand::Rng;

const HISTORIES: u64 = 10_000;
const EVENTS: usize = 60;
const GAMES: u128 = 12; // few, so that many files hold the same ones

/// A file of games. Its name comes from its content, as that of a real one.
#[derive(Clone, Debug)]
struct File {
    sequence: u64,
    id: FileId,
    games: Vec<FileId>,
}

/// What a thread of the learner has found in a file that it has not yet kept.
struct Checked {
    file: File,
    delivery: Delivery,
}

/// The server, a learner and its disk.
#[derive(Default)]
struct World {
    sent: BTreeSet<FileId>,     // games
    queue: BTreeMap<u64, File>, // not acknowledged
    sequence: u64,
    inbox: BTreeMap<FileId, File>,
    arrivals: Arrivals,
    checked: Vec<Checked>,
    run: Vec<FileId>, // games that were learned from
    saved: (Vec<FileId>, Seen),
}

impl World {
    fn send(&mut self, random: &mut Stream) {
        let first = u128::from(below(random.next_u64(), GAMES as u32));
        let count = u128::from(below(random.next_u64(), 3)) + 1;
        let games: Vec<FileId> = (first..first + count).map(|game| FileId(game % GAMES)).collect();
        self.sent.extend(&games);
        self.sequence += 1;
        let id = FileId(1 << 64 | first << 8 | count);
        self.queue.insert(self.sequence, File { sequence: self.sequence, id, games });
    }

    /// As a thread of the learner checks a file that is delivered, perhaps again.
    fn check(&mut self, file: File) {
        if self.arrivals.has(file.id) {
            self.queue.remove(&file.sequence);
            return;
        }
        let games: Vec<FileId> =
            file.games.iter().copied().filter(|game| self.arrivals.claim(*game, file.id)).collect();
        let delivery = delivery(&file, games);
        self.checked.push(Checked { file, delivery });
    }

    /// What the thread does next: the file is kept, then acknowledged, then handed to the run.
    fn keep(&mut self, Checked { file, delivery }: Checked, is_acknowledged: bool) {
        let is_new = !delivery.games.is_empty();
        if is_new {
            self.inbox.insert(file.id, file.clone());
        }
        if is_acknowledged {
            self.queue.remove(&file.sequence);
        }
        if is_new {
            self.arrivals.add(delivery);
        }
    }

    fn take(&mut self) {
        if let Some(delivery) = self.arrivals.take() {
            self.run.extend(delivery.games);
        }
    }

    fn save(&mut self) {
        self.saved = (self.run.clone(), self.arrivals.seen.clone());
        self.inbox.retain(|id, _| !self.saved.1.contains_key(id));
    }

    /// The learner is killed and resumes from its last checkpoint.
    fn kill(&mut self) {
        self.checked.clear();
        self.run.clone_from(&self.saved.0);
        self.arrivals = Arrivals { seen: self.saved.1.clone(), ..Arrivals::default() };
        let is_missing = |file: &&File| !self.saved.1.contains_key(&file.id);
        let kept: Vec<File> = self.inbox.values().filter(is_missing).cloned().collect();
        for file in kept {
            let games = file.games.iter().copied().filter(|game| self.arrivals.claim(*game, file.id)).collect();
            self.arrivals.add(delivery(&file, games));
        }
    }

    fn check_invariants(&self) {
        let ready = self.arrivals.ready.values();
        assert_eq!(self.arrivals.waiting, ready.clone().map(|delivery| delivery.samples.len()).sum::<usize>());
        let mut seen = BTreeSet::new();
        for game in self.run.iter().chain(ready.flat_map(|delivery| &delivery.games)) {
            assert!(seen.insert(*game), "{game} would be learned twice");
        }
    }
}

fn delivery(file: &File, games: Vec<FileId>) -> Delivery {
    let mut samples = Samples::new();
    for _ in &games {
        samples.push(Sample { features: &[], actions: &[0], policy: &[1.0], result: [1.0, 0.0, 0.0], score: 0 });
    }
    let sent = Sent { id: file.id, sequence: file.sequence, key: String::new(), worker: String::new(), weights: 0 };
    Delivery { sent, games, bytes: 0, samples, counts: Counts::default() }
}

fn pick<T>(from: &[T], random: &mut Stream) -> Option<usize> {
    (!from.is_empty()).then(|| below(random.next_u64(), from.len() as u32) as usize)
}

#[test]
fn no_game_is_lost_or_learned_twice_in_any_history() {
    for history in 0..HISTORIES {
        let mut random = stream(history, 0);
        let mut world = World::default();
        for _ in 0..EVENTS {
            match below(random.next_u64(), 16) {
                0..=3 => world.send(&mut random),
                4..=8 => {
                    let there: Vec<File> = world.queue.values().cloned().collect();
                    if let Some(place) = pick(&there, &mut random) {
                        world.check(there[place].clone());
                    }
                }
                9..=11 => {
                    if let Some(place) = pick(&world.checked, &mut random) {
                        let checked = world.checked.swap_remove(place);
                        let is_acknowledged = below(random.next_u64(), 4) > 0;
                        world.keep(checked, is_acknowledged);
                    }
                }
                12 | 13 => world.take(),
                14 => world.save(),
                _ => world.kill(),
            }
            world.check_invariants();
        }
        // Everything comes to rest: what the server still has is delivered, and the run takes what there is.
        for checked in std::mem::take(&mut world.checked) {
            world.keep(checked, true);
        }
        for file in world.queue.values().cloned().collect::<Vec<_>>() {
            world.check(file);
            if let Some(checked) = world.checked.pop() {
                world.keep(checked, true);
            }
        }
        while !world.arrivals.ready.is_empty() {
            world.take();
            world.check_invariants();
        }
        assert!(world.queue.is_empty());
        let learned: BTreeSet<FileId> = world.run.iter().copied().collect();
        assert_eq!(learned, world.sent, "history {history}: a game is lost");
    }
}

#[test]
fn no_position_is_searched_again_of_a_game_that_was_not_checked() {
    let game = ConnectFour::new(0);
    let settings = SelfPlaySettings { games: 4, simulations: 2, ..Config::default().selfplay };
    let mut play = SelfPlay::new(&game, &settings, vec![Uniform], 1);
    play.keep_episodes(0);
    let mut games = Vec::new();
    while games.is_empty() {
        games.extend(play.round().episodes);
    }
    games.truncate(1);
    // Another file with this game is being checked, and will be found to be bad: it has more searches than actions.
    let search = Searched { policy: vec![0.5, 0.5], expected: [1.0, 0.0, 0.0] };
    let claimed =
        Episode { game: SavedGame { start: None, actions: Vec::new() }, searches: vec![search; 10_000], weights: 0 };
    let other = GameFile::game_id(&claimed);
    games.push(claimed);
    let (run, worker, program) = ("run".to_owned(), String::new(), String::new());
    let file = GameFile { run: run.clone(), origin: GameVersion::of(&game), worker, program, games };
    let bytes = file.to_bytes();
    let name = KeptName { sequence: 1, id: GameFile::id(&bytes), key: String::new() };
    let check = check(&run, erase(game).as_ref(), &settings);
    let (delivery, found) = check(&name, &bytes, Some(0), &|id| id != other).unwrap();
    assert_eq!((delivery.games.len(), found.len()), (1, 8));
}

#[test]
fn a_damaged_batch_is_told_and_a_copy_is_kept() {
    let run = tempfile::tempdir().unwrap();
    let inbox = Inbox::open(run.path()).unwrap();
    let content: [&[u8]; 2] = [b"one", b"two"];
    let names = content.map(|bytes| KeptName { sequence: 1, id: GameFile::id(bytes), key: "key".to_owned() });
    inbox.keep(&[(&names[0], content[0]), (&names[1], content[1])]).unwrap();
    let path = fs::read_dir(run.path().join(INBOX)).unwrap().next().unwrap().unwrap().path();
    let mut bytes = fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&path, &bytes).unwrap();
    let mut copies = Vec::new();
    let kept = inbox.load(|copy| copies.push(copy.to_owned())).unwrap();
    assert_eq!(kept.iter().map(|(_, bytes)| &bytes[..]).collect::<Vec<_>>(), [b"one"]);
    assert_eq!(fs::read(&copies[0]).unwrap(), bytes);
}
