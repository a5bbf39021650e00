//! Runs and folders as agents on the command line, and the picture of their ratings.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use jarmo::agent::build;
use jarmo::arena::{
    Checkpoint, Entrant, Expanded, Openings, Over, Report, Settings, Team, Tournament, entrants, expand,
};
use jarmo::games::Jarmo;

/// A run folder with empty files as checkpoints.
fn fake_run(name: &str, steps: &[u64]) -> PathBuf {
    let run = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("checkpoints-{name}"));
    let _ = fs::remove_dir_all(&run);
    fs::create_dir_all(run.join("checkpoints")).unwrap();
    for step in steps {
        fs::write(run.join(format!("checkpoints/step-{step:08}.safetensors")), "").unwrap();
    }
    fs::write(run.join("checkpoints/step-00000009.safetensors.tmp"), "").unwrap();
    fs::write(run.join("checkpoints/best.safetensors"), "").unwrap();
    fs::write(run.join("checkpoints/state-00000500.bin"), "").unwrap();
    run
}

fn steps(expanded: &[Expanded]) -> Vec<u64> {
    let step = |one: &Expanded| one.checkpoint.as_ref().unwrap().step;
    expanded.iter().map(step).collect()
}

#[test]
fn a_run_expands_to_its_checkpoints_in_the_order_of_steps() {
    let run = fake_run("run", &[1000, 200, 30000, 4000, 5000]);
    let text = run.display().to_string();
    assert_eq!(steps(&expand(&text, 1).unwrap()), [200, 1000, 4000, 5000, 30000]);
    assert_eq!(steps(&expand(&format!("run:{text}"), 2).unwrap()), [200, 4000, 30000]);
    assert_eq!(steps(&expand(&text, 100).unwrap()), [30000], "the last one is always included");
    let inside = expand(&format!("{text}/checkpoints"), 1).unwrap();
    assert_eq!(steps(&inside).len(), 5);
    let one = expand(&format!("run:{text}@4000?sims=64"), 1).unwrap();
    assert_eq!(steps(&one), [4000]);
    assert!(one[0].spec.ends_with("/checkpoints/step-00004000.safetensors?sims=64"));
    assert_eq!(one[0].checkpoint.as_ref().unwrap().run, text);
}

/// The names of the agents that these texts stand for.
fn names(texts: &[String]) -> Vec<String> {
    let expanded = texts.iter().flat_map(|text| expand(text, 1).unwrap());
    let entrants = entrants(&expanded.collect::<Vec<Expanded>>());
    entrants.into_iter().map(|entrant| entrant.name).collect()
}

#[test]
fn checkpoints_have_short_unique_names() {
    let first = fake_run("one/same", &[100, 2000]).display().to_string();
    let second = fake_run("two/same", &[100]).display().to_string();
    assert_eq!(names(std::slice::from_ref(&first)), ["same@100", "same@2000"]);
    assert_eq!(names(&[format!("run:{first}@100?sims=8"), "random".to_owned()]), ["same@100?sims=8", "random"]);
    assert_eq!(
        names(&[format!("run:{first}@100"), format!("{second}/")]),
        ["checkpoints-one/same@100", "checkpoints-two/same@100"]
    );
    // Other paths of the same run give the same name.
    let inside = expand(&format!("{first}/checkpoints"), 1).unwrap();
    let dotted = expand(&format!("run:{}", first.replace("/one", "/./one")), 1).unwrap();
    for other in [inside, dotted] {
        assert_eq!(other[0].checkpoint.as_ref().unwrap().run, first);
    }
    // A folder whose name ends like a step is still a folder.
    let odd = fake_run("odd@7", &[3]).display().to_string();
    assert_eq!(names(&[format!("run:{odd}")]), ["checkpoints-odd@7@3"]);
}

#[test]
fn any_other_text_is_one_agent() {
    for text in ["random", "rollout:800?mb=3", "best.safetensors?sims=64"] {
        let expanded = expand(text, 1).unwrap();
        assert_eq!(expanded.len(), 1);
        assert_eq!((expanded[0].spec.as_str(), &expanded[0].checkpoint), (text, &None));
    }
}

#[test]
fn a_missing_run_or_step_is_refused() {
    let run = fake_run("refused", &[100, 200]).display().to_string();
    let empty = fake_run("empty", &[]).display().to_string();
    for (text, message) in [
        (format!("run:{run}@150"), "no such step; the steps are 100, 200"),
        (format!("run:{run}@last"), "expected run:FOLDER@STEP"),
        (empty, "no checkpoints in "),
        ("run:nowhere".to_owned(), "agent `run:nowhere`: there is no folder nowhere; specify the folder of a run"),
    ] {
        let error = expand(&text, 1).unwrap_err().to_string();
        assert!(error.contains(message) && error.contains(&text), "{error}");
    }
}

#[test]
fn the_picture_has_a_curve_per_run_and_a_level_line_per_other_agent() {
    let game = Jarmo::standard();
    let agents = [
        ("rollout:1", Some(("first & best", 0))),
        ("rollout:8", Some(("first & best", 1000))),
        ("rollout:32", Some(("first & best", 5000))),
        ("rollout:4", Some(("second", 2000))),
        ("rollout:16", Some(("second", 4000))),
        ("greedy", None),
        ("random", None),
    ];
    let entrants = agents.map(|(name, checkpoint)| Entrant {
        name: name.to_owned(),
        checkpoint: checkpoint.map(|(run, step)| Checkpoint { run: run.to_owned(), step, cpu_seconds: None }),
    });
    let team: Team<Jarmo> =
        agents.iter().map(|(spec, _)| build(game.clone(), &spec.parse().unwrap()).unwrap()).collect();
    let settings = Settings { pairs: 20, ..Settings::default() };
    let openings = Openings::random(&game, 2, 20, 1).unwrap();
    let mut tournament = Tournament::new(&game, entrants.to_vec(), &openings, settings).unwrap();
    tournament.play(vec![team], &AtomicBool::new(false), &mut ()).unwrap();
    let svg = Report::new(tournament.standings()).to_svg("Ratings <of all>", Over::Steps);
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("curves.svg");
    fs::write(path, &svg).unwrap();
    assert_eq!(svg.matches("<circle").count(), 5, "a dot per checkpoint");
    assert_eq!(svg.matches("stroke-dasharray").count(), 2, "a line per other agent");
    assert_eq!(svg.matches("stroke-width=\"2\"").count(), 3, "curves join checkpoints of one run");
    assert!(svg.contains("first &amp; best") && svg.contains("Ratings &lt;of all&gt;"));
    assert!(svg.contains(">training step<"));
    let unknown = Report::new(tournament.standings()).to_svg("", Over::ProcessorTime);
    assert_eq!(unknown.matches("<circle").count(), 0, "no time is known");
    assert!(unknown.contains(">hours of CPU time<"));
}

#[test]
fn checkpoints_get_their_processor_time_from_the_metrics() {
    let run = fake_run("spent", &[100, 200, 300]);
    let line = |step: u64, seconds: f64| {
        let timing = format!("{{\"cpu_seconds\":{seconds}}}");
        let line = format!("{{\"step\":{step},\"loss\":1.5,\"timing\":{timing}}}");
        jarmo::checksum::sealed_line(&line) + "\n"
    };
    let metrics = line(120, 30.5) + &line(200, 61.0) + &line(290, 99.9) + "{\"step\":3";
    fs::write(run.join("metrics.jsonl"), &metrics).unwrap();
    let expanded = expand(&run.display().to_string(), 1).unwrap();
    let spent = expanded.iter().map(|one| one.checkpoint.as_ref().unwrap().cpu_seconds);
    assert_eq!(spent.collect::<Vec<_>>(), [None, Some(61), Some(99)]);
    fs::write(run.join("metrics.jsonl"), metrics.replace("61", "21")).unwrap();
    let refused = expand(&run.display().to_string(), 1).unwrap_err().to_string();
    assert!(refused.contains("metrics.jsonl: line 2 is damaged"), "{refused}");
}
