//! The formulas of AlphaZero's PUCT, as pure functions.

use super::math::ln;
use super::tree::Children;

/// Settings of PUCT.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PuctSettings {
    /// Weight of exploration.
    pub exploration: f32,
    /// The weight of exploration grows with the logarithm of the visits over this base.
    pub exploration_base: f32,
    /// First-play urgency: an unvisited action is valued at its parent's value less this, times the
    /// square root of the prior mass of the visited actions.
    pub unvisited_reduction: f32,
    /// Softmax temperature of the priors; 1 leaves them unchanged.
    pub temperature: f32,
    /// The share of noise in the root's priors.
    pub noise_fraction: f32,
    /// Actions compete for being played from this share of the most visits on, by their values less a margin that
    /// shrinks with the root of their visits; 1: only the most visited ones.
    pub contender: f32,
}

impl PuctSettings {
    /// The default settings.
    pub const DEFAULT: PuctSettings = PuctSettings {
        exploration: 1.25,
        exploration_base: 19_652.0,
        unvisited_reduction: 0.2,
        temperature: 1.0,
        noise_fraction: 0.25,
        contender: 1.0,
    };
}

impl Default for PuctSettings {
    fn default() -> PuctSettings {
        PuctSettings::DEFAULT
    }
}

impl PuctSettings {
    /// The weight of exploration below a node with this many visits, times their square root.
    #[inline]
    fn exploration_at(&self, visits: u32) -> f32 {
        let visits = visits as f32;
        let growth = (visits + self.exploration_base + 1.0) / self.exploration_base;
        (self.exploration + ln(growth)) * visits.sqrt()
    }
}

/// The child with the highest `value + exploration * prior / (1 + visits)`. `mean` is the value of the
/// node so far; `priors` are used in place of those of the children.
#[inline]
pub(super) fn select(children: &Children<'_>, priors: &[f32], mean: f32, settings: &PuctSettings) -> usize {
    let mut visits = 0;
    let mut visited_mass = 0.0;
    for (count, prior) in children.visits.iter().zip(priors) {
        visits += count;
        visited_mass += if *count > 0 { *prior } else { 0.0 };
    }
    let unvisited = mean - settings.unvisited_reduction * visited_mass.sqrt();
    let weight = settings.exploration_at(visits.max(1));
    let mut best = (usize::MAX, f32::NEG_INFINITY);
    for (index, prior) in priors.iter().enumerate() {
        let count = children.visits[index];
        let value = children.known_value(index).unwrap_or(unvisited);
        let score = value + weight * prior / (1 + count) as f32;
        if score > best.1 && children.is_open(index) {
            best = (index, score);
        }
    }
    debug_assert!(best.0 < children.len(), "an unproven node has an open child");
    best.0
}

/// Writes each child's share of the visits.
pub(super) fn visit_policy(visits: &[u32], out: &mut [f32]) {
    let sum: u32 = visits.iter().sum();
    if sum == 0 {
        out.fill(1.0 / visits.len() as f32);
        return;
    }
    for (count, share) in visits.iter().zip(out) {
        *share = *count as f32 / sum as f32;
    }
}
