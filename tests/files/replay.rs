//! The replay window: what goes in comes out, damage is noticed, and the oldest make room.

use std::fs;
use std::ops::Range;
use std::path::Path;

use jarmo::games::{Guard, Jarmo};
use jarmo::net::GameVersion;
use jarmo::random::stream;
use jarmo::replay::{ReplaySettings, Sample, Samples, Window};
use jarmo::run::ReplayFolder;

/// The numbers of a sample: its features tell it apart.
struct Row {
    features: [u16; 1],
    actions: Vec<u16>,
    policy: Vec<f32>,
    score: i8,
}

fn row(number: u16) -> Row {
    let actions: Vec<u16> = (0..1 + number % 5).map(|index| 3 * index).collect();
    Row {
        features: [number],
        policy: vec![1.0 / actions.len() as f32; actions.len()],
        actions,
        score: (number % 21) as i8 - 10,
    }
}

impl Row {
    fn sample(&self) -> Sample<'_> {
        Sample {
            features: &self.features,
            actions: &self.actions,
            policy: &self.policy,
            result: [0.5, 0.25, 0.25],
            score: self.score,
        }
    }
}

fn samples(numbers: Range<u16>) -> Samples {
    let mut samples = Samples::new();
    for number in numbers {
        samples.push(row(number).sample());
    }
    samples
}

fn origin() -> GameVersion {
    GameVersion::of(&Jarmo::standard())
}

fn open(folder: &Path, capacity: usize, files: Range<u64>) -> (ReplayFolder, Window, Vec<String>) {
    let settings = ReplaySettings { capacity };
    ReplayFolder::open(folder, settings, origin(), files).unwrap()
}

fn numbers(window: &Window) -> Vec<u16> {
    window.iter().map(|sample| sample.features[0]).collect()
}

#[test]
fn samples_come_back_from_their_bytes() {
    for count in [0, 1, 100] {
        let written = samples(0..count);
        let read = Samples::from_bytes(&written.to_bytes(&origin()), &origin()).unwrap();
        assert_eq!(read, written);
        for (sample, number) in read.iter().zip(0..) {
            assert_eq!(sample, row(number).sample());
        }
    }
    let mut together = samples(0..40);
    together.extend(&samples(40..100));
    assert_eq!(together, samples(0..100));
}

#[test]
fn every_damaged_byte_is_noticed() {
    let whole = samples(0..50).to_bytes(&origin());
    for cut in 0..whole.len() {
        assert!(Samples::from_bytes(&whole[..cut], &origin()).is_err(), "{cut}");
    }
    for place in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[place] ^= 0x10;
        let read = Samples::from_bytes(&damaged, &origin());
        assert!(read.is_err(), "byte {place}");
    }
}

#[test]
fn samples_of_something_else_are_refused() {
    let bytes = samples(0..5).to_bytes(&origin());
    let error = Samples::from_bytes(&bytes, &GameVersion::of(&Guard::standard())).unwrap_err();
    assert!(error.to_string().starts_with("it is for jarmo, not for guard"));
    let newer = GameVersion { encoder_version: 7, ..origin() };
    assert!(Samples::from_bytes(&bytes, &newer).is_err());
    let mut impossible = samples(0..3);
    impossible.push(Sample { features: &[9999], ..row(3).sample() });
    let mut overconfident = samples(0..3);
    overconfident.push(Sample { result: [1.5, 0.0, -0.5], ..row(3).sample() });
    for wrong in [impossible, overconfident] {
        let error = Samples::from_bytes(&wrong.to_bytes(&origin()), &origin()).unwrap_err();
        assert_eq!(error.to_string(), "its numbers are no samples of this game");
    }
}

#[test]
fn the_oldest_files_make_room_and_the_rest_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let (mut replay, mut window, _) = open(folder.path(), 25, 0..0);
    assert!(window.is_empty());
    for start in (0..50).step_by(10) {
        window.push(samples(start..start + 10));
    }
    window.push(Samples::new());
    // Three files hold at least 25 samples; a fourth is not needed.
    assert_eq!(numbers(&window), (20..50).collect::<Vec<_>>());
    assert_eq!(window.len(), 30);
    // Two files entered and left the window before it was written.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    replay.save(&window).unwrap();
    let mut files: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    assert_eq!(files, ["00000002.safetensors", "00000003.safetensors", "00000004.safetensors"]);
    let (mut replay, mut again, warnings) = open(folder.path(), 25, 2..5);
    assert!(warnings.is_empty());
    assert_eq!(numbers(&again), numbers(&window));
    again.push(samples(50..60));
    assert_eq!(numbers(&again), (30..60).collect::<Vec<_>>());
    replay.save(&again).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
    replay.tidy(&again).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    let (mut replay, smaller, _) = open(folder.path(), 10, 3..6);
    assert_eq!(numbers(&smaller), (50..60).collect::<Vec<_>>());
    replay.tidy(&smaller).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_window_goes_back_to_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let (mut replay, mut window, _) = open(folder.path(), 25, 0..0);
    for start in [0, 10, 20] {
        window.push(samples(start..start + 10));
    }
    let (then, files) = (numbers(&window), window.first()..window.next());
    replay.save(&window).unwrap();
    for start in [30, 40, 50] {
        window.push(samples(start..start + 10));
    }
    replay.save(&window).unwrap();
    let (_, again, warnings) = open(folder.path(), 25, files.clone());
    assert!(warnings.is_empty());
    assert_eq!(numbers(&again), then);
    assert_eq!(again.next(), files.end);
}

#[test]
fn a_damaged_file_is_skipped_with_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let (mut replay, mut window, _) = open(folder.path(), 100, 0..0);
    for start in [0, 10, 20] {
        window.push(samples(start..start + 10));
    }
    replay.save(&window).unwrap();
    let damaged = folder.path().join("00000001.safetensors");
    let bytes = fs::read(&damaged).unwrap();
    fs::write(&damaged, &bytes[..bytes.len() / 2]).unwrap();
    fs::write(folder.path().join("notes.txt"), "not ours").unwrap();
    let (mut replay, mut again, warnings) = open(folder.path(), 100, 0..3);
    assert_eq!(numbers(&again), [0..10, 20..30].into_iter().flatten().collect::<Vec<_>>());
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].contains("00000001.safetensors: not a complete safetensors file"), "{warnings:?}");
    assert!(warnings[0].ends_with("; skipped"));
    fs::remove_file(&damaged).unwrap();
    let (_, _, warnings) = open(folder.path(), 100, 0..3);
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].contains("files are missing: 1;"), "{warnings:?}");
    again.push(samples(30..40));
    replay.save(&again).unwrap();
    assert!(folder.path().join("00000003.safetensors").exists());
}

#[test]
fn every_sample_of_the_window_is_drawn_equally_often() {
    let mut window = Window::new(ReplaySettings { capacity: 1000 }, 0);
    window.push(samples(0..50));
    window.push(samples(50..200));
    let mut stream = stream(1, 0);
    let draws = 40_000;
    let mut counts = [0; 4]; // of 50 samples each, 200 +- 14 times a sample
    for _ in 0..draws {
        counts[usize::from(window.draw(&mut stream).features[0]) / 50] += 1;
    }
    assert!(counts.iter().all(|&count: &i32| (count - draws / 4).abs() < 400), "{counts:?}");
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let settings = ReplaySettings { capacity: 1 };
    let error = ReplayFolder::open(&file.join("replay"), settings, origin(), 0..0).err().unwrap();
    assert!(error.to_string().contains("replay"), "{error}");
}
