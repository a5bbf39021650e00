//! Many searches at once in an erased game.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use jarmo_core::game::{Action, AnyPosition, Game, Mask};
use jarmo_core::random::stream;
use jarmo_core::search::{Batch, RootAction, SearchPlan, SearchRule, Tree, TreeSize};
use jarmo_exact::catalog::CatalogGame;
use jarmo_selfplay::selfplay::draw_noise;
use rand::Rng;

use crate::erased::Erased;
use crate::net::{AnyEvaluator, Net};

/// Fewer trees than this are not worth a second thread.
const MIN_PER_THREAD: usize = 32;

/// How to search.
#[derive(Clone, Copy, Debug)]
pub struct BatchSearch {
    /// Simulations per position.
    pub simulations: u32,
    /// The search rule.
    pub rule: SearchRule,
    /// Whether there is noise at the roots, as in self-play.
    pub noise: bool,
    /// The seed of the noise.
    pub seed: u64,
    /// The largest number of threads. Each of them grows as many trees at a time as the network's preferred batch.
    pub threads: usize,
}

/// The result of the search from one position, from the point of view of the player to move.
#[derive(Clone, Debug)]
pub struct SearchResult {
    /// The action to play.
    pub best: Action,
    /// The policy after search, `[actions]`.
    pub policy: Vec<f32>,
    /// The expected result of the position.
    pub value: f32,
    /// The results of each legal action.
    pub actions: Vec<RootAction>,
    /// Whether the value is proven.
    pub proven: bool,
    /// The simulations that were made. A proof ends the search early.
    pub simulations: u32,
}

/// Searches from positions that are not over. Once `stop` is set, the result is incomplete.
pub(super) fn search<G: CatalogGame>(
    erased: &Erased<G>,
    positions: &[AnyPosition],
    plan: &BatchSearch,
    net: &Net,
    stop: &AtomicBool,
) -> Vec<SearchResult> {
    let positions: Vec<G::Position> = positions.iter().map(|position| *position.of::<G>()).collect();
    let shares = plan.threads.min(positions.len() / MIN_PER_THREAD).max(1);
    let share = positions.len().div_ceil(shares).max(1);
    thread::scope(|scope| {
        let parts = positions.chunks(share).enumerate().map(|(index, positions)| {
            let evaluator = net.evaluator(&erased.game, &erased.facts);
            scope.spawn(move || search_part(&erased.game, positions, index * share, plan, evaluator, stop))
        });
        let parts: Vec<_> = parts.collect();
        parts.into_iter().flat_map(|part| part.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

/// Searches the positions from number `first` on.
fn search_part<G: CatalogGame>(
    game: &G,
    positions: &[G::Position],
    first: usize,
    plan: &BatchSearch,
    mut evaluator: AnyEvaluator<G>,
    stop: &AtomicBool,
) -> Vec<SearchResult> {
    let is_stopped = || stop.load(Ordering::Relaxed);
    let width = evaluator.batch();
    let limit = TreeSize::for_simulations(game, plan.simulations);
    let mut batch = Batch::new(game);
    let mut trees: Vec<Tree<G>> = Vec::new();
    let mut found = Vec::with_capacity(positions.len());
    for (chunk, positions) in positions.chunks(width).enumerate() {
        trees.truncate(positions.len());
        for (tree, position) in trees.iter_mut().zip(positions) {
            tree.restart(*position);
        }
        for position in &positions[trees.len()..] {
            trees.push(Tree::new(game.clone(), plan.rule, limit, *position));
        }
        for (index, tree) in trees.iter_mut().enumerate() {
            prepare(tree, game, plan, first + chunk * width + index);
        }
        batch.search(&mut trees, &mut evaluator, |_| is_stopped());
        if is_stopped() {
            return found;
        }
        found.extend(trees.iter().map(|tree| read(tree, game)));
    }
    found
}

/// Plans the search of the position with this number, whose random numbers follow from the seed and the number.
fn prepare<G: Game>(tree: &mut Tree<G>, game: &G, plan: &BatchSearch, number: usize) {
    let mut random = stream(plan.seed, number as u64);
    let mut noise = Vec::new();
    if plan.noise {
        draw_noise(plan.rule, game.legal(tree.position()).count() as usize, &mut random, &mut noise);
    }
    tree.plan(SearchPlan::new(plan.simulations).noise(&noise).seed(random.next_u64()));
}

/// The result of a tree.
fn read<G: Game>(tree: &Tree<G>, game: &G) -> SearchResult {
    let mut policy = vec![0.0; game.actions()];
    tree.write_policy(&mut policy);
    SearchResult {
        best: tree.best().expect("the root is evaluated"),
        policy,
        value: tree.value().expect("the root is evaluated").expectation(),
        actions: tree.root_actions(),
        proven: tree.proven().is_some(),
        simulations: tree.simulations_done(),
    }
}
