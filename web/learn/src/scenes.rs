//! Games as the page draws them.

use crate::judge::Game;
use crate::{LearnError, Worker};
use jarmo_core::game::{AnyPosition, Player};
use jarmo_core::view::{Gesture, Layout, Note, Piece};
use jarmo_facade::View;
use serde::Serialize;

/// A game as the page draws it.
#[derive(Debug, Serialize)]
pub struct Scenes {
    layout: Layout,
    scenes: Vec<Scene>,
}

/// A position of a game, and the move that led to it.
#[derive(Debug, Serialize)]
struct Scene {
    position: String,
    to_move: Player,
    last: Option<Gesture>,
    pieces: Vec<Piece>,
    notes: Vec<Note>,
    winning: Vec<usize>,
}

impl Worker {
    /// The positions of a game, from its start to its end. An empty start is that of the game.
    pub fn scenes(&self, game: &Game) -> Result<Scenes, LearnError> {
        let facts = self.game.facts();
        let mut position = match game.start.as_str() {
            "" => facts.start.clone(),
            text => self.game.parse(text).map_err(LearnError::message)?,
        };
        let mut scenes = vec![self.scene(&position, None)];
        for text in &game.moves {
            let action = self.game.parse_action(&position, text).map_err(LearnError::message)?;
            let last = self.game.describe(&position, action).gesture;
            position = self.game.after(&position, action).map_err(LearnError::message)?;
            scenes.push(self.scene(&position, Some(last)));
        }
        Ok(Scenes { layout: facts.layout.clone(), scenes })
    }

    fn scene(&self, position: &AnyPosition, last: Option<Gesture>) -> Scene {
        let View { pieces, notes, winning, .. } = self.game.view(position);
        Scene { position: self.game.text(position), to_move: position.to_move, last, pieces, notes, winning }
    }
}
