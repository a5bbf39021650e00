//! The game, and the versions of its rules and features, for which a network or a sample was made.

use serde::{Deserialize, Serialize};

use super::settings::NetShape;
use crate::encode::Encode;
use crate::error::FileError;
use crate::game::shorten;

/// The game, rules and features of networks and samples. They cannot be used with any others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GameVersion {
    /// The game.
    pub game: String,
    /// The version of its rules.
    pub rules_version: u32,
    /// The version of its features.
    pub encoder_version: u32,
    /// The board, for games that have several.
    pub board: String,
    /// The inputs and outputs of a network.
    pub shape: NetShape,
}

impl GameVersion {
    /// The game as this program plays it.
    pub fn of<G: Encode>(game: &G) -> GameVersion {
        GameVersion {
            game: game.id().to_owned(),
            rules_version: game.rules_version(),
            encoder_version: game.encoder_version(),
            board: game.board_text(),
            shape: NetShape::of(game),
        }
    }

    /// Fails unless this equals what the program `needs`. The error names both.
    pub fn check(&self, needs: &GameVersion) -> Result<(), FileError> {
        let game = &needs.game;
        let again = "use the version that wrote it";
        let problem = if self.game != *game {
            let own = shorten(&self.game);
            format!("it is for {own}, not for {game}; choose a file for {game}, or the game {own}")
        } else if self.rules_version != needs.rules_version {
            format!(
                "rules version {} of {game}, this program has version {}; {again}",
                self.rules_version, needs.rules_version
            )
        } else if self.encoder_version != needs.encoder_version {
            format!("encoder version {}, this program needs {}; {again}", self.encoder_version, needs.encoder_version)
        } else if self.board != needs.board {
            format!("it is for another board, with the lines {}; choose {game} on that board", shorten(&self.board))
        } else if self.shape != needs.shape {
            format!("its shape is {:?}, this program's {game} needs {:?}; {again}", self.shape, needs.shape)
        } else {
            return Ok(());
        };
        Err(problem.into())
    }
}
