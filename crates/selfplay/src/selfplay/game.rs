//! The search results of an unfinished game. When the game ends, they become samples.

use super::SelfPlayError;
use super::rules::Rules;
use super::state::SavedSearch;
use crate::replay::{Sample, Samples};
use jarmo_core::encode::Encode;
use jarmo_core::eval::Value;
use jarmo_core::game::{Mask, Outcome, Player, Verdict};

/// The searched positions of an unfinished game.
#[derive(Debug, Default)]
pub(super) struct Record {
    moves: Vec<Searched>,
    weights: Option<u64>, // learning steps of the evaluator of the first search, if that is recorded
}

#[derive(Debug)]
struct Searched {
    mover: Player,
    features: Vec<u16>,
    found: SearchedPolicy,
    exact: Option<Outcome>, // from exact tables
}

/// The result of searching one position.
#[derive(Debug)]
pub(super) struct SearchedPolicy {
    pub(super) actions: Vec<u16>,  // the legal ones
    pub(super) policy: Vec<f32>,   // of `actions`
    pub(super) expected: [f32; 3], // win, draw and loss of the mover after the chosen action
}

impl Record {
    /// Adds a position and its search result.
    pub(super) fn push<G: Encode>(
        &mut self,
        rules: &Rules<G>,
        position: &G::Position,
        found: SearchedPolicy,
    ) {
        let game = &rules.game;
        let mut features = Vec::new();
        game.inputs(position, |index| features.push(index as u16));
        self.moves.push(Searched {
            mover: game.to_move(position),
            features,
            found,
            exact: rules.exact_outcome(position),
        });
    }

    /// The learning steps of the oldest weights that searched the game; `None` if that is not recorded.
    pub(super) fn weights(&self) -> Option<u64> {
        self.weights
    }

    /// Records the learning steps of the weights that search next, unless earlier ones searched the game.
    pub(super) fn begin_with(&mut self, weights: Option<u64>) {
        if self.moves.is_empty() {
            self.weights = weights;
        }
    }

    /// Whether the game reached a position of exact tables.
    pub(super) fn reached_tables(&self) -> bool {
        self.moves.iter().any(|searched| searched.exact.is_some())
    }

    /// The part of the search results that does not follow from the game's actions.
    pub(super) fn save(&self) -> Vec<SavedSearch> {
        let moves = self.moves.iter().map(|Searched { found, .. }| SavedSearch {
            policy: found.policy.clone(),
            expected: found.expected,
        });
        moves.collect()
    }

    /// Restores the record of a game from its positions, the last `moves.len()` of which were searched.
    /// Fails if the saved searches do not fit them.
    pub(super) fn restore<G: Encode>(
        rules: &Rules<G>,
        positions: &[G::Position],
        moves: &[SavedSearch],
    ) -> Result<Record, SelfPlayError> {
        let unfit = |what| SelfPlayError::new(format!("a saved game: {what}"));
        let opening = positions.len().checked_sub(moves.len());
        let opening = opening.ok_or_else(|| unfit("it has more searches than positions"))?;
        let mut record = Record::default();
        for (position, saved) in positions[opening..].iter().zip(moves) {
            let legal = rules.game.legal(position);
            if saved.policy.len() != legal.count() as usize {
                return Err(unfit("a policy does not fit its position"));
            }
            let found = SearchedPolicy {
                actions: legal.iter().map(|action| action.0).collect(),
                policy: saved.policy.clone(),
                expected: saved.expected,
            };
            record.push(rules, position, found);
        }
        Ok(record)
    }

    /// Turns the finished game into samples and clears the record.
    ///
    /// Value targets are computed backwards, as in TD(lambda): `lambda` times the target of the next
    /// position plus `1 - lambda` times what search expected. An exact outcome replaces the target of
    /// its position, and the outcome of the game for the positions before it.
    pub(super) fn finish(&mut self, mut outcome: Outcome, lambda: f32, samples: &mut Samples) {
        let mut mover = Player::White;
        let mut result = certain(outcome.verdict(mover)); // of `mover`
        for searched in self.moves.iter_mut().rev() {
            if searched.mover != mover {
                result.reverse();
                mover = searched.mover;
            }
            if let Some(exact) = searched.exact {
                outcome = exact;
                result = certain(outcome.verdict(mover));
            } else {
                for (share, expected) in result.iter_mut().zip(searched.found.expected) {
                    *share = (lambda * *share + (1.0 - lambda) * expected).clamp(0.0, 1.0);
                }
            }
            searched.exact = Some(outcome);
            searched.found.expected = result;
        }
        for searched in self.moves.drain(..) {
            let outcome = searched.exact.unwrap_or(outcome);
            let found = searched.found;
            samples.push(&Sample {
                features: searched.features,
                actions: found.actions,
                policy: found.policy,
                result: found.expected,
                score: outcome.score_difference(searched.mover),
            });
        }
    }
}

/// Probabilities of win, draw and loss for a certain result.
fn certain(verdict: Verdict) -> [f32; 3] {
    Value::certain(verdict, 0.0).results()
}
