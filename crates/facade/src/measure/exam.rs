//! Exams of an erased game.

use jarmo_core::agent::{Agent, PolicyAgent};
use jarmo_core::game::AnyPosition;
use jarmo_core::net::{FrozenNet, NetEvaluator};
use jarmo_exact::agent::Agents;
use jarmo_exact::catalog::CatalogGame;
use jarmo_judge::accuracy::{Accuracy, Causes, Exam, ExamScore, Question, Watch};

use super::MeasureError;
use crate::agent::AgentPlan;

/// An exam.
pub trait AnyExam: Send + Sync {
    /// The questions.
    fn questions(&self) -> Vec<Question<AnyPosition>>;

    /// The number of questions.
    fn len(&self) -> usize;

    /// Whether the exam has no questions.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How the questions were chosen and solved.
    fn made(&self) -> &str;

    /// A checksum of the questions.
    fn checksum(&self) -> String;

    /// The result of a network without search, on the threads of the current rayon pool.
    fn score(&self, net: &FrozenNet, threads: usize) -> ExamScore;

    /// Examines an agent on the threads of the current rayon pool, and counts the causes of its wrong decisions on
    /// request. If the watcher stops the exam, the result covers the questions answered so far.
    fn measure(&self, plan: Examinee, causes: bool, watch: &dyn Watch) -> Result<Measured, MeasureError>;
}

/// The agent to measure, and how.
#[derive(Clone)]
pub struct Examinee {
    /// The agent.
    pub agent: AgentPlan,
    /// Its budget.
    pub budget: Budget,
    /// The seed of its random numbers.
    pub seed: u64,
    /// The number of agents that share the work.
    pub threads: usize,
}

/// Nodes or simulations per decision, 0 for the network without search; `None` is the number in the spec.
pub type Budget = Option<u64>;

impl Examinee {
    /// Agents that play alike and share their network.
    pub(super) fn team<G: CatalogGame>(&self, game: &G) -> Result<Agents<G>, MeasureError> {
        let agent = |_| match self.budget {
            Some(0) => {
                self.agent.build_without_search(game)?.ok_or_else(|| MeasureError::NoNetwork(self.agent.to_string()))
            }
            _ => Ok(self.agent.build(game)?),
        };
        (0..self.threads).map(agent).collect()
    }
}

/// An agent's answers with a budget.
pub struct Measured {
    /// The budget.
    pub budget: Budget,
    /// Its answers.
    pub accuracy: Accuracy<AnyPosition>,
    /// The causes of its wrong answers, if requested.
    pub causes: Option<Causes>,
}

impl<G: CatalogGame> AnyExam for Exam<G> {
    fn questions(&self) -> Vec<Question<AnyPosition>> {
        let questions = self.questions().iter().cloned();
        let question = |Question { position, phase, results }| Question {
            position: AnyPosition::new(self.game(), position),
            phase,
            results,
        };
        questions.map(question).collect()
    }

    fn len(&self) -> usize {
        self.len()
    }

    fn made(&self) -> &str {
        self.made()
    }

    fn checksum(&self) -> String {
        self.checksum()
    }

    fn score(&self, net: &FrozenNet, threads: usize) -> ExamScore {
        const SEED: u64 = 0; // a network uses no random numbers
        let agent = |_| -> Box<dyn Agent<G>> {
            let evaluator = NetEvaluator::with_net(self.game().clone(), net.clone());
            Box::new(PolicyAgent::new(self.game().clone(), evaluator))
        };
        let mut agents: Agents<G> = (0..threads).map(agent).collect();
        self.take(&mut agents, None, SEED).score()
    }

    fn measure(&self, plan: Examinee, causes: bool, watch: &dyn Watch) -> Result<Measured, MeasureError> {
        let mut agents = plan.team(self.game())?;
        let Examinee { agent, budget, seed, .. } = plan;
        let accuracy = self.take_watched(&mut agents, budget, seed, watch);
        let searches = budget.filter(|&nodes| causes && nodes > 0 && !watch.is_stopped());
        let causes = match searches {
            Some(nodes) => {
                let mut networks: Agents<G> = agent.build_without_search(self.game())?.into_iter().collect();
                Some(self.causes(&accuracy.wrong, &mut networks, &mut agents, nodes, seed))
            }
            None => None,
        };
        let accuracy = accuracy.with_positions(|position| AnyPosition::new(self.game(), position));
        Ok(Measured { budget, accuracy, causes })
    }
}
