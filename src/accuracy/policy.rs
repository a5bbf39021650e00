//! Networks without search against exact tables.

use rayon::prelude::*;

use super::{TRIES, Tally};
use crate::eval::{Evaluation, Evaluator, Value, favourite};
use crate::game::{Game, Mask, Verdict};
use crate::random::stream;
use crate::tables::Endgames;

/// A fixed sample of positions inside exact tables, with the actions that keep the best result in
/// each. The tables are not needed any more once it is made.
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
/// let kept = exam.take(&mut evaluators).share(); // of all decisions, 0 to 1
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct PolicyExam<G: Game> {
    actions: usize,
    positions: Vec<G::Position>,
    answers: Vec<Answer<G::Mask>>, // one for each position
}

#[derive(Clone, Copy, Debug)]
struct Answer<M> {
    legal: M,
    best: M, // those that keep the best result
}

/// Positions for each call of an evaluator that does not ask for more.
const BATCH: usize = 256;

impl<G: Game> PolicyExam<G> {
    /// Those of the positions that the tables know and that are not over, in their order.
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

    /// Random positions of the tables: every force as likely as any other, every placement of it too,
    /// none over. The same seed gives the same positions.
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

    /// How many positions there are.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// How often the legal action with the highest logit keeps the best result. Alike evaluators
    /// share the positions out among themselves, on the threads of the current rayon pool; how many
    /// there are changes nothing.
    ///
    /// # Panics
    /// Panics without an evaluator, or with one that has no opinion on actions.
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
        assert!(evaluator.has_policy(), "an evaluator with a policy");
        let batch = evaluator.batch().max(BATCH);
        let seeds = vec![0; batch]; // a network draws nothing
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

/// What is right in a position; nothing where the tables do not reach or the game is over.
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
