//! Plays games given as JSON lines and writes all their positions as JSON lines, to test the rules from outside.

use std::io::{self, BufRead, Write};

use serde::{Deserialize, Serialize};
use serde_json::json;

use jarmo_core::game::{AnyPosition, Outcome, Player, shorten_quotes};
use jarmo_exact::catalog::GameSettings;
use jarmo_facade::{AnyGame, Games};
use jarmo_host::input::{read_line, too_long};

/// The move limit of games that do not give `max_plies`.
const DEFAULT_MAX_PLIES: u32 = 200;

/// The maximum length of a line; far more than a real game needs.
const MAX_LINE_BYTES: u64 = 16 << 20;

/// A game to trace. Unknown keys are ignored.
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

/// Why tracing stopped before the end of the input.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The input cannot be read.
    #[error("reading games: {0}")]
    Read(io::Error),
    /// The output cannot be written.
    #[error("writing positions: {0}")]
    Write(io::Error),
}

/// Reads games, one JSON object per line, and writes every position of each. If a game fails, an error line
/// replaces the rest of its positions and tracing continues. Returns whether all games succeeded.
///
/// Settings that a game does not have are ignored.
pub fn trace(
    games: &Games,
    settings: &GameSettings,
    mut input: impl BufRead,
    mut out: impl Write,
) -> Result<bool, TraceError> {
    let mut success = true;
    let mut line = Vec::new();
    for number in 1_u64.. {
        let read = read_line(&mut input, &mut line, MAX_LINE_BYTES).map_err(TraceError::Read)?;
        let Some(whole) = read else {
            break;
        };
        let traced = if whole { parse_line(&line) } else { Err(too_long(MAX_LINE_BYTES)) };
        let written = match traced {
            Err(problem) => Ok(Err(problem)),
            Ok(traced) => trace_game(games, settings, &traced, &mut out),
        };
        if let Err(problem) = written.map_err(TraceError::Write)? {
            success = false;
            let error = json!({ "error": format!("line {number}: {problem}") });
            write_line(&mut out, &error).map_err(TraceError::Write)?;
        }
        out.flush().map_err(TraceError::Write)?;
    }
    Ok(success)
}

fn parse_line(line: &[u8]) -> Result<TraceGame, String> {
    let expected = "expected {\"game\":…,\"moves\":[…]} with optional \"position\" and \"max_plies\"";
    // Serde would also accept an array of the fields.
    if line.trim_ascii_start().first() != Some(&b'{') {
        return Err(expected.to_owned());
    }
    serde_json::from_slice(line).map_err(|error| {
        let message = error.to_string();
        // Serde counts lines within this line; that number is useless here.
        let message = shorten_quotes(message.split(" at line ").next().unwrap_or_default());
        format!("{expected}: {message} (column {})", error.column())
    })
}

/// Traces one game. The outer error is a write error, the inner one is in the game.
fn trace_game(
    games: &Games,
    settings: &GameSettings,
    traced: &TraceGame,
    out: &mut dyn Write,
) -> io::Result<Result<(), String>> {
    let settings = GameSettings {
        max_plies: Some(traced.max_plies.unwrap_or(DEFAULT_MAX_PLIES)),
        ..settings.fitting(&traced.game)
    };
    let game = match games.open(&traced.game, &settings) {
        Ok(game) => game,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let mut position = match &traced.position {
        None => game.facts().start.clone(),
        Some(text) => match game.parse(text) {
            Ok(position) => position,
            Err(error) => return Ok(Err(format!("illegal position: {error}"))),
        },
    };
    write_position(game.as_ref(), &position, out)?;
    for (index, text) in traced.moves.iter().enumerate() {
        match game.play_text(&position, text) {
            Ok((_, next)) => position = next,
            Err(error) => return Ok(Err(format!("move {}: {error}", index + 1))),
        }
        write_position(game.as_ref(), &position, out)?;
    }
    Ok(Ok(()))
}

fn write_position(game: &dyn AnyGame, position: &AnyPosition, out: &mut dyn Write) -> io::Result<()> {
    let line = TracePosition {
        position: &game.text(position),
        to_move: position.to_move,
        legal: legal_texts(game, position),
        outcome: position.outcome,
    };
    write_line(out, &line)
}

/// The texts of the legal actions, sorted.
pub fn legal_texts(game: &dyn AnyGame, position: &AnyPosition) -> Vec<String> {
    let mut texts: Vec<String> = game.view(position).moves.into_iter().map(|one| one.text).collect();
    texts.sort_unstable();
    texts
}

fn write_line(mut out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut out, value)?;
    out.write_all(b"\n")
}
