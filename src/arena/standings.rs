//! What was played so far, as numbers: pairs of games added up per bout.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::rating::{Bout, Cluster, Fit};
use super::schedule::Pairing;
use super::sprt::{Decision, PairCounts, Sprt};
use crate::game::{Outcome, Player, Verdict};

/// A state of the learner that a run has kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The run.
    pub run: String,
    /// The training step.
    pub step: u64,
    /// Seconds that processors had spent on the run by then, as far as its metrics tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_seconds: Option<u64>,
}

/// Somebody in the table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entrant {
    /// The name; no two are the same.
    pub name: String,
    /// Which checkpoint it is, if it is one.
    pub checkpoint: Option<Checkpoint>,
}

/// Both games from one opening.
#[derive(Clone, Copy, Debug)]
pub struct PairResult {
    /// How they ended: where the bout's first agent was White, and where it was Black.
    pub outcomes: [Outcome; 2],
    /// The same for pairs that were the same move for move, and else different.
    pub fingerprint: u64,
}

/// Wins, draws and losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Results {
    /// Games won.
    pub wins: u32,
    /// Games drawn.
    pub draws: u32,
    /// Games lost.
    pub losses: u32,
}

impl Results {
    /// All games.
    pub fn games(&self) -> u32 {
        self.wins + self.draws + self.losses
    }

    /// Points per game, a draw being half a point. 0.5 without games.
    pub fn score(&self) -> f64 {
        if self.games() == 0 {
            return 0.5;
        }
        (f64::from(self.wins) + 0.5 * f64::from(self.draws)) / f64::from(self.games())
    }

    /// The other agent's results in the same games.
    #[must_use]
    pub fn flip(&self) -> Results {
        Results {
            wins: self.losses,
            draws: self.draws,
            losses: self.wins,
        }
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

/// The games of one bout, seen by its first agent.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub first: usize,
    pub second: usize,
    pub by_side: [Results; 2], // as White, as Black
    pub pairs: PairCounts,     // repetitions left out
    pub repeated: u32,         // pairs that repeat an earlier one
    pub score_difference: i64, // sum over games, where games have points
    pub scored_games: u32,
    pub truncated: u32,
    clusters: Vec<Cluster>,
    cluster_of: HashMap<u64, usize>, // by fingerprint
}

impl Tally {
    fn add(&mut self, pair: &PairResult) {
        let mut half_points = 0;
        for side in Player::BOTH {
            let outcome = &pair.outcomes[side.index()];
            let verdict = outcome.verdict(side);
            self.by_side[side.index()].add(verdict);
            half_points += (verdict.sign() + 1) as u32;
            self.score_difference += i64::from(outcome.score_difference(side));
            self.scored_games += u32::from(outcome.score.is_some());
            self.truncated += u32::from(outcome.truncated);
        }
        let fresh = self.clusters.len();
        let cluster = *self.cluster_of.entry(pair.fingerprint).or_insert(fresh);
        if cluster == fresh {
            self.clusters.push(Cluster {
                pairs: 1,
                half_points,
            });
            self.pairs[half_points as usize] += 1;
        } else {
            self.clusters[cluster].pairs += 1;
            self.clusters[cluster].half_points += half_points;
            self.repeated += 1;
        }
    }

    pub fn results(&self) -> Results {
        let mut all = self.by_side[0];
        all.merge(self.by_side[1]);
        all
    }

    fn bout(&self) -> Bout {
        // In an order of its own, so that sums of floats do not depend on which game ended first.
        let mut clusters = self.clusters.clone();
        clusters.sort_unstable_by_key(|cluster| (cluster.pairs, cluster.half_points));
        Bout {
            first: self.first,
            second: self.second,
            draws: self.results().draws,
            clusters,
        }
    }
}

/// A fixed point of the rating scale.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Anchor {
    /// The agent's name.
    pub agent: String,
    /// Its rating.
    pub elo: f64,
}

impl Anchor {
    /// Where it is in a table, and its rating.
    pub(super) fn among(&self, entrants: &[Entrant]) -> Option<(usize, f64)> {
        let place = entrants
            .iter()
            .position(|entrant| entrant.name == self.agent);
        place.map(|place| (place, self.elo))
    }
}

impl std::str::FromStr for Anchor {
    type Err = String;

    fn from_str(text: &str) -> Result<Anchor, String> {
        let wanted = || "expected an agent of the tournament and its rating, such as random=0";
        // A spec may itself hold `=`.
        let (agent, elo) = text.rsplit_once('=').ok_or_else(wanted)?;
        let elo: f64 = elo.trim().parse().map_err(|_| wanted())?;
        if !elo.is_finite() {
            return Err(wanted().to_owned());
        }
        Ok(Anchor {
            agent: agent.trim().to_owned(),
            elo,
        })
    }
}

/// How a sequential test stands.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SprtState {
    /// The hypotheses.
    #[serde(flatten)]
    pub test: Sprt,
    /// The log-likelihood ratio so far.
    pub log_likelihood_ratio: f64,
    /// Where it decides, and at the negative of it.
    pub bound: f64,
    /// What it says.
    pub decision: Decision,
    /// The games it has seen; when decided, those it took.
    pub games: u32,
}

/// Under which conditions a tournament is played.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conditions {
    /// The game.
    pub game: &'static str,
    /// The version of its rules.
    pub rules: u32,
    /// Who meets whom.
    pub pairing: Pairing,
    /// Games of every match.
    pub games_per_match: u32,
    /// What all randomness comes from.
    pub seed: u64,
    /// Where the openings come from.
    pub openings: String,
    /// Nodes or simulations a move, if they are the same for all.
    pub nodes: Option<u64>,
    /// Milliseconds a move, if they are the same for all.
    pub movetime_ms: Option<u64>,
}

/// The results of a tournament so far. Only whole pairs count.
#[derive(Clone, Debug)]
pub struct Standings {
    pub(super) entrants: Vec<Entrant>,
    pub(super) conditions: Conditions,
    pub(super) anchor: Option<Anchor>,
    pub(super) tallies: Vec<Tally>,
    sprt: Option<SprtState>,
    in_order: BTreeMap<u32, PairResult>, // pairs that wait for earlier ones, under a sequential test
    next_pair: u32,
}

impl Standings {
    /// An empty table. A sequential test is about its first bout.
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
            .map(|(first, second)| Tally {
                first,
                second,
                ..Tally::default()
            })
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
                decision: Decision::Undecided,
                games: 0,
            }),
            in_order: BTreeMap::new(),
            next_pair: 0,
        }
    }

    /// Adds a pair. Under a sequential test pairs count in their order and until it is decided, since
    /// those that happen to end early are not a fair sample.
    pub(super) fn add(&mut self, bout: usize, pair: u32, result: PairResult) {
        let Some(state) = &mut self.sprt else {
            self.tallies[bout].add(&result);
            return;
        };
        self.in_order.insert(pair, result);
        while state.decision == Decision::Undecided {
            let Some(result) = self.in_order.remove(&self.next_pair) else {
                break;
            };
            self.next_pair += 1;
            let tally = &mut self.tallies[bout];
            tally.add(&result);
            state.games += 2;
            state.log_likelihood_ratio = state.test.log_likelihood_ratio(&tally.pairs);
            state.decision = state.test.decide(&tally.pairs);
        }
    }

    /// Who takes part.
    pub fn entrants(&self) -> &[Entrant] {
        &self.entrants
    }

    /// Under which conditions they play.
    pub fn conditions(&self) -> &Conditions {
        &self.conditions
    }

    /// The games that count so far.
    pub fn games(&self) -> u32 {
        self.tallies
            .iter()
            .map(|tally| tally.results().games())
            .sum()
    }

    /// The games there will be, unless a sequential test ends it sooner.
    pub fn planned_games(&self) -> u32 {
        self.conditions.games_per_match * self.tallies.len() as u32
    }

    /// How the sequential test stands, if there is one.
    pub fn sprt(&self) -> Option<SprtState> {
        self.sprt
    }

    /// What every bout came to so far.
    pub fn bouts(&self) -> Vec<Bout> {
        self.tallies.iter().map(Tally::bout).collect()
    }

    /// Strengths fitted to what was played so far.
    pub fn fit(&self) -> Fit {
        Fit::new(self.entrants.len(), &self.bouts())
    }
}
