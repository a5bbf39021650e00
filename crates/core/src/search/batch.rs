//! Many trees, one evaluator: their leaves are evaluated together.

use super::grow::{Leaf, Step, Tree};
use crate::eval::{Evaluation, Evaluator, Value};
use crate::game::Game;

/// Collects the leaves of many trees for one evaluator. Its buffers are reused between calls.
pub struct Batch<G: Game> {
    actions: usize,
    leaves: Vec<(usize, Leaf<G>)>, // with the index of its tree
    positions: Vec<G::Position>,
    seeds: Vec<u64>,
    logits: Vec<f32>, // [leaves, actions], or empty
    evaluations: Vec<Evaluation>,
    active: Vec<usize>,
    /// The number of positions evaluated so far.
    pub evaluated: u64,
    /// The number of positions that full batches would have held so far. A full batch is as large as
    /// the evaluator prefers and the number of trees allows.
    pub room: u64,
}

impl<G: Game> Batch<G> {
    /// Buffers for trees of this game.
    pub fn new(game: &G) -> Batch<G> {
        Batch {
            actions: game.actions(),
            leaves: Vec::new(),
            positions: Vec::new(),
            seeds: Vec::new(),
            logits: Vec::new(),
            evaluations: Vec::new(),
            active: Vec::new(),
            evaluated: 0,
            room: 0,
        }
    }

    /// Grows every tree until its plan is done or `interrupted`, called before each batch, returns
    /// true. The result of a tree does not depend on the others.
    ///
    /// At most [`Evaluator::batch`] trees grow at a time; when one is done, the next takes its slot.
    pub fn search<E: Evaluator<G> + ?Sized>(
        &mut self,
        trees: &mut [Tree<G>],
        evaluator: &mut E,
        interrupted: impl FnMut(&[Tree<G>]) -> bool,
    ) {
        let width = evaluator.batch().max(1).min(trees.len());
        let mut waiting = width..trees.len();
        self.grow(trees, width, evaluator, interrupted, |_, _| waiting.next());
    }

    /// Searches more positions than there are trees. `renew` gets a tree whose plan is done: it takes the result, and
    /// gives the tree its next position and plan, or returns false if there is none. Few trees stay in the processor's
    /// cache.
    pub fn search_in_turn<E: Evaluator<G> + ?Sized>(
        &mut self,
        trees: &mut [Tree<G>],
        evaluator: &mut E,
        mut renew: impl FnMut(usize, &mut Tree<G>) -> bool,
    ) {
        let width = trees.len();
        let renew = |trees: &mut [Tree<G>], index: usize| renew(index, &mut trees[index]).then_some(index);
        self.grow(trees, width, evaluator, |_| false, renew);
    }

    /// Grows the first `width` trees. `renew` names the tree that takes the slot of one whose plan is done.
    fn grow<E: Evaluator<G> + ?Sized>(
        &mut self,
        trees: &mut [Tree<G>],
        width: usize,
        evaluator: &mut E,
        mut interrupted: impl FnMut(&[Tree<G>]) -> bool,
        mut renew: impl FnMut(&mut [Tree<G>], usize) -> Option<usize>,
    ) {
        let room = width as u64;
        self.active.clear();
        self.active.extend(0..width);
        while !self.active.is_empty() && !interrupted(trees) {
            self.gather(trees, &mut renew);
            self.evaluate(evaluator);
            self.room += if self.leaves.is_empty() { 0 } else { room };
            for ((index, leaf), row) in self.leaves.drain(..).zip(0..) {
                let logits = match self.logits.len() {
                    0 => &[],
                    _ => &self.logits[row * self.actions..][..self.actions],
                };
                trees[index].expand(leaf, logits, &self.evaluations[row]);
            }
        }
    }

    /// Selects a leaf from every active tree.
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

    fn evaluate<E: Evaluator<G> + ?Sized>(&mut self, evaluator: &mut E) {
        let count = self.leaves.len();
        self.positions.clear();
        self.seeds.clear();
        for (_, leaf) in &self.leaves {
            self.positions.push(leaf.position);
            self.seeds.push(leaf.seed);
        }
        let width = if evaluator.has_policy() { self.actions } else { 0 };
        self.logits.resize(count * width, 0.0);
        self.evaluations.resize(count, Evaluation::of(Value::EVEN));
        if count > 0 {
            evaluator.evaluate(&self.positions, &self.seeds, &mut self.logits, &mut self.evaluations);
        }
        self.evaluated += count as u64;
    }
}
