//! Exact tables in front of another evaluator.

use std::sync::Arc;

use super::{Evaluation, Evaluator, Value};
use crate::game::{Game, Proven};
use crate::tables::Endgames;

/// Answers the positions that the tables know, for certain, and passes the others on. Certain is what
/// the tables are about: `docs/tables.md` says what they leave out.
pub struct WithEndgames<G: Game, E> {
    game: G,
    tables: Arc<dyn Endgames<G>>,
    inner: E,
    hits: u64,
    parts: Parts<G>,
}

/// What the tables know of a batch, and the positions that they do not know.
struct Parts<G: Game> {
    known: Vec<Option<Proven>>, // of the whole batch
    rows: Vec<usize>,
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

    /// The number of positions that the tables answered.
    pub fn hits(&self) -> u64 {
        self.hits
    }

    /// The evaluator behind.
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
            positions: asked,
            seeds: asked_seeds,
            logits: answered,
            evaluations: judged,
        } = &mut self.parts;
        rows.clear();
        asked.clear();
        asked_seeds.clear();
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
                    asked.push(*position);
                    asked_seeds.push(seeds[row]);
                }
            }
        }
        self.hits += (positions.len() - rows.len()) as u64;
        if rows.is_empty() {
            return;
        }
        answered.resize(rows.len() * width, 0.0);
        judged.resize(rows.len(), Evaluation::of(Value::EVEN));
        self.inner.evaluate(asked, asked_seeds, answered, judged);
        for (from, &row) in rows.iter().enumerate() {
            evaluations[row] = judged[from];
            logits[row * width..][..width].copy_from_slice(&answered[from * width..][..width]);
        }
    }
}
