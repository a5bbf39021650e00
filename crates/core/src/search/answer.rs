//! The results of a search: the action to play, the policy, the values and the expected lines of play.

use super::bounds::Certainty;
use super::grow::{SearchRule, Tree};
use super::gumbel::Completed;
use super::math::ln;
use super::tree::Child;
use super::{GumbelSettings, PuctSettings};
use crate::eval::Value;
use crate::game::{Action, Game, Proven, Verdict};

/// At a PUCT root, the action to play has the largest Q − MARGIN / √N, where Q is its value and N its visits. This is a
/// lower bound of the value, so a few lucky visits do not win.
pub const MARGIN: f32 = 0.3;

/// What a search found out about one action at the root.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RootAction {
    /// The action.
    pub action: Action,
    /// The evaluator's probability of the action, at the search rule's temperature.
    pub prior: f32,
    /// The number of evaluations below the action.
    pub visits: u32,
    /// Its value for the player to move at the root; `None` without visits.
    pub value: Option<Value>,
    /// Its proven result for the player to move at the root.
    pub proven: Option<Proven>,
}

impl<G: Game> Tree<G> {
    /// The proven result of the root.
    pub fn proven(&self) -> Option<Proven> {
        let root = self.storage.nodes.first()?;
        root.certain.proven()
    }

    /// The value of the root for the player to move: the proven result, or else the mean of all evaluations. `None`
    /// before the root is evaluated.
    pub fn value(&self) -> Option<Value> {
        (!self.storage.nodes.is_empty()).then(|| self.node_value(0))
    }

    /// The results of every legal action at the root, in the order of their indices; empty before the root is
    /// evaluated.
    pub fn root_actions(&self) -> Vec<RootAction> {
        if self.storage.nodes.is_empty() {
            return Vec::new();
        }
        let (actions, priors) = (self.storage.actions(0), self.storage.signed_priors(0));
        let children = self.storage.children_by_edge(0);
        let edges = actions.iter().zip(priors).zip(children);
        edges.map(|((&action, prior), child)| self.root_action(action, prior.abs(), child)).collect()
    }

    /// Writes the policy that the search recommends, over all actions of the game. With Gumbel it is the improved
    /// policy softmax(ln P + σ(Q)), with PUCT the share of visits, or the priors if there are no visits. Illegal actions
    /// get 0, and so do actions that are proven to be worse than another, or that can lose and are no better than a
    /// proven draw.
    ///
    /// # Panics
    /// Panics unless the root is evaluated and `out` has one number per action of the game.
    pub fn write_policy(&self, out: &mut [f32]) {
        assert_eq!(out.len(), self.game.actions(), "one number per action");
        assert!(!self.storage.nodes.is_empty(), "the root is evaluated");
        let children = self.storage.children_by_edge(0);
        let mut weights = vec![0.0; children.len()];
        match self.rule {
            SearchRule::Gumbel(settings) => {
                let completed = Completed::new(&self.storage, 0, self.game.actions(), &settings, &mut Vec::new());
                completed.write_policy(self.storage.signed_priors(0), &children, &mut weights);
            }
            SearchRule::Puct(_) => visit_policy(self.storage.signed_priors(0), &children, &mut weights),
        }
        out.fill(0.0);
        let mut sum = 0.0;
        let undominated = self.undominated(&children);
        for ((action, is_undominated), weight) in self.storage.actions(0).iter().zip(&undominated).zip(&weights) {
            if *is_undominated {
                sum += weight;
                out[action.index()] = *weight;
            }
        }
        if sum > 0.0 {
            out.iter_mut().for_each(|weight| *weight /= sum);
        } else {
            // All the weight was on actions that are proven to be worse, so the others share it equally.
            let share = 1.0 / undominated.iter().filter(|one| **one).count() as f32;
            for (action, _) in self.storage.actions(0).iter().zip(&undominated).filter(|(_, one)| **one) {
                out[action.index()] = share;
            }
        }
    }

    /// The action to play: the quickest proven win; otherwise the best action that does not lose; if all actions
    /// lose, the slowest loss. `None` before the root is evaluated.
    pub fn best(&self) -> Option<Action> {
        (!self.storage.nodes.is_empty()).then(|| self.storage.actions(0)[self.best_index()])
    }

    /// The expected line of play that starts with this action. At every position it follows the best proven result, or
    /// else the most visits.
    pub fn line(&self, first: Action) -> Vec<Action> {
        let mut line = vec![first];
        let is_first = |child: &Child<'_>| self.storage.actions(0)[child.place()] == first;
        let mut next = self.storage.nodes.first().and_then(|_| self.storage.children(0).find(is_first));
        while let Some(Child { index, .. }) = next {
            next = self.storage.children(index).max_by_key(|child| {
                let rank = child.certain().proven().map_or(0, Proven::preference);
                (rank, child.node.visits, std::cmp::Reverse(child.place()))
            });
            line.extend(next.map(|child| self.storage.actions(index)[child.place()]));
        }
        line
    }

    /// The index of the action to play among those of the root; ties go to the lowest.
    fn best_index(&self) -> usize {
        match &self.rule {
            SearchRule::Gumbel(settings) => self.best_by_gumbel(settings),
            SearchRule::Puct(settings) => self.best_by_puct(settings),
        }
    }

    /// The largest ln P + g + σ(Q) among the actions with the most visits of this plan.
    fn best_by_gumbel(&self, settings: &GumbelSettings) -> usize {
        let children = self.storage.children_by_edge(0);
        let completed = Completed::new(&self.storage, 0, self.game.actions(), settings, &mut Vec::new());
        let priors = self.storage.signed_priors(0);
        let started = self.plan.started;
        let visits_of = |index: usize| {
            let before = if started { self.plan.visits_before[index] } else { 0 };
            visits(&children[index]) - before
        };
        let score = |index: usize| {
            let prior = priors[index].abs().max(f32::MIN_POSITIVE);
            let logit = if started { self.plan.noisy[index] } else { ln(prior) };
            logit + completed.of(children[index].map(Child::value))
        };
        self.best_by(&children, visits_of, |most| most, score)
    }

    /// The largest Q − [`MARGIN`] / √N among the actions with enough visits. A proven draw competes with its value. If
    /// no action has visits, the largest prior.
    fn best_by_puct(&self, settings: &PuctSettings) -> usize {
        const UNVISITED: f32 = -3.0; // plus a prior, this is less than all other scores
        let children = self.storage.children_by_edge(0);
        let priors = self.storage.signed_priors(0);
        // Rounding can make `min_visit_share` = 1 ask for more than the most visits, hence `min`.
        let enough = |most: u32| ((settings.min_visit_share * most as f32).ceil() as u32).min(most);
        let score = |index: usize| match children[index] {
            Some(child) if child.certain().bounds.is_exact() => child.value(),
            Some(child) => child.value() - MARGIN / (child.node.visits as f32).sqrt(),
            None => UNVISITED + priors[index].abs(),
        };
        self.best_by(&children, |index| visits(&children[index]), enough, score)
    }

    /// The action with the largest score among the undominated ones that have enough visits or a proven result. (Proven
    /// actions get no further visits.) `enough` computes from the largest number of visits of an unproven action how
    /// many visits are enough.
    fn best_by(
        &self,
        children: &[Option<Child<'_>>],
        visits: impl Fn(usize) -> u32,
        enough: impl Fn(u32) -> u32,
        score: impl Fn(usize) -> f32,
    ) -> usize {
        let undominated = self.undominated(children);
        let is_certain = |index: usize| certain(&children[index]).bounds.is_exact();
        let candidates = (0..undominated.len()).filter(|&index| undominated[index]);
        let unproven = candidates.clone().filter(|&index| !is_certain(index));
        let enough = enough(unproven.map(&visits).max().unwrap_or(0));
        let mut best = (f32::NEG_INFINITY, usize::MAX);
        for index in candidates.filter(|&index| is_certain(index) || visits(index) >= enough) {
            if score(index) > best.0 {
                best = (score(index), index);
            }
        }
        best.1
    }

    /// For each action at the root, whether it may be played. If the root is proven, these are the quickest wins, the
    /// draws, or the slowest losses. Otherwise they are the proven draws and the actions that can still be better than
    /// what the root can force.
    fn undominated(&self, children: &[Option<Child<'_>>]) -> Vec<bool> {
        let bounds = self.storage.nodes[0].certain.bounds;
        let ends = children.iter().map(certain);
        let ranks = ends.clone().map(|end| end.proven().map(Proven::preference));
        let best = ranks.clone().flatten().max();
        ranks
            .zip(ends)
            .map(|(one, end)| {
                if bounds.is_exact() {
                    one == best
                } else {
                    end.bounds.upper > bounds.lower || end.bounds.lower > Verdict::Loss
                }
            })
            .collect()
    }

    fn root_action(&self, action: Action, prior: f32, child: Option<Child<'_>>) -> RootAction {
        let value = child.map(|child| {
            let value = self.node_value(child.index);
            if child.turns { value.flip() } else { value }
        });
        RootAction { action, prior, visits: visits(&child), value, proven: certain(&child).proven() }
    }

    fn node_value(&self, index: u32) -> Value {
        let node = &self.storage.nodes[index as usize];
        let count = node.visits as f32;
        let score = node.score / count;
        if let Some(verdict) = node.certain.bounds.exact() {
            return Value::certain(verdict, score);
        }
        let (result, draw) = (node.mean(), node.draw / count);
        // Rounding errors in the sums can push a share slightly below 0 or above 1.
        let share = |share: f32| share.clamp(0.0, 1.0);
        let decided = 1.0 - draw;
        Value { win: share((decided + result) / 2.0), draw: share(draw), loss: share((decided - result) / 2.0), score }
    }
}

/// What is proven about an action.
fn certain(child: &Option<Child<'_>>) -> Certainty {
    child.map_or(Certainty::NONE, Child::certain)
}

/// The number of evaluations below an action.
fn visits(child: &Option<Child<'_>>) -> u32 {
    child.map_or(0, |child| child.node.visits)
}

/// Writes each action's share of the visits, or its prior if there are none.
fn visit_policy(signed_priors: &[f32], children: &[Option<Child<'_>>], out: &mut [f32]) {
    let sum: u32 = children.iter().map(visits).sum();
    if sum == 0 {
        signed_priors.iter().zip(out).for_each(|(prior, share)| *share = prior.abs());
        return;
    }
    for (child, share) in children.iter().zip(out) {
        *share = visits(child) as f32 / sum as f32;
    }
}
