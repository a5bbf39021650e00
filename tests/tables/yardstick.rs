//! The yardstick: agents whose strength is known get the result that they must get.

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;

use assert_cmd::prelude::*;
use jarmo::agent::{Agent, Decision, EndgameAgent, RandomAgent, Request, build};
use jarmo::catalog::CatalogGame;
use jarmo::game::{Game, Mask, Player};
use jarmo::games::{Guard, Jarmo, Tammi};
use jarmo::tables::{Endgames, HasEndgames};
use jarmo::yardstick::{Row, Yardstick, YardstickSettings};

const SETTINGS: YardstickSettings = YardstickSettings { seed: 3, fresh: 300, games: 20, starts: 10, positions: 300 };

fn measure<G: CatalogGame>(
    game: &G,
    tables: &Arc<dyn Endgames<G>>,
    settings: YardstickSettings,
    agent: impl Fn() -> Box<dyn Agent<G>>,
    threads: usize,
) -> Row {
    let yardstick = Yardstick::new(game, settings, Some(tables.clone())).unwrap();
    let mut agents: Vec<Box<dyn Agent<G>>> = (0..threads).map(|_| agent()).collect();
    yardstick.measure("agent".to_owned(), &mut agents, None, &()).unwrap()
}

/// Takes the legal action with the lowest index.
struct First<G>(G);

impl<G: Game> Agent<G> for First<G> {
    fn choose(&mut self, requests: &mut [Request<'_, G>]) -> Vec<Decision> {
        let mut random = RandomAgent::new(self.0.clone());
        let mut decisions = random.choose(requests);
        for (decision, request) in decisions.iter_mut().zip(requests) {
            decision.action = self.0.legal(&request.position).nth(0);
        }
        decisions
    }
}

fn check<G: CatalogGame>(game: &G) {
    let tables = game.quick_endgames().unwrap().expect("tables in seconds");
    let perfect = || -> Box<dyn Agent<G>> {
        let outside = Box::new(RandomAgent::new(game.clone()));
        Box::new(EndgameAgent::new(game.clone(), tables.clone(), outside))
    };
    let row = measure(game, &tables, SETTINGS, perfect, 2);
    let (fresh, games, worst) = (row.fresh.unwrap(), row.games.unwrap(), row.worst.unwrap());
    assert_eq!((fresh.critical, fresh.wrong), (300, 0));
    assert_eq!((games.games, games.mistakes, games.flawless), (40, 0, 40));
    assert!(games.decisions > 40);
    // All starts are drawn, but the shuttle rule, which the tables leave out, decides a game now and then.
    assert!((19.0..=21.0).contains(&games.points), "{games:?}");
    assert_eq!((worst.starts, worst.proven + worst.held), (20, 20));
    assert_eq!(worst.median_plies, None);

    let first = || -> Box<dyn Agent<G>> { Box::new(First(game.clone())) };
    let row = measure(game, &tables, SETTINGS, first, 1);
    assert_eq!(row, measure(game, &tables, SETTINGS, first, 3), "threads");
    let (fresh, games, worst) = (row.fresh.unwrap(), row.games.unwrap(), row.worst.unwrap());
    assert!(fresh.share > 0.2, "{fresh:?}");
    assert!(games.mistakes > 20 && games.points < 15.0, "{games:?}");
    assert!(worst.held + worst.proven < 10, "{worst:?}");
    let other = YardstickSettings { seed: 4, ..SETTINGS };
    let another = measure(game, &tables, other, first, 1);
    assert_ne!(another.fresh.unwrap().checksum, fresh.checksum, "seeds");
    assert_eq!(another.exam, row.exam, "the exam is fixed");
}

#[test]
fn the_perfect_player_has_no_fault_and_a_blind_one_has_many() {
    check(&Jarmo::standard());
    check(&Tammi::standard());
}

/// The plies until the policy can be brought to throw a result away, by trying everything to this depth.
fn shortest<G: Game>(
    game: &G,
    tables: &dyn Endgames<G>,
    position: &G::Position,
    seat: Player,
    depth: u32,
) -> Option<u32> {
    if depth == 0 || game.outcome(position).is_some() {
        return None;
    }
    tables.known(game, position)?;
    let legal = game.legal(position);
    let own = game.to_move(position) == seat;
    let verdict = |action| tables.after(game, position, action).verdict;
    let best = legal.iter().map(verdict).max();
    let actions: Vec<_> = legal.iter().take(if own { 1 } else { usize::MAX }).collect();
    if own && Some(verdict(actions[0])) < best {
        return Some(1);
    }
    let below = actions.into_iter().filter_map(|action| {
        let mut next = *position;
        game.play(&mut next, action);
        shortest(game, tables, &next, seat, depth - 1)
    });
    below.min().map(|plies| plies + 1)
}

#[test]
fn the_worst_case_is_the_shortest_line_that_there_is() {
    const DEPTH: u32 = 5;
    let game = Jarmo::standard();
    let tables = game.quick_endgames().unwrap().unwrap();
    let settings = YardstickSettings { fresh: 0, games: 0, starts: 1, positions: 1_000_000, ..SETTINGS };
    let mut depths = HashSet::new();
    for seed in 0..12 {
        let settings = YardstickSettings { seed, ..settings };
        let first = || -> Box<dyn Agent<Jarmo>> { Box::new(First(game.clone())) };
        let yardstick = Yardstick::new(&game, settings, Some(tables.clone())).unwrap();
        let start = yardstick.starts()[0];
        let mut slow: Vec<Option<u32>> =
            Player::BOTH.map(|seat| shortest(&game, tables.as_ref(), &start, seat, DEPTH)).to_vec();
        if slow.contains(&None) {
            continue; // deeper than the slow way looks
        }
        slow.sort_unstable();
        let worst = measure(&game, &tables, settings, first, 1).worst.unwrap();
        assert_eq!(worst.median_plies, slow[1], "seed {seed}");
        depths.extend(slow);
    }
    assert!(depths.len() > 1, "{depths:?}");
}

#[test]
fn answers_are_marked_again_and_a_false_claim_is_refused() {
    let game = Jarmo::standard();
    let none = YardstickSettings { fresh: 0, games: 0, starts: 0, ..SETTINGS };
    let yardstick = Yardstick::new(&game, none, None).unwrap();
    let agent = build(game.clone(), &"greedy".parse().unwrap()).unwrap();
    let row = yardstick.measure("greedy".to_owned(), &mut [agent], None, &()).unwrap();
    assert!(row.fresh.is_none() && row.games.is_none() && row.worst.is_none());
    yardstick.verify(&row).unwrap();
    let marked = row.exam.as_ref().unwrap();
    assert!(marked.wrong > 100 && marked.critical == 10_000, "{marked:?}");
    let refusal = |change: &dyn Fn(&mut Row)| {
        let mut row = row.clone();
        change(&mut row);
        yardstick.verify(&row).unwrap_err().to_string()
    };
    let claims = refusal(&|row| row.exam.as_mut().unwrap().wrong -= 1);
    assert!(claims.contains("it claims"), "{claims}");
    let illegal = refusal(&|row| row.answers.exam[7] = 9999);
    assert!(illegal.contains("question 8 is an illegal action"), "{illegal}");
    let short = refusal(&|row| row.answers.exam.truncate(9));
    assert!(short.contains("another exam"), "{short}");
    assert!(Yardstick::new(&Guard::standard(), none, None).is_err());
}

/// A change of a result, and what is said of it.
type Forgery = (fn(&mut Row), &'static str);

#[test]
fn nothing_in_a_result_can_be_changed() {
    let game = Tammi::standard();
    let tables = game.quick_endgames().unwrap().expect("tables in seconds");
    let settings = YardstickSettings { fresh: 60, games: 4, starts: 3, positions: 60, ..SETTINGS };
    let first = || -> Box<dyn Agent<Tammi>> { Box::new(First(game.clone())) };
    let row = measure(&game, &tables, settings, first, 1);
    let verify = |row: &Row, tables: Option<_>| Yardstick::new(&game, row.settings, tables).unwrap().verify(row);
    verify(&row, Some(tables.clone())).unwrap();
    let text = serde_json::to_string(&row).unwrap();
    assert_eq!(Row::read_all(&text).unwrap(), std::slice::from_ref(&row));
    let forgeries: [Forgery; 24] = [
        (|row| row.exam.as_mut().unwrap().share = 0.01, "exam: it claims"),
        (|row| row.exam.as_mut().unwrap().error = 0.0, "exam: it claims"),
        (|row| row.exam.as_mut().unwrap().wrong = 1, "it claims 1 wrong answers"),
        (|row| row.exam = None, "exam: it claims null"),
        (|row| row.fresh.as_mut().unwrap().wrong = 1, "fresh: it claims"),
        (|row| row.fresh.as_mut().unwrap().share = 0.01, "fresh: it claims"),
        (|row| row.fresh.as_mut().unwrap().made += " by hand", "fresh: it claims"),
        (|row| row.fresh.as_mut().unwrap().checksum += "0", "it answers another exam"),
        (|row| row.fresh = None, "fresh: it claims null"),
        (|row| row.games.as_mut().unwrap().points = 8.0, "games: it claims"),
        (|row| row.games.as_mut().unwrap().mistakes = 0, "games: it claims"),
        (|row| row.worst.as_mut().unwrap().held += 1, "worst: it claims"),
        (|row| row.worst.as_mut().unwrap().median_plies = Some(99), "worst: it claims"),
        (|row| row.worst = None, "worst: it claims null"),
        (|row| row.settings.seed += 1, "it answers another exam"),
        (|row| row.settings.positions += 1, "worst: it claims"),
        (|row| row.starts = "balanced openings".to_owned(), "starts: it claims"),
        (|row| row.nodes = Some(64), "worst: it has"),
        (|row| row.answers.fresh[0] = u16::MAX, "fresh: the answer to question 1 is an illegal action"),
        (|row| row.answers.games.truncate(1), "games: answer"),
        (|row| row.answers.worst.push(0), "worst: it has 1 answers to no question"),
        (|row| row.rules_version += 1, "rules"),
        (|row| row.agent = "better".to_owned(), "its checksum does not match"),
        (|row| row.claims.date = "2030-01-01".to_owned(), "its checksum does not match"),
    ];
    for (number, (change, message)) in forgeries.iter().enumerate() {
        let mut forged = row.clone();
        change(&mut forged);
        let refusal = verify(&forged, Some(tables.clone())).unwrap_err().to_string();
        assert!(refusal.contains(message), "forgery {number}: {refusal}");
    }
    let of_exam = verify(&row, None).unwrap_err().to_string();
    assert!(of_exam.contains("fresh: it has 60 answers to no question"), "without tables: {of_exam}");
    let unknown = text.replacen("\"agent\"", "\"score\":1,\"agent\"", 1);
    let not_a_number = text.replacen("\"points\":", "\"points\":NaN,\"x\":", 1);
    let files = [
        (r#"{"rows": []}"#, "no rows"),
        ("", "no rows"),
        (&unknown, "unknown field `score`"),
        (&not_a_number, "line 1: expected value"),
    ];
    for (file, message) in files {
        let refusal = Row::read_all(file).unwrap_err().to_string();
        assert!(refusal.contains(message), "{refusal}");
    }
}

fn jarmo() -> Command {
    Command::cargo_bin("jarmo").unwrap()
}

#[test]
fn the_command_measures_agents_and_marks_answers_again() {
    let folder = tempfile::tempdir().unwrap();
    let [lines, picture] = ["rows.jsonl", "rows.svg"].map(|name| folder.path().join(name));
    let small = ["--fresh", "50", "--games", "3", "--starts", "3", "--positions", "20"];
    let temporary = tempfile::tempdir().unwrap();
    let mut measure = jarmo();
    measure.args(["yardstick", "greedy", "random", "--json", "--svg"]).env("TMPDIR", temporary.path());
    let output = measure.arg(&picture).args(small).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    fs::write(&lines, &output.stdout).unwrap();
    assert!(fs::read_to_string(&picture).unwrap().starts_with("<svg"));
    assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0);

    let verified = jarmo().args(["yardstick", "--verify"]).arg(&lines).output().unwrap();
    let text = String::from_utf8(verified.stdout).unwrap();
    assert!(verified.status.success() && text.lines().count() == 3, "{text}");
    assert!(text.starts_with("greedy: ") && text.contains("of 10000 critical decisions wrong"));
    assert!(text.contains("verified: exam, fresh, games, worst case") && text.contains("who gave the answers"));

    for option in ["--json", "--svg=x", "--game=jarmo", "--nodes=1", "--seed=1", "--fresh=1", "--games=1", "--starts=1"]
    {
        let refused = jarmo().args(["yardstick", option, "--verify"]).arg(&lines).output().unwrap();
        assert!(String::from_utf8(refused.stderr).unwrap().contains("cannot be used with"), "{option}");
    }

    let claimed = fs::read_to_string(&lines).unwrap();
    let row: Row = serde_json::from_str(claimed.lines().next().unwrap()).unwrap();
    assert!(row.claims.date.starts_with("20") && row.claims.date.len() == 10, "{:?}", row.claims);
    let wrong = row.exam.unwrap().wrong;
    let entry = "yardstick/results/jarmo-v1-greedy.json";
    let refused = jarmo().args(["yardstick", "--verify", entry]).output().unwrap();
    let text = String::from_utf8(refused.stderr).unwrap();
    assert!(text.contains("the entry of a board is verified by `jarmo.yardstick.verify`"), "{text}");
    let changed = claimed.replacen(&format!("\"wrong\":{wrong}"), "\"wrong\":1", 1);
    fs::write(&lines, changed).unwrap();
    let refused = jarmo().args(["yardstick", "--verify"]).arg(&lines).output().unwrap();
    let text = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && text.contains("row 1: it claims 1 wrong answers"), "{text}");
    let solved = claimed.lines().next().unwrap().replace("\"game\":\"jarmo\"", "\"game\":\"connect_four\"");
    fs::write(&lines, solved).unwrap();
    let refused = jarmo().args(["yardstick", "--verify"]).arg(&lines).output().unwrap();
    let text = String::from_utf8(refused.stderr).unwrap();
    assert!(text.contains("row 1: a solver judged it") && text.contains("`yardstick.verify`"), "{text}");
}

#[cfg(unix)]
#[test]
fn tables_are_built_with_progress_and_ctrl_c_leaves_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = jarmo();
    command.args(["yardstick", "greedy", "--threads", "1"]).env("TMPDIR", folder.path());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut told = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(told.next().unwrap().starts_with("force 2: "));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let signal = ["-INT", &child.id().to_string()].map(str::to_owned);
    assert!(Command::new("kill").args(signal).status().unwrap().success());
    assert_eq!(told.last().unwrap(), "stopped; nothing was measured");
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(130), 0));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
