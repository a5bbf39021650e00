//! Compares the decisions of agents with exact results.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use rand::Rng;
use rayon::prelude::*;

use super::report::{Accuracy, Mistake};
use super::tally::{Phase, Stage};
use super::watch::Watch;
use jarmo_core::game::{Action, Game, Mask, Proven};
use jarmo_core::random::{Stream, stream};
use jarmo_exact::agent::{Agent, Decision, Limit};
use jarmo_exact::tables::HasEndgames;

/// A position that is not over, without history, and the exact results of its actions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question<P> {
    /// The position.
    pub position: P,
    /// The part of the game it belongs to.
    pub phase: Phase,
    /// The result of each legal action for the player to move, in the order of the actions.
    pub results: Vec<Proven>,
}

impl<P> Question<P> {
    /// The best result.
    pub fn best(&self) -> Proven {
        let results = self.results.iter().copied();
        results.max_by_key(|proven| proven.preference()).expect("a position that is not over has actions")
    }

    /// Whether some action loses the best result.
    pub fn is_critical(&self) -> bool {
        let first = self.results[0].verdict;
        self.results.iter().any(|one| one.verdict != first)
    }
}

/// Positions with the exact result of every action.
///
/// ```
/// use jarmo_judge::accuracy::Exam;
/// use jarmo_core::games::Jarmo;
/// use jarmo_core::net::{FrozenNet, NetEvaluator};
/// use jarmo_exact::agent::{self, Agent, AgentSource, PolicyAgent};
///
/// let game = Jarmo::standard();
/// let exam = Exam::built_in(&game).expect("jarmo has an exam");
///
/// let file = agent::load(&AgentSource::Program, &game)?; // or a file
/// let net = NetEvaluator::with_net(game.clone(), FrozenNet::new(file.weights()));
/// let agent = PolicyAgent::new(game, net);
/// let mut agents: Vec<Box<dyn Agent<Jarmo>>> = vec![Box::new(agent)]; // one for each thread
/// let score = exam.take(&mut agents, None, 1).score();
/// assert!(score.all.critical_share() > 0.5); // of all critical positions, 0 to 1
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Exam<G: Game> {
    pub(super) game: G,
    pub(super) made: String,
    pub(super) questions: Vec<Question<G::Position>>,
}

/// Positions per call of an agent: few enough that many agents stay busy to the end.
const BATCH: usize = 64;

impl<G: Game> Exam<G> {
    /// An exam of these questions. `made` says in one line how they were chosen and solved.
    ///
    /// # Panics
    /// Panics unless every question has one result for each legal action of its position, and at least one.
    pub fn new(game: &G, made: &str, questions: Vec<Question<G::Position>>) -> Exam<G> {
        for question in &questions {
            let actions = game.legal(&question.position).count() as usize;
            assert!(actions > 0, "no game is over");
            assert_eq!(question.results.len(), actions, "one result per action");
        }
        Exam { game: game.clone(), made: made.to_owned(), questions }
    }

    /// The game.
    pub fn game(&self) -> &G {
        &self.game
    }

    /// How the questions were chosen and solved.
    pub fn made(&self) -> &str {
        &self.made
    }

    /// The questions.
    pub fn questions(&self) -> &[Question<G::Position>] {
        &self.questions
    }

    /// The number of questions.
    pub fn len(&self) -> usize {
        self.questions.len()
    }

    /// Whether the exam has no questions.
    pub fn is_empty(&self) -> bool {
        self.questions.is_empty()
    }
}

impl<G: HasEndgames> Exam<G> {
    /// Lets agents choose in every position. The agents share the positions on the threads of the current rayon pool.
    /// The random numbers of an answer depend only on the seed and the number of its question.
    ///
    /// # Panics
    /// Panics if there is no agent.
    pub fn take(&self, agents: &mut [Box<dyn Agent<G>>], nodes: Option<u64>, seed: u64) -> Accuracy<G::Position> {
        self.take_watched(agents, nodes, seed, &())
    }

    /// [`Exam::take`] for a watcher, who may stop it. The questions are asked in random order, so the result of an exam
    /// that was stopped is that of a fair sample.
    ///
    /// # Panics
    /// Panics if there is no agent.
    pub fn take_watched(
        &self,
        agents: &mut [Box<dyn Agent<G>>],
        nodes: Option<u64>,
        seed: u64,
        watch: &dyn Watch,
    ) -> Accuracy<G::Position> {
        // `order[place]` is the question that is asked at this place.
        let mut order: Vec<u64> = (0..self.len() as u64).collect();
        order.sort_by_cached_key(|&number| stream(seed, !number).next_u64());
        let positions: Vec<_> = order.iter().map(|&number| self.questions[number as usize].position).collect();
        let given = Asked { agents, nodes, seed, watch }.answered(&positions, &order, Some("exam"));
        let mut answers: Vec<(usize, Action)> =
            given.into_iter().map(|(place, action)| (order[place] as usize, action)).collect();
        answers.sort_unstable_by_key(|(number, _)| *number);
        let (asked, actions): (Vec<usize>, Vec<Action>) = answers.into_iter().unzip();
        if asked.len() == self.len() {
            return self.mark_all(&actions);
        }
        let questions = asked.iter().map(|&number| self.questions[number].clone()).collect();
        let mut accuracy = Exam::new(&self.game, &self.made, questions).mark_all(&actions);
        accuracy.wrong.iter_mut().for_each(|place| *place = asked[*place]); // numbers of this exam
        accuracy
    }

    /// The positions, and the numbers that their random numbers depend on.
    pub(crate) fn asks(&self) -> (Vec<G::Position>, Vec<u64>) {
        (self.questions.iter().map(|question| question.position).collect(), (0..self.len() as u64).collect())
    }

    /// The result of legal answers to all questions.
    ///
    /// # Panics
    /// Panics unless there is one legal action per question.
    pub fn mark_all(&self, answers: &[Action]) -> Accuracy<G::Position> {
        assert_eq!(answers.len(), self.len(), "one action per question");
        let mut accuracy = Accuracy::new();
        for (number, (question, &chosen)) in self.questions.iter().zip(answers).enumerate() {
            let (position, best) = (question.position, question.best());
            let right = self.is_right(number, chosen);
            let parts = (question.phase, Stage::of(&self.game, &position));
            accuracy.count(parts, self.game.to_move(&position), question.is_critical(), right);
            if !right {
                accuracy.wrong.push(number);
                let legal = self.game.legal(&position);
                let mut results = legal.iter().zip(&question.results);
                let (better, _) = results.find(|(_, result)| **result == best).expect("the best result is one of them");
                let got = self.result(number, chosen);
                accuracy.mistakes.push(Mistake { position, chosen, got, better, missed: best });
            }
        }
        accuracy.sort();
        accuracy
    }

    /// The result of a legal action in the position of a question.
    fn result(&self, number: usize, action: Action) -> Proven {
        let question = &self.questions[number];
        let legal = self.game.legal(&question.position);
        let place = legal.iter().position(|one| one == action);
        question.results[place.expect("agents choose legal actions")]
    }

    /// Whether an action keeps the best result.
    pub(super) fn is_right(&self, number: usize, action: Action) -> bool {
        self.result(number, action).verdict == self.questions[number].best().verdict
    }
}

/// Agents that play alike, one per thread, what they may spend, and who watches.
pub(crate) struct Asked<'a, G: Game> {
    pub agents: &'a mut [Box<dyn Agent<G>>],
    pub nodes: Option<u64>,
    pub seed: u64,
    pub watch: &'a dyn Watch,
}

impl<G: Game> Asked<'_, G> {
    /// Their actions in these positions, on the threads of the current rayon pool; `None` if they were stopped. The random
    /// numbers of each action depend only on the seed and its number. The progress of a `part` is reported.
    ///
    /// # Panics
    /// Panics if there is no agent.
    pub(crate) fn choose(
        &mut self,
        positions: &[G::Position],
        numbers: &[u64],
        part: Option<&'static str>,
    ) -> Option<Vec<Action>> {
        let chosen: Vec<Action> =
            self.answered(positions, numbers, part).into_iter().map(|(_, action)| action).collect();
        (chosen.len() == positions.len()).then_some(chosen)
    }

    /// Like `choose`, but returns the answers so far if they are stopped: the indices of the answered positions,
    /// ascending, with the answers.
    fn answered(
        &mut self,
        positions: &[G::Position],
        numbers: &[u64],
        part: Option<&'static str>,
    ) -> Vec<(usize, Action)> {
        assert!(!self.agents.is_empty(), "an agent is needed");
        let (watch, seed) = (self.watch, self.seed);
        let limit = Limit { nodes: self.nodes, stop: watch.stop(), ..Limit::default() };
        let batches: Vec<_> = positions.chunks(BATCH).zip(numbers.chunks(BATCH)).enumerate().collect();
        let (all, next, done) = (positions.len() as u64, AtomicUsize::new(0), AtomicU64::new(0));
        let ask = |agent: &mut Box<dyn Agent<G>>| {
            let mut answers = Vec::new();
            while let Some(&(batch, (positions, numbers))) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
                let mut streams: Vec<Stream> = numbers.iter().map(|&number| stream(seed, number)).collect();
                let decisions = agent.decide(positions, &mut streams, limit);
                if watch.is_stopped() {
                    break; // some decisions may have been cut short
                }
                let before = done.fetch_add(decisions.len() as u64, Ordering::Relaxed);
                if let Some(part) = part {
                    watch.progress(part, before + decisions.len() as u64, all);
                }
                answers.push((batch, decisions));
            }
            answers
        };
        let mut answers: Vec<(usize, Vec<Decision>)> = self.agents.par_iter_mut().flat_map_iter(ask).collect();
        answers.sort_unstable_by_key(|(batch, _)| *batch);
        let numbered = answers.into_iter().flat_map(|(batch, decisions)| {
            let actions = decisions.into_iter().map(|decision| decision.action);
            (batch * BATCH..).zip(actions)
        });
        numbered.collect()
    }
}
