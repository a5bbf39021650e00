//! Positions of games as SVG files, by a list: the diagrams of the rules.
//!
//! A list is a TOML file. Each picture sets up a position, plays moves, and shows actions as arrows. What is shown as
//! legal or illegal is checked by the rules, so no picture can show a move wrongly.

use std::error::Error;
use std::path::Path;

use serde::Deserialize;

use jarmo_core::error::FileError;
use jarmo_core::view::{Arrow, Layout};
use jarmo_exact::catalog::GameSettings;
use jarmo_facade::Games;
use jarmo_host::files::{SETTINGS_BYTES, read_text};

/// A list of pictures.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Album {
    /// The pictures.
    pub picture: Vec<Picture>,
}

/// A position and what is shown in it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Picture {
    /// The name of the SVG file.
    pub file: String,
    /// The game.
    pub game: String,
    /// What the picture shows, for people who cannot see it.
    pub title: String,
    /// The position; the start of the game if unset.
    pub position: Option<String>,
    /// Actions that are played first.
    #[serde(default)]
    pub moves: Vec<String>,
    /// Legal actions to show as arrows.
    #[serde(default)]
    pub legal: Vec<String>,
    /// Moves to show as illegal.
    #[serde(default)]
    pub illegal: Vec<String>,
}

impl Album {
    /// Reads a list.
    pub fn load(path: &Path) -> Result<Album, FileError> {
        let text = read_text(path, SETTINGS_BYTES).map_err(|error| FileError::at(path, error))?;
        toml::from_str(&text).map_err(|error| FileError::at(path, error))
    }
}

impl Picture {
    /// The content of the SVG file, for one of these games.
    pub fn draw(&self, games: &Games) -> Result<String, FileError> {
        self.try_draw(games).map_err(|problem| FileError::at(Path::new(&self.file), problem))
    }

    fn try_draw(&self, games: &Games) -> Result<String, Box<dyn Error>> {
        let game = games.open(&self.game, &GameSettings::default())?;
        let layout = &game.facts().layout;
        if layout.is_none() {
            return Err(format!("{} has no board to draw", self.game).into());
        }
        let mut position = match &self.position {
            None => game.facts().start.clone(),
            Some(text) => game.parse(text)?,
        };
        for text in &self.moves {
            (_, position) = game.play_text(&position, text)?;
        }
        let mut arrows = Vec::new();
        for text in &self.legal {
            let (action, _) = game.play_text(&position, text)?;
            let gesture = game.describe(&position, action).gesture;
            let to = gesture.to.ok_or_else(|| no_arrow(text))?;
            arrows.push(Arrow { from: gesture.from, to, legal: true });
        }
        for text in &self.illegal {
            if game.play_text(&position, text).is_ok() {
                return Err(format!("{text} is legal").into());
            }
            arrows.push(by_names(layout, text).ok_or_else(|| no_arrow(text))?);
        }
        Ok(game.picture(&position, &arrows, &self.title))
    }
}

/// The arrow of a move that the rules refuse, by the names of its cells.
fn by_names(layout: &Layout, text: &str) -> Option<Arrow> {
    let cell = |name: &str| layout.cells.iter().position(|cell| cell.name == name);
    let (from, to) = text.split_once(['-', 'x'])?;
    Some(Arrow { from: Some(cell(from)?), to: cell(to)?, legal: false })
}

fn no_arrow(text: &str) -> String {
    format!("{text} cannot be shown as an arrow")
}
