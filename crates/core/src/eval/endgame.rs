//! Exact tables in front of an evaluator.

use std::sync::Arc;

use super::misses::Misses;
use super::{EvalBatch, Evaluation, Evaluator, Value};
use crate::game::{Game, Proven};
use crate::known::Endgames;

/// Evaluates positions from exact tables as proven, and passes all others to another evaluator.
///
/// Tables ignore some of the rules, see `docs/tables.md`. Results are proven only under those rules that they follow.
pub struct WithEndgames<G: Game, E> {
    game: G,
    tables: Arc<dyn Endgames<G>>,
    inner: E,
    known: Vec<Option<Proven>>, // [batch]: results from the tables
    unknown: Misses<G::Position>,
}

impl<G: Game, E: Evaluator<G>> WithEndgames<G, E> {
    /// Uses these tables, and `inner` for positions that they do not contain.
    pub fn new(game: G, tables: Arc<dyn Endgames<G>>, inner: E) -> WithEndgames<G, E> {
        WithEndgames { game, tables, inner, known: Vec::new(), unknown: Misses::new() }
    }
}

impl<G: Game, E: Evaluator<G>> Evaluator<G> for WithEndgames<G, E> {
    fn has_policy(&self) -> bool {
        self.inner.has_policy()
    }

    fn batch(&self) -> usize {
        self.inner.batch()
    }

    fn evaluate(&mut self, batch: &mut EvalBatch<G::Position>) {
        self.tables.known_all(&self.game, &batch.positions, &mut self.known);
        self.unknown.clear_for(batch.width());
        for (row, known) in self.known.iter().enumerate() {
            match *known {
                Some(proven) => {
                    batch.evaluations[row] = Evaluation { value: Value::proven(proven), proven: Some(proven) };
                    batch.logits_mut(row).fill(0.0);
                }
                None => {
                    self.unknown.add(row, &batch.positions[row], batch.seeds[row]);
                }
            }
        }
        self.unknown.submit(&mut self.inner);
        self.unknown.finish(&mut self.inner, batch);
    }
}
