//! The Universal Game Interface: a text protocol by which any program can play against an agent.
//!
//! Reads lines, writes lines; the search runs on a thread of its own. Lines are read ahead, so `stop`, `quit`
//! and the end of the input are heard at once, also while another line waits for the search to end.

mod command;
mod info;

use std::io::{self, BufRead, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Instant;

use command::{Command, Spend};
use jarmo_core::game::{Player, shorten};
use jarmo_core::numbers::{LINES, SIMULATIONS};
use jarmo_core::random::stream;
use jarmo_exact::agent::{Agent, AgentError, AgentSpec, Decision, Limit, Memory, Request, build};
use jarmo_exact::catalog::CatalogGame;
use jarmo_host::input::{Ahead, Line, MAX_LINE_BYTES, too_long};
use jarmo_host::program::this_program;

/// What is answered where there is no move to answer with.
const NO_MOVE: &str = "0000";

/// Answers the lines of `input` on `out` until `quit` or the end of the input.
///
/// A line that cannot be done gives an `info string` that says why, and changes nothing. The error is
/// that of an agent that cannot be had to begin with, or of reading and writing. `stop`, `quit` and the end of
/// the input end every search before them.
pub fn run<G: CatalogGame>(
    game: G,
    spec: &AgentSpec,
    seed: u64,
    input: impl BufRead + Send + 'static,
    out: impl Write + Send,
) -> Result<io::Result<()>, AgentError> {
    let agent = build(game.clone(), spec)?;
    let out = Mutex::new(out);
    let mut lines = match Ahead::read(input, command::urgency) {
        Ok(lines) => lines,
        Err(error) => return Ok(Err(error)),
    };
    Ok(thread::scope(|scope| {
        let mut session = Session {
            position: game.start(),
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
        };
        loop {
            let goes_on = match lines.next_line() {
                Ok(Some(Line::Text(text))) => session.obey(&text, scope),
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

/// An agent on its way to a search and back, with what it keeps of the game.
struct Thinker<G: CatalogGame> {
    agent: Box<dyn Agent<G>>,
    memory: Memory,
}

/// A search under way.
struct Running<'scope, G: CatalogGame> {
    thread: ScopedJoinHandle<'scope, Thinker<G>>,
    answered: Arc<AtomicBool>, // set before the answer is written
    /// The flag that ends it, unless its time does. `None` if it ends by itself: by its number of nodes, or by the flag that
    /// is set while an urgent line waits.
    stop: Option<Arc<AtomicBool>>,
}

struct Session<'scope, 'env, G: CatalogGame, W> {
    game: G,
    position: G::Position,
    spec: AgentSpec,
    seed: u64,
    decisions: u64, // so far; each has a random stream of its own
    nodes: Option<u64>,
    lines: usize,
    idle: Option<Thinker<G>>, // while no search runs
    running: Option<Running<'scope, G>>,
    hurry: Arc<AtomicBool>, // set while an urgent line waits, and from the end of the input on
    out: &'env Mutex<W>,
}

impl<'scope, 'env: 'scope, G: CatalogGame, W: Write + Send> Session<'scope, 'env, G, W> {
    /// Executes a line. False ends the engine.
    fn obey(&mut self, line: &str, scope: &'scope Scope<'scope, 'env>) -> io::Result<bool> {
        let command = match command::parse(line) {
            Ok(Some(command)) => command,
            Ok(None) => return Ok(true),
            Err(problem) => return self.complain(&problem),
        };
        let done = match command {
            Command::Ugi => Ok(self.introduce()?),
            Command::IsReady => Ok(self.say("readyok")?),
            Command::Quit => return Ok(false),
            Command::Query(query) => return self.answer(query),
            Command::Stop => {
                self.stop();
                Ok(())
            }
            _ if !self.is_free() => Err("a search is running; send stop first".to_owned()),
            Command::NewGame => {
                self.position = self.game.start();
                self.start_over();
                Ok(())
            }
            Command::Position { text, moves } => self.set_position(text, &moves),
            Command::SetOption { name, value } => self.set_option(name, value),
            Command::Go(spend) => Ok(self.go(spend, scope)?),
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
        let outcome = self.game.outcome(&self.position);
        let answer = match query {
            "p1turn" => (self.game.to_move(&self.position) == Player::White).to_string(),
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

    fn set_position(&mut self, text: Option<&str>, moves: &[&str]) -> Result<(), String> {
        let mut position = match text {
            None => self.game.start(),
            Some(text) => self.game.parse_position(text).map_err(|error| error.to_string())?,
        };
        for text in moves {
            self.game.play_text(&mut position, text).map_err(|error| error.to_string())?;
        }
        self.position = position;
        Ok(())
    }

    fn set_option(&mut self, name: &str, value: &str) -> Result<(), String> {
        let number = |least: u64, most: u64| {
            value.parse().ok().filter(|number| (least..=most).contains(number)).ok_or_else(|| {
                let value = shorten(value);
                format!("option {name}: `{value}` is no whole number from {least} to {most}")
            })
        };
        match name.to_ascii_lowercase().as_str() {
            "agent" => {
                let spec = value.parse().map_err(|error: AgentError| error.to_string())?;
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
            _ => Err(format!("no option is called `{}`; there are Agent, Simulations, Seed, MultiPV", shorten(name))),
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
        let agent = build(self.game.clone(), &full).map_err(|error| error.to_string())?;
        self.idle = Some(Thinker { agent, memory: Memory::new() });
        self.spec = spec;
        Ok(())
    }

    fn go(&mut self, spend: Spend, scope: &'scope Scope<'scope, 'env>) -> io::Result<()> {
        if self.game.outcome(&self.position).is_some() {
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
        let search = Search {
            game: self.game.clone(),
            position: self.position,
            seed: (self.seed, self.decisions),
            spend: match (spend, self.nodes) {
                (Spend::Usual, Some(nodes)) => Spend::Nodes(nodes),
                _ => spend,
            },
            lines: self.lines,
            stop: Arc::clone(stop.as_ref().unwrap_or(&self.hurry)),
            answered: Arc::clone(&answered),
        };
        self.decisions += 1;
        let out = self.out;
        let thread = scope.spawn(move || {
            search.run(&mut thinker, out);
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
struct Search<G: CatalogGame> {
    game: G,
    position: G::Position,
    seed: (u64, u64),
    spend: Spend,
    lines: usize,
    stop: Arc<AtomicBool>,
    answered: Arc<AtomicBool>,
}

impl<G: CatalogGame> Search<G> {
    /// Searches and writes the result. If writing fails, the reader is gone; the next line that
    /// the session writes will tell.
    fn run(self, thinker: &mut Thinker<G>, out: &Mutex<impl Write + Send>) {
        let start = Instant::now();
        let show = |decision: &Decision| {
            let lines = info::lines(&self.game, &self.position, decision, self.lines, start.elapsed());
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
        let mut stream = stream(self.seed.0, self.seed.1);
        let mut requests =
            [Request { position: self.position, stream: &mut stream, limit, memory: Some(&mut thinker.memory) }];
        let decision = thinker.agent.choose(&mut requests).remove(0);
        show(&decision);
        // An endless search answers when it is asked to, even if it has nothing left to find out.
        while self.spend == Spend::Endless && !self.stop.load(Ordering::Relaxed) {
            thread::park();
        }
        let best = self.game.action_text(&self.position, decision.action);
        self.answered.store(true, Ordering::Relaxed);
        let _ = say(out, &[format!("bestmove {best}")]);
    }
}

/// Writes lines together and hands them on.
fn say(out: &Mutex<impl Write>, lines: &[impl AsRef<str>]) -> io::Result<()> {
    let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
    for line in lines {
        writeln!(out, "{}", line.as_ref())?;
    }
    out.flush()
}
