//! Claims, and the moves that prove them.

use super::short::Short;
use super::{Last, without_history};
use crate::tables::index::{LEAST_FORCE, Layer, MOST_FORCE, Placement};
use jarmo_core::env::Line;
use jarmo_core::game::{Action, Game, Mask, Player};
use jarmo_core::games::{Jarmo, JarmoPosition};
use jarmo_core::known::Next;

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
    pub(super) moves: Moves,
}

impl Proof {
    /// A proof with these moves of both players in positions that are not over. Wins of at most `search` plies are
    /// left to search.
    ///
    /// # Panics
    /// Panics if the game is over in one of the positions.
    pub fn new(
        game: &Jarmo,
        made: String,
        claims: Vec<Claim>,
        search: u32,
        moves: impl IntoIterator<Item = (JarmoPosition, Action)>,
    ) -> Proof {
        let numbers = Numbers::new();
        let numbered = |(position, action): (JarmoPosition, Action)| {
            let number = numbers.of(&position).expect("both players have archers until the game is over");
            (number, action.0 as u8)
        };
        let mut moves: Vec<(u64, u8)> = moves.into_iter().map(numbered).collect();
        moves.sort_unstable();
        let (keys, actions) = moves.into_iter().unzip();
        Proof { game: game.clone().with_max_plies(0), made, claims, search, moves: Moves::new(keys, actions) }
    }

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
        self.moves.keys.len()
    }

    /// The most plies of a win that is not stored but searched.
    pub fn search(&self) -> u32 {
        self.search
    }

    /// The move of the strategy in this position, if it is stored.
    pub fn action(&self, position: &JarmoPosition) -> Option<Action> {
        self.moves.get(position)
    }

    /// The next action of a proven win of the player to move: a stored one, or the first of a short win. `None` if
    /// the proof says nothing about the position, or if the shuttle rule or the limit on the length is in the way.
    pub fn next(&self, game: &Jarmo, position: &JarmoPosition) -> Option<Next> {
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

    /// The most plies of any win that it proves.
    fn longest(&self) -> u32 {
        self.claims.iter().map(|claim| claim.plies).max().unwrap_or(0)
    }
}

/// Moves by position, whatever its history.
#[derive(Clone, Debug)]
pub(super) struct Moves {
    numbers: Numbers,
    pub keys: Vec<u64>, // ascending
    pub actions: Vec<u8>,
}

impl Moves {
    /// The moves of positions with these ascending keys.
    pub(super) fn new(keys: Vec<u64>, actions: Vec<u8>) -> Moves {
        Moves { numbers: Numbers::new(), keys, actions }
    }

    fn get(&self, position: &JarmoPosition) -> Option<Action> {
        let number = self.numbers.of(position)?;
        let found = self.keys.binary_search(&number).ok()?;
        Some(Action(self.actions[found].into()))
    }
}

/// Numbers all placements: those of each force follow those of the force below, in the order of the tables.
#[derive(Clone, Debug)]
pub(super) struct Numbers {
    layers: Vec<(u64, Layer)>, // the first number and the layer of each force
    count: u64,
}

impl Numbers {
    pub(super) fn new() -> Numbers {
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

    /// The number of placements.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The number of a position's placement; `None` if a player has no archer.
    pub(super) fn of(&self, position: &JarmoPosition) -> Option<u64> {
        let above_least = position.force().checked_sub(LEAST_FORCE)?;
        let (first, layer) = self.layers.get(above_least as usize)?;
        let index = layer.index(&Placement::of(position))?;
        Some(first + index as u64)
    }
}
