//! A training run: stopped and resumed it equals a run that was never stopped. Problems with its folder give
//! clear errors and lose nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use assert_cmd::Command;
use jarmo::TrainError;
use jarmo::agent_file;
use jarmo::catalog::CatalogGame;
use jarmo::config::{Base, Config};
use jarmo::erase;
use jarmo::games::{ConnectFour, Tammi};
use jarmo::net::{AgentFile, FrozenNet, KernelKind, Weights};
use jarmo::observe::{Event, Metrics, Timing};
use jarmo::replay::{Sample, Samples, Window};
use jarmo::run::{Ended, RunFolder, newest_agent, open_exam, run};
use jarmo::train::{Learner, OpenDevice, Player, Trainer, first_weights, turn};
use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;

pub(crate) fn config(settings: &[&str]) -> Config {
    let small = [
        "game.name=connect_four",
        "net.width=32",
        "net.blocks=1",
        "selfplay.games=96",
        "selfplay.simulations=4",
        "replay.capacity=9000",
        "run.threads=1",
        "run.kernel=int8",
        "run.batch=256",
        "run.first_samples=4096",
        "run.reuse=2.5",
        "run.checkpoint=50",
        "learner.warm_up=10",
        "evaluation.every=60",
        "evaluation.games=4",
        "evaluation.simulations=4",
        "evaluation.opponents=['rollout:8', 'random']",
    ];
    let settings: Vec<String> = [&small, settings].concat().iter().map(|&s| s.to_owned()).collect();
    Config::layered(&Base::default(), &[], &settings).unwrap()
}

/// Runs until a limit, or until there are `stop_after` lines of metrics.
fn train(folder: &RunFolder, config: &Config, stop_after: usize) -> Ended {
    let stop = AtomicBool::new(false);
    let mut lines = 0;
    let cpu = OpenDevice::cpu();
    run(erase(ConnectFour::new(0)).as_ref(), config, folder, &cpu, None, &stop, |event| {
        if let Event::Metrics(_) = event {
            lines += 1;
            stop.store(lines >= stop_after, std::sync::atomic::Ordering::Relaxed);
        }
    })
    .unwrap()
}

pub(crate) fn run_quietly<G: CatalogGame>(game: G, config: &Config, folder: &RunFolder) -> Result<Ended, TrainError> {
    let stop = AtomicBool::new(false);
    run(erase(game).as_ref(), config, folder, &OpenDevice::cpu(), None, &stop, |_| ())
}

/// The metrics of a run without those that depend on the clock.
fn metrics(path: &Path) -> Vec<Metrics> {
    let text = fs::read_to_string(path.join("metrics.jsonl")).unwrap();
    let lines = text.lines().map(|line| {
        let mut metrics: Metrics = serde_json::from_str(line).unwrap();
        metrics.timing = Timing::default();
        metrics
    });
    lines.collect()
}

fn newest(folder: &RunFolder) -> AgentFile {
    agent_file::load(&newest_agent(folder.path()).unwrap()).unwrap()
}

#[test]
fn the_inner_loop_alone_learns_what_a_run_learns() {
    let home = tempfile::tempdir().unwrap();
    let config = config(&["evaluation.every=0", "evaluation.exam=none", "run.steps=130"]);
    let folder = RunFolder::create(home.path(), &config, None).unwrap();
    train(&folder, &config, usize::MAX);

    let (mut player, mut trainer) = inner_loop(&config);
    while trainer.learner.steps() < 130 {
        turn(&mut player, &mut trainer, playing).unwrap();
    }
    assert_eq!(trainer.learner.steps(), 130);
    assert!(newest(&folder).weights() == trainer.learner.average());
}

/// What a new run of connect four plays and learns with.
fn inner_loop(config: &Config) -> (Player, Trainer) {
    let (game, cpu) = (erase(ConnectFour::new(0)), OpenDevice::cpu());
    let (facts, seed) = (game.facts(), config.run.seed);
    let weights = first_weights(&config.net.of(game.as_ref()), facts.version.shape, None, seed, &cpu).unwrap();
    let player = Player::new(game.self_play(&config.selfplay, &playing(&weights).into(), 1, seed));
    let learner = Learner::new(config.learner, weights, &cpu);
    let window = Window::new(config.replay, 0);
    (player, Trainer::new(config.run.trainer(), facts.mirror.clone(), learner, window, 0.0))
}

fn playing(weights: &Weights) -> FrozenNet {
    FrozenNet::with_kernel(weights, KernelKind::Int8)
}

#[test]
fn every_sample_is_used_as_often_as_the_settings_say() {
    let config = config(&["selfplay.games=4000", "selfplay.simulations=2"]);
    let (mut player, mut trainer) = inner_loop(&config);
    turn(&mut player, &mut trainer, playing).unwrap();
    let samples = trainer.window.len();
    assert!(samples > 4096);
    let due = |samples: usize| 2.5 * samples as f64 / 256.0;
    assert_eq!((trainer.owed, trainer.steps_due()), (due(samples), due(samples) as u64));
    // One cycle takes at least all steps of a large file.
    let mut large = Samples::new();
    for _ in 0..20_000 {
        large.push(Sample { features: &[0], actions: &[0], policy: &[1.0], result: [1.0, 0.0, 0.0], score: 0 });
    }
    trainer.add(large, 20_000);
    assert!(trainer.steps_due() >= due(20_000) as u64);
}

#[test]
fn the_folder_names_the_kernel_that_plays() {
    let home = tempfile::tempdir().unwrap();
    let weights = |kernel: &str| {
        let path = home.path().join(kernel);
        let kernel = format!("run.kernel={kernel}");
        let config = config(&["run.steps=20", "evaluation.every=0", &kernel]);
        let folder = RunFolder::create(&path, &config, None).unwrap();
        train(&folder, &config, usize::MAX);
        let weights = newest(&folder).weights().clone();
        drop(folder);
        (RunFolder::open(&path).unwrap().1.run.kernel, weights)
    };
    let (fastest, fast) = weights("fastest");
    assert_eq!(fastest, Some(KernelKind::best()));
    let (portable, slow) = weights("portable");
    assert_eq!(portable, Some(KernelKind::Portable));
    assert_eq!(fast == slow, KernelKind::best() == KernelKind::Portable);
}

#[test]
fn a_stopped_and_resumed_run_equals_one_that_never_stopped() {
    let home = tempfile::tempdir().unwrap();
    let config = config(&["run.steps=160"]);
    let whole = home.path().join("whole");
    let folder = RunFolder::create(&whole, &config, None).unwrap();
    assert_eq!(train(&folder, &config, usize::MAX), Ended::Limit);
    let expected = metrics(&whole);
    assert_eq!(expected.last().unwrap().step, 160);
    assert!(expected.len() >= 4);
    let strengths: Vec<_> = expected.iter().filter_map(|line| line.strength.as_ref()).collect();
    assert!(!strengths.is_empty());
    for (strength, before) in strengths.iter().zip(0..) {
        assert!(strength.elo_low < strength.elo && strength.elo < strength.elo_high);
        assert_eq!(strength.anchor, "rollout:8");
        let opponents: Vec<&str> = strength.matches.iter().map(|one| &*one.opponent).collect();
        assert_eq!(opponents[..2], ["rollout:8", "random"]);
        // Earlier checkpoints are among the opponents.
        assert_eq!(opponents.len(), 2 + before.min(2), "{opponents:?}");
        assert!(strength.matches.iter().all(|one| one.results.games() == 4));
    }
    for line in &expected {
        assert!((0.0..=1.0).contains(&line.policy_accuracy) && line.policy_entropy > 0.0);
        assert!(line.loss_policy >= line.target_entropy - 1e-3);
        assert!((0.0..=1.0).contains(&line.batch_fill) && line.batch_fill > 0.1);
        let shares = &line.per_game;
        let all = shares.white + shares.black + shares.drawn;
        assert!((all - 1.0).abs() < 1e-9 || line.new_games == 0);
        let predicted: f64 = line.calibration.iter().map(|bin| bin.rows).sum();
        assert!(predicted >= 256.0, "{predicted}");
    }

    let parts = home.path().join("parts");
    let first = RunFolder::create(&parts, &config, None).unwrap();
    assert_eq!(train(&first, &config, 1), Ended::Stopped);
    drop(first);
    assert!(metrics(&parts).len() < expected.len());
    // As if killed after a checkpoint: later output does not count.
    fs::write(parts.join("replay/00000099.safetensors"), "half a file").unwrap();
    let unfinished = parts.join("checkpoints/step-00000099.safetensors.1.tmp");
    fs::write(&unfinished, "half a file").unwrap();
    let stray = fs::read_to_string(whole.join("metrics.jsonl")).unwrap();
    let mut text = fs::read_to_string(parts.join("metrics.jsonl")).unwrap();
    text += &format!("{}\n{{\"step\":", stray.lines().last().unwrap());
    fs::write(parts.join("metrics.jsonl"), text).unwrap();

    for stop_after in [1, usize::MAX] {
        let (folder, kept) = RunFolder::open(&parts).unwrap();
        assert_eq!(kept, config);
        train(&folder, &kept, stop_after);
    }
    assert_eq!(metrics(&parts), expected);
    let state = |run: &Path, folder: &str| {
        let files = fs::read_dir(run.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<_> = files.filter(|path| !path.ends_with("current.json")).collect(); // it has the time
        files.sort();
        let content = |path: PathBuf| (path.strip_prefix(run).unwrap().to_owned(), fs::read(&path).unwrap());
        files.into_iter().map(content).collect::<Vec<_>>()
    };
    for folder in ["resume", "replay"] {
        let (expected, found) = (state(&whole, folder), state(&parts, folder));
        assert!(expected.len() >= 2, "{folder}");
        for ((path, expected), (other, found)) in expected.iter().zip(&found) {
            assert_eq!(path, other);
            assert!(expected == found, "{} differs", path.display());
        }
        assert_eq!(expected.len(), found.len());
    }
    assert!(!unfinished.exists());
    let (parts, _) = RunFolder::open(&parts).unwrap();
    assert_eq!(newest(&parts).weights(), newest(&folder).weights());
    assert_eq!(newest(&parts).header().provenance.step, 160);
}

#[test]
fn the_first_matches_are_played_at_the_first_checkpoint() {
    let home = tempfile::tempdir().unwrap();
    let config = config(&["run.steps=130", "run.checkpoint=20", "evaluation.every=100"]);
    assert_eq!(config.first_matches(), Some(20));
    let folder = RunFolder::create(&home.path().join("run"), &config, None).unwrap();
    let stop = AtomicBool::new(false);
    let cpu = OpenDevice::cpu();
    let mut steps = Vec::new();
    run(erase(ConnectFour::new(0)).as_ref(), &config, &folder, &cpu, None, &stop, |event| {
        if let Event::Strength(strength) = event {
            steps.push(strength.step);
        }
    })
    .unwrap();
    // A turn has a few dozen steps, so matches may come a little later.
    let [first, second, ..] = steps[..] else {
        panic!("two matches and a final one, not those of {steps:?}");
    };
    assert!((20..60).contains(&first) && (100..=130).contains(&second), "{steps:?}");
}

#[test]
fn a_run_that_ends_at_a_limit_rates_its_newest_weights() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("run");
    let ended_at = |steps: u64| {
        let config = config(&[&format!("run.steps={steps}"), "evaluation.past=5", "evaluation.every=1000"]);
        let folder = match path.exists() {
            false => RunFolder::create(&path, &config, None).unwrap(),
            true => RunFolder::open(&path).unwrap().0,
        };
        let (stop, cpu) = (AtomicBool::new(false), OpenDevice::cpu());
        let (mut rated, mut last) = (Vec::new(), Vec::new());
        let ended =
            run(erase(ConnectFour::new(0)).as_ref(), &config, &folder, &cpu, None, &stop, |event| match event {
                Event::Strength(strength) => rated.push(strength.clone()),
                Event::FinalMatch(step) => {
                    assert_eq!(saved_step(&path), Some(step), "a kill during the match loses nothing");
                    last.push(step);
                }
                _ => {}
            });
        assert_eq!(ended.unwrap(), Ended::Limit);
        (rated, last)
    };
    let (rated, last) = ended_at(90);
    assert_eq!(last, [90]);
    let newest = rated.last().unwrap();
    assert_eq!(newest.step, 90);
    let line = metrics(&path).pop().unwrap();
    assert_eq!(line.final_match.as_ref(), Some(newest));
    // They also take the exam, which was last due at step 50.
    let config = config(&[]);
    let exam = open_exam(erase(ConnectFour::new(0)).as_ref(), &config.evaluation).unwrap().unwrap();
    let agent = agent_file::load(&newest_agent(&path).unwrap()).unwrap();
    let score = exam.score(&FrozenNet::with_kernel(agent.weights(), KernelKind::Int8), 1);
    assert_eq!((agent.header().provenance.step, line.accuracy), (90, Some(score)));
    // The weights are rated, so there is nothing to do.
    assert_eq!(ended_at(90), (Vec::new(), Vec::new()));
    // What the run does later does not depend on the final match.
    let (rated, last) = ended_at(150);
    assert_eq!(last, [150]);
    let opponents = rated.iter().flat_map(|strength| strength.matches.iter().filter_map(|one| one.step));
    let opponents: Vec<u64> = opponents.collect();
    assert!(!opponents.is_empty() && !opponents.contains(&90), "{opponents:?}");
}

#[test]
fn a_final_match_has_as_many_games_as_the_time_allows() {
    let home = tempfile::tempdir().unwrap();
    // All games would take minutes.
    let slow = ["run.minutes=0.15", "evaluation.every=1000000", "run.checkpoint=1000000", "evaluation.games=20000"];
    let config = config(&slow);
    let folder = RunFolder::create(&home.path().join("run"), &config, None).unwrap();
    let (stop, cpu) = (AtomicBool::new(false), OpenDevice::cpu());
    let mut games = Vec::new();
    run(erase(ConnectFour::new(0)).as_ref(), &config, &folder, &cpu, None, &stop, |event| {
        if let Event::Strength(strength) = event {
            games.extend(strength.matches.iter().map(|one| one.results.games()));
        }
    })
    .unwrap();
    assert!(games.len() >= 2 && games.iter().all(|games| (20..20_000).contains(games)), "{games:?}");
}

#[test]
fn matches_at_the_end_of_a_run_are_kept() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("run");
    let config = config(&["run.steps=60"]);
    let folder = RunFolder::create(&path, &config, None).unwrap();
    assert_eq!(train(&folder, &config, usize::MAX), Ended::Limit);
    let last = metrics(&path).pop().unwrap();
    assert_eq!(last.strength.as_ref().unwrap().step, 60);

    let stop = AtomicBool::new(false);
    let cpu = OpenDevice::cpu();
    let mut played = 0;
    let game = erase(ConnectFour::new(0));
    let ended = run(game.as_ref(), &config, &folder, &cpu, None, &stop, |event| {
        played += u32::from(matches!(event, Event::Strength(_)));
    });
    assert_eq!((ended.unwrap(), played), (Ended::Limit, 0));
    assert_eq!(metrics(&path).pop().unwrap(), last);
}

#[test]
fn a_resumed_run_shows_its_curves_again_and_plays_without_a_checkpoint_that_is_gone() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("run");
    let mut config = config(&["run.steps=130", "evaluation.past=3"]);
    let folder = RunFolder::create(&path, &config, None).unwrap();
    assert_eq!(train(&folder, &config, usize::MAX), Ended::Limit);
    let played = |path: &Path| {
        let lines = metrics(path).into_iter();
        let strengths = lines.filter_map(|line| line.strength);
        strengths.collect::<Vec<_>>()
    };
    let before = played(&path);
    let earlier = before[0].matches.iter().find_map(|one| one.step);
    let earlier = earlier.expect("the second matches are against the first checkpoint");
    let gone = path.join(format!("checkpoints/step-{earlier:08}.safetensors"));
    fs::remove_file(&gone).unwrap();

    config.run.steps = 200;
    let (stop, cpu) = (AtomicBool::new(false), OpenDevice::cpu());
    let (mut warnings, mut shown) = (Vec::new(), 0);
    let game = erase(ConnectFour::new(0));
    let ended = run(game.as_ref(), &config, &folder, &cpu, None, &stop, |event| match event {
        Event::Warning(warning) => warnings.push(warning),
        Event::Resumed { step, lines, .. } => {
            assert_eq!(step, 130);
            let strengths = lines.iter().filter_map(|line| line.strength.clone());
            assert_eq!(strengths.collect::<Vec<_>>(), before);
            shown += lines.len();
        }
        _ => {}
    });
    assert_eq!(ended.unwrap(), Ended::Limit);
    assert!(shown >= 1, "{shown}");
    let [warning] = &warnings[..] else {
        panic!("one warning, not {warnings:?}");
    };
    let name = gone.display().to_string();
    assert!(warning.starts_with(&name) && warning.ends_with("the matches are played without it"), "{warning}");
    let after = played(&path).pop().unwrap();
    let opponents: Vec<_> = after.matches.iter().filter_map(|one| one.step).collect();
    assert!(!opponents.is_empty() && !opponents.contains(&earlier), "{opponents:?}");
}

#[test]
fn steps_for_the_first_samples_are_spread_over_several_turns() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("run");
    let config = config(&[
        "replay.capacity=30000",
        "run.first_samples=24576",
        "run.reuse=0.5",
        "run.batch=64",
        "run.steps=192",
        "evaluation.every=0",
    ]);
    let folder = RunFolder::create(&path, &config, None).unwrap();
    assert_eq!(train(&folder, &config, usize::MAX), Ended::Limit);
    let steps: Vec<u64> = metrics(&path).iter().map(|line| line.step).collect();
    assert_eq!(steps, [128, 192]);
}

#[test]
fn only_the_newest_checkpoints_and_those_that_played_are_kept() {
    let home = tempfile::tempdir().unwrap();
    let config = config(&["run.steps=240", "run.checkpoint=20", "run.keep=2"]);
    let folder = RunFolder::create(home.path(), &config, None).unwrap();
    train(&folder, &config, usize::MAX);
    let count = |name: &str| fs::read_dir(home.path().join(name)).unwrap().count();
    let lines = metrics(home.path());
    let strengths = lines.iter().filter_map(|line| line.strength.as_ref());
    let played: Vec<u64> = strengths.map(|strength| strength.step).collect();
    assert!(played.len() >= 2, "{played:?}");
    for step in &played {
        let name = format!("checkpoints/step-{step:08}.safetensors");
        assert!(home.path().join(name).exists(), "{step}");
    }
    let kept = count("checkpoints");
    assert!((2..=2 + played.len()).contains(&kept), "{kept} of {played:?}");
    assert_eq!(count("resume"), 4);
    // The window needs 9000 samples of at least 4096 a file.
    assert!(count("replay") <= 3, "{}", count("replay"));
}

#[test]
fn a_loss_that_explodes_stops_the_run_and_keeps_its_checkpoint() {
    let home = tempfile::tempdir().unwrap();
    let mut config = config(&["run.steps=40"]);
    let folder = RunFolder::create(home.path(), &config, None).unwrap();
    train(&folder, &config, usize::MAX);
    let before = fs::read(newest_agent(folder.path()).unwrap()).unwrap();
    config.run.steps = 200;
    config.learner.rate = 1000.0;
    let error = run_quietly(ConnectFour::new(0), &config, &folder).unwrap_err();
    assert!(error.to_string().contains("above 100; lower learner.rate"), "{error}");
    assert_eq!(fs::read(newest_agent(folder.path()).unwrap()).unwrap(), before);
}

#[test]
fn weights_that_could_overflow_stop_the_run_and_keep_its_checkpoint() {
    let home = tempfile::tempdir().unwrap();
    let mut config = config(&["run.steps=40"]);
    let folder = RunFolder::create(home.path(), &config, None).unwrap();
    train(&folder, &config, usize::MAX);
    let before = fs::read(newest_agent(folder.path()).unwrap()).unwrap();
    config.run.steps = 200;
    for rate in [1e20, f32::MAX] {
        config.learner.rate = rate;
        let error = run_quietly(ConnectFour::new(0), &config, &folder).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("lower learner.rate"), "{error}");
        assert_eq!(fs::read(newest_agent(folder.path()).unwrap()).unwrap(), before);
    }
}

#[test]
fn a_folder_in_use_or_of_another_game_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let config = config(&["run.steps=20"]);
    let folder = RunFolder::create(home.path(), &config, None).unwrap();
    let message = |error: jarmo::TrainError| error.to_string();
    let held = message(RunFolder::open(home.path()).unwrap_err());
    assert!(held.contains("another process is training in this folder"), "{held}");
    let again = message(RunFolder::create(home.path(), &config, None).unwrap_err());
    assert!(again.contains("already contains a run"), "{again}");
    train(&folder, &config, usize::MAX);
    let other = run_quietly(Tammi::new(30, 200), &config, &folder).unwrap_err();
    assert!(message(other.clone()).contains("it is for connect_four, not for tammi"), "{other}");
    assert!(message(other.clone()).contains("start a new run from its newest agent, "), "{other}");
    let nothing = message(RunFolder::open(&home.path().join("nothing")).unwrap_err());
    assert!(nothing.contains("no run was started here"), "{nothing}");
}

#[test]
fn a_config_that_contradicts_the_run_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let mut config = config(&["run.steps=20"]);
    let folder = RunFolder::create(home.path(), &config, None).unwrap();
    train(&folder, &config, usize::MAX);
    config.net.width = 64;
    config.net.blocks = 1;
    let error = run_quietly(ConnectFour::new(0), &config, &folder).unwrap_err().to_string();
    assert!(error.contains("its config.toml asks for mlp 64x1"), "{error}");
    config = Config::from_toml(&fs::read_to_string(home.path().join("config.toml")).unwrap()).unwrap();
    config.selfplay.games += 1;
    let error = run_quietly(ConnectFour::new(0), &config, &folder).unwrap_err().to_string();
    assert!(error.contains(&format!("it must stay {}", config.selfplay.games - 1)), "{error}");
}

#[test]
fn a_run_can_start_from_an_agent() {
    let home = tempfile::tempdir().unwrap();
    let config = config(&["run.steps=40"]);
    let first = home.path().join("first");
    let folder = RunFolder::create(&first, &config, None).unwrap();
    train(&folder, &config, usize::MAX);
    let agent = newest(&folder);

    let second = home.path().join("second");
    let folder = RunFolder::create(&second, &config, Some(&agent)).unwrap();
    let mut nothing_learned = config.clone();
    nothing_learned.run.games = 1;
    train(&folder, &nothing_learned, usize::MAX);
    assert_eq!(newest(&folder).weights(), agent.weights());
    let manifest = fs::read_to_string(second.join("manifest.toml")).unwrap();
    assert!(manifest.contains("first_weights") && manifest.contains("at step 40"), "{manifest}");
    for key in ["commit", "changed", "toolchain", "cores", "seed"] {
        assert!(manifest.contains(&format!("{key} = ")), "{key}: {manifest}");
    }
}

/// A run of the program without a limit.
fn endless(run: &Path) -> std::process::Command {
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin!("jarmo"));
    command.args(["train", "--config", "configs/smoke.toml", "--set", "run.steps=0"]);
    command.args(["--set", "run.checkpoint=40", "--set", "selfplay.simulations=2", "--run"]);
    command.arg(run).stdout(std::process::Stdio::null());
    command
}

#[cfg(unix)]
pub(crate) fn send(signal: &str, process: &std::process::Child) {
    let mut kill = std::process::Command::new("kill");
    assert!(kill.args([signal, &process.id().to_string()]).status().unwrap().success());
}

pub(crate) fn wait_for(what: &str, mut there: impl FnMut() -> bool) {
    let begun = std::time::Instant::now();
    while !there() {
        assert!(begun.elapsed().as_secs() < 120, "waited for {what}");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

/// The training steps of the last checkpoint of a run.
pub(crate) fn saved_step(run: &Path) -> Option<u64> {
    let text = fs::read_to_string(run.join("resume/current.json")).unwrap_or_default();
    let current: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    current["at"]["checkpoint"]["step"].as_u64()
}

#[test]
#[cfg(unix)]
fn ctrl_c_saves_a_run_and_ends_with_the_status_of_an_interrupt() {
    let home = tempfile::tempdir().unwrap();
    let run = home.path().join("run");
    let child = endless(&run).stdout(std::process::Stdio::piped()).spawn().unwrap();
    wait_for("a checkpoint", || saved_step(&run).is_some());
    send("-INT", &child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("stopped; continue with: ") && text.contains("evaluate it: "), "{text}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_run_under_nohup_survives_its_terminal() {
    let home = tempfile::tempdir().unwrap();
    let run = home.path().join("run");
    let command = endless(&run);
    let mut nohup = std::process::Command::new("sh"); // `nohup` itself changes nothing without a terminal
    nohup.args(["-c", "trap '' HUP; exec \"$0\" \"$@\""]).arg(command.get_program()).args(command.get_args());
    let mut child = nohup.stdout(std::process::Stdio::null()).spawn().unwrap();
    wait_for("a checkpoint", || saved_step(&run).is_some());
    send("-HUP", &child);
    for _ in 0..3 {
        let step = saved_step(&run);
        wait_for("the next checkpoint", || saved_step(&run) > step);
    }
    send("-INT", &child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn a_run_killed_at_any_moment_resumes_from_its_last_checkpoint() {
    let home = tempfile::tempdir().unwrap();
    let run = home.path().join("run");
    let mut child = endless(&run).spawn().unwrap();
    let saved = || saved_step(&run);
    wait_for("a checkpoint", || saved().is_some());
    let mut reported = 0;
    for extra in [0, 37, 111] {
        std::thread::sleep(std::time::Duration::from_millis(extra));
        child.kill().unwrap(); // SIGKILL
        child.wait().unwrap();
        let step = saved().unwrap();
        assert!(step >= reported, "{step} after {reported}");
        reported = step;
        let mut again = std::process::Command::new(assert_cmd::cargo::cargo_bin!("jarmo"));
        again.args(["train", "--resume", run.to_str().unwrap()]);
        child = again.stdout(std::process::Stdio::null()).spawn().unwrap();
        wait_for("the next checkpoint", || saved().unwrap() > step);
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let lines = metrics(&run);
    assert!(lines.iter().map(|line| line.step).is_sorted());
}

/// Writing a file that grows too large fails as on a full disk does.
#[test]
#[cfg(unix)]
fn a_full_disk_stops_the_run_with_its_last_checkpoint_intact() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("run");
    let run = path.to_str().unwrap();
    program(&["train", "--run", run, "--steps", "40"]).args(QUICK).assert().success();
    let (folder, _) = RunFolder::open(&path).unwrap();
    let agent = newest_agent(folder.path()).unwrap();
    let before = fs::read(&agent).unwrap();
    drop(folder);
    let jarmo = assert_cmd::cargo::cargo_bin!("jarmo");
    // Blocks of 512 bytes; a replay file is larger.
    let script = format!("trap '' XFSZ; ulimit -f 64; exec '{}' train --resume '{run}' --steps 400", jarmo.display());
    Command::new("sh")
        .args(["-c", &script])
        .assert()
        .code(1)
        .stderr(contains("earlier files are intact").and(contains("train --resume")));
    assert_eq!(fs::read(&agent).unwrap(), before);
    program(&["train", "--resume", run, "--steps", "60"]).assert().success().stdout(contains("step 60: checkpoint"));
}

#[test]
fn a_path_that_cannot_be_written_is_named() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("file");
    fs::write(&file, "no folder").unwrap();
    let inside = file.join("run");
    program(&["train", "--run", inside.to_str().unwrap()]).assert().code(1).stderr(contains(inside.to_str().unwrap()));
    for command in ["train", "accuracy random", "arena random greedy", "bench selfplay", "bench net"] {
        let arguments: Vec<&str> = command.split(' ').chain(["--device", "cuda"]).collect();
        program(&arguments)
            .assert()
            .code(1)
            .stderr(contains("--device cuda:0 does not").or(contains("--device cuda: this program")));
    }
    program(&["train", "--device", "tpu"]).assert().code(2).stderr(contains("expected cpu, cuda, cuda:NUMBER or wgpu"));
    program(&["train", "--set", "evaluation.games=5"])
        .assert()
        .code(2)
        .stderr(contains("each opening is played from both sides"));
}

#[test]
fn bad_settings_are_refused_before_a_folder_is_created() {
    let home = tempfile::tempdir().unwrap();
    let run = home.path().join("run");
    for (wrong, message) in [
        (["--set", "evaluation.opponents=['rolout:5']"], "evaluation.opponents: agent `rolout:5`"),
        (["--set", "evaluation.random_plies=60"], "evaluation.random_plies = 60: most games of connect_four are over"),
        (["--set", "evaluation.exam='no/such'"], "evaluation.exam = no/such: No such file"),
        (["--set", "evaluation.exam='checkpoints/jarmo.exam'"], "jarmo.exam: an exam for jarmo, not for connect_four"),
        (["--minutes", "nan"], "a number from 0 to 10000000"),
    ] {
        program(&["train", "--run", run.to_str().unwrap()])
            .args(QUICK)
            .args(wrong)
            .assert()
            .code(2)
            .stderr(contains(message));
        assert!(!run.exists(), "{wrong:?}");
    }
}

/// The shortest run on the command line.
const QUICK: [&str; 4] = ["--config", "configs/smoke.toml", "--set", "selfplay.simulations=2"];

fn program(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("jarmo").unwrap();
    command.args(arguments);
    command
}

#[test]
fn a_run_can_start_from_a_smaller_network() {
    let home = tempfile::tempdir().unwrap();
    let place = |name: &str| home.path().join(name).to_str().unwrap().to_owned();
    let (small, agent, large) = (place("small"), place("agent.safetensors"), place("large"));
    program(&["train", "--run", &small, "--steps", "20"]).args(QUICK).assert().success();
    program(&["export", &small, "--out", &agent]).assert().success();
    let start = ["train", "--run", &large, "--from", &agent, "--steps", "20"];
    program(&start)
        .args(["--set", "game.name=connect_four", "--set", "net.width=32"])
        .assert()
        .code(2)
        .stderr(contains("--from: its network is mlp 64x1, the settings say mlp 32x1"));
    program(&["train", "--game", "guard", "--from", "trained", "--set", "net.width=32", "--run", &large])
        .assert()
        .code(2)
        .stderr(contains("--from: its network is mlp 256x2, the settings say mlp 32x2"));
    program(&start)
        .args(QUICK)
        .args(["--set", "net.width=96", "--set", "net.blocks=2"])
        .assert()
        .success()
        .stdout(contains("mlp 96x2"));
    let manifest = fs::read_to_string(home.path().join("large/manifest.toml")).unwrap();
    assert!(manifest.contains("at step 20, mlp 64x1"), "{manifest}");
    program(&["train", "--resume", &large, "--steps", "30"]).assert().success().stdout(contains("step 30: checkpoint"));
}

#[test]
fn train_resume_and_export_on_the_command_line() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("run");
    let run = path.to_str().unwrap();
    let first = path.join("first.safetensors"); // of an attempt that failed
    fs::create_dir(&path).unwrap();
    fs::copy("checkpoints/guard.safetensors", &first).unwrap();
    program(&["train", "--run", run, "--steps", "40"])
        .args(QUICK)
        .assert()
        .success()
        .stdout(contains("step 40: checkpoint").and(contains("/jarmo arena ")));
    assert!(!first.exists());
    program(&["train", "--run", run])
        .args(QUICK)
        .assert()
        .code(1)
        .stderr(contains("already contains a run").and(contains("/jarmo train --resume")))
        .stderr(contains("/jarmo train --game connect_four --from "));
    program(&["train", "--resume", run, "--steps", "60"]).assert().success().stdout(contains("step 60: checkpoint"));
    // The limit held for that call; the folder keeps that of the new run.
    assert!(fs::read_to_string(path.join("config.toml")).unwrap().contains("\nsteps = 40\n"));
    program(&["train", "--resume", run, "--steps", "60"])
        .assert()
        .success()
        .stdout(contains("; stops after 60 steps; ").and(contains("resumed at step 60, after 0:")))
        .stdout(contains("nothing to do: the run has reached its limit (--steps 60)"))
        .stdout(contains(format!("jarmo train --resume {run} --steps N")));
    program(&["train", "--resume", run]).assert().success().stdout(contains("has reached its limit (--steps 40)"));
    program(&["train", "--resume", run, "--steps", "60", "--games", "999999"])
        .assert()
        .success()
        .stdout(contains("has reached one of its limits (--steps 60 --games 999999); give it a higher one, "))
        .stdout(contains(format!("jarmo train --resume {run} --steps N --games N")));
    let out = home.path().join("agent.safetensors");
    let out = out.to_str().unwrap();
    program(&["export", run, "--out", out]).assert().success().stdout(contains("step 60"));
    program(&["export", run, "--checkpoint", "7", "--out", out])
        .assert()
        .code(1)
        .stderr(contains("no such step; the steps are 40, 60"));
    program(&["inspect", out]).assert().success().stdout(contains("step 60"));
    program(&["train", "--resume", home.path().to_str().unwrap()])
        .assert()
        .code(1)
        .stderr(contains("no run was started here"));
    let settings = path.join("config.toml");
    let text = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, text.replace("connect_four", "sonnect_four")).unwrap();
    program(&["train", "--resume", run])
        .assert()
        .code(1)
        .stderr(contains("config.toml: unknown game `sonnect_four`; choose one of jarmo,"));
    program(&["train", "--set", "run.stps=1"]).assert().code(2).stderr(contains("the nearest is run.steps"));
    program(&["train", "--set", "game.name=chess"])
        .assert()
        .code(2)
        .stderr(contains("game.name = chess: it must be one of jarmo, guard"));
}
