//! Claims, and the moves that prove them.

use super::short::Short;
use crate::tables::index::{JarmoLayer, LEAST_FORCE, MOST_FORCE, Placement};
use jarmo_core::env::Line;
use jarmo_core::game::{Action, Game, Mask, Player};
use jarmo_core::games::{Jarmo, JarmoPosition};
use jarmo_core::known::ProofStrategy;

/// A decided position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The actions that lead to it, from a position without a history.
    pub opening: Line<JarmoPosition>,
    /// Who wins.
    pub winner: Player,
    /// The maximum number of plies until the end.
    pub plies: u32,
}

/// Claims and the strategies that prove them.
#[derive(Clone, Debug)]
pub struct Proof {
    /// The rules, without a move limit.
    pub game: Jarmo,
    /// How it was made.
    pub made: String,
    /// What it proves.
    pub claims: Vec<Claim>,
    /// The maximum length in plies of a win that is searched and not stored.
    pub search: u32,
    pub(super) numbers: Numbers,
    /// The numbers of the positions with a move, ascending.
    pub(super) positions: Vec<u64>,
    /// The move in each of them, whatever its history.
    pub(super) actions: Vec<u8>,
}

impl Proof {
    /// The number of moves in the proof.
    pub fn moves(&self) -> usize {
        self.actions.len()
    }

    /// The move of the strategy in this position, if it is stored.
    pub fn action(&self, position: &JarmoPosition) -> Option<Action> {
        let found = self.positions.binary_search(&self.numbers.of(position)?).ok()?;
        Some(Action(self.actions[found].into()))
    }
}

impl ProofStrategy<Jarmo> for Proof {
    /// A stored action, or the first action of a short win. Also `None` if the shuttle rule forbids that action, or if
    /// the move limit can end the game before the win.
    fn next(&self, game: &Jarmo, position: &JarmoPosition) -> Option<(Action, Option<u32>)> {
        let (action, plies) = match self.action(position) {
            Some(action) => (action, None),
            None => {
                let (action, plies) = Short::new(&self.game, position.to_move(), self.search).win(position)?;
                (action, Some(plies))
            }
        };
        let longest = || self.claims.iter().map(|claim| claim.plies).max().unwrap_or(0);
        let in_time = game.plies_left(position).is_none_or(|left| plies.unwrap_or_else(longest) <= left);
        (in_time && game.legal(position).contains(action)).then_some((action, plies))
    }
}

/// The numbers of all bare positions: those of each force follow those of the force below, in the order of the tables.
#[derive(Clone, Debug)]
pub struct Numbers {
    layers: Vec<(u64, JarmoLayer)>, // the first number and the layer of each force
    pub(super) count: u64,          // of bare positions
}

impl Default for Numbers {
    fn default() -> Numbers {
        let mut count = 0;
        let layers = (LEAST_FORCE..=MOST_FORCE)
            .map(|force| {
                let layer = JarmoLayer::new(force);
                let first = count;
                count += layer.size as u64;
                (first, layer)
            })
            .collect();
        Numbers { layers, count }
    }
}

impl Numbers {
    /// The number of a position without its history; `None` if a player has no archer.
    pub fn of(&self, position: &JarmoPosition) -> Option<u64> {
        let above_least = position.force().checked_sub(LEAST_FORCE)?;
        let (first, layer) = self.layers.get(above_least as usize)?;
        let index = layer.index(&Placement::of(position))?;
        Some(first + index as u64)
    }
}
