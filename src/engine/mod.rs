//! The Universal Game Interface: a text protocol by which any program can play against an agent.
//!
//! Reads lines, writes lines; the search runs on a thread of its own. Lines are read ahead, so `stop`, `quit`
//! and the end of the input are heard at once, also while another line waits for the search to end.

mod info;

use std::io::{self, BufRead, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use jarmo_core::game::{AnyPosition, Player, shorten};
use jarmo_core::numbers::{LINES, SIMULATIONS};
use jarmo_core::random::{Stream, stream};
use jarmo_exact::agent::{AgentError, AgentSpec, Decision, Limit, Memory, Networks, read_spec};
use jarmo_facade::{AgentPlan, AnyAgent, AnyGame, AnyRequest};
use jarmo_host::input::{Ahead, Line, MAX_LINE_BYTES, Urgency, too_long};
use jarmo_host::program::this_program;

/// What is answered where there is no move to answer with.
const NO_MOVE: &str = "0000";

/// Answers the lines of `input` on `out` until `quit` or the end of the input.
///
/// A line that cannot be done gives an `info string` that says why, and changes nothing. The error is
/// that of an agent that cannot be had to begin with, or of reading and writing. `stop`, `quit` and the end of
/// the input end every search before them.
pub fn run(
    game: &dyn AnyGame,
    spec: &AgentSpec,
    seed: u64,
    input: impl BufRead + Send + 'static,
    out: impl Write + Send,
) -> Result<io::Result<()>, AgentError> {
    let networks = Networks::new();
    let agent = game.agent(&AgentPlan::new(spec.clone(), &networks))?;
    let out = Mutex::new(out);
    let mut lines = match Ahead::read(input, urgency) {
        Ok(lines) => lines,
        Err(error) => return Ok(Err(error)),
    };
    Ok(thread::scope(|scope| {
        let mut session = Session {
            position: game.facts().start.clone(),
            spec: spec.clone(),
            seed,
            decisions: 0,
            nodes: None,
            lines: 1,
            idle: Some(Thinker { agent, memory: Memory::new() }),
            running: None,
            hurry: Arc::clone(lines.stop_or_end()),
            out: &out,
            game,
            networks,
        };
        loop {
            let goes_on = match lines.next_line() {
                Ok(Some(Line::Text(text))) => session.execute(&text, scope),
                Ok(Some(Line::TooLong)) => {
                    session.complain(&format!("a line is {} and was ignored", too_long(MAX_LINE_BYTES)))
                }
                Ok(None) => Ok(false),
                Err(error) => Err(error),
            };
            if !matches!(goes_on, Ok(true)) {
                lines.abandon();
                session.stop();
                return goes_on.map(|_| ());
            }
        }
    }))
}

/// How a line affects the searches before it.
fn urgency(line: &str) -> Urgency {
    match split_word(line.trim()).0 {
        "stop" => Urgency::Urgent,
        "quit" => Urgency::Last,
        _ => Urgency::Usual,
    }
}

/// The first word of a text, and what follows it.
fn split_word(text: &str) -> (&str, &str) {
    match text.split_once(char::is_whitespace) {
        None => (text, ""),
        Some((word, rest)) => (word, rest.trim_start()),
    }
}

/// The budget of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spend {
    /// The default of the agent's spec.
    Usual,
    /// A limit of nodes or simulations.
    Nodes(u64),
    Time(Duration),
    /// Until `stop`.
    Endless,
}

impl Spend {
    /// Reads what follows `go`.
    fn parse(text: &str) -> Result<Spend, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let number =
            |text: &str| text.parse::<u64>().map_err(|_| format!("go: `{}` is not a whole number", shorten(text)));
        match words[..] {
            [] => Ok(Spend::Usual),
            ["infinite"] => Ok(Spend::Endless),
            ["nodes", nodes] => Ok(Spend::Nodes(number(nodes)?)),
            ["movetime", time] => Ok(Spend::Time(Duration::from_millis(number(time)?))),
            _ => Err(format!("go {}: expected go nodes N, movetime MS, infinite, or nothing", shorten(text))),
        }
    }
}

/// An agent on its way to a search and back, with what it keeps of the game.
struct Thinker {
    agent: Box<dyn AnyAgent>,
    memory: Memory,
}

/// A search under way.
struct Running<'scope> {
    thread: ScopedJoinHandle<'scope, Thinker>,
    answered: Arc<AtomicBool>, // set before the answer is written
    /// The flag that ends it, unless its time does. `None` if it ends by itself: by its number of nodes, or by the flag that
    /// is set while an urgent line waits.
    stop: Option<Arc<AtomicBool>>,
}

struct Session<'scope, 'env, W> {
    game: &'env dyn AnyGame,
    networks: Networks,
    position: AnyPosition,
    spec: AgentSpec,
    seed: u64,
    decisions: u64, // so far; each has a random stream of its own
    nodes: Option<u64>,
    lines: usize,
    idle: Option<Thinker>, // while no search runs
    running: Option<Running<'scope>>,
    hurry: Arc<AtomicBool>, // set while an urgent line waits, and from the end of the input on
    out: &'env Mutex<W>,
}

impl<'scope, 'env: 'scope, W: Write + Send> Session<'scope, 'env, W> {
    /// Executes a line. False ends the engine.
    fn execute(&mut self, line: &str, scope: &'scope Scope<'scope, 'env>) -> io::Result<bool> {
        let (word, rest) = split_word(line.trim());
        let done = match word {
            "" => Ok(()),
            "ugi" => Ok(self.introduce()?),
            "isready" => Ok(self.say("readyok")?),
            "quit" => return Ok(false),
            "query" => return self.answer(rest),
            "stop" => {
                self.stop();
                Ok(())
            }
            "uginewgame" | "position" | "setoption" | "go" if !self.is_free() => {
                Err("a search is running; send stop first".to_owned())
            }
            "uginewgame" => {
                self.position = self.game.facts().start.clone();
                self.start_over();
                Ok(())
            }
            "position" => self.set_position(rest),
            "setoption" => self.set_option(rest),
            "go" => match Spend::parse(rest) {
                Ok(spend) => Ok(self.go(spend, scope)?),
                Err(problem) => Err(problem),
            },
            _ => Err(format!(
                "unknown command `{}`; the commands are ugi, isready, uginewgame, position, go, stop, query, setoption, \
                 quit",
                shorten(word)
            )),
        };
        match done {
            Ok(()) => Ok(true),
            Err(problem) => self.complain(&problem),
        }
    }

    fn say(&self, line: &str) -> io::Result<()> {
        say(self.out, &[line])
    }

    fn complain(&self, problem: &str) -> io::Result<bool> {
        self.say(&format!("info string {problem}")).map(|()| true)
    }

    fn introduce(&self) -> io::Result<()> {
        say(
            self.out,
            &[
                &format!("id name {}", this_program()),
                "id author the jarmo authors",
                &format!("option name Agent type string default {}", self.spec),
                &format!("option name Simulations type spin default 0 min 0 max {}", SIMULATIONS.most),
                &format!("option name Seed type spin default {} min 0", self.seed),
                &format!("option name MultiPV type spin default 1 min 1 max {}", LINES.most),
                "ugiok",
            ],
        )
    }

    fn answer(&self, query: &str) -> io::Result<bool> {
        let outcome = self.position.outcome;
        let answer = match query {
            "p1turn" => (self.position.to_move == Player::White).to_string(),
            "gameover" => outcome.is_some().to_string(),
            "result" => match outcome.map(|outcome| outcome.winner) {
                None => "none",
                Some(None) => "draw",
                Some(Some(Player::White)) => "p1win",
                Some(Some(Player::Black)) => "p2win",
            }
            .to_owned(),
            _ => return self.complain(&format!("query {}: expected p1turn, gameover or result", shorten(query))),
        };
        self.say(&format!("response {answer}")).map(|()| true)
    }

    /// `startpos` or `fen TEXT`, then perhaps `moves` and moves from there.
    fn set_position(&mut self, text: &str) -> Result<(), String> {
        let (kind, rest) = split_word(text);
        let (given, moves) = split_at_word(rest, "moves").unwrap_or((rest, ""));
        let mut position = match (kind, given.trim()) {
            ("startpos", "") => self.game.facts().start.clone(),
            ("startpos", more) => return Err(format!("`{}` after startpos; expected moves", shorten(more))),
            ("fen", "") => return Err("position fen: the position text is missing".to_owned()),
            ("fen", given) => self.game.parse(given).map_err(|error| error.to_string())?,
            _ => return Err("expected position startpos|fen TEXT [moves MOVE…]".to_owned()),
        };
        for text in moves.split_whitespace() {
            (_, position) = self.game.play_text(&position, text).map_err(|error| error.to_string())?;
        }
        self.position = position;
        Ok(())
    }

    fn set_option(&mut self, text: &str) -> Result<(), String> {
        let given = text.strip_prefix("name ").and_then(|text| text.split_once(" value "));
        let (name, value) = given.ok_or("expected setoption name NAME value VALUE")?;
        let (name, value) = (name.trim(), value.trim());
        let number = |least: u64, most: u64| {
            value.parse().ok().filter(|number| (least..=most).contains(number)).ok_or_else(|| {
                let value = shorten(value);
                format!("option {name}: `{value}` is not a whole number from {least} to {most}")
            })
        };
        match name.to_ascii_lowercase().as_str() {
            "agent" => {
                let spec = read_spec(value).map_err(|error| error.to_string())?;
                self.replace_agent(spec)
            }
            "simulations" => {
                let number = number(0, SIMULATIONS.most)?;
                self.nodes = (number > 0).then_some(number);
                Ok(())
            }
            "seed" => {
                self.seed = number(0, u64::MAX)?;
                self.start_over();
                Ok(())
            }
            "multipv" => {
                self.lines = number(LINES.least, LINES.most)? as usize;
                self.replace_agent(self.spec.clone())
            }
            _ => Err(format!("unknown option `{}`; the options are Agent, Simulations, Seed, MultiPV", shorten(name))),
        }
    }

    /// Random streams start over, and nothing is kept of the game before.
    fn start_over(&mut self) {
        self.decisions = 0;
        if let Some(thinker) = &mut self.idle {
            thinker.memory = Memory::new();
        }
    }

    /// Makes the agent of a spec, one that finds several lines if several are wanted.
    fn replace_agent(&mut self, spec: AgentSpec) -> Result<(), String> {
        let mut full = spec.clone();
        if let AgentSpec::AlphaBeta(settings) = &mut full
            && self.lines > 1
        {
            settings.lines = settings.lines.or(Some(self.lines as u32));
        }
        let agent = self.game.agent(&AgentPlan::new(full, &self.networks)).map_err(|error| error.to_string())?;
        self.idle = Some(Thinker { agent, memory: Memory::new() });
        self.spec = spec;
        Ok(())
    }

    fn go(&mut self, spend: Spend, scope: &'scope Scope<'scope, 'env>) -> io::Result<()> {
        if self.position.outcome.is_some() {
            self.complain("the game is over")?;
            return self.say(&format!("bestmove {NO_MOVE}"));
        }
        let mut thinker = self.idle.take().expect("`go` is refused while a search runs");
        let answered = Arc::new(AtomicBool::new(false));
        // A line that waits for the search may have to be hurried by one behind it. No line waits for a search
        // with a time or without an end: it is stopped when its turn comes.
        let stop: Option<Arc<AtomicBool>> = match spend {
            Spend::Usual | Spend::Nodes(_) => None,
            Spend::Time(_) | Spend::Endless => Some(Arc::default()),
        };
        let spend = match (spend, self.nodes) {
            (Spend::Usual, Some(nodes)) => Spend::Nodes(nodes),
            _ => spend,
        };
        let search = Search {
            game: self.game,
            position: self.position.clone(),
            spend,
            lines: self.lines,
            stop: Arc::clone(stop.as_ref().unwrap_or(&self.hurry)),
            answered: Arc::clone(&answered),
        };
        let mut stream = stream(self.seed, self.decisions);
        self.decisions += 1;
        let out = self.out;
        let thread = scope.spawn(move || {
            search.run(&mut thinker, &mut stream, out);
            thinker
        });
        self.running = Some(Running { thread, answered, stop });
        Ok(())
    }

    /// Whether no search is on. One that ends by itself is waited for.
    fn is_free(&mut self) -> bool {
        let Some(search) = &self.running else { return true };
        let waits = search.stop.is_none() || search.answered.load(Ordering::Relaxed);
        if waits {
            self.join();
        }
        waits
    }

    /// Ends the search. The flag of one that ends by itself is set already: an urgent line was taken last.
    fn stop(&mut self) {
        if let Some(Running { thread, stop: Some(stop), .. }) = &self.running {
            stop.store(true, Ordering::Relaxed);
            thread.thread().unpark();
        }
        self.join();
    }

    fn join(&mut self) {
        if let Some(search) = self.running.take() {
            self.idle = Some(search.thread.join().expect("an agent does not panic"));
        }
    }
}

/// One search, on its way to its thread.
struct Search<'a> {
    game: &'a dyn AnyGame,
    position: AnyPosition,
    spend: Spend,
    lines: usize,
    stop: Arc<AtomicBool>,
    answered: Arc<AtomicBool>,
}

impl Search<'_> {
    /// Searches and writes the result. If writing fails, the reader is gone; the next line that
    /// the session writes will tell.
    fn run(self, thinker: &mut Thinker, stream: &mut Stream, out: &Mutex<impl Write + Send>) {
        let start = Instant::now();
        let show = |decision: &Decision| {
            let lines = info::lines(self.game, &self.position, decision, self.lines, start.elapsed());
            let _ = say(out, &lines);
        };
        let until = match self.spend {
            Spend::Time(time) => start.checked_add(time),
            _ => None,
        };
        let is_late = || until.is_some_and(|until| Instant::now() >= until);
        let limit = Limit {
            nodes: match self.spend {
                Spend::Nodes(nodes) => Some(nodes),
                Spend::Endless => Some(u64::MAX),
                Spend::Usual | Spend::Time(_) => None,
            },
            deadline: until.is_some().then_some(&is_late),
            stop: Some(&self.stop),
            progress: Some(&show),
            latest: None,
        };
        let memory = Some(&mut thinker.memory);
        let request = AnyRequest { position: &self.position, stream, limit, memory };
        let decision = thinker.agent.choose(vec![request]).remove(0);
        show(&decision);
        // An endless search answers when it is asked to, even if it has nothing left to find out.
        while self.spend == Spend::Endless && !self.stop.load(Ordering::Relaxed) {
            thread::park();
        }
        let best = self.game.describe(&self.position, decision.action).text;
        self.answered.store(true, Ordering::Relaxed);
        let _ = say(out, &[format!("bestmove {best}")]);
    }
}

/// What is before and after this word; part of a longer word does not count.
fn split_at_word<'a>(text: &'a str, word: &str) -> Option<(&'a str, &'a str)> {
    text.match_indices(word).find_map(|(start, _)| {
        let (before, after) = (&text[..start], &text[start + word.len()..]);
        let ends = before.is_empty() || before.ends_with(char::is_whitespace);
        let begins = after.is_empty() || after.starts_with(char::is_whitespace);
        (ends && begins).then_some((before, after))
    })
}

/// Writes lines together and hands them on.
fn say(out: &Mutex<impl Write>, lines: &[impl AsRef<str>]) -> io::Result<()> {
    let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
    for line in lines {
        writeln!(out, "{}", line.as_ref())?;
    }
    out.flush()
}
