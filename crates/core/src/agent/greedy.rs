//! The agent that looks one ply ahead.

use std::cmp::Ordering;

use rand::Rng;

use super::{Agent, Candidate, Decision, Request};
use crate::eval::Value;
use crate::game::{Action, Mask, Proven, Verdict};
use crate::random::{Stream, below};
use crate::search::{HasHeuristic, Heuristic};

/// Plays the action that leads to the best result or heuristic evaluation. Ties are broken at random.
pub struct GreedyAgent<G: HasHeuristic> {
    game: G,
    heuristic: G::Heuristic,
}

impl<G: HasHeuristic> GreedyAgent<G> {
    /// An agent for this game; `None` if the game has no heuristic.
    pub fn new(game: G) -> Option<GreedyAgent<G>> {
        let heuristic = game.heuristic()?;
        Some(GreedyAgent { game, heuristic })
    }

    fn choose_one(&self, position: &G::Position, stream: &mut Stream) -> Decision {
        let legal = self.game.legal(position);
        let mut candidates: Vec<Candidate> = legal.iter().map(|action| self.candidate(position, action)).collect();
        candidates.sort_by(|a, b| compare(b, a));
        let ties = candidates.iter().take_while(|one| compare(one, &candidates[0]).is_eq()).count();
        let chosen = below(stream.next_u64(), ties as u32) as usize;
        let decision = Decision::of_one_ply(candidates, chosen);
        Decision { proven: decision.proven.filter(|proven| proven.verdict == Verdict::Win), ..decision }
    }

    fn candidate(&self, position: &G::Position, action: Action) -> Candidate {
        let mover = self.game.to_move(position);
        let next = self.game.after(position, action);
        let (value, proven): (Value, Option<Proven>) = match self.game.outcome(&next) {
            Some(outcome) => {
                let verdict = outcome.verdict(mover);
                let score = outcome.score_difference(mover);
                (Value::certain(verdict, score.into()), Some(Proven::over(verdict).before()))
            }
            None => {
                let value = G::Heuristic::value(self.heuristic.evaluate(&next));
                let same = self.game.to_move(&next) == mover;
                (if same { value } else { value.flip() }, None)
            }
        };
        Candidate { action, visits: 1, policy: 0.0, value, proven, line: vec![action] }
    }
}

/// Wins come first and losses last. Otherwise the expected result decides, with a small weight for points.
fn compare(one: &Candidate, other: &Candidate) -> Ordering {
    const POINT: f32 = 1e-3;
    let sign = |candidate: &Candidate| candidate.proven.map_or(0, |proven| proven.verdict.sign());
    let value = |candidate: &Candidate| candidate.value.expectation() + POINT * candidate.value.score;
    sign(one).cmp(&sign(other)).then(value(one).total_cmp(&value(other)))
}

impl<G: HasHeuristic> Agent<G> for GreedyAgent<G> {
    fn choose(&mut self, requests: &mut [Request<'_, G>]) -> Vec<Decision> {
        requests.iter_mut().map(|request| self.choose_one(&request.position, request.stream)).collect()
    }
}
