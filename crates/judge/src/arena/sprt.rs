//! The sequential probability ratio test for opening pairs. A match continues until its results decide between two
//! hypotheses about the difference in strength.
//!
//! A pair of games has five possible results, 0 to 4 half points for the first agent. Each hypothesis predicts a mean
//! result. The test compares the largest likelihoods that a distribution with either mean can give to the observed
//! pairs. It needs no model of draws or of unbalanced openings.

use std::str::FromStr;

use serde::Serialize;

use super::rating::expected_score;
use super::stats::bisect;
use jarmo_core::numbers::NumberRange;

/// How many pairs had 0, 1, 2, 3 and 4 half points for the first agent.
pub type PairCounts = [u32; 5];

/// The intended probability of each of the two errors.
pub const ERROR_RATE: f64 = 0.05;

/// Two hypotheses about the difference in strength: first agent minus second agent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sprt {
    /// The smaller difference, in Elo.
    pub elo0: f64,
    /// The larger difference, in Elo.
    pub elo1: f64,
}

/// What a test has decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Conclusion {
    /// More games are needed.
    Undecided,
    /// The difference is `elo0` or less.
    Elo0,
    /// The difference is `elo1` or more.
    Elo1,
}

impl Sprt {
    /// The log-likelihood ratio of `elo1` over `elo0`.
    pub fn log_likelihood_ratio(&self, counts: &PairCounts) -> f64 {
        // Results that did not occur keep a small probability.
        const UNSEEN: f64 = 1e-3;
        let counts = counts.map(|count| f64::from(count).max(UNSEEN));
        let total: f64 = counts.iter().sum();
        let observed = counts.map(|count| count / total);
        let under0 = most_likely(&observed, expected_score(self.elo0));
        let under1 = most_likely(&observed, expected_score(self.elo1));
        (0..5).map(|result| counts[result] * (under1[result] / under0[result]).ln()).sum()
    }

    /// The conclusion after these pairs.
    pub fn decide(&self, counts: &PairCounts) -> Conclusion {
        let bound = Sprt::bound();
        let ratio = self.log_likelihood_ratio(counts);
        if ratio >= bound {
            Conclusion::Elo1
        } else if ratio <= -bound {
            Conclusion::Elo0
        } else {
            Conclusion::Undecided
        }
    }

    /// `elo1` is accepted when the log-likelihood ratio reaches this, `elo0` when it reaches the negative of this.
    pub fn bound() -> f64 {
        ((1.0 - ERROR_RATE) / ERROR_RATE).ln()
    }
}

impl FromStr for Sprt {
    type Err = String;

    fn from_str(text: &str) -> Result<Sprt, String> {
        let wanted = "expected two differences in Elo, the smaller one first, such as 0,20";
        let (elo0, elo1) = text.split_once(',').ok_or(wanted)?;
        let bounds = NumberRange::new(-1000.0, 1000.0);
        let number =
            |text: &str| bounds.parse(text.trim()).map_err(|problem| format!("{wanted}; a difference: {problem}"));
        let (elo0, elo1) = (number(elo0)?, number(elo1)?);
        if elo0 >= elo1 {
            return Err(wanted.to_owned());
        }
        Ok(Sprt { elo0, elo1 })
    }
}

/// Of all distributions over the five results with this mean score, the one that maximises the likelihood of the
/// observed one: `p[k] = observed[k] / (1 + x (k/4 - mean))`, where `x` follows from the mean.
fn most_likely(observed: &[f64; 5], mean: f64) -> [f64; 5] {
    let offsets: [f64; 5] = std::array::from_fn(|result| result as f64 / 4.0 - mean);
    let slope =
        |x: f64| -> f64 { (0..5).map(|result| observed[result] * offsets[result] / (1.0 + x * offsets[result])).sum() };
    // Between these poles the slope falls from +∞ to -∞.
    let poles = (-1.0 / offsets[4], -1.0 / offsets[0]);
    let x = bisect(poles, 100, |x| slope(x) > 0.0);
    std::array::from_fn(|result| observed[result] / (1.0 + x * offsets[result]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_likely_distribution_sums_to_one_and_has_the_given_mean() {
        let observed = [0.1, 0.2, 0.4, 0.2, 0.1];
        for mean in [0.1, 0.48, 0.5, 0.53, 0.9] {
            let fitted = most_likely(&observed, mean);
            let found: f64 = (0..5).map(|k| fitted[k] * k as f64 / 4.0).sum();
            assert!((fitted.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            assert!((found - mean).abs() < 1e-9, "{found} for {mean}");
            assert!(fitted.iter().all(|&p| p > 0.0));
        }
        let unchanged = most_likely(&observed, 0.5);
        assert!((0..5).all(|k| (unchanged[k] - observed[k]).abs() < 1e-9));
    }

    #[test]
    fn the_ratio_favours_the_supported_hypothesis_and_mirrors() {
        let sprt = Sprt { elo0: 0.0, elo1: 20.0 };
        assert!(sprt.log_likelihood_ratio(&[10, 20, 40, 60, 70]) > Sprt::bound());
        assert!(sprt.log_likelihood_ratio(&[70, 60, 40, 20, 10]) < -Sprt::bound());
        assert!(sprt.log_likelihood_ratio(&[0; 5]).abs() < 0.01);
        let mirrored = Sprt { elo0: -20.0, elo1: 0.0 };
        let there = sprt.log_likelihood_ratio(&[3, 8, 20, 12, 7]);
        let back = mirrored.log_likelihood_ratio(&[7, 12, 20, 8, 3]);
        assert!((there + back).abs() < 1e-9);
    }

    #[test]
    fn hypotheses_parse_as_two_numbers_the_smaller_one_first() {
        assert_eq!("0,20".parse(), Ok(Sprt { elo0: 0.0, elo1: 20.0 }));
        assert_eq!("-5, 2.5".parse(), Ok(Sprt { elo0: -5.0, elo1: 2.5 }));
        for text in ["", "5", "5,5", "20,0", "a,b", "0,NaN", "0,inf", "0,1e9", "1,2,3"] {
            assert!(text.parse::<Sprt>().is_err(), "{text}");
        }
    }
}
