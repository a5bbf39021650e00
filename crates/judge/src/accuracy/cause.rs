//! Why decisions were wrong.

use serde::{Deserialize, Serialize};

use super::exam::Exam;
use super::tally::Phase;
use jarmo_core::random::stream;
use jarmo_exact::agent::{Agent, Decision, Limit};
use jarmo_exact::tables::HasEndgames;

/// If the policy gives all right actions together less than this, the policy is the cause.
pub const LEAST_POLICY: f32 = 0.01;

/// If the agent is right with this many times the simulations, search is the cause; otherwise the network's values
/// are.
pub const MORE_SEARCH: u64 = 10;

/// Why a decision was wrong: the first of these causes that applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cause {
    /// The network's policy gives all right actions together less than [`LEAST_POLICY`].
    Policy,
    /// The agent is right with [`MORE_SEARCH`] times the nodes or simulations.
    Search,
    /// Neither of these: the values are wrong, and more search does not correct them.
    Value,
}

impl Cause {
    /// All causes, in the order in which they are tried.
    pub const ALL: [Cause; 3] = [Cause::Policy, Cause::Search, Cause::Value];

    /// `policy`, `search` or `value`.
    pub const fn name(self) -> &'static str {
        ["policy", "search", "value"][self as usize]
    }
}

/// The number of wrong decisions by phase and cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Causes([[u64; 3]; 3]);

impl Causes {
    /// The number of wrong decisions in a phase that have this cause.
    pub fn count(&self, phase: Phase, cause: Cause) -> u64 {
        self.0[phase as usize][cause as usize]
    }

    /// The number of wrong decisions in all phases that have this cause.
    pub fn total(&self, cause: Cause) -> u64 {
        Phase::ALL.into_iter().map(|phase| self.count(phase, cause)).sum()
    }
}

impl<G: HasEndgames> Exam<G> {
    /// Why an agent with this many nodes or simulations was wrong in the questions with the indices `wrong`. `networks`
    /// contains its network without search, or is empty if the agent has none, in which case the policy is never the
    /// cause.
    ///
    /// # Panics
    /// Panics if `agents` is empty.
    pub fn causes(
        &self,
        wrong: &[usize],
        networks: &mut [Box<dyn Agent<G>>],
        agents: &mut [Box<dyn Agent<G>>],
        nodes: u64,
        seed: u64,
    ) -> Causes {
        let asked = wrong.iter().map(|&number| self.questions[number].clone());
        let exam = Exam::new(&self.game, &self.made, asked.collect());
        let shares = networks.first_mut().map(|network| exam.policy_of_right(network.as_mut(), seed));
        let deeper = exam.take(agents, Some(nodes.saturating_mul(MORE_SEARCH)), seed);
        let mut causes = Causes::default();
        for (number, question) in exam.questions.iter().enumerate() {
            let missed = |shares: &Vec<f32>| shares[number] < LEAST_POLICY;
            let cause = if shares.as_ref().is_some_and(missed) {
                Cause::Policy
            } else if deeper.wrong.binary_search(&number).is_err() {
                Cause::Search
            } else {
                Cause::Value
            };
            causes.0[question.phase as usize][cause as usize] += 1;
        }
        causes
    }

    /// For each question, the probability that the agent's policy gives to all right actions together.
    fn policy_of_right(&self, agent: &mut dyn Agent<G>, seed: u64) -> Vec<f32> {
        let positions: Vec<_> = self.questions.iter().map(|one| one.position).collect();
        let mut streams: Vec<_> = (0..self.questions.len() as u64).map(|number| stream(seed, number)).collect();
        let decisions = agent.decide(&positions, &mut streams, Limit::default());
        let share = |(question, decision): (usize, &Decision)| {
            let right = decision.candidates.iter().filter(|one| self.is_right(question, one.action));
            right.map(|candidate| candidate.policy).sum()
        };
        decisions.iter().enumerate().map(share).collect()
    }
}
