//! The results of a search: the action to play, the policy, values and lines.

use super::grow::{SearchRule, Tree, complete};
use super::math::ln;
use super::tree::NONE;
use super::{gumbel, puct};
use crate::eval::Value;
use crate::game::{Action, Game, Proven, Verdict};

/// PUCT: actions compete for being played by their value less this over the root of their visits.
const MARGIN: f32 = 0.3;

/// The results of one action at the root.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RootAction {
    /// The action.
    pub action: Action,
    /// The evaluator's probability of it, at the search rule's temperature.
    pub prior: f32,
    /// Evaluations at or below it.
    pub visits: u32,
    /// Its value for the player to move; `None` without visits.
    pub value: Option<Value>,
    /// Its proven result for the player to move.
    pub proven: Option<Proven>,
}

impl<G: Game> Tree<G> {
    /// The proven result of the root.
    pub fn proven(&self) -> Option<Proven> {
        let root = self.storage.nodes.first()?;
        root.certain.proven()
    }

    /// The value of the root for the player to move: its proven result, or the mean of all evaluations.
    /// `None` before the root is evaluated.
    pub fn value(&self) -> Option<Value> {
        (!self.storage.nodes.is_empty()).then(|| self.node_value(0))
    }

    /// The results of each legal action at the root, lowest first; empty before the root is evaluated.
    pub fn root_actions(&self) -> Vec<RootAction> {
        let Some(root) = self.storage.nodes.first() else {
            return Vec::new();
        };
        let first = root.first_edge;
        (first..first + u32::from(root.edges)).map(|edge| self.root_action(edge)).collect()
    }

    /// Writes the policy of the search over all actions of the game: the improved policy of Gumbel, or
    /// the visit shares of PUCT. Illegal actions get 0, and so do actions that are proven to be worse
    /// than another.
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
            // The search gave no weight to any undominated action.
            let share = 1.0 / undominated.iter().filter(|one| **one).count() as f32;
            for index in (0..undominated.len()).filter(|&index| undominated[index]) {
                out[self.storage.edges.actions[first + index].index()] = share;
            }
        }
    }

    /// The action to play: the quickest proven win, else the best action by search, or the slowest loss
    /// if all actions lose. `None` before the root is evaluated.
    pub fn best(&self) -> Option<Action> {
        let root = self.storage.nodes.first()?;
        let best = self.best_index();
        Some(self.storage.edges.actions[root.first_edge as usize + best])
    }

    /// The expected play after this action, which comes first.
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

    fn best_index(&self) -> usize {
        let children = self.storage.children(0);
        let first = self.storage.nodes[0].first_edge as usize;
        let undominated = self.undominated();
        let candidates = (0..children.len()).filter(|&index| undominated[index]);
        // Proven draws get no further visits, so they compete by value.
        let certain = |index: usize| self.storage.edges.ends[first + index].bounds.is_exact();
        let open = candidates.clone().filter(|&index| !certain(index));
        // A Gumbel root compares the visits of this plan only.
        let visits = |index: usize| match self.rule {
            SearchRule::Gumbel(_) if self.plan.started => children.visits[index] - self.plan.visits_before[index],
            _ => children.visits[index],
        };
        let most = open.map(visits).max().unwrap_or(0);
        let mut completed = Vec::new();
        if let SearchRule::Gumbel(settings) = self.rule {
            complete(&self.game, &self.storage, 0, &settings, &mut completed);
        }
        let score = |index: usize| match completed.get(index) {
            Some(value) => {
                let logit = match self.plan.logits.get(index) {
                    Some(logit) if self.plan.started => *logit,
                    _ => ln(children.priors[index].max(f32::MIN_POSITIVE)),
                };
                logit + value
            }
            None => match children.known_value(index) {
                Some(value) if certain(index) => value,
                Some(value) => value - MARGIN / (visits(index) as f32).sqrt(),
                None => -1.0,
            },
        };
        let enough = match self.rule {
            SearchRule::Gumbel(_) => most,
            // Of many visits, a share of 1 could be rounded up to more than all.
            SearchRule::Puct(settings) => ((settings.contender * most as f32).ceil() as u32).min(most),
        };
        let mut best = (f32::NEG_INFINITY, usize::MAX);
        for index in candidates {
            if (certain(index) || visits(index) >= enough) && score(index) > best.0 {
                best = (score(index), index);
            }
        }
        best.1
    }

    /// For each action at the root, whether no other action is proven to be better. These are the
    /// quickest proven wins, or the actions that are not proven to lose, or the slowest losses.
    fn undominated(&self) -> Vec<bool> {
        let root = &self.storage.nodes[0];
        let range = root.first_edge as usize..root.first_edge as usize + usize::from(root.edges);
        let ends = &self.storage.edges.ends[range];
        let ranks = ends.iter().map(|end| end.proven().map(Proven::preference));
        let best = ranks.clone().flatten().max();
        let all_certain = ends.iter().all(|end| end.bounds.is_exact());
        let won = best.is_some_and(|best| best > 0);
        ranks
            .zip(ends)
            .map(|(one, end)| {
                if all_certain || won {
                    one == best
                } else {
                    end.bounds.upper > Verdict::Loss && end.bounds.upper >= root.certain.bounds.lower
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
        // Sums are rounded, so a share can come out just below 0.
        let share = |share: f32| share.clamp(0.0, 1.0);
        let decided = 1.0 - draw;
        Value { win: share((decided + result) / 2.0), draw: share(draw), loss: share((decided - result) / 2.0), score }
    }
}
