//! Below the last full ply: forcing actions alone.

use super::order::pick;
use super::score::INFINITE;
use super::{AlphaBeta, Step};
use crate::game::Mask;
use crate::search::{Heuristic, Judged};

/// Forcing actions in a row that are followed below the last full ply.
pub(super) const MOST_QUIESCENCE: usize = 16;

/// What a forcing action may bring on top of its gain, in hundredths of a point.
const GAIN_MARGIN: i32 = 120;

impl<G: Judged> AlphaBeta<G> {
    /// Follows forcing actions until the position can be judged.
    pub(super) fn quiesce(
        &mut self,
        position: &G::Position,
        legal: &G::Mask,
        (mut alpha, beta): (i32, i32),
        ply: usize,
        depth: usize,
        stop: &mut dyn FnMut() -> bool,
    ) -> i32 {
        self.count_node(stop);
        if self.stopped {
            return 0;
        }
        let standing = self.heuristic.evaluate(position);
        let forcing = self.heuristic.forcing(position, legal);
        if depth >= MOST_QUIESCENCE || forcing.is_empty() {
            return standing;
        }
        // Where every action is forcing, there is no standing by.
        let compelled = forcing == *legal;
        let mut best = if compelled { -INFINITE } else { standing };
        if best >= beta {
            return best;
        }
        alpha = alpha.max(best);
        let mover = self.game.to_move(position);
        let start = self.score_actions(position, (mover, ply), None, &forcing, &forcing);
        for next in start..self.scored.len() {
            let action = pick(&mut self.scored[next..]);
            if !compelled {
                let hoped = standing + self.heuristic.gain(position, action) + GAIN_MARGIN;
                if hoped <= alpha {
                    best = best.max(hoped);
                    continue;
                }
            }
            let mut child = *position;
            self.game.play(&mut child, action);
            let step = Step::new(&self.game, &child, mover, ply);
            let legal = self.game.legal(&child);
            let score = if legal.is_empty() {
                self.count_node(stop);
                let score = self.end_score(&child, step.ply);
                if step.turns { -score } else { score }
            } else if step.turns {
                -self.quiesce(&child, &legal, (-beta, -alpha), step.ply, depth + 1, stop)
            } else {
                self.quiesce(&child, &legal, (alpha, beta), step.ply, depth + 1, stop)
            };
            if self.stopped {
                break;
            }
            best = best.max(score);
            alpha = alpha.max(score);
            if alpha >= beta {
                break;
            }
        }
        self.scored.truncate(start);
        best
    }
}
