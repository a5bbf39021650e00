//! The rules driven from outside: games in as JSON lines, every position of them out as JSON lines.

use std::io::{self, BufRead, Write};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::catalog::{CatalogGame, GameSettings, GameTask, with_game};
use crate::game::{Mask, Outcome, Player};

/// The limit on the length of a game that names none.
const DEFAULT_MAX_PLIES: u32 = 200;

/// A game to trace; other keys of the line are not looked at.
#[derive(Deserialize)]
struct TraceGame {
    game: String,
    position: Option<String>,
    max_plies: Option<u32>,
    moves: Vec<String>,
}

/// One position of a traced game.
#[derive(Serialize)]
struct TracePosition<'a> {
    position: &'a str,
    to_move: Player,
    legal: Vec<String>,
    outcome: Option<Outcome>,
}

#[derive(Serialize)]
struct TraceError {
    error: String,
}

/// Reads games, one JSON object a line, and writes every position of each. A line that fails gives an
/// error line in place of the rest of its game, and reading goes on. Returns whether no line failed.
///
/// Errors are those of reading and writing alone.
pub fn trace(
    web: Option<PathBuf>,
    mut input: impl BufRead,
    mut out: impl Write,
) -> io::Result<bool> {
    let mut all_well = true;
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let problem = match parse_line(&line) {
            Err(problem) => Some(problem),
            Ok(traced) => trace_line(web.clone(), &traced, &mut out)?.err(),
        };
        if let Some(problem) = problem {
            all_well = false;
            let error = format!("line {number}: {problem}");
            write_line(&mut out, &TraceError { error })?;
        }
        out.flush()?;
    }
    Ok(all_well)
}

fn parse_line(line: &[u8]) -> Result<TraceGame, String> {
    serde_json::from_slice(line).map_err(|error| {
        format!("expected {{\"game\":…,\"moves\":[…]}} with optional \"position\" and \"max_plies\": {error}")
    })
}

/// Traces one game; the inner error is about the game, the outer one about writing.
fn trace_line(
    web: Option<PathBuf>,
    traced: &TraceGame,
    out: &mut dyn Write,
) -> io::Result<Result<(), String>> {
    let settings = GameSettings {
        web,
        max_plies: Some(traced.max_plies.unwrap_or(DEFAULT_MAX_PLIES)),
        ..GameSettings::default()
    };
    match with_game(&traced.game, &settings, TraceTask { traced, out }) {
        Ok(result) => result,
        Err(error) => Ok(Err(error.to_string())),
    }
}

struct TraceTask<'a> {
    traced: &'a TraceGame,
    out: &'a mut dyn Write,
}

impl GameTask for TraceTask<'_> {
    type Output = io::Result<Result<(), String>>;

    fn run<G: CatalogGame>(self, game: G) -> Self::Output {
        let mut position = match &self.traced.position {
            None => game.start(),
            Some(text) => match game.parse_position(text) {
                Ok(position) => position,
                Err(error) => return Ok(Err(format!("illegal position: {error}"))),
            },
        };
        write_position(&game, &position, self.out)?;
        for (index, text) in self.traced.moves.iter().enumerate() {
            if let Err(error) = game.play_text(&mut position, text) {
                return Ok(Err(format!("move {}: {error}", index + 1)));
            }
            write_position(&game, &position, self.out)?;
        }
        Ok(Ok(()))
    }
}

fn write_position<G: CatalogGame>(
    game: &G,
    position: &G::Position,
    out: &mut dyn Write,
) -> io::Result<()> {
    let line = TracePosition {
        position: &game.position_text(position),
        to_move: game.to_move(position),
        legal: legal_texts(game, position),
        outcome: game.outcome(position),
    };
    write_line(out, &line)
}

/// The texts of the legal actions, sorted by bytes.
pub fn legal_texts<G: CatalogGame>(game: &G, position: &G::Position) -> Vec<String> {
    let mut texts: Vec<String> = game
        .legal(position)
        .iter()
        .map(|action| game.action_text(position, action))
        .collect();
    texts.sort_unstable();
    texts
}

fn write_line(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}
