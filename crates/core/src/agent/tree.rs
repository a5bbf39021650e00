//! The agent that uses tree search with an evaluator.

use std::sync::atomic::{AtomicU64, Ordering};

use rand::Rng;

use super::spec::{YesNo, bytes_of};
use super::{Agent, Candidate, Decision, Limit, Request, TreeSpec};
use crate::eval::Evaluator;
use crate::game::{Game, Mask};
use crate::search::{Batch, PuctSettings, SearchPlan, SearchRule, Tree, TreeSize};

/// The limits are checked after this many rounds if the evaluator is as fast as the check.
const ROUNDS_PER_CHECK: u32 = 64;

/// The first report of progress comes after this many rounds. The number doubles with each report.
const FIRST_REPORT: u32 = 1000;

/// The number of legal actions per position with which memory is turned into nodes.
const BRANCHING: u32 = 12;

/// A tree that is kept between decisions has room for this many searches.
const KEPT_SEARCHES: u32 = 4;

/// The id of the next agent.
static NEXT_ID: AtomicU64 = AtomicU64::new(0);

/// Settings of a tree agent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreeSettings {
    /// The number of simulations per decision, unless the request has a limit.
    pub simulations: u32,
    /// How the simulations are distributed.
    pub rule: SearchRule,
    /// Whether the next decision in a game reuses the subtree of the position reached.
    pub keeps: bool,
    /// The size of a tree in bytes. A search ends when its tree is full.
    pub bytes: usize,
}

impl Default for TreeSettings {
    fn default() -> Self {
        TreeSettings { simulations: 64, rule: SearchRule::GUMBEL, keeps: false, bytes: 256 << 20 }
    }
}

impl TreeSettings {
    /// The settings with which networks played best in our measurements.
    pub fn network() -> TreeSettings {
        TreeSettings {
            rule: SearchRule::Puct(PuctSettings {
                c_puct: 0.6,
                temperature: 3.0,
                min_visit_share: 0.1,
                ..PuctSettings::default()
            }),
            keeps: true,
            ..TreeSettings::default()
        }
    }

    /// These settings, changed by those that a spec contains. The error names the setting that is wrong.
    pub(super) fn with(mut self, spec: &TreeSpec) -> Result<TreeSettings, String> {
        if spec.sims == Some(0) {
            return Err("0 simulations are only possible for agent files".to_owned());
        }
        self.simulations = spec.sims.unwrap_or(self.simulations);
        let search = spec.search();
        self.rule = search.rule(self.rule);
        if let Some((setting, root)) = search.misplaced(self.rule) {
            return Err(format!("setting `{setting}` needs root={root}"));
        }
        self.keeps = spec.keep.map_or(self.keeps, |keep| keep == YesNo::Yes);
        self.bytes = spec.mb.map_or(self.bytes, bytes_of);
        Ok(self)
    }
}

/// Chooses by tree search with an evaluator: a network, random playouts, or the uniform evaluator.
///
/// All requests of one call are searched together and share the evaluator's batches.
pub struct TreeAgent<G: Game, E> {
    game: G,
    evaluator: E,
    settings: TreeSettings,
    batch: Batch<G>,
    id: u64, // marks the trees that this agent keeps
    trees: Vec<Tree<G>>,
    spare: Vec<Tree<G>>, // empty trees that can be used again
}

impl<G: Game, E: Evaluator<G>> TreeAgent<G, E> {
    /// An agent with this evaluator.
    pub fn new(game: G, evaluator: E, settings: TreeSettings) -> TreeAgent<G, E> {
        TreeAgent {
            batch: Batch::new(&game),
            game,
            evaluator,
            settings,
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            trees: Vec::new(),
            spare: Vec::new(),
        }
    }

    /// For this limit: the length of the schedule, and the largest number of simulations.
    fn budget(&self, limit: &Limit<'_>) -> (u32, u32) {
        match limit.nodes {
            Some(nodes) => {
                let most = u32::try_from(nodes).unwrap_or(u32::MAX);
                // A search without end uses the schedule of the spec, and continues after it.
                let endless = limit.stop.is_some() && nodes == u64::MAX;
                (if endless { self.settings.simulations } else { most }, most)
            }
            None if limit.deadline.is_some() => (self.settings.simulations, u32::MAX),
            None => (self.settings.simulations, self.settings.simulations),
        }
    }

    /// Prepares a tree for every request: the one kept in its game if it is large enough, otherwise an empty one.
    fn prepare(&mut self, requests: &mut [Request<'_, G>]) {
        let budgets: Vec<_> = requests.iter().map(|one| self.budget(&one.limit)).collect();
        let most = budgets.iter().map(|budget| budget.1).max().unwrap_or(0);
        let affordable = TreeSize::for_bytes::<G>(self.settings.bytes, BRANCHING);
        let wanted = |searches: u32| {
            let wanted = TreeSize::for_simulations(&self.game, most.saturating_mul(searches));
            TreeSize { nodes: wanted.nodes.min(affordable.nodes), edges: wanted.edges.min(affordable.edges) }
        };
        let keeps = self.settings.keeps && requests.iter().any(|one| one.memory.is_some());
        let limit = wanted(if keeps { KEPT_SEARCHES } else { 1 });
        let one = wanted(1);
        let room = TreeSize { nodes: one.nodes.min(limit.nodes / 2), edges: one.edges.min(limit.edges / 2) };
        for (request, (simulations, most)) in requests.iter_mut().zip(budgets) {
            let fits = |tree: &Tree<G>| tree.limit().holds(limit);
            let kept = self.recall(request).filter(fits);
            let mut tree = kept.or_else(|| self.spare.pop().filter(fits)).unwrap_or_else(|| {
                let (game, rule) = (self.game.clone(), self.settings.rule);
                Tree::new(game, rule, limit, request.position)
            });
            tree.continue_at(request.position, room);
            tree.plan(SearchPlan::new(simulations).up_to(most).seed(request.stream.next_u64()));
            self.trees.push(tree);
        }
    }

    /// The tree that this agent kept in this game.
    fn recall(&self, request: &mut Request<'_, G>) -> Option<Tree<G>> {
        let kept: Kept<G> = request.memory.as_mut()?.take()?;
        (kept.owner == self.id).then_some(kept.tree)
    }

    /// Keeps the trees for the next decision in their games.
    fn put_away(&mut self, requests: &mut [Request<'_, G>]) {
        for (mut tree, request) in self.trees.drain(..).zip(requests) {
            match &mut request.memory {
                Some(memory) if self.settings.keeps => memory.keep(Kept { owner: self.id, tree }),
                _ => {
                    tree.restart(request.position); // another game may use it next
                    self.spare.push(tree);
                }
            }
        }
    }
}

/// A tree that is kept between two decisions in a game.
struct Kept<G: Game> {
    owner: u64,
    tree: Tree<G>,
}

impl<G: Game, E: Evaluator<G>> Agent<G> for TreeAgent<G, E> {
    fn evaluations(&self) -> Option<u64> {
        Some(self.batch.evaluated)
    }

    fn choose(&mut self, requests: &mut [Request<'_, G>]) -> Vec<Decision> {
        self.prepare(requests);
        let game = &self.game;
        let trees = &mut self.trees[..];
        let limits: Vec<Limit<'_>> = requests.iter().map(|request| request.limit).collect();
        let limited = limits.iter().any(|limit| limit.can_expire() || limit.progress.is_some());
        // If time can end the search, it must not end before a tree had its turn.
        let is_timed = limits.iter().any(|limit| limit.deadline.is_some() || limit.latest.is_some());
        let width = if is_timed { trees.len() } else { self.evaluator.batch().max(1) };
        let per_check = if self.evaluator.has_policy() { 1 } else { ROUNDS_PER_CHECK };
        let mut rounds = 0_u32;
        let mut next_report = FIRST_REPORT;
        self.batch.search_at_once(width, trees, &mut self.evaluator, |trees| {
            rounds = rounds.wrapping_add(1);
            // Every root is evaluated, even if the time is up at once.
            if !limited || rounds == 1 || !rounds.is_multiple_of(per_check) {
                return false;
            }
            if rounds >= next_report {
                next_report = next_report.saturating_mul(2);
                for (tree, limit) in trees.iter().zip(&limits) {
                    if let Some(progress) = limit.progress {
                        progress(&decision(game, tree));
                    }
                }
            }
            limits.iter().any(Limit::expired)
        });
        let decisions = trees.iter().map(|tree| decision(game, tree)).collect();
        self.put_away(requests);
        decisions
    }
}

/// The decision of a tree. If its root is not evaluated, it is the first legal action.
fn decision<G: Game>(game: &G, tree: &Tree<G>) -> Decision {
    let Some(action) = tree.best() else {
        return Decision::unsearched(game.legal(tree.position()).nth(0));
    };
    let mut policy = vec![0.0; game.actions()];
    tree.write_policy(&mut policy);
    let mut candidates: Vec<Candidate> = tree
        .root_actions()
        .iter()
        .filter(|root| root.visits > 0 || root.action == action)
        .map(|root| Candidate {
            action: root.action,
            visits: root.visits.into(),
            policy: policy[root.action.index()],
            value: root.value.or(tree.value()).expect("the root is evaluated"),
            proven: root.proven,
            line: tree.line(root.action),
        })
        .collect();
    candidates
        .sort_by_key(|candidate| (candidate.action != action, std::cmp::Reverse(candidate.visits), candidate.action));
    Decision {
        action,
        value: candidates[0].value,
        proven: tree.proven(),
        nodes: tree.simulations_done().into(),
        depth: candidates[0].line.len() as u32,
        candidates,
    }
}
