//! Reads a board file and checks that jarmo can be played on the board.

use serde::Deserialize;

use super::{Board, CIRCLES, Circle, Circles, MAX_LINES};
use crate::error::FileError;
use crate::game::{Player, shorten};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BoardFile {
    name: String,
    lines: Vec<String>,
}

impl Board {
    /// Reads a board from TOML text with a `name`, and `lines` as a list such as `["A1-B3"]`.
    pub fn from_toml(text: &str) -> Result<Board, FileError> {
        let file: BoardFile = toml::from_str(text).map_err(|error| {
            FileError::from(format!(
                "not a board file (name = \"…\", lines = [\"A1-B3\", …]): {}",
                error.to_string().trim_end()
            ))
        })?;
        let mut lines: Vec<(Circle, Circle)> = Vec::with_capacity(file.lines.len());
        for (index, text) in file.lines.iter().enumerate() {
            let line = parse_line(text)
                .map_err(|problem| FileError::from(format!("line {} `{}`: {problem}", index + 1, shorten(text))))?;
            if let Some(first) = lines.iter().position(|&other| other == line) {
                return Err(FileError::from(format!(
                    "line {} `{}` repeats line {} `{}`; lines have no direction",
                    index + 1,
                    shorten(text),
                    first + 1,
                    file.lines[first]
                )));
            }
            lines.push(line);
        }
        if lines.len() > MAX_LINES {
            return Err(FileError::from(format!("{} lines; a board has at most {MAX_LINES}", lines.len())));
        }
        let board = Board::new(file.name, lines);
        board.check_playable()?;
        Ok(board)
    }

    /// Checks that every circle has a line, and that the goal row can be reached from every circle of the home row.
    fn check_playable(&self) -> Result<(), FileError> {
        if let Some(lonely) = Circle::all().find(|&circle| self.neighbours(circle).is_empty()) {
            return Err(FileError::from(format!("circle {lonely} has no line")));
        }
        for player in Player::BOTH {
            let distances = self.distances(Circles::goal(player));
            for start in Circles::home(player).iter() {
                if distances[start.index()] == CIRCLES {
                    return Err(FileError::from(format!(
                        "{}'s goal row {} cannot be reached from {start}",
                        player.name(),
                        Circles::home_row_of(!player) + 1
                    )));
                }
            }
        }
        Ok(())
    }
}

/// The two circles of a line, the lower one first.
fn parse_line(text: &str) -> Result<(Circle, Circle), String> {
    let (from, to) = text.split_once('-').ok_or("expected two circles joined by `-`, such as `A1-B3`")?;
    let circle = |name: &str| name.parse::<Circle>().map_err(|error| format!("`{}` is {error}", shorten(name)));
    let (from, to) = (circle(from)?, circle(to)?);
    if from == to {
        return Err("a line needs two different circles".to_owned());
    }
    Ok((from.min(to), from.max(to)))
}
