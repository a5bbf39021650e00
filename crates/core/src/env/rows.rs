//! Writes the positions of an environment and the results of its last step as arrays with one row per slot.

use std::mem;

use ndarray::{ArrayViewMut, ArrayViewMut1, ArrayViewMut2, ArrayViewMut4, Axis, RemoveAxis};

use super::games::SlotGames;
use crate::encode::Encode;
use crate::game::{Mask, Player};

/// Features that are 0 or 1, `[games, planes, rows, columns]`, in one of two number types.
pub enum Features<'a> {
    /// `f32`.
    Float(ArrayViewMut4<'a, f32>),
    /// `u8`.
    Byte(ArrayViewMut4<'a, u8>),
}

impl<'a> Features<'a> {
    /// Splits off the first `games` rows.
    pub fn take(&mut self, games: usize) -> Features<'a> {
        match self {
            Features::Float(rows) => Features::Float(take(rows, games)),
            Features::Byte(rows) => Features::Byte(take(rows, games)),
        }
    }
}

/// Legal actions, in one of two formats.
pub enum Masks<'a> {
    /// One `bool` per action: `[games, actions]`.
    Bool(ArrayViewMut2<'a, bool>),
    /// One bit per action, the lowest action in the lowest bit of the first byte: `[games, bytes]`.
    Packed(ArrayViewMut2<'a, u8>),
}

/// The arrays that an environment writes to, all in C order.
pub struct Rows<'a> {
    /// Features of the current positions. In an idle slot: of the last position, from the point of view of `actors`.
    pub features: Features<'a>,
    /// Legal actions of the current positions; none in idle slots.
    pub masks: Masks<'a>,
    /// `[games, 2]`: if a game ended in the last step, its results for White and Black, -1, 0 or +1; otherwise 0.
    pub rewards: ArrayViewMut2<'a, f32>,
    /// `[games]`: whether a game ended in the last step by its rules.
    pub terminated: ArrayViewMut1<'a, bool>,
    /// `[games]`: whether the last step reached the move limit of a game.
    pub truncated: ArrayViewMut1<'a, bool>,
    /// `[games]`: 0 if White is to move, 1 if Black is.
    pub to_move: ArrayViewMut1<'a, i8>,
    /// `[games]`: the player whose action the last step played, see [`VecEnv::actor`](super::VecEnv::actor).
    pub actors: ArrayViewMut1<'a, i8>,
    /// `[games]`: if a game ended in the last step, its result for the player in `actors`; otherwise 0.
    pub actor_rewards: ArrayViewMut1<'a, f32>,
    /// Whether the features of each position end with planes of threats.
    pub threats: bool,
    /// Whether the caller guarantees that features and masks are all 0.
    pub zeroed: bool,
}

impl<'a> Rows<'a> {
    /// Splits off the first `games` rows.
    pub fn take(&mut self, games: usize) -> Rows<'a> {
        Rows {
            features: self.features.take(games),
            masks: match &mut self.masks {
                Masks::Bool(rows) => Masks::Bool(take(rows, games)),
                Masks::Packed(rows) => Masks::Packed(take(rows, games)),
            },
            rewards: take(&mut self.rewards, games),
            terminated: take(&mut self.terminated, games),
            truncated: take(&mut self.truncated, games),
            to_move: take(&mut self.to_move, games),
            actors: take(&mut self.actors, games),
            actor_rewards: take(&mut self.actor_rewards, games),
            threats: self.threats,
            zeroed: self.zeroed,
        }
    }

    /// Writes the rows of a shard, which must be as many as its slots.
    pub(super) fn write<G: Encode>(mut self, games: &SlotGames<G>) {
        let (shard, game) = (&games.shard, games.shard.game());
        match self.features {
            Features::Float(all) => write_features(games, all, self.threats, self.zeroed),
            Features::Byte(all) => write_features(games, all, self.threats, self.zeroed),
        }
        match self.masks {
            Masks::Bool(all) => {
                let all = numbers(all);
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
                let rows = numbers(all).chunks_exact_mut(game.actions().div_ceil(8));
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
        for (actor, out) in games.actors.iter().zip(&mut self.actors) {
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
                self.rewards[[slot, player.index()]] = reward(player);
            }
            self.actor_rewards[slot] = reward(games.actors[slot]);
            self.truncated[slot] = outcome.truncated;
            self.terminated[slot] = !outcome.truncated;
        }
    }
}

/// Splits off the first `games` rows.
fn take<'a, T, D: RemoveAxis>(rows: &mut ArrayViewMut<'a, T, D>, games: usize) -> ArrayViewMut<'a, T, D> {
    let none = ArrayViewMut::from_shape(D::default(), &mut []).expect("it has no element");
    let (first, rest) = mem::replace(rows, none).split_at(Axis(0), games);
    *rows = rest;
    first
}

fn numbers<T, D: RemoveAxis>(rows: ArrayViewMut<'_, T, D>) -> &mut [T] {
    rows.into_slice().expect("arrays in C order")
}

fn write_features<G: Encode, T: Copy + From<bool>>(
    games: &SlotGames<G>,
    all: ArrayViewMut4<'_, T>,
    threats: bool,
    zeroed: bool,
) {
    let (game, slots) = (games.shard.game(), &games.shard.slots);
    let all = numbers(all);
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
