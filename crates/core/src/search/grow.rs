//! A search tree that grows in three steps: select a leaf, evaluate it, expand it.

use std::fmt;

use super::gumbel::{self, Completed, GumbelSettings, Halving};
use super::math::{exp, largest, ln, normalize};
use super::puct::{self, PuctSettings};
use super::tree::{Best, Child, NONE, Storage, TreeSize};
use crate::eval::Evaluation;
use crate::game::{Game, Mask};
use crate::random::mix;

/// How a tree distributes its simulations, with the settings of the rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SearchRule {
    /// Sequential halving at the root, and visits that follow the improved policy below. The noise is one Gumbel
    /// variable per legal action at the root.
    Gumbel(GumbelSettings),
    /// AlphaZero's rule at every node. The noise is a sample of a Dirichlet distribution over the legal actions at
    /// the root.
    Puct(PuctSettings),
}

impl fmt::Display for SearchRule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            SearchRule::Gumbel(_) => "gumbel",
            SearchRule::Puct(_) => "puct",
        })
    }
}

impl SearchRule {
    /// Gumbel search with the default settings.
    pub const GUMBEL: SearchRule = SearchRule::Gumbel(GumbelSettings::DEFAULT);

    /// PUCT with the default settings.
    pub const PUCT: SearchRule = SearchRule::Puct(PuctSettings::DEFAULT);

    /// Softmax temperature of the priors; 1 leaves them unchanged.
    fn temperature(self) -> f32 {
        match self {
            SearchRule::Gumbel(_) => 1.0,
            SearchRule::Puct(settings) => settings.temperature,
        }
    }
}

/// A search tree of one game.
///
/// [`Tree::select`] returns a leaf, and [`Tree::expand`] consumes it, so each leaf is backed up exactly once. The
/// tree draws no random numbers: the noise and a seed are arguments of [`Tree::plan`].
pub struct Tree<G: Game> {
    pub(super) game: G,
    pub(super) rule: SearchRule,
    pub(super) storage: Storage<G::Position>,
    pub(super) plan: Plan,
    root_position: G::Position,
    ticket: u64, // identifies the selected leaf, or the next one to be selected
    full: bool,
    scratch: Vec<f32>,
    moved: Vec<u32>,
}

/// What [`Tree::plan`] is told.
#[derive(Clone, Copy, Debug)]
pub struct SearchPlan<'a> {
    simulations: u32,
    most: u32,
    noise: &'a [f32],
    seed: u64,
}

impl<'a> SearchPlan<'a> {
    /// A search of so many simulations, without noise, with seed 0.
    pub fn new(simulations: u32) -> SearchPlan<'a> {
        SearchPlan { simulations, most: simulations, noise: &[], seed: 0 }
    }

    /// The search continues up to this many simulations unless the caller stops it. Its schedule is that of the
    /// simulations that [`SearchPlan::new`] was given.
    pub fn up_to(self, most: u32) -> SearchPlan<'a> {
        SearchPlan { most: most.max(self.simulations), ..self }
    }

    /// One number for each legal action of the root, lowest action first.
    pub fn noise(self, noise: &'a [f32]) -> SearchPlan<'a> {
        SearchPlan { noise, ..self }
    }

    /// Determines the seeds of the leaves.
    pub fn seed(self, seed: u64) -> SearchPlan<'a> {
        SearchPlan { seed, ..self }
    }
}

/// The search that [`Tree::plan`] requested, and its progress.
#[derive(Debug, Default)]
pub(super) struct Plan {
    simulations: u32, // the length of the halving schedule
    most: u32,        // the search ends after this many simulations
    done: u32,
    seed: u64,
    noise: Vec<f32>,          // [legal actions], or empty
    pub(super) started: bool, // whether the fields below are set
    halving: Option<Halving>,
    pub(super) visits_before: Vec<u32>, // [legal actions]
    pub(super) noisy: Vec<f32>, // [legal actions]: ln prior + noise for Gumbel, priors mixed with noise for PUCT
}

/// A position that must be evaluated before it joins the tree.
#[derive(Debug)]
pub struct Leaf<G: Game> {
    /// The position to evaluate.
    pub position: G::Position,
    /// A seed for evaluators that need random numbers, such as playouts.
    pub seed: u64,
    legal: G::Mask,
    parent: (u32, u16), // node and edge; NONE and 0 for the root
    ticket: u64,
}

/// The result of [`Tree::select`].
#[derive(Debug)]
pub enum Step<G: Game> {
    /// This leaf must be evaluated and expanded.
    Evaluate(Leaf<G>),
    /// The simulation reached the end of a game and has been backed up.
    Ended,
    /// The search is over: the plan is done, the result is proven or the tree is full.
    Done,
}

impl<G: Game> Tree<G> {
    /// A tree that has no node yet. Its root is the first leaf to be evaluated.
    pub fn new(game: G, rule: SearchRule, limit: TreeSize, position: G::Position) -> Tree<G> {
        Tree {
            scratch: Vec::with_capacity(game.actions()),
            game,
            rule,
            storage: Storage::new(limit),
            plan: Plan::default(),
            root_position: position,
            ticket: 0,
            full: false,
            moved: Vec::new(),
        }
    }

    /// Drops all nodes and starts at another position.
    pub fn restart(&mut self, position: G::Position) {
        self.storage.clear();
        self.begin_at(position);
    }

    /// Makes this position the root. If the tree contains the position and has `room` left for the next search, it
    /// keeps the subtree; otherwise it starts empty.
    pub fn continue_at(&mut self, position: G::Position, room: TreeSize) {
        let known = self.storage.find(&position);
        let is_over = |node: u32| self.storage.nodes[node as usize].edges == 0;
        match known.filter(|&node| !is_over(node) && self.storage.has_proof(node)) {
            Some(node) => {
                self.storage.reroot(node, &mut self.moved);
                self.begin_at(self.storage.positions[0]);
            }
            None => self.restart(position),
        }
        if !self.storage.has_room(room.nodes as usize, room.edges) {
            self.restart(position);
        }
    }

    /// Sets the root position and drops the plan.
    fn begin_at(&mut self, root: G::Position) {
        self.root_position = root;
        self.plan.started = false;
        self.plan.most = 0;
        self.full = false;
        self.ticket += 1;
    }

    /// Plans a search.
    ///
    /// # Panics
    /// Panics if the noise is neither empty nor as long as the list of legal actions.
    pub fn plan(&mut self, search: SearchPlan<'_>) {
        let SearchPlan { simulations, most, noise, seed } = search;
        let legal = self.game.legal(&self.root_position);
        assert!(noise.is_empty() || noise.len() == legal.count() as usize, "one noise per legal action");
        let plan = &mut self.plan;
        plan.simulations = simulations;
        plan.most = most;
        plan.done = 0;
        plan.seed = seed;
        plan.noise.clear();
        plan.noise.extend_from_slice(noise);
        plan.started = false;
    }

    /// Walks down to the next leaf. Expand the leaf before you call another method of the tree.
    pub fn select(&mut self) -> Step<G> {
        if self.storage.nodes.is_empty() {
            return self.root_leaf();
        }
        if self.plan.done >= self.plan.most || self.full || self.storage.nodes[0].certain.bounds.is_exact() {
            return Step::Done;
        }
        if !self.plan.started {
            self.start_plan();
        }
        let mut index = 0;
        let mut best = self.select_root();
        while best.child != NONE {
            index = best.child;
            best = self.select_interior(index);
        }
        let mut parent = (index, best.place);
        let mut position = self.storage.positions[index as usize];
        self.game.play(&mut position, self.storage.actions(index)[usize::from(best.place)]);
        let mut legal = self.game.legal(&position);
        if !self.storage.has_room(1, legal.count()) {
            self.full = true;
            return Step::Done;
        }
        if self.game.is_often_forced() {
            while legal.count() == 1 {
                let mut next = position;
                self.game.play(&mut next, legal.nth(0));
                let after = self.game.legal(&next);
                if !self.storage.has_room(2, 1 + after.count()) {
                    break;
                }
                parent = (self.add_forced(position, &legal, parent), 0);
                (position, legal) = (next, after);
            }
        }
        if legal.is_empty() {
            self.add_end(position, parent);
            self.count_simulation();
            return Step::Ended;
        }
        Step::Evaluate(self.leaf(position, legal, parent))
    }

    /// Adds an evaluated leaf to the tree and backs up its value. `logits` has one number per action of the game, or
    /// is empty if the evaluator has no policy. The logits of illegal actions are ignored.
    ///
    /// # Panics
    /// Panics if the leaf is not the one that was selected last.
    pub fn expand(&mut self, leaf: Leaf<G>, logits: &[f32], evaluation: &Evaluation) {
        assert_eq!(leaf.ticket, self.ticket, "not the leaf selected last");
        self.ticket += 1;
        let mover = self.game.to_move(&leaf.position);
        let Leaf { position, legal, parent, .. } = leaf;
        let storage = &mut self.storage;
        let node = if logits.is_empty() {
            let prior = 1.0 / legal.count() as f32;
            let priors = std::iter::repeat_n(prior, legal.count() as usize);
            storage.add(position, mover, &legal, priors, parent)
        } else {
            let sharpness = 1.0 / self.rule.temperature();
            softmax(logits, sharpness, &legal, &mut self.scratch);
            storage.add(position, mover, &legal, self.scratch.iter().copied(), parent)
        };
        let mut evaluation = *evaluation;
        if parent.0 == NONE {
            evaluation.proven = None; // a proven root would end the search before it finds an action
        }
        storage.set_evaluation(node, &evaluation);
        storage.back_up(node, evaluation.value);
        if parent.0 != NONE {
            self.count_simulation();
        }
    }

    /// The position at the root.
    pub fn position(&self) -> &G::Position {
        &self.root_position
    }

    /// The size that the tree may grow to.
    pub fn limit(&self) -> TreeSize {
        self.storage.limit
    }

    /// The number of simulations since the plan was set.
    pub fn simulations_done(&self) -> u32 {
        self.plan.done
    }

    /// Whether the search ended because the tree reached its limit.
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// The size of the tree now.
    pub fn size(&self) -> TreeSize {
        self.storage.size()
    }

    fn root_leaf(&mut self) -> Step<G> {
        let position = self.root_position;
        let legal = self.game.legal(&position);
        if legal.is_empty() || !self.storage.has_room(1, legal.count()) {
            self.full = !legal.is_empty();
            return Step::Done;
        }
        Step::Evaluate(self.leaf(position, legal, (NONE, 0)))
    }

    fn leaf(&self, position: G::Position, legal: G::Mask, parent: (u32, u16)) -> Leaf<G> {
        Leaf {
            position,
            legal,
            parent,
            ticket: self.ticket,
            seed: mix(self.plan.seed.wrapping_add(u64::from(self.plan.done))),
        }
    }

    fn add_end(&mut self, position: G::Position, parent: (u32, u16)) {
        let outcome = self.game.outcome(&position);
        let outcome = outcome.expect("no legal action means the game is over");
        let mover = self.game.to_move(&position);
        let none = G::Mask::default();
        let node = self.storage.add(position, mover, &none, std::iter::empty(), parent);
        let value = self.storage.end(node, outcome);
        self.storage.back_up(node, value);
    }

    /// Adds a position with only one legal action, which needs no evaluation. Returns its node.
    fn add_forced(&mut self, position: G::Position, legal: &G::Mask, parent: (u32, u16)) -> u32 {
        let mover = self.game.to_move(&position);
        self.storage.add(position, mover, legal, std::iter::once(1.0), parent)
    }

    fn count_simulation(&mut self) {
        self.plan.done += 1;
        if let Some(halving) = &mut self.plan.halving {
            halving.advance();
        }
    }

    fn start_plan(&mut self) {
        let plan = &mut self.plan;
        plan.started = true;
        let priors = self.storage.signed_priors(0);
        plan.visits_before.clear();
        plan.visits_before.resize(priors.len(), 0);
        for child in self.storage.children(0) {
            plan.visits_before[child.place()] = child.node.visits;
        }
        plan.halving = None;
        let noise = plan.noise.iter().copied().chain(std::iter::repeat(0.0));
        let priors = priors.iter().map(|prior| prior.abs()).zip(noise);
        plan.noisy.clear();
        match self.rule {
            SearchRule::Gumbel(settings) => {
                let considered = settings.considered.min(plan.visits_before.len() as u32);
                plan.halving = Some(Halving::new(considered, plan.simulations));
                plan.noisy.extend(priors.map(|(prior, noise)| ln(prior.max(f32::MIN_POSITIVE)) + noise));
            }
            SearchRule::Puct(settings) => {
                let fraction = if plan.noise.is_empty() { 0.0 } else { settings.noise_fraction };
                plan.noisy.extend(priors.map(|(prior, noise)| (1.0 - fraction) * prior + fraction * noise));
            }
        }
    }

    /// The action to follow from the root.
    fn select_root(&mut self) -> Best {
        if matches!(self.rule, SearchRule::Gumbel(_)) && self.plan.done >= self.plan.simulations {
            return self.select_interior(0);
        }
        let Tree { storage, plan, .. } = self;
        let edges = (0..).zip(storage.signed_priors(0)).zip(&plan.noisy);
        let unvisited =
            edges.filter(|((_, prior), _)| prior.is_sign_positive()).map(|((place, _), score)| (place, *score));
        let unvisited = unvisited.fold(Best::NONE, |best, (place, score)| best.or_unvisited(score, place));
        match self.rule {
            SearchRule::Gumbel(settings) => self.select_considered(unvisited, &settings),
            SearchRule::Puct(settings) => {
                let prior_of = |child: Child<'_>| plan.noisy[child.place()];
                let unvisited = (unvisited.place, unvisited.score);
                puct::select(storage.children(0), &storage.nodes[0], unvisited, prior_of, &settings)
            }
        }
    }

    /// The open action with the largest ln P + g + σ(Q) among those that have as many visits of this plan as the schedule
    /// requires. If all of those are proven, the best other one.
    fn select_considered(&mut self, unvisited: Best, settings: &GumbelSettings) -> Best {
        let completed = Completed::new(&self.storage, 0, self.game.actions(), settings, &mut self.scratch);
        let due = self.plan.halving.as_ref().expect("made with the plan").visits;
        let (mut best_due, mut best_other) = (Best::NONE, Best::NONE);
        for (child, value) in self.storage.children(0).zip(&self.scratch) {
            if child.is_open(self.storage.nodes[0].certain) {
                let is_due = child.node.visits - self.plan.visits_before[child.place()] == due;
                let best = if is_due { &mut best_due } else { &mut best_other };
                *best = best.or(self.plan.noisy[child.place()] + completed.of(Some(*value)), child);
            }
        }
        // Unvisited actions are due exactly in the first round. They have the same value, so only the one with the largest
        // ln P + g can be the best.
        let best = if due == 0 { &mut best_due } else { &mut best_other };
        *best = best.or_unvisited(unvisited.score + completed.of(None), unvisited.place);
        if best_due.score > f32::NEG_INFINITY { best_due } else { best_other }
    }

    /// The action to follow from a node that is not the root.
    #[inline]
    fn select_interior(&mut self, index: u32) -> Best {
        let Tree { storage, scratch, game, .. } = self;
        let node = &storage.nodes[index as usize];
        if node.first_child == NONE {
            return Best::NONE.or_unvisited(node.unvisited.prior, node.unvisited.place); // all have the same value
        }
        match self.rule {
            SearchRule::Gumbel(settings) => {
                let completed = Completed::new(storage, index, game.actions(), &settings, scratch);
                gumbel::select_interior(storage, index, &completed, scratch)
            }
            SearchRule::Puct(settings) => {
                let unvisited = (node.unvisited.place, node.unvisited.prior);
                puct::select(storage.children(index), node, unvisited, |child| child.node.prior, &settings)
            }
        }
    }
}

/// Writes the probabilities of the legal actions, lowest action first. `sharpness` multiplies the logits.
fn softmax<M: Mask>(logits: &[f32], sharpness: f32, legal: &M, out: &mut Vec<f32>) {
    out.clear();
    out.extend(legal.iter().map(|action| logits[action.index()]));
    let top = largest(out);
    debug_assert!(top.is_finite(), "logits of legal actions are finite");
    out.iter_mut().for_each(|logit| *logit = exp(sharpness * (*logit - top)));
    normalize(out);
}
