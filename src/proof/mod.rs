//! Proofs: for openings of jarmo that are decided, a strategy that wins against every reply.
//!
//! A [`Proof`] holds *claims* ("after C1-A2 Black wins") and, for each player, moves for the positions that the
//! strategy meets. Where it holds no move, a short search finds the win. [`check`] replays the strategy against all
//! replies with the rules alone, the shuttle rule and passes included. [`make`] takes the moves from exact
//! tables; the check does not need them.

mod check;
mod file;
mod make;
mod short;
mod strategy;

pub use check::{Checked, Flaw, check};
pub use file::ProofError;
pub use make::{MakeError, make};
pub use strategy::{Claim, Next, Proof};

use crate::game::{Action, Game, Mask};
use crate::games::board::BoardAction;
use crate::games::{Jarmo, JarmoPosition};
use crate::tables::index::Placement;

/// The position without its history, in which no move is forbidden by the shuttle rule.
fn without_history(position: &JarmoPosition) -> JarmoPosition {
    Placement::of(position).position()
}

/// The position after an action, without its history.
fn after(game: &Jarmo, position: &JarmoPosition, action: Action) -> JarmoPosition {
    let mut next = *position;
    game.play(&mut next, action);
    without_history(&next)
}

/// A legal action and the position after it, without its history.
struct Reply {
    action: Action,
    position: JarmoPosition,
}

/// All actions of the player to move, also those that the shuttle rule may forbid.
fn replies(game: &Jarmo, position: &JarmoPosition) -> Vec<Reply> {
    let legal = game.legal(position);
    let reply = |action| Reply {
        action,
        position: after(game, position, action),
    };
    legal.iter().map(reply).collect()
}

/// The position after a pass, if the player to move may have to pass: the only action takes back `last`, the own
/// action before, so that the shuttle rule may forbid it.
fn after_pass(game: &Jarmo, position: &JarmoPosition, last: Action) -> Option<JarmoPosition> {
    let legal = game.legal(position);
    let only = (legal.count() == 1).then(|| legal.nth(0))?;
    let Placement { mover, own, enemy } = Placement::of(position);
    let passed = Placement {
        mover: !mover,
        own: enemy,
        enemy: own,
    };
    undoes(game, last, only).then(|| passed.position())
}

/// Whether the second of two successive actions of a player takes the first one back.
fn undoes(game: &Jarmo, first: Action, second: Action) -> bool {
    let is_move = |action| matches!(game.board().decode(action), BoardAction::Move { .. });
    is_move(first) && game.board().reverse(first) == second
}
