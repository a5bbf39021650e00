//! The tree as arrays of numbers, allocated once.
//!
//! An edge is a legal action. The edges of a node are contiguous, lowest action first. A node is created when its
//! edge is first visited. Sums on an edge are from the point of view of the player who acts there, sums on a node
//! from that of the player to move.

use std::cmp::Reverse;

use super::bounds::Certainty;
use crate::eval::{Evaluation, Value};
use crate::game::{Action, Game, Mask, Outcome, Player, Proven};

/// Stands for a missing node or edge.
pub(super) const NONE: u32 = u32::MAX;

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
    const TYPICAL_ACTIONS: u32 = 48;

    /// Enough for this many simulations. Unused room costs no memory, because the operating system provides memory
    /// only when it is written.
    pub fn for_simulations<G: Game>(game: &G, simulations: u32) -> TreeSize {
        let actions = (game.actions() as u32).min(TreeSize::TYPICAL_ACTIONS);
        let per_simulation = if game.is_often_forced() { 2 } else { 1 };
        let nodes = simulations.saturating_mul(per_simulation).saturating_add(1);
        TreeSize { nodes, edges: nodes.saturating_mul(actions).saturating_add(game.actions() as u32) }
    }

    /// Whether this limit is at least as large as the other.
    pub fn holds(&self, other: TreeSize) -> bool {
        self.nodes >= other.nodes && self.edges >= other.edges
    }

    /// The largest tree that fits into this many bytes, at `branching` actions per position.
    pub fn for_bytes<G: Game>(bytes: usize, branching: u32) -> TreeSize {
        let node = size_of::<TreeNode>() + size_of::<G::Position>();
        let nodes = bytes / (node + branching as usize * EDGE_BYTES);
        let nodes = u32::try_from(nodes).unwrap_or(NONE / branching);
        TreeSize { nodes, edges: nodes.saturating_mul(branching) }
    }
}

const EDGE_BYTES: usize = 4 * size_of::<u32>() + size_of::<Certainty>() + size_of::<u16>();

#[derive(Clone, Debug)]
pub(super) struct TreeNode {
    pub(super) first_edge: u32,
    pub(super) parent: u32,      // node, or NONE for the root
    pub(super) parent_edge: u32, // edge, or NONE for the root
    pub(super) visits: u32,      // evaluations of this node and below
    pub(super) value: f32,       // sum of expected results
    pub(super) draw: f32,        // sum of draw probabilities
    pub(super) score: f32,       // sum of point differences
    pub(super) raw: f32,         // the evaluator's expected result of this position, without search
    pub(super) edges: u16,
    pub(super) certain: Certainty,
    pub(super) mover: Player,
}

/// The edges of all nodes, one array per quantity.
#[derive(Debug)]
pub(super) struct Edges {
    pub(super) priors: Vec<f32>,
    pub(super) visits: Vec<u32>,
    pub(super) values: Vec<f32>, // sum of expected results
    pub(super) children: Vec<u32>,
    pub(super) ends: Vec<Certainty>, // what is proven, for the player who acts
    pub(super) actions: Vec<Action>,
}

impl Edges {
    fn truncate(&mut self, count: usize) {
        self.priors.truncate(count);
        self.visits.truncate(count);
        self.values.truncate(count);
        self.children.truncate(count);
        self.ends.truncate(count);
        self.actions.truncate(count);
    }

    /// Copies `count` edges from index `from` down to index `to`.
    fn copy_back(&mut self, from: usize, to: usize, count: usize) {
        let range = from..from + count;
        self.priors.copy_within(range.clone(), to);
        self.visits.copy_within(range.clone(), to);
        self.values.copy_within(range.clone(), to);
        self.children.copy_within(range.clone(), to);
        self.ends.copy_within(range.clone(), to);
        self.actions.copy_within(range, to);
    }
}

/// The edges of one node, as slices: `[legal actions]`.
#[derive(Clone, Copy)]
pub(super) struct Children<'a> {
    /// The evaluator's probability of each action, at the search rule's temperature.
    pub priors: &'a [f32],
    /// The number of evaluations below each action.
    pub visits: &'a [u32],
    values: &'a [f32],
    ends: &'a [Certainty],
    floor: Certainty, // what is proven about the node itself
}

impl Children<'_> {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.priors.len()
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.priors.is_empty()
    }

    /// The mean or proven value of a child for the player who acts, from -1 to 1; `None` if it has neither.
    #[inline]
    pub(super) fn known_value(&self, index: usize) -> Option<f32> {
        let visits = self.visits[index];
        let bounds = self.ends[index].bounds;
        if bounds.is_exact() {
            Some(bounds.lower.sign().into())
        } else if visits > 0 {
            Some(self.values[index] / visits as f32)
        } else {
            None
        }
    }

    /// Writes [`Children::known_value`] of all children, with NaN instead of `None`.
    #[inline]
    pub(super) fn write_known_values(&self, out: &mut [f32]) {
        for ((out, value), &visits) in out.iter_mut().zip(self.values).zip(self.visits) {
            *out = value / visits as i32 as f32; // 0 / 0 is NaN
        }
        for (out, end) in out.iter_mut().zip(self.ends) {
            if end.bounds.is_exact() {
                *out = end.bounds.lower.sign().into();
            }
        }
    }

    /// Whether more visits to a child can change the result: it is not proven, and it could still be better than what
    /// the node can force.
    #[inline]
    pub(super) fn is_open(&self, index: usize) -> bool {
        let bounds = self.ends[index].bounds;
        !bounds.is_exact() && bounds.upper > self.floor.bounds.lower
    }
}

/// Nodes and edges of one tree. The root comes first, and every node comes after its parent.
#[derive(Debug)]
pub(super) struct Storage<P> {
    pub(super) limit: TreeSize,
    pub(super) nodes: Vec<TreeNode>,
    pub(super) positions: Vec<P>,
    pub(super) edges: Edges,
}

impl<P: Copy> Storage<P> {
    pub(super) fn new(limit: TreeSize) -> Storage<P> {
        let (nodes, edges) = (limit.nodes as usize, limit.edges as usize);
        Storage {
            limit,
            nodes: Vec::with_capacity(nodes),
            positions: Vec::with_capacity(nodes),
            edges: Edges {
                priors: Vec::with_capacity(edges),
                visits: Vec::with_capacity(edges),
                values: Vec::with_capacity(edges),
                children: Vec::with_capacity(edges),
                ends: Vec::with_capacity(edges),
                actions: Vec::with_capacity(edges),
            },
        }
    }

    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.positions.clear();
        self.edges.truncate(0);
    }

    /// Whether this many more nodes fit, with this many edges in total.
    #[inline]
    pub(super) fn has_room(&self, nodes: usize, edges: u32) -> bool {
        self.nodes.len() + nodes <= self.limit.nodes as usize
            && self.edges.priors.len() + edges as usize <= self.limit.edges as usize
    }

    pub(super) fn size(&self) -> TreeSize {
        TreeSize { nodes: self.nodes.len() as u32, edges: self.edges.priors.len() as u32 }
    }

    #[inline]
    pub(super) fn children(&self, node: u32) -> Children<'_> {
        let node = &self.nodes[node as usize];
        let range = node.first_edge as usize..node.first_edge as usize + usize::from(node.edges);
        Children {
            priors: &self.edges.priors[range.clone()],
            visits: &self.edges.visits[range.clone()],
            values: &self.edges.values[range.clone()],
            ends: &self.edges.ends[range],
            floor: node.certain,
        }
    }

    /// The mean of all evaluations at and below a node.
    #[inline]
    pub(super) fn mean(&self, node: &TreeNode) -> f32 {
        node.value / node.visits as f32
    }

    /// Adds a node without visits as the child of edge `parent_edge`. `priors` has one number per action of `legal`,
    /// lowest action first.
    pub(super) fn add<M: Mask>(
        &mut self,
        position: P,
        mover: Player,
        legal: &M,
        priors: impl Iterator<Item = f32>,
        (parent, parent_edge): (u32, u32),
    ) -> u32 {
        let index = self.nodes.len() as u32;
        let first_edge = self.edges.priors.len();
        self.edges.actions.extend(legal.iter());
        let end = self.edges.actions.len();
        self.edges.priors.extend(priors);
        debug_assert_eq!(self.edges.priors.len(), end, "one prior per legal action");
        self.edges.visits.resize(end, 0);
        self.edges.values.resize(end, 0.0);
        self.edges.children.resize(end, NONE);
        self.edges.ends.resize(end, Certainty::NONE);
        self.nodes.push(TreeNode {
            first_edge: first_edge as u32,
            parent,
            parent_edge,
            visits: 0,
            value: 0.0,
            draw: 0.0,
            score: 0.0,
            raw: 0.0,
            edges: (end - first_edge) as u16,
            certain: Certainty::NONE,
            mover,
        });
        self.positions.push(position);
        if parent_edge != NONE {
            self.edges.children[parent_edge as usize] = index;
        }
        index
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
        let mut certain = self.nodes[index as usize].certain.is_known();
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
            let (mover, end) = (node.mover, node.certain);
            let (parent, edge) = (node.parent, node.parent_edge as usize);
            if parent == NONE {
                return;
            }
            let turns = self.nodes[parent as usize].mover != mover;
            if turns {
                (result, score) = (-result, -score);
            }
            self.edges.visits[edge] += 1;
            self.edges.values[edge] += result;
            if certain {
                self.edges.ends[edge] = end.before(turns);
                certain = self.tighten(parent);
            }
            index = parent;
        }
    }

    /// Updates what is proven about a node from its edges. Returns whether its bounds changed.
    fn tighten(&mut self, index: u32) -> bool {
        let node = &mut self.nodes[index as usize];
        let range = node.first_edge as usize..node.first_edge as usize + usize::from(node.edges);
        let best = Certainty::best_of(&self.edges.ends[range]);
        let changed = best.bounds != node.certain.bounds;
        if changed {
            node.certain = best;
        }
        changed
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
        !bounds.is_exact() || Certainty::best_of(self.children(node).ends).bounds == bounds
    }

    /// Makes a node the root, keeps the nodes below it and drops the rest.
    ///
    /// Parents come before their children, so one pass from front to back moves every node and its edges into place.
    /// `moved` is a scratch buffer.
    pub(super) fn reroot(&mut self, root: u32, moved: &mut Vec<Moved>) {
        let root = root as usize;
        moved.clear();
        moved.resize(self.nodes.len(), Moved::DROPPED);
        let (mut kept, mut kept_edges) = (0, 0);
        for old in root..self.nodes.len() {
            let mut node = self.nodes[old].clone();
            if old == root {
                (node.parent, node.parent_edge) = (NONE, NONE);
            } else {
                let parent = moved[node.parent as usize];
                if parent.node == NONE {
                    continue;
                }
                node.parent = parent.node;
                node.parent_edge -= parent.edges_by;
                self.edges.children[node.parent_edge as usize] = kept as u32;
            }
            let (first, count) = (node.first_edge as usize, usize::from(node.edges));
            self.edges.copy_back(first, kept_edges, count);
            moved[old] = Moved { node: kept as u32, edges_by: (first - kept_edges) as u32 };
            node.first_edge = kept_edges as u32;
            self.nodes[kept] = node;
            self.positions[kept] = self.positions[old];
            kept += 1;
            kept_edges += count;
        }
        self.nodes.truncate(kept);
        self.positions.truncate(kept);
        self.edges.truncate(kept_edges);
    }
}

/// Where a node went when the root changed: its new index, and by how much its edges moved down.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moved {
    node: u32,
    edges_by: u32,
}

impl Moved {
    const DROPPED: Moved = Moved { node: NONE, edges_by: 0 };
}
