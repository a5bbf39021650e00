//! What can be concluded from a few values of one measure, such as those of runs with different seeds.

use serde::Serialize;

/// A median, and the interval from the lowest to the highest value. The interval contains the median of all possible
/// values unless all of these values lie on one side of it: with 6 values, it does so in 97% of cases.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// How many values there are.
    pub values: usize,
    /// Their median.
    pub median: f64,
    /// The lowest value.
    pub low: f64,
    /// The highest one.
    pub high: f64,
}

impl Spread {
    /// One value.
    pub fn exact(value: f64) -> Spread {
        Spread { values: 1, median: value, low: value, high: value }
    }

    /// The spread of some values; `None` without values.
    pub fn of(values: &[f64]) -> Option<Spread> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (&low, &high) = sorted.first().zip(sorted.last())?;
        let median = 0.5 * (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]);
        Some(Spread { values: sorted.len(), median, low, high })
    }
}

/// The probability that two sets of these sizes, drawn from the same distribution, do not overlap, whichever lies
/// higher.
pub fn apart_by_chance(first: usize, second: usize) -> f64 {
    let orders: f64 = (1..=first).map(|place| (second + place) as f64 / place as f64).product();
    (2.0 / orders).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_has_the_median_and_the_ends() {
        assert_eq!(Spread::of(&[]), None);
        assert_eq!(Spread::of(&[3.0, 1.0, 2.0]), Some(Spread { values: 3, median: 2.0, low: 1.0, high: 3.0 }));
        assert_eq!(Spread::of(&[2.0, 1.0]).unwrap().median, 1.5);
    }

    #[test]
    fn two_groups_are_apart_by_chance_as_often_as_their_orders_allow() {
        for (first, second, expected) in
            [(1, 1, 1.0), (2, 2, 1.0 / 3.0), (3, 3, 0.1), (4, 4, 1.0 / 35.0), (2, 5, 2.0 / 21.0)]
        {
            assert!((apart_by_chance(first, second) - expected).abs() < 1e-12, "{first} and {second}");
        }
    }
}
