//! Alpha-beta search with a heuristic: iterative deepening with aspiration windows, principal variation search, a
//! transposition table, killer and history heuristics, futility pruning, late move reductions, and quiescence search.
//!
//! Players need not alternate. A score is negated only where the player to move changes, and a second action in a row
//! by the same player costs no depth.

mod order;
mod quiesce;
mod score;
mod table;

use std::ops::Range;

use super::{HasHeuristic, Heuristic};
use crate::game::{Action, Game, Mask, Player};
use order::{FORCING, MAX_PLIES, OrderStats, Scored, TABLE_ACTION, pick};
use quiesce::MAX_QUIESCENCE;
use score::{INFINITE, MIN_WIN, WIN, sooner};
pub use score::{RootLine, SearchResult};
use table::{Bound, TranspositionTable};

/// The largest depth of iterative deepening.
const MAX_DEPTH: i32 = MAX_PLIES as i32 / 2;

/// The largest depth if the root has only one legal action: its score hardly matters.
const MAX_FORCED_DEPTH: i32 = 8;

/// From this depth on, a position that the table has no action for is searched one ply less deep.
const REDUCTION_DEPTH: i32 = 5;

/// Reverse futility pruning: a position is not searched if its evaluation exceeds beta by this much per remaining
/// ply.
const REVERSE_FUTILITY_MARGIN: i32 = 130;
const REVERSE_FUTILITY_DEPTH: i32 = 3;

/// Futility pruning: quiet actions are skipped if the evaluation is below alpha by this much per remaining ply.
const FUTILITY_MARGIN: i32 = 110;
const FUTILITY_DEPTH: i32 = 2;

/// Half the width of the first aspiration window.
const ASPIRATION: i32 = 30;

/// The number of nodes between two calls of `stop`.
const NODES_PER_CHECK: u64 = 2048;

/// Alpha-beta search of one game.
pub struct AlphaBeta<G: HasHeuristic> {
    game: G,
    heuristic: G::Heuristic,
    table: TranspositionTable,
    stats: OrderStats,
    scored: Vec<Scored>,             // a stack with the actions of all positions on the current path
    lines: Vec<[Action; MAX_PLIES]>, // [ply]: the principal variation from there on
    lengths: [usize; MAX_PLIES + 1], // [ply]: its number of actions
    nodes: u64,
    max_nodes: u64,
    bounded: bool, // whether limits apply; not at depth 1, which is always completed
    stopped: bool,
}

impl<G: HasHeuristic> AlphaBeta<G> {
    /// A search with a transposition table of at most `bytes`, or less if `nodes` positions need less.
    pub fn new(game: G, heuristic: G::Heuristic, bytes: usize, nodes: u64) -> AlphaBeta<G> {
        AlphaBeta {
            heuristic,
            table: TranspositionTable::new(bytes, nodes),
            stats: OrderStats::new(game.actions()),
            scored: Vec::with_capacity(MAX_PLIES * 16),
            lines: vec![[Action(0); MAX_PLIES]; MAX_PLIES + 1],
            lengths: [0; MAX_PLIES + 1],
            nodes: 0,
            max_nodes: 0,
            bounded: false,
            stopped: false,
            game,
        }
    }

    /// Searches depth after depth and calls `report` after each one, until about `max_nodes` positions are searched,
    /// `stop` returns true, or the result is proven. Nothing is kept from earlier calls.
    ///
    /// Depth 1 is always completed. `count` is the number of lines to find.
    ///
    /// # Panics
    /// Panics if the game is over.
    pub fn search(
        &mut self,
        position: &G::Position,
        max_nodes: u64,
        count: usize,
        stop: &mut dyn FnMut() -> bool,
        report: &mut dyn FnMut(&SearchResult),
    ) -> SearchResult {
        self.table.forget();
        self.stats = OrderStats::new(self.game.actions());
        self.scored.clear();
        (self.nodes, self.stopped) = (0, false);
        let legal = self.game.legal(position);
        assert!(!legal.is_empty(), "the game must not be over");
        let count = count.clamp(1, legal.count() as usize);
        let mut found = SearchResult { lines: Vec::new(), depth: 0, nodes: 0 };
        for depth in 1..MAX_DEPTH {
            self.bounded = depth > 1;
            self.max_nodes = max_nodes;
            let mut lines: Vec<RootLine> = Vec::with_capacity(count);
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
                // Lines that the unfinished depth has found replace those of the depth before.
                for line in lines.into_iter().rev() {
                    found.lines.retain(|known| known.actions[0] != line.actions[0]);
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
            let forced = legal.count() == 1 && depth >= MAX_FORCED_DEPTH;
            if certain || forced || self.nodes >= max_nodes {
                break;
            }
        }
        found
    }

    /// The best line that starts with one of these actions, at this depth; `None` if the search stopped before there
    /// was one.
    fn root_line(
        &mut self,
        position: &G::Position,
        among: &G::Mask,
        depth: i32,
        expected: Option<&RootLine>,
        stop: &mut dyn FnMut() -> bool,
    ) -> Option<RootLine> {
        let first = expected.map(|line| line.actions[0]);
        let mut window = ASPIRATION;
        let (mut alpha, mut beta) = match expected {
            Some(line) if depth > 2 && line.proven.is_none() => (line.score - window, line.score + window),
            _ => (-INFINITE, INFINITE),
        };
        loop {
            let score = self.root(position, among, depth, (alpha, beta), first, stop);
            if self.stopped {
                // Only an action that raised alpha leaves a line.
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
            if window > 16 * ASPIRATION {
                (alpha, beta) = (-INFINITE, INFINITE);
            }
        }
    }

    fn take_line(&self, score: i32) -> RootLine {
        RootLine::new(self.lines[0][..self.lengths[0]].to_vec(), score)
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
            let mut score = best;
            if next > start {
                score = self.child(&child, (mover, 0), depth - 1, (alpha, alpha + 1), stop);
            }
            if next == start || score > alpha {
                score = self.child(&child, (mover, 0), depth - 1, (alpha, beta), stop);
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

    /// Searches the position after an action that `mover` played at `ply`. The score is for `mover`.
    #[inline]
    fn child(
        &mut self,
        position: &G::Position,
        (mover, ply): (Player, usize),
        depth: i32,
        (alpha, beta): (i32, i32),
        stop: &mut dyn FnMut() -> bool,
    ) -> i32 {
        if self.game.to_move(position) != mover {
            -self.node(position, depth, (-beta, -alpha), ply + 1, stop)
        } else {
            self.node(position, depth + 1, (alpha, beta), ply + 1, stop)
        }
    }

    fn node(
        &mut self,
        position: &G::Position,
        depth: i32,
        (alpha, beta): (i32, i32),
        ply: usize,
        stop: &mut dyn FnMut() -> bool,
    ) -> i32 {
        self.lengths[ply] = 0;
        let legal = self.game.legal(position);
        if legal.is_empty() {
            self.count_node(stop);
            return self.end_score(position, ply);
        }
        if depth <= 0 || ply >= MAX_PLIES - MAX_QUIESCENCE - 1 {
            return self.quiesce(position, &legal, (alpha, beta), ply, 0, stop);
        }
        self.count_node(stop);
        if self.stopped {
            return 0;
        }
        // Mate distance pruning: from here, no score can be better than a win at the next ply or worse than a loss
        // now.
        let alpha = alpha.max(-(WIN - ply as i32));
        let beta = beta.min(WIN - ply as i32 - 1);
        if alpha >= beta {
            return alpha;
        }
        let key = self.heuristic.key(position);
        let (known, table_action) = self.look_up(key, &legal, depth, (alpha, beta), ply);
        if let Some(score) = known {
            return score;
        }
        let (narrow, forced) = (beta - alpha == 1, legal.count() == 1);
        let static_score = self.heuristic.evaluate(position);
        let calm = narrow && !forced && beta.abs() < MIN_WIN && alpha.abs() < MIN_WIN;
        if calm && depth <= REVERSE_FUTILITY_DEPTH && static_score - REVERSE_FUTILITY_MARGIN * depth >= beta {
            return static_score;
        }
        // Internal iterative reduction: a shallower search is a cheap way to put a good first action into the table.
        let shallower = table_action.is_none() && depth >= REDUCTION_DEPTH;
        let depth = depth - i32::from(shallower);
        let futile = static_score + FUTILITY_MARGIN * depth;
        let skips_quiet = calm && depth <= FUTILITY_DEPTH && futile <= alpha;
        let node = Node {
            position,
            mover: self.game.to_move(position),
            ply,
            depth,
            narrow,
            below: depth - i32::from(!forced), // a forced action costs no depth
            futile: skips_quiet.then_some(futile),
        };
        let Some(found) = self.best_action(&node, &legal, table_action, (alpha, beta), stop) else {
            return 0;
        };
        let bound = match (found.score >= beta, found.raised) {
            (true, _) => Bound::Lower,
            (false, true) => Bound::Exact,
            (false, false) => Bound::Upper,
        };
        let stored = sooner(found.score, ply as i32) as i16;
        self.table.put(key, depth as u8, bound, stored, found.action);
        found.score
    }

    /// The table's score for this position, if it makes a search unnecessary, and the table's action.
    #[inline]
    fn look_up(
        &self,
        key: u64,
        legal: &G::Mask,
        depth: i32,
        (alpha, beta): (i32, i32),
        ply: usize,
    ) -> (Option<i32>, Option<Action>) {
        let Some(entry) = self.table.get(key) else { return (None, None) };
        let score = sooner(entry.score.into(), -(ply as i32));
        let decides = beta - alpha == 1 && i32::from(entry.depth) >= depth && entry.bound.decides(score, (alpha, beta));
        let action = legal.contains(entry.action).then_some(entry.action);
        (decides.then_some(score), action)
    }

    /// Searches the actions of a position, most promising first, until one reaches beta. `None` if the search
    /// stopped.
    #[inline]
    fn best_action(
        &mut self,
        node: &Node<'_, G>,
        legal: &G::Mask,
        table_action: Option<Action>,
        (mut alpha, beta): (i32, i32),
        stop: &mut dyn FnMut() -> bool,
    ) -> Option<Found> {
        let Node { position, mover, ply, depth, .. } = *node;
        let forcing = self.heuristic.forcing(position, legal);
        let start = self.score_actions(position, (mover, ply), table_action, legal, &forcing);
        let mut found = Found { score: -INFINITE, action: Action(0), raised: false };
        for next in start..self.scored.len() {
            let tried = (next - start) as i32;
            let action = pick(&mut self.scored[next..]);
            let quiet = !forcing.contains(action);
            if let Some(futile) = node.futile
                && quiet
                && tried > 0
                && found.score > -MIN_WIN
            {
                found.score = found.score.max(futile);
                continue;
            }
            let mut child = *position;
            self.game.play(&mut child, action);
            let reduction = if quiet { reduction(depth, tried) } else { 0 };
            let score = self.try_child(node, &child, (tried, reduction), (alpha, beta), stop);
            if self.stopped {
                self.scored.truncate(start);
                return None;
            }
            if score > found.score {
                (found.score, found.action) = (score, action);
                if score > alpha {
                    (alpha, found.raised) = (score, true);
                    self.extend_line(ply, action);
                }
            }
            if alpha >= beta {
                if quiet {
                    self.stats.cutoff(ply, mover, action, depth);
                    self.penalize(start..next, &forcing, mover, depth);
                }
                break;
            }
        }
        self.scored.truncate(start);
        Some(found)
    }

    /// The score of the position after an action, when `tried` other actions were searched before. The first action
    /// is searched with the full window. The others are searched with a null window, first at reduced depth, and
    /// again at full depth and with the full window if they beat alpha.
    #[inline]
    fn try_child(
        &mut self,
        node: &Node<'_, G>,
        child: &G::Position,
        (tried, reduction): (i32, i32),
        (alpha, beta): (i32, i32),
        stop: &mut dyn FnMut() -> bool,
    ) -> i32 {
        let step = (node.mover, node.ply);
        let null = (alpha, alpha + 1);
        let mut score = alpha + 1;
        if tried > 0 {
            if reduction > 0 {
                score = self.child(child, step, node.below - reduction, null, stop);
            }
            if score > alpha {
                score = self.child(child, step, node.below, null, stop);
            }
        }
        if tried == 0 || (score > alpha && !node.narrow) {
            score = self.child(child, step, node.below, (alpha, beta), stop);
        }
        score
    }

    /// Lowers the history scores of quiet actions that were tried before the one that caused a cutoff.
    fn penalize(&mut self, tried: Range<usize>, forcing: &G::Mask, mover: Player, depth: i32) {
        for other in &self.scored[tried] {
            if !forcing.contains(other.action()) {
                self.stats.failed(mover, other.action(), depth);
            }
        }
    }

    /// Pushes the scored actions of a position onto the stack and returns the index of the first.
    #[inline]
    fn score_actions(
        &mut self,
        position: &G::Position,
        (mover, ply): (Player, usize),
        table_action: Option<Action>,
        among: &G::Mask,
        forcing: &G::Mask,
    ) -> usize {
        let start = self.scored.len();
        for action in among.iter() {
            let score = if Some(action) == table_action {
                TABLE_ACTION
            } else if forcing.contains(action) {
                FORCING + self.heuristic.gain(position, action)
            } else {
                self.stats.score(ply, mover, action)
            };
            self.scored.push(Scored::new(score, action));
        }
        start
    }

    #[inline]
    fn count_node(&mut self, stop: &mut dyn FnMut() -> bool) {
        self.nodes += 1;
        if self.bounded {
            let check = self.nodes.is_multiple_of(NODES_PER_CHECK);
            self.stopped |= self.nodes >= self.max_nodes || (check && stop());
        }
    }

    /// The score of a finished game for the player to move.
    #[inline]
    fn end_score(&self, position: &G::Position, ply: usize) -> i32 {
        let outcome = self.game.outcome(position).expect("no legal action means the game is over");
        let verdict = outcome.verdict(self.game.to_move(position));
        i32::from(verdict.sign()) * (WIN - ply as i32)
    }

    /// The line at `ply` becomes this action followed by the line at the next ply.
    #[inline]
    fn extend_line(&mut self, ply: usize, action: Action) {
        let behind = self.lengths[ply + 1].min(MAX_PLIES - 1);
        let (upper, lower) = self.lines.split_at_mut(ply + 1);
        upper[ply][0] = action;
        upper[ply][1..=behind].copy_from_slice(&lower[0][..behind]);
        self.lengths[ply] = behind + 1;
    }
}

/// A position that is being searched, and how.
struct Node<'a, G: Game> {
    position: &'a G::Position,
    mover: Player,
    ply: usize,
    depth: i32,
    narrow: bool,        // whether it is searched with a null window
    below: i32,          // the depth of its children
    futile: Option<i32>, // if quiet actions after the first are skipped: the score that they count with
}

/// The best action of a position.
struct Found {
    score: i32,
    action: Action,
    raised: bool, // whether it raised alpha
}

/// Late move reduction: how many plies less deep a quiet action is searched after `tried` others.
#[inline]
fn reduction(depth: i32, tried: i32) -> i32 {
    if depth < 3 || tried < 3 {
        return 0;
    }
    1 + i32::from(tried >= 8) + i32::from(depth >= 7)
}
