//! Endgame tables in front of another evaluator.

use std::sync::Arc;

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
    hits: u64,
    parts: Parts<G>,
}

/// Buffers for one batch: results from the tables, and the positions that are not in the tables.
struct Parts<G: Game> {
    known: Vec<Option<Proven>>, // [batch]
    rows: Vec<usize>,           // of the batch, one for each position below
    positions: Vec<G::Position>,
    seeds: Vec<u64>,
    logits: Vec<f32>,
    evaluations: Vec<Evaluation>,
}

impl<G: Game, E: Evaluator<G>> WithEndgames<G, E> {
    /// These tables in front of `inner`.
    pub fn new(game: G, tables: Arc<dyn Endgames<G>>, inner: E) -> WithEndgames<G, E> {
        WithEndgames {
            game,
            tables,
            inner,
            hits: 0,
            parts: Parts {
                known: Vec::new(),
                rows: Vec::new(),
                positions: Vec::new(),
                seeds: Vec::new(),
                logits: Vec::new(),
                evaluations: Vec::new(),
            },
        }
    }

    /// The number of positions found in the tables.
    pub fn hits(&self) -> u64 {
        self.hits
    }

    /// The other evaluator.
    pub fn inner_mut(&mut self) -> &mut E {
        &mut self.inner
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
        let Parts {
            known,
            rows,
            positions: unknown,
            seeds: unknown_seeds,
            logits: inner_logits,
            evaluations: inner_evaluations,
        } = &mut self.parts;
        rows.clear();
        unknown.clear();
        unknown_seeds.clear();
        self.tables.known_all(&self.game, positions, known);
        for (row, (position, known)) in positions.iter().zip(known.iter()).enumerate() {
            match *known {
                Some(proven) => {
                    evaluations[row] = Evaluation {
                        value: Value::proven(proven),
                        proven: Some(proven),
                    };
                    logits[row * width..][..width].fill(0.0);
                }
                None => {
                    rows.push(row);
                    unknown.push(*position);
                    unknown_seeds.push(seeds[row]);
                }
            }
        }
        self.hits += (positions.len() - rows.len()) as u64;
        if rows.is_empty() {
            return;
        }
        inner_logits.resize(rows.len() * width, 0.0);
        inner_evaluations.resize(rows.len(), Evaluation::of(Value::EVEN));
        self.inner
            .evaluate(unknown, unknown_seeds, inner_logits, inner_evaluations);
        for (from, &row) in rows.iter().enumerate() {
            evaluations[row] = inner_evaluations[from];
            logits[row * width..][..width].copy_from_slice(&inner_logits[from * width..][..width]);
        }
    }
}
