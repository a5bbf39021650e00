//! The formulas of Gumbel search as pure functions: sequential halving, completed values, the improved policy.
//! [`GumbelSettings`] states them.

use super::math::{exp, largest, normalize};
use super::tree::Children;

/// The search rule of "Policy improvement by planning with Gumbel" (Danihelka et al., 2022).
///
/// P(a) is the prior of an action, N(a) its number of visits, Q(a) its mean or proven value, and g(a) Gumbel noise.
///
/// - **Completed values.** An action that has neither visits nor a proven value gets the mixed value
///   Q(a) = (v + ΣN · ΣPQ / ΣP) / (1 + ΣN). Here v is the evaluator's value of the node, and the sums run over the
///   visited actions.
/// - **The scale of logits.** σ(Q) = (`visit_offset` + max N) · `value_scale` · (Q − min Q) / (max Q − min Q). The
///   minimum and maximum include the mixed value unless all actions are legal and have values.
/// - **The improved policy** is π′ = softmax(ln P + σ(Q)).
/// - **At the root,** sequential halving decides how many visits the next action must have had. Among the actions with
///   that many visits, the one with the largest ln P + g + σ(Q) is next.
/// - **Below the root,** the next action is the one with the largest π′(a) − N(a) / (1 + ΣN). The visits then approach
///   the improved policy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GumbelSettings {
    /// How many actions at the root get simulations before the first halving.
    pub considered: u32,
    /// c_scale in the paper: the weight of values relative to logits.
    pub value_scale: f32,
    /// c_visit in the paper: added to the largest visit count of a node when its values are scaled.
    pub visit_offset: f32,
    /// The values of a node are divided by their range, or by this if the range is smaller, so that small differences
    /// keep little influence. 0 always scales the values to the full range, as in the paper.
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

/// A smaller range of values counts as this, so that nothing is divided by 0.
const MIN_RANGE: f32 = 1e-8;

/// The schedule of sequential halving. For each simulation it gives the number of visits that the next action to visit
/// must have. First all considered actions are visited equally often, then the better half of them, and so on down to
/// two.
///
/// A *row* is one visit to each of the remaining actions, which all had the same number of visits before it.
#[derive(Clone, Debug)]
pub(super) struct Halving {
    simulations: u32,
    rounds: u32,            // the number of halvings, at least 1
    considered: u32,        // actions that remain
    pub(super) visits: u32, // in this plan, of the next action to be visited
    left: u32,              // actions still to be visited in this row
    rows: u32,              // until the next halving, including this one
}

impl Halving {
    /// The schedule for this many considered actions and simulations.
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

    /// Moves on to the next simulation.
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

/// Replaces `values` by the completed values of a node's actions on the scale of logits, σ(Q). `raw` is the
/// evaluator's expected result of the node itself. `all_legal` says whether every action of the game is legal here.
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

/// Replaces completed values σ(Q) by the improved policy softmax(ln P + σ(Q)).
pub(super) fn improve_policy(children: &Children<'_>, values: &mut [f32]) {
    // Completed values lie between 0 and (visit_offset + visits) · value_scale. `exp` of that can overflow, so the
    // largest one is subtracted first.
    let top = largest(values);
    let is_possible = |(prior, value): (&f32, &f32)| prior * exp(value - top) > 0.0;
    if !children.priors.iter().zip(&*values).any(is_possible) {
        // The actions with the best values have priors of 0, so the priors are ignored.
        let share = 1.0 / values.iter().filter(|value| **value == top).count() as f32;
        values.iter_mut().for_each(|value| *value = if *value == top { share } else { 0.0 });
        return;
    }
    for (value, prior) in values.iter_mut().zip(children.priors) {
        *value = prior * exp(*value - top);
    }
    normalize(values);
}

/// The child to visit below the root: the largest π′(a) − N(a) / (1 + ΣN) of the open ones. `values` has the
/// completed values, and the improved policy π′ afterwards.
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
