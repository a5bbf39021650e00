//! Where results are lost: `jarmo accuracy` by stage, by cause, and as a picture.

use std::collections::HashSet;
use std::fs;
use std::process::Command;

use assert_cmd::prelude::*;
use jarmo::accuracy::{Cause, Exam, MORE_SEARCH, Phase, Question, Stage};
use jarmo::agent::{Agent, AgentSpec, Networks, build, build_without_search};
use jarmo::game::{Action, Game, Mask, Proven, Verdict};
use jarmo::games::{ConnectFour, Guard, Jarmo, JarmoPosition, Tammi};
use predicates::str::{contains, is_empty};
use serde_json::Value;

fn accuracy(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("jarmo").unwrap();
    command.arg("accuracy").args(arguments);
    command
}

/// The lines of JSON.
fn lines(arguments: &[&str]) -> Vec<Value> {
    let output = accuracy(&[arguments, &["--json"]].concat()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The sum of a count over the objects of a list.
fn sum(list: &Value, key: &str) -> u64 {
    let parts = list.as_array().unwrap().iter();
    parts.map(|part| part[key].as_u64().unwrap()).sum()
}

#[test]
fn stages_are_forces_where_tables_can_be_built_and_plies_elsewhere() {
    let jarmo = Jarmo::standard();
    let start = jarmo.start();
    assert_eq!(Stage::of(&jarmo, &start), Stage { unit: "force", number: 10 });
    let end = jarmo.parse_position("5/b4/4b/5/2w1w w - - 0").unwrap();
    assert_eq!(Stage::of(&jarmo, &end), Stage { unit: "force", number: 4 });
    let four = ConnectFour::new(0);
    let mut position = four.start();
    for (stage, column) in [0, 0, 0, 3, 3, 3, 6].into_iter().zip("DDDDAAA".chars()) {
        assert_eq!(Stage::of(&four, &position), Stage { unit: "ply", number: stage });
        four.play_text(&mut position, &column.to_string()).unwrap();
    }
    let tammi = Tammi::new(30, 0);
    assert_eq!(Stage::of(&tammi, &tammi.start()), Stage { unit: "force", number: 24 });
    let guard = Guard::standard();
    assert_eq!(Stage::of(&guard, &guard.start()).to_string(), "ply 0-2");
}

#[test]
fn stages_and_causes_add_up_to_all_decisions() {
    for (file, unit) in [("checkpoints/jarmo.safetensors", "force"), ("checkpoints/connect_four.safetensors", "ply")] {
        let measured = lines(&[file, "--sims", "0,2", "--causes"]);
        assert_eq!(measured.len(), 2);
        for line in &measured {
            for key in ["decisions", "right", "critical", "critical_right"] {
                assert_eq!(sum(&line["stages"], key), line["all"][key], "{key}");
            }
            let stages = line["stages"].as_array().unwrap();
            let parts: HashSet<(u64, &str)> = stages
                .iter()
                .map(|stage| {
                    let number = stage[unit].as_u64().unwrap();
                    (number, stage["to_move"].as_str().unwrap())
                })
                .collect();
            assert_eq!(parts.len(), stages.len(), "no part twice");
            assert!(parts.len() > 15, "{parts:?}");
        }
        assert!(measured[0]["causes"].is_null(), "not without search");
        let (all, causes) = (&measured[1]["all"], &measured[1]["causes"]);
        let wrong = all["decisions"].as_u64().unwrap() - all["right"].as_u64().unwrap();
        let count = |of: &Value| -> u64 {
            let names = Cause::ALL.map(Cause::name);
            names.iter().map(|name| of[name].as_u64().unwrap()).sum()
        };
        assert_eq!(count(causes), wrong);
        let phases = Phase::ALL.map(|phase| count(&causes[phase.name()]));
        assert_eq!(phases.iter().sum::<u64>(), wrong);
        for cause in Cause::ALL {
            assert!(causes[cause.name()].as_u64() > Some(0), "{causes}");
        }
    }
}

/// A question of jarmo in which these actions are right.
fn question(position: &JarmoPosition, right: &[Action]) -> Question<JarmoPosition> {
    let result = |action: Action| Proven {
        verdict: match right.contains(&action) {
            true => Verdict::Win,
            false => Verdict::Loss,
        },
        plies: None,
    };
    Question {
        position: *position,
        phase: Phase::Opening,
        results: Jarmo::standard().legal(position).iter().map(result).collect(),
    }
}

/// Answers are invented, so that each cause is known: what the network hardly considers is right, what ten times the
/// simulations choose is right, and nothing that either chooses is right.
#[test]
fn each_wrong_decision_has_the_first_cause_that_holds() {
    let game = Jarmo::standard();
    let spec: AgentSpec = "checkpoints/jarmo.safetensors?sims=8".parse().unwrap();
    let agent = || -> Vec<Box<dyn Agent<Jarmo>>> { vec![build(game.clone(), &spec).unwrap()] };
    let network = build_without_search(game.clone(), &spec, &Networks::new()).unwrap();
    let mut networks = [network.unwrap()];
    let exam = Exam::built_in(&game).unwrap();
    // Many legal actions, so that the network gives some almost nothing.
    let actions = |question: &&Question<JarmoPosition>| game.legal(&question.position).count();
    let position = exam.questions().iter().max_by_key(actions).unwrap().position;
    let legal: Vec<Action> = game.legal(&position).iter().collect();

    // The actions in the order of the network's policy.
    let mut ranked: Vec<(f32, Action)> = Vec::new();
    let mut stream = jarmo::random::stream(1, 0);
    let mut requests =
        [jarmo::agent::Request { position, stream: &mut stream, limit: jarmo::agent::Limit::default(), memory: None }];
    for candidate in &networks[0].choose(&mut requests)[0].candidates {
        ranked.push((candidate.policy, candidate.action));
    }
    assert_eq!(ranked.len(), legal.len());
    let (least, unlikely) = *ranked.last().unwrap();
    assert!(least < 0.01, "{ranked:?}");

    const NODES: u64 = 8;
    let exam_of = |right: &[Action]| Exam::new(&game, "", vec![question(&position, right)]);
    let chosen = |&&action: &&Action| {
        let taken = exam_of(&[action]).take(&mut agent(), Some(NODES * MORE_SEARCH), 1);
        taken.wrong.is_empty()
    };
    let found = *legal.iter().find(chosen).expect("the agent chooses one");
    let likely = |action: &&(f32, Action)| action.0 > 0.01 && action.1 != found;
    let other = ranked.iter().find(likely).expect("a second choice").1;
    for (right, cause) in [([unlikely], Cause::Policy), ([found], Cause::Search), ([other], Cause::Value)] {
        let exam = exam_of(&right);
        let causes = exam.causes(&[0], &mut networks, &mut agent(), NODES, 1);
        for one in Cause::ALL {
            assert_eq!(causes.total(one), u64::from(one == cause), "{one:?}");
            assert_eq!(causes.count(Phase::Opening, one), causes.total(one));
        }
    }
    let causes = exam_of(&[unlikely]).causes(&[0], &mut [], &mut agent(), NODES, 1);
    assert_eq!(causes.total(Cause::Policy), 0, "without a network");
}

#[test]
fn the_table_has_a_column_for_each_budget_and_the_picture_a_curve() {
    let folder = tempfile::tempdir().unwrap();
    let picture = folder.path().join("lost.svg");
    let path = picture.to_str().unwrap();
    let file = "checkpoints/jarmo.safetensors";
    let output =
        accuracy(&[file, "--sims", "0,4", "--causes", "--svg", path]).assert().success().get_output().stdout.clone();
    let text = String::from_utf8(output).unwrap();
    let row = |label: &str| -> Vec<&str> {
        let mut rows = text.lines().filter_map(|line| line.trim().strip_prefix(label));
        rows.next().expect(label).split_whitespace().collect()
    };
    assert_eq!(row("wrong, in %"), ["decisions", "network", "4"]);
    let shares = |label: &str| -> Vec<f64> {
        let numbers = row(label).into_iter();
        let numbers = numbers.filter(|word| !word.starts_with('±'));
        numbers.map(|number| number.parse().unwrap()).collect()
    };
    let all = shares("all decisions");
    assert_eq!((all.len(), all[0]), (3, 20_000.0));
    assert!(all[1] > all[2] && all[2] > 0.0, "search helps: {all:?}");
    assert_eq!(shares("opening, white").len(), 3);
    let errors = row("all decisions").into_iter();
    let errors: Vec<f64> = errors.filter_map(|word| word.strip_prefix('±')?.parse().ok()).collect();
    for (wrong, error) in all[1..].iter().zip(&errors) {
        let expected = 1.96 * (wrong * (100.0 - wrong) / 20_000.0).sqrt();
        assert!((error - expected).abs() < 0.02, "{wrong} ± {error}");
    }
    assert_eq!(errors.len(), 2);
    assert!(text.contains("no tables are needed"), "{text}");
    assert_eq!(shares("force 10").len(), 3);
    assert_eq!(row("causes at 4"), ["policy", "search", "value"]);
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");

    let svg = fs::read_to_string(&picture).unwrap();
    assert_eq!(svg.matches("<circle").count(), 2 * 9, "forces 2 to 10");
    assert!(svg.contains(">network</text>") && svg.contains(">4</text>"));
    assert!(svg.contains(">3</text>") && !svg.contains(">2.5</text>"));
    assert!(svg.contains(">force</text>") && svg.contains("critical decisions wrong"));
}

#[test]
fn pictures_and_causes_that_cannot_be_are_refused() {
    let file = "checkpoints/jarmo.safetensors";
    let cases: [(&[&str], &str); 2] =
        [(&[file, "random", "--svg", "x.svg"], "--svg draws one agent"), (&[file, "--causes"], "--nodes")];
    for (arguments, message) in cases {
        accuracy(arguments).assert().code(2).stdout(is_empty()).stderr(contains(message));
    }
}
