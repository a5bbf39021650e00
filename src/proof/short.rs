//! Finds wins of a few plies by search.

use std::cmp::Reverse;

use super::{after, after_pass, replies, undoes};
use crate::game::{Action, Game, Mask, Player, Verdict};
use crate::games::{Jarmo, JarmoPosition};

/// A search for short wins of one player, in positions without history.
pub(super) struct Short<'a> {
    game: &'a Jarmo,
    winner: Player,
    /// The most plies of a win.
    most: u32,
    /// By action: how often it won.
    wins: Vec<u32>,
}

impl<'a> Short<'a> {
    pub(super) fn new(game: &'a Jarmo, winner: Player, most: u32) -> Short<'a> {
        Short {
            game,
            winner,
            most,
            wins: vec![0; game.actions()],
        }
    }

    /// The first action of a shortest win and its plies. The winner is to move. The action does not take `own` back,
    /// the winner's last action; `other` is the opponent's.
    pub(super) fn win(
        &mut self,
        position: &JarmoPosition,
        own: Option<Action>,
        other: Option<Action>,
    ) -> Option<(Action, u32)> {
        (1..=self.most).find_map(|plies| Some((self.within(position, plies, own, other)?, plies)))
    }

    /// The action of a win within this many plies.
    fn within(
        &mut self,
        position: &JarmoPosition,
        plies: u32,
        own: Option<Action>,
        other: Option<Action>,
    ) -> Option<Action> {
        let mut actions: Vec<Action> = self.game.legal(position).iter().collect();
        actions.retain(|&action| !own.is_some_and(|own| undoes(self.game, own, action)));
        actions.sort_by_key(|action| Reverse(self.wins[action.index()]));
        let wins = |&action: &Action| {
            let next = after(self.game, position, action);
            self.is_won(&next)
                .unwrap_or_else(|| plies > 1 && self.against_all(&next, plies - 1, other))
        };
        let found = actions.iter().copied().find(wins)?;
        self.wins[found.index()] += 1;
        Some(found)
    }

    /// Whether the winner wins within this many plies whatever the opponent, who is to move, replies.
    fn against_all(&mut self, position: &JarmoPosition, plies: u32, other: Option<Action>) -> bool {
        let game = self.game;
        let mut wins = |next: &JarmoPosition, reply: Option<Action>| {
            self.is_won(next)
                .unwrap_or_else(|| plies > 1 && self.within(next, plies - 1, None, reply).is_some())
        };
        replies(game, position)
            .iter()
            .all(|reply| wins(&reply.position, Some(reply.action)))
            && other
                .and_then(|other| after_pass(game, position, other))
                .is_none_or(|passed| wins(&passed, None))
    }

    /// Whether the winner has won; `None` if the game goes on.
    fn is_won(&self, position: &JarmoPosition) -> Option<bool> {
        let outcome = self.game.outcome(position)?;
        Some(outcome.verdict(self.winner) == Verdict::Win)
    }
}
