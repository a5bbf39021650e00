//! Sets up the games of a tournament, writes their records, and matches records with games.

use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use super::opening::Openings;
use super::runner::{Ended, Setup};
use super::schedule::GameId;
use super::tournament::Settings;
use jarmo_core::game::{Game, Player, shorten};
use jarmo_core::random::stream;
use jarmo_exact::tables::Endgames;
use jarmo_host::record::{ArenaMark, FORMAT, GameRecord};

/// The data from which games are set up and recorded.
pub(super) struct GamePlan<G: Game> {
    pub game: G,
    pub openings: Openings<G::Position>,
    pub settings: Settings,
    pub bouts: Vec<(usize, usize)>, // the two agents of each, as indices into `names`
    pub names: Vec<String>,
    pub judge: Option<Arc<dyn Endgames<G>>>,
}

impl<G: Game> GamePlan<G> {
    /// The setup of a game.
    pub(super) fn setup(&self, id: GameId) -> Setup<G::Position> {
        let seats = id.seats(self.bouts[id.bout]);
        let opening = self.openings.of_pair(id.pair);
        // Seeded by the names, so that a game does not depend on the other agents.
        let names = seats.map(|agent| self.names[agent].as_bytes());
        let index = xxh3_64(&[names[0], &[0], names[1], &[0], &id.pair.to_le_bytes()].concat());
        Setup { seats, opening: opening.clone(), stream: stream(self.settings.seed, index) }
    }

    fn mark(&self, pair: u32) -> ArenaMark {
        let budget = self.settings.budget;
        ArenaMark { seed: self.settings.seed, pair, nodes: budget.nodes, movetime_ms: budget.movetime_ms }
    }

    /// A record with the opening of a pair and nothing else.
    pub(super) fn opening_record(&self, pair: u32) -> GameRecord {
        let opening = self.openings.of_pair(pair);
        GameRecord {
            game: self.game.id().to_owned(),
            position: opening.start_text(&self.game),
            moves: opening.move_texts(&self.game),
            ..GameRecord::default()
        }
    }

    /// The record of a game.
    pub(super) fn record(&self, (id, played, outcome): &Ended<G::Position>) -> GameRecord {
        let [white, black] = id.seats(self.bouts[id.bout]);
        let opening = self.openings.of_pair(id.pair);
        GameRecord {
            format: FORMAT,
            game: self.game.id().to_owned(),
            rules: Some(self.game.rules_version()),
            white: Some(self.names[white].clone()),
            black: Some(self.names[black].clone()),
            outcome: Some(*outcome),
            arena: Some(self.mark(id.pair)),
            opening_plies: Some(opening.actions.len()),
            position: played.start_text(&self.game),
            max_plies: Some(self.game.max_plies()),
            moves: played.move_texts(&self.game),
            tree: None,
        }
    }

    /// Fails for the record of a game that was played under other conditions.
    fn check_conditions(&self, record: &GameRecord, mark: ArenaMark) -> Result<(), String> {
        let expected = self.mark(mark.pair);
        if mark.pair >= self.settings.pairs {
            return Err(format!(
                "it belongs to pair {}, which a match of {} games does not have; play more games",
                mark.pair,
                2 * self.settings.pairs
            ));
        }
        let limit = Some(self.game.max_plies().into());
        let conditions = [
            ("the seed", Some(mark.seed), Some(expected.seed)),
            ("the number of nodes per move", mark.nodes, expected.nodes),
            ("the time per move in milliseconds", mark.movetime_ms, expected.movetime_ms),
            ("the limit on plies", record.max_plies.map(u64::from), limit),
        ];
        let text = |number: Option<u64>| number.map_or("not set".to_owned(), |n| n.to_string());
        match conditions.into_iter().find(|(_, found, wanted)| found != wanted) {
            None => Ok(()),
            Some((what, found, wanted)) => {
                Err(format!("{what} is {} in the record and {} in this tournament", text(found), text(wanted)))
            }
        }
    }

    /// The game of this tournament that a record holds; `None` if the game did not end.
    pub(super) fn match_record(&self, record: &GameRecord) -> Result<Option<Ended<G::Position>>, String> {
        let mark = record.arena.ok_or("it was not played in a tournament")?;
        self.check_conditions(record, mark)?;
        let agent = |name: &Option<String>| {
            let name = name.as_deref().ok_or("a player has no name")?;
            self.names
                .iter()
                .position(|entrant| entrant == name)
                .ok_or_else(|| format!("{} does not take part", shorten(name)))
        };
        let (white, black) = (agent(&record.white)?, agent(&record.black)?);
        let bout = self
            .bouts
            .iter()
            .position(|&bout| bout == (white, black) || bout == (black, white))
            .ok_or("these two agents do not meet")?;
        let first_plays = if self.bouts[bout].0 == white { Player::White } else { Player::Black };
        let replay = record.replay(&self.game).map_err(|error| error.to_string())?;
        let opening = self.openings.of_pair(mark.pair);
        let same_start = replay.start == opening.start && replay.actions.starts_with(&opening.actions);
        if !same_start || record.opening_plies != Some(opening.actions.len()) {
            return Err(format!("pair {} has another opening in this tournament", mark.pair));
        }
        let outcome = self.game.outcome(&replay.position);
        if outcome != record.outcome {
            return Err("its moves do not lead to its recorded result".to_owned());
        }
        let id = GameId { bout, pair: mark.pair, first_plays };
        Ok(outcome.map(|outcome| (id, replay, outcome)))
    }
}
