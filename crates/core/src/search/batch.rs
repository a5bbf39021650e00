//! Grows many trees with one evaluator, so that their leaves are evaluated in one batch.

use super::grow::{Leaf, Step, Tree};
use crate::eval::{EvalBatch, Evaluator};
use crate::game::Game;

/// Collects one leaf from each of many trees and evaluates the leaves together. Its buffers are reused between calls.
pub struct Batch<G: Game> {
    actions: usize,
    leaves: Vec<(usize, Leaf<G>)>,     // the index of its tree, and the leaf
    positions: EvalBatch<G::Position>, // those of the leaves
    active: Vec<usize>,
    width: usize, // the number of trees that grow at a time
    /// The number of positions evaluated so far.
    pub evaluated: u64,
    /// The number of positions that would have been evaluated so far if every batch had been full, to compare with
    /// `evaluated`. A full batch has as many positions as the evaluator prefers, or one per tree if there are fewer
    /// trees.
    pub room: u64,
}

impl<G: Game> Batch<G> {
    /// Empty buffers for trees of this game.
    pub fn new(game: &G) -> Batch<G> {
        Batch {
            actions: game.actions(),
            leaves: Vec::new(),
            positions: EvalBatch::new(0),
            active: Vec::new(),
            width: 0,
            evaluated: 0,
            room: 0,
        }
    }

    /// Grows every tree until its plan is done, or until `interrupted` returns true; it is called before each batch.
    /// The result of a tree does not depend on the other trees.
    ///
    /// At most [`Evaluator::batch`] trees grow at a time; when one is done, the next takes its slot.
    pub fn search<E: Evaluator<G> + ?Sized>(
        &mut self,
        trees: &mut [Tree<G>],
        evaluator: &mut E,
        interrupted: impl FnMut(&[Tree<G>]) -> bool,
    ) {
        let width = evaluator.batch().max(1);
        self.search_at_once(width, trees, evaluator, interrupted);
    }

    /// [`Batch::search`] in which at most `width` trees grow at a time.
    pub(crate) fn search_at_once<E: Evaluator<G> + ?Sized>(
        &mut self,
        width: usize,
        trees: &mut [Tree<G>],
        evaluator: &mut E,
        mut interrupted: impl FnMut(&[Tree<G>]) -> bool,
    ) {
        let width = width.min(trees.len());
        let mut waiting = width..trees.len();
        self.begin(width);
        while self.is_growing() && !interrupted(trees) {
            self.submit(trees, evaluator, |_, _| waiting.next());
            self.finish(trees, evaluator);
        }
    }

    /// Begins to grow the first `width` trees, in steps of [`Batch::submit`] and [`Batch::finish`].
    pub fn begin(&mut self, width: usize) {
        self.width = width;
        self.active.clear();
        self.active.extend(0..width);
    }

    /// Whether trees are still growing.
    pub fn is_growing(&self) -> bool {
        !self.active.is_empty()
    }

    /// Submits a leaf of each growing tree to the evaluator. When the plan of a tree is done, `renew` returns the index
    /// of the tree that takes its slot: another one, or the same with its next position and plan. Reusing a few trees
    /// keeps them in the CPU's cache.
    pub fn submit<E: Evaluator<G> + ?Sized>(
        &mut self,
        trees: &mut [Tree<G>],
        evaluator: &mut E,
        mut renew: impl FnMut(&mut [Tree<G>], usize) -> Option<usize>,
    ) {
        self.gather(trees, &mut renew);
        self.positions.clear_for(if evaluator.has_policy() { self.actions } else { 0 });
        for (_, leaf) in &self.leaves {
            self.positions.push(leaf.position, leaf.seed);
        }
        if !self.leaves.is_empty() {
            evaluator.submit(&mut self.positions);
            self.room += self.width as u64;
        }
        self.evaluated += self.leaves.len() as u64;
    }

    /// Waits for the evaluations of the submitted leaves, which then join their trees.
    pub fn finish<E: Evaluator<G> + ?Sized>(&mut self, trees: &mut [Tree<G>], evaluator: &mut E) {
        if !self.leaves.is_empty() {
            evaluator.finish(&mut self.positions);
        }
        for ((index, leaf), row) in self.leaves.drain(..).zip(0..) {
            trees[index].expand(leaf, self.positions.logits(row), self.positions.evaluation(row));
        }
    }

    /// Collects a leaf from every active tree that needs an evaluation.
    fn gather(&mut self, trees: &mut [Tree<G>], renew: &mut impl FnMut(&mut [Tree<G>], usize) -> Option<usize>) {
        let mut slot = 0;
        while slot < self.active.len() {
            let index = self.active[slot];
            match trees[index].select() {
                Step::Evaluate(leaf) => {
                    self.leaves.push((index, leaf));
                    slot += 1;
                }
                Step::Ended => {}
                Step::Done => match renew(trees, index) {
                    Some(next) => self.active[slot] = next,
                    None => {
                        self.active.swap_remove(slot);
                    }
                },
            }
        }
    }
}
