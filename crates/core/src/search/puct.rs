//! The formulas of AlphaZero's PUCT as pure functions; [`PuctSettings`] states them.

use super::math::ln;
use super::tree::{Best, Child, TreeNode};

/// PUCT, the search rule of AlphaZero.
///
/// The action visited next is the one with the largest Q(a) + C · P(a) · √ΣN / (1 + N(a)), where
/// C = `c_puct` + ln((1 + ΣN + `c_puct_base`) / `c_puct_base`).
///
/// P(a) is the prior, N(a) the number of visits, and Q(a) the mean or proven value. An action that has neither starts
/// at Q(a) = V − `fpu` · √p, where V is the value of the node and p the sum of the priors of its
/// visited actions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PuctSettings {
    /// The weight of exploration in a node with few visits.
    pub c_puct: f32,
    /// The weight of exploration grows with the logarithm of the node's visits, relative to this number.
    pub c_puct_base: f32,
    /// First-play urgency: an unvisited action starts at the value of its parent, minus this number times the square
    /// root of the prior mass that has been visited.
    pub fpu: f32,
    /// Softmax temperature of the priors; 1 leaves them unchanged.
    pub temperature: f32,
    /// The priors of the root are (1 − noise_fraction) · prior + noise_fraction · noise.
    pub noise_fraction: f32,
    /// Of the actions with at least this fraction of the largest visit count, the one with the largest Q − 0.3 / √N is
    /// played. With 1 the most visited action is played.
    pub min_visit_share: f32,
}

impl PuctSettings {
    /// The default settings.
    pub const DEFAULT: PuctSettings = PuctSettings {
        c_puct: 1.25,
        c_puct_base: 19_652.0,
        fpu: 0.2,
        temperature: 1.0,
        noise_fraction: 0.25,
        min_visit_share: 1.0,
    };
}

impl Default for PuctSettings {
    fn default() -> PuctSettings {
        PuctSettings::DEFAULT
    }
}

impl PuctSettings {
    /// C · √ΣN of the formula, for a node with this many visits.
    #[inline]
    fn exploration_at(&self, visits: u32) -> f32 {
        let visits = visits as f32;
        let growth = (visits + self.c_puct_base + 1.0) / self.c_puct_base;
        (self.c_puct + ln(growth)) * visits.sqrt()
    }
}

/// The open action to visit next, by the formula of [`PuctSettings`], among the visited `children` of a node and the
/// unvisited action with the largest prior, which is at `place`. `prior_of` gives the priors of children: those of the
/// root have noise.
#[inline]
pub(super) fn select<'a>(
    children: impl Iterator<Item = Child<'a>> + Clone,
    node: &TreeNode,
    (place, largest_prior): (u16, f32),
    prior_of: impl Fn(Child<'a>) -> f32,
    settings: &PuctSettings,
) -> Best {
    let mut visits = 0;
    let mut visited_mass = 0.0;
    for child in children.clone() {
        visits += child.node.visits;
        visited_mass += prior_of(child);
    }
    let weight = settings.exploration_at(visits.max(1));
    let open = children.filter(|child| child.is_open(node.certain));
    let score = |child: Child<'a>| child.value() + weight * prior_of(child) / (1 + child.node.visits) as f32;
    let best = open.fold(Best::NONE, |best, child| best.or(score(child), child));
    let value = node.mean() - settings.fpu * visited_mass.sqrt();
    best.or_unvisited(value + weight * largest_prior, place)
}
