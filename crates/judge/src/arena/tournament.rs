//! A tournament: plays the missing games and keeps the standings.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use xxhash_rust::xxh3::xxh3_64;

use super::mistakes::{self, Mistakes};
use super::opening::Openings;
use super::plan::GamePlan;
use super::runner::{self, ArenaGame, Budget, Team};
use super::schedule::{self, GameId, Pairing};
use super::sprt::{Decision, Sprt};
use super::standings::{Anchor, Conditions, Entrant, PairResult, Standings};
use jarmo_core::game::{Game, Player, shorten};
use jarmo_exact::tables::Endgames;
use jarmo_host::record::{GameRecord, RecordError};

/// How a tournament is played.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Which agents meet.
    pub pairing: Pairing,
    /// Pairs of games in every bout.
    pub pairs: u32,
    /// The seed of all randomness.
    pub seed: u64,
    /// What every agent may spend per move.
    pub budget: Budget,
    /// The agent with a fixed rating; without it the mean rating is 0.
    pub anchor: Option<Anchor>,
    /// A sequential test, which ends a match of two agents as soon as it is decided.
    pub sprt: Option<Sprt>,
    /// The most games at a time per thread; slow agents play fewer. With a time budget it is one.
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
            in_flight: 512,
        }
    }
}

/// Why a tournament cannot be played.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ArenaError(String);

impl ArenaError {
    pub(super) fn new(message: impl Into<String>) -> ArenaError {
        ArenaError(message.into())
    }
}

impl From<RecordError> for ArenaError {
    fn from(error: RecordError) -> ArenaError {
        ArenaError(error.to_string())
    }
}

/// Follows a tournament. The unit type ignores it.
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

/// A tournament of one game, and the games played so far.
pub struct Tournament<'a, G: Game> {
    pub(super) plan: GamePlan<'a, G>,
    pub(super) played: PlayedGames,
}

/// A finished game, and the mistakes of White and Black.
pub(super) struct Judged {
    game: ArenaGame,
    mistakes: [Mistakes; 2],
}

/// The games played so far.
pub(super) struct PlayedGames {
    standings: Standings,
    halves: HashMap<(usize, u32), Judged>, // first games of their pairs to end
    done: HashSet<GameId>,
}

impl<'a, G: Game> Tournament<'a, G> {
    /// A tournament without games yet. Repeated names get a number.
    pub fn new(
        game: &'a G,
        entrants: Vec<Entrant>,
        openings: &'a Openings<G::Position>,
        settings: Settings,
    ) -> Result<Self, ArenaError> {
        let entrants = with_unique_names(entrants);
        if entrants.len() < 2 {
            return Err(ArenaError::new("a tournament needs at least two agents"));
        }
        if settings.pairs == 0 {
            return Err(ArenaError::new(
                "no games to play; play at least 2 per match",
            ));
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
                    "anchor `{}` does not take part in the tournament; name one of {}",
                    shorten(&anchor.agent),
                    names.join(", ")
                )));
            }
        }
        let conditions = Conditions {
            game: game.id(),
            rules: game.rules_version(),
            pairing: settings.pairing,
            games_per_match: 2 * settings.pairs,
            seed: settings.seed,
            openings: openings.source().to_owned(),
            nodes: settings.budget.nodes,
            movetime_ms: settings.budget.movetime_ms(),
            judged: false,
        };
        let (anchor, sprt) = (settings.anchor.clone(), settings.sprt);
        Ok(Tournament {
            plan: GamePlan {
                game,
                openings,
                bouts: settings.pairing.bouts(entrants.len()),
                names: entrants
                    .iter()
                    .map(|entrant| entrant.name.clone())
                    .collect(),
                settings,
                judge: None,
            },
            played: PlayedGames {
                standings: Standings::new(entrants, conditions, anchor, sprt),
                halves: HashMap::new(),
                done: HashSet::new(),
            },
        })
    }

    /// Counts the results that every agent throws away, according to exact tables.
    #[must_use]
    pub fn judged_by(mut self, tables: Arc<dyn Endgames<G>>) -> Self {
        self.plan.judge = Some(tables);
        self.played.standings.conditions.judged = true;
        self
    }

    /// The results so far.
    pub fn standings(&self) -> &Standings {
        &self.played.standings
    }

    /// The games that are still to be played, in the order in which they start. None after the decision of a
    /// sequential test.
    pub(super) fn missing(&self) -> Vec<GameId> {
        if self.played.decided() {
            return Vec::new();
        }
        let all = schedule::games(self.plan.bouts.len(), self.plan.settings.pairs);
        let missing = all.into_iter().filter(|&id| !self.played.has(id));
        missing.collect()
    }

    /// Whether all games are played, or a sequential test is decided.
    pub fn is_over(&self) -> bool {
        self.missing().is_empty()
    }

    /// Adds games that were played before. They must belong to this tournament: same seed, openings and
    /// budget. Agents and games may have been added since.
    pub fn restore(&mut self, records: &[GameRecord]) -> Result<(), ArenaError> {
        for (index, record) in records.iter().enumerate() {
            let finished = self.plan.match_record(record).map_err(|problem| {
                ArenaError::new(format!(
                    "game {} does not belong to this tournament: {problem}",
                    index + 1
                ))
            })?;
            if let Some(finished) = finished {
                self.played.add(self.plan.judge(finished));
            }
        }
        Ok(())
    }

    /// Plays the missing games until all are played or `stop` is set; then unfinished games are discarded.
    /// Every team plays on its own thread and has one agent per entrant, in the same order.
    ///
    /// # Panics
    /// Panics without teams, or if a team does not have one agent per entrant.
    pub fn play(
        &mut self,
        teams: Vec<Team<G>>,
        stop: &AtomicBool,
        observer: &mut dyn Observer,
    ) -> Result<(), ArenaError> {
        let ids = self.missing();
        let Tournament { plan, played } = self;
        assert!(!teams.is_empty(), "no teams");
        assert!(teams.iter().all(|team| team.len() == plan.names.len()));
        if ids.is_empty() {
            return Ok(());
        }
        let settings = &plan.settings;
        let in_flight = match settings.budget.movetime {
            Some(_) => 1,
            None => settings.in_flight.max(1),
        };
        let mut failure = None;
        let collect = |finished: Option<ArenaGame>| {
            if let Some(finished) = finished
                && failure.is_none()
            {
                failure = observer.game(&plan.record(&finished)).err();
                played.add(plan.judge(finished));
            }
            observer.standings(&played.standings);
            if failure.is_some() || played.decided() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        runner::play_games(
            plan.game,
            teams,
            &ids,
            |id| plan.setup(id),
            (settings.budget, in_flight),
            stop,
            collect,
        );
        failure.map_or(Ok(()), |error| Err(error.into()))
    }
}

impl<G: Game> GamePlan<'_, G> {
    pub(super) fn judge(&self, game: ArenaGame) -> Judged {
        let opening = self.openings.of_pair(game.id.pair);
        let mistakes = match &self.judge {
            Some(tables) => mistakes::of_game(self.game, tables, opening, &game),
            None => Default::default(),
        };
        Judged { game, mistakes }
    }
}

impl PlayedGames {
    pub(super) fn has(&self, id: GameId) -> bool {
        self.done.contains(&id)
    }

    fn decided(&self) -> bool {
        self.standings
            .sprt()
            .is_some_and(|state| state.decision != Decision::Undecided)
    }

    /// Adds a finished game. It counts once the other game of its pair has ended.
    pub(super) fn add(&mut self, finished: Judged) {
        let id = finished.game.id;
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
                // The first agent is White in the first of the two games and Black in the second.
                let mut mistakes = white.mistakes;
                mistakes[0].merge(&black.mistakes[1]);
                mistakes[1].merge(&black.mistakes[0]);
                let (white, black) = (&white.game, &black.game);
                let result = PairResult {
                    outcomes: [white.outcome, black.outcome],
                    fingerprint: fingerprint(&[white, black]),
                    mistakes,
                };
                self.standings.add(id.bout, id.pair, result);
            }
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

fn fingerprint(games: &[&ArenaGame]) -> u64 {
    let bytes: Vec<u8> = games
        .iter()
        .flat_map(|game| {
            let actions = game
                .actions
                .iter()
                .flat_map(|action| action.0.to_le_bytes());
            actions.chain(u16::MAX.to_le_bytes())
        })
        .collect();
    xxh3_64(&bytes)
}
