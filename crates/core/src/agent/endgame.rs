//! The agent that plays by exact tables.

use std::sync::Arc;

use rand::Rng;

use super::{Agent, Candidate, Decision, Request, complete};
use crate::eval::Value;
use crate::game::{Action, Game, Mask, Proven, Verdict};
use crate::known::Endgames;
use crate::random::{Stream, below};

/// Plays positions inside exact tables perfectly: quick wins, slow losses, and equally good actions at
/// random. Without distances it wins by [`Endgames::way_forward`]. Another agent plays all other positions.
pub struct EndgameAgent<G: Game> {
    game: G,
    name: String,
    tables: Arc<dyn Endgames<G>>,
    outside: Box<dyn Agent<G>>,
}

impl<G: Game> EndgameAgent<G> {
    /// An agent with this name that leaves positions outside the tables to `outside`.
    pub fn new(
        game: G,
        name: String,
        tables: Arc<dyn Endgames<G>>,
        outside: Box<dyn Agent<G>>,
    ) -> EndgameAgent<G> {
        EndgameAgent {
            game,
            name,
            tables,
            outside,
        }
    }

    /// The decision in a position inside the tables.
    fn choose_known(&self, position: &G::Position, stream: &mut Stream) -> Option<Decision> {
        self.tables.known(&self.game, position)?;
        let mut candidates: Vec<Candidate> = self
            .game
            .legal(position)
            .iter()
            .map(|action| self.candidate(position, action))
            .collect();
        let rank = |candidate: &Candidate| candidate.proven.map(Proven::preference);
        candidates.sort_by_key(|candidate| std::cmp::Reverse(rank(candidate)));
        let best = rank(&candidates[0]);
        let ties = candidates
            .iter()
            .take_while(|one| rank(one) == best)
            .count();
        let won = candidates[0]
            .proven
            .filter(|proven| proven.verdict == Verdict::Win);
        let chosen = if won.is_some_and(|proven| proven.plies.is_none()) {
            let winning: Vec<Action> = candidates[..ties].iter().map(|one| one.action).collect();
            let action = self
                .tables
                .way_forward(&self.game, position, &winning, stream);
            let found = winning.iter().position(|&one| one == action);
            found.expect("the way forward keeps the win")
        } else {
            below(stream.next_u64(), ties as u32) as usize
        };
        candidates.swap(0, chosen);
        candidates[0].policy = 1.0;
        Some(Decision {
            action: candidates[0].action,
            value: candidates[0].value,
            proven: candidates[0].proven,
            nodes: candidates.len() as u64,
            depth: 1,
            candidates,
        })
    }

    fn candidate(&self, position: &G::Position, action: Action) -> Candidate {
        let proven = self.tables.after(&self.game, position, action);
        Candidate {
            action,
            visits: 1,
            policy: 0.0,
            value: Value::proven(proven),
            proven: Some(proven),
            line: vec![action],
        }
    }
}

impl<G: Game> Agent<G> for EndgameAgent<G> {
    fn name(&self) -> &str {
        &self.name
    }

    fn evaluations(&self) -> Option<u64> {
        self.outside.evaluations()
    }

    fn choose(&mut self, requests: &mut [Request<'_, G>]) -> Vec<Decision> {
        let decisions = requests
            .iter_mut()
            .map(|request| self.choose_known(&request.position, request.stream))
            .collect();
        complete(decisions, requests, &mut *self.outside)
    }
}
