//! A question of a session for an agent, and the agent's share of a processor.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::agents::AgentCache;
use crate::specs::Strength;
use crate::thought::{Clock, Question, Thought, Time};
use jarmo_exact::agent::AgentSpec;

/// How thoroughly a position was evaluated, least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Effort {
    Glance,
    Study,
    Hint,
    /// A round of looking further, from 1.
    Deep(u32),
}

/// A question for an agent.
pub struct Job {
    pub(crate) question: Question,
    pub(crate) strength: Strength,
    pub(crate) time: Option<Duration>,
    pub(crate) purpose: Purpose,
    pub(crate) place: usize,
    pub(crate) edition: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Move,
    Look(Effort),
    /// The position after a move that is tried.
    Try,
}

/// A job's share of a processor.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// The number of jobs that wait for the same processor, this one included. Times are divided by it.
    pub sharers: u32,
    /// The longest time of a job that has the processor for itself, whatever the agent.
    pub most: Option<Duration>,
}

impl Share {
    /// The processor serves one session, and its agents may think as long as their specs say.
    pub const ALONE: Share = Share { sharers: 1, most: None };
}

impl Job {
    /// Asks the agent, until it answers, its time is up, or `stop` is set.
    pub fn run(
        &self,
        cache: &mut AgentCache,
        clock: Clock,
        stop: &AtomicBool,
        share: Share,
    ) -> Result<Thought, String> {
        let part = |time: Duration| time / share.sharers.max(1);
        let time = Time { given: self.time.map(part), most: share.most.map(part), clock, stop };
        let mut own = AgentCache::new();
        let cache = match self.purpose {
            Purpose::Look(Effort::Deep(_)) => &mut own, // the large tree goes at once
            _ => cache,
        };
        (self.question)(cache, &self.strength, time)
    }

    /// Whether the agent searches; other agents answer at once.
    pub fn searches(&self) -> bool {
        !matches!(self.strength.spec, AgentSpec::Random | AgentSpec::Greedy)
    }

    /// Whether the answer will be played.
    pub fn is_move(&self) -> bool {
        self.purpose == Purpose::Move
    }
}
