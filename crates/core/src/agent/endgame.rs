//! The agent that plays from exact tables, or from a proof.

use std::cmp::Reverse;
use std::sync::Arc;

use rand::Rng;

use super::{Agent, Candidate, Decision, Request};
use crate::game::{Action, Game, Mask, Proven, Verdict};
use crate::known::{Endgames, ProofStrategy};
use crate::random::{Stream, below};

/// Chooses an action if something certain is known about the position; otherwise returns `None`.
type Choose<G> = dyn Fn(&<G as Game>::Position, &mut Stream) -> Option<Decision> + Send;

/// Plays the positions for which tables or a proof know something certain. Another agent plays all other positions.
pub struct EndgameAgent<G: Game> {
    choose: Box<Choose<G>>,
    outside: Box<dyn Agent<G>>,
}

impl<G: Game> EndgameAgent<G> {
    /// An agent that plays the positions of exact tables perfectly: it wins quickly, loses slowly, and selects among
    /// equally good actions at random. If the plies to a win are not known, it wins by [`Endgames::way_forward`].
    ///
    /// Tables can ignore rules, see [`Endgames::holds`]. Where that function knows more, the agent never gives up a
    /// proven draw or win, and among draws prefers those in which the opponent has no proven draw.
    pub fn new(game: G, tables: Arc<dyn Endgames<G>>, outside: Box<dyn Agent<G>>) -> EndgameAgent<G> {
        let inside = Inside { game, tables };
        EndgameAgent { choose: Box::new(move |position, stream| inside.choose(position, stream)), outside }
    }

    /// An agent that plays the wins of a proof. No reply can save the opponent.
    pub fn by_proof(game: G, guide: Arc<dyn ProofStrategy<G>>, outside: Box<dyn Agent<G>>) -> EndgameAgent<G> {
        let choose = move |position: &G::Position, _: &mut Stream| {
            let (action, plies) = guide.next(&game, position)?;
            let proven = Proven { verdict: Verdict::Win, plies };
            Some(Decision::of_one_ply(vec![Candidate::proven(action, proven)], 0))
        };
        EndgameAgent { choose: Box::new(choose), outside }
    }
}

/// Plays the positions of exact tables.
struct Inside<G: Game> {
    game: G,
    tables: Arc<dyn Endgames<G>>,
}

impl<G: Game> Inside<G> {
    fn choose(&self, position: &G::Position, stream: &mut Stream) -> Option<Decision> {
        let mover = self.game.to_move(position);
        if self.tables.known(&self.game, position).is_none()
            && self.tables.holds(&self.game, position, mover) != Some(true)
        {
            return None;
        }
        let ranked = |action| {
            let proven = self.tables.after(&self.game, position, action);
            (self.rank(position, action, proven), Candidate::proven(action, proven))
        };
        let mut candidates: Vec<(Rank, Candidate)> = self.game.legal(position).iter().map(ranked).collect();
        candidates.sort_by_key(|&(rank, _)| Reverse(rank));
        let best = candidates[0].0;
        let ties = candidates.iter().take_while(|one| one.0 == best).count();
        let candidates: Vec<Candidate> = candidates.into_iter().map(|one| one.1).collect();
        let won = candidates[0].proven.filter(|proven| proven.verdict == Verdict::Win);
        let chosen = if won.is_some_and(|proven| proven.plies.is_none()) {
            let winning: Vec<Action> = candidates[..ties].iter().map(|one| one.action).collect();
            let action = self.tables.way_forward(&self.game, position, &winning, stream);
            winning.iter().position(|&one| one == action).expect("the way forward keeps the win")
        } else {
            below(stream.next_u64(), ties as u32) as usize
        };
        Some(Decision::of_one_ply(candidates, chosen))
    }

    fn rank(&self, position: &G::Position, action: Action, proven: Proven) -> Rank {
        let mover = self.game.to_move(position);
        let next = self.game.after(position, action);
        let over = self.game.outcome(&next).is_some();
        let holds = |player| if over { None } else { self.tables.holds(&self.game, &next, player) };
        let (own, other) = (holds(mover), holds(!mover));
        Rank {
            may_hold: own != Some(false) && !(over && proven.verdict == Verdict::Loss),
            result: proven.preference(),
            holds: own == Some(true),
            presses: other == Some(false),
        }
    }
}

/// What makes one action better than another; the most important field comes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    may_hold: bool, // it is not excluded that the agent holds the position
    result: i32,
    holds: bool,   // the agent is proven not to lose
    presses: bool, // the opponent is not proven to hold the position
}

impl<G: Game> Agent<G> for EndgameAgent<G> {
    fn evaluations(&self) -> Option<u64> {
        self.outside.evaluations()
    }

    fn choose(&mut self, requests: &mut [Request<'_, G>]) -> Vec<Decision> {
        let mut decisions: Vec<Option<Decision>> =
            requests.iter_mut().map(|request| (self.choose)(&request.position, request.stream)).collect();
        let open = requests.iter_mut().zip(&decisions).filter(|(_, decision)| decision.is_none());
        let mut others: Vec<Request<'_, G>> = open
            .map(|(request, _)| Request {
                position: request.position,
                stream: request.stream,
                limit: request.limit,
                memory: request.memory.as_deref_mut(),
            })
            .collect();
        if !others.is_empty() {
            let others = self.outside.choose(&mut others);
            let open = decisions.iter_mut().filter(|decision| decision.is_none());
            open.zip(others).for_each(|(decision, other)| *decision = Some(other));
        }
        decisions.into_iter().map(|decision| decision.expect("the other agent answers every request")).collect()
    }
}
