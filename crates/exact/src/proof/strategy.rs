//! Claims, and the moves that prove them.

use super::short::Short;
use super::{Last, without_history};
use crate::tables::index::{LEAST_FORCE, Layer, MOST_FORCE, Placement};
use jarmo_core::env::Line;
use jarmo_core::game::{Action, Game, Mask, Player};
use jarmo_core::games::{Jarmo, JarmoPosition};
use jarmo_core::known::{Guide, Next};

/// A decided position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The actions that lead to it, from a position without a history.
    pub opening: Line<JarmoPosition>,
    /// Who wins.
    pub winner: Player,
    /// The most plies until the end.
    pub plies: u32,
}

/// Claims and the strategies that prove them.
#[derive(Clone, Debug)]
pub struct Proof {
    pub(super) game: Jarmo, // without a limit on the length
    pub(super) made: String,
    pub(super) claims: Vec<Claim>,
    /// The most plies of a win that is not stored but searched.
    pub(super) search: u32,
    pub(super) numbers: Numbers,
    /// The numbers of the positions with a move, ascending.
    pub(super) positions: Vec<u64>,
    /// The move in each of them, whatever its history.
    pub(super) actions: Vec<u8>,
}

impl Proof {
    /// The rules.
    pub fn game(&self) -> &Jarmo {
        &self.game
    }

    /// How it was made.
    pub fn made(&self) -> &str {
        &self.made
    }

    /// What it proves.
    pub fn claims(&self) -> &[Claim] {
        &self.claims
    }

    /// The number of moves that it holds.
    pub fn moves(&self) -> usize {
        self.actions.len()
    }

    /// The most plies of a win that is not stored but searched.
    pub fn search(&self) -> u32 {
        self.search
    }

    /// The move of the strategy in this position, if it is stored.
    pub fn action(&self, position: &JarmoPosition) -> Option<Action> {
        let found = self.positions.binary_search(&self.numbers.of(position)?).ok()?;
        Some(Action(self.actions[found].into()))
    }

    /// The most plies of any win that it proves.
    fn longest(&self) -> u32 {
        self.claims.iter().map(|claim| claim.plies).max().unwrap_or(0)
    }
}

impl Guide<Jarmo> for Proof {
    /// A stored action, or the first of a short win. `None` also if the shuttle rule or the limit on the length is in the
    /// way.
    fn next(&self, game: &Jarmo, position: &JarmoPosition) -> Option<Next> {
        let winner = position.to_move();
        let found = match self.action(position) {
            Some(action) => Some(Next { action, plies: None }),
            None => {
                let mut short = Short::new(&self.game, winner, self.search);
                let [own, other] = [winner, !winner].map(|player| Last::of(position, player));
                let win = short.win(&without_history(position), own, other);
                win.map(|(action, plies)| Next { action, plies: Some(plies) })
            }
        };
        let left = game.plies_left(position).unwrap_or(u32::MAX);
        found.filter(|next| game.legal(position).contains(next.action) && next.plies.unwrap_or(self.longest()) <= left)
    }
}

/// Numbers all placements: those of each force follow those of the force below, in the order of the tables.
#[derive(Clone, Debug)]
pub struct Numbers {
    layers: Vec<(u64, Layer)>, // the first number and the layer of each force
    count: u64,
}

impl Default for Numbers {
    fn default() -> Numbers {
        let mut count = 0;
        let layers = (LEAST_FORCE..=MOST_FORCE)
            .map(|force| {
                let layer = Layer::new(force);
                let first = count;
                count += layer.size() as u64;
                (first, layer)
            })
            .collect();
        Numbers { layers, count }
    }
}

impl Numbers {
    /// The number of placements.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The number of a position's placement; `None` if a player has no archer.
    pub fn of(&self, position: &JarmoPosition) -> Option<u64> {
        let above_least = position.force().checked_sub(LEAST_FORCE)?;
        let (first, layer) = self.layers.get(above_least as usize)?;
        let index = layer.index(&Placement::of(position))?;
        Some(first + index as u64)
    }
}
