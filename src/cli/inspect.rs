//! `jarmo inspect`

use std::path::PathBuf;

use super::{Failure, in_file, position_of, print};
use jarmo_core::net::{AgentFile, Inspection, NetOutput};
use jarmo_exact::catalog::{Catalog, CatalogGame, GameSettings, GameTask};
use jarmo_host::agent_file;

/// Show the contents of an agent file, and its network's evaluation of a position
#[derive(clap::Args)]
pub(super) struct Args {
    /// The agent file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Also evaluate this position; `start` is the start of the game
    #[arg(long, value_name = "TEXT")]
    position: Option<String>,
    /// The board file of an agent that was trained on another board
    #[arg(long, value_name = "FILE", requires = "position")]
    board: Option<PathBuf>,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run<C: Catalog>(games: &C, args: Args) -> Result<(), Failure> {
    let file = agent_file::load(&args.file)?;
    let mut inspection = Inspection::new(&file);
    if let Some(position) = &args.position {
        let settings = GameSettings { board: args.board.clone(), ..GameSettings::default() };
        let task = OpinionTask { args: &args, file: &file, position };
        let game = &file.header().version.game;
        inspection.output = Some(games.with_game(game, &settings, task)??);
    }
    print(&inspection, args.json)
}

struct OpinionTask<'a> {
    args: &'a Args,
    file: &'a AgentFile,
    position: &'a str,
}

impl GameTask for OpinionTask<'_> {
    type Output = Result<NetOutput, Failure>;

    fn run<G: CatalogGame>(self, game: G) -> Result<NetOutput, Failure> {
        let file = self.file.clone().for_game(&game);
        let file = file.map_err(|error| in_file(&self.args.file, error))?;
        let position = position_of(&game, Some(self.position))?;
        Ok(NetOutput::new(&file, &game, &position))
    }
}
