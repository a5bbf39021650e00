//! The games: jarmo, guard, tammi, connect four, and a scripted tree for tests.

pub mod connect_four;
pub mod guard;
pub mod jarmo;
pub mod reasons;
pub mod scripted;
pub mod tammi;
mod text;
pub mod web;

pub use connect_four::{ConnectFour, ConnectFourPosition};
pub use guard::{Guard, GuardPosition};
pub use jarmo::{Jarmo, JarmoPosition};
pub use scripted::{Scripted, ScriptedPosition};
pub use tammi::{Tammi, TammiPosition};

use crate::game::{Player, Reason};
use reasons::{AT_GOAL, NO_PIECE, OWN_PIECE};
use web::{Circle, Circles};

/// Why a piece on the web may not go along an existing line, as far as jarmo and guard agree.
fn web_move_problem(mover: Player, own: Circles, from: Circle, to: Circle) -> Option<Reason> {
    if !own.contains(from) {
        Some(NO_PIECE.reason().player(mover).with("place", from))
    } else if Circles::goal(mover).contains(from) {
        Some(AT_GOAL.reason().with("place", from))
    } else if own.contains(to) {
        Some(OWN_PIECE.reason().player(mover).with("place", to))
    } else {
        None
    }
}
