//! Finds wins of a few plies by search.

use std::cmp::Reverse;

use super::streak;
use jarmo_core::game::{Action, Game, Mask, Player, Verdict};
use jarmo_core::games::{Jarmo, JarmoPosition};

/// How many plies longer a win may be if a player shuttles, because the shuttle rule can then forbid the quickest win.
const MORE: u32 = 4;

/// A search for short wins of one player.
pub(super) struct Short<'a> {
    game: &'a Jarmo,
    winner: Player,
    /// The maximum length of a win in plies.
    most: u32,
    /// How often each action won.
    wins: Vec<u32>,
}

impl<'a> Short<'a> {
    pub(super) fn new(game: &'a Jarmo, winner: Player, most: u32) -> Short<'a> {
        Short { game, winner, most, wins: vec![0; game.actions()] }
    }

    /// The first action of a shortest win and the win's length in plies; the winner is to move.
    pub(super) fn win(&mut self, position: &JarmoPosition) -> Option<(Action, u32)> {
        let shuttles = Player::BOTH.into_iter().any(|player| streak(position, player) > 1);
        let most = self.most + if shuttles { MORE } else { 0 };
        (1..=most).find_map(|plies| Some((self.within(position, plies)?, plies)))
    }

    /// The first action of a win within this many plies.
    fn within(&mut self, position: &JarmoPosition, plies: u32) -> Option<Action> {
        let mut actions: Vec<Action> = self.game.legal(position).iter().collect();
        actions.sort_by_key(|action| Reverse(self.wins[action.index()]));
        let found = actions.into_iter().find(|&action| {
            let next = self.game.after(position, action);
            self.is_won(&next).unwrap_or_else(|| plies > 1 && self.against_all(&next, plies - 1))
        })?;
        self.wins[found.index()] += 1;
        Some(found)
    }

    /// Whether the winner wins within this many plies against every reply; the opponent is to move.
    fn against_all(&mut self, position: &JarmoPosition, plies: u32) -> bool {
        self.game.legal(position).iter().all(|reply| {
            let next = self.game.after(position, reply);
            self.is_won(&next).unwrap_or_else(|| plies > 1 && self.within(&next, plies - 1).is_some())
        })
    }

    /// Whether the winner has won; `None` if the game is not over.
    fn is_won(&self, position: &JarmoPosition) -> Option<bool> {
        Some(self.game.outcome(position)?.verdict(self.winner) == Verdict::Win)
    }
}
