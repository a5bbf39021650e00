//! Quiescence search: below the last full ply, only forcing actions are searched.

use super::AlphaBeta;
use super::order::pick;
use super::score::INFINITE;
use crate::game::Mask;
use crate::search::{HasHeuristic, Heuristic};

/// The largest depth of quiescence search, in plies.
pub(super) const MAX_QUIESCENCE: usize = 16;

/// Delta pruning skips an action if the evaluation plus its gain plus this margin, in hundredths of a point, does not
/// reach alpha.
const DELTA_MARGIN: i32 = 120;

impl<G: HasHeuristic> AlphaBeta<G> {
    /// Searches forcing actions until a position is quiet enough for its evaluation.
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
        let static_score = self.heuristic.evaluate(position);
        let forcing = self.heuristic.forcing(position, legal);
        if depth >= MAX_QUIESCENCE || forcing.is_empty() {
            return static_score;
        }
        // The player may also decline all forcing actions and keep the evaluation (stand pat), but only if there is
        // another action.
        let all_forcing = forcing == *legal;
        let mut best = if all_forcing { -INFINITE } else { static_score };
        if best >= beta {
            return best;
        }
        alpha = alpha.max(best);
        let mover = self.game.to_move(position);
        let start = self.score_actions(position, (mover, ply), None, &forcing, &forcing);
        for next in start..self.scored.len() {
            let action = pick(&mut self.scored[next..]);
            if !all_forcing {
                let optimistic = static_score + self.heuristic.gain(position, action) + DELTA_MARGIN;
                if optimistic <= alpha {
                    best = best.max(optimistic);
                    continue;
                }
            }
            let mut child = *position;
            self.game.play(&mut child, action);
            let turns = self.game.to_move(&child) != mover;
            let legal = self.game.legal(&child);
            let score = if legal.is_empty() {
                self.count_node(stop);
                let score = self.end_score(&child, ply + 1);
                if turns { -score } else { score }
            } else if turns {
                -self.quiesce(&child, &legal, (-beta, -alpha), ply + 1, depth + 1, stop)
            } else {
                self.quiesce(&child, &legal, (alpha, beta), ply + 1, depth + 1, stop)
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
