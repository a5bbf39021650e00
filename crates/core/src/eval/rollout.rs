//! An evaluator that plays random games (playouts).

use super::{EvalBatch, Evaluation, Evaluator, Value};
use crate::game::{Game, Mask, Player, Verdict};
use crate::random::any_of;

/// A random game that lasts this many actions counts as drawn.
const MAX_ACTIONS: u32 = 1000;

/// Evaluates a position by the result of one random game that starts from it.
#[derive(Clone, Debug)]
pub struct Rollout<G> {
    game: G,
}

impl<G: Game> Rollout<G> {
    /// An evaluator for positions of this game.
    pub fn new(game: G) -> Rollout<G> {
        Rollout { game }
    }

    /// Plays one random game and returns its result for `player`.
    #[inline]
    fn play_out(&self, mut position: G::Position, seed: u64, player: Player) -> Value {
        let mut random = WyRand(seed);
        for _ in 0..MAX_ACTIONS {
            let legal = self.game.legal(&position);
            if legal.is_empty() {
                let outcome = self.game.outcome(&position).expect("no legal action means the game is over");
                return Value::certain(outcome.verdict(player), outcome.score_difference(player).into());
            }
            let action = any_of(&legal, random.next());
            self.game.play(&mut position, action);
        }
        Value::certain(Verdict::Draw, 0.0)
    }
}

impl<G: Game> Evaluator<G> for Rollout<G> {
    fn has_policy(&self) -> bool {
        false
    }

    fn evaluate(&mut self, batch: &mut EvalBatch<G::Position>) {
        for row in batch.rows() {
            let player = self.game.to_move(row.position);
            *row.evaluation = Evaluation::of(self.play_out(*row.position, row.seed, player));
        }
    }
}

/// The wyrand generator: a counter, mixed by one wide multiplication. It is fast to start, and every game has a new
/// one.
struct WyRand(u64);

impl WyRand {
    #[inline]
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0xa076_1d64_78bd_642f);
        let product = u128::from(self.0) * u128::from(self.0 ^ 0xe703_7ed1_a0b4_28db);
        product as u64 ^ (product >> 64) as u64
    }
}
