//! Exams: drawn from tables, and those that are part of the program.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::Duration;

use assert_cmd::Command;
use jarmo_core::env::Line;
use jarmo_core::game::{Game, Mask, Player, Proven, Verdict};
use jarmo_core::games::{ConnectFour, ConnectFourPosition, Jarmo, JarmoPosition, Tammi};
use jarmo_core::random::{Stream, below};
use jarmo_exact::agent::{Agent, AgentSpec, build};
use jarmo_exact::tables::{BuildSettings, Tables, build as build_tables};
use jarmo_judge::accuracy::{Exam, Phase, Question};
use lab::exam::{Draw, HasExam, Mix, Source, random_of_tables, solve_by_tables};
use predicates::str::contains;
use rand::Rng;

fn agent(text: &str) -> Box<dyn Agent<Jarmo>> {
    build(Jarmo::standard(), &text.parse::<AgentSpec>().unwrap()).unwrap()
}

fn drawn_exam(game: &Jarmo, tables: &Tables, (mix, sources): (Mix, &[Source]), threads: usize) -> Exam<Jarmo> {
    let mut agents: Vec<_> = (0..threads).map(|_| agent("random")).collect();
    let mut solve = |positions: &[JarmoPosition]| solve_by_tables(game, tables, positions);
    let draw = Draw::new(game, &mut solve, mix, 5);
    let random = |stream: &mut _| random_of_tables(tables, stream);
    draw.exam(120, sources, random, "random placements", ("random", &mut agents), "tables")
}

#[test]
fn a_drawn_exam_has_no_position_twice_and_half_of_it_is_critical() {
    let game = Jarmo::standard();
    let tables = Tables::solve(&game, 5).unwrap();
    let all = (Mix::HalfCritical, &Source::ALL[..]);
    let exam = drawn_exam(&game, &tables, all, 1);
    // The start lies outside these tables, so there are no openings.
    let made = "60 random placements, 60 positions from games of random against itself; of each kind";
    assert!(exam.made().contains(made), "{}", exam.made());
    assert_eq!(exam.len(), 120);
    let critical = |part: &[Question<JarmoPosition>]| part.iter().filter(|question| question.is_critical()).count();
    assert_eq!(critical(&exam.questions()[..60]), 30);
    assert_eq!(critical(&exam.questions()[60..]), 30);
    let positions: HashSet<_> = exam.questions().iter().map(|one| one.position).collect();
    assert_eq!(positions.len(), 120);
    for question in exam.questions() {
        check_against_tables(&game, &tables, question);
        assert_eq!(question.phase, game.phase(&question.position));
    }
    assert_eq!(drawn_exam(&game, &tables, all, 3).to_text(), exam.to_text());
}

#[test]
fn an_exam_can_come_from_one_source_as_it_is_drawn() {
    let game = Jarmo::standard();
    let tables = Tables::solve(&game, 4).unwrap();
    let selfplay = (Mix::AsDrawn, &[Source::SelfPlay][..]);
    let exam = drawn_exam(&game, &tables, selfplay, 1);
    let made = "tables; 120 positions from games of random against itself; as drawn";
    assert!(exam.made().contains(made), "{}", exam.made());
    let critical = exam.questions().iter().filter(|one| one.is_critical());
    assert_ne!(critical.count(), 60);
    let openings = (Mix::AsDrawn, &[Source::Openings][..]);
    assert!(drawn_exam(&game, &tables, openings, 1).is_empty(), "the start is not solved");
}

#[test]
fn an_exam_can_have_the_same_number_of_positions_of_each_ply() {
    let game = ConnectFour::new(0);
    let mut agents: Vec<Box<dyn Agent<ConnectFour>>> = vec![build(game.clone(), &"random".parse().unwrap()).unwrap()];
    // The first column of some positions wins, everything else is a draw.
    let results = |position: &ConnectFourPosition| {
        let mut results = vec![Proven::DRAW; game.legal(position).count() as usize];
        if position.stones(Player::White).is_multiple_of(3) {
            results[0] = Proven::win(1);
        }
        results
    };
    let mut solve = |positions: &[ConnectFourPosition]| {
        let results = positions.iter().map(|position| Some(results(position)));
        results.collect()
    };
    let draw = Draw::new(&game, &mut solve, Mix::EachPly(20), 5);
    let random = |stream: &mut Stream| {
        let plies = below(stream.next_u64(), 21);
        Line::random(&game, plies, stream).position
    };
    let sources = [Source::Random, Source::SelfPlay];
    let exam = draw.exam(1500, &sources, random, "random ones", ("some", &mut agents), "no solver");
    assert_eq!(exam.len(), 1500);
    let critical = exam.questions().iter().filter(|one| one.is_critical());
    assert_eq!(critical.count(), 750);
    let mut plies = [0; 21];
    for question in exam.questions() {
        plies[game.ply(&question.position) as usize] += 1;
    }
    assert_eq!(plies[..3], [1, 7, 49], "all that there are");
    let share = (1500 - 57) / 18;
    let even = |count: &u32| (share - 1..=share + 2).contains(count);
    assert!(plies[3..].iter().all(even), "{plies:?}");
    let made = exam.made();
    assert!(made.contains("no solver; all 57 positions of the first plies, "), "{made}");
}

fn check_against_tables(game: &Jarmo, tables: &Tables, question: &Question<JarmoPosition>) {
    let values = tables.actions(game, &question.position).unwrap();
    let legal = game.legal(&question.position);
    assert_eq!(values.len(), question.results.len());
    for (action, result) in legal.iter().zip(&question.results) {
        let value = values.iter().find(|value| value.action == action).unwrap();
        assert_eq!(value.proven, *result, "{}", game.position_text(&question.position));
    }
}

#[test]
fn the_phases_of_jarmo_follow_from_what_is_on_the_board() {
    let game = Jarmo::standard();
    for (text, phase) in [
        ("bbbbb/5/5/5/wwwww w - - 0", Phase::Opening),
        ("1bbbb/5/5/5/wwWww w - - 0", Phase::Opening),
        ("2bbb/5/5/5/wwWww w - - 0", Phase::Middle),
        ("2bbb/5/5/5/1wwww w - - 0", Phase::End),
    ] {
        let position = game.parse_position(text).unwrap();
        assert_eq!(game.phase(&position), phase, "{text}");
    }
}

#[test]
fn the_program_has_sound_exams() {
    let jarmo = Jarmo::standard();
    let exam = Exam::built_in(&jarmo).unwrap();
    check_sound(&jarmo, &exam, &Phase::ALL);
    let tables = Tables::solve(&jarmo, 4).unwrap();
    let known = |question: &&Question<JarmoPosition>| question.position.force() <= 4;
    let small: Vec<_> = exam.questions().iter().filter(known).collect();
    assert!(small.len() > 1000, "{}", small.len());
    for question in small {
        check_against_tables(&jarmo, &tables, question);
    }

    let four = ConnectFour::new(0);
    let exam = Exam::built_in(&four).unwrap();
    check_sound(&four, &exam, &Phase::ALL);
    let late = |question: &&Question<ConnectFourPosition>| four.ply(&question.position) >= 33;
    let late: Vec<_> = exam.questions().iter().filter(late).collect();
    assert!(late.len() > 500, "{}", late.len());
    for question in late {
        for (action, result) in four.legal(&question.position).iter().zip(&question.results) {
            let mut next = question.position;
            four.play(&mut next, action);
            assert_eq!(best(&four, &next).flip().before(), *result);
        }
    }

    let tammi = Tammi::standard();
    let exam = Exam::built_in(&tammi).unwrap();
    check_sound(&tammi, &exam, &[Phase::End]);
    let tables = Tables::solve(&tammi, 3).unwrap();
    let positions: Vec<_> = exam.questions().iter().map(|one| one.position).collect();
    let solved = solve_by_tables(&tammi, &tables, &positions);
    let mut small = 0;
    for (question, results) in exam.questions().iter().zip(solved) {
        if let Some(results) = results {
            small += 1;
            let text = tammi.position_text(&question.position);
            assert_eq!(question.results, results, "{text}");
        }
    }
    assert!(small > 1000, "{small}");
}

/// Checks what holds in every exam that is part of the program.
fn check_sound<G: HasExam>(game: &G, exam: &Exam<G>, expected_phases: &[Phase]) {
    assert_eq!(exam.len(), 20_000);
    assert!(exam.to_text().len() < 4_000_000);
    let critical = exam.questions().iter().filter(|one| one.is_critical());
    assert_eq!(critical.count(), 10_000);
    let known: HashMap<_, _> = exam.questions().iter().map(|question| (question.position, question.best())).collect();
    assert_eq!(known.len(), exam.len(), "no position twice");
    let (mut ends, mut successors, mut late, mut phases) = (0, 0, 0, [0; 3]);
    for question in exam.questions() {
        let position = &question.position;
        phases[question.phase as usize] += 1;
        assert_eq!(question.phase, game.phase(position));
        let mover = game.to_move(position);
        for (action, result) in game.legal(position).iter().zip(&question.results) {
            let mut next = *position;
            game.play(&mut next, action);
            let after = match game.outcome(&next) {
                Some(outcome) => {
                    ends += 1;
                    Some(Proven::over(outcome.verdict(!mover)))
                }
                None => {
                    let best = known.get(&game.without_history(&next)).copied();
                    let same = game.to_move(&next) == mover;
                    best.map(|best| if same { best.flip() } else { best })
                }
            };
            if let Some(after) = after {
                successors += 1;
                let text = game.position_text(position);
                let expected = after.flip().before();
                if expected.verdict != result.verdict {
                    // One ply more without a capture can be too many in tammi.
                    assert_eq!((game.id(), result.verdict), ("tammi", Verdict::Draw), "{text}");
                    late += 1;
                }
                assert!(result.plies.is_none() || *result == expected, "{text}");
            }
        }
    }
    assert!(ends > 1000 && successors > ends + 1000, "{ends} of {successors}");
    assert!(late < 20, "{late}");
    let enough = |phase: &Phase| phases[*phase as usize] > 200;
    assert!(expected_phases.iter().all(enough), "{phases:?}");
}

/// The result under best play, by plain search.
fn best(game: &ConnectFour, position: &ConnectFourPosition) -> Proven {
    if let Some(outcome) = game.outcome(position) {
        return Proven::over(outcome.verdict(position.to_move()));
    }
    let legal = game.legal(position);
    let results = legal.iter().map(|action| {
        let mut next = *position;
        game.play(&mut next, action);
        best(game, &next).flip().before()
    });
    results.max_by_key(|result| result.preference()).unwrap()
}

#[test]
fn the_program_draws_an_exam_of_tammi() {
    let folder = tempfile::tempdir().unwrap();
    let game = Tammi::standard();
    let settings = BuildSettings { force: 3, save_every: Duration::from_secs(1000) };
    build_tables(&game, folder.path(), settings, &mut |_| {}).unwrap();
    let out = folder.path().join("my.exam");
    let lab = |tables: &Path| {
        let mut command = Command::cargo_bin("lab").unwrap();
        command.args(["exam", "--game", "tammi", "--agent", "random"]);
        command.args(["--positions", "60", "--tables"]).arg(tables);
        command.arg("--out").arg(&out);
        command.assert()
    };
    lab(folder.path()).success().stderr(contains("60 questions of tammi"));
    let exam = Exam::load(&game, &out).unwrap();
    let critical = exam.questions().iter().filter(|one| one.is_critical());
    assert_eq!((exam.len(), critical.count()), (60, 30));
    lab(Path::new("nowhere")).code(1).stderr(contains("nowhere: is missing"));
}

#[test]
fn an_exam_that_cannot_be_written_is_refused_before_the_work() {
    let mut command = Command::cargo_bin("lab").unwrap();
    command.args(["exam", "--tables", "nowhere", "--positions", "60", "--out", "no/such.exam"]);
    command.assert().code(2).stderr(contains("no is no folder"));
}

#[cfg(unix)]
#[test]
fn the_program_draws_an_exam_of_connect_four_with_a_solver() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("my.exam");
    let lab = |options: &[&str]| {
        let mut command = Command::cargo_bin("lab").unwrap();
        command.args(["exam", "--game", "connect_four", "--agent", "random"]);
        command.args(["--positions", "420", "--out"]).arg(&out).args(options);
        command.assert()
    };
    let solver = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/solver");
    let made = "420 questions of connect_four, made by";
    lab(&["--python", solver]).success().stderr(contains(made));
    let game = ConnectFour::new(0);
    let exam = Exam::load(&game, &out).unwrap();
    assert!(exam.made().contains("; solved by Solver 1; "), "{}", exam.made());
    let mut plies: Vec<u32> = Vec::new();
    for question in exam.questions() {
        let ply = game.ply(&question.position);
        let end = 41 + ply % 2; // the last stone of the player to move
        let first = question.results[0];
        assert!([Proven::DRAW, Proven::win(end - ply)].contains(&first));
        plies.push(ply);
    }
    assert_eq!(plies.iter().max(), Some(&34));

    for (options, message) in [
        (["--python", "nowhere"], "nowhere: "),
        (["--python", "true"], "the solver ended"),
        (["--tables", "."], "connect_four has no tables; give --python"),
    ] {
        lab(&options).code(1).stderr(contains(message));
    }
}
