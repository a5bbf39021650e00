//! `jarmo rules trace`, `jarmo rules show` and `jarmo rules draw`

use std::io::{BufWriter, Write, stdin, stdout};
use std::path::PathBuf;

use clap::Subcommand;

use super::{Failure, GameArgs, RuleArgs, position_of, write_output};
use crate::pictures::Album;
use crate::probe::{self, TraceError};
use jarmo_core::numbers::MAX_PLIES;
use jarmo_exact::catalog::{Catalog, CatalogGame, GameTask};
use jarmo_host::ascii::{locale_has_unicode, to_ascii};

/// Show and trace positions by the rules
#[derive(Subcommand)]
pub(super) enum Command {
    /// Read games as JSON lines and write all their positions
    #[command(after_help = "\
A line of input is {\"game\":NAME,\"position\":TEXT,\"max_plies\":200,\"moves\":[TEXT,…]}; position and
max_plies (0 for no limit) may be left out. The exit status is 1 if any line was refused.")]
    Trace(RuleArgs),
    /// Draw a position and list its legal actions
    Show(ShowArgs),
    /// Draw the pictures of a list, such as docs/games/pictures.toml, as SVG files beside it
    Draw(DrawArgs),
}

#[derive(clap::Args)]
pub(super) struct DrawArgs {
    /// The list
    #[arg(value_name = "FILE")]
    list: PathBuf,
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
    /// Plies after which the game is cut off; 0 for no limit [default: the game's own limit]
    #[arg(long, value_name = "PLIES", value_parser = MAX_PLIES.parser::<u32>())]
    max_plies: Option<u32>,
}

pub(super) fn run<C: Catalog>(games: &C, command: Command) -> Result<(), Failure> {
    match command {
        Command::Trace(args) => {
            let settings = args.settings(None);
            for name in games.names() {
                games.with_game(name, &settings.fitting(name), Nothing)?; // reports a wrong setting once
            }
            let out = BufWriter::new(stdout().lock());
            match probe::trace(games, &settings, stdin().lock(), out) {
                Ok(true) => Ok(()),
                Ok(false) => Err(Failure::Status(1)),
                Err(TraceError::Write(error)) => Err(Failure::Io(error)),
                Err(error) => Err(Failure::new(error)),
            }
        }
        Command::Show(args) => args.game.open(games, args.max_plies, &args),
        Command::Draw(args) => {
            let album = Album::load(&args.list)?;
            for picture in &album.picture {
                let path = args.list.with_file_name(&picture.file);
                let drawn = picture.draw(games)?;
                write_output(&path, drawn)?;
                writeln!(stdout(), "{}", path.display())?;
            }
            Ok(())
        }
    }
}

/// Only checks the settings.
struct Nothing;

impl GameTask for Nothing {
    type Output = ();

    fn run<G: CatalogGame>(self, _: G) {}
}

impl GameTask for &ShowArgs {
    type Output = Result<(), Failure>;

    fn run<G: CatalogGame>(self, game: G) -> Result<(), Failure> {
        let mut position = position_of(&game, self.position.as_deref())?;
        let moves = self.moves.iter().filter(|text| !text.is_empty());
        for (index, text) in moves.enumerate() {
            game.play_text(&mut position, text)
                .map_err(|error| Failure::usage(format!("--moves: number {}: {error}", index + 1)))?;
        }
        let mut out = stdout().lock();
        let board = game.display(&position).to_string();
        writeln!(out, "{}", if locale_has_unicode() { board } else { to_ascii(&board) })?;
        writeln!(out, "position: {}", game.position_text(&position))?;
        match game.outcome(&position) {
            None => {
                let legal = probe::legal_texts(&game, &position);
                writeln!(out, "legal ({}): {}", legal.len(), legal.join(" "))?;
            }
            Some(outcome) => {
                let result = match outcome.winner {
                    Some(winner) => format!("{} wins", winner.name()),
                    None => "draw".to_owned(),
                };
                let score = outcome.score.map_or(String::new(), |[white, black]| format!(", {white}:{black}"));
                let cut = if outcome.truncated { ", cut off" } else { "" };
                writeln!(out, "result: {result}{score}{cut}")?;
            }
        }
        Ok(())
    }
}
