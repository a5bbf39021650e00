//! The agent that plays a network's policy without search.

use rand::Rng;

use super::{Agent, Candidate, Decision, Request};
use crate::eval::{EvalBatch, Evaluation, Evaluator, favourite};
use crate::game::{Action, Game, Mask};
use crate::net::softmax;

/// Plays the legal action with the largest logit, without search. Only the evaluator may use random numbers.
pub struct PolicyAgent<G: Game, E> {
    game: G,
    evaluator: E,
    evaluated: u64,
}

impl<G: Game, E: Evaluator<G>> PolicyAgent<G, E> {
    /// An agent with this evaluator.
    ///
    /// # Panics
    /// Panics if the evaluator has no policy.
    pub fn new(game: G, evaluator: E) -> PolicyAgent<G, E> {
        assert!(evaluator.has_policy(), "the evaluator must have a policy");
        PolicyAgent { game, evaluator, evaluated: 0 }
    }

    fn decision(&self, position: &G::Position, logits: &[f32], evaluation: &Evaluation) -> Decision {
        let legal = self.game.legal(position);
        let action = favourite(&legal, logits);
        let mut shares: Vec<f32> = legal.iter().map(|one| logits[one.index()]).collect();
        softmax(&mut shares);
        let candidate = |(action, &policy): (Action, &f32)| Candidate {
            action,
            visits: 0,
            policy,
            value: evaluation.value,
            proven: None,
            line: vec![action],
        };
        let mut candidates: Vec<Candidate> = legal.iter().zip(&shares).map(candidate).collect();
        // Two probabilities can round to the same number, so the chosen action is put first explicitly.
        candidates.sort_by(|one, other| {
            (other.action == action).cmp(&(one.action == action)).then(other.policy.total_cmp(&one.policy))
        });
        Decision { action, value: evaluation.value, proven: evaluation.proven, nodes: 0, depth: 0, candidates }
    }
}

impl<G: Game, E: Evaluator<G>> Agent<G> for PolicyAgent<G, E> {
    fn evaluations(&self) -> Option<u64> {
        Some(self.evaluated)
    }

    fn choose(&mut self, requests: &mut [Request<'_, G>]) -> Vec<Decision> {
        let mut batch = EvalBatch::new(self.game.actions());
        let mut decisions = Vec::with_capacity(requests.len());
        for requests in requests.chunks_mut(self.evaluator.batch().max(1)) {
            batch.clear();
            for request in requests {
                batch.push(request.position, request.stream.next_u64());
            }
            self.evaluator.evaluate(&mut batch);
            self.evaluated += batch.len() as u64;
            for (row, position) in batch.positions().iter().enumerate() {
                decisions.push(self.decision(position, batch.logits(row), batch.evaluation(row)));
            }
        }
        decisions
    }
}
