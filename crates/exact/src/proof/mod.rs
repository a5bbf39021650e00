//! Proofs: for openings of jarmo that are decided, a strategy that wins against every reply.
//!
//! A [`Proof`] holds *claims* ("after C1-A2 Black wins") and, for each player, moves for the positions that the
//! strategy meets. Where it holds no move, a short search finds the win. [`check`] replays the strategy against all
//! replies with the rules alone, the shuttle rule and passes included; it needs no tables. [`replay`] does the same with
//! any strategies, also with some that are only now being made.

mod check;
mod file;
mod guide;
mod short;
mod strategy;

pub use check::{Checked, check, replay};
pub use file::{CHECKSUM, MOST_SEARCH, TITLE};
pub use guide::HasProof;
#[cfg(not(target_family = "wasm"))]
pub use guide::shipped;
pub use jarmo_core::known::{Guide, Next};
pub use strategy::{Claim, Numbers, Proof};

use crate::tables::index::Placement;
use jarmo_core::game::{Action, Game, Mask, Player};
use jarmo_core::games::board::BoardAction;
use jarmo_core::games::jarmo::SHUTTLE_LIMIT;
use jarmo_core::games::{Jarmo, JarmoPosition};

/// The position without its history, in which no move is forbidden by the shuttle rule.
fn without_history(position: &JarmoPosition) -> JarmoPosition {
    Placement::of(position).position()
}

/// The position after an action, without its history.
pub fn after(game: &Jarmo, position: &JarmoPosition, action: Action) -> JarmoPosition {
    let mut next = *position;
    game.play(&mut next, action);
    without_history(&next)
}

/// What the player to move may do after the own `last` action, without a pass: each action with its streak, and the
/// position after it without its history.
fn replies(game: &Jarmo, position: &JarmoPosition, last: Option<Last>) -> Vec<(Last, JarmoPosition)> {
    let legal = game.legal(position);
    let allowed = |action: &Action| !last.is_some_and(|last| last.forbids(game, *action));
    let reply = |action| (Last::then(last, game, action), after(game, position, action));
    legal.iter().filter(allowed).map(reply).collect()
}

/// A player's last action, if it was a move, and its streak: how many of the latest moves, this one included, each
/// took the one before back.
#[derive(Clone, Copy, Debug)]
struct Last {
    action: Action,
    streak: u8,
}

impl Last {
    /// The last action after this one.
    fn then(last: Option<Last>, game: &Jarmo, action: Action) -> Last {
        let streak = match last {
            Some(last) if undoes(game, last.action, action) => last.streak + 1,
            _ => 1,
        };
        Last { action, streak }
    }

    /// What the rules know of a player's last action.
    fn of(position: &JarmoPosition, player: Player) -> Option<Last> {
        let (action, streak) = position.shuttle(player).last_move()?;
        Some(Last { action, streak })
    }

    /// Whether the shuttle rule forbids the action.
    fn forbids(self, game: &Jarmo, action: Action) -> bool {
        self.streak >= SHUTTLE_LIMIT && undoes(game, self.action, action)
    }
}

/// The position after a pass, if the player to move must pass: the shuttle rule forbids the only action.
fn after_pass(game: &Jarmo, position: &JarmoPosition, last: Option<Last>) -> Option<JarmoPosition> {
    let last = last.filter(|last| last.streak >= SHUTTLE_LIMIT)?;
    let legal = game.legal(position);
    let must = legal.count() == 1 && last.forbids(game, legal.nth(0));
    must.then(|| Placement::of(position).passed().position())
}

/// Whether the second of two successive actions of a player takes the first one back.
pub fn undoes(game: &Jarmo, first: Action, second: Action) -> bool {
    let is_move = |action| matches!(game.board().decode(action), BoardAction::Move { .. });
    is_move(first) && game.board().reverse(first) == second
}
