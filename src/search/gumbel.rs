//! The formulas of "Policy improvement by planning with Gumbel" (Danihelka et al., 2022), as pure
//! functions: sequential halving at the root, completed values, the improved policy.

use super::math::exp;
use super::tree::Children;

/// Actions at the root that simulations are shared out among at first.
pub const CONSIDERED: u32 = 16;

/// Settings of the Gumbel root policy and of its selection inside the tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GumbelSettings {
    /// See [`CONSIDERED`]; published cases of the method vary it.
    pub considered: u32,
    /// How much a difference in value weighs against one in logits.
    pub value_scale: f32,
    /// Visits that every value counts for at least when it is weighed.
    pub visit_offset: f32,
    /// The range of a node's values that counts in full, if they lie closer together; 0 scales up whatever
    /// difference there is, as in the paper.
    pub least_range: f32,
}

impl Default for GumbelSettings {
    fn default() -> Self {
        GumbelSettings {
            considered: CONSIDERED,
            value_scale: 0.1,
            visit_offset: 50.0,
            least_range: 0.0,
        }
    }
}

/// The smallest range of values that anything is divided by.
const LEAST_RANGE: f32 = 1e-8;

/// Sequential halving: tells for each simulation how many visits the action to visit has had. All
/// considered actions are visited equally often, then the better half of them, and so on down to two.
#[derive(Clone, Debug)]
pub struct Halving {
    simulations: u32,
    rounds: u32,     // how often the considered actions are halved, at least 1
    considered: u32, // actions still in the running
    visits: u32,     // that each of them had before this row
    left: u32,       // of them to be visited in this row
    rows: u32,       // before the next halving, this one included
}

impl Halving {
    /// The schedule for this many actions and simulations.
    pub fn new(considered: u32, simulations: u32) -> Halving {
        let considered = considered.max(1);
        let rounds = considered.next_power_of_two().trailing_zeros().max(1);
        let mut halving = Halving {
            simulations,
            rounds,
            considered,
            visits: 0,
            left: considered,
            rows: 0,
        };
        halving.rows = halving.rows_per_round();
        halving
    }

    fn rows_per_round(&self) -> u32 {
        (self.simulations / (self.rounds * self.considered)).max(1)
    }

    /// Visits that the action to visit next has had. It stays the same until [`Halving::advance`].
    pub fn visits(&self) -> u32 {
        self.visits
    }

    /// Goes on to the next simulation.
    pub fn advance(&mut self) {
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

/// The values of a node's actions, those of unvisited ones filled in, on the scale of logits.
#[derive(Clone, Copy, Debug)]
pub struct Completed {
    unvisited: f32, // the value filled in, from -1 to 1
    least: f32,
    factor: f32, // from values above `least` to logits
}

impl Completed {
    /// Looks over the children of a node. `raw` is what the evaluator said of the node itself;
    /// `all_legal` tells that the game has no action that is illegal here.
    ///
    /// An unvisited action gets the mixed value: the raw value and the values of the visited actions,
    /// weighed by prior and visits.
    #[inline]
    pub fn new(
        children: &Children<'_>,
        raw: f32,
        all_legal: bool,
        settings: &GumbelSettings,
    ) -> Completed {
        let (mut visits, mut most_visits) = (0, 0);
        let (mut mass, mut weighted) = (0.0, 0.0);
        let (mut least, mut most) = (f32::INFINITY, f32::NEG_INFINITY);
        let mut filled = !all_legal;
        for index in 0..children.len() {
            let count = children.visits[index];
            let Some(value) = children.known_value(index) else {
                filled = true;
                continue;
            };
            least = least.min(value);
            most = most.max(value);
            if count > 0 {
                let prior = children.priors[index].max(f32::MIN_POSITIVE);
                visits += count;
                most_visits = most_visits.max(count);
                mass += prior;
                weighted += prior * value;
            }
        }
        let unvisited = if visits == 0 {
            raw
        } else {
            (raw + visits as f32 * (weighted / mass)) / (visits + 1) as f32
        };
        if filled {
            least = least.min(unvisited);
            most = most.max(unvisited);
        }
        let scale = (settings.visit_offset + most_visits as f32) * settings.value_scale;
        Completed {
            unvisited,
            least,
            factor: scale / (most - least).max(settings.least_range).max(LEAST_RANGE),
        }
    }

    /// The value of a child on the scale of logits.
    #[inline]
    pub fn of(&self, children: &Children<'_>, index: usize) -> f32 {
        self.scale(children.known_value(index).unwrap_or(self.unvisited))
    }

    /// The value of a child without visits on the scale of logits.
    #[inline]
    pub fn unvisited(&self) -> f32 {
        self.scale(self.unvisited)
    }

    #[inline]
    fn scale(&self, value: f32) -> f32 {
        (value - self.least) * self.factor
    }
}

/// Writes the improved policy, `softmax(logits + completed values)`, over the children.
pub fn improved_policy(children: &Children<'_>, completed: &Completed, out: &mut [f32]) {
    // Completed values lie between 0 and (offset + visits) * scale. That may be more than `exp` can
    // take, so the largest is taken off.
    let unvisited = completed.unvisited();
    let top = (0..children.len())
        .map(|index| completed.of(children, index))
        .fold(f32::NEG_INFINITY, f32::max);
    let unvisited_weight = exp((unvisited - top).min(0.0)); // above 0 only if no child is unvisited
    let mut sum = 0.0;
    for (index, weight) in out.iter_mut().enumerate() {
        let factor = match children.known_value(index) {
            None => unvisited_weight,
            Some(_) => exp(completed.of(children, index) - top),
        };
        *weight = children.priors[index] * factor;
        sum += *weight;
    }
    if sum > 0.0 {
        for weight in out.iter_mut() {
            *weight /= sum;
        }
    } else {
        // Everything of worth has a prior of zero: the values decide alone.
        let best = (0..children.len()).filter(|&index| completed.of(children, index) == top);
        let share = 1.0 / best.clone().count() as f32;
        out.fill(0.0);
        best.for_each(|index| out[index] = share);
    }
}

/// The child to visit inside the tree, so that visits come to be shared out like the improved policy.
/// `weights` is scratch space, one number per child.
#[inline]
pub fn select_interior(
    children: &Children<'_>,
    completed: &Completed,
    weights: &mut [f32],
) -> usize {
    improved_policy(children, completed, weights);
    let visits: u32 = children.visits.iter().sum();
    let share = 1.0 / (1 + visits) as f32;
    let mut best = (usize::MAX, f32::NEG_INFINITY);
    for (index, weight) in weights.iter().enumerate() {
        let score = weight - children.visits[index] as f32 * share;
        if score > best.1 && children.is_open(index) {
            best = (index, score);
        }
    }
    debug_assert!(
        best.0 < children.len(),
        "an unproven node has an open child"
    );
    best.0
}
