//! The formulas of Gumbel search as pure functions: sequential halving, completed values, the improved policy.
//! [`GumbelSettings`] states them.

use super::math::{exp, normalize};
use super::tree::{Best, Child, Storage};

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

/// The completed values of a node's actions.
pub(super) struct Completed {
    visits: u32,    // of all actions
    unvisited: f32, // σ(Q) of an action without visits
    top: f32,       // the largest σ(Q)
    least: f32,
    factor: f32,
}

impl Completed {
    /// The completed values of a node's actions. `values` gets those of its visited children. The game has this many
    /// `actions`.
    #[inline]
    pub(super) fn new<P: Copy>(
        storage: &Storage<P>,
        node: u32,
        actions: usize,
        settings: &GumbelSettings,
        values: &mut Vec<f32>,
    ) -> Completed {
        let (mut visits, mut most_visits) = (0, 0);
        let (mut mass, mut weighted) = (0.0, 0.0);
        let (mut least, mut most) = (f32::INFINITY, f32::NEG_INFINITY);
        values.clear();
        for child in storage.children(node) {
            let (count, prior, value) = (child.node.visits, child.node.prior.max(f32::MIN_POSITIVE), child.value());
            visits += count;
            most_visits = most_visits.max(count);
            mass += prior;
            weighted += prior * value;
            least = if value < least { value } else { least };
            most = if value > most { value } else { most };
            values.push(value);
        }
        let node = &storage.nodes[node as usize];
        let raw = node.raw;
        let unvisited = if visits == 0 { raw } else { (raw + visits as f32 * (weighted / mass)) / (visits + 1) as f32 };
        let is_complete = node.unvisited.is_empty();
        let best = if is_complete { most } else { most.max(unvisited) };
        if !is_complete || usize::from(node.edges) < actions {
            least = least.min(unvisited);
            most = most.max(unvisited);
        }
        let scale = (settings.visit_offset + most_visits as f32) * settings.value_scale;
        let factor = scale / (most - least).max(settings.least_range).max(MIN_RANGE);
        let scaled = |value| (value - least) * factor;
        Completed { visits, unvisited: scaled(unvisited), top: scaled(best), least, factor }
    }

    /// The completed value of an action on the scale of logits, σ(Q): of one with this value, or of an unvisited one.
    #[inline]
    pub(super) fn of(&self, value: Option<f32>) -> f32 {
        value.map_or(self.unvisited, |value| (value - self.least) * self.factor)
    }

    /// exp σ(Q), divided by the largest one. Without division, `exp` could overflow: completed values lie between 0 and
    /// (visit_offset + visits) · value_scale.
    #[inline]
    fn weight(&self, value: Option<f32>) -> f32 {
        exp((self.of(value) - self.top).min(0.0))
    }

    /// 1 for an action with the largest σ(Q), otherwise 0. The actions with the best values can have priors of 0. If all
    /// products of weights and priors are 0, this takes their place.
    #[inline]
    fn is_best(&self, value: Option<f32>) -> f32 {
        f32::from(u8::from(self.of(value) == self.top))
    }

    /// Writes the improved policy softmax(ln P + σ(Q)) of all legal actions.
    pub(super) fn write_policy(&self, priors: &[f32], children: &[Option<Child<'_>>], out: &mut [f32]) {
        let values = || children.iter().map(|child| child.map(Child::value));
        for ((out, prior), value) in out.iter_mut().zip(priors).zip(values()) {
            *out = prior.abs() * self.weight(value);
        }
        if out.iter().all(|weight| *weight == 0.0) {
            out.iter_mut().zip(values()).for_each(|(out, value)| *out = self.is_best(value));
        }
        normalize(out);
    }
}

/// The action to visit below the root: the largest π′(a) − N(a) / (1 + ΣN) of the open ones. Of the unvisited actions,
/// which have the same value, only the one with the largest prior can be it, so that the time depends on the number of
/// visited actions. `values` are those of [`Completed::new`], and overwritten.
#[inline]
pub(super) fn select_interior<P: Copy>(
    storage: &Storage<P>,
    node: u32,
    completed: &Completed,
    values: &mut [f32],
) -> Best {
    let children = storage.children(node);
    let node = &storage.nodes[node as usize];
    let unvisited = completed.weight(None);
    let (mut weight_of_unvisited, mut sum) = (node.unvisited.prior * unvisited, 0.0);
    for (child, value) in children.clone().zip(&mut *values) {
        *value = child.node.prior * completed.weight(Some(*value));
        sum += *value;
    }
    sum += node.unvisited.mass * unvisited;
    if sum == 0.0 {
        weight_of_unvisited = completed.is_best(None);
        sum = weight_of_unvisited * (usize::from(node.edges) - values.len()) as f32;
        for (child, value) in children.clone().zip(&mut *values) {
            *value = completed.is_best(Some(child.value()));
            sum += *value;
        }
    }
    let share = 1.0 / (1 + completed.visits) as f32;
    let open = children.zip(values).filter(|(child, _)| child.is_open(node.certain));
    let score = |child: Child<'_>, weight: f32| weight / sum - child.node.visits as f32 * share;
    let best = open.fold(Best::NONE, |best, (child, weight)| best.or(score(child, *weight), child));
    best.or_unvisited(weight_of_unvisited / sum, node.unvisited.place)
}
