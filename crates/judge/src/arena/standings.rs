//! The results so far: pairs of games, added up for each bout.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::mistakes::Mistakes;
use super::rating::{Bout, Cluster, Fit};
use super::runner::Budget;
use super::schedule::Pairing;
use super::sprt::{Conclusion, PairCounts, Sprt};
use jarmo_core::agent::AgentSpec;
use jarmo_core::game::{Outcome, Player, Verdict};
use jarmo_core::numbers::NumberRange;

/// An agent file that a run saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The folder of the run.
    pub run: String,
    /// The training step.
    pub step: u64,
    /// The CPU seconds that the run had used at this step, if its metrics have them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_seconds: Option<u64>,
}

/// An agent in a tournament.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entrant {
    /// Its name, which no other agent of the tournament has.
    pub name: String,
    /// Which checkpoint it is, if it is one.
    pub checkpoint: Option<Checkpoint>,
}

/// The results of a game that the standings need.
#[derive(Clone, Debug)]
pub(super) struct GameResult {
    pub outcome: Outcome,
    pub fingerprint: u64,        // a hash of its start and actions, which reveals repeated pairs
    pub mistakes: [Mistakes; 2], // of White and Black, if exact tables judge
}

/// The two games of an opening pair. In the first one, the bout's first agent plays White.
pub(super) type PairResult = [GameResult; 2];

/// Wins, draws and losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Results {
    /// Games won.
    pub wins: u32,
    /// Games drawn.
    pub draws: u32,
    /// Games lost.
    pub losses: u32,
}

impl Results {
    /// The number of games.
    pub fn games(&self) -> u32 {
        self.wins + self.draws + self.losses
    }

    /// Points per game, where a draw is half a point; 0.5 if there are no games.
    pub fn score(&self) -> f64 {
        if self.games() == 0 {
            return 0.5;
        }
        (f64::from(self.wins) + 0.5 * f64::from(self.draws)) / f64::from(self.games())
    }

    /// The other agent's results in the same games.
    #[must_use]
    pub fn flip(&self) -> Results {
        Results { wins: self.losses, draws: self.draws, losses: self.wins }
    }

    pub(super) fn add(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Win => self.wins += 1,
            Verdict::Draw => self.draws += 1,
            Verdict::Loss => self.losses += 1,
        }
    }

    pub(super) fn merge(&mut self, more: Results) {
        self.wins += more.wins;
        self.draws += more.draws;
        self.losses += more.losses;
    }
}

/// The results of an agent as White and as Black.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sides {
    pub results: [Results; 2],
    pub difference: i64, // sum of point differences over games with points
    pub scored_games: u32,
}

impl Sides {
    pub(super) fn all(&self) -> Results {
        let [mut all, black] = self.results;
        all.merge(black);
        all
    }

    /// The other agent's results in the same games.
    pub(super) fn flip(&self) -> Sides {
        let [white, black] = self.results;
        Sides { results: [black.flip(), white.flip()], difference: -self.difference, ..*self }
    }

    pub(super) fn merge(&mut self, more: Sides) {
        for (all, more) in self.results.iter_mut().zip(more.results) {
            all.merge(more);
        }
        self.difference += more.difference;
        self.scored_games += more.scored_games;
    }
}

/// The results of a bout, for its first agent.
#[derive(Clone, Debug, Default)]
pub(super) struct BoutTally {
    pub first: usize,
    pub second: usize,
    pub sides: Sides,
    pub pairs: PairCounts, // without repeated ones
    pub repeated: u32,     // pairs that repeat an earlier one
    pub truncated: u32,
    pub mistakes: [Mistakes; 2], // of the first and the second agent
    draws: u32,                  // without those of repeated pairs
    clusters: Vec<Cluster>,
    cluster_of: HashMap<[u64; 2], usize>, // [fingerprints of both games]
}

impl BoutTally {
    fn add(&mut self, pair: &PairResult) {
        let (mut half_points, mut draws) = (0, 0);
        for (side, game) in Player::BOTH.into_iter().zip(pair) {
            let GameResult { outcome, mistakes, .. } = game;
            let verdict = outcome.verdict(side);
            self.sides.results[side.index()].add(verdict);
            half_points += (verdict.sign() + 1) as u32;
            draws += u32::from(verdict == Verdict::Draw);
            self.sides.difference += i64::from(outcome.score_difference(side));
            self.sides.scored_games += u32::from(outcome.score.is_some());
            self.truncated += u32::from(outcome.truncated);
            self.mistakes[0].merge(&mistakes[side.index()]);
            self.mistakes[1].merge(&mistakes[(!side).index()]);
        }
        let fresh = self.clusters.len();
        let fingerprints = pair.each_ref().map(|game| game.fingerprint);
        let cluster = *self.cluster_of.entry(fingerprints).or_insert(fresh);
        if cluster == fresh {
            self.clusters.push(Cluster { pairs: 1, half_points });
            self.pairs[half_points as usize] += 1;
            self.draws += draws;
        } else {
            self.clusters[cluster].pairs += 1;
            self.clusters[cluster].half_points += half_points;
            self.repeated += 1;
        }
    }

    fn bout(&self) -> Bout {
        // Sorted, so that rounding errors do not depend on which game ended first.
        let mut clusters = self.clusters.clone();
        clusters.sort_unstable_by_key(|cluster| (cluster.pairs, cluster.half_points));
        Bout { first: self.first, second: self.second, draws: self.draws, clusters }
    }
}

/// An agent whose rating is fixed, so that the other ratings have a zero.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Anchor {
    /// The agent's name.
    pub agent: String,
    /// Its rating.
    pub elo: f64,
}

impl Anchor {
    /// The anchor's index among the agents, and its rating; `None` if it does not play.
    pub(super) fn among(&self, entrants: &[Entrant]) -> Option<(usize, f64)> {
        // A spec can be written in several ways; entrants have the usual one.
        let spec = self.agent.parse::<AgentSpec>().map_or(String::new(), |spec| spec.to_string());
        let place = entrants.iter().position(|entrant| entrant.name == self.agent || entrant.name == spec);
        place.map(|place| (place, self.elo))
    }
}

impl std::str::FromStr for Anchor {
    type Err = String;

    fn from_str(text: &str) -> Result<Anchor, String> {
        let wanted = || "expected an agent and its rating, such as random=0";
        // The agent's spec may contain `=`, so the last one separates the rating.
        let (agent, elo) = text.rsplit_once('=').ok_or_else(wanted)?;
        let elo = NumberRange::new(-10_000.0, 10_000.0).parse(elo.trim());
        let elo = elo.map_err(|problem| format!("{}; the rating: {problem}", wanted()))?;
        Ok(Anchor { agent: agent.trim().to_owned(), elo })
    }
}

/// The state of a sequential test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SprtState {
    /// The two hypotheses.
    #[serde(flatten)]
    pub test: Sprt,
    /// The log-likelihood ratio so far.
    pub log_likelihood_ratio: f64,
    /// The test decides when the ratio reaches this, or the negative of this.
    pub bound: f64,
    /// The conclusion so far.
    pub conclusion: Conclusion,
    /// The number of games that count. No game is added after the conclusion.
    pub games: u32,
}

/// The conditions of a tournament.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conditions {
    /// The game.
    pub game: &'static str,
    /// The version of its rules.
    pub rules: u32,
    /// Which agents meet.
    pub pairing: Pairing,
    /// Games per match.
    pub games_per_match: u32,
    /// The seed from which all random numbers are derived.
    pub seed: u64,
    /// Where the openings come from.
    pub openings: String,
    /// What every agent may use per move.
    #[serde(flatten)]
    pub budget: Budget,
    /// Whether exact tables count mistakes.
    pub judged: bool,
}

/// The results of a tournament so far. Only complete pairs count.
#[derive(Clone, Debug)]
pub struct Standings {
    pub(super) entrants: Vec<Entrant>,
    pub(super) conditions: Conditions,
    pub(super) anchor: Option<Anchor>,
    pub(super) tallies: Vec<BoutTally>,
    pub(super) sprt: Option<SprtState>,  // `None` if there is no sequential test
    in_order: BTreeMap<u32, PairResult>, // sequential test: pairs that wait for earlier ones
    next_pair: u32,
}

impl Standings {
    /// Standings without results. A sequential test is about the first bout.
    pub(super) fn new(
        entrants: Vec<Entrant>,
        conditions: Conditions,
        anchor: Option<Anchor>,
        sprt: Option<Sprt>,
    ) -> Standings {
        let tallies = conditions
            .pairing
            .bouts(entrants.len())
            .into_iter()
            .map(|(first, second)| BoutTally { first, second, ..BoutTally::default() })
            .collect();
        Standings {
            entrants,
            conditions,
            anchor,
            tallies,
            sprt: sprt.map(|test| SprtState {
                test,
                log_likelihood_ratio: 0.0,
                bound: Sprt::bound(),
                conclusion: Conclusion::Undecided,
                games: 0,
            }),
            in_order: BTreeMap::new(),
            next_pair: 0,
        }
    }

    /// Adds a pair. With a sequential test, pairs count only until its conclusion and in the order of their schedule,
    /// because those that end first are not a fair sample.
    pub(super) fn add(&mut self, bout: usize, pair: u32, result: PairResult) {
        let Some(state) = &mut self.sprt else {
            self.tallies[bout].add(&result);
            return;
        };
        self.in_order.insert(pair, result);
        while state.conclusion == Conclusion::Undecided {
            let Some(result) = self.in_order.remove(&self.next_pair) else { break };
            self.next_pair += 1;
            let tally = &mut self.tallies[bout];
            tally.add(&result);
            state.games += 2;
            state.log_likelihood_ratio = state.test.log_likelihood_ratio(&tally.pairs);
            state.conclusion = state.test.decide(&tally.pairs);
        }
    }

    /// The games that count so far.
    pub fn games(&self) -> u32 {
        self.tallies.iter().map(|tally| tally.sides.all().games()).sum()
    }

    /// The planned number of games. A sequential test can end earlier.
    pub fn planned_games(&self) -> u32 {
        self.conditions.games_per_match * self.tallies.len() as u32
    }

    /// The results of all bouts so far.
    pub fn bouts(&self) -> Vec<Bout> {
        self.tallies.iter().map(BoutTally::bout).collect()
    }

    /// Fits strengths to the results so far.
    pub fn fit(&self) -> Fit {
        Fit::new(self.entrants.len(), &self.bouts())
    }
}
