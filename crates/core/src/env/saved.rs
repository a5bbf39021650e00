//! Unfinished games as plain data, so that they can continue after a restart of the program.

use serde::{Deserialize, Serialize};

use super::{GameStats, Keep, Opening, Shard};
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

/// One unfinished game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedGame {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    start: Option<String>, // position text; `None` for the start position of the game
    actions: Vec<u16>, // from the start
}

/// A saved game that was played again to its end.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayedGame<P> {
    /// All positions, from the start to the final one.
    pub positions: Vec<P>,
    /// The outcome.
    pub outcome: Outcome,
    /// The counts of this game alone.
    pub stats: GameStats,
}

/// A saved game that cannot continue under these rules, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("saved game: {0}")]
pub struct EnvError(String);

impl SavedGame {
    /// The game that these legal actions lead to from `start`.
    pub fn of<G: Game>(game: &G, start: &G::Position, actions: &[Action]) -> SavedGame {
        SavedGame {
            start: (*start != game.start()).then(|| game.position_text(start)),
            actions: actions.iter().map(|action| action.0).collect(),
        }
    }

    /// A game from plain data: the text of its start position unless that is the start of the game, and its actions.
    pub fn new(start: Option<String>, actions: Vec<u16>) -> SavedGame {
        SavedGame { start, actions }
    }

    /// The text of its start position; empty for the start of the game.
    pub fn start_text(&self) -> String {
        self.start.clone().unwrap_or_default()
    }

    /// Its actions from the start.
    pub fn actions(&self) -> &[u16] {
        &self.actions
    }

    /// The game so far. Fails if it breaks the rules or is over.
    pub fn opening<G: Game>(&self, game: &G) -> Result<Opening<G::Position>, EnvError> {
        let start = self.start_position(game)?;
        let actions = self.actions.iter().map(|&action| Action(action)).collect();
        let opening = Opening::after(game, start, actions);
        let opening = opening.map_err(|error| EnvError(error.to_string()))?;
        match game.outcome(&opening.position) {
            None => Ok(opening),
            Some(_) => Err(EnvError("the game is already over".to_owned())),
        }
    }

    /// Whether the game begins at another position than the start of the game.
    pub fn has_own_start(&self) -> bool {
        self.start.is_some()
    }

    /// Plays the game again in an environment. Fails if it breaks the rules or is not over.
    pub fn replay<G: Game>(&self, game: &G) -> Result<PlayedGame<G::Position>, EnvError> {
        let start = self.start_position(game)?;
        if game.outcome(&start).is_some() {
            return Err(EnvError("the game is over at its start".to_owned()));
        }
        let keep = Keep {
            history: false,
            events: true,
        };
        let mut env = Shard::new(game, 0..1, keep, |_| Some(Opening::at(start)));
        let (mut positions, mut outcome) = (vec![start], None);
        for &action in &self.actions {
            let mut after = *env.position(0);
            let legal = game.try_play(&mut after, Action(action));
            legal.map_err(|error| EnvError(error.to_string()))?;
            env.step(&[Action(action)], |ended| {
                outcome = Some(ended.outcome);
                None
            });
            positions.push(after);
        }
        let outcome = outcome.ok_or_else(|| EnvError("the game is not over".to_owned()))?;
        Ok(PlayedGame {
            positions,
            outcome,
            stats: env.take_stats(),
        })
    }

    fn start_position<G: Game>(&self, game: &G) -> Result<G::Position, EnvError> {
        let Some(text) = &self.start else {
            return Ok(game.start());
        };
        let parsed = game.parse_position(text);
        parsed.map_err(|error| EnvError(error.to_string()))
    }
}
