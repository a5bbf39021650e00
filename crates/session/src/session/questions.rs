//! The next question of a session to its agents, their share of a CPU, and the use of their answers.

use std::time::Duration;

use super::{DEEPEST, Session};
use crate::agents::{AgentCache, MOVE_TIME};
use crate::analysis::{MARKS, lost};
use crate::error::SessionError;
use crate::levels::Level;
use crate::specs::LimitedAgent;
use crate::thought::{Analysis, Question, Time};
use crate::tree::Node;
use jarmo_exact::agent::AgentSpec;

/// Time for the evaluation of a position during play.
const GLANCE: Duration = Duration::from_millis(120);

/// The rounds of an analysis. All places have the first round. Those before and after a move that may be a mistake have
/// the second, and if it leaves the annotation uncertain, the third. A search of a round has the reviewer's nodes divided
/// by this.
const SHARES: [u64; 3] = [16, 8, 1];
const LAST: usize = SHARES.len() - 1;

/// A move that loses at least this much in the first round may be a mistake.
const SUSPECT: f32 = 0.05;

/// An annotation is uncertain if the loss is nearer than this to a bound between two. These numbers were measured: see
/// `docs/lab/search.md`.
const UNCERTAIN: f32 = 0.02;

/// The effort of an evaluation, least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Effort {
    Glance,
    /// A round of the analysis, from 0.
    Study(usize),
    Hint,
    /// A round of *Search on*, from 1.
    Deep(u32),
}

/// A question for an agent.
pub struct Job {
    question: Question,
    agent: LimitedAgent,
    purpose: Purpose,
    node: Node,
    edition: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Move,
    Look(Effort),
}

impl Job {
    /// Asks the agent, until it answers or its time ends.
    pub fn run(&self, cache: &mut AgentCache, time: Time<'_>) -> Result<Analysis, SessionError> {
        let mut own = AgentCache::default();
        let cache = match self.purpose {
            Purpose::Look(Effort::Deep(_)) => &mut own, // the large tree goes at once
            _ => cache,
        };
        self.question.ask(cache, &self.agent, time)
    }

    /// Whether the agent searches; other agents answer at once.
    pub fn searches(&self) -> bool {
        !matches!(self.agent.spec, AgentSpec::Random | AgentSpec::Greedy)
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
        let look = |place, effort, agent| Some(self.make_job(place, Purpose::Look(effort), agent));
        if self.hint == Some(self.board.shown()) && self.lacks(here, Effort::Hint) {
            return look(here, Effort::Hint, agents.analyst(MOVE_TIME));
        }
        if self.analysing {
            let (place, round) = match self.next_round() {
                _ if self.lacks(here, Effort::Study(LAST)) => (here, LAST),
                Some(round) => return look(here, Effort::Deep(round), agents.deepened(round)),
                None => self.unstudied().min_by_key(|(_, round)| *round)?,
            };
            let reviewer = agents.reviewer();
            let nodes = reviewer.nodes.map(|nodes| nodes / SHARES[round]);
            return look(place, Effort::Study(round), LimitedAgent { nodes, ..reviewer });
        }
        if self.evaluating && self.lacks(here, Effort::Glance) {
            return look(here, Effort::Glance, agents.analyst(GLANCE));
        }
        None
    }

    /// Whether a running job is still the next one.
    pub fn wants(&self, job: &Job) -> bool {
        self.job().is_some_and(|next| (next.edition, next.node, next.purpose) == (job.edition, job.node, job.purpose))
    }

    /// Takes a job's answer and plays it if it is a move. Returns false if the answer is outdated. If the agent could not
    /// answer, none is asked again while [`Session::trouble`] is set.
    pub fn finish(&mut self, job: &Job, answer: Result<Analysis, SessionError>) -> bool {
        let thought = match answer {
            Ok(thought) => thought,
            Err(problem) => {
                self.trouble = Some(problem);
                return true;
            }
        };
        if job.edition != self.edition || !self.board.tree.has(job.node) {
            return false;
        }
        let effort = match job.purpose {
            Purpose::Move => Effort::Glance,
            Purpose::Look(effort) => effort,
        };
        if job.is_move() {
            if job.node != self.board.shown() || !self.agent_to_move() {
                return false;
            }
            let played = self.board.play_action(thought.action);
            debug_assert!(played.is_ok(), "an agent chose an illegal action");
            self.moved(true);
        }
        // An answer to `Move` counts as an evaluation only from the strongest level.
        let best = self.board.agents().of_level(Level::Best);
        let evaluates = !job.is_move() || job.agent == best;
        let before = self.thoughts.get_mut(&job.node);
        if evaluates && before.as_ref().is_none_or(|(had, _)| *had < effort) {
            match (effort, before) {
                // The search had no more room or time than the one before it. Further ones would not, either.
                (Effort::Deep(_), Some((had, before))) if thought.nodes <= before.nodes => {
                    *had = Effort::Deep(DEEPEST);
                }
                _ => {
                    self.thoughts.insert(job.node, (effort, thought));
                }
            }
        }
        true
    }

    fn make_job(&self, place: usize, purpose: Purpose, agent: LimitedAgent) -> Job {
        // Another game with the same moves gets other answers from agents that draw theirs.
        let seed = match purpose {
            Purpose::Move => self.seed.wrapping_add(self.number),
            Purpose::Look(_) => self.seed,
        };
        let node = self.board.node(place);
        Job { question: self.board.question(place, seed), agent, purpose, node, edition: self.edition }
    }

    /// The places that the analysis has not evaluated enough yet, with the round that they need.
    pub fn unstudied(&self) -> impl Iterator<Item = (usize, usize)> {
        let moves = self.board.moves();
        let mut rounds = vec![0; moves.len() + 1];
        for (place, played) in moves.iter().enumerate() {
            let lost = lost(self, place, played).unwrap_or(0.0);
            let is_compared = !self.lacks(place, Effort::Study(1)) && !self.lacks(place + 1, Effort::Study(1));
            let is_uncertain = MARKS.iter().any(|(_, least)| (lost - least).abs() < UNCERTAIN);
            let round = match lost >= SUSPECT {
                true if is_compared && is_uncertain => LAST,
                true => 1,
                false => 0,
            };
            for needed in &mut rounds[place..=place + 1] {
                *needed = round.max(*needed);
            }
        }
        rounds.into_iter().enumerate().filter(|&(place, round)| self.lacks(place, Effort::Study(round)))
    }

    /// Whether the game is not over at a place and the place was not yet evaluated with this effort.
    fn lacks(&self, place: usize, effort: Effort) -> bool {
        let known = self.thoughts.get(&self.board.node(place));
        self.board.mover(place).is_some() && known.is_none_or(|(had, _)| *had < effort)
    }
}
