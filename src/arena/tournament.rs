//! A tournament from its agents to its standings: plays what is still to be played.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use super::opening::Openings;
use super::runner::{self, Budget, Finished, Setup, Team};
use super::schedule::{self, GameId, Pairing};
use super::sprt::{Decision, Sprt};
use super::standings::{Anchor, Entrant, PairResult, Standings};
use crate::agent::Agent;
use crate::game::{Game, Player};
use crate::random::stream;
use crate::record::{ArenaMark, FORMAT, GameRecord, RecordError};

/// Somebody who takes part, and how agents that play for him are made: one for each thread.
pub struct Contestant<'a, G: Game> {
    /// The name in tables and records.
    pub name: String,
    /// The training step, for a checkpoint of a run.
    pub step: Option<u64>,
    /// Makes an agent.
    pub build: Box<dyn Fn() -> Result<Box<dyn Agent<G>>, String> + 'a>,
}

/// How a tournament is played.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Who meets whom.
    pub pairing: Pairing,
    /// Pairs of games in every bout.
    pub pairs: u32,
    /// What all randomness comes from.
    pub seed: u64,
    /// What every agent may spend on a move.
    pub budget: Budget,
    /// The fixed point of the ratings; without it their mean is 0.
    pub anchor: Option<Anchor>,
    /// Ends a bout of two agents as soon as it is decided.
    pub sprt: Option<Sprt>,
    /// How many threads play.
    pub threads: usize,
    /// Games under way at a time on each thread. Under a time budget it is one.
    pub in_flight: usize,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            pairing: Pairing::RoundRobin,
            pairs: 100,
            seed: 1,
            budget: Budget::default(),
            anchor: None,
            sprt: None,
            threads: 1,
            in_flight: 256,
        }
    }
}

/// Why a tournament cannot be played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArenaError(String);

impl ArenaError {
    fn new(message: impl Into<String>) -> ArenaError {
        ArenaError(message.into())
    }
}

impl fmt::Display for ArenaError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for ArenaError {}

impl From<RecordError> for ArenaError {
    fn from(error: RecordError) -> ArenaError {
        ArenaError(error.to_string())
    }
}

/// Watches a tournament. The unit type watches nothing.
pub trait Observer {
    /// A game has ended. An error ends the tournament.
    fn game(&mut self, record: &GameRecord) -> Result<(), RecordError>;

    /// Called after every game and several times a second.
    fn standings(&mut self, standings: &Standings);
}

impl Observer for () {
    fn game(&mut self, _: &GameRecord) -> Result<(), RecordError> {
        Ok(())
    }

    fn standings(&mut self, _: &Standings) {}
}

/// A tournament of one game: what is to be played, and what was.
pub struct Tournament<'a, G: Game> {
    game: &'a G,
    openings: &'a Openings<G::Position>,
    settings: Settings,
    bouts: Vec<(usize, usize)>,
    standings: Standings,
    halves: HashMap<(usize, u32), Finished>, // games whose partner has not ended
    done: HashSet<GameId>,
}

impl<'a, G: Game> Tournament<'a, G> {
    /// A tournament in which nothing was played. Names that occur twice get numbers.
    pub fn new(
        game: &'a G,
        entrants: Vec<Entrant>,
        openings: &'a Openings<G::Position>,
        settings: Settings,
    ) -> Result<Self, ArenaError> {
        let entrants = with_unique_names(entrants);
        if entrants.len() < 2 {
            return Err(ArenaError::new(
                "one agent alone has nobody to play; name at least two",
            ));
        }
        if settings.pairs == 0 {
            return Err(ArenaError::new("no games to play; ask for at least 2"));
        }
        if settings.sprt.is_some() && entrants.len() > 2 {
            return Err(ArenaError::new(format!(
                "a sequential test compares two agents, not {}; run one for each comparison",
                entrants.len()
            )));
        }
        if let Some(anchor) = &settings.anchor {
            let names: Vec<&str> = entrants.iter().map(|entrant| &*entrant.name).collect();
            if !names.contains(&&*anchor.agent) {
                return Err(ArenaError::new(format!(
                    "anchor `{}` takes no part in the tournament; name one of {}",
                    anchor.agent,
                    names.join(", ")
                )));
            }
        }
        let schedule = (settings.pairing, settings.pairs);
        let bouts = settings.pairing.bouts(entrants.len());
        Ok(Tournament {
            game,
            openings,
            standings: Standings::new(entrants, schedule, settings.anchor.clone(), settings.sprt),
            settings,
            bouts,
            halves: HashMap::new(),
            done: HashSet::new(),
        })
    }

    /// What was played so far.
    pub fn standings(&self) -> &Standings {
        &self.standings
    }

    /// Takes over games that were played before. All of them must belong to this tournament: same
    /// agents, seed, openings and budget. There may be fewer agents and games in them than now.
    pub fn restore(&mut self, records: &[GameRecord]) -> Result<(), ArenaError> {
        for (index, record) in records.iter().enumerate() {
            let finished = self.match_record(record).map_err(|problem| {
                ArenaError::new(format!(
                    "game {} does not belong to this tournament: {problem}",
                    index + 1
                ))
            })?;
            if let Some(finished) = finished {
                self.take(finished);
            }
        }
        Ok(())
    }

    /// Plays what is still to be played, or until `stop` is set. Games that did not end by then are
    /// given up. `contestants` are the entrants, in their order.
    pub fn play(
        &mut self,
        contestants: &[Contestant<'_, G>],
        stop: &AtomicBool,
        observer: &mut dyn Observer,
    ) -> Result<(), ArenaError> {
        assert_eq!(contestants.len(), self.standings.entrants.len());
        let ids: Vec<GameId> = schedule::games(self.bouts.len(), self.settings.pairs)
            .into_iter()
            .filter(|id| !self.done.contains(id))
            .collect();
        if ids.is_empty() || self.decided() {
            return Ok(());
        }
        let threads = self.settings.threads.clamp(1, ids.len());
        let teams = (0..threads)
            .map(|_| {
                contestants
                    .iter()
                    .map(|contestant| (contestant.build)())
                    .collect()
            })
            .collect::<Result<Vec<Team<G>>, String>>()
            .map_err(ArenaError)?;
        let in_flight = match self.settings.budget.movetime {
            Some(_) => 1,
            None => self.settings.in_flight.max(1),
        };
        let plan = self.plan();
        let mut failure = None;
        runner::run(
            self.game,
            teams,
            &ids,
            |id| plan.setup(id),
            (self.settings.budget, in_flight),
            stop,
            |finished| {
                if let Some(finished) = finished
                    && failure.is_none()
                {
                    failure = observer.game(&plan.record(&finished)).err();
                    self.take(finished);
                }
                observer.standings(&self.standings);
                if failure.is_some() || self.decided() {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            },
        );
        failure.map_or(Ok(()), |error| Err(error.into()))
    }

    fn decided(&self) -> bool {
        self.standings
            .sprt()
            .is_some_and(|state| state.decision != Decision::Undecided)
    }

    fn plan(&self) -> Plan<'a, G> {
        Plan {
            game: self.game,
            openings: self.openings,
            settings: self.settings.clone(),
            bouts: self.bouts.clone(),
            names: self
                .standings
                .entrants
                .iter()
                .map(|entrant| entrant.name.clone())
                .collect(),
        }
    }

    /// Counts a finished game, once its partner has ended, too.
    fn take(&mut self, finished: Finished) {
        let id = finished.id;
        if !self.done.insert(id) {
            return;
        }
        match self.halves.remove(&(id.bout, id.pair)) {
            None => {
                self.halves.insert((id.bout, id.pair), finished);
            }
            Some(partner) => {
                let (white, black) = match id.first_plays {
                    Player::White => (finished, partner),
                    Player::Black => (partner, finished),
                };
                let result = PairResult {
                    outcomes: [white.outcome, black.outcome],
                    fingerprint: fingerprint(&[&white, &black]),
                };
                self.standings.add(id.bout, id.pair, result);
            }
        }
    }

    /// The game of this tournament that a record holds; nothing for a game that did not end.
    fn match_record(&self, record: &GameRecord) -> Result<Option<Finished>, String> {
        let mark = record.arena.ok_or("it was not played by `arena`")?;
        let same = |what: &str, there: &dyn fmt::Debug, here: &dyn fmt::Debug| {
            let (there, here) = (format!("{there:?}"), format!("{here:?}"));
            if there == here {
                return Ok(());
            }
            Err(format!("{what} is {there} there and {here} here"))
        };
        let expected = self.plan().mark(mark.pair);
        same("the seed", &mark.seed, &expected.seed)?;
        same("nodes a move", &mark.nodes, &expected.nodes)?;
        same(
            "milliseconds a move",
            &mark.movetime_ms,
            &expected.movetime_ms,
        )?;
        same(
            "the limit of plies",
            &record.max_plies,
            &Some(self.game.max_plies()),
        )?;
        let agent = |name: &Option<String>| {
            let name = name.as_deref().ok_or("a player is not named")?;
            self.standings
                .entrants
                .iter()
                .position(|entrant| entrant.name == name)
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
        let start = opening.start.unwrap_or_else(|| self.game.start());
        if replay.positions[0] != start || !replay.actions.starts_with(&opening.actions) {
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

/// What tells how a game begins and how its record is written.
struct Plan<'a, G: Game> {
    game: &'a G,
    openings: &'a Openings<G::Position>,
    settings: Settings,
    bouts: Vec<(usize, usize)>,
    names: Vec<String>,
}

impl<G: Game> Plan<'_, G> {
    fn setup(&self, id: GameId) -> Setup<G::Position> {
        let seats = id.seats(self.bouts[id.bout]);
        let opening = self.openings.of_pair(id.pair);
        // From the names, so that it is the same whoever else takes part.
        let names = seats.map(|agent| self.names[agent].as_bytes());
        let index = fnv([names[0], &[0], names[1], &[0], &id.pair.to_le_bytes()].concat());
        Setup {
            seats,
            position: opening.position,
            actions: opening.actions.clone(),
            stream: stream(self.settings.seed, index),
        }
    }

    fn mark(&self, pair: u32) -> ArenaMark {
        let budget = self.settings.budget;
        ArenaMark {
            seed: self.settings.seed,
            pair,
            nodes: budget.nodes,
            movetime_ms: budget.movetime.map(|time| time.as_millis() as u64),
        }
    }

    fn record(&self, finished: &Finished) -> GameRecord {
        let id = finished.id;
        let [white, black] = id.seats(self.bouts[id.bout]);
        let opening = self.openings.of_pair(id.pair);
        let mut position = opening.start.unwrap_or_else(|| self.game.start());
        let mut moves = Vec::with_capacity(finished.actions.len());
        for &action in &finished.actions {
            moves.push(self.game.action_text(&position, action));
            self.game.play(&mut position, action);
        }
        GameRecord {
            format: FORMAT,
            game: self.game.id().to_owned(),
            rules: Some(self.game.rules_version()),
            white: Some(self.names[white].clone()),
            black: Some(self.names[black].clone()),
            outcome: Some(finished.outcome),
            arena: Some(self.mark(id.pair)),
            opening_plies: Some(opening.actions.len()),
            position: opening.start.map(|start| self.game.position_text(&start)),
            max_plies: Some(self.game.max_plies()),
            moves,
        }
    }
}

fn with_unique_names(mut entrants: Vec<Entrant>) -> Vec<Entrant> {
    let mut seen: HashMap<String, u32> = HashMap::new();
    for entrant in &mut entrants {
        let count = seen.entry(entrant.name.clone()).or_default();
        *count += 1;
        if *count > 1 {
            entrant.name = format!("{}#{count}", entrant.name);
        }
    }
    entrants
}

fn fingerprint(games: &[&Finished]) -> u64 {
    let bytes = games.iter().flat_map(|game| {
        let actions = game
            .actions
            .iter()
            .flat_map(|action| action.0.to_le_bytes());
        actions.chain(u16::MAX.to_le_bytes())
    });
    fnv(bytes)
}

/// The FNV-1a hash.
fn fnv(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
