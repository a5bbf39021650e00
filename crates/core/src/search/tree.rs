//! The tree as arrays of numbers, allocated once.
//!
//! An edge is a legal action. The edges of a node are contiguous, lowest action first. A node is created when its
//! edge is first visited, and joins the list of its parent's children. What search learns about an action is stored in
//! that node alone. Its sums are from the point of view of the player to move there.

use std::cmp::Reverse;
use std::ops::Range;

use super::bounds::Certainty;
use crate::eval::{Evaluation, Value};
use crate::game::{Action, Game, Mask, Outcome, Player, Proven};

/// Stands for a missing node.
pub(super) const NONE: u32 = u32::MAX;

/// Stands for a missing edge.
const NO_EDGE: u16 = u16::MAX;

/// The size of a tree, or its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeSize {
    /// The number of positions.
    pub nodes: u32,
    /// The number of their legal actions together.
    pub edges: u32,
}

impl TreeSize {
    /// The average number of legal actions per position is rarely larger than this.
    const TYPICAL_ACTIONS: usize = 48;

    /// Sums of values in 32 bits would lose single evaluations beyond this many.
    const MOST_NODES: u32 = 1 << 24;

    /// Enough for this many simulations, up to 16 million.
    pub fn for_simulations<G: Game>(game: &G, simulations: u32) -> TreeSize {
        let per_simulation = if game.is_often_forced() { 4 } else { 1 };
        let nodes = simulations.saturating_mul(per_simulation).saturating_add(1).min(TreeSize::MOST_NODES);
        TreeSize { nodes, edges: nodes.saturating_mul(game.actions() as u32) }
    }

    /// Whether this limit is at least as large as the other.
    pub fn holds(&self, other: TreeSize) -> bool {
        self.nodes >= other.nodes && self.edges >= other.edges
    }

    /// The largest tree that fits into this many bytes, at `branching` actions per position.
    pub fn for_bytes<G: Game>(bytes: usize, branching: u32) -> TreeSize {
        let node = size_of::<TreeNode>() + size_of::<G::Position>();
        let nodes = bytes / (node + branching as usize * EDGE_BYTES);
        let nodes = u32::try_from(nodes).map_or(TreeSize::MOST_NODES, |nodes| nodes.min(TreeSize::MOST_NODES));
        TreeSize { nodes, edges: nodes.saturating_mul(branching) }
    }
}

const EDGE_BYTES: usize = size_of::<f32>() + size_of::<Action>();

/// One line of the CPU's cache.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct TreeNode {
    first_edge: u32,
    parent: u32,                 // node, or NONE for the root
    pub(super) first_child: u32, // the visited child with the lowest action, or NONE
    sibling: u32,                // the next visited child of the parent, or NONE
    pub(super) visits: u32,      // evaluations of this node and below
    value: f32,                  // sum of expected results
    pub(super) draw: f32,        // sum of draw probabilities
    pub(super) score: f32,       // sum of point differences
    pub(super) raw: f32,         // the evaluator's expected result of this position, without search
    pub(super) prior: f32,       // of the action that leads here
    pub(super) unvisited: Unvisited,
    edge: u16,             // the action that leads here, among the edges of the parent
    pub(super) edges: u16, // legal actions
    pub(super) certain: Certainty,
    pub(super) mover: Player,
}

impl TreeNode {
    /// The mean of all evaluations at and below this node.
    #[inline]
    pub(super) fn mean(&self) -> f32 {
        self.value / self.visits.max(1) as f32
    }
}

/// The legal actions of a node that have no child.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unvisited {
    pub(super) mass: f32,  // the sum of their priors
    pub(super) prior: f32, // the largest one
    pub(super) place: u16, // its place among the edges, or NO_EDGE
}

impl Unvisited {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.place == NO_EDGE
    }

    /// Of a node whose visited edges have negative priors.
    #[inline]
    fn of(signed_priors: &[f32]) -> Unvisited {
        let (mut best, mut place, mut mass) = (-1, NO_EDGE, 0.0);
        for (at, prior) in (0..).zip(signed_priors) {
            // The bits of floats without a sign are in the order of the floats, and those of others are negative.
            let bits = prior.to_bits() as i32;
            (best, place) = if bits > best { (bits, at) } else { (best, place) };
            mass += if bits >= 0 { *prior } else { 0.0 };
        }
        Unvisited { mass, prior: f32::from_bits(best as u32), place }
    }
}

/// A visited child, from the point of view of the player who acts at its parent.
#[derive(Clone, Copy)]
pub(super) struct Child<'a> {
    pub(super) index: u32,
    pub(super) node: &'a TreeNode,
    pub(super) turns: bool, // whether the opponent is to move in the child
}

impl Child<'_> {
    /// The place of the action that leads here among the edges of the parent.
    #[inline]
    pub(super) fn place(self) -> usize {
        self.node.edge.into()
    }

    /// The mean or proven value, from -1 to 1.
    #[inline]
    pub(super) fn value(self) -> f32 {
        let proven = self.node.certain.bounds.exact();
        let value = proven.map_or_else(|| self.node.mean(), |verdict| verdict.sign().into());
        if self.turns { -value } else { value }
    }

    /// What is proven about the action.
    #[inline]
    pub(super) fn certain(self) -> Certainty {
        self.node.certain.before(self.turns)
    }

    /// Whether more visits can change the result of the parent, about which `floor` is proven: the child is not proven,
    /// and it could still be better than what the parent can force.
    #[inline]
    pub(super) fn is_open(self, floor: Certainty) -> bool {
        let bounds = self.node.certain.bounds;
        let upper = if self.turns { bounds.lower.flip() } else { bounds.upper };
        !bounds.is_exact() && upper > floor.bounds.lower
    }
}

/// The best action of a node so far.
#[derive(Clone, Copy)]
pub(super) struct Best {
    pub(super) score: f32,
    pub(super) place: u16, // among the edges
    pub(super) child: u32, // or NONE
}

impl Best {
    pub(super) const NONE: Best = Best { score: f32::NEG_INFINITY, place: NO_EDGE, child: NONE };

    /// The better one of this and a visited action.
    #[inline]
    pub(super) fn or(self, score: f32, child: Child<'_>) -> Best {
        if score > self.score { Best { score, place: child.node.edge, child: child.index } } else { self }
    }

    /// The better one of this and the unvisited action at this place, if there is one. Ties go to the lower action.
    #[inline]
    pub(super) fn or_unvisited(self, score: f32, place: u16) -> Best {
        let is_better = score > self.score || score == self.score && place < self.place;
        if is_better && place != NO_EDGE { Best { score, place, child: NONE } } else { self }
    }
}

/// Nodes and edges of one tree. The root comes first, and every node comes after its parent.
#[derive(Debug)]
pub(super) struct Storage<P> {
    pub(super) limit: TreeSize,
    pub(super) nodes: Vec<TreeNode>,
    pub(super) positions: Vec<P>,
    priors: Vec<f32>, // [edges]: the evaluator's probabilities at the rule's temperature; negative for visited edges
    actions: Vec<Action>, // [edges]
}

impl<P: Copy> Storage<P> {
    /// An empty tree. Memory is reserved for its usual size. What is not used costs nothing, because the operating
    /// system provides memory only when it is written.
    pub(super) fn new(limit: TreeSize) -> Storage<P> {
        let nodes = limit.nodes as usize;
        let edges = (limit.edges as usize).min(nodes.saturating_mul(TreeSize::TYPICAL_ACTIONS));
        Storage {
            limit,
            nodes: Vec::with_capacity(nodes),
            positions: Vec::with_capacity(nodes),
            priors: Vec::with_capacity(edges),
            actions: Vec::with_capacity(edges),
        }
    }

    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.positions.clear();
        self.priors.clear();
        self.actions.clear();
    }

    /// Whether this many more nodes fit, with this many edges in total.
    #[inline]
    pub(super) fn has_room(&self, nodes: usize, edges: u32) -> bool {
        self.nodes.len() + nodes <= self.limit.nodes as usize
            && self.priors.len() + edges as usize <= self.limit.edges as usize
    }

    pub(super) fn size(&self) -> TreeSize {
        TreeSize { nodes: self.nodes.len() as u32, edges: self.priors.len() as u32 }
    }

    #[inline]
    fn range(&self, node: u32) -> Range<usize> {
        let node = &self.nodes[node as usize];
        node.first_edge as usize..node.first_edge as usize + usize::from(node.edges)
    }

    /// The legal actions at a node.
    #[inline]
    pub(super) fn actions(&self, node: u32) -> &[Action] {
        &self.actions[self.range(node)]
    }

    /// The priors of the legal actions at a node; negative, with the sign bit set, for visited ones.
    #[inline]
    pub(super) fn signed_priors(&self, node: u32) -> &[f32] {
        &self.priors[self.range(node)]
    }

    /// The visited children of a node, lowest action first.
    #[inline]
    pub(super) fn children(&self, node: u32) -> impl Iterator<Item = Child<'_>> + Clone {
        let parent = &self.nodes[node as usize];
        let mut next = parent.first_child;
        std::iter::from_fn(move || {
            let index = next;
            let node = self.nodes.get(index as usize)?;
            next = node.sibling;
            Some(Child { index, node, turns: node.mover != parent.mover })
        })
    }

    /// The child for each legal action at a node; `None` for unvisited actions.
    pub(super) fn children_by_edge(&self, node: u32) -> Vec<Option<Child<'_>>> {
        let mut all = vec![None; usize::from(self.nodes[node as usize].edges)];
        self.children(node).for_each(|child| all[child.place()] = Some(child));
        all
    }

    /// Adds a node without visits as the child of an edge. `priors` has one number per action of `legal`, lowest action
    /// first.
    pub(super) fn add<M: Mask>(
        &mut self,
        position: P,
        mover: Player,
        legal: &M,
        priors: impl Iterator<Item = f32>,
        (parent, edge): (u32, u16),
    ) -> u32 {
        let index = self.nodes.len() as u32;
        let first_edge = self.priors.len();
        self.actions.extend(legal.iter());
        let end = self.actions.len();
        self.priors.extend(priors);
        debug_assert_eq!(self.priors.len(), end, "one prior per legal action");
        self.nodes.push(TreeNode {
            first_edge: first_edge as u32,
            parent,
            first_child: NONE,
            sibling: NONE,
            visits: 0,
            value: 0.0,
            draw: 0.0,
            score: 0.0,
            raw: 0.0,
            prior: 0.0,
            unvisited: Unvisited::of(&self.priors[first_edge..]),
            edge,
            edges: (end - first_edge) as u16,
            certain: Certainty::NONE,
            mover,
        });
        self.positions.push(position);
        if parent != NONE {
            self.link(index);
        }
        index
    }

    /// Puts a new node into the list of its parent's children.
    fn link(&mut self, index: u32) {
        let TreeNode { parent, edge, .. } = self.nodes[index as usize];
        let range = self.range(parent);
        let place = range.start + usize::from(edge);
        self.nodes[index as usize].prior = self.priors[place];
        self.priors[place] = -self.priors[place];
        let node = &mut self.nodes[parent as usize];
        node.unvisited = Unvisited::of(&self.priors[range]);
        let (mut before, mut after) = (NONE, node.first_child);
        while after != NONE && self.nodes[after as usize].edge < edge {
            (before, after) = (after, self.nodes[after as usize].sibling);
        }
        self.nodes[index as usize].sibling = after;
        match before {
            NONE => self.nodes[parent as usize].first_child = index,
            before => self.nodes[before as usize].sibling = index,
        }
    }

    /// Records that the game is over at this node, and returns its value for the player to move.
    pub(super) fn end(&mut self, node: u32, outcome: Outcome) -> Value {
        let node = &mut self.nodes[node as usize];
        let verdict = outcome.verdict(node.mover);
        node.certain = Certainty::of(Proven::over(verdict));
        Value::certain(verdict, outcome.score_difference(node.mover).into())
    }

    /// Stores what the evaluator says about a node: its expected result and, if it is certain, the proven one.
    pub(super) fn set_evaluation(&mut self, node: u32, evaluation: &Evaluation) {
        let node = &mut self.nodes[node as usize];
        node.raw = evaluation.value.expectation();
        if let Some(proven) = evaluation.proven {
            node.certain = Certainty::of(proven);
        }
    }

    /// Adds one evaluation to all nodes from this one up to the root, and updates what is proven on the way. `value`
    /// is for the player to move at the node.
    pub(super) fn back_up(&mut self, mut index: u32, value: Value) {
        let (mut result, mut draw, mut score) = (value.expectation(), value.draw, value.score);
        let mut changed = self.nodes[index as usize].certain.is_known();
        loop {
            let node = &mut self.nodes[index as usize];
            if node.certain.is_known() {
                result = node.certain.bounds.clamp(result);
                draw = draw.min(1.0 - result.abs());
            }
            node.visits += 1;
            node.value += result;
            node.draw += draw;
            node.score += score;
            let (parent, mover) = (node.parent, node.mover);
            if parent == NONE {
                return;
            }
            if self.nodes[parent as usize].mover != mover {
                (result, score) = (-result, -score);
            }
            changed = changed && self.tighten(parent);
            index = parent;
        }
    }

    /// Updates what is proven about a node from its edges. Returns whether its bounds changed.
    fn tighten(&mut self, index: u32) -> bool {
        let best = self.best_of_edges(index);
        let node = &mut self.nodes[index as usize];
        let changed = best.bounds != node.certain.bounds;
        if changed {
            node.certain = best;
        }
        changed
    }

    /// What the edges of a node prove about it.
    fn best_of_edges(&self, node: u32) -> Certainty {
        let unvisited = (!self.nodes[node as usize].unvisited.is_empty()).then_some(Certainty::NONE);
        Certainty::best_of(self.children(node).map(Child::certain).chain(unvisited))
    }

    /// The most visited node with this position.
    pub(super) fn find(&self, position: &P) -> Option<u32>
    where
        P: Eq,
    {
        let nodes = (0..self.nodes.len()).filter(|&node| self.positions[node] == *position);
        let best = nodes.max_by_key(|&node| (self.nodes[node].visits, Reverse(node)))?;
        Some(best as u32)
    }

    /// Whether search can name the action that proves this node's result, if it is proven. It cannot if the evaluator
    /// proved it.
    pub(super) fn has_proof(&self, node: u32) -> bool {
        let bounds = self.nodes[node as usize].certain.bounds;
        !bounds.is_exact() || self.best_of_edges(node).bounds == bounds
    }

    /// Makes a node the root, keeps the nodes below it and drops the rest.
    ///
    /// Parents come before their children, so one pass from front to back moves every node and its edges into place.
    /// `moved` is a scratch buffer: the new index of each node.
    pub(super) fn reroot(&mut self, root: u32, moved: &mut Vec<u32>) {
        let root = root as usize;
        moved.clear();
        moved.resize(self.nodes.len(), NONE);
        let (mut kept, mut kept_edges) = (0, 0);
        for old in root..self.nodes.len() {
            let mut node = self.nodes[old].clone();
            if old == root {
                (node.parent, node.sibling) = (NONE, NONE);
            } else {
                node.parent = moved[node.parent as usize];
                if node.parent == NONE {
                    continue;
                }
            }
            moved[old] = kept as u32;
            let range = self.range(old as u32);
            node.first_edge = kept_edges as u32;
            kept_edges += range.len();
            self.priors.copy_within(range.clone(), node.first_edge as usize);
            self.actions.copy_within(range, node.first_edge as usize);
            self.nodes[kept] = node;
            self.positions[kept] = self.positions[old];
            kept += 1;
        }
        self.nodes.truncate(kept);
        self.positions.truncate(kept);
        self.priors.truncate(kept_edges);
        self.actions.truncate(kept_edges);
        let new = |old: u32| moved.get(old as usize).copied().unwrap_or(NONE);
        for node in &mut self.nodes {
            (node.first_child, node.sibling) = (new(node.first_child), new(node.sibling));
        }
    }
}
