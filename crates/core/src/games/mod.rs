//! The games: jarmo, guard, tammi, connect four, and scripted games for tests.

pub mod connect_four;
pub mod guard;
pub mod jarmo;
pub mod reasons;
pub mod scripted;
pub mod tammi;
pub mod text;
pub mod board;

pub use connect_four::{ConnectFour, ConnectFourPosition};
pub use guard::{Guard, GuardPosition};
pub use jarmo::{Jarmo, JarmoPosition};
pub use scripted::{Scripted, ScriptedPosition};
pub use tammi::{Tammi, TammiPosition};

use crate::game::{Player, Reason};
use board::{Circle, Circles};
use reasons::{AT_GOAL, NO_PIECE, OWN_PIECE};

/// Why a move along an existing line is illegal, for the reasons that jarmo and guard share.
fn board_move_problem(mover: Player, own: Circles, from: Circle, to: Circle) -> Option<Reason> {
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
