//! The positions of an environment and the results of its last step as rows of numbers, one row per slot.

use super::games::Games;
use crate::encode::Encode;
use crate::game::{Mask, Player};

/// Features of 0 and 1, `[games, planes, cells]`, as one of the types that an environment writes.
pub enum Features<'a> {
    /// `f32`.
    Float(&'a mut [f32]),
    /// `u8`.
    Byte(&'a mut [u8]),
}

/// Legal actions.
pub enum Masks<'a> {
    /// `[games, actions]`.
    Bool(&'a mut [bool]),
    /// `[games, bytes]`: eight actions per byte, the lowest in the lowest bit.
    Packed(&'a mut [u8]),
}

/// What an environment writes, row by row.
pub struct Rows<'a> {
    /// The features of the positions to act in next; in idle slots of the last position, seen by `actor`.
    pub features: Features<'a>,
    /// Their legal actions: none in idle slots.
    pub masks: Masks<'a>,
    /// `[games, 2]`: results of White and Black where a game ended in the last step, -1, 0 or +1; else 0.
    pub rewards: &'a mut [f32],
    /// `[games]`: a game ended by its rules in the last step.
    pub terminated: &'a mut [bool],
    /// `[games]`: a game was cut off in the last step.
    pub truncated: &'a mut [bool],
    /// `[games]`: 0 if White is to move, 1 if Black is.
    pub to_move: &'a mut [i8],
    /// `[games]`: whose action the last step played, see [`VecEnv::actor`](super::VecEnv::actor).
    pub actors: &'a mut [i8],
    /// `[games]`: the results of these players where a game ended in the last step; else 0.
    pub actor_rewards: &'a mut [f32],
    /// Whether threats follow the features of each position.
    pub threats: bool,
    /// Whether features and masks are all 0 already.
    pub zeroed: bool,
}

impl<'a> Rows<'a> {
    /// Cuts off the first `games` rows.
    pub(super) fn take(&mut self, games: usize) -> Rows<'a> {
        let all = self.to_move.len();
        Rows {
            features: match &mut self.features {
                Features::Float(rows) => Features::Float(take(rows, games, all)),
                Features::Byte(rows) => Features::Byte(take(rows, games, all)),
            },
            masks: match &mut self.masks {
                Masks::Bool(rows) => Masks::Bool(take(rows, games, all)),
                Masks::Packed(rows) => Masks::Packed(take(rows, games, all)),
            },
            rewards: take(&mut self.rewards, games, all),
            terminated: take(&mut self.terminated, games, all),
            truncated: take(&mut self.truncated, games, all),
            to_move: take(&mut self.to_move, games, all),
            actors: take(&mut self.actors, games, all),
            actor_rewards: take(&mut self.actor_rewards, games, all),
            threats: self.threats,
            zeroed: self.zeroed,
        }
    }

    /// Writes the rows of a shard.
    pub(super) fn write<G: Encode>(self, games: &Games<G>) {
        let (shard, game) = (&games.shard, games.shard.game());
        match self.features {
            Features::Float(all) => write_features(games, all, self.threats, self.zeroed),
            Features::Byte(all) => write_features(games, all, self.threats, self.zeroed),
        }
        match self.masks {
            Masks::Bool(all) => {
                if !self.zeroed {
                    all.fill(false);
                }
                let rows = all.chunks_exact_mut(game.actions());
                for (slot, row) in shard.slots.iter().zip(rows) {
                    for action in slot.legal.iter() {
                        row[action.index()] = true;
                    }
                }
            }
            Masks::Packed(all) => {
                let rows = all.chunks_exact_mut(game.actions().div_ceil(8));
                for (slot, row) in shard.slots.iter().zip(rows) {
                    let bytes = slot.legal.words().iter().flat_map(|word| word.to_le_bytes());
                    for (out, byte) in row.iter_mut().zip(bytes) {
                        *out = byte;
                    }
                }
            }
        }
        for (slot, out) in shard.slots.iter().zip(self.to_move) {
            *out = game.to_move(&slot.position).index() as i8;
        }
        for (actor, out) in games.actors.iter().zip(&mut *self.actors) {
            *out = actor.index() as i8;
        }
        self.rewards.fill(0.0);
        self.actor_rewards.fill(0.0);
        self.terminated.fill(false);
        self.truncated.fill(false);
        for ended in &games.finished {
            let (slot, outcome) = (ended.slot - games.numbers().start, ended.outcome);
            let reward = |player| f32::from(outcome.verdict(player).sign());
            for player in Player::BOTH {
                self.rewards[2 * slot + player.index()] = reward(player);
            }
            self.actor_rewards[slot] = reward(games.actors[slot]);
            self.truncated[slot] = outcome.truncated;
            self.terminated[slot] = !outcome.truncated;
        }
    }
}

/// Cuts off the first `games` of `all` rows.
fn take<'a, T>(rows: &mut &'a mut [T], games: usize, all: usize) -> &'a mut [T] {
    let width = rows.len() / all;
    let (first, rest) = std::mem::take(rows).split_at_mut(games * width);
    *rows = rest;
    first
}

fn write_features<G: Encode, T: Copy + From<bool>>(games: &Games<G>, all: &mut [T], threats: bool, zeroed: bool) {
    let (game, slots) = (games.shard.game(), &games.shard.slots);
    let rows = all.chunks_exact_mut(all.len() / slots.len());
    for ((slot, actor), row) in slots.iter().zip(&games.actors).zip(rows) {
        if !zeroed {
            row.fill(T::from(false));
        }
        if slot.legal.is_empty() {
            game.set_features(&game.seen_by(&slot.position, *actor), row, threats);
        } else {
            game.set_features(&slot.position, row, threats);
        }
    }
}
