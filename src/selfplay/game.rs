//! One game under way, and what is counted of those that ended.

use serde::{Deserialize, Serialize};

use super::rules::{End, Rules};
use super::state::MoveState;
use crate::encode::Encode;
use crate::eval::Value;
use crate::game::{Action, Game, Outcome, Player, Verdict};
use crate::replay::{Sample, Samples};

/// The most counts that a game may ask for.
const MOST_EVENTS: usize = 4;

/// Counts over finished games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GameStats {
    /// Games.
    pub games: u64,
    /// Games that White won.
    pub white: u64,
    /// Games that Black won.
    pub black: u64,
    /// Games cut off by the limit on their length.
    pub truncated: u64,
    /// Games that came to a position of exact tables.
    #[serde(default)]
    pub exact: u64,
    /// Actions in all games together.
    pub plies: u64,
    /// What the game itself counts, in the order of [`Game::events`], as it happens: in games that
    /// are not over, too.
    #[serde(default)]
    pub events: [u64; MOST_EVENTS],
}

impl GameStats {
    /// Adds the counts of other games.
    pub fn add(&mut self, other: &GameStats) {
        self.games += other.games;
        self.white += other.white;
        self.black += other.black;
        self.truncated += other.truncated;
        self.exact += other.exact;
        self.plies += other.plies;
        for (sum, count) in self.events.iter_mut().zip(other.events) {
            *sum += count;
        }
    }

    /// Counts what the game itself counts in this action.
    pub(super) fn count_events<G: Game>(
        &mut self,
        game: &G,
        position: &G::Position,
        action: Action,
    ) {
        game.count_events(position, action, &mut self.events);
    }

    /// Counts one game of this length, and whether exact tables told a result of it.
    pub(super) fn count(&mut self, outcome: &Outcome, plies: u32, exact: bool) {
        self.games += 1;
        self.white += u64::from(outcome.winner == Some(Player::White));
        self.black += u64::from(outcome.winner == Some(Player::Black));
        self.truncated += u64::from(outcome.truncated);
        self.exact += u64::from(exact);
        self.plies += u64::from(plies);
    }
}

/// Samples of a game whose end is not known yet.
#[derive(Debug, Default)]
pub(super) struct Record {
    moves: Vec<Move>,
}

#[derive(Debug)]
struct Move {
    at: usize, // actions of the game before it
    mover: Player,
    features: Vec<u16>,
    found: Found,
    told: Option<End>, // by exact tables
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
    /// Adds a position, `at` actions after the start of the game, with what search came to.
    pub(super) fn push<G: Encode>(
        &mut self,
        rules: &Rules<G>,
        position: &G::Position,
        at: usize,
        found: Found,
    ) {
        let game = &rules.game;
        let mut features = Vec::new();
        game.inputs(position, |index| features.push(index as u16));
        self.moves.push(Move {
            at,
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

    /// What has to be kept of the positions so far; the rest follows from the game's actions.
    pub(super) fn save(&self) -> Vec<MoveState> {
        let moves = self.moves.iter().map(|Move { at, found, .. }| MoveState {
            at: *at,
            actions: found.actions.clone(),
            policy: found.policy.iter().map(|share| share.to_bits()).collect(),
            surprise: found.surprise.to_bits(),
            expected: found.expected.map(f32::to_bits),
        });
        moves.collect()
    }

    /// Adds a saved position again.
    pub(super) fn restore<G: Encode>(
        &mut self,
        rules: &Rules<G>,
        position: &G::Position,
        made: &MoveState,
    ) {
        let policy = made.policy.iter().map(|&bits| f32::from_bits(bits));
        let found = Found {
            actions: made.actions.clone(),
            policy: policy.collect(),
            surprise: f32::from_bits(made.surprise),
            expected: made.expected.map(f32::from_bits),
        };
        self.push(rules, position, made.at, found);
    }

    /// Turns the game into samples, now that its end is known, and forgets it. What the tables told
    /// of a position goes for those before it, up to the one that they told something of.
    ///
    /// Of the results to learn, the share `lambda` goes on to the position before; the rest is what
    /// search expected there.
    pub(super) fn finish(&mut self, mut end: End, lambda: f32, samples: &mut Samples) {
        let mut mover = Player::White;
        let mut result = certain(end.outcome.verdict(mover)); // of `mover`
        for made in self.moves.iter_mut().rev() {
            if made.mover != mover {
                result.reverse();
                mover = made.mover;
            }
            if let Some(told) = made.told {
                end = told;
                result = certain(end.outcome.verdict(mover));
            } else {
                for (share, expected) in result.iter_mut().zip(made.found.expected) {
                    *share = (lambda * *share + (1.0 - lambda) * expected).clamp(0.0, 1.0);
                }
            }
            made.told = Some(end);
            made.found.expected = result;
        }
        for made in self.moves.drain(..) {
            let end = made.told.unwrap_or(end);
            samples.push(&Sample {
                features: made.features,
                actions: made.found.actions,
                policy: made.found.policy,
                result: made.found.expected,
                score: end.outcome.score_difference(made.mover),
                surprise: made.found.surprise,
            });
        }
    }
}

/// The probabilities of win, draw and loss where one of them is certain.
fn certain(verdict: Verdict) -> [f32; 3] {
    Value::certain(verdict, 0.0).results()
}
