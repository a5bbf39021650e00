//! `jarmo inspect`

use std::path::PathBuf;

use super::{Failure, in_file, load_agent, position_of, print, unknown_game};
use jarmo_core::net::Inspection;
use jarmo_exact::catalog::GameSettings;
use jarmo_facade::Games;

/// Show the contents of an agent file, and its network's evaluation of a position
#[derive(clap::Args)]
pub(super) struct Args {
    /// The agent file, or the folder of a run for its newest checkpoint
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Also evaluate this position; `start` is the start of the game
    #[arg(long, value_name = "TEXT")]
    position: Option<String>,
    /// The board file, if the agent was trained on another board
    #[arg(long, value_name = "FILE", requires = "position")]
    board: Option<PathBuf>,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(games: &Games, args: Args) -> Result<(), Failure> {
    let file = load_agent(&args.file)?;
    let mut inspection = Inspection::new(&file);
    if let Some(position) = &args.position {
        let settings = GameSettings { board: args.board.clone(), ..GameSettings::default() };
        let game = &file.header().version.game;
        if !games.names().contains(&game.as_str()) {
            return Err(in_file(&args.file, unknown_game(games, game)));
        }
        let game = games.open(game, &settings)?;
        let file = game.fit(file).map_err(|error| in_file(&args.file, error))?;
        let position = position_of(game.as_ref(), Some(position))?;
        inspection.output = Some(game.output(&file, &position));
    }
    print(&inspection, args.json)
}
