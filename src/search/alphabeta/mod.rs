//! Depth-first search with a heuristic: iterative deepening, principal variation search, a table of
//! positions, ordered actions, reductions of late ones, and quiescence.
//!
//! Nothing assumes that the mover alternates: a value is turned only where the mover changes, and a
//! player's second action in a row costs no depth.

mod order;
mod quiesce;
mod score;
mod table;

use std::ops::Range;

use super::{Heuristic, Judged};
use crate::game::{Action, Game, Mask, Player};
use order::{Experience, MOST_PLIES, Scored, Scoring, pick};
use quiesce::MOST_QUIESCENCE;
pub use score::{Found, Line};
use score::{INFINITE, LEAST_WIN, WIN, from_table, to_table};
use table::{Bound, Table};

/// Deeper than this no search goes, apart from extensions.
const MOST_DEPTH: i32 = MOST_PLIES as i32 / 2;

/// Where there is only one legal action at the root, its score is not looked into deeper than this.
const FORCED_DEPTH: i32 = 8;

/// A position without a remembered action is searched one ply less from this depth on.
const UNKNOWN_DEPTH: i32 = 5;

/// Evaluations this far above what is needed, per ply of depth left, are believed.
const FAR_ABOVE: i32 = 130;
const FAR_ABOVE_DEPTH: i32 = 3;

/// Quiet actions are not tried this far below what is needed, per ply of depth left.
const FAR_BELOW: i32 = 110;
const FAR_BELOW_DEPTH: i32 = 2;

/// Half the width of the window around the last depth's score.
const WINDOW: i32 = 30;

/// Nodes between two looks at whether to stop.
const NODES_PER_LOOK: u64 = 2048;

/// Depth-first search over one game.
pub struct AlphaBeta<G: Judged> {
    game: G,
    heuristic: G::Heuristic,
    table: Table,
    experience: Experience,
    scored: Vec<Scored>, // the actions of all positions on the way down
    lines: Vec<[Action; MOST_PLIES]>, // by ply: the best play from there
    lengths: [usize; MOST_PLIES + 1], // by ply: where its line ends
    nodes: u64,
    most_nodes: u64,
    bounded: bool, // the first depth is not
    stopped: bool,
}

impl<G: Judged> AlphaBeta<G> {
    /// A search with a table of at most `bytes`, no larger than is of use for `nodes`.
    pub fn new(game: G, bytes: usize, nodes: u64) -> AlphaBeta<G> {
        AlphaBeta {
            heuristic: game.heuristic(),
            table: Table::new(bytes, nodes),
            experience: Experience::new(game.actions()),
            scored: Vec::with_capacity(MOST_PLIES * 16),
            lines: vec![[Action(0); MOST_PLIES]; MOST_PLIES + 1],
            lengths: [0; MOST_PLIES + 1],
            nodes: 0,
            most_nodes: 0,
            bounded: false,
            stopped: false,
            game,
        }
    }

    /// Searches deeper and deeper, and reports each depth, until about `most_nodes` positions were
    /// looked at, `stop` says so, or the result is certain. What an earlier call found is forgotten.
    ///
    /// At least the first depth is always searched. `count` is the number of lines to find.
    ///
    /// # Panics
    /// Panics if the game is over.
    pub fn search(
        &mut self,
        position: &G::Position,
        most_nodes: u64,
        count: usize,
        stop: &mut dyn FnMut() -> bool,
        report: &mut dyn FnMut(&Found),
    ) -> Found {
        self.table.forget();
        self.experience.forget();
        self.scored.clear();
        (self.nodes, self.stopped) = (0, false);
        let legal = self.game.legal(position);
        assert!(!legal.is_empty(), "a position that is over has no action");
        let count = count.clamp(1, legal.count() as usize);
        let mut found = Found {
            lines: Vec::new(),
            depth: 0,
            nodes: 0,
        };
        for depth in 1..MOST_DEPTH {
            self.bounded = depth > 1;
            self.most_nodes = most_nodes;
            let mut lines: Vec<Line> = Vec::with_capacity(count);
            let mut left = legal;
            while lines.len() < count {
                let expected = found.lines.get(lines.len());
                let Some(line) = self.root_line(position, &left, depth, expected, stop) else {
                    break;
                };
                left.remove(line.actions[0]);
                lines.push(line);
                if self.stopped {
                    break;
                }
            }
            found.nodes = self.nodes;
            if self.stopped {
                // What an unfinished depth found first is better than what the last one thought of it.
                for line in lines.into_iter().rev() {
                    found
                        .lines
                        .retain(|known| known.actions[0] != line.actions[0]);
                    found.lines.insert(0, line);
                }
                found.lines.truncate(count);
                break;
            }
            lines.sort_by_key(|line| std::cmp::Reverse(line.score));
            found.lines = lines;
            found.depth = depth as u32;
            report(&found);
            let certain = found.lines.iter().all(|line| line.is_certain_at(depth));
            let forced = legal.count() == 1 && depth >= FORCED_DEPTH;
            if certain || forced || self.nodes >= most_nodes {
                break;
            }
        }
        found
    }

    /// The best line among these actions at this depth, or `None` if the search was stopped before it
    /// found one.
    fn root_line(
        &mut self,
        position: &G::Position,
        among: &G::Mask,
        depth: i32,
        expected: Option<&Line>,
        stop: &mut dyn FnMut() -> bool,
    ) -> Option<Line> {
        let first = expected.map(|line| line.actions[0]);
        let mut window = WINDOW;
        let (mut alpha, mut beta) = match expected {
            Some(line) if depth > 2 && line.proven.is_none() => {
                (line.score - window, line.score + window)
            }
            _ => (-INFINITE, INFINITE),
        };
        loop {
            let score = self.root(position, among, depth, (alpha, beta), first, stop);
            if self.stopped {
                // Only what raised alpha has a line.
                return (self.lengths[0] > 0).then(|| self.take_line(score));
            }
            window *= 4;
            if score <= alpha {
                alpha = (score - window).max(-INFINITE);
            } else if score >= beta {
                beta = (score + window).min(INFINITE);
            } else {
                return Some(self.take_line(score));
            }
            if window > 16 * WINDOW {
                (alpha, beta) = (-INFINITE, INFINITE);
            }
        }
    }

    fn take_line(&self, score: i32) -> Line {
        Line::new(self.lines[0][..self.lengths[0]].to_vec(), score)
    }

    fn root(
        &mut self,
        position: &G::Position,
        among: &G::Mask,
        depth: i32,
        (mut alpha, beta): (i32, i32),
        first: Option<Action>,
        stop: &mut dyn FnMut() -> bool,
    ) -> i32 {
        self.lengths[0] = 0;
        let mover = self.game.to_move(position);
        let forcing = self.heuristic.forcing(position, among);
        let start = self.score_actions(position, (mover, 0), first, among, &forcing);
        let mut best = -INFINITE;
        for next in start..self.scored.len() {
            let action = pick(&mut self.scored[next..]);
            let mut child = *position;
            self.game.play(&mut child, action);
            let step = Step::new(&self.game, &child, mover, 0);
            let mut score = best;
            if next > start {
                score = self.child(&child, step, depth - 1, (alpha, alpha + 1), stop);
            }
            if next == start || score > alpha {
                score = self.child(&child, step, depth - 1, (alpha, beta), stop);
            }
            if self.stopped {
                break;
            }
            best = best.max(score);
            if score > alpha {
                alpha = score;
                self.extend_line(0, action);
            }
            if score >= beta {
                break;
            }
        }
        self.scored.truncate(start);
        best
    }

    /// Searches what follows an action, and sees the result as the player who acted.
    #[inline]
    fn child(
        &mut self,
        position: &G::Position,
        step: Step,
        depth: i32,
        (alpha, beta): (i32, i32),
        stop: &mut dyn FnMut() -> bool,
    ) -> i32 {
        if step.turns {
            -self.node(position, depth, (-beta, -alpha), step.ply, stop)
        } else {
            self.node(position, depth + 1, (alpha, beta), step.ply, stop)
        }
    }

    fn node(
        &mut self,
        position: &G::Position,
        mut depth: i32,
        (mut alpha, mut beta): (i32, i32),
        ply: usize,
        stop: &mut dyn FnMut() -> bool,
    ) -> i32 {
        self.lengths[ply] = 0;
        let legal = self.game.legal(position);
        if legal.is_empty() {
            self.count_node(stop);
            return self.end_score(position, ply);
        }
        if depth <= 0 || ply >= MOST_PLIES - MOST_QUIESCENCE - 1 {
            return self.quiesce(position, &legal, (alpha, beta), ply, 0, stop);
        }
        self.count_node(stop);
        if self.stopped {
            return 0;
        }
        // No line from here is better than winning at once, or worse than losing at once.
        alpha = alpha.max(-(WIN - ply as i32));
        beta = beta.min(WIN - ply as i32 - 1);
        if alpha >= beta {
            return alpha;
        }
        let narrow = beta - alpha == 1;
        let key = self.heuristic.key(position);
        let mut remembered = None;
        if let Some(entry) = self.table.get(key) {
            let score = from_table(entry.score.into(), ply);
            if narrow
                && i32::from(entry.depth) >= depth
                && entry.bound.decides(score, (alpha, beta))
            {
                return score;
            }
            remembered = legal.contains(entry.action).then_some(entry.action);
        }
        let forced = legal.count() == 1;
        let standing = self.heuristic.evaluate(position);
        let calm = narrow && !forced && beta.abs() < LEAST_WIN && alpha.abs() < LEAST_WIN;
        if calm && depth <= FAR_ABOVE_DEPTH && standing - FAR_ABOVE * depth >= beta {
            return standing;
        }
        if remembered.is_none() && depth >= UNKNOWN_DEPTH {
            depth -= 1; // cheaper to find a good first action at a lower depth first
        }
        let hopeless = standing + FAR_BELOW * depth;
        let skip_quiet = calm && depth <= FAR_BELOW_DEPTH && hopeless <= alpha;

        let mover = self.game.to_move(position);
        let forcing = self.heuristic.forcing(position, &legal);
        let start = self.score_actions(position, (mover, ply), remembered, &legal, &forcing);
        let (mut best, mut best_action) = (-INFINITE, Action(0));
        let below = depth - i32::from(!forced); // an only action costs no depth
        let mut raised = false;
        for next in start..self.scored.len() {
            let tried = (next - start) as i32;
            let action = pick(&mut self.scored[next..]);
            let quiet = !forcing.contains(action);
            if skip_quiet && quiet && tried > 0 && best > -LEAST_WIN {
                best = best.max(hopeless);
                continue;
            }
            let mut child = *position;
            self.game.play(&mut child, action);
            let step = Step::new(&self.game, &child, mover, ply);
            let mut score = alpha + 1;
            if tried > 0 {
                let reduction = if quiet { reduction(depth, tried) } else { 0 };
                if reduction > 0 {
                    score = self.child(&child, step, below - reduction, (alpha, alpha + 1), stop);
                }
                if score > alpha {
                    score = self.child(&child, step, below, (alpha, alpha + 1), stop);
                }
            }
            if tried == 0 || (score > alpha && !narrow) {
                score = self.child(&child, step, below, (alpha, beta), stop);
            }
            if self.stopped {
                self.scored.truncate(start);
                return 0;
            }
            if score > best {
                (best, best_action) = (score, action);
                if score > alpha {
                    (alpha, raised) = (score, true);
                    self.extend_line(ply, action);
                }
            }
            if alpha >= beta {
                if quiet {
                    self.experience.refuted(ply, mover, action, depth);
                    self.blame(start..next, &forcing, mover, depth);
                }
                break;
            }
        }
        self.scored.truncate(start);
        let bound = match (best >= beta, raised) {
            (true, _) => Bound::Lower,
            (false, true) => Bound::Exact,
            (false, false) => Bound::Upper,
        };
        let stored = to_table(best, ply) as i16;
        self.table.put(key, depth as u8, bound, stored, best_action);
        best
    }

    /// Remembers that these quiet actions were tried in vain.
    fn blame(&mut self, tried: Range<usize>, forcing: &G::Mask, mover: Player, depth: i32) {
        for other in &self.scored[tried] {
            if !forcing.contains(other.action()) {
                self.experience.failed(mover, other.action(), depth);
            }
        }
    }

    /// Adds the scored actions of a position to the shared row, and says where they start.
    #[inline]
    fn score_actions(
        &mut self,
        position: &G::Position,
        (mover, ply): (Player, usize),
        remembered: Option<Action>,
        among: &G::Mask,
        forcing: &G::Mask,
    ) -> usize {
        let start = self.scored.len();
        let scoring = Scoring::<G> {
            position,
            mover,
            ply,
            remembered,
            forcing,
        };
        scoring.push(&self.heuristic, &self.experience, among, &mut self.scored);
        start
    }

    #[inline]
    fn count_node(&mut self, stop: &mut dyn FnMut() -> bool) {
        self.nodes += 1;
        if self.bounded {
            let look = self.nodes.is_multiple_of(NODES_PER_LOOK);
            self.stopped |= self.nodes >= self.most_nodes || (look && stop());
        }
    }

    /// The score of a finished game for the player to move.
    #[inline]
    fn end_score(&self, position: &G::Position, ply: usize) -> i32 {
        let outcome = self.game.outcome(position);
        let outcome = outcome.expect("no legal action means the game is over");
        let verdict = outcome.verdict(self.game.to_move(position));
        i32::from(verdict.sign()) * (WIN - ply as i32)
    }

    /// The line at `ply` becomes this action and the line behind it.
    #[inline]
    fn extend_line(&mut self, ply: usize, action: Action) {
        let behind = self.lengths[ply + 1].min(MOST_PLIES - 1);
        let (upper, lower) = self.lines.split_at_mut(ply + 1);
        upper[ply][0] = action;
        upper[ply][1..=behind].copy_from_slice(&lower[0][..behind]);
        self.lengths[ply] = behind + 1;
    }
}

/// A step down the tree.
#[derive(Clone, Copy)]
struct Step {
    turns: bool, // the other player is to move after it
    ply: usize,  // after it
}

impl Step {
    #[inline]
    fn new<G: Game>(game: &G, child: &G::Position, mover: Player, ply: usize) -> Step {
        Step {
            turns: game.to_move(child) != mover,
            ply: ply + 1,
        }
    }
}

/// How much less deep a quiet action is looked at that comes after `tried` others.
#[inline]
fn reduction(depth: i32, tried: i32) -> i32 {
    if depth < 3 || tried < 3 {
        return 0;
    }
    1 + i32::from(tried >= 8) + i32::from(depth >= 7)
}
