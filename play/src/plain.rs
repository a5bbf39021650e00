//! Playing by lines of text: for pipes, screen readers, and terminals that can do no more.
//!
//! Lines are read ahead: `stop`, `quit` and the end of the input end a search before them. Only a game without
//! people is played on after the end of the input.

use std::io::{self, BufReader, StdoutLock, Write, stdin, stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::agents::AgentCache;
use crate::board::Played;
use crate::exercise::Exercise;
use crate::lang::Texts;
use crate::session::{Job, Refusal, Session};
use crate::thought::{Analysis, Time};
use crate::{files, machine, tui, words};
use jarmo_core::game::{Player, shorten};
use jarmo_host::ascii::{locale_has_unicode, to_ascii};
use jarmo_host::input::{Ahead, Line, MAX_LINE_BYTES, Urgency};

/// Plays a game or an exercise until the input ends or the user quits, or analyses the game.
pub(crate) fn run(
    session: &mut Session,
    texts: &'static Texts,
    exercise: Option<Exercise>,
    analyse: bool,
) -> io::Result<()> {
    let mut plain = Plain {
        session,
        texts,
        out: stdout().lock(),
        cache: AgentCache::default(),
        exercise,
        ascii: !locale_has_unicode(),
        stop: Arc::default(),
        stop_or_end: Arc::default(),
    };
    let result = if analyse { plain.analyse() } else { plain.play_lines() };
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()), // the reader closed the pipe
        result => result,
    }
}

/// A game in lines of text.
struct Plain<'a> {
    session: &'a mut Session,
    texts: &'static Texts,
    out: StdoutLock<'static>,
    cache: AgentCache,
    exercise: Option<Exercise>,
    ascii: bool,
    stop: Arc<AtomicBool>,        // a line wants searches to end
    stop_or_end: Arc<AtomicBool>, // the same, or the input has ended
}

/// The result of a line.
enum Next {
    /// Draw the board and continue.
    Draw,
    /// Continue.
    Ask,
    /// Leave.
    Leave,
}

impl Plain<'_> {
    fn play_lines(&mut self) -> io::Result<()> {
        let mut lines = Ahead::read(BufReader::new(stdin()), urgency)?;
        self.stop = Arc::clone(lines.stop());
        self.stop_or_end = Arc::clone(lines.stop_or_end());
        if self.exercise.is_none()
            && let Some(line) = words::agent_problem(self.texts, self.session)
        {
            self.say(&line)?;
        }
        self.let_agents_move()?;
        self.draw()?;
        loop {
            let line = lines.next_line().map_err(|error| {
                let message = format!("standard input: {error}");
                io::Error::new(error.kind(), message)
            })?;
            let next = match line {
                None => return Ok(()),
                Some(Line::Text(line)) => self.apply(&line)?,
                Some(Line::TooLong) => {
                    self.tell(&self.texts.fill("line_too_long", &[("most", &(MAX_LINE_BYTES >> 20))]))?
                }
            };
            match next {
                Next::Leave => return Ok(()),
                Next::Ask => {}
                Next::Draw => {
                    self.let_agents_move()?;
                    self.draw()?;
                }
            }
            self.out.flush()?;
        }
    }

    /// Analyses every position of the game and writes how much each move lost.
    fn analyse(&mut self) -> io::Result<()> {
        self.session.set_analysing(true);
        while let Some(job) = self.session.job() {
            let Some(thought) = self.think(&job)? else {
                return Ok(());
            };
            if self.say_if_stopped(&job)? {
                break; // the rest has not been looked at
            }
            self.session.finish(&job, Ok(thought));
        }
        let (game, moves) = (self.session.board().game(), self.session.board().moves());
        for (one, played) in self.session.assessments().into_iter().zip(moves) {
            let value = |value: Option<f32>| value.map_or("?".to_owned(), words::chance);
            let mut line = format!(
                "{:>4} {:<8} {:<3} {:>5} → {:>5}",
                played.label(),
                one.text,
                one.mark,
                value(one.before),
                value(one.after),
            );
            if let (false, Some(best)) = (one.mark.is_empty(), &one.best) {
                line += &format!("  ({best})");
            }
            if let Some(certain) = one.certain {
                line += &format!("  {}", words::proven(self.texts, game, certain));
            }
            self.say(&line)?;
        }
        for note in words::notes(self.texts, self.session) {
            self.say(&note)?;
        }
        Ok(())
    }

    fn apply(&mut self, line: &str) -> io::Result<Next> {
        if let Some(lines) = words::cell(self.texts, self.session.board(), line) {
            return self.tell(&lines.join("\n"));
        }
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        let usual = format!("{}.jsonl", self.session.board().game());
        let file = if rest.is_empty() { usual.as_str() } else { rest };
        match word {
            "" | "stop" => return Ok(Next::Ask),
            "quit" | "exit" | "q" => return Ok(Next::Leave),
            "board" => {}
            "rules" => {
                let rules = words::rules(self.texts, self.session.board()).to_owned();
                return self.tell_lines(&rules);
            }
            "moves" => {
                let legal = self.session.board().scene().legal.into_iter().map(|legal| legal.text);
                return self.tell(&legal.collect::<Vec<_>>().join(" "));
            }
            _ if self.exercise.is_some() => return self.apply_in_exercise(line),
            "learn" | "puzzles" => {
                let exercise = match word {
                    "learn" => Exercise::lesson(self.session),
                    _ => Exercise::puzzles(self.session),
                };
                match exercise {
                    Ok(exercise) => self.exercise = Some(exercise),
                    Err(key) => return self.tell(self.texts.get(key)),
                }
            }
            "undo" => self.session.undo(),
            "redo" => self.session.redo(),
            "swap" => self.session.swap(),
            "new" => self.session.new_game(),
            "match" => self.session.new_match(),
            "next" => {
                if let Err(refusal) = self.session.next_game() {
                    return self.refuse(line, refusal);
                }
            }
            "white" | "black" => {
                let player = if word == "white" { Player::White } else { Player::Black };
                if let Err(problem) = files::player(rest)
                    .and_then(|who| self.session.set_seat(player, &who).map_err(|error| error.to_string()))
                {
                    return self.tell(&problem);
                }
            }
            "help" | "?" => return self.tell_lines(&words::help(self.texts, self.session.board())),
            "list" => return self.tell(&self.session.record().moves.join(" ")),
            "hint" | "eval" => return self.hint(),
            "analyse" => {
                self.analyse()?;
                self.session.set_analysing(false);
                return Ok(Next::Ask);
            }
            "save" => return self.tell(&files::save(self.session, self.texts, file)),
            "load" => {
                if let Err(problem) = files::load(self.session, self.texts, file) {
                    return self.tell(&problem);
                }
            }
            _ => return self.play(line),
        }
        Ok(Next::Draw)
    }

    /// Executes a command that exists only in lessons or puzzles.
    fn apply_in_exercise(&mut self, line: &str) -> io::Result<Next> {
        let Some(exercise) = &mut self.exercise else {
            return Ok(Next::Ask);
        };
        let before = self.session.board().moves().len();
        let said = match line {
            "task" => return Ok(Next::Draw),
            "help" | "?" => return self.tell(self.texts.get("help_exercise")),
            "back" => {
                exercise.back(self.session);
                return Ok(Next::Draw);
            }
            "next" if exercise.next(self.session) => return Ok(Next::Draw),
            "next" | "leave" => {
                if let Some(exercise) = self.exercise.take() {
                    exercise.leave(self.session);
                }
                return Ok(Next::Draw);
            }
            "solution" => exercise.solution(self.session, self.texts),
            _ => exercise.play(self.session, self.texts, line),
        };
        if self.session.board().moves().len() != before {
            self.say(&self.picture())?;
        }
        self.tell(&said.join("\n"))
    }

    fn play(&mut self, line: &str) -> io::Result<Next> {
        match self.session.play(line) {
            Ok(()) => Ok(Next::Draw),
            // A single word of letters was meant as a command, if it is no move.
            Err(Refusal::Move(error))
                if line.chars().all(char::is_alphabetic) && line.chars().count() > 1 && error.unreadable =>
            {
                let word = shorten(line);
                self.tell(&self.texts.fill("unknown_command", &[("word", &word)]))
            }
            Err(refusal) => self.refuse(line, refusal),
        }
    }

    fn refuse(&mut self, line: &str, refusal: Refusal) -> io::Result<Next> {
        self.tell(&words::refusal(self.texts, line, &refusal))
    }

    fn hint(&mut self) -> io::Result<Next> {
        if self.session.agent_to_move() {
            return self.tell(self.texts.get("not_your_turn"));
        }
        self.session.ask_hint();
        let found = match self.session.job() {
            Some(job) => {
                let thought = self.think(&job)?;
                if let Some(thought) = &thought
                    && !self.say_if_stopped(&job)?
                {
                    self.session.finish(&job, Ok(thought.clone()));
                }
                thought
            }
            None => self.session.hint().cloned(),
        };
        let Some(thought) = found else {
            return Ok(Next::Ask);
        };
        let (game, mover) = (self.session.board().game(), self.session.board().scene().to_move);
        let value = words::mine(mover, thought.value);
        let best = self.texts.fill("hint_best", &[("move", &thought.text)]);
        self.say(&format!("{best} ({})", words::chance(value)))?;
        if let Some(proven) = thought.proven {
            self.say(&words::proven(self.texts, game, proven))?;
        }
        for idea in &thought.candidates {
            self.say(&format!("  {}", words::idea(self.texts, game, mover, idea)))?;
        }
        Ok(Next::Ask)
    }

    fn let_agents_move(&mut self) -> io::Result<()> {
        let only_agents = self.session.only_agents();
        while self.session.agent_to_move()
            && let Some(job) = self.session.job()
            && let Some(thought) = self.think(&job)?
        {
            let text = thought.text.clone();
            self.session.finish(&job, Ok(thought));
            let board = self.session.board();
            let number = board.move_to(board.shown()).filter(|_| only_agents).map(Played::label);
            let line = number.map_or(format!("> {text}"), |number| format!("{number:>4} {text}"));
            self.say(&line)?;
            if self.say_if_stopped(&job)? && only_agents {
                return Ok(()); // or they would play on without thinking
            }
        }
        Ok(())
    }

    /// The flag that ends searches.
    fn stop(&self) -> &Arc<AtomicBool> {
        if self.session.only_agents() { &self.stop } else { &self.stop_or_end }
    }

    /// Prints a note if the search of this job was stopped.
    fn say_if_stopped(&mut self, job: &Job) -> io::Result<bool> {
        let stopped = self.stop().load(Ordering::Relaxed);
        if stopped && job.searches() {
            self.say(self.texts.get("stopped"))?;
        }
        Ok(stopped)
    }

    /// Runs a job on this thread. If the agent fails, its problem is printed and there is no result.
    fn think(&mut self, job: &Job) -> io::Result<Option<Analysis>> {
        let stop = Arc::clone(self.stop());
        match job.run(&mut self.cache, Time::alone(machine::clock, &stop)) {
            Ok(thought) => Ok(Some(thought)),
            Err(problem) => {
                self.say(&problem.to_string())?;
                Ok(None)
            }
        }
    }

    fn draw(&mut self) -> io::Result<()> {
        let scene = self.session.board().scene();
        self.say(&self.picture())?;
        let mut line = words::status(self.texts, self.session);
        for tally in &scene.tallies {
            let [white, black] = tally.values;
            line += &format!(" · {} {white}:{black}", self.texts.get(tally.key));
        }
        let mut lines = vec![line];
        lines.extend(words::notes(self.texts, self.session));
        lines.extend(words::known(self.texts, self.session)); // takes no time, as an evaluation would
        lines.extend(words::match_score(self.texts, self.session));
        if let Some(exercise) = &self.exercise {
            lines.extend(exercise.lines(self.session, self.texts));
        }
        self.say(&lines.join("\n"))?;
        self.out.flush()
    }

    /// The board, drawn as in the terminal, without its colours, or by the game itself.
    fn picture(&self) -> String {
        const AREA: Rect = Rect::new(0, 0, 48, 18);
        let board = self.session.board();
        if let Some(drawing) = board.drawing() {
            return drawing.trim_end().to_owned();
        }
        let (layout, scene) = (board.layout(), board.scene());
        let grid = tui::Grid::new(&layout, AREA, false);
        let letters = Player::BOTH.map(|player| self.texts.letter(board.game(), player));
        let picture = tui::Picture { grid, scene: &scene, letters, cursor: None, picked: None, targets: &[] };
        let mut buffer = Buffer::empty(AREA);
        tui::draw(&picture, &mut buffer);
        let lines = buffer.content.chunks(AREA.width.into()).map(|row| {
            let line: String = row.iter().map(|cell| cell.symbol()).collect();
            line.trim_end().to_owned()
        });
        lines.collect::<Vec<String>>().join("\n")
    }

    fn tell_lines(&mut self, text: &str) -> io::Result<Next> {
        let lines: Vec<&str> = text.lines().map(|line| line.trim_start_matches("# ")).collect();
        self.tell(&lines.join("\n"))
    }

    fn tell(&mut self, text: &str) -> io::Result<Next> {
        self.say(text)?;
        Ok(Next::Ask)
    }

    fn say(&mut self, text: &str) -> io::Result<()> {
        if self.ascii { writeln!(self.out, "{}", to_ascii(text)) } else { writeln!(self.out, "{text}") }
    }
}

/// How a line affects the searches before it.
fn urgency(line: &str) -> Urgency {
    match line.split_whitespace().next() {
        Some("stop") => Urgency::Urgent,
        Some("quit" | "exit" | "q") => Urgency::Last,
        _ => Urgency::Usual,
    }
}
