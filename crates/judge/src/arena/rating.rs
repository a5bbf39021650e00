//! Elo ratings from match results: a Bradley-Terry fit with draws and confidence intervals.
//!
//! **The model.** A difference of `d` Elo means an expected score of `1 / (1 + 10^(-d/400))`, where a draw is half a
//! point. Draws follow Davidson: with win, draw and loss probabilities `w`, `t`, `l`, we have `t² = ν² w l`. Equal
//! agents thus draw a fraction `ν / (2 + ν)` of their games, and draws become rare as the difference grows. The
//! strengths are fitted so that every agent's expected number of points is the observed one. This does not depend on
//! `ν` or on the model of draws. Then `ν` is fitted to the number of draws.
//!
//! **The intervals** do not rely on the model. The two games of an opening pair are not independent, so a pair is one
//! observation. The variance of pairs is estimated from the data: a sandwich estimate with pairs as clusters,
//! Satterthwaite's degrees of freedom, and Student's t. A pair that repeats an earlier pair of its match move for
//! move is no new evidence: the pairs form a cluster, which counts once in ratings and intervals.
//!
//! **Few games and clean sweeps.** Every match gets one virtual game, half won and half lost, with the variance of a
//! coin flip, and one virtual pair with the variance of independent games. Therefore a clean sweep has a finite
//! rating with a wide interval, and a few identical results do not look certain.

use serde::{Deserialize, Serialize};

use super::stats::{Z_95, bisect, normal_cdf, t_95};

/// Elo per unit of log odds.
const ELO_PER_LOGIT: f64 = 400.0 / std::f64::consts::LN_10;

/// The expected score of an agent that is stronger by this many Elo. A draw is half a point.
pub fn expected_score(elo: f64) -> f64 {
    logistic(elo / ELO_PER_LOGIT)
}

/// The results of two agents against each other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bout {
    /// The index of one agent.
    pub first: usize,
    /// The index of the other agent.
    pub second: usize,
    /// The number of draws; repeated pairs count once.
    pub draws: u32,
    /// The independent observations. Each is a pair with its exact repetitions.
    pub clusters: Vec<Cluster>,
}

/// A pair of games with its exact repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cluster {
    /// The number of pairs; 1 if the pair was not repeated.
    pub pairs: u32,
    /// The half points of the first agent in all these pairs, at most `4 * pairs`.
    pub half_points: u32,
}

impl Cluster {
    /// The points of the first agent in one of the pairs.
    fn points(&self) -> f64 {
        f64::from(self.half_points) / f64::from(2 * self.pairs)
    }

    /// The same pairs from the other agent's point of view.
    pub(super) fn flip(&self) -> Cluster {
        Cluster { half_points: 4 * self.pairs - self.half_points, ..*self }
    }
}

/// An estimate in Elo with its 95% interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The estimated value.
    pub elo: f64,
    /// Half the width of the 95% interval.
    pub margin: f64,
}

impl Estimate {
    /// The 95% interval, as its two ends.
    pub fn interval(&self) -> (f64, f64) {
        (self.elo - self.margin, self.elo + self.margin)
    }

    /// The probability that the true value is above zero.
    pub fn above_zero(&self) -> f64 {
        if self.margin == 0.0 {
            return 0.5;
        }
        normal_cdf(self.elo * Z_95 / self.margin)
    }
}

/// Strengths that were fitted to match results.
#[derive(Clone, Debug)]
pub struct Fit {
    strengths: Vec<f64>,  // in log odds; their sum is 0
    covariance: Vec<f64>, // [agents, agents]: the inverse of the information matrix with the sum of strengths fixed
    bouts: Vec<BoutSums>,
    /// The estimated fraction of draws between equal agents.
    pub draws_between_equals: f64,
}

impl Fit {
    /// Fits strengths of `agents` agents to these bouts. The bouts should connect all agents, because strengths of
    /// unconnected groups cannot be compared.
    ///
    /// # Panics
    /// Panics if the index of an agent is not below `agents`.
    pub fn new(agents: usize, bouts: &[Bout]) -> Fit {
        let mut sums: Vec<BoutSums> = bouts.iter().map(BoutSums::new).collect();
        let strengths = solve_strengths(agents, &sums);
        let covariance = invert(information(agents, &sums, &strengths), agents);
        for (bout, sums) in bouts.iter().zip(&mut sums) {
            sums.scatter(bout, agents, &strengths, &covariance);
        }
        let draws_between_equals = solve_draws(&sums, &strengths);
        Fit { strengths, covariance, bouts: sums, draws_between_equals }
    }

    /// The agent's rating. If `fixed` is an agent and its rating, ratings are relative to that; otherwise their mean
    /// is 0.
    pub fn rating(&self, agent: usize, fixed: Option<(usize, f64)>) -> Estimate {
        match fixed {
            None => {
                let share = 1.0 / self.strengths.len() as f64;
                self.contrast(|other| f64::from(u8::from(other == agent)) - share)
            }
            Some((other, elo)) => {
                let difference = self.difference(agent, other);
                Estimate { elo: difference.elo + elo, ..difference }
            }
        }
    }

    /// The strength of one agent minus that of another. It is exactly 0 if they are the same.
    pub fn difference(&self, agent: usize, other: usize) -> Estimate {
        self.contrast(|index| f64::from(u8::from(index == agent)) - f64::from(u8::from(index == other)))
    }

    /// The estimate of a weighted sum of strengths. The weights must add up to 0.
    fn contrast(&self, weight: impl Fn(usize) -> f64) -> Estimate {
        let agents = self.strengths.len();
        let weights: Vec<f64> = (0..agents).map(weight).collect();
        // pull[a]: by how much one more point of agent `a` changes the sum.
        let pull: Vec<f64> = (0..agents).map(|row| dot(&self.covariance[row * agents..][..agents], &weights)).collect();
        let mut variance = 0.0;
        let mut spread = 0.0; // Satterthwaite: Σ variance² / degrees
        for bout in &self.bouts {
            let square = (pull[bout.first] - pull[bout.second]).powi(2);
            let measured = square * bout.measured;
            variance += measured + square * bout.assumed;
            spread += measured * measured / bout.degrees;
        }
        let degrees = if spread > 0.0 { variance * variance / spread } else { f64::INFINITY };
        Estimate {
            elo: ELO_PER_LOGIT * dot(&self.strengths, &weights),
            margin: ELO_PER_LOGIT * t_95(degrees) * variance.sqrt(),
        }
    }
}

/// The totals of a bout for the fit, and the variance of its points, which [`BoutSums::scatter`] computes.
#[derive(Clone, Debug, Default)]
struct BoutSums {
    first: usize,
    second: usize,
    games: f64,  // without repeated ones
    points: f64, // of the first agent
    draws: f64,
    measured: f64, // variance of the pairs
    degrees: f64,  // degrees of freedom of `measured`
    assumed: f64,  // variance of the virtual game, which is known exactly
}

/// The weight of the virtual game of every bout, and the points of the first agent in it.
const VIRTUAL_GAMES: f64 = 1.0;
const VIRTUAL_POINTS: f64 = 0.5;

/// Every bout also gets the variance of independent games, with the weight of this many pairs.
const VIRTUAL_PAIRS: f64 = 1.0;

impl BoutSums {
    fn new(bout: &Bout) -> BoutSums {
        BoutSums {
            first: bout.first,
            second: bout.second,
            games: 2.0 * bout.clusters.len() as f64,
            points: bout.clusters.iter().map(Cluster::points).sum(),
            draws: f64::from(bout.draws),
            ..BoutSums::default()
        }
    }

    /// The expected score of the first agent.
    fn score(&self, strengths: &[f64]) -> f64 {
        logistic(strengths[self.first] - strengths[self.second])
    }

    /// Computes the variance of the bout's points.
    fn scatter(&mut self, bout: &Bout, agents: usize, strengths: &[f64], covariance: &[f64]) {
        let score = self.score(strengths);
        let unit = score * (1.0 - score); // variance of a game without draws
        let at = |row: usize, column: usize| covariance[row * agents + column];
        let (a, b) = (self.first, self.second);
        let information = (self.games + VIRTUAL_GAMES) * unit;
        // The leverage of this bout on the fit, between 0 and 1.
        let leverage = (information * (at(a, a) + at(b, b) - at(a, b) - at(b, a))).clamp(0.0, 1.0);
        let observations = bout.clusters.len() as f64;
        let squares: f64 = bout.clusters.iter().map(|cluster| (cluster.points() - 2.0 * score).powi(2)).sum();
        let degrees = observations + VIRTUAL_PAIRS - leverage;
        let mean_square = if degrees > 0.0 { (squares + VIRTUAL_PAIRS * 2.0 * unit) / degrees } else { 0.0 };
        self.measured = observations * mean_square;
        self.degrees = degrees.max(1.0);
        // The virtual game is a coin flip, seen from the expected score.
        self.assumed = VIRTUAL_GAMES * ((score - VIRTUAL_POINTS).powi(2) + 0.25);
    }
}

/// The strengths at which each agent has its expected points; their sum is 0. Uses Newton's method with bounded
/// steps; the likelihood is concave.
fn solve_strengths(agents: usize, sums: &[BoutSums]) -> Vec<f64> {
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
        let step: Vec<f64> = (0..agents).map(|row| dot(&inverse[row * agents..][..agents], &surplus)).collect();
        let longest = step.iter().fold(0.0, |longest: f64, s| longest.max(s.abs()));
        let scale = if longest > LONGEST_STEP { LONGEST_STEP / longest } else { 1.0 };
        for (strength, step) in strengths.iter_mut().zip(&step) {
            *strength += scale * step;
        }
        if longest < 1e-11 {
            break;
        }
    }
    strengths
}

/// The information matrix. Games determine only differences of strengths, so 1 is added to every entry, which fixes
/// their sum at 0. A small term on the diagonal keeps the matrix positive definite if an agent has no bouts.
fn information(agents: usize, sums: &[BoutSums], strengths: &[f64]) -> Vec<f64> {
    const RIDGE: f64 = 1e-9;
    let mut matrix = vec![1.0; agents * agents];
    for agent in 0..agents {
        matrix[agent * agents + agent] += RIDGE;
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

/// The fraction of draws between equal agents. With it, the expected number of draws equals the observed one.
fn solve_draws(sums: &[BoutSums], strengths: &[f64]) -> f64 {
    let observed: f64 = sums.iter().map(|bout| bout.draws).sum();
    if observed == 0.0 {
        return 0.0;
    }
    let expected = |share: f64| -> f64 {
        let nu = 2.0 * share / (1.0 - share);
        let draws = |bout: &BoutSums| bout.games * draw_probability(bout.score(strengths), nu);
        sums.iter().map(draws).sum()
    };
    bisect((0.0, 1.0), 50, |share| expected(share) < observed)
}

/// The draw probability `t`, given the expected score `w + t/2`: the positive root of
/// `(1 - ν²/4) t² + (ν²/2) t = ν² score (1 - score)`, which follows from `t² = ν² w l`.
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
