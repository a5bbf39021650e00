//! Why decisions were wrong.

use serde::{Deserialize, Serialize};

use super::exam::Exam;
use super::tally::Phase;
use jarmo_core::random::stream;
use jarmo_exact::agent::{Agent, Decision, Limit};
use jarmo_exact::tables::HasEndgames;

/// The share below which the network's policy is said to miss the right actions.
pub const LEAST_POLICY: f32 = 0.01;

/// How many times more simulations tell a mistake of search from one of the network.
pub const MORE_SEARCH: u64 = 10;

/// Why a decision was wrong. The first cause that holds counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cause {
    /// The network's policy gives all right actions together less than [`LEAST_POLICY`].
    Policy,
    /// The agent is right with [`MORE_SEARCH`] times the nodes or simulations.
    Search,
    /// Neither: the values that search finds are wrong.
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

/// Numbers of wrong decisions by phase and cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Causes([[u64; 3]; 3]);

impl Causes {
    /// The wrong decisions of a phase with this cause.
    pub fn count(&self, phase: Phase, cause: Cause) -> u64 {
        self.0[phase as usize][cause as usize]
    }

    /// The wrong decisions of all phases with this cause.
    pub fn total(&self, cause: Cause) -> u64 {
        Phase::ALL.into_iter().map(|phase| self.count(phase, cause)).sum()
    }
}

impl<G: HasEndgames> Exam<G> {
    /// Why an agent was wrong in these questions, when it had this many nodes or simulations. `networks` are its
    /// network without search, and none for an agent without a network; then no cause is the policy.
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

    /// The probability that the agent's policy gives to the right actions together, for each question.
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
