//! Observing a run: TensorBoard gets complete records with all metrics, and the view shows the latest
//! values.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use jarmo::accuracy::{ExamScore, Tally};
use jarmo::arena::Results;
use jarmo::config::{Base, Config};
use jarmo::erase;
use jarmo::games::Jarmo;
use jarmo::observe::{Event as RunEvent, EventFile, Facts, MatchScore, Metrics, RunView, Strength, Timing};
use jarmo::run::{RunFolder, run};
use jarmo::train::OpenDevice;
use protobuf::Message;
use tensorboard_proto::event::Event;
use tensorboard_proto::plugin_hparams::HParamsPluginData;

/// CRC-32C, bit by bit, masked as in TensorFlow's records.
fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = !0_u32;
    for &byte in bytes {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0x82f6_3b78 & (crc & 1).wrapping_neg());
        }
    }
    (!crc).rotate_right(15).wrapping_add(0xa282_ead8)
}

/// Every event in the files of a folder, file by file.
fn events(folder: &Path) -> Vec<Event> {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut events = Vec::new();
    for file in files {
        assert!(file.to_str().unwrap().contains("tfevents"), "{file:?}");
        let bytes = fs::read(file).unwrap();
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let (length, tail) = rest.split_at(8);
            let number = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
            let size = u64::from_le_bytes(length.try_into().unwrap()) as usize;
            assert_eq!(number(&tail[..4]), checksum(length));
            let data = &tail[4..][..size];
            assert_eq!(number(&tail[4 + size..][..4]), checksum(data));
            events.push(Event::parse_from_bytes(data).unwrap());
            rest = &tail[8 + size..];
        }
    }
    events
}

/// The single numbers by tag, step by step.
fn scalars(events: &[Event]) -> BTreeMap<String, Vec<(i64, f32)>> {
    let mut found: BTreeMap<String, Vec<(i64, f32)>> = BTreeMap::new();
    for event in events {
        for value in event.get_summary().get_value() {
            if value.has_simple_value() {
                let list = found.entry(value.get_tag().to_owned()).or_default();
                list.push((event.get_step(), value.get_simple_value()));
            }
        }
    }
    found
}

#[test]
fn tensorboard_gets_all_metrics_of_a_run() {
    let home = tempfile::tempdir().unwrap();
    let settings = [
        "net.width=32",
        "net.blocks=1",
        "selfplay.games=128",
        "selfplay.simulations=2",
        "run.threads=1",
        "run.batch=128",
        "run.first_samples=4096",
        "run.reuse=1",
        "run.steps=64",
        "run.checkpoint=16",
        "evaluation.every=32",
        "evaluation.games=2",
        "evaluation.simulations=2",
        "evaluation.opponents=['random']",
    ];
    let settings: Vec<String> = settings.iter().map(|&text| text.to_owned()).collect();
    let config = Config::layered(&Base::default(), &[], &settings).unwrap();
    let folder = RunFolder::create(home.path(), &config, None).unwrap();
    let stop = AtomicBool::new(false);
    run(erase(Jarmo::standard()).as_ref(), &config, &folder, &OpenDevice::cpu(), None, &stop, |_| ()).unwrap();

    let text = fs::read_to_string(home.path().join("metrics.jsonl")).unwrap();
    let lines: Vec<Metrics> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.len() >= 2);
    let events = events(&home.path().join("tensorboard"));
    assert_eq!(events[0].get_file_version(), "brain.Event:2");
    let scalars = scalars(&events);
    type Of = fn(&Metrics) -> f64;
    let expected: [(&str, Of); 14] = [
        ("loss/loss", |line| line.loss),
        ("loss/loss_policy", |line| line.loss_policy),
        ("loss/loss_result", |line| line.loss_result),
        ("loss/loss_score", |line| line.loss_score),
        ("policy/policy_entropy", |line| line.policy_entropy),
        ("policy/policy_accuracy", |line| line.policy_accuracy),
        ("value/calibration_error", |line| line.calibration_error),
        ("learner/rate", |line| line.rate),
        ("learner/gradient_norm", |line| line.gradient_norm),
        ("speed/positions_per_s", |line| line.timing.positions_per_s),
        ("games/plies", |line| line.per_game.plies),
        ("games/truncated", |line| line.per_game.truncated),
        ("games/redeploys", |line| line.events["redeploys"]),
        ("games/shuttle_bans", |line| line.events["shuttle_bans"]),
    ];
    for (tag, of) in expected {
        let wanted: Vec<(i64, f32)> = lines
            .iter()
            .filter(|line| line.new_games > 0 || !tag.starts_with("games/"))
            .map(|line| (line.step as i64, of(line) as f32))
            .collect();
        assert_eq!(scalars.get(tag), Some(&wanted), "{tag}");
    }
    let played = |line: &Metrics| line.events["captures"] > 0.5 && line.events["redeploys"] > 0.0;
    assert!(lines.iter().any(played), "{:?}", lines[0].events);
    assert!(!scalars["strength/elo"].is_empty());
    assert!(scalars.contains_key("strength/score_against_random"));

    // The exam that is part of the program.
    let exams: Vec<ExamScore> = lines.iter().filter_map(|line| line.accuracy).collect();
    assert!(exams.len() >= 2);
    type Share = fn(&ExamScore) -> f64;
    let shares: [(&str, Share); 5] = [
        ("exact/right", |score| score.all.share()),
        ("exact/critical", |score| score.all.critical_share()),
        ("exact/opening", |score| score.opening.critical_share()),
        ("exact/middle", |score| score.middle.critical_share()),
        ("exact/end", |score| score.end.critical_share()),
    ];
    for (tag, share) in shares {
        let told: Vec<f32> = exams.iter().map(|score| share(score) as f32).collect();
        let shown: Vec<f32> = scalars[tag].iter().map(|&(_, share)| share).collect();
        assert!(told.iter().all(|share| shown.contains(share)), "{tag}: {shown:?}, {told:?}");
        assert!(told.iter().all(|share| (0.1..1.0).contains(share)), "{tag}: {told:?}");
    }
    let score = exams[0];
    let phases: u64 = score.phases().map(|(_, tally)| tally.decisions).sum();
    assert_eq!((score.all.decisions, phases), (20_000, 20_000));

    the_settings_are_shown(&events, &config);

    let histograms: Vec<_> =
        events.iter().flat_map(|event| event.get_summary().get_value()).filter(|value| value.has_histo()).collect();
    let stem =
        histograms.iter().find(|value| value.get_tag() == "weights/stem.weight").expect("weights of the first layer");
    let histogram = stem.get_histo();
    let counted: f64 = histogram.get_bucket().iter().sum();
    assert_eq!(counted, histogram.get_num());
    assert_eq!(counted % 32.0, 0.0); // a row of 32 for every feature
    assert!(histogram.get_min() < 0.0 && histogram.get_max() > 0.0);
}

/// TensorBoard has the settings as hyperparameters, by which it compares runs, and as a text.
fn the_settings_are_shown(events: &[Event], config: &Config) {
    let of_plugin = |plugin: &str| {
        let values = events.iter().flat_map(|event| event.get_summary().get_value());
        let mut found = values.filter(|value| value.get_metadata().get_plugin_data().get_plugin_name() == plugin);
        found.next().expect(plugin)
    };
    let parameters = of_plugin("hparams");
    assert_eq!(parameters.get_tag(), "_hparams_/session_start_info");
    let content = parameters.get_metadata().get_plugin_data().get_content();
    let data = HParamsPluginData::parse_from_bytes(content).unwrap();
    let start = data.get_session_start_info();
    assert!(start.get_start_time_secs() > 1e9);
    let parameters = start.get_hparams();
    assert_eq!(parameters.len(), config.settings().len());
    assert_eq!(parameters["net.width"].get_number_value(), 32.0);
    assert_eq!(parameters["run.reuse"].get_number_value(), 1.0);
    assert_eq!(parameters["game.name"].get_string_value(), "jarmo");
    let opponents = parameters["evaluation.opponents"].get_string_value();
    assert_eq!(opponents, "[\"random\"]");
    let text = &of_plugin("text").get_tensor().get_string_val()[0];
    let text = String::from_utf8(text.clone()).unwrap();
    let settings = text.strip_prefix("```toml\n").unwrap();
    let settings = settings.strip_suffix("```\n").unwrap();
    assert_eq!(Config::from_toml(settings).unwrap(), *config);
}

#[test]
fn events_of_later_steps_are_void_after_a_resume() {
    let home = tempfile::tempdir().unwrap();
    let mut first = EventFile::create(home.path(), 1).unwrap();
    first.scalars(&[("loss".to_owned(), 1.0)], 50).unwrap();
    drop(first);
    let mut second = EventFile::create(home.path(), 41).unwrap();
    second.scalars(&[("loss".to_owned(), 2.0)], 50).unwrap();
    drop(second);
    let starts: Vec<i64> =
        events(home.path()).iter().filter(|event| event.has_session_log()).map(Event::get_step).collect();
    assert_eq!(starts, [1, 41]);
}

#[test]
fn the_view_shows_the_latest_values() {
    let settings = ["run.steps=200", "evaluation.every=70", "run.checkpoint=30"].map(str::to_owned);
    let config = Config::layered(&Base::default(), &[], &settings).unwrap();
    let facts = Facts {
        what: "connect_four, mlp 32x1".to_owned(),
        device: "1 thread(s)".to_owned(),
        folder: "runs/first".to_owned(),
    };
    let mut view = RunView::new(&config, facts);
    let text = |view: &RunView| {
        let lines = view.block().into_iter();
        let lines = lines.map(|(label, text)| format!("{label}: {text}\n"));
        lines.collect::<String>()
    };
    let before = text(&view);
    for part in [
        "training: connect_four, mlp 32x1\n",
        "learning: not yet\n",
        "strength: first matches at step 30\n",
        "saved: not yet, in runs/first\n",
    ] {
        assert!(before.contains(part), "{part}: {before}");
    }

    let mut metrics = Metrics {
        step: 50,
        games: 400,
        loss: 1.25,
        new_games: 40,
        timing: Timing { seconds: 3600.0, ..Timing::default() },
        ..Metrics::default()
    };
    metrics.per_game.white = 0.75;
    metrics.events.insert("shuttle_bans".to_owned(), 1.5);
    let strength = Strength {
        step: 70,
        elo: 123.0,
        elo_low: 100.0,
        elo_high: 150.0,
        anchor: "random".to_owned(),
        matches: Vec::new(),
    };
    for event in [
        RunEvent::Played(10_000, &metrics),
        RunEvent::Metrics(&metrics),
        RunEvent::Checkpoint(50, Path::new("agent")),
        RunEvent::Matches(Some(70)),
        RunEvent::Strength(&strength),
    ] {
        view.note(&event);
    }
    let after = text(&view);
    for part in [
        "1:00:00  █████░░░░░░░░░░░░░░░ 25 %, 3:00:00 left\n",
        "400 so far: White 75 %",
        "1.50 shuttle bans\n",
        "10000 of 400000 samples\n",
        "loss: 1.250",
        "▁ +123 Elo at step 70 (+100 to +150; random is 0)",
        "saved: step 50, 0:00 ago, in runs/first\n",
    ] {
        assert!(after.contains(part), "{part}: {after}");
    }
    assert_eq!(view.matches_text().unwrap(), "matches of step 70");
    let line = view.event_line(&RunEvent::Metrics(&metrics)).unwrap();
    assert!(line.starts_with("step 50: loss 1.250"), "{line}");
    // There are enough samples, so learning has started.
    assert_eq!(view.event_line(&RunEvent::Played(10_000, &metrics)), None);
}

#[test]
fn a_view_marks_an_old_rating_and_that_of_the_final_match() {
    let config = Config::layered(&Base::default(), &[], &[]).unwrap();
    let mut view = RunView::new(&config, Facts::default());
    let strength = |step| Strength {
        step,
        elo: -66.0,
        elo_low: -100.0,
        elo_high: -30.0,
        anchor: "random".to_owned(),
        matches: Vec::new(),
    };
    let now = |step| Metrics { step, ..Metrics::default() };
    let shown = |view: &RunView| {
        let mut lines = view.block().into_iter();
        lines.find(|(label, _)| *label == "strength").unwrap().1
    };
    view.note(&RunEvent::Strength(&strength(224)));
    view.note(&RunEvent::Played(0, &now(248)));
    assert_eq!(shown(&view), "▁ -66 Elo at step 224 (-100 to -30; random is 0)");
    view.note(&RunEvent::Played(0, &now(249)));
    assert_eq!(shown(&view), "▁ old: -66 Elo at step 224 (-100 to -30; random is 0)");
    view.note(&RunEvent::Played(0, &now(800)));
    view.note(&RunEvent::FinalMatch(800));
    assert_eq!(view.matches_text().unwrap(), "final match of step 800");
    let last = strength(800);
    view.note(&RunEvent::Strength(&last));
    assert!(view.event_line(&RunEvent::Strength(&last)).unwrap().starts_with("final match: -66 Elo at step 800 ("));
    view.note(&RunEvent::Matches(None));
    assert_eq!(shown(&view), "▁▁ final match: -66 Elo at step 800 (-100 to -30; random is 0)");
    assert_eq!(view.matches_text(), None);
}

#[test]
fn a_view_says_that_a_run_has_no_limit() {
    let config = Config::layered(&Base::default(), &[], &["run.minutes=0".to_owned()]).unwrap();
    let view = RunView::new(&config, Facts::default());
    let lines = view.block();
    assert!(lines.contains(&("time", "0:00  no limit".to_owned())), "{lines:?}");
    assert_eq!(view.limits_text(), "no limit");
    let settings = ["run.steps=200".to_owned(), "run.minutes=4".to_owned()];
    let config = Config::layered(&Base::default(), &[], &settings).unwrap();
    let view = RunView::new(&config, Facts::default());
    assert_eq!(view.limits_text(), "stops after 200 steps or 4 minutes");
}

#[test]
fn a_view_of_a_resumed_run_keeps_its_curves() {
    let strength = |step, elo| Strength {
        step,
        elo,
        elo_low: elo - 20.0,
        elo_high: elo + 20.0,
        anchor: "random".to_owned(),
        matches: Vec::new(),
    };
    let line = |step, loss, strength| Metrics { step, loss, strength, replay: 7000, ..Metrics::default() };
    let lines =
        [line(50, 2.0, Some(strength(50, 10.0))), line(100, 1.5, Some(strength(100, 60.0))), line(150, 1.0, None)];
    let mut view = RunView::new(&Config::layered(&Base::default(), &[], &[]).unwrap(), Facts::default());
    let strength = strength(150, 90.0);
    let event = RunEvent::Resumed { step: 160, seconds: 200.0, lines: &lines, strength: Some(&strength) };
    view.note(&event);
    let text: String = view.block().into_iter().map(|(_, text)| text + "\n").collect();
    for part in [
        "1.000 █▅▁ policy",
        "▁▆█ +90 Elo at step 150 (+70 to +110; random is 0)",
        "7000 of 400000 samples",
        "step 160, 0:00 ago",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(view.event_line(&event).unwrap(), "resumed at step 160, after 3:20");
}

#[test]
fn no_line_of_a_view_is_cut_while_rows_are_free() {
    let facts = Facts {
        what: "connect_four, mlp 256x2 with 111488 weights, 2048 games in parallel, 64 simulations".to_owned(),
        device: "2 thread(s) on 2 core(s), AVX-512 with bfloat16".to_owned(),
        folder: format!("runs/{}", "x".repeat(100)),
    };
    let view = RunView::new(&Config::layered(&Base::default(), &[], &[]).unwrap(), facts);
    let (width, whole) = (69, view.block());
    let words = |lines: &[(&str, String)]| {
        let texts: Vec<&str> = lines.iter().map(|(_, text)| text.as_str()).collect();
        texts.concat().replace(' ', "")
    };
    assert!(whole.iter().any(|(_, text)| text.chars().count() > width));
    let wrapped = view.block_within(width, 22);
    assert!(wrapped.len() > whole.len() && wrapped.len() <= 22, "{wrapped:?}");
    assert!(wrapped.iter().all(|(_, text)| text.chars().count() <= width), "{wrapped:?}");
    assert_eq!(words(&wrapped), words(&whole));
    assert_eq!(view.block_within(width, whole.len()), whole, "there is no free row");
    assert_eq!(view.block_within(width, whole.len() + 1).len(), whole.len() + 1);
}

#[test]
fn a_terminal_of_24_rows_has_room_for_all_that_a_long_run_shows() {
    let facts = Facts {
        what: "jarmo, mlp 256x2 with 811786 weights, 2048 games in parallel, 64 simulations".to_owned(),
        device: "16 thread(s) on 16 core(s), AVX-512 with VNNI (int8)".to_owned(),
        folder: "runs/a-long-run".to_owned(),
    };
    let settings = ["run.cpu_minutes=600".to_owned()];
    let mut view = RunView::new(&Config::layered(&Base::default(), &[], &settings).unwrap(), facts);
    let timing = Timing { seconds: 35_999.0, cpu_seconds: 35_000.0, positions_per_s: 123_456.0, ..Timing::default() };
    let tally = |critical_right| Tally { decisions: 20_000, right: 19_596, critical: 10_000, critical_right };
    let mut metrics = Metrics {
        step: 1_854_720,
        games: 12_270_996,
        positions: 999_999_999,
        loss_score: 0.123,
        new_games: 4_000,
        batch_fill: 0.98,
        timing,
        accuracy: Some(ExamScore { all: tally(9_595), opening: tally(9_600), middle: tally(9_500), end: tally(9_700) }),
        ..Metrics::default()
    };
    (metrics.per_game.white, metrics.per_game.black, metrics.per_game.drawn) = (0.33, 0.33, 0.34);
    (metrics.per_game.plies, metrics.per_game.truncated) = (123.4, 0.012);
    metrics.events = ["captures", "redeploys", "shuttle_bans"].map(|name| (name.to_owned(), 12.34)).into();
    let matches = ["rollout:1000", "alphabeta:2000", "step 1834720", "step 1814720"].map(|opponent| MatchScore {
        opponent: opponent.to_owned(),
        step: None,
        results: Results::default(),
        score: 0.987,
    });
    let strength = Strength {
        step: 1_854_720,
        elo: 1234.0,
        elo_low: 1200.0,
        elo_high: 1270.0,
        anchor: "rollout:1000".to_owned(),
        matches: matches.to_vec(),
    };
    for _ in 0..100 {
        view.note(&RunEvent::Played(400_000, &metrics));
        view.note(&RunEvent::Metrics(&metrics));
        view.note(&RunEvent::Strength(&strength));
    }
    view.note(&RunEvent::Checkpoint(1_854_720, Path::new("agent")));
    // 80 columns and 24 rows, less the labels, the hint, and the row that stays free.
    let lines = view.block_within(69, 22);
    assert!(lines.len() <= 22 && lines.iter().all(|(_, text)| text.chars().count() <= 69), "{lines:#?}");
    let text: Vec<&str> = lines.iter().map(|(_, text)| text.as_str()).collect();
    let text = text.join(" ");
    for part in ["batches 98 % full", "White 33 %, Black 33 %, drawn 34 %", "step 1854720"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}
