//! A tournament: plays the missing games and keeps the standings.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use xxhash_rust::xxh3::xxh3_64;

use super::mistakes;
use super::opening::Openings;
use super::plan::GamePlan;
use super::runner::{self, Budget, Ended, Team};
use super::schedule::{self, GameId, Pairing};
use super::sprt::{Conclusion, Sprt};
use super::standings::{Anchor, Conditions, Entrant, GameResult, Standings};
use crate::JudgeError;
use jarmo_core::error::FileError;
use jarmo_core::game::{Game, Player, shorten};
use jarmo_exact::tables::Endgames;
use jarmo_host::record::GameRecord;

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

/// Follows a tournament. The unit type ignores it.
pub trait Observer {
    /// A game has ended. An error ends the tournament.
    fn game(&mut self, record: &GameRecord) -> Result<(), FileError>;

    /// Called after every game and several times a second.
    fn standings(&mut self, standings: &Standings);
}

impl Observer for () {
    fn game(&mut self, _: &GameRecord) -> Result<(), FileError> {
        Ok(())
    }

    fn standings(&mut self, _: &Standings) {}
}

/// A tournament of one game, and the games played so far.
pub struct Tournament<G: Game> {
    pub(super) plan: GamePlan<G>,
    pub(super) score: Score,
}

/// The games that count so far.
pub(super) struct Score {
    standings: Standings,
    halves: HashMap<(usize, u32), GameResult>, // first games of their pairs to end
    done: HashSet<GameId>,
}

impl<G: Game> Tournament<G> {
    /// A tournament without games yet. Repeated names get a number.
    pub fn new(
        game: &G,
        entrants: Vec<Entrant>,
        openings: &Openings<G::Position>,
        settings: Settings,
    ) -> Result<Self, JudgeError> {
        let entrants = with_unique_names(entrants);
        if entrants.len() < 2 {
            return Err(JudgeError::new("a tournament needs at least two agents"));
        }
        if settings.pairs == 0 {
            return Err(JudgeError::new("no games to play; play at least 2 per match"));
        }
        if settings.sprt.is_some() && entrants.len() > 2 {
            return Err(JudgeError::new(format!(
                "a sequential test compares two agents, not {}; run one for each comparison",
                entrants.len()
            )));
        }
        if let Some(anchor) = &settings.anchor
            && anchor.among(&entrants).is_none()
        {
            let names: Vec<&str> = entrants.iter().map(|entrant| &*entrant.name).collect();
            return Err(JudgeError::new(format!(
                "anchor `{}` does not take part in the tournament; choose one of {}",
                shorten(&anchor.agent),
                names.join(", ")
            )));
        }
        let conditions = Conditions {
            game: game.id(),
            rules: game.rules_version(),
            pairing: settings.pairing,
            games_per_match: 2 * settings.pairs,
            seed: settings.seed,
            openings: openings.source.clone(),
            budget: settings.budget,
            judged: false,
        };
        let (anchor, sprt) = (settings.anchor.clone(), settings.sprt);
        Ok(Tournament {
            plan: GamePlan {
                game: game.clone(),
                openings: openings.clone(),
                bouts: settings.pairing.bouts(entrants.len()),
                names: entrants.iter().map(|entrant| entrant.name.clone()).collect(),
                settings,
                judge: None,
            },
            score: Score {
                standings: Standings::new(entrants, conditions, anchor, sprt),
                halves: HashMap::new(),
                done: HashSet::new(),
            },
        })
    }

    /// Counts the mistakes of every agent, according to exact tables.
    #[must_use]
    pub fn judged_by(mut self, tables: Arc<dyn Endgames<G>>) -> Self {
        self.plan.judge = Some(tables);
        self.score.standings.conditions.judged = true;
        self
    }

    /// The openings, in the order of the pairs.
    pub fn openings(&self) -> &Openings<G::Position> {
        &self.plan.openings
    }

    /// The results so far.
    pub fn standings(&self) -> &Standings {
        &self.score.standings
    }

    /// The games that are still to be played, in the order in which they start. None after the conclusion of a
    /// sequential test.
    pub(super) fn missing(&self) -> Vec<GameId> {
        if self.score.decided() {
            return Vec::new();
        }
        let all = schedule::games(self.plan.bouts.len(), self.plan.settings.pairs);
        all.into_iter().filter(|&id| !self.score.has(id)).collect()
    }

    /// Whether all games are played, or a sequential test is decided.
    pub fn is_over(&self) -> bool {
        let games = 2 * self.plan.bouts.len() * self.plan.settings.pairs as usize;
        self.score.decided() || self.score.done.len() == games
    }

    /// Adds games that were played before. They must belong to this tournament: same seed, openings and
    /// budget. Agents and games may have been added since.
    pub fn restore(&mut self, records: &[GameRecord]) -> Result<(), JudgeError> {
        for (index, record) in records.iter().enumerate() {
            let finished = self.plan.match_record(record).map_err(|problem| {
                JudgeError::new(format!("game {} does not belong to this tournament: {problem}", index + 1))
            })?;
            if let Some(finished) = finished {
                self.score.add(finished.0, self.plan.judge(&finished));
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
    ) -> Result<(), JudgeError> {
        let ids = self.missing();
        let Tournament { plan, score } = self;
        assert!(!teams.is_empty(), "no teams");
        assert!(teams.iter().all(|team| team.len() == plan.names.len()));
        if ids.is_empty() {
            return Ok(());
        }
        let settings = &plan.settings;
        let in_flight = match settings.budget.movetime_ms {
            Some(_) => 1,
            None => settings.in_flight.max(1),
        };
        let mut failure = None;
        let collect = |finished: Option<Ended<G::Position>>| {
            if let Some(finished) = finished
                && failure.is_none()
            {
                failure = observer.game(&plan.record(&finished)).err();
                score.add(finished.0, plan.judge(&finished));
            }
            observer.standings(&score.standings);
            if failure.is_some() || score.decided() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        runner::play_games(&plan.game, teams, &ids, |id| plan.setup(id), (settings.budget, in_flight), stop, collect);
        failure.map_or(Ok(()), |error| Err(error.into()))
    }
}

impl<G: Game> GamePlan<G> {
    pub(super) fn judge(&self, (id, played, outcome): &Ended<G::Position>) -> GameResult {
        let opening = self.openings.of_pair(id.pair).actions.len();
        let mistakes = match &self.judge {
            Some(tables) => mistakes::of_game(&self.game, tables, played, opening),
            None => Default::default(),
        };
        let mut bytes = self.game.position_text(&played.start).into_bytes();
        bytes.extend(played.actions.iter().flat_map(|one| one.0.to_le_bytes()));
        GameResult { outcome: *outcome, fingerprint: xxh3_64(&bytes), mistakes }
    }
}

impl Score {
    pub(super) fn has(&self, id: GameId) -> bool {
        self.done.contains(&id)
    }

    fn decided(&self) -> bool {
        self.standings.sprt.is_some_and(|state| state.conclusion != Conclusion::Undecided)
    }

    /// Adds a finished game. It counts once the other game of its pair has ended.
    pub(super) fn add(&mut self, id: GameId, finished: GameResult) {
        if !self.done.insert(id) {
            return;
        }
        match self.halves.remove(&(id.bout, id.pair)) {
            None => {
                self.halves.insert((id.bout, id.pair), finished);
            }
            Some(partner) => {
                let pair = match id.first_plays {
                    Player::White => [finished, partner],
                    Player::Black => [partner, finished],
                };
                self.standings.add(id.bout, id.pair, pair);
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
