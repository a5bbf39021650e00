//! `jarmo rules trace` and `jarmo rules show`

use std::io::{BufWriter, Write, stdin, stdout};

use clap::Subcommand;

use super::{Failure, GameArgs, RuleArgs, position_of};
use crate::probe::{self, TraceError};
use jarmo_core::numbers::MAX_PLIES;
use jarmo_facade::Games;
use jarmo_host::ascii::{locale_has_unicode, to_ascii};

/// Show positions, and replay games by the rules
#[derive(Subcommand)]
pub(super) enum Command {
    /// Read games as JSON lines and write all their positions
    #[command(after_help = "\
A line of input is {\"game\":NAME,\"position\":TEXT,\"max_plies\":200,\"moves\":[TEXT,…]}; position and
max_plies (0 for no limit) may be left out. The exit status is 1 if any line was rejected.")]
    Trace(RuleArgs),
    /// Draw a position and list its legal actions
    Show(ShowArgs),
}

#[derive(clap::Args)]
pub(super) struct ShowArgs {
    #[command(flatten)]
    game: GameArgs,
    /// The position to start from [default: the start of the game]
    #[arg(long, value_name = "TEXT")]
    position: Option<String>,
    /// Actions to play first, one after another
    #[arg(long, value_name = "ACTION", num_args = 1.., value_delimiter = ' ')]
    moves: Vec<String>,
    /// Plies after which the game is truncated; 0 for no limit [default: the game's own limit]
    #[arg(long, value_name = "PLIES", value_parser = MAX_PLIES.parser::<u32>())]
    max_plies: Option<u32>,
}

pub(super) fn run(games: &Games, command: Command) -> Result<(), Failure> {
    match command {
        Command::Trace(args) => {
            let settings = args.settings(None);
            for name in games.names() {
                games.open(name, &settings.fitting(name))?; // reports a wrong setting once
            }
            let out = BufWriter::new(stdout().lock());
            match probe::trace(games, &settings, stdin().lock(), out) {
                Ok(true) => Ok(()),
                Ok(false) => Err(Failure::Status(1)),
                Err(TraceError::Write(error)) => Err(Failure::Io(error)),
                Err(error) => Err(Failure::new(error)),
            }
        }
        Command::Show(args) => show(games, &args),
    }
}

fn show(games: &Games, args: &ShowArgs) -> Result<(), Failure> {
    let game = args.game.open(games, args.max_plies)?;
    let mut position = position_of(game.as_ref(), args.position.as_deref())?;
    let moves = args.moves.iter().filter(|text| !text.is_empty());
    for (index, text) in moves.enumerate() {
        let played = game.play_text(&position, text);
        (_, position) = played.map_err(|error| Failure::usage(format!("--moves: number {}: {error}", index + 1)))?;
    }
    let mut out = stdout().lock();
    let board = game.drawing(&position);
    writeln!(out, "{}", if locale_has_unicode() { board } else { to_ascii(&board) })?;
    writeln!(out, "position: {}", game.text(&position))?;
    match position.outcome {
        None => {
            let legal = probe::legal_texts(game.as_ref(), &position);
            writeln!(out, "legal ({}): {}", legal.len(), legal.join(" "))?;
        }
        Some(outcome) => {
            let result = match outcome.winner {
                Some(winner) => format!("{} wins", winner.name()),
                None => "draw".to_owned(),
            };
            let score = outcome.score.map_or(String::new(), |[white, black]| format!(", {white}:{black}"));
            let cut = if outcome.truncated { ", truncated" } else { "" };
            writeln!(out, "result: {result}{score}{cut}")?;
        }
    }
    Ok(())
}
