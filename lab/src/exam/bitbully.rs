//! Exact results of connect four from BitBully, a solver in Python.
//!
//! `tools/bitbully_scores.py` answers with the score of every action, one position at a time.

use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;

use jarmo_core::game::{Game, Mask, Proven};
use jarmo_core::games::connect_four::{COLUMNS, ROWS};
use jarmo_core::games::{ConnectFour, ConnectFourPosition};
use rayon::prelude::*;

/// The program that Python runs.
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tools/bitbully_scores.py");

/// Solvers in processes of their own, one for each thread. They end when this is dropped.
pub struct BitBully {
    name: String,
    processes: Vec<Mutex<Solver>>,
}

struct Solver {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

/// The circles of the board.
const CIRCLES: u32 = (COLUMNS * ROWS) as u32;

impl BitBully {
    /// Starts solvers with this Python, which has the packages `bitbully` and `bitbully-databases`.
    pub fn start(python: &Path, threads: usize) -> io::Result<BitBully> {
        let mut processes = Vec::new();
        let mut name = String::new();
        for _ in 0..threads {
            let mut solver = Solver::start(python)?;
            name = solver.read_line()?;
            processes.push(Mutex::new(solver));
        }
        Ok(BitBully { name, processes })
    }

    /// The solver and its version.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The result of each legal action in each position, in the order of the actions, on the threads of the current
    /// rayon pool, which are no more than the solvers.
    pub fn solve(&self, game: &ConnectFour, positions: &[ConnectFourPosition]) -> io::Result<Vec<Vec<Proven>>> {
        let results = |position: &ConnectFourPosition| {
            let thread = rayon::current_thread_index().unwrap_or(0);
            let mut solver = self.processes[thread].lock().expect("no solver panics");
            let scores = solver.scores(&game.position_text(position))?;
            let legal = game.legal(position);
            let ply = game.ply(position);
            let result = |score: Option<i8>| score.map(|score| result_of(score, ply));
            let results = legal.iter().map(|action| result(scores[action.index()]));
            let results: Option<Vec<Proven>> = results.collect();
            results.ok_or_else(|| io::Error::other("the solver left an action out"))
        };
        positions.par_iter().map(results).collect()
    }
}

impl Solver {
    fn start(python: &Path) -> io::Result<Solver> {
        let mut command = Command::new(python);
        command.arg(SCRIPT).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let input = child.stdin.take().expect("its input is a pipe");
        let output = child.stdout.take().expect("its output is a pipe");
        let output = BufReader::new(output);
        Ok(Solver { child, input, output })
    }

    /// The score of each column, `None` for those that are full.
    fn scores(&mut self, position: &str) -> io::Result<[Option<i8>; COLUMNS]> {
        writeln!(self.input, "{position}")?;
        self.input.flush()?;
        let line = self.read_line()?;
        let wrong = || io::Error::other(format!("the solver answered {line:?}"));
        let mut scores = [None; COLUMNS];
        let words: Vec<&str> = line.split(' ').collect();
        if words.len() != COLUMNS {
            return Err(wrong());
        }
        for (score, word) in scores.iter_mut().zip(words) {
            if word != "-" {
                *score = Some(word.parse().map_err(|_| wrong())?);
            }
        }
        Ok(scores)
    }

    fn read_line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        match line.strip_suffix('\n') {
            Some(line) => Ok(line.trim_end().to_owned()),
            None => Err(io::Error::other("the solver ended; its message is above")),
        }
    }
}

impl Drop for Solver {
    fn drop(&mut self) {
        // It only waits for the next position.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The result of an action in a position with `ply` stones. A score of `n` means that the winner ends the game
/// with the `n`-th last stone of its side; the score is negative for a loss.
fn result_of(score: i8, ply: u32) -> Proven {
    let to_last = 2 * u32::from(score.unsigned_abs()); // stones of both sides
    // The last stone of the first player is number 41, that of the second number 42.
    let last_of = |second: bool| CIRCLES - 1 + u32::from(second);
    let mover_is_second = ply % 2 == 1;
    match score {
        0 => Proven::DRAW,
        1.. => Proven::win(last_of(mover_is_second) + 2 - to_last - ply),
        _ => Proven::loss(last_of(!mover_is_second) + 2 - to_last - ply),
    }
}
