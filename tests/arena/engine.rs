//! Dialogues in the engine protocol.

use std::io::{BufReader, Cursor, Read, Write};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use jarmo::agent::AgentSpec;
use jarmo::engine;
use jarmo::erase;
use jarmo::games::{ConnectFour, Guard, Jarmo, Tammi};

/// What the engine has written so far.
#[derive(Clone, Default)]
struct Output(Arc<Mutex<Vec<u8>>>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Output {
    fn lines(&self) -> Vec<String> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        text.lines().map(str::to_owned).collect()
    }
}

/// A patient client: before `stop`, `quit` and the end of the input, which end searches, it waits until every
/// command so far is answered, but for an infinite search.
struct Client {
    lines: Vec<String>, // last line first
    endless: bool,
    expected: usize, // answers
    output: Output,
}

impl Client {
    fn wait(&self) {
        let began = Instant::now();
        let is_answer = |line: &&String| {
            let over = line.as_str() == "info string the game is over"; // `bestmove` follows
            let answers = ["bestmove", "readyok", "response", "info string"];
            !over && answers.iter().any(|one| line.starts_with(one))
        };
        while self.output.lines().iter().filter(is_answer).count() < self.expected {
            assert!(began.elapsed() < Duration::from_secs(60), "the engine answers");
            thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Read for Client {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let Some(line) = self.lines.pop() else {
            self.wait();
            return Ok(0);
        };
        if ["stop", "quit"].contains(&line.as_str()) {
            self.wait();
            self.expected += usize::from(self.endless);
            self.endless = false;
        } else if line == "go infinite" {
            self.endless = true;
        } else {
            let word = line.split(' ').next().unwrap();
            let busy = self.endless && word == "position";
            self.expected += usize::from(["go", "isready", "query"].contains(&word) || busy);
        }
        let bytes = (line + "\n").into_bytes();
        buffer[..bytes.len()].copy_from_slice(&bytes);
        Ok(bytes.len())
    }
}

/// The engine's output lines for these input lines.
fn answers_of<G: jarmo::catalog::CatalogGame>(game: G, agent: &str, lines: &[&str]) -> Vec<String> {
    let spec: AgentSpec = agent.parse().unwrap();
    let output = Output::default();
    let client = Client {
        lines: lines.iter().rev().map(|line| (*line).to_owned()).collect(),
        endless: false,
        expected: 0,
        output: output.clone(),
    };
    engine::run(erase(game).as_ref(), &spec, 1, BufReader::new(client), output.clone()).unwrap().unwrap();
    output.lines()
}

fn answers(agent: &str, lines: &[&str]) -> Vec<String> {
    answers_of(Jarmo::standard(), agent, lines)
}

/// Lines after `> ` are sent, lines after `< ` are expected. Speed and time are written as `*`.
#[test]
fn the_golden_dialogue_is_reproduced_exactly() {
    let golden = include_str!("../data/engine/dialogue.txt");
    let sent: Vec<&str> = golden.lines().filter_map(|line| line.strip_prefix("> ")).collect();
    let expected: Vec<&str> = golden.lines().filter_map(|line| line.strip_prefix("< ")).collect();
    let answered: Vec<String> = answers("random", &sent).iter().map(|line| timeless(line)).collect();
    assert_eq!(answered, expected, "the dialogue now is:\n{}", answered.join("\n"));
}

/// The line without values that depend on the machine.
fn timeless(line: &str) -> String {
    let mut words: Vec<&str> = line.split(' ').collect();
    for index in 1..words.len() {
        if matches!(words[index - 1], "nps" | "time") {
            words[index] = "*";
        }
    }
    let line = words.join(" ");
    match line.strip_prefix("id name ") {
        Some(_) => "id name *".to_owned(),
        None => line,
    }
}

#[test]
fn every_agent_answers_with_a_legal_move() {
    for agent in ["random", "greedy", "uniform:50", "rollout:50", "alphabeta:500"] {
        for go in ["go", "go nodes 20", "go nodes 0", "go movetime 1", "go movetime 0"] {
            let lines = answers(agent, &["position startpos moves A1-C2", go]);
            let last = lines.last().unwrap();
            let best = last.strip_prefix("bestmove ").unwrap();
            let position = format!("position startpos moves A1-C2 {best}");
            let after = answers("random", &[&position, "query p1turn"]);
            assert_eq!(after, ["response true"], "{agent}: {go}: {last}");
        }
    }
}

#[test]
fn an_infinite_search_answers_when_stopped() {
    for agent in ["uniform?mb=8", "rollout:10", "alphabeta:10", "random"] {
        let lines = answers(agent, &["go infinite", "isready", "stop", "isready"]);
        let find = |wanted: &str| lines.iter().position(|line| line.starts_with(wanted)).unwrap();
        assert!(find("readyok") < find("bestmove"), "{agent}: {lines:?}");
        assert_eq!(lines.last().unwrap(), "readyok", "{agent}");
        // The end of the input stops it too.
        let lines = answers(agent, &["go infinite"]);
        assert!(lines.last().unwrap().starts_with("bestmove "), "{agent}: {lines:?}");
    }
}

#[test]
fn an_infinite_search_refuses_other_commands() {
    let lines = answers("rollout:10", &["go infinite", "position startpos moves A1-C2", "go", "stop", "query p1turn"]);
    let busy = "info string a search is running; send stop first";
    assert_eq!(lines.iter().filter(|line| *line == busy).count(), 2, "{lines:?}");
    assert_eq!(lines.last().unwrap(), "response true");
}

#[test]
fn the_same_seed_gives_the_same_moves() {
    let play = |seed: &str| {
        let option = format!("setoption name Seed value {seed}");
        let lines = answers("random", &[&option, "go", "go", "go", "go", "go", "go"]);
        lines.into_iter().filter(|line| line.starts_with("best")).collect::<Vec<_>>()
    };
    assert_eq!(play("5"), play("5"));
    assert_ne!(play("5"), play("6"));
}

#[test]
fn a_win_in_one_is_announced_and_played() {
    // Three in the middle column: D wins.
    let won = "position startpos moves D A D A D B";
    for agent in ["alphabeta:2000", "rollout:2000", "greedy", "uniform:500"] {
        let lines = answers_of(ConnectFour::new(0), agent, &[won, "go"]);
        assert_eq!(lines.last().unwrap(), "bestmove D", "{agent}");
        let info = &lines[lines.len() - 2];
        assert!(info.contains(" score mate 1 wdl 1000 0 0 "), "{agent}: {info}");
    }
}

#[test]
fn no_lead_is_worth_more_than_a_win() {
    let far_ahead = "position fen 3W1W1W/8/8/8/8/b7/8/w1w5 w - 0 0";
    let lines = answers_of(Tammi::standard(), "greedy", &[far_ahead, "go"]);
    let best = lines.last().unwrap().strip_prefix("bestmove ").unwrap();
    let after = format!("{far_ahead} moves {best}");
    assert_eq!(answers_of(Tammi::standard(), "random", &[&after, "query result"]), ["response p1win"], "{best}");
}

#[test]
fn multipv_shows_several_lines() {
    for agent in ["alphabeta:3000", "rollout:300"] {
        let lines = answers_of(Guard::standard(), agent, &["setoption name MultiPV value 3", "go"]);
        let last: Vec<&String> = lines.iter().rev().skip(1).take(3).collect();
        for (info, number) in last.iter().rev().zip(1..) {
            assert!(info.contains(&format!(" multipv {number} score ")), "{agent}: {lines:?}");
        }
        let moves: Vec<&str> = last.iter().map(|info| info.split(" pv ").nth(1).unwrap()).collect();
        assert!(moves[0] != moves[1] && moves[1] != moves[2], "{moves:?}");
    }
}

#[test]
fn a_missing_agent_file_is_refused_with_the_alternatives() {
    let spec: AgentSpec = "tests/none.safetensors?sims=64".parse().unwrap();
    let refused = engine::run(erase(Jarmo::standard()).as_ref(), &spec, 1, Cursor::new("go"), Vec::new());
    let message = refused.unwrap_err().to_string();
    for part in ["tests/none.safetensors", "no such file", "alphabeta:NODES"] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn the_search_tree_is_kept_until_a_new_game() {
    let last = |keep: &str, lines: &[&str]| {
        let agent = format!("checkpoints/jarmo.safetensors?sims=300&keep={keep}");
        let answered = answers(&agent, lines);
        let line = answered.iter().rfind(|line| line.starts_with("info"));
        timeless(line.unwrap())
    };
    let first = last("no", &["go"]);
    let (_, line) = first.split_once(" pv ").unwrap();
    let moves: Vec<&str> = line.split(' ').take(2).collect();
    let later = format!("position startpos moves {}", moves.join(" "));
    let later = later.as_str();

    let alone = last("no", &[later, "go"]);
    assert_eq!(last("no", &["go", later, "go"]), alone);
    assert_ne!(last("yes", &["go", later, "go"]), alone);
    for over in ["uginewgame", "setoption name Seed value 1"] {
        let lines = ["go", over, later, "go"];
        assert_eq!(last("yes", &lines), alone, "{over}");
    }
}

#[test]
fn the_keyword_moves_must_be_a_word_of_its_own() {
    let start = "bbbbb/5/5/5/wwwww w - - 0";
    for line in [format!("position fen {start}\tmoves\tA1-C2"), format!("position  fen  {start}  moves A1-C2")] {
        let lines = answers("random", &[&line, "query p1turn"]);
        assert_eq!(lines, ["response false"], "{line:?}");
    }
    for (line, refused) in [
        ("position startpos movesA1-C2", "`movesA1-C2` after"),
        ("position fen movesx moves A1-C2", "position `movesx`"),
        ("position fen x movesb moves A1-C2", "position `x movesb`"),
    ] {
        let lines = answers("random", &[line]);
        assert!(lines[0].contains(refused), "{lines:?}");
    }
}
