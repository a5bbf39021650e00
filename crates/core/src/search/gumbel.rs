//! The formulas of "Policy improvement by planning with Gumbel" (Danihelka et al., 2022), as pure
//! functions: sequential halving at the root, completed values, the improved policy.

use super::math::{exp, largest, normalize};
use super::tree::Children;

/// Settings of the Gumbel search rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GumbelSettings {
    /// Actions at the root that get simulations before the first halving.
    pub considered: u32,
    /// Weight of values against logits.
    pub value_scale: f32,
    /// Added to the largest visit count when values are scaled.
    pub visit_offset: f32,
    /// If all values at a node span less than this, their influence shrinks in proportion. 0 always
    /// scales them to the full range, as in the paper.
    pub least_range: f32,
}

impl GumbelSettings {
    /// The default settings.
    pub const DEFAULT: GumbelSettings =
        GumbelSettings { considered: 16, value_scale: 0.1, visit_offset: 50.0, least_range: 0.0 };
}

impl Default for GumbelSettings {
    fn default() -> GumbelSettings {
        GumbelSettings::DEFAULT
    }
}

/// Ranges of values below this count as this, to avoid division by 0.
const MIN_RANGE: f32 = 1e-8;

/// The schedule of sequential halving: for each simulation, the visits that the action to visit has
/// had. All considered actions are visited equally often, then the better half of them, and so on down
/// to two.
#[derive(Clone, Debug)]
pub(super) struct Halving {
    simulations: u32,
    rounds: u32,            // the number of halvings, at least 1
    considered: u32,        // actions that remain
    pub(super) visits: u32, // that the next action to visit has had, like all of them before this row
    left: u32,              // actions to visit in this row
    rows: u32,              // until the next halving, this one included
}

impl Halving {
    /// The schedule for this many actions and simulations.
    pub(super) fn new(considered: u32, simulations: u32) -> Halving {
        let considered = considered.max(1);
        let rounds = considered.next_power_of_two().trailing_zeros().max(1);
        let mut halving = Halving { simulations, rounds, considered, visits: 0, left: considered, rows: 0 };
        halving.rows = halving.rows_per_round();
        halving
    }

    fn rows_per_round(&self) -> u32 {
        (self.simulations / (self.rounds * self.considered)).max(1)
    }

    /// Moves to the next simulation.
    pub(super) fn advance(&mut self) {
        self.left -= 1;
        if self.left > 0 {
            return;
        }
        self.visits += 1;
        self.rows -= 1;
        if self.rows == 0 && self.considered > 1 {
            self.considered = (self.considered / 2).max(2);
            self.rows = self.rows_per_round();
        } else if self.rows == 0 {
            self.rows = 1;
        }
        self.left = self.considered;
    }
}

/// Writes the completed values of a node's actions, on the scale of logits. `raw` is the evaluator's expected result
/// of the node itself. `all_legal` says whether every action of the game is legal here.
///
/// An unvisited action gets the mixed value: the mean of the raw value and the values of the visited
/// actions, weighted by prior and visits.
#[inline]
pub(super) fn complete(
    children: &Children<'_>,
    raw: f32,
    all_legal: bool,
    settings: &GumbelSettings,
    values: &mut [f32],
) {
    children.write_known_values(values);
    let (mut visits, mut most_visits) = (0, 0);
    let (mut mass, mut weighted) = (0.0, 0.0);
    let (mut least, mut most) = (f32::INFINITY, f32::NEG_INFINITY);
    let mut filled = !all_legal;
    for ((&value, &count), &prior) in values.iter().zip(children.visits).zip(children.priors) {
        filled |= value.is_nan();
        least = if value < least { value } else { least };
        most = if value > most { value } else { most };
        visits += count;
        most_visits = most_visits.max(count);
        let (prior, value) = if count > 0 { (prior.max(f32::MIN_POSITIVE), value) } else { (0.0, 0.0) };
        mass += prior;
        weighted += prior * value;
    }
    let unvisited = if visits == 0 { raw } else { (raw + visits as f32 * (weighted / mass)) / (visits + 1) as f32 };
    if filled {
        least = least.min(unvisited);
        most = most.max(unvisited);
    }
    let scale = (settings.visit_offset + most_visits as f32) * settings.value_scale;
    let factor = scale / (most - least).max(settings.least_range).max(MIN_RANGE);
    for value in values {
        let known = if value.is_nan() { unvisited } else { *value };
        *value = (known - least) * factor;
    }
}

/// Turns completed values into the improved policy, `softmax(logits + completed values)`.
pub(super) fn improve_policy(children: &Children<'_>, values: &mut [f32]) {
    // Completed values lie between 0 and (offset + visits) * scale, which may overflow `exp`, so the
    // largest is subtracted.
    let top = largest(values);
    let is_possible = |(prior, value): (&f32, &f32)| prior * exp(value - top) > 0.0;
    if !children.priors.iter().zip(&*values).any(is_possible) {
        // The best values have priors of 0, so the values decide alone.
        let share = 1.0 / values.iter().filter(|value| **value == top).count() as f32;
        values.iter_mut().for_each(|value| *value = if *value == top { share } else { 0.0 });
        return;
    }
    for (value, prior) in values.iter_mut().zip(children.priors) {
        *value = prior * exp(*value - top);
    }
    normalize(values);
}

/// The child to visit inside the tree, so that visit shares approach the improved policy, to which the completed values
/// in `values` are changed.
#[inline]
pub(super) fn select_interior(children: &Children<'_>, values: &mut [f32]) -> usize {
    improve_policy(children, values);
    let visits: u32 = children.visits.iter().sum();
    let share = 1.0 / (1 + visits) as f32;
    let mut best = (usize::MAX, f32::NEG_INFINITY);
    for (index, (weight, &visits)) in values.iter().zip(children.visits).enumerate() {
        let score = weight - visits as f32 * share;
        if score > best.1 && children.is_open(index) {
            best = (index, score);
        }
    }
    debug_assert!(best.0 < children.len(), "an unproven node has an open child");
    best.0
}
