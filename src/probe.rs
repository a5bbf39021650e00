//! Plays games given as JSON lines and writes all their positions as JSON lines, to test the rules from outside.

use std::io::{self, BufRead, Write};

use serde::{Deserialize, Serialize};
use serde_json::json;

use jarmo_core::game::{Mask, Outcome, Player, shorten_quotes};
use jarmo_exact::catalog::{Catalog, CatalogGame, GameSettings, GameTask};
use jarmo_host::input::{read_line, too_long};

/// The limit on the length of games that do not give `max_plies`.
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
pub fn trace<C: Catalog>(
    games: &C,
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
fn trace_game<C: Catalog>(
    games: &C,
    settings: &GameSettings,
    traced: &TraceGame,
    out: &mut dyn Write,
) -> io::Result<Result<(), String>> {
    let settings = GameSettings {
        max_plies: Some(traced.max_plies.unwrap_or(DEFAULT_MAX_PLIES)),
        ..settings.fitting(&traced.game)
    };
    match games.with_game(&traced.game, &settings, TraceTask { traced, out }) {
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

fn write_position<G: CatalogGame>(game: &G, position: &G::Position, out: &mut dyn Write) -> io::Result<()> {
    let line = TracePosition {
        position: &game.position_text(position),
        to_move: game.to_move(position),
        legal: legal_texts(game, position),
        outcome: game.outcome(position),
    };
    write_line(out, &line)
}

/// The texts of the legal actions, sorted.
pub fn legal_texts<G: CatalogGame>(game: &G, position: &G::Position) -> Vec<String> {
    let mut texts: Vec<String> = game.legal(position).iter().map(|action| game.action_text(position, action)).collect();
    texts.sort_unstable();
    texts
}

fn write_line(mut out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut out, value)?;
    out.write_all(b"\n")
}
