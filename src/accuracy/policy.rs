//! Compares networks without search with exact tables.

use rayon::prelude::*;

use super::{TRIES, Tally};
use crate::eval::{Evaluation, Evaluator, Value, favourite};
use crate::game::{Game, Mask, Verdict};
use crate::random::stream;
use crate::tables::Endgames;

/// A fixed set of positions inside exact tables, with the actions that keep the best result in each.
/// The tables are needed only to create it.
///
/// ```no_run
/// use jarmo::accuracy::PolicyExam;
/// use jarmo::games::Jarmo;
/// use jarmo::net::{AgentFile, FrozenNet, NetEvaluator};
/// use jarmo::tables::HasEndgames;
///
/// let game = Jarmo::standard();
/// let tables = game.open_endgames("tables".as_ref())?;
/// let exam = PolicyExam::random(&game, tables.as_ref(), 4000, 1);
///
/// let file = AgentFile::load_for("agent.safetensors".as_ref(), &game)?;
/// let net = FrozenNet::new(file.weights());
/// let mut evaluators = vec![NetEvaluator::with_net(game, net); 2]; // one for each thread
/// let right = exam.take(&mut evaluators).share(); // of all decisions, 0 to 1
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct PolicyExam<G: Game> {
    actions: usize,
    positions: Vec<G::Position>,
    answers: Vec<Answer<G::Mask>>, // one per position
}

#[derive(Clone, Copy, Debug)]
struct Answer<M> {
    legal: M,
    best: M, // the actions that keep the best result
}

/// The smallest batch for an evaluator.
const BATCH: usize = 256;

impl<G: Game> PolicyExam<G> {
    /// Keeps the positions that are in the tables and not over, in their order.
    pub fn new(
        game: &G,
        tables: &dyn Endgames<G>,
        positions: impl IntoIterator<Item = G::Position>,
    ) -> PolicyExam<G> {
        let mut exam = PolicyExam {
            actions: game.actions(),
            positions: Vec::new(),
            answers: Vec::new(),
        };
        for position in positions {
            if let Some(answer) = answer(game, tables, &position) {
                exam.positions.push(position);
                exam.answers.push(answer);
            }
        }
        exam
    }

    /// Draws random positions of the tables that are not over: first a force, then a placement of it,
    /// both uniformly. The same seed gives the same positions.
    pub fn random(
        game: &G,
        tables: &dyn Endgames<G>,
        positions: usize,
        seed: u64,
    ) -> PolicyExam<G> {
        let mut stream = stream(seed, 0);
        let drawn = (0..TRIES * positions).map(|_| tables.random(&mut stream));
        let open = drawn.filter(|position| game.outcome(position).is_none());
        PolicyExam::new(game, tables, open.take(positions))
    }

    /// The number of positions.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Whether the exam has no positions.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// Counts how often the legal action with the highest logit keeps the best result. The evaluators,
    /// which must be identical, share the positions on the threads of the current rayon pool. Their
    /// number does not change the result.
    ///
    /// # Panics
    /// Panics if there is no evaluator, or if the evaluators have no policy.
    pub fn take<E: Evaluator<G>>(&self, evaluators: &mut [E]) -> Tally {
        let part = self.len().div_ceil(evaluators.len()).max(1);
        let parts = self.positions.par_chunks(part);
        let answers = self.answers.par_chunks(part);
        let tallies: Vec<Tally> = evaluators
            .par_iter_mut()
            .zip(parts.zip(answers))
            .map(|(evaluator, (positions, answers))| self.ask(evaluator, positions, answers))
            .collect();
        let mut all = Tally::default();
        for tally in &tallies {
            all.add(tally);
        }
        all
    }

    fn ask<E: Evaluator<G>>(
        &self,
        evaluator: &mut E,
        positions: &[G::Position],
        answers: &[Answer<G::Mask>],
    ) -> Tally {
        assert!(evaluator.has_policy(), "the evaluator must have a policy");
        let batch = evaluator.batch().max(BATCH);
        let seeds = vec![0; batch]; // a network uses no random numbers
        let mut logits = vec![0.0; batch * self.actions]; // [batch, actions]
        let mut evaluations = vec![Evaluation::of(Value::EVEN); batch];
        let mut tally = Tally::default();
        for (positions, answers) in positions.chunks(batch).zip(answers.chunks(batch)) {
            let rows = positions.len();
            let logits = &mut logits[..rows * self.actions];
            evaluator.evaluate(positions, &seeds[..rows], logits, &mut evaluations[..rows]);
            for (answer, logits) in answers.iter().zip(logits.chunks_exact(self.actions)) {
                let critical = answer.best != answer.legal;
                let chosen = favourite(&answer.legal, logits);
                tally.count(critical, answer.best.contains(chosen));
            }
        }
        tally
    }
}

/// The right actions of a position; `None` outside the tables or if the game is over.
fn answer<G: Game>(
    game: &G,
    tables: &dyn Endgames<G>,
    position: &G::Position,
) -> Option<Answer<G::Mask>> {
    let legal = game.legal(position);
    if legal.is_empty() {
        return None;
    }
    tables.known(game, position)?;
    let verdicts: Vec<Verdict> = legal
        .iter()
        .map(|action| tables.after(game, position, action).verdict)
        .collect();
    let highest = verdicts.iter().max()?;
    let mut best = G::Mask::default();
    for (action, verdict) in legal.iter().zip(&verdicts) {
        if verdict == highest {
            best.insert(action);
        }
    }
    Some(Answer { legal, best })
}
