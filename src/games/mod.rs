//! The games: jarmo, guard, tammi, connect four, and a scripted tree for tests.

pub mod connect_four;
pub mod guard;
pub mod jarmo;
pub mod scripted;
pub mod tammi;
mod text;
pub mod web;

pub use connect_four::{ConnectFour, ConnectFourPosition};
pub use guard::{Guard, GuardPosition};
pub use jarmo::{Jarmo, JarmoPosition};
pub use scripted::{Scripted, ScriptedPosition};
pub use tammi::{Tammi, TammiPosition};

use crate::game::Player;
use web::{Circle, Circles};

/// Why a piece on the web may not go along an existing line, as far as jarmo and guard agree.
fn web_move_problem(mover: Player, own: Circles, from: Circle, to: Circle) -> Option<String> {
    if !own.contains(from) {
        Some(format!("{} has no piece on {from}", mover.name()))
    } else if Circles::goal(mover).contains(from) {
        Some(format!(
            "the piece on {from} has reached its goal row and never moves again"
        ))
    } else if own.contains(to) {
        Some(format!("{to} holds a piece of {}'s own", mover.name()))
    } else {
        None
    }
}
