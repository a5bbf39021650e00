//! The alpha-beta agent.

use super::spec::bytes_of;
use super::{Agent, AlphaBetaSpec, Candidate, Decision, Limit, Request};
use crate::search::alphabeta::{RootLine, SearchResult};
use crate::search::{AlphaBeta, HasHeuristic};

/// Nodes per decision unless the spec sets a number.
const DEFAULT_NODES: u64 = 100_000;

/// The size of the transposition table in MB unless the spec sets one.
const DEFAULT_MEGABYTES: u32 = 64;

/// Chooses by alpha-beta search with the game's heuristic. It is deterministic and keeps nothing between decisions:
/// the same position and the same limit of nodes give the same decision.
pub struct AlphaBetaAgent<G: HasHeuristic> {
    game: G,
    heuristic: G::Heuristic,
    nodes: u64,
    lines: usize,
    bytes: usize,
    search: Option<(u64, AlphaBeta<G>)>, // the number of nodes that the table was sized for, and the search
}

impl<G: HasHeuristic> AlphaBetaAgent<G> {
    /// An agent with these settings; `None` if the game has no heuristic.
    pub fn new(game: G, spec: &AlphaBetaSpec) -> Option<AlphaBetaAgent<G>> {
        Some(AlphaBetaAgent {
            heuristic: game.heuristic()?,
            game,
            nodes: spec.nodes.unwrap_or(DEFAULT_NODES),
            lines: spec.lines.unwrap_or(1) as usize,
            bytes: bytes_of(spec.mb.unwrap_or(DEFAULT_MEGABYTES)),
            search: None,
        })
    }

    /// The largest number of nodes that this limit allows.
    fn budget(&self, limit: &Limit<'_>) -> u64 {
        match limit.nodes {
            Some(nodes) => nodes,
            None if limit.deadline.is_some() => u64::MAX,
            None => self.nodes,
        }
    }

    fn choose_one(&mut self, request: &mut Request<'_, G>) -> Decision {
        let nodes = self.budget(&request.limit);
        let limit = request.limit;
        if self.search.as_ref().is_none_or(|(sized_for, _)| *sized_for != nodes) {
            let search = AlphaBeta::new(self.game.clone(), self.heuristic.clone(), self.bytes, nodes);
            self.search = Some((nodes, search));
        }
        let (_, search) = self.search.as_mut().expect("just made");
        let found = search.search(&request.position, nodes, self.lines, &mut || limit.expired(), &mut |found| {
            if let Some(progress) = limit.progress {
                progress(&decision::<G>(found));
            }
        });
        decision::<G>(&found)
    }
}

impl<G: HasHeuristic> Agent<G> for AlphaBetaAgent<G> {
    fn choose(&mut self, requests: &mut [Request<'_, G>]) -> Vec<Decision> {
        requests.iter_mut().map(|request| self.choose_one(request)).collect()
    }
}

fn decision<G: HasHeuristic>(found: &SearchResult) -> Decision {
    let candidate = |line: &RootLine| Candidate {
        action: line.actions[0],
        visits: 0, // the search does not count nodes per action, so the best one gets all of them
        policy: 0.0,
        value: line.value::<G>(),
        proven: line.proven,
        line: line.actions.clone(),
    };
    let mut candidates: Vec<Candidate> = found.lines.iter().map(candidate).collect();
    let best = &mut candidates[0];
    best.policy = 1.0;
    best.visits = found.nodes;
    Decision {
        action: best.action,
        value: best.value,
        proven: best.proven,
        nodes: found.nodes,
        depth: found.depth,
        candidates,
    }
}
