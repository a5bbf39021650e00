//! Winning with results that have no distances. All winning actions look alike, so the winner must find a way forward:
//! to the end of the game, or to a lower force, from which the game never returns.
//!
//! [`way_forward`] searches for a forced way of 1, 3, 5, … plies, through positions that stay won. The loser's actions
//! cannot change a win, so only the results of the winner's actions are looked up.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use rand::Rng;

use crate::tables::index::Placement;
use crate::tables::lookup::Tables;
use jarmo_core::game::{Action, Game, Mask, Player, Verdict};
use jarmo_core::games::board::Circles;
use jarmo_core::games::{Jarmo, JarmoPosition};
use jarmo_core::random::{Stream, below};

/// The largest number of positions with the winner to move in one search.
const POSITIONS: u32 = 10_000;

/// The length of the longest way that a search looks for, in plies.
const LONGEST: u32 = 41;

/// The first action of a shortest forced way to the end of the game or to a lower force, from a position that the
/// player to move wins. If the search finds none, an action that keeps the win and brings an archer forward. Now and
/// then it is any action that keeps the win, so that no cycle lasts.
///
/// # Panics
/// Panics if `winning`, the actions that keep the win, is empty.
pub(super) fn way_forward(
    tables: &Tables,
    game: &Jarmo,
    position: &JarmoPosition,
    winning: &[Action],
    stream: &mut Stream,
) -> Action {
    let mut search = Search {
        tables,
        game,
        winner: position.to_move(),
        force: position.force(),
        positions_left: POSITIONS,
        without: HashMap::default(),
        refuted: vec![0; game.actions()],
    };
    for plies in (1..=LONGEST).step_by(2) {
        let found = winning.iter().find(|&&action| {
            let next = game.after(position, action);
            search.arrives(&next) || plies > 1 && search.is_fresh(&next) && search.holds(&next, plies - 1)
        });
        if let Some(&action) = found {
            return action;
        }
        if search.positions_left == 0 {
            break;
        }
    }
    let fresh = |action: &&Action| search.is_fresh(&game.after(position, **action));
    let fresh: Vec<Action> = winning.iter().filter(fresh).copied().collect();
    let winning = if fresh.is_empty() { winning } else { &fresh };
    if stream.next_u64() & 1 == 0 {
        let far = |action: &&Action| search.steps_home(&game.after(position, **action));
        *winning.iter().min_by_key(far).expect("an action keeps the win")
    } else {
        winning[below(stream.next_u64(), winning.len() as u32) as usize]
    }
}

/// A search for a forced way forward of bounded length.
struct Search<'a> {
    tables: &'a Tables,
    game: &'a Jarmo,
    winner: Player,
    force: u32,
    positions_left: u32,
    /// Positions with the winner to move in which a search of this many plies found no way.
    without: HashMap<Placement, u32, RandomState>,
    /// By action of the loser: how often it was the answer that refuted a way.
    refuted: Vec<u32>,
}

impl Search<'_> {
    /// Whether the game has come to its end or to a lower force.
    fn arrives(&self, position: &JarmoPosition) -> bool {
        position.force() < self.force || self.game.outcome(position).is_some()
    }

    /// Whether the winner, who is to move, has a way of at most this many plies.
    fn wins(&mut self, position: &JarmoPosition, plies: u32) -> bool {
        let placement = Placement::of(position);
        let known = self.without.get(&placement);
        if self.positions_left == 0 || known.is_some_and(|&searched| searched >= plies) {
            return false;
        }
        self.positions_left -= 1;
        let game = self.game;
        let legal = game.legal(position);
        let nexts = legal.iter().map(|action| game.after(position, action));
        let mut nexts: Vec<(JarmoPosition, bool)> = nexts.map(|next| (next, self.arrives(&next))).collect();
        nexts.retain(|(next, arrives)| (*arrives || plies > 1 && self.is_fresh(next)) && self.keeps(next));
        let found =
            nexts.iter().any(|(_, arrives)| *arrives) || nexts.iter().any(|(next, _)| self.holds(next, plies - 1));
        if !found && self.positions_left > 0 {
            self.without.insert(placement, plies);
        }
        found
    }

    /// Whether the winner has a way of at most this many plies after every reply of the loser.
    fn holds(&mut self, position: &JarmoPosition, plies: u32) -> bool {
        let mut answers: Vec<Action> = self.game.legal(position).iter().collect();
        answers.sort_by_key(|answer| std::cmp::Reverse(self.refuted[usize::from(answer.0)]));
        for answer in answers {
            let next = self.game.after(position, answer);
            if !self.arrives(&next) && !self.wins(&next, plies - 1) {
                self.refuted[usize::from(answer.0)] += 1;
                return false;
            }
        }
        true
    }

    /// Whether the winner's last move did not undo the one before. The tables ignore the shuttle rule, so a
    /// win could be lost where the rule forbids a move.
    fn is_fresh(&self, position: &JarmoPosition) -> bool {
        position.shuttle(self.winner).last_move().is_none_or(|(_, streak)| streak <= 1)
    }

    /// Whether a position with the loser to move is lost.
    fn keeps(&self, position: &JarmoPosition) -> bool {
        match self.game.outcome(position) {
            Some(outcome) => outcome.verdict(self.winner) == Verdict::Win,
            None => {
                let proven = self.tables.proven(position);
                proven.is_some_and(|proven| proven.verdict == Verdict::Loss)
            }
        }
    }

    /// The moves that the winner's archers need to the goal row.
    fn steps_home(&self, position: &JarmoPosition) -> usize {
        let steps = self.game.board().distances(Circles::goal(self.winner));
        position.archers(self.winner).iter().map(|circle| steps[circle.index()]).sum()
    }
}
