//! What a session asks its agents next, their share of a processor, and what it does with their answers.

use std::time::Duration;

use super::{DEEPEST, Session};
use crate::agents::{AgentCache, MOVE_TIME};
use crate::levels::Level;
use crate::specs::Strength;
use crate::thought::{Question, Thought, Time};
use jarmo_exact::agent::AgentSpec;

/// Time for the evaluation of a position during play.
const GLANCE: Duration = Duration::from_millis(120);

/// How thoroughly a position was evaluated, least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Effort {
    Glance,
    Study,
    Hint,
    /// A round of looking further, from 1.
    Deep(u32),
}

/// A question for an agent.
pub struct Job {
    question: Question,
    strength: Strength,
    purpose: Purpose,
    place: usize,
    edition: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Move,
    Look(Effort),
    /// The position after a move that is tried.
    Try,
}

impl Job {
    /// Asks the agent, until it answers or its time ends.
    pub fn run(&self, cache: &mut AgentCache, time: Time<'_>) -> Result<Thought, String> {
        let mut own = AgentCache::default();
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

impl Session {
    /// The next job: a move, a hint, a position to analyse, or the evaluation bar, in this order.
    pub fn job(&self) -> Option<Job> {
        if self.trouble.is_some() {
            return None;
        }
        let here = self.board.cursor();
        if self.agent_to_move() {
            let seat = &self.seats[self.board.mover(here)?.index()];
            return Some(self.make_job(here, Purpose::Move, seat.agent(self.board.agents())?));
        }
        let agents = self.board.agents();
        let look = |place, effort, strength| Some(self.make_job(place, Purpose::Look(effort), strength));
        if self.hint == Some(here) && self.lacks(here, Effort::Hint) {
            return look(here, Effort::Hint, agents.analyst(MOVE_TIME));
        }
        if let Some(trial) = &self.trial
            && let Some(question) = trial.question(self)
        {
            return Some(Job { question, ..self.make_job(trial.place, Purpose::Try, agents.reviewer()) });
        }
        if self.analysing {
            if !self.lacks(here, Effort::Study)
                && let Some(round) = self.next_round()
            {
                return look(here, Effort::Deep(round), agents.deepened(round));
            }
            let end = self.board.moves().len();
            let next = std::iter::once(here).chain(0..=end).find(|&place| self.lacks(place, Effort::Study))?;
            return look(next, Effort::Study, agents.reviewer());
        }
        if self.evaluating && self.lacks(here, Effort::Glance) {
            return look(here, Effort::Glance, agents.analyst(GLANCE));
        }
        None
    }

    /// Whether a running job is still the next one.
    pub fn wants(&self, job: &Job) -> bool {
        self.job().is_some_and(|next| (next.edition, next.place, next.purpose) == (job.edition, job.place, job.purpose))
    }

    /// Takes a job's answer and plays it if it is a move. Returns false if the answer is outdated. If the agent could not
    /// answer, none is asked again while [`Session::trouble`] is set.
    pub fn finish(&mut self, job: &Job, answer: Result<Thought, String>) -> bool {
        let thought = match answer {
            Ok(thought) => thought,
            Err(problem) => {
                self.trouble = Some(problem);
                return true;
            }
        };
        if job.edition != self.edition || job.place > self.board.moves().len() {
            return false;
        }
        let effort = match job.purpose {
            Purpose::Move => Effort::Glance,
            Purpose::Look(effort) => effort,
            Purpose::Try => {
                if let Some(trial) = &mut self.trial {
                    trial.value = Some(thought.value);
                }
                return true;
            }
        };
        if job.is_move() {
            if job.place != self.board.cursor() || !self.agent_to_move() {
                return false;
            }
            let played = self.board.play(&thought.text);
            debug_assert!(played.is_ok(), "an agent chose an illegal action");
            self.hint = None;
            self.count_match();
        }
        // An answer to `Move` counts as an evaluation only from the strongest level.
        let best = self.board.agents().of_level(Level::Best);
        let evaluates = !job.is_move() || job.strength == best;
        if evaluates && self.lacks(job.place, effort) {
            match (effort, self.thoughts.get_mut(&job.place)) {
                // The search had no more room or time than the one before it. Further ones would not, either.
                (Effort::Deep(_), Some((had, before))) if thought.nodes <= before.nodes => {
                    *had = Effort::Deep(DEEPEST);
                }
                _ => {
                    self.thoughts.insert(job.place, (effort, thought));
                }
            }
        }
        true
    }

    fn make_job(&self, place: usize, purpose: Purpose, strength: Strength) -> Job {
        // Another game with the same moves gets other answers from agents that draw theirs.
        let seed = match purpose {
            Purpose::Move => self.seed.wrapping_add(self.number),
            Purpose::Look(_) | Purpose::Try => self.seed,
        };
        Job { question: self.board.question(place, seed), strength, purpose, place, edition: self.edition }
    }

    /// Whether the game is not over at a place and the place was not yet evaluated with this effort.
    pub(super) fn lacks(&self, place: usize, effort: Effort) -> bool {
        let known = self.thoughts.get(&place);
        self.board.mover(place).is_some() && known.is_none_or(|(had, _)| *had < effort)
    }
}
