//! Unfinished games as plain data, so that they can continue after a restart of the program.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Autoreset, EnvSettings, GameStats, Keep, Line, Seat, Shard};
use crate::error::FileError;
use crate::game::{Action, Game, Outcome};

/// The unfinished games of an environment.
///
/// Random numbers are derived from seed, slot and step, so nothing else needs to be saved.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvState {
    /// Steps so far.
    pub steps: u64,
    /// The game of each slot; `None` for idle slots.
    pub games: Vec<Option<SavedGame>>,
}

/// A [`VecEnv`](super::VecEnv): its unfinished games, and what decides how they go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedEnv {
    #[serde(flatten)]
    pub(super) terms: Terms,
    pub(super) seed: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) seeds: Vec<u64>, // [games] or none
    pub(super) resets: u64,
    pub(super) sides: Vec<u8>, // [games], of the caller
    pub(super) state: EnvState,
}

/// What must be the same where an environment is restored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Terms {
    format: u32,
    game: String,
    rules_version: u32,
    max_plies: u32,
    games: usize,
    autoreset: Autoreset,
    seat: Seat,
    opponent: Option<String>,
    random_plies: u32,
}

/// Increased whenever saved environments change their meaning.
const FORMAT: u32 = 2;

impl Terms {
    pub(super) fn new<G: Game>(game: &G, settings: &EnvSettings, opponent: Option<String>) -> Terms {
        Terms {
            format: FORMAT,
            game: game.id().to_owned(),
            rules_version: game.rules_version(),
            max_plies: game.max_plies(),
            games: settings.games,
            autoreset: settings.autoreset,
            seat: settings.seat,
            opponent,
            random_plies: settings.random_plies,
        }
    }
}

impl SavedEnv {
    /// Fails if the environment had other terms, or lacks games.
    pub(super) fn check(&self, ours: &Terms) -> Result<(), FileError> {
        let [theirs, ours] = [&self.terms, ours].map(|terms| json!(terms));
        let theirs = theirs.as_object().into_iter().flatten();
        let mut other = theirs.filter(|(name, theirs)| ours[name] != **theirs);
        if let Some((name, theirs)) = other.next() {
            return Err(format!("the saved environment has {name} {theirs}, this one {}", ours[name]).into());
        }
        let mut games = vec![self.state.games.len(), self.sides.len()];
        games.extend((!self.seeds.is_empty()).then_some(self.seeds.len()));
        match games.iter().all(|&count| count == self.terms.games) {
            true => Ok(()),
            false => Err("not a saved environment: games are missing".to_owned().into()),
        }
    }
}

/// One unfinished game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedGame {
    /// The text of its start position; `None` for that of the game.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// Its actions from the start.
    pub actions: Vec<u16>,
}

/// A game that cannot continue under these rules.
fn game_error(why: impl fmt::Display) -> FileError {
    format!("saved game: {why}").into()
}

impl SavedGame {
    /// This game as plain data.
    pub fn of<G: Game>(game: &G, line: &Line<G::Position>) -> SavedGame {
        SavedGame { start: line.start_text(game), actions: line.actions.iter().map(|action| action.0).collect() }
    }

    /// The game so far. Fails if it breaks the rules or is over.
    pub fn line<G: Game>(&self, game: &G) -> Result<Line<G::Position>, FileError> {
        let start = self.start_position(game)?;
        let actions = self.actions.iter().map(|&action| Action(action)).collect();
        let line = Line::after(game, start, actions).map_err(game_error)?;
        match game.outcome(&line.position) {
            None => Ok(line),
            Some(_) => Err(game_error("the game is already over")),
        }
    }

    /// Plays the game again in an environment. Returns its positions up to the final one, its outcome and its
    /// counts. Fails if it breaks the rules or is not over.
    pub fn replay<G: Game>(&self, game: &G) -> Result<(Vec<G::Position>, Outcome, GameStats), FileError> {
        let start = self.start_position(game)?;
        if game.outcome(&start).is_some() {
            return Err(game_error("the game is over at its start"));
        }
        let mut env = Shard::new(game, 0..1, Keep { history: false, events: true }, |_| Some(Line::at(start)));
        let (mut positions, mut outcome) = (vec![start], None);
        for &action in &self.actions {
            let mut after = *env.position(0);
            game.try_play(&mut after, Action(action)).map_err(game_error)?;
            env.step(&[Action(action)], |ended, _| {
                outcome = Some(ended.outcome);
                None
            });
            positions.push(after);
        }
        let outcome = outcome.ok_or_else(|| game_error("the game is not over"))?;
        Ok((positions, outcome, env.take_stats()))
    }

    fn start_position<G: Game>(&self, game: &G) -> Result<G::Position, FileError> {
        let Some(text) = &self.start else { return Ok(game.start()) };
        game.parse_position(text).map_err(game_error)
    }
}
