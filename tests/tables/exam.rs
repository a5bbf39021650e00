//! Exams: written, read and taken. `lab` draws them, and checks those that are part of the program.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use jarmo::accuracy::{Accuracy, Exam, ExamHeader, Phase, Question, Watch};
use jarmo::agent::{Agent, AgentSpec, PolicyAgent, build};
use jarmo::eval::{Evaluation, ScriptedEvaluator, Value};
use jarmo::game::{Action, Game, Mask, Player, Proven, Verdict};
use jarmo::games::{ConnectFour, Guard, Jarmo, JarmoPosition, Tammi};
use jarmo::random::stream;
use jarmo::tables::{Tables, random_position};
use rand::Rng;
use xxhash_rust::xxh3::xxh3_64;

fn agent(text: &str) -> Box<dyn Agent<Jarmo>> {
    build(Jarmo::standard(), &text.parse::<AgentSpec>().unwrap()).unwrap()
}

/// An exam of random positions of the tables, each force as often as any other.
pub(crate) fn of_tables(game: &Jarmo, tables: &Tables, positions: usize) -> Exam<Jarmo> {
    let layers: Vec<_> = tables.layers().collect();
    let mut draws = stream(3, 0);
    let (mut seen, mut questions) = (HashSet::new(), Vec::new());
    while questions.len() < positions {
        let layer = layers[draws.next_u64() as usize % layers.len()];
        let position = random_position(layer, &mut draws);
        if game.outcome(&position).is_some() || !seen.insert(position) {
            continue;
        }
        let values = tables.actions(game, &position).unwrap();
        let result = |action: Action| {
            let value = values.iter().find(|value| value.action == action);
            value.unwrap().proven
        };
        questions.push(Question {
            position,
            phase: Phase::End,
            results: game.legal(&position).iter().map(result).collect(),
        });
    }
    Exam::new(game, "for a test", questions)
}

/// An exam of connect four with all kinds of results.
fn small_exam() -> Exam<ConnectFour> {
    let game = ConnectFour::new(0);
    let question = |text: &str, phase, results: &[Proven]| Question {
        position: game.parse_position(text).unwrap(),
        phase,
        results: results.to_vec(),
    };
    let unknown = |verdict| Proven { verdict, plies: None };
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
    let questions =
        vec![question("7/7/7/7/7/7 w 0", Phase::Opening, &mixed), question("7/7/7/7/7/3w3 b 1", Phase::End, &win)];
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
    assert_eq!((header.game.as_str(), header.questions), ("connect_four", 2));
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
    assert!(refusal(&bytes).contains("it is damaged: its checksum does not match"));
    let second = text.rfind("7/7/7/7/7/3w3").unwrap();
    assert_eq!(refusal(&text.as_bytes()[..second]), "it ends after 1 of 2 questions");
    assert_eq!(refusal(b"PK\x03\x04"), "not an exam");
    let newer = text.replace("jarmo exam 1", "jarmo exam 2");
    assert!(refusal(newer.as_bytes()).contains("another format, `jarmo exam 2`"));

    let changed = |from: &str, to: &str| refusal(sealed(&text.replace(from, to)).as_bytes());
    let rules = changed("rules: 1", "rules: 7");
    assert!(rules.contains("rules version 7 of connect_four, this program has version 1"), "{rules}");
    assert!(changed("questions: 2", "questions: 1").contains("number of questions is wrong"));
    assert!(changed("game: connect_four", "game: jarmo").contains("for jarmo, not for connect_four"));
    assert!(changed("d l12 l", "d l12").contains("question 1: 6 results for 7 legal actions"));
    assert!(changed("d l12 l", "d l12 x").contains("question 1: expected results"));
    assert!(changed("\tend\t", "\tlate\t").contains("question 2: expected the phase"));
    assert!(changed("3w3 b 1", "3w3 w 1").contains("question 2: to move `w`"));

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.exam");
    small_exam().save(&path).unwrap();
    let message = Exam::load(&Jarmo::standard(), &path).unwrap_err().to_string();
    assert!(message.contains("a.exam: an exam for connect_four, not for jarmo"), "{message}");
}

#[test]
fn an_exam_of_tammi_is_for_its_quiet_limit_only() {
    let (usual, other) = (Tammi::standard(), Tammi::new(20, 0));
    let exam = Exam::built_in(&usual).unwrap();
    assert!(Exam::built_in(&other).is_none());
    let refused =
        |game: &Tammi, exam: &Exam<Tammi>| Exam::from_bytes(game, exam.to_text().as_bytes()).unwrap_err().to_string();
    assert_eq!(refused(&other, &exam), "an exam for a quiet limit of 30 plies, not of 20; choose another exam");
    let own = Exam::new(&other, "for a test", exam.questions()[..9].to_vec());
    let text = own.to_text();
    assert!(text.contains("\nrules: 1\nquiet limit: 20\nmade: "), "{text}");
    assert_eq!(Exam::from_bytes(&other, text.as_bytes()).unwrap().questions(), own.questions());
    assert!(refused(&usual, &own).contains("20 plies, not of 30"));
}

#[test]
fn an_agent_that_plays_best_scores_all_and_its_opposite_nothing_in_critical_positions() {
    let game = Jarmo::standard();
    let tables = Tables::solve(&game, 4).unwrap();
    let exam = of_tables(&game, &tables, 300);
    let marks = |sign: i8| {
        let (tables, rules) = (Tables::solve(&game, 4).unwrap(), game.clone());
        let evaluator = ScriptedEvaluator::new(&game, 7, move |position: &JarmoPosition, logits| {
            logits.fill(1000.0); // of illegal actions
            for one in tables.actions(&rules, position).unwrap() {
                logits[one.action.index()] = (sign * one.proven.verdict.sign()).into();
            }
            Evaluation::of(Value::EVEN)
        });
        let agent = PolicyAgent::new(game.clone(), evaluator);
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
    assert!(Player::BOTH.iter().all(|&player| worst.group(Phase::End, player).decisions > 50));
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let game = Jarmo::standard();
    let tables = Tables::solve(&game, 4).unwrap();
    let exam = of_tables(&game, &tables, 200);
    let measure = |spec: &str, threads: usize| -> Accuracy<JarmoPosition> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let mut agents: Vec<_> = (0..threads).map(|_| agent(spec)).collect();
        pool.build().unwrap().install(|| exam.take(&mut agents, Some(2), 5))
    };
    for spec in ["random", "rollout:2"] {
        let one = measure(spec, 1);
        assert_eq!(measure(spec, 3), one);
        let all = one.score().all;
        assert!(all.right < all.decisions && all.critical_share() < 0.9);
    }
}

#[test]
fn an_exam_that_is_stopped_has_the_result_of_the_answers_so_far() {
    let game = Jarmo::standard();
    let tables = Tables::solve(&game, 4).unwrap();
    let exam = of_tables(&game, &tables, 200);
    let mut agents = vec![agent("rollout:2")];
    let whole = exam.take_watched(&mut agents, Some(2), 5, &());
    assert_eq!(whole, exam.take(&mut agents, Some(2), 5), "the order of the questions does not matter");
    let watch = After64::default();
    let answered = exam.take_watched(&mut agents, Some(2), 5, &watch);
    assert!(!answered.wrong.is_empty() && answered.wrong.iter().all(|number| whole.wrong.contains(number)));
    let part = answered.score().all;
    assert_eq!(part.decisions, watch.done.load(Ordering::Relaxed));
    assert!((64..200).contains(&part.decisions), "{part:?}");
    let none = exam.take_watched(&mut agents, Some(2), 5, &watch).score().all;
    assert_eq!(none.decisions, 0);
}

/// Stops an exam after more than 64 answers.
#[derive(Default)]
struct After64 {
    stop: AtomicBool,
    done: AtomicU64,
}

impl Watch for After64 {
    fn stop(&self) -> Option<&AtomicBool> {
        Some(&self.stop)
    }

    fn progress(&self, _: &'static str, done: u64, _: u64) {
        self.done.store(done, Ordering::Relaxed);
        self.stop.store(done > 64, Ordering::Relaxed);
    }
}

#[test]
fn the_program_has_exams_of_three_games() {
    assert_eq!(Exam::built_in(&Jarmo::standard()).unwrap().len(), 20_000);
    assert_eq!(Exam::built_in(&ConnectFour::new(0)).unwrap().len(), 20_000);
    assert!(Exam::built_in(&Guard::standard()).is_none());
}
