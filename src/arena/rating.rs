//! Elo from a table of matches: a Bradley-Terry fit with draws, and how far it can be trusted.
//!
//! **The model.** A difference of `d` Elo means an expected score of `1 / (1 + 10^(-d/400))`, a draw
//! being half a point. Draws follow Davidson: with win, draw and loss probabilities `w`, `t`, `l`,
//! `t² = ν² w l`, so equals draw a share `ν / (2 + ν)` of their games and draws become rare as the
//! difference grows. The strengths are those at which every agent has as many points as expected, which
//! does not depend on `ν` or on any other law of draws; `ν` is that at which there are as many draws as
//! expected.
//!
//! **The intervals** do not trust the model. Two games from one opening with the sides swapped are
//! not independent, so a pair is one observation, and what pairs really scatter is measured (a
//! sandwich estimate with pairs as clusters, Satterthwaite's degrees of freedom, Student's t). A pair
//! that repeats an earlier one of its match move for move is no new evidence and joins its cluster.
//!
//! **Few games and clean sweeps.** Every match is given one virtual game, half won and half lost, with
//! the uncertainty of a coin flip, and one virtual pair's worth of the scatter of independent
//! games. So a sweep has a finite rating with a wide interval, and nothing is certain from a few
//! equal pairs.

use serde::{Deserialize, Serialize};

use super::stats::{Z_95, normal_cdf, t_95};

/// Elo per unit of log odds.
const ELO_PER_LOGIT: f64 = 400.0 / std::f64::consts::LN_10;

/// The expected score of an agent that is this much stronger, a draw being half a point.
pub fn expected_score(elo: f64) -> f64 {
    logistic(elo / ELO_PER_LOGIT)
}

/// The probabilities of win, draw and loss for an agent this much stronger, where equals draw this
/// share of their games (below 1).
pub fn result_probabilities(elo: f64, draws_between_equals: f64) -> [f64; 3] {
    let nu = 2.0 * draws_between_equals / (1.0 - draws_between_equals);
    let score = expected_score(elo);
    let draw = draw_probability(score, nu);
    [score - 0.5 * draw, draw, 1.0 - score - 0.5 * draw]
}

/// What two agents' games against each other came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bout {
    /// One agent, by its place in the table.
    pub first: usize,
    /// The other.
    pub second: usize,
    /// Draws among the games of all pairs.
    pub draws: u32,
    /// Observations that are independent of each other: a pair, with its exact repetitions.
    pub clusters: Vec<Cluster>,
}

/// A pair of games together with its exact repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cluster {
    /// How many pairs; 1 if there are no repetitions.
    pub pairs: u32,
    /// Half points of the first agent over all of them, at most `4 * pairs`.
    pub half_points: u32,
}

impl Cluster {
    /// The same seen by the other agent.
    pub(super) fn flip(&self) -> Cluster {
        Cluster {
            half_points: 4 * self.pairs - self.half_points,
            ..*self
        }
    }
}

/// A number in Elo, and how far it can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The most likely value.
    pub elo: f64,
    /// The 95 % interval reaches this far to both sides.
    pub margin: f64,
}

impl Estimate {
    /// The 95 % interval.
    pub fn interval(&self) -> (f64, f64) {
        (self.elo - self.margin, self.elo + self.margin)
    }

    /// The same on a scale whose zero lies elsewhere.
    pub(super) fn shifted(self, elo: f64) -> Estimate {
        Estimate {
            elo: self.elo + elo,
            ..self
        }
    }

    /// How likely it is that the true value is above zero.
    pub fn above_zero(&self) -> f64 {
        if self.margin == 0.0 {
            return 0.5;
        }
        normal_cdf(self.elo * Z_95 / self.margin)
    }
}

/// Strengths fitted to a table of matches.
#[derive(Clone, Debug)]
pub struct Fit {
    strengths: Vec<f64>,   // in log odds; their sum is 0
    covariance: Vec<f64>, // [agents, agents]: the inverse of the information, sum of strengths fixed
    scatter: Vec<Scatter>, // one per bout
    draws_between_equals: f64,
}

/// How much a bout's total of points varies.
#[derive(Clone, Copy, Debug)]
struct Scatter {
    first: usize,
    second: usize,
    measured: f64, // variance from pairs
    degrees: f64,  // of freedom of that
    assumed: f64,  // variance from the virtual game, taken as known
}

impl Fit {
    /// Fits `agents` strengths to these matches. All agents should be connected by bouts, however few
    /// games they had; strengths of unconnected groups are not comparable.
    ///
    /// # Panics
    /// If a bout names an agent that is not in the table.
    pub fn new(agents: usize, bouts: &[Bout]) -> Fit {
        let sums: Vec<Sums> = bouts.iter().map(Sums::new).collect();
        let strengths = solve_strengths(agents, &sums);
        let covariance = invert(information(agents, &sums, &strengths), agents);
        let scatter = bouts
            .iter()
            .zip(&sums)
            .map(|(bout, sums)| sums.scatter(bout, agents, &strengths, &covariance))
            .collect();
        let draws_between_equals = solve_draws(&sums, &strengths);
        Fit {
            strengths,
            covariance,
            scatter,
            draws_between_equals,
        }
    }

    /// The share of games that equals would draw.
    pub fn draws_between_equals(&self) -> f64 {
        self.draws_between_equals
    }

    /// The agent's strength relative to the mean of the table.
    pub fn relative_to_mean(&self, agent: usize) -> Estimate {
        let share = 1.0 / self.strengths.len() as f64;
        self.contrast(|other| f64::from(u8::from(other == agent)) - share)
    }

    /// The agent's rating where `fixed`, an agent with its own, fixes the scale; relative to the mean
    /// of the table without.
    pub fn rating(&self, agent: usize, fixed: Option<(usize, f64)>) -> Estimate {
        match fixed {
            None => self.relative_to_mean(agent),
            Some((other, elo)) => self.difference(agent, other).shifted(elo),
        }
    }

    /// How much stronger one agent is than another; 0 without doubt for the same one.
    pub fn difference(&self, agent: usize, other: usize) -> Estimate {
        self.contrast(|index| {
            f64::from(u8::from(index == agent)) - f64::from(u8::from(index == other))
        })
    }

    /// The value of a weighted sum of strengths whose weights add up to 0.
    fn contrast(&self, weight: impl Fn(usize) -> f64) -> Estimate {
        let agents = self.strengths.len();
        let weights: Vec<f64> = (0..agents).map(weight).collect();
        // pull[a]: by how much the contrast moves per point too many of agent a
        let pull: Vec<f64> = (0..agents)
            .map(|row| dot(&self.covariance[row * agents..][..agents], &weights))
            .collect();
        let mut variance = 0.0;
        let mut spread = 0.0; // Satterthwaite: Σ variance² / degrees
        for bout in &self.scatter {
            let square = (pull[bout.first] - pull[bout.second]).powi(2);
            let measured = square * bout.measured;
            variance += measured + square * bout.assumed;
            spread += measured * measured / bout.degrees;
        }
        let degrees = if spread > 0.0 {
            variance * variance / spread
        } else {
            f64::INFINITY
        };
        Estimate {
            elo: ELO_PER_LOGIT * dot(&self.strengths, &weights),
            margin: ELO_PER_LOGIT * t_95(degrees) * variance.sqrt(),
        }
    }
}

/// What the fit needs to know of a bout.
struct Sums {
    first: usize,
    second: usize,
    games: f64,
    points: f64, // of the first agent
    draws: f64,
}

/// The weight of the virtual game that every bout has, and the first agent's points in it.
const VIRTUAL_GAMES: f64 = 1.0;
const VIRTUAL_POINTS: f64 = 0.5;

/// How many pairs of independent games the scatter of every bout is mixed with.
const VIRTUAL_PAIRS: f64 = 1.0;

impl Sums {
    fn new(bout: &Bout) -> Sums {
        let games: u32 = bout.clusters.iter().map(|cluster| 2 * cluster.pairs).sum();
        let half_points: u32 = bout
            .clusters
            .iter()
            .map(|cluster| cluster.half_points)
            .sum();
        Sums {
            first: bout.first,
            second: bout.second,
            games: f64::from(games),
            points: 0.5 * f64::from(half_points),
            draws: f64::from(bout.draws),
        }
    }

    /// The expected score of the first agent.
    fn score(&self, strengths: &[f64]) -> f64 {
        logistic(strengths[self.first] - strengths[self.second])
    }

    fn scatter(
        &self,
        bout: &Bout,
        agents: usize,
        strengths: &[f64],
        covariance: &[f64],
    ) -> Scatter {
        let score = self.score(strengths);
        let unit = score * (1.0 - score); // variance of a game without draws
        let at = |row: usize, column: usize| covariance[row * agents + column];
        let (a, b) = (self.first, self.second);
        let information = (self.games + VIRTUAL_GAMES) * unit;
        // The share of a parameter that this bout alone determines: between 0 and 1.
        let leverage = (information * (at(a, a) + at(b, b) - at(a, b) - at(b, a))).clamp(0.0, 1.0);
        let observations = bout.clusters.len() as f64;
        let squares: f64 = bout
            .clusters
            .iter()
            .map(|cluster| {
                let expected = 2.0 * f64::from(cluster.pairs) * score;
                (0.5 * f64::from(cluster.half_points) - expected).powi(2)
            })
            .sum();
        let degrees = observations + VIRTUAL_PAIRS - leverage;
        let independent = if observations > 0.0 {
            self.games * unit / observations
        } else {
            0.0
        };
        let mean_square = if degrees > 0.0 {
            (squares + VIRTUAL_PAIRS * independent) / degrees
        } else {
            0.0
        };
        Scatter {
            first: a,
            second: b,
            measured: observations * mean_square,
            degrees: degrees.max(1.0),
            // A coin flip around the expected score.
            assumed: VIRTUAL_GAMES * ((score - VIRTUAL_POINTS).powi(2) + 0.25),
        }
    }
}

/// The strengths, with sum 0, at which each agent's points are those expected: Newton's method on a
/// concave likelihood, with bounded steps.
fn solve_strengths(agents: usize, sums: &[Sums]) -> Vec<f64> {
    const LONGEST_STEP: f64 = 1.0;
    let mut strengths = vec![0.0; agents];
    for _ in 0..1000 {
        let mut surplus = vec![0.0; agents];
        for bout in sums {
            let expected = (bout.games + VIRTUAL_GAMES) * bout.score(&strengths);
            let more = bout.points + VIRTUAL_POINTS - expected;
            surplus[bout.first] += more;
            surplus[bout.second] -= more;
        }
        let inverse = invert(information(agents, sums, &strengths), agents);
        let step: Vec<f64> = (0..agents)
            .map(|row| dot(&inverse[row * agents..][..agents], &surplus))
            .collect();
        let longest = step
            .iter()
            .fold(0.0, |longest: f64, s| longest.max(s.abs()));
        let scale = if longest > LONGEST_STEP {
            LONGEST_STEP / longest
        } else {
            1.0
        };
        for (strength, step) in strengths.iter_mut().zip(&step) {
            *strength += scale * step;
        }
        if longest < 1e-11 {
            break;
        }
    }
    strengths
}

/// The information matrix, with one added to every entry so that the sum of strengths, which no game
/// tells anything about, is held at 0. The diagonal is kept positive for agents without bouts.
fn information(agents: usize, sums: &[Sums], strengths: &[f64]) -> Vec<f64> {
    const HELD: f64 = 1e-9;
    let mut matrix = vec![1.0; agents * agents];
    for agent in 0..agents {
        matrix[agent * agents + agent] += HELD;
    }
    for bout in sums {
        let score = bout.score(strengths);
        let weight = (bout.games + VIRTUAL_GAMES) * score * (1.0 - score);
        let (a, b) = (bout.first, bout.second);
        matrix[a * agents + a] += weight;
        matrix[b * agents + b] += weight;
        matrix[a * agents + b] -= weight;
        matrix[b * agents + a] -= weight;
    }
    matrix
}

/// The inverse of a positive definite matrix, by Gauss-Jordan elimination.
fn invert(mut matrix: Vec<f64>, size: usize) -> Vec<f64> {
    let mut inverse = vec![0.0; size * size];
    for index in 0..size {
        inverse[index * size + index] = 1.0;
    }
    for pivot in 0..size {
        let scale = 1.0 / matrix[pivot * size + pivot];
        for column in 0..size {
            matrix[pivot * size + column] *= scale;
            inverse[pivot * size + column] *= scale;
        }
        for row in (0..size).filter(|&row| row != pivot) {
            let factor = matrix[row * size + pivot];
            for column in 0..size {
                matrix[row * size + column] -= factor * matrix[pivot * size + column];
                inverse[row * size + column] -= factor * inverse[pivot * size + column];
            }
        }
    }
    inverse
}

/// The draw rate between equals at which as many draws are expected as were seen.
fn solve_draws(sums: &[Sums], strengths: &[f64]) -> f64 {
    let seen: f64 = sums.iter().map(|bout| bout.draws).sum();
    if seen == 0.0 {
        return 0.0;
    }
    let expected = |share: f64| -> f64 {
        let nu = 2.0 * share / (1.0 - share);
        let draws = |bout: &Sums| bout.games * draw_probability(bout.score(strengths), nu);
        sums.iter().map(draws).sum()
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if expected(middle) < seen {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// The draw probability `t` with `t² = ν² w l`, where `w + t/2` is the expected score: the positive
/// root of `(1 - ν²/4) t² + (ν²/2) t = ν² score (1 - score)`.
fn draw_probability(score: f64, nu: f64) -> f64 {
    let unit = score * (1.0 - score);
    2.0 * nu * unit / (0.5 * nu + (0.25 * nu * nu + (4.0 - nu * nu) * unit).sqrt())
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(a, b)| a * b).sum()
}
