//! How a game of a tournament begins, and how it is written down and found again.

use xxhash_rust::xxh3::xxh3_64;

use super::opening::Openings;
use super::runner::{Finished, Setup};
use super::schedule::GameId;
use super::tournament::Settings;
use crate::env::positions;
use crate::game::{Game, Player};
use crate::random::stream;
use crate::record::{ArenaMark, FORMAT, GameRecord};

/// What tells how a game begins and how its record is written.
pub(super) struct Plan<'a, G: Game> {
    pub game: &'a G,
    pub openings: &'a Openings<G::Position>,
    pub settings: Settings,
    pub bouts: Vec<(usize, usize)>, // the agents of each, by their places among the names
    pub names: Vec<String>,
}

impl<G: Game> Plan<'_, G> {
    /// The game before its first asked move.
    pub(super) fn setup(&self, id: GameId) -> Setup<G::Position> {
        let seats = id.seats(self.bouts[id.bout]);
        let opening = self.openings.of_pair(id.pair);
        // From the names, so that it is the same whoever else takes part.
        let names = seats.map(|agent| self.names[agent].as_bytes());
        let index = xxh3_64(&[names[0], &[0], names[1], &[0], &id.pair.to_le_bytes()].concat());
        Setup {
            seats,
            opening: opening.clone(),
            stream: stream(self.settings.seed, index),
        }
    }

    fn mark(&self, pair: u32) -> ArenaMark {
        let budget = self.settings.budget;
        ArenaMark {
            seed: self.settings.seed,
            pair,
            nodes: budget.nodes,
            movetime_ms: budget.movetime_ms(),
        }
    }

    /// The record of a finished game.
    pub(super) fn record(&self, finished: &Finished) -> GameRecord {
        let id = finished.id;
        let [white, black] = id.seats(self.bouts[id.bout]);
        let opening = self.openings.of_pair(id.pair);
        let positions = positions(self.game, opening.start, &finished.actions);
        let moves = positions.iter().zip(&finished.actions);
        GameRecord {
            format: FORMAT,
            game: self.game.id().to_owned(),
            rules: Some(self.game.rules_version()),
            white: Some(self.names[white].clone()),
            black: Some(self.names[black].clone()),
            outcome: Some(finished.outcome),
            arena: Some(self.mark(id.pair)),
            opening_plies: Some(opening.actions.len()),
            position: (opening.start != self.game.start())
                .then(|| self.game.position_text(&opening.start)),
            max_plies: Some(self.game.max_plies()),
            moves: moves
                .map(|(position, &action)| self.game.action_text(position, action))
                .collect(),
        }
    }

    /// The game of this tournament that a record holds; nothing for a game that did not end.
    pub(super) fn match_record(&self, record: &GameRecord) -> Result<Option<Finished>, String> {
        let mark = record.arena.ok_or("it was not played by `arena`")?;
        let same = |what: &str, there: Option<u64>, here: Option<u64>| {
            if there == here {
                return Ok(());
            }
            let told = |number: Option<u64>| {
                number.map_or("not set".to_owned(), |number| number.to_string())
            };
            Err(format!(
                "{what} is {} there and {} here",
                told(there),
                told(here)
            ))
        };
        if mark.pair >= self.settings.pairs {
            return Err(format!(
                "it is of pair {}, and {} games a match end before it; ask for more --games",
                mark.pair,
                2 * self.settings.pairs
            ));
        }
        let expected = self.mark(mark.pair);
        same("the seed", Some(mark.seed), Some(expected.seed))?;
        same("the number of nodes a move", mark.nodes, expected.nodes)?;
        same(
            "the time for a move in milliseconds",
            mark.movetime_ms,
            expected.movetime_ms,
        )?;
        let limit = Some(self.game.max_plies().into());
        same("the limit of plies", record.max_plies.map(u64::from), limit)?;
        let agent = |name: &Option<String>| {
            let name = name.as_deref().ok_or("a player is not named")?;
            self.names
                .iter()
                .position(|entrant| entrant == name)
                .ok_or_else(|| format!("{name} takes no part in it"))
        };
        let (white, black) = (agent(&record.white)?, agent(&record.black)?);
        let bout = self
            .bouts
            .iter()
            .position(|&bout| bout == (white, black) || bout == (black, white))
            .ok_or("these two do not meet in it")?;
        let first_plays = match self.bouts[bout].0 == white {
            true => Player::White,
            false => Player::Black,
        };
        let replay = record
            .replay(self.game)
            .map_err(|error| error.to_string())?;
        let opening = self.openings.of_pair(mark.pair);
        if replay.positions[0] != opening.start || !replay.actions.starts_with(&opening.actions) {
            return Err(format!("pair {} has another opening here", mark.pair));
        }
        let outcome = replay
            .positions
            .last()
            .and_then(|last| self.game.outcome(last));
        if outcome != record.outcome {
            return Err("its moves do not lead to the result it names".to_owned());
        }
        Ok(outcome.map(|outcome| Finished {
            id: GameId {
                bout,
                pair: mark.pair,
                first_plays,
            },
            actions: replay.actions,
            outcome,
        }))
    }
}
