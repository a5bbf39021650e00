//! An agent's answer for a position, independent of the game and from White's viewpoint.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::agents::AgentCache;
use crate::error::SessionError;
use crate::specs::LimitedAgent;
use jarmo_core::agent;
use jarmo_core::eval::Value;
use jarmo_core::game::{Action, AnyPosition, Player, Proven, Verdict};
use jarmo_core::random::stream;
use jarmo_core::search::MARGIN;
use jarmo_core::view::Gesture;
use jarmo_exact::agent::{Limit, Networks};
use jarmo_exact::catalog::GameSettings;
use jarmo_facade::{AnyGame, AnyRequest, Move};

/// Longest expected line that is shown, in moves.
const LINE_LENGTH: usize = 8;

/// Values with a larger error than this are not compared, on the scale from -1 to +1.
const MOST_ERROR: f32 = 0.05;

/// Most candidate moves that are shown.
const CANDIDATES: usize = 8;

/// An agent's answer for a position. Values are White's: +1 is a win for White.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Analysis {
    /// The action it chooses.
    #[serde(skip)]
    pub action: Action,
    /// The action as text.
    pub text: String,
    /// The position's value.
    pub value: f32,
    /// Expected point difference, White's points minus Black's.
    pub score: f32,
    /// White's proven result.
    #[serde(serialize_with = "by_winner")]
    pub proven: Option<Proven>,
    /// Nodes or simulations.
    pub nodes: u64,
    /// Search depth in plies.
    pub depth: u32,
    /// Time in milliseconds.
    pub millis: u64,
    /// Candidate moves in the order in which the agent would play them: a proven loss comes last.
    pub candidates: Vec<Candidate>,
}

/// An agent's view of one candidate move.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Candidate {
    /// The move.
    pub text: String,
    /// Its effect on the board.
    pub gesture: Gesture,
    /// Nodes or simulations below it.
    pub visits: u64,
    /// Its probability in the agent's policy.
    pub policy: f32,
    /// The value after it.
    pub value: f32,
    /// Whether the search found no difference between its value and that of the first candidate.
    pub equal: bool,
    /// White's proven result after it.
    #[serde(serialize_with = "by_winner")]
    pub proven: Option<Proven>,
    /// Expected line, this move first.
    pub line: Vec<String>,
}

/// Serializes White's proven result as the winner, null for a draw, and the plies until the end.
pub(crate) fn by_winner<S: Serializer>(proven: &Option<Proven>, out: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct ByWinner {
        winner: Option<Player>,
        plies: Option<u32>,
    }
    let result = proven.map(|Proven { verdict, plies }| ByWinner { winner: winner(verdict), plies });
    result.serialize(out)
}

/// The winner, from White's result.
pub(crate) fn winner(verdict: Verdict) -> Option<Player> {
    match verdict {
        Verdict::Win => Some(Player::White),
        Verdict::Draw => None,
        Verdict::Loss => Some(Player::Black),
    }
}

/// A clock: the time since a fixed moment.
pub type Clock = fn() -> Duration;

/// The share of a CPU for an answer, and its limits.
#[derive(Clone, Copy, Debug)]
pub struct Time<'a> {
    /// What measures it.
    pub clock: Clock,
    /// The answer ends when this is set.
    pub stop: &'a AtomicBool,
    /// The number of answers that share the CPU, this one included. Times are divided by it.
    pub sharers: u32,
    /// The most time that any agent's answer may take if it has the CPU to itself.
    pub most: Option<Duration>,
}

impl Time<'_> {
    /// The CPU serves one session, and only the specs limit its agents.
    pub fn alone(clock: Clock, stop: &AtomicBool) -> Time<'_> {
        Time { clock, stop, sharers: 1, most: None }
    }
}

/// A position as a question for an agent.
pub(crate) struct Question {
    pub(crate) game: Arc<dyn AnyGame>,
    pub(crate) settings: GameSettings,
    pub(crate) networks: Networks,
    pub(crate) position: AnyPosition,
    pub(crate) seed: u64,
}

impl Question {
    /// Asks this agent, which stops at its spec's own limits, or when its time has ended.
    pub(crate) fn ask(
        &self,
        cache: &mut AgentCache,
        asked: &LimitedAgent,
        time: Time<'_>,
    ) -> Result<Analysis, SessionError> {
        let agent = cache.agent(self, asked)?;
        let began = (time.clock)();
        let took = || (time.clock)().saturating_sub(began);
        let is_past = |limit: Option<Duration>| limit.is_some_and(|limit| took() >= limit / time.sharers.max(1));
        let (is_spent, is_latest) = (|| is_past(asked.time), || is_past(time.most));
        let limit = Limit {
            nodes: asked.nodes,
            deadline: asked.time.is_some().then_some(&is_spent),
            latest: time.most.is_some().then_some(&is_latest),
            stop: Some(time.stop),
            ..Limit::default()
        };
        let (game, position) = (&self.game, &self.position);
        let mut stream = stream(self.seed, u64::from(position.ply));
        // Without a memory, because answers depend on the position alone.
        let request = AnyRequest { position, stream: &mut stream, limit, memory: None };
        let decision = agent.choose(vec![request]).remove(0);
        let value = |own: &Value| as_white(position.to_move, *own, |own| own.flip());
        let proven = |own| as_white(position.to_move, own, Proven::flip);
        let ranked = ranked(decision.candidates, decision.action);
        let candidates = ranked.iter().take(CANDIDATES);
        let candidates = candidates.map(|candidate| {
            let Move { text, gesture, .. } = game.describe(position, candidate.action);
            Candidate {
                text,
                gesture,
                visits: candidate.visits,
                policy: candidate.policy,
                value: value(&candidate.value).expectation(),
                equal: candidate.action != decision.action && is_equal(&ranked[0], candidate),
                proven: candidate.proven.map(proven),
                line: game.line_texts(position, &candidate.line[..candidate.line.len().min(LINE_LENGTH)]),
            }
        });
        let own = value(&decision.value);
        Ok(Analysis {
            action: decision.action,
            text: game.describe(position, decision.action).text,
            value: own.expectation(),
            score: own.score,
            proven: decision.proven.map(proven),
            nodes: decision.nodes,
            depth: decision.depth,
            millis: took().as_millis().try_into().unwrap_or(u64::MAX),
            candidates: candidates.collect(),
        })
    }
}

/// The candidates in the order in which the agent would play them: the chosen one, and then by a lower bound of their
/// values, proven losses last.
fn ranked(mut candidates: Vec<agent::Candidate>, chosen: Action) -> Vec<agent::Candidate> {
    let is_lost = |one: &agent::Candidate| one.proven.is_some_and(|proven| proven.verdict == Verdict::Loss);
    let least = |one: &agent::Candidate| one.value.expectation() - error(one);
    candidates.sort_by(|a, b| {
        let class = |one: &agent::Candidate| (one.action != chosen, is_lost(one));
        class(a).cmp(&class(b)).then(least(b).total_cmp(&least(a)))
    });
    candidates
}

/// The error of a candidate's value; `None` for agents that count no visits.
fn error(one: &agent::Candidate) -> f32 {
    if one.proven.is_some() || one.visits == 0 { 0.0 } else { MARGIN / (one.visits as f32).sqrt() }
}

/// Whether two values differ by no more than their errors. Very uncertain values are never equal.
fn is_equal(first: &agent::Candidate, other: &agent::Candidate) -> bool {
    let errors = error(first) + error(other);
    let apart = (first.value.expectation() - other.value.expectation()).abs();
    let verdict = |one: &agent::Candidate| one.proven.map(|proven| proven.verdict);
    errors < MOST_ERROR && apart <= errors && verdict(first) == verdict(other)
}

/// Converts between the mover's point of view and White's.
pub(crate) fn as_white<T>(mover: Player, seen: T, flip: impl FnOnce(T) -> T) -> T {
    match mover {
        Player::White => seen,
        Player::Black => flip(seen),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(action: u16, value: f32, visits: u64) -> agent::Candidate {
        let value = Value { win: (1.0 + value) / 2.0, loss: (1.0 - value) / 2.0, draw: 0.0, score: 0.0 };
        agent::Candidate { action: Action(action), visits, policy: 0.0, value, proven: None, line: Vec::new() }
    }

    fn lost(action: u16) -> agent::Candidate {
        let proven = Proven { verdict: Verdict::Loss, plies: Some(2) };
        agent::Candidate { proven: Some(proven), ..candidate(action, -1.0, 1) }
    }

    #[test]
    fn hints_are_ranked_by_what_the_agent_would_play_and_lost_moves_are_last() {
        let asked = vec![lost(1), candidate(2, 0.1, 4), candidate(3, 0.0, 2_257), candidate(4, 0.0, 21_154)];
        let actions = |chosen| ranked(asked.clone(), Action(chosen)).iter().map(|one| one.action).collect::<Vec<_>>();
        assert_eq!(actions(4), [4, 3, 2, 1].map(Action), "four visits say little about a value");
        assert_eq!(actions(3), [3, 4, 2, 1].map(Action), "the chosen move is first");
    }

    #[test]
    fn values_are_equal_within_their_errors() {
        let (few, many) = (candidate(1, 0.002, 2_257), candidate(2, 0.0, 21_154));
        assert!(is_equal(&many, &few));
        assert!(!is_equal(&many, &candidate(3, 0.1, 21_154)));
        assert!(!is_equal(&many, &candidate(3, 0.0, 4)), "nothing is known of a move with four visits");
        assert!(!is_equal(&many, &lost(3)));
    }
}
