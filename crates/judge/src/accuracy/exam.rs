//! Compares the decisions of agents with exact results.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::report::{Accuracy, Mistake};
use super::stage::Stage;
use super::tally::Phase;
use jarmo_core::game::{Action, Game, Mask, Proven};
use jarmo_core::random::{Stream, stream};
use jarmo_exact::agent::{Agent, Decision, Limit, Request};
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
/// let agent = PolicyAgent::new(game, "network without search".to_owned(), net);
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
    /// Lets agents choose in every position. The agents share the positions on the threads of the current
    /// rayon pool; their number does not change the result. `nodes` limits their nodes or simulations per
    /// position; without it, their spec decides.
    ///
    /// # Panics
    /// Panics if there is no agent.
    pub fn take(&self, agents: &mut [Box<dyn Agent<G>>], nodes: Option<u64>, seed: u64) -> Accuracy<G::Position> {
        self.mark_all(&self.answers(agents, nodes, seed))
    }

    /// What agents choose in every position, as for [`Exam::take`].
    ///
    /// # Panics
    /// Panics if there is no agent.
    pub fn answers(&self, agents: &mut [Box<dyn Agent<G>>], nodes: Option<u64>, seed: u64) -> Vec<Action> {
        assert!(!agents.is_empty(), "an exam needs an agent");
        let next = AtomicUsize::new(0);
        let batches = self.questions.len().div_ceil(BATCH);
        let mut answers: Vec<(usize, Vec<Action>)> = agents
            .par_iter_mut()
            .flat_map_iter(|agent| {
                let batches = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed))
                    .take_while(|&batch| batch < batches);
                batches.map(|batch| (batch, self.ask_agent(agent.as_mut(), batch, nodes, seed)))
            })
            .collect();
        answers.sort_unstable_by_key(|(batch, _)| *batch);
        answers.into_iter().flat_map(|(_, actions)| actions).collect()
    }

    /// The result of legal answers to all questions.
    ///
    /// # Panics
    /// Panics unless there is one legal action per question.
    pub fn mark_all(&self, answers: &[Action]) -> Accuracy<G::Position> {
        assert_eq!(answers.len(), self.len(), "one action per question");
        let mut accuracy = Accuracy::new();
        for (number, &chosen) in answers.iter().enumerate() {
            self.mark(number, chosen, &mut accuracy);
        }
        accuracy.sort();
        accuracy
    }

    /// The decisions of an agent in the positions of a batch.
    fn ask_agent(&self, agent: &mut dyn Agent<G>, batch: usize, nodes: Option<u64>, seed: u64) -> Vec<Action> {
        let first = batch * BATCH;
        let last = self.questions.len().min(first + BATCH);
        let positions: Vec<_> = self.questions[first..last].iter().map(|question| question.position).collect();
        let mut streams: Vec<Stream> = (first..last).map(|index| stream(seed, index as u64)).collect();
        choose(agent, &positions, &mut streams, nodes).into_iter().map(|decision| decision.action).collect()
    }

    /// Counts the answer to a question.
    fn mark(&self, number: usize, chosen: Action, accuracy: &mut Accuracy<G::Position>) {
        let question = &self.questions[number];
        let legal = self.game.legal(&question.position);
        let got = self.result(number, chosen);
        let missed = question.best();
        let right = self.is_right(number, chosen);
        let to_move = self.game.to_move(&question.position);
        let parts = (question.phase, Stage::of(&self.game, &question.position));
        accuracy.count(parts, to_move, question.is_critical(), right);
        if !right {
            accuracy.wrong.push(number);
            let mut results = legal.iter().zip(&question.results);
            let (better, _) = results.find(|(_, result)| **result == missed).expect("the best result is one of them");
            accuracy.mistakes.push(Mistake { position: question.position, chosen, got, better, missed });
        }
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

/// The decisions of an agent, with one stream per position. `nodes` limits its nodes or simulations per position; without
/// it, its spec decides.
pub fn choose<G: Game>(
    agent: &mut dyn Agent<G>,
    positions: &[G::Position],
    streams: &mut [Stream],
    nodes: Option<u64>,
) -> Vec<Decision> {
    let limit = Limit { nodes, ..Limit::default() };
    let requests =
        positions.iter().zip(streams).map(|(&position, stream)| Request { position, stream, limit, memory: None });
    let mut requests: Vec<Request<'_, G>> = requests.collect();
    agent.choose(&mut requests)
}
