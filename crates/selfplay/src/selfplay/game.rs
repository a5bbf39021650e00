//! The searched positions of an unfinished game, which become samples when the game ends.

use super::Searched;
use crate::replay::{Sample, Samples};
use jarmo_core::encode::Encode;
use jarmo_core::error::FileError;
use jarmo_core::eval::Value;
use jarmo_core::game::{Mask, Outcome, Player, Verdict};

#[derive(Debug, Default)]
pub(super) struct PendingGame {
    samples: Samples, // `result` has the search's expectation until the game ends
    movers: Vec<Player>,
    /// The training step of the oldest weights that searched the game; `None` if that is not recorded.
    pub(super) weights: Option<u64>,
    features: Vec<u16>, // of the newest position
}

impl PendingGame {
    /// Adds a position with its legal actions and its search result.
    pub(super) fn push<G: Encode>(&mut self, game: &G, position: &G::Position, actions: &[u16], search: &Searched) {
        self.features.clear();
        game.inputs(position, |index| self.features.push(index as u16));
        self.movers.push(game.to_move(position));
        self.samples.push(Sample {
            features: &self.features,
            actions,
            policy: &search.policy,
            result: search.expected,
            score: 0,
        });
    }

    /// Records the training step of the weights that search next, unless older weights have searched the game before.
    pub(super) fn begin_with(&mut self, weights: Option<u64>) {
        if self.samples.is_empty() {
            self.weights = weights;
        }
    }

    /// The part of the search results that cannot be computed from the game's actions.
    pub(super) fn save(&self) -> Vec<Searched> {
        let searches =
            self.samples.iter().map(|sample| Searched { policy: sample.policy.to_vec(), expected: sample.result });
        searches.collect()
    }

    /// Restores a game from its positions, of which only the last `searches.len()` were searched. Fails
    /// if the searches do not fit the positions.
    pub(super) fn restore<G: Encode>(
        game: &G,
        positions: &[G::Position],
        searches: &[Searched],
    ) -> Result<PendingGame, FileError> {
        let unfit = |what| FileError::from(format!("a saved game: {what}"));
        let opening = positions.len().checked_sub(searches.len());
        let opening = opening.ok_or_else(|| unfit("it has more searches than positions"))?;
        let mut pending = PendingGame::default();
        let mut actions = Vec::new();
        for (position, search) in positions[opening..].iter().zip(searches) {
            let legal = game.legal(position);
            if search.policy.len() != legal.count() as usize {
                return Err(unfit("a policy does not fit its position"));
            }
            actions.clear();
            actions.extend(legal.iter().map(|action| action.0));
            pending.push(game, position, &actions, search);
        }
        Ok(pending)
    }

    /// Turns the finished game into samples and clears it.
    ///
    /// The value targets are those of TD(λ), computed backwards:
    /// target = λ · (target of the next position) + (1 − λ) · (result that search expected).
    pub(super) fn finish(&mut self, outcome: Outcome, lambda: f32, samples: &mut Samples) {
        let mut mover = Player::White;
        let mut result = certain(outcome.verdict(mover)); // for `mover`
        for (index, &to_move) in self.movers.iter().enumerate().rev() {
            if to_move != mover {
                result.reverse();
                mover = to_move;
            }
            for (share, expected) in result.iter_mut().zip(self.samples.get(index).result) {
                *share = (lambda * *share + (1.0 - lambda) * expected).clamp(0.0, 1.0);
            }
            let score = outcome.score_difference(mover);
            self.samples.set_value(index, result, score);
        }
        samples.extend(&self.samples);
        self.samples.clear();
        self.movers.clear();
    }
}

/// The probabilities of win, draw and loss for a certain result.
fn certain(verdict: Verdict) -> [f32; 3] {
    Value::certain(verdict, 0.0).results()
}
