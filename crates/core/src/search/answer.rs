//! The results of a search: the action to play, the policy, the values and the expected lines of play.

use super::grow::{SearchRule, Tree, complete};
use super::math::ln;
use super::tree::NONE;
use super::{GumbelSettings, PuctSettings, gumbel, puct};
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
        let Some(root) = self.storage.nodes.first() else {
            return Vec::new();
        };
        let first = root.first_edge;
        (first..first + u32::from(root.edges)).map(|edge| self.root_action(edge)).collect()
    }

    /// Writes the policy that the search recommends, over all actions of the game. With Gumbel it is the improved
    /// policy softmax(ln P + σ(Q)), with PUCT the share of visits. Illegal actions get 0, and so do actions that are
    /// proven to be worse than another, or that can lose and are no better than a proven draw.
    ///
    /// # Panics
    /// Panics unless the root is evaluated and `out` has one number per action of the game.
    pub fn write_policy(&self, out: &mut [f32]) {
        assert_eq!(out.len(), self.game.actions(), "one number per action");
        let children = self.storage.children(0);
        assert!(!children.is_empty(), "the root is evaluated");
        let mut weights = vec![0.0; children.len()];
        match self.rule {
            SearchRule::Gumbel(settings) => {
                complete(&self.game, &self.storage, 0, &settings, &mut weights);
                gumbel::improve_policy(&children, &mut weights);
            }
            SearchRule::Puct(_) => puct::visit_policy(children.visits, &mut weights),
        }
        let first = self.storage.nodes[0].first_edge as usize;
        out.fill(0.0);
        let mut sum = 0.0;
        let undominated = self.undominated();
        for (index, weight) in weights.iter().enumerate() {
            if undominated[index] {
                sum += weight;
                out[self.storage.edges.actions[first + index].index()] = *weight;
            }
        }
        if sum > 0.0 {
            out.iter_mut().for_each(|weight| *weight /= sum);
        } else {
            // All the weight was on actions that are proven to be worse, so the others share it equally.
            let share = 1.0 / undominated.iter().filter(|one| **one).count() as f32;
            for index in (0..undominated.len()).filter(|&index| undominated[index]) {
                out[self.storage.edges.actions[first + index].index()] = share;
            }
        }
    }

    /// The action to play: the quickest proven win; otherwise the best action that does not lose; if all actions
    /// lose, the slowest loss. `None` before the root is evaluated.
    pub fn best(&self) -> Option<Action> {
        let root = self.storage.nodes.first()?;
        let best = self.best_index();
        Some(self.storage.edges.actions[root.first_edge as usize + best])
    }

    /// The expected line of play that starts with this action. At every position it follows the best proven result, or
    /// else the most visits.
    pub fn line(&self, first: Action) -> Vec<Action> {
        let mut line = vec![first];
        let mut edge = self.root_edge(first);
        while let Some(child) =
            edge.map(|edge| self.storage.edges.children[edge as usize]).filter(|&child| child != NONE)
        {
            let children = self.storage.children(child);
            let node = &self.storage.nodes[child as usize];
            let best =
                (0..children.len()).filter(|&index| children.known_value(index).is_some()).max_by_key(|&index| {
                    let end = self.storage.edges.ends[node.first_edge as usize + index];
                    (end.proven().map_or(0, Proven::preference), children.visits[index], std::cmp::Reverse(index))
                });
            edge = best.map(|index| node.first_edge + index as u32);
            line.extend(edge.map(|edge| self.storage.edges.actions[edge as usize]));
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
        let children = self.storage.children(0);
        let started = self.plan.started;
        let mut values = Vec::new();
        complete(&self.game, &self.storage, 0, settings, &mut values);
        let visits = |index: usize| {
            let before = if started { self.plan.visits_before[index] } else { 0 };
            children.visits[index] - before
        };
        let score = |index: usize| {
            let prior = children.priors[index].max(f32::MIN_POSITIVE);
            let logit = if started { self.plan.logits[index] } else { ln(prior) };
            logit + values[index]
        };
        self.best_by(visits, |most| most, score)
    }

    /// The largest Q − [`MARGIN`] / √N among the actions with enough visits. A proven draw competes with its value.
    fn best_by_puct(&self, settings: &PuctSettings) -> usize {
        let children = self.storage.children(0);
        let visits = |index: usize| children.visits[index];
        // Rounding can make `min_visit_share` = 1 ask for more than the most visits, hence `min`.
        let enough = |most: u32| ((settings.min_visit_share * most as f32).ceil() as u32).min(most);
        let score = |index: usize| match children.known_value(index) {
            Some(value) if self.is_certain(index) => value,
            Some(value) => value - MARGIN / (visits(index) as f32).sqrt(),
            None => -1.0,
        };
        self.best_by(visits, enough, score)
    }

    /// The action with the largest score among the undominated ones that have enough visits or a proven result. (Proven
    /// actions get no further visits.) `enough` computes from the largest number of visits of an unproven action how
    /// many visits are enough.
    fn best_by(
        &self,
        visits: impl Fn(usize) -> u32,
        enough: impl Fn(u32) -> u32,
        score: impl Fn(usize) -> f32,
    ) -> usize {
        let undominated = self.undominated();
        let candidates = (0..undominated.len()).filter(|&index| undominated[index]);
        let unproven = candidates.clone().filter(|&index| !self.is_certain(index));
        let enough = enough(unproven.map(&visits).max().unwrap_or(0));
        let mut best = (f32::NEG_INFINITY, usize::MAX);
        for index in candidates.filter(|&index| self.is_certain(index) || visits(index) >= enough) {
            if score(index) > best.0 {
                best = (score(index), index);
            }
        }
        best.1
    }

    /// Whether the result of an action at the root is proven.
    fn is_certain(&self, index: usize) -> bool {
        let first = self.storage.nodes[0].first_edge as usize;
        self.storage.edges.ends[first + index].bounds.is_exact()
    }

    /// For each action at the root, whether it may be played. If the root is proven, these are the quickest wins, the
    /// draws, or the slowest losses. Otherwise they are the proven draws and the actions that can still be better than
    /// what the root can force.
    fn undominated(&self) -> Vec<bool> {
        let root = &self.storage.nodes[0];
        let range = root.first_edge as usize..root.first_edge as usize + usize::from(root.edges);
        let ends = &self.storage.edges.ends[range];
        let ranks = ends.iter().map(|end| end.proven().map(Proven::preference));
        let best = ranks.clone().flatten().max();
        let bounds = root.certain.bounds;
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

    fn root_action(&self, edge: u32) -> RootAction {
        let edges = &self.storage.edges;
        let end = edges.ends[edge as usize];
        let child = edges.children[edge as usize];
        let value = (child != NONE).then(|| {
            let value = self.node_value(child);
            let same = self.storage.nodes[child as usize].mover == self.storage.nodes[0].mover;
            if same { value } else { value.flip() }
        });
        RootAction {
            action: edges.actions[edge as usize],
            prior: edges.priors[edge as usize],
            visits: edges.visits[edge as usize],
            value,
            proven: end.proven(),
        }
    }

    fn node_value(&self, index: u32) -> Value {
        let node = &self.storage.nodes[index as usize];
        let count = node.visits as f32;
        let score = node.score / count;
        if let Some(verdict) = node.certain.bounds.exact() {
            return Value::certain(verdict, score);
        }
        let (result, draw) = (node.value / count, node.draw / count);
        // Rounding errors in the sums can push a share slightly below 0 or above 1.
        let share = |share: f32| share.clamp(0.0, 1.0);
        let decided = 1.0 - draw;
        Value { win: share((decided + result) / 2.0), draw: share(draw), loss: share((decided - result) / 2.0), score }
    }
}
