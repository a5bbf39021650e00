//! Damaged, missing and strange files of a run: each is refused by name, or the run says what it does
//! without it. A resume deletes nothing that it does not replace.

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use jarmo::agent_file;
use jarmo::config::Config;
use jarmo::erase;
use jarmo::games::ConnectFour;
use jarmo::net::{AgentFile, NetShape, Provenance, Weights};
use jarmo::observe::Event;
use jarmo::random::stream;
use jarmo::run::{RunFolder, run};
use jarmo::train::OpenDevice;
use tempfile::TempDir;

/// The steps of the run that is damaged, and of the run that goes on from it.
const SAVED: u64 = 40;
const LATER: u64 = 80;

fn config() -> Config {
    super::run::config(&["run.steps=40", "run.reuse=1.25", "evaluation.every=0", "run.checkpoint=20"])
}

/// Files by their path in a folder.
type Files = BTreeMap<PathBuf, Vec<u8>>;

fn read(folder: &Path) -> Files {
    let mut files = Files::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(inner) = folders.pop() {
        for entry in fs::read_dir(inner).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_owned();
                files.insert(name, fs::read(path).unwrap());
            }
        }
    }
    files
}

fn write(folder: &Path, files: &Files) {
    for (name, bytes) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

fn first_agent() -> AgentFile {
    let game = ConnectFour::new(0);
    let net = config().net.size();
    let weights = Weights::random(net, NetShape::of(&game), &mut stream(5, 0));
    AgentFile::new(&game, weights, Provenance::default(), Vec::new())
}

/// The files of a run that was stopped after `SAVED` steps; it started from an agent.
fn saved() -> &'static Files {
    static FILES: OnceLock<Files> = OnceLock::new();
    FILES.get_or_init(|| {
        let home = tempfile::tempdir().unwrap();
        let agent = first_agent();
        let folder = RunFolder::create(home.path(), &config(), Some(&agent)).unwrap();
        super::run::run_quietly(ConnectFour::new(0), &config(), &folder).unwrap();
        drop(folder);
        read(home.path())
    })
}

fn copy_of(files: &Files) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), files);
    home
}

/// Resumes a run until a step. Returns its warnings, and its error if there is one.
fn resume(home: &Path, steps: u64) -> (Vec<String>, Option<String>) {
    let mut warnings = Vec::new();
    let mut resume = || {
        let (folder, mut config) = RunFolder::open(home).map_err(|error| error.to_string())?;
        config.run.steps = steps;
        let (stop, cpu) = (AtomicBool::new(false), OpenDevice::cpu());
        let game = erase(ConnectFour::new(0));
        let ended = run(game.as_ref(), &config, &folder, &cpu, None, &stop, |event| {
            if let Event::Warning(warning) = event {
                warnings.push(warning);
            }
        });
        ended.map(drop).map_err(|error| error.to_string())
    };
    let error = resume().err();
    (warnings, error)
}

/// The weights that a run has learned after `LATER` steps.
fn outcome(home: &Path) -> AgentFile {
    assert_eq!(resume(home, LATER), (Vec::new(), None));
    agent_file::load(&home.join(format!("checkpoints/step-{LATER:08}.safetensors"))).unwrap()
}

/// The only file whose name ends in this.
fn named(files: &Files, end: &str) -> PathBuf {
    let mut found = files.keys().filter(|name| name.to_str().unwrap().ends_with(end));
    let name = found.next().unwrap_or_else(|| panic!("no file {end}"));
    name.clone()
}

/// One bit flipped at several places, the end cut off, and bytes added.
fn damages(whole: &[u8]) -> Vec<Vec<u8>> {
    let flipped = [0, 9, 30, 60, 99].map(|percent| {
        let mut bytes = whole.to_vec();
        bytes[whole.len() * percent / 100] ^= [0x01, 0x80, 0x04][percent % 3];
        bytes
    });
    let last = whole.len() - 1;
    let mut end = whole.to_vec();
    end[last] ^= 0x10;
    let mut all = flipped.to_vec();
    all.extend([
        end,
        whole[..last].to_vec(),
        whole[..last / 2].to_vec(),
        Vec::new(),
        [whole, b"7"].concat(),
        [whole, &[0; 4096]].concat(),
    ]);
    all
}

#[test]
fn every_damaged_file_of_a_run_is_refused_or_reported_by_name() {
    let files = saved();
    let expected = outcome(copy_of(files).path());
    let [mut refused, mut reported, mut same] = [0; 3];
    for (end, is_sealed, count) in [
        ("learner.safetensors", true, usize::MAX),
        ("pending.safetensors", true, usize::MAX),
        ("games.json", true, usize::MAX),
        ("current.json", true, usize::MAX),
        ("replay/00000001.safetensors", true, usize::MAX),
        // These may lose a line break at their end.
        ("metrics.jsonl", false, usize::MAX),
        ("config.toml", false, usize::MAX),
        // A resume does not read these.
        ("manifest.toml", false, 2),
        ("step-00000040.safetensors", false, 2),
    ] {
        let name = named(files, end);
        for (number, bytes) in damages(&files[&name]).into_iter().enumerate().take(count) {
            let home = copy_of(files);
            fs::write(home.path().join(&name), bytes).unwrap();
            let result = catch_unwind(AssertUnwindSafe(|| resume(home.path(), SAVED)));
            let (warnings, error) = result.unwrap_or_else(|_| panic!("{end}, damage {number}"));
            let says = |text: &String| text.contains(name.to_str().unwrap());
            let says = warnings.iter().any(says) || error.iter().any(says);
            if error.is_some() {
                assert!(says, "{end}, damage {number}: {error:?} {warnings:?}");
                refused += 1;
            } else if !warnings.is_empty() {
                assert!(says, "{end}, damage {number}: {warnings:?}");
                reported += 1;
            } else {
                let outcome = outcome(home.path());
                let equal = outcome.weights() == expected.weights();
                assert!(equal, "{end}, damage {number} is believed");
                assert!(!is_sealed, "{end}, damage {number} is not noticed");
                same += 1;
            }
        }
    }
    let counts = format!("{refused} refused, {reported} reported, {same} of the same outcome");
    assert!(refused > 40 && reported > 15 && same < 12, "{counts}");
}

#[test]
fn damaged_lines_of_metrics_are_reported_by_number_and_kept() {
    let files = saved();
    let text = String::from_utf8(files[Path::new("metrics.jsonl")].clone()).unwrap();
    assert!(text.lines().count() >= 2);
    let home = copy_of(files);
    let mut damaged = text.clone().into_bytes();
    damaged[20] = 0xff; // not UTF-8
    fs::write(home.path().join("metrics.jsonl"), &damaged).unwrap();
    let (warnings, error) = resume(home.path(), SAVED);
    assert_eq!(error, None);
    assert!(warnings[0].contains("metrics.jsonl: line 1 is damaged"), "{warnings:?}");
    assert_eq!(fs::read(home.path().join("metrics.jsonl")).unwrap(), damaged);

    let (first, _) = text.split_once('\n').unwrap();
    for (content, message) in [
        (first.to_owned() + "\n", "of 2 lines up to step 40 are missing"),
        (text[..text.len() - 9].to_owned(), "line 2 is damaged"),
    ] {
        fs::write(home.path().join("metrics.jsonl"), content).unwrap();
        let (warnings, error) = resume(home.path(), SAVED);
        assert_eq!(error, None);
        assert!(warnings[0].contains(message), "{warnings:?}");
    }
}

#[test]
fn a_run_without_its_current_state_is_refused_and_keeps_all_its_files() {
    for lost in ["current.json", "learner.safetensors", "games.json", "pending.safetensors"] {
        let mut files = saved().clone();
        files.remove(&named(&files, lost));
        let home = copy_of(&files);
        let (_, error) = resume(home.path(), LATER);
        let error = error.expect(lost);
        assert!(error.contains(&format!("{lost}: missing")), "{error}");
        assert!(error.contains("from its newest agent, "), "{error}");
        assert_eq!(read(home.path()), files);
    }
    let mut files = saved().clone();
    files.retain(|name, _| !name.starts_with("resume"));
    let home = copy_of(&files);
    let (_, error) = resume(home.path(), LATER);
    assert!(error.unwrap().contains("resume/current.json: missing, although there is metrics"));
    assert_eq!(read(home.path()), files);
}

#[test]
fn a_folder_with_a_run_without_settings_is_no_place_for_another() {
    for kept in ["metrics", "checkpoints", "replay", "resume"] {
        let mut files = saved().clone();
        files.retain(|name, _| name.to_str().unwrap().starts_with(kept));
        files.insert("lock".into(), Vec::new());
        let home = copy_of(&files);
        let error = RunFolder::create(home.path(), &config(), None).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("a run without its config.toml: there is "), "{error}");
        assert_eq!(read(home.path()), files);
    }
}

#[test]
fn a_run_killed_before_its_first_checkpoint_starts_again() {
    let home = tempfile::tempdir().unwrap();
    let agent = first_agent();
    drop(RunFolder::create(home.path(), &config(), Some(&agent)).unwrap());
    for name in ["metrics.jsonl", "replay/00000000.safetensors"] {
        fs::write(home.path().join(name), &saved()[Path::new(name)]).unwrap();
    }
    assert_eq!(resume(home.path(), SAVED), (Vec::new(), None));
    let end = Path::new("checkpoints/step-00000040.safetensors");
    let agent = |bytes: &[u8]| AgentFile::from_bytes(bytes).unwrap();
    let (again, expected) = (&read(home.path())[end], &saved()[end]);
    assert_eq!(agent(again).weights(), agent(expected).weights());

    let home = tempfile::tempdir().unwrap();
    let first = agent(&saved()[Path::new("first.safetensors")]);
    drop(RunFolder::create(home.path(), &config(), Some(&first)).unwrap());
    fs::remove_file(home.path().join("first.safetensors")).unwrap();
    let (_, error) = resume(home.path(), SAVED);
    assert!(error.unwrap().contains("first.safetensors: missing, and the run starts from it"));
}

#[test]
fn a_resume_removes_its_own_leftovers_and_no_other_file() {
    let home = copy_of(saved());
    let add = |name: &str| fs::write(home.path().join(name), "something").unwrap();
    let leftovers = ["config.toml.12.tmp", "metrics.jsonl.345.tmp", "resume/current.json.6.tmp"];
    let others = ["notes.tmp", "resume/notes.txt", "replay/notes.1.txt"];
    leftovers.iter().chain(&others).for_each(|name| add(name));
    // A killed process wrote a later agent, whose checkpoint is not complete.
    let newest = home.path().join("checkpoints/step-00000040.safetensors");
    let later = home.path().join("checkpoints/step-00009999.safetensors");
    fs::copy(&newest, &later).unwrap();
    let config = fs::read_to_string(home.path().join("config.toml")).unwrap();
    let one = config.replace("\nkeep = ", "\nkeep = 1 # ");
    assert_ne!(one, config);
    fs::write(home.path().join("config.toml"), one).unwrap();
    let (warnings, error) = resume(home.path(), LATER);
    assert_eq!(error, None);
    let [warning] = &warnings[..] else { panic!("{warnings:?}") };
    assert!(warning.contains("config.toml: run.keep is 1, and was "), "{warning}");
    for name in leftovers {
        assert!(!home.path().join(name).exists(), "{name}");
    }
    for name in others {
        assert!(home.path().join(name).exists(), "{name}");
    }
    assert!(later.exists() && !newest.exists());
    assert!(home.path().join("checkpoints/step-00000080.safetensors").exists());
}

#[test]
fn a_restored_learner_that_could_overflow_is_refused_by_name() {
    let mut files = saved().clone();
    let agent = format!("checkpoints/step-{SAVED:08}.safetensors");
    let agent = AgentFile::from_bytes(&files[Path::new(&agent)]).unwrap();
    let name = named(&files, "learner.safetensors");
    let bytes = files.get_mut(&name).unwrap();
    let average = agent.weights().get("stem.weight").iter().flat_map(|weight| weight.to_le_bytes());
    let average: Vec<u8> = average.collect();
    let place = bytes.windows(average.len()).position(|bytes| bytes == average).unwrap();
    for number in bytes[place..][..average.len()].chunks_exact_mut(4) {
        number.copy_from_slice(&1e30_f32.to_le_bytes());
    }
    jarmo::checksum::seal(bytes);
    let (_, error) = resume(copy_of(&files).path(), LATER);
    let error = error.unwrap();
    assert!(error.contains(name.to_str().unwrap()) && error.contains("overflow"), "{error}");
}

#[test]
fn a_missing_replay_file_is_reported() {
    let mut files = saved().clone();
    files.remove(Path::new("replay/00000000.safetensors")).unwrap();
    let (warnings, error) = resume(copy_of(&files).path(), SAVED);
    assert_eq!(error, None);
    assert!(warnings[0].contains("replay: files are missing: 0;"), "{warnings:?}");
}

#[test]
fn a_file_for_tensorboard_that_fails_is_reported_once_and_the_run_goes_on() {
    let expected = outcome(copy_of(saved()).path());
    let end = format!("checkpoints/step-{LATER:08}.safetensors");
    let mut files = saved().clone();
    files.retain(|name, _| !name.starts_with("tensorboard"));
    for broken_at_first in [true, false] {
        let home = copy_of(&files);
        let events = home.path().join("tensorboard");
        if broken_at_first {
            fs::write(&events, "no folder").unwrap();
        }
        let (folder, mut config) = RunFolder::open(home.path()).unwrap();
        config.run.steps = LATER;
        let mut warnings = Vec::new();
        let (stop, cpu) = (AtomicBool::new(false), OpenDevice::cpu());
        run(erase(ConnectFour::new(0)).as_ref(), &config, &folder, &cpu, None, &stop, |event| match event {
            Event::Warning(warning) => warnings.push(warning),
            Event::Metrics(_) if !broken_at_first => drop(fs::remove_dir_all(&events)),
            _ => {}
        })
        .unwrap();
        let [warning] = &warnings[..] else { panic!("{warnings:?}") };
        assert!(warning.contains("TensorBoard's file cannot be written"), "{warning}");
        assert!(warning.contains(events.to_str().unwrap()), "{warning}");
        let agent = agent_file::load(&home.path().join(&end)).unwrap();
        assert_eq!(agent.weights(), expected.weights());
    }
}

/// With so few open files allowed, some read fails; which one depends on the number.
#[test]
#[cfg(unix)]
fn too_many_open_files_stop_a_resume_and_damage_nothing() {
    let files = saved();
    let jarmo = assert_cmd::cargo::cargo_bin!("jarmo");
    let [mut failed, mut done] = [0; 2];
    for most in 4..16 {
        let home = copy_of(files);
        let script = format!(
            "ulimit -n {most}; exec '{}' train --resume '{}' --steps {SAVED}",
            jarmo.display(),
            home.path().display()
        );
        let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        match output.status.code() {
            Some(0) => done += 1,
            Some(1) => failed += 1,
            other => panic!("{most} files: {other:?}: {said}"),
        }
        assert!(!said.contains("skipped") && !said.contains("damaged"), "{most} files: {said}");
        let left = read(home.path());
        for (name, bytes) in files {
            let kept = left.get(name) == Some(bytes);
            // The name of the folder is in an agent, and the time in the state.
            let is_rewritten = name.starts_with("checkpoints") || name.starts_with("resume");
            assert!(kept || is_rewritten && left.len() >= files.len(), "{most} files: {name:?}");
        }
        assert_eq!(resume(home.path(), SAVED), (Vec::new(), None), "{most} files");
    }
    assert!(failed > 0 && done > 0, "{failed} {done}");
}
