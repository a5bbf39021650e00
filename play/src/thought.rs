//! What an agent thinks of a position, in terms that no longer depend on the game or the mover.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde::{Serialize, Serializer};

use crate::agents::Shelf;
use crate::specs::Strength;
use jarmo::agent::{Choice, Limit, Request};
use jarmo::board::Gesture;
use jarmo::catalog::CatalogGame;
use jarmo::eval::Value;
use jarmo::game::{Action, Player, Proven, Verdict};
use jarmo::random::stream;

/// Moves shown of each expected line of play.
const LINE_LENGTH: usize = 8;

/// Candidates shown of a choice.
const CANDIDATES: usize = 8;

/// What an agent thinks of a position. Values are White's: +1 is a win for White.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Thought {
    /// The move it would play.
    pub text: String,
    /// The position's worth.
    pub value: f32,
    /// The points to expect, White's minus Black's.
    pub score: f32,
    /// White's result, if it is certain.
    #[serde(serialize_with = "by_winner")]
    pub proven: Option<Proven>,
    /// Nodes or simulations spent.
    pub nodes: u64,
    /// Depth reached.
    pub depth: u32,
    /// Time spent.
    pub millis: u64,
    /// The moves it looked at, best first.
    pub candidates: Vec<Idea>,
}

/// What an agent thinks of one move.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Idea {
    /// The move.
    pub text: String,
    /// What it does on the board.
    pub gesture: Gesture,
    /// Nodes or simulations spent on it.
    pub visits: u64,
    /// Its share of the agent's policy.
    pub policy: f32,
    /// The position's worth if it is played.
    pub value: f32,
    /// White's result if it is played, if certain.
    #[serde(serialize_with = "by_winner")]
    pub proven: Option<Proven>,
    /// Expected play, this move first.
    pub line: Vec<String>,
}

/// Writes a certain result of White's as who wins, nobody for a draw, and in how many plies.
pub(crate) fn by_winner<S: Serializer>(proven: &Option<Proven>, out: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Told {
        winner: Option<Player>,
        plies: Option<u32>,
    }
    let told = proven.map(|Proven { verdict, plies }| Told {
        winner: winner(verdict),
        plies,
    });
    told.serialize(out)
}

/// Who wins, from White's result.
pub(crate) fn winner(verdict: Verdict) -> Option<Player> {
    match verdict {
        Verdict::Win => Some(Player::White),
        Verdict::Draw => None,
        Verdict::Loss => Some(Player::Black),
    }
}

/// A position to think about, whichever game it is.
pub trait Thinking: Send + Sync {
    /// Asks an agent, which may take as long as its spec says, but no longer than this time.
    fn think(
        &self,
        shelf: &mut Shelf,
        strength: &Strength,
        time: Option<Duration>,
        stop: &AtomicBool,
    ) -> Result<Thought, String>;
}

/// A position of a known game to think about.
pub(crate) struct Question<G: CatalogGame> {
    pub(crate) game: G,
    pub(crate) variant: String,
    pub(crate) position: G::Position,
    pub(crate) seed: u64,
}

impl<G: CatalogGame> Thinking for Question<G> {
    fn think(
        &self,
        shelf: &mut Shelf,
        strength: &Strength,
        time: Option<Duration>,
        stop: &AtomicBool,
    ) -> Result<Thought, String> {
        let agent = shelf.agent(&self.game, &self.variant, strength)?;
        let began = Instant::now();
        let limit = Limit {
            nodes: strength.nodes,
            deadline: time.map(|time| began + time),
            stop: Some(stop),
            ..Limit::default()
        };
        let mut stream = stream(self.seed, u64::from(self.game.ply(&self.position)));
        let request = Request {
            position: self.position,
            stream: &mut stream,
            limit,
            memory: None, // the same position has the same answer
        };
        let choice = agent.choose(&mut [request]).remove(0);
        Ok(self.translate(&choice, began.elapsed()))
    }
}

impl<G: CatalogGame> Question<G> {
    fn translate(&self, choice: &Choice, took: Duration) -> Thought {
        let mover = self.game.to_move(&self.position);
        let candidates = choice.candidates.iter().take(CANDIDATES);
        let candidates = candidates.map(|candidate| Idea {
            text: self.game.action_text(&self.position, candidate.action),
            gesture: self.game.gesture(&self.position, candidate.action),
            visits: candidate.visits,
            policy: candidate.policy,
            value: white(mover, &candidate.value).expectation(),
            proven: candidate.proven.map(|known| certain(mover, known)),
            line: self.line(&candidate.line),
        });
        let value = white(mover, &choice.value);
        Thought {
            text: self.game.action_text(&self.position, choice.action),
            value: value.expectation(),
            score: value.score,
            proven: choice.proven.map(|known| certain(mover, known)),
            nodes: choice.nodes,
            depth: choice.depth,
            millis: took.as_millis().try_into().unwrap_or(u64::MAX),
            candidates: candidates.collect(),
        }
    }

    fn line(&self, actions: &[Action]) -> Vec<String> {
        let mut position = self.position;
        let mut texts = Vec::new();
        for &action in actions.iter().take(LINE_LENGTH) {
            let text = self.game.action_text(&position, action);
            if self.game.try_play(&mut position, action).is_err() {
                break; // an agent's expectation is no law
            }
            texts.push(text);
        }
        texts
    }
}

/// A value of the player to move as White sees it.
fn white(mover: Player, value: &Value) -> Value {
    match mover {
        Player::White => *value,
        Player::Black => value.flip(),
    }
}

/// A certain result of the player to move as White sees it.
pub(crate) fn certain(mover: Player, proven: Proven) -> Proven {
    match mover {
        Player::White => proven,
        Player::Black => proven.flip(),
    }
}
