//! What search found in a game under way, until its end makes samples of it.

use super::SelfPlayError;
use super::rules::Rules;
use super::state::MoveState;
use crate::encode::Encode;
use crate::eval::Value;
use crate::game::{Mask, Outcome, Player, Verdict};
use crate::replay::{Sample, Samples};

/// Samples of a game whose end is not known yet.
#[derive(Debug, Default)]
pub(super) struct Record {
    moves: Vec<Move>,
}

#[derive(Debug)]
struct Move {
    mover: Player,
    features: Vec<u16>,
    found: Found,
    told: Option<Outcome>, // by exact tables
}

/// What search came to in a position.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) actions: Vec<u16>, // legal
    pub(super) policy: Vec<f32>,  // of each
    pub(super) surprise: f32,
    pub(super) expected: [f32; 3], // win, draw and loss of the mover with the action it chose
}

impl Record {
    /// Adds a position with what search came to.
    pub(super) fn push<G: Encode>(
        &mut self,
        rules: &Rules<G>,
        position: &G::Position,
        found: Found,
    ) {
        let game = &rules.game;
        let mut features = Vec::new();
        game.inputs(position, |index| features.push(index as u16));
        self.moves.push(Move {
            mover: game.to_move(position),
            features,
            found,
            told: rules.told(position),
        });
    }

    /// Whether exact tables told the end of one of the positions.
    pub(super) fn is_told(&self) -> bool {
        self.moves.iter().any(|made| made.told.is_some())
    }

    /// What has to be kept of the searches so far; the rest follows from the game's actions.
    pub(super) fn save(&self) -> Vec<MoveState> {
        let moves = self.moves.iter().map(|Move { found, .. }| MoveState {
            policy: found.policy.clone(),
            surprise: found.surprise,
            expected: found.expected,
        });
        moves.collect()
    }

    /// The record of a game that came through these positions, the last of which were searched. Fails
    /// if what was saved of them does not fit.
    pub(super) fn restore<G: Encode>(
        rules: &Rules<G>,
        positions: &[G::Position],
        moves: &[MoveState],
    ) -> Result<Record, SelfPlayError> {
        let unfit = |what| SelfPlayError::new(format!("a saved game: {what}"));
        let opening = positions.len().checked_sub(moves.len());
        let opening = opening.ok_or_else(|| unfit("it has more searches than positions"))?;
        let mut record = Record::default();
        for (position, made) in positions[opening..].iter().zip(moves) {
            let legal = rules.game.legal(position);
            if made.policy.len() != legal.count() as usize {
                return Err(unfit("a policy is not that of its position"));
            }
            let found = Found {
                actions: legal.iter().map(|action| action.0).collect(),
                policy: made.policy.clone(),
                surprise: made.surprise,
                expected: made.expected,
            };
            record.push(rules, position, found);
        }
        Ok(record)
    }

    /// Turns the game into samples, now that its end is known, and forgets it. What the tables told
    /// of a position goes for those before it, up to the one that they told something of.
    ///
    /// Of the results to learn, the share `lambda` goes on to the position before; the rest is what
    /// search expected there.
    pub(super) fn finish(&mut self, mut outcome: Outcome, lambda: f32, samples: &mut Samples) {
        let mut mover = Player::White;
        let mut result = certain(outcome.verdict(mover)); // of `mover`
        for made in self.moves.iter_mut().rev() {
            if made.mover != mover {
                result.reverse();
                mover = made.mover;
            }
            if let Some(told) = made.told {
                outcome = told;
                result = certain(outcome.verdict(mover));
            } else {
                for (share, expected) in result.iter_mut().zip(made.found.expected) {
                    *share = (lambda * *share + (1.0 - lambda) * expected).clamp(0.0, 1.0);
                }
            }
            made.told = Some(outcome);
            made.found.expected = result;
        }
        for made in self.moves.drain(..) {
            let outcome = made.told.unwrap_or(outcome);
            samples.push(&Sample {
                features: made.features,
                actions: made.found.actions,
                policy: made.found.policy,
                result: made.found.expected,
                score: outcome.score_difference(made.mover),
                surprise: made.found.surprise,
            });
        }
    }
}

/// The probabilities of win, draw and loss where one of them is certain.
fn certain(verdict: Verdict) -> [f32; 3] {
    Value::certain(verdict, 0.0).results()
}
