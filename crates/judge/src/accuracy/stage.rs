//! The finer parts of games by which decisions are counted.

use std::fmt;

use jarmo_exact::tables::HasEndgames;

/// A part of a game: a force, or a few plies in a game without forces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// Positions of this force.
    Force(u32),
    /// Positions after this many plies, and up to [`Stage::PLIES`] - 1 more.
    Ply(u32),
}

impl Stage {
    /// The number of plies that are counted together.
    pub const PLIES: u32 = 3;

    /// The stage that a position belongs to.
    pub fn of<G: HasEndgames>(game: &G, position: &G::Position) -> Stage {
        match game.force_of(position) {
            Some(force) => Stage::Force(force),
            None => Stage::Ply(game.ply(position) / Stage::PLIES * Stage::PLIES),
        }
    }

    /// What stages are numbered by: `force` or `ply`.
    pub const fn unit(self) -> &'static str {
        match self {
            Stage::Force(_) => "force",
            Stage::Ply(_) => "ply",
        }
    }

    /// The force, or the first ply.
    pub const fn number(self) -> u32 {
        match self {
            Stage::Force(number) | Stage::Ply(number) => number,
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stage::Force(force) => write!(f, "force {force}"),
            Stage::Ply(first) => write!(f, "ply {first}-{}", first + Stage::PLIES - 1),
        }
    }
}
