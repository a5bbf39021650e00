//! Exams: drawn, written, read and taken.

use std::collections::{HashMap, HashSet};

use jarmo::accuracy::{
    Accuracy, Draw, Exam, ExamHeader, HasExam, Mix, Phase, Question, random_of_tables,
    solve_by_tables,
};
use jarmo::agent::{Agent, AgentSpec, PolicyAgent, build};
use jarmo::eval::{Evaluation, ScriptedEvaluator, Value};
use jarmo::game::{Game, Mask, Player, Proven, Verdict};
use jarmo::games::{ConnectFour, ConnectFourPosition, Guard, Jarmo, JarmoPosition, Tammi};
use jarmo::tables::Tables;
use xxhash_rust::xxh3::xxh3_64;

fn agent(text: &str) -> Box<dyn Agent<Jarmo>> {
    build(Jarmo::standard(), &text.parse::<AgentSpec>().unwrap()).unwrap()
}

/// Random positions of the tables.
fn random_exam(game: &Jarmo, tables: &Tables, positions: usize) -> Exam<Jarmo> {
    let mut solve = |positions: &[JarmoPosition]| solve_by_tables(game, tables, positions);
    let mut draw = Draw::new(game, &mut solve, Mix::AsDrawn, 3);
    let questions = draw.random(positions, |stream| random_of_tables(tables, stream));
    Exam::new(game, "for a test", questions)
}

fn drawn_exam(game: &Jarmo, tables: &Tables, threads: usize) -> Exam<Jarmo> {
    let mut agents: Vec<_> = (0..threads).map(|_| agent("random")).collect();
    let mut solve = |positions: &[JarmoPosition]| solve_by_tables(game, tables, positions);
    let draw = Draw::new(game, &mut solve, Mix::HalfCritical, 5);
    let random = |stream: &mut _| random_of_tables(tables, stream);
    draw.exam(120, random, "random placements", &mut agents, "tables")
}

#[test]
fn a_drawn_exam_has_no_position_twice_and_half_of_it_is_critical() {
    let game = Jarmo::standard();
    let tables = Tables::solve(&game, 5).unwrap();
    let exam = drawn_exam(&game, &tables, 1);
    // The start lies outside these tables, so there are no openings.
    let made =
        "60 random placements, 60 positions from games of random against itself, 0 positions after";
    assert!(exam.made().contains(made), "{}", exam.made());
    assert_eq!(exam.len(), 120);
    let critical = |part: &[Question<JarmoPosition>]| {
        part.iter()
            .filter(|question| question.is_critical())
            .count()
    };
    assert_eq!(critical(&exam.questions()[..60]), 30);
    assert_eq!(critical(&exam.questions()[60..]), 30);
    let positions: HashSet<_> = exam.questions().iter().map(|one| one.position).collect();
    assert_eq!(positions.len(), 120);
    for question in exam.questions() {
        check_against_tables(&game, &tables, question);
        assert_eq!(question.phase, game.phase(&question.position));
    }
    assert_eq!(drawn_exam(&game, &tables, 3).to_text(), exam.to_text());
}

fn check_against_tables(game: &Jarmo, tables: &Tables, question: &Question<JarmoPosition>) {
    let values = tables.actions(game, &question.position).unwrap();
    let legal = game.legal(&question.position);
    assert_eq!(values.len(), question.results.len());
    for (action, result) in legal.iter().zip(&question.results) {
        let value = values.iter().find(|value| value.action == action).unwrap();
        assert_eq!(
            value.proven,
            *result,
            "{}",
            game.position_text(&question.position)
        );
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

/// An exam of connect four with all kinds of results.
fn small_exam() -> Exam<ConnectFour> {
    let game = ConnectFour::new(0);
    let question = |text: &str, phase, results: &[Proven]| Question {
        position: game.parse_position(text).unwrap(),
        phase,
        results: results.to_vec(),
    };
    let unknown = |verdict| Proven {
        verdict,
        plies: None,
    };
    let win = [Proven::win(1); 7];
    let mixed = [
        Proven::DRAW,
        Proven::loss(12),
        unknown(Verdict::Loss),
        unknown(Verdict::Win),
        Proven::win(41),
        Proven::DRAW,
        Proven::loss(2),
    ];
    let questions = vec![
        question("7/7/7/7/7/7 w 0", Phase::Opening, &mixed),
        question("7/7/7/7/7/3w3 b 1", Phase::End, &win),
    ];
    Exam::new(&game, "made by hand", questions)
}

#[test]
fn exams_are_text_that_is_read_as_it_was_written() {
    let game = ConnectFour::new(0);
    let exam = small_exam();
    let text = exam.to_text();
    let expected = "\
game: connect_four
rules: 1
made: made by hand
questions: 2

7/7/7/7/7/7 w 0\topening\td l12 l w w41 d l2
7/7/7/7/7/3w3 b 1\tend\tw1 w1 w1 w1 w1 w1 w1
";
    let (title, rest) = text.split_once('\n').unwrap();
    let (checksum, rest) = rest.split_once('\n').unwrap();
    assert_eq!((title, rest), ("jarmo exam 1", expected));
    let digits = checksum.strip_prefix("checksum: ").unwrap();
    let all_other_bytes = text.replacen(digits, "", 1);
    let sum = format!("{:016x}", xxh3_64(all_other_bytes.as_bytes()));
    assert_eq!(digits, sum);

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.exam");
    exam.save(&path).unwrap();
    let read = Exam::load(&game, &path).unwrap();
    assert_eq!(read.questions(), exam.questions());
    assert_eq!(read.to_text(), text);
    let header = ExamHeader::load(&path).unwrap();
    assert_eq!(
        (header.game.as_str(), header.questions),
        ("connect_four", 2)
    );
}

/// The same text with a checksum that fits.
fn sealed(text: &str) -> String {
    let place = "jarmo exam 1\nchecksum: ".len();
    let (before, after) = (&text[..place], &text[place + 16..]);
    let sum = xxh3_64(format!("{before}{after}").as_bytes());
    format!("{before}{sum:016x}{after}")
}

#[test]
fn damaged_and_foreign_exams_are_refused_by_name() {
    let game = ConnectFour::new(0);
    let text = small_exam().to_text();
    let refusal = |bytes: &[u8]| Exam::from_bytes(&game, bytes).unwrap_err().to_string();
    // Every single byte and every shorter file.
    for place in 0..text.len() {
        let mut bytes = text.clone().into_bytes();
        bytes[place] ^= 1;
        refusal(&bytes);
        refusal(&bytes[..place]);
    }
    let mut bytes = text.clone().into_bytes();
    let last = bytes.len() - 3;
    bytes[last] ^= 1;
    assert!(refusal(&bytes).contains("it is damaged: its checksum does not fit"));
    let second = text.rfind("7/7/7/7/7/3w3").unwrap();
    assert_eq!(
        refusal(&text.as_bytes()[..second]),
        "it is cut off after 1 of 2 questions"
    );
    assert_eq!(refusal(b"PK\x03\x04"), "not an exam");
    let newer = text.replace("jarmo exam 1", "jarmo exam 2");
    assert!(refusal(newer.as_bytes()).contains("another format, `jarmo exam 2`"));

    let changed = |from: &str, to: &str| refusal(sealed(&text.replace(from, to)).as_bytes());
    let rules = changed("rules: 1", "rules: 7");
    assert!(
        rules.contains("rules version 7 of connect_four, this program has version 1"),
        "{rules}"
    );
    assert!(changed("questions: 2", "questions: 1").contains("number of questions is wrong"));
    assert!(
        changed("game: connect_four", "game: jarmo")
            .contains("for jarmo, and connect_four is wanted")
    );
    assert!(changed("d l12 l", "d l12").contains("question 1: 6 results for 7 legal actions"));
    assert!(changed("d l12 l", "d l12 x").contains("question 1: expected results"));
    assert!(changed("\tend\t", "\tlate\t").contains("question 2: expected the phase"));
    assert!(changed("3w3 b 1", "3w3 w 1").contains("question 2: to move `w`"));

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.exam");
    small_exam().save(&path).unwrap();
    let message = Exam::load(&Jarmo::standard(), &path)
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("a.exam: an exam for connect_four, and jarmo is wanted"),
        "{message}"
    );
}

#[test]
fn an_agent_that_plays_best_scores_all_and_its_opposite_nothing_in_critical_positions() {
    let game = Jarmo::standard();
    let tables = Tables::solve(&game, 4).unwrap();
    let exam = random_exam(&game, &tables, 300);
    let marks = |sign: i8| {
        let (tables, rules) = (Tables::solve(&game, 4).unwrap(), game.clone());
        let evaluator =
            ScriptedEvaluator::new(&game, 7, move |position: &JarmoPosition, logits| {
                logits.fill(1000.0); // of illegal actions
                for one in tables.actions(&rules, position).unwrap() {
                    logits[one.action.index()] = (sign * one.proven.verdict.sign()).into();
                }
                Evaluation::of(Value::EVEN)
            });
        let agent = PolicyAgent::new(game.clone(), "scripted".to_owned(), evaluator);
        exam.take(&mut [Box::new(agent)], None, 1)
    };
    let (best, worst) = (marks(1), marks(-1));
    let (good, bad) = (best.score().all, worst.score().all);
    assert_eq!((good.right, good.critical_right), (300, good.critical));
    assert!(best.mistakes.is_empty());
    assert_eq!((bad.right, bad.critical_right), (300 - bad.critical, 0));
    assert!(bad.critical > 100);

    // The worst mistakes come first.
    let lost = |at: usize| {
        let mistake = &worst.mistakes[at];
        assert!(mistake.got.verdict < mistake.missed.verdict);
        mistake.missed.verdict.sign() - mistake.got.verdict.sign()
    };
    assert_eq!(lost(0), 2);
    assert!(lost(0) >= lost(worst.mistakes.len() - 1));
    // The groups are all decisions.
    let groups = Phase::ALL.map(|phase| Player::BOTH.map(|player| *worst.group(phase, player)));
    let decisions: u64 = groups.iter().flatten().map(|group| group.decisions).sum();
    assert_eq!(decisions, 300);
    assert_eq!(worst.score().end.decisions, 300);
    assert!(
        Player::BOTH
            .iter()
            .all(|&player| worst.group(Phase::End, player).decisions > 50)
    );
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let game = Jarmo::standard();
    let tables = Tables::solve(&game, 4).unwrap();
    let exam = random_exam(&game, &tables, 200);
    let measure = |spec: &str, threads: usize| -> Accuracy<JarmoPosition> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let mut agents: Vec<_> = (0..threads).map(|_| agent(spec)).collect();
        pool.build()
            .unwrap()
            .install(|| exam.take(&mut agents, Some(2), 5))
    };
    for spec in ["random", "rollout:2"] {
        let one = measure(spec, 1);
        assert_eq!(measure(spec, 3), one);
        let all = one.score().all;
        assert!(all.right < all.decisions && all.critical_share() < 0.9);
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

    assert!(Exam::built_in(&Guard::standard()).is_none());
}

/// Checks what holds in every exam that is part of the program.
fn check_sound<G: HasExam>(game: &G, exam: &Exam<G>, expected_phases: &[Phase]) {
    assert_eq!(exam.len(), 20_000);
    assert!(exam.to_text().len() < 4_000_000);
    let critical = exam.questions().iter().filter(|one| one.is_critical());
    assert_eq!(critical.count(), 10_000);
    let known: HashMap<_, _> = exam
        .questions()
        .iter()
        .map(|question| (question.position, question.best()))
        .collect();
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
                    assert_eq!(
                        (game.id(), result.verdict),
                        ("tammi", Verdict::Draw),
                        "{text}"
                    );
                    late += 1;
                }
                assert!(result.plies.is_none() || *result == expected, "{text}");
            }
        }
    }
    assert!(
        ends > 1000 && successors > ends + 1000,
        "{ends} of {successors}"
    );
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
