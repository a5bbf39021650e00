//! Reading a web from a file, and refusing one that no game could be played on.

use std::path::Path;

use serde::Deserialize;

use super::{Circle, Circles, MAX_LINES, Web};
use crate::game::{Player, shorten};

/// What is wrong with a web file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct WebError(String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WebFile {
    name: String,
    lines: Vec<String>,
}

impl Web {
    /// Reads a web from a TOML file.
    pub fn load(path: &Path) -> Result<Web, WebError> {
        let named = |problem: String| WebError(format!("{}: {problem}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| named(error.to_string()))?;
        Web::from_toml(&text).map_err(|error| named(error.0))
    }

    /// Reads a web from TOML text: `name`, and `lines` as a list of `"A1-B3"`.
    pub fn from_toml(text: &str) -> Result<Web, WebError> {
        let file: WebFile = toml::from_str(text).map_err(|error| {
            WebError(format!(
                "not a web file (name = \"…\", lines = [\"A1-B3\", …]): {}",
                error.to_string().trim_end()
            ))
        })?;
        let mut lines: Vec<(Circle, Circle)> = Vec::with_capacity(file.lines.len());
        for (index, text) in file.lines.iter().enumerate() {
            let line = parse_line(text).map_err(|problem| {
                WebError(format!("line {} `{}`: {problem}", index + 1, shorten(text)))
            })?;
            if let Some(first) = lines.iter().position(|&other| other == line) {
                return Err(WebError(format!(
                    "line {} `{}` is there already as line {} `{}`; lines run both ways",
                    index + 1,
                    shorten(text),
                    first + 1,
                    file.lines[first]
                )));
            }
            lines.push(line);
        }
        if lines.len() > MAX_LINES {
            return Err(WebError(format!(
                "{} lines; a web has at most {MAX_LINES}",
                lines.len()
            )));
        }
        let web = Web::new(file.name, lines);
        web.check_playable()?;
        Ok(web)
    }

    /// Every circle has a line, and from every circle of a home row the goal row can be reached.
    fn check_playable(&self) -> Result<(), WebError> {
        if let Some(lonely) = Circle::all().find(|&circle| self.neighbours(circle).is_empty()) {
            return Err(WebError(format!("circle {lonely} has no line")));
        }
        for player in Player::BOTH {
            for start in Circles::home(player).iter() {
                if (self.reachable(start) & Circles::goal(player)).is_empty() {
                    return Err(WebError(format!(
                        "{}'s goal row {} cannot be reached from {start}",
                        player.name(),
                        Circles::home_row_of(!player) + 1
                    )));
                }
            }
        }
        Ok(())
    }

    fn reachable(&self, start: Circle) -> Circles {
        let mut reached = Circles::from(start);
        loop {
            let wider = reached
                .iter()
                .fold(reached, |set, circle| set | self.neighbours(circle));
            if wider == reached {
                return reached;
            }
            reached = wider;
        }
    }
}

/// The two circles of a line, the lower one first.
fn parse_line(text: &str) -> Result<(Circle, Circle), String> {
    let (from, to) = text
        .split_once('-')
        .ok_or("expected two circles with `-` between them, as in `A1-B3`")?;
    let circle = |name: &str| {
        name.parse::<Circle>()
            .map_err(|error| format!("`{}` is {error}", shorten(name)))
    };
    let (from, to) = (circle(from)?, circle(to)?);
    if from == to {
        return Err("a line needs two different circles".to_owned());
    }
    Ok((from.min(to), from.max(to)))
}
