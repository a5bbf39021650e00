//! One game of a vectorised environment.

use rand::Rng;

use crate::game::{Action, Game, Mask, Player};
use crate::random::{Stream, below, stream};

/// What a step did in one game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transition {
    /// The game ended with this step; the slot holds a new one.
    pub done: bool,
    /// It ended because it was cut off.
    pub truncated: bool,
    /// The result for White and for Black: -1, 0 or +1 where the game ended, else 0.
    pub rewards: [i8; 2],
    /// Points of White minus points of Black where the game ended, else 0.
    pub score_difference: i8,
}

pub(super) struct Slot<G: Game> {
    pub(super) position: G::Position,
    pub(super) legal: G::Mask, // of `position`
    pub(super) transition: Transition,
    stream: Stream,
    pub(super) last_final: Option<G::Position>,
}

impl<G: Game> Slot<G> {
    pub(super) fn new(game: &G, seed: u64, index: u64) -> Slot<G> {
        let position = game.start();
        Slot {
            position,
            legal: game.legal(&position),
            transition: Transition::default(),
            stream: stream(seed, index),
            last_final: None,
        }
    }

    pub(super) fn restart(&mut self, game: &G, position: G::Position) {
        self.position = position;
        self.legal = game.legal(&position);
        assert!(!self.legal.is_empty(), "a game cannot restart at its end");
    }

    #[inline]
    pub(super) fn sample(&mut self) -> Action {
        self.legal
            .nth(below(self.stream.next_u64(), self.legal.count()))
    }

    #[inline]
    pub(super) fn step(&mut self, game: &G, action: Action) {
        assert!(self.legal.contains(action), "{action:?} is illegal");
        game.play(&mut self.position, action);
        self.legal = game.legal(&self.position);
        self.transition = Transition::default();
        if self.legal.is_empty() {
            self.finish(game);
        }
    }

    fn finish(&mut self, game: &G) {
        let outcome = game.outcome(&self.position);
        let outcome = outcome.expect("a game without legal actions is over");
        self.transition = Transition {
            done: true,
            truncated: outcome.truncated,
            rewards: Player::BOTH.map(|player| outcome.verdict(player).sign()),
            score_difference: outcome.score_difference(Player::White),
        };
        self.last_final = Some(self.position);
        self.restart(game, game.start());
    }
}
