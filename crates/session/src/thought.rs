//! An agent's answer for a position, independent of the game and from White's viewpoint.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::agents::AgentCache;
use crate::specs::Strength;
use jarmo_core::eval::Value;
use jarmo_core::game::{Player, Proven, Verdict};
use jarmo_core::random::stream;
use jarmo_core::view::Gesture;
use jarmo_exact::agent::{Agent, Limit, Request};
use jarmo_exact::catalog::CatalogGame;

/// Longest expected line that is shown, in moves.
const LINE_LENGTH: usize = 8;

/// Most candidate moves that are shown.
const CANDIDATES: usize = 8;

/// An agent's answer for a position. Values are White's: +1 is a win for White.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Thought {
    /// The move it chooses.
    pub text: String,
    /// The position's value.
    pub value: f32,
    /// Expected score difference, White's points minus Black's.
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
    /// Candidate moves, best first.
    pub candidates: Vec<Idea>,
}

/// An agent's view of one candidate move.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Idea {
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

/// A clock: the time since some moment that stays the same.
pub type Clock = fn() -> Duration;

/// The share of a processor for an answer, and what ends it.
#[derive(Clone, Copy, Debug)]
pub struct Time<'a> {
    /// What measures it.
    pub clock: Clock,
    /// The answer ends when this is set.
    pub stop: &'a AtomicBool,
    /// The answers that wait for the same processor, this one included. Times are divided by it.
    pub sharers: u32,
    /// The longest time of an answer that has the processor for itself, whatever the agent.
    pub most: Option<Duration>,
}

impl Time<'_> {
    /// The processor serves one session, and its agents may think as long as their specs say.
    pub fn alone(clock: Clock, stop: &AtomicBool) -> Time<'_> {
        Time { clock, stop, sharers: 1, most: None }
    }
}

/// A position of any game. Called with an agent's strength, it asks the agent, which stops at its spec's own limits, or
/// when its time has ended.
pub type Question = Box<dyn Fn(&mut AgentCache, &Strength, Time<'_>) -> Result<Thought, String> + Send + Sync>;

/// Asks an agent about a position.
pub(crate) fn ask<G: CatalogGame>(
    game: &G,
    position: G::Position,
    agent: &mut dyn Agent<G>,
    strength: &Strength,
    seed: u64,
    time: Time<'_>,
) -> Thought {
    let began = (time.clock)();
    let took = || (time.clock)().saturating_sub(began);
    let is_past = |limit: Option<Duration>| limit.is_some_and(|limit| took() >= limit / time.sharers.max(1));
    let (is_spent, is_latest) = (|| is_past(strength.time), || is_past(time.most));
    let limit = Limit {
        nodes: strength.nodes,
        deadline: strength.time.is_some().then_some(&is_spent),
        latest: time.most.is_some().then_some(&is_latest),
        stop: Some(time.stop),
        ..Limit::default()
    };
    let mut stream = stream(seed, u64::from(game.ply(&position)));
    // Without a memory, because answers depend on the position alone.
    let request = Request { position, stream: &mut stream, limit, memory: None };
    let decision = agent.choose(&mut [request]).remove(0);
    let mover = game.to_move(&position);
    let value = |own: &Value| as_white(mover, *own, |own| own.flip());
    let proven = |own| as_white(mover, own, Proven::flip);
    let candidates = decision.candidates.iter().take(CANDIDATES);
    let candidates = candidates.map(|candidate| Idea {
        text: game.action_text(&position, candidate.action),
        gesture: game.gesture(&position, candidate.action),
        visits: candidate.visits,
        policy: candidate.policy,
        value: value(&candidate.value).expectation(),
        proven: candidate.proven.map(proven),
        line: game.line_texts(position, &candidate.line[..candidate.line.len().min(LINE_LENGTH)]),
    });
    let own = value(&decision.value);
    Thought {
        text: game.action_text(&position, decision.action),
        value: own.expectation(),
        score: own.score,
        proven: decision.proven.map(proven),
        nodes: decision.nodes,
        depth: decision.depth,
        millis: took().as_millis().try_into().unwrap_or(u64::MAX),
        candidates: candidates.collect(),
    }
}

/// Turns what the mover sees into what White sees, or the other way round.
pub(crate) fn as_white<T>(mover: Player, seen: T, flip: impl FnOnce(T) -> T) -> T {
    match mover {
        Player::White => seen,
        Player::Black => flip(seen),
    }
}
