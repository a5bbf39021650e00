//! Endgame tables in front of another evaluator.

use std::sync::Arc;

use super::rest::Rest;
use super::{Evaluation, Evaluator, Value};
use crate::game::{Game, Proven};
use crate::known::Endgames;

/// Evaluates the positions that are in the tables as proven and passes the others on.
///
/// The tables ignore some of the rules, see `docs/tables.md`; results are proven in that sense.
pub struct WithEndgames<G: Game, E> {
    game: G,
    tables: Arc<dyn Endgames<G>>,
    inner: E,
    known: Vec<Option<Proven>>, // [batch]: results from the tables
    unknown: Rest<G::Position>,
}

impl<G: Game, E: Evaluator<G>> WithEndgames<G, E> {
    /// These tables in front of `inner`.
    pub fn new(game: G, tables: Arc<dyn Endgames<G>>, inner: E) -> WithEndgames<G, E> {
        WithEndgames { game, tables, inner, known: Vec::new(), unknown: Rest::new() }
    }
}

impl<G: Game, E: Evaluator<G>> Evaluator<G> for WithEndgames<G, E> {
    fn has_policy(&self) -> bool {
        self.inner.has_policy()
    }

    fn batch(&self) -> usize {
        self.inner.batch()
    }

    fn evaluate(
        &mut self,
        positions: &[G::Position],
        seeds: &[u64],
        logits: &mut [f32],
        evaluations: &mut [Evaluation],
    ) {
        let width = logits.len() / positions.len().max(1); // 0 without a policy
        let tables = &self.tables;
        tables.known_all(&self.game, positions, &mut self.known);
        self.unknown.clear();
        for (row, (position, known)) in positions.iter().zip(&self.known).enumerate() {
            match *known {
                Some(proven) => {
                    evaluations[row] = Evaluation { value: Value::proven(proven), proven: Some(proven) };
                    logits[row * width..][..width].fill(0.0);
                }
                None => {
                    self.unknown.add(row, position, seeds[row]);
                }
            }
        }
        self.unknown.evaluate(&mut self.inner, width, logits, evaluations);
    }
}
