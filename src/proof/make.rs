//! Takes the moves of a proof from exact tables.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::check::{Flaw, check};
use super::file::MOST_SEARCH;
use super::strategy::{Claim, Moves, Numbers, Proof};
use super::{Reply, after, replies, undoes, without_history};
use crate::env::{Opening, positions};
use crate::game::{Action, Game, Player, Proven, Verdict};
use crate::games::{Jarmo, JarmoPosition};
use crate::tables::{ActionValue, Tables};

/// Why no proof can be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MakeError {
    /// The position is outside the tables, or they have no distances there.
    #[error("the tables have no distance for {0}; exact tables up to its force are needed")]
    NoDistance(String),
    /// Nobody wins the position.
    #[error("{0} is drawn")]
    Drawn(String),
    /// The quickest win does not hold under the shuttle rule.
    #[error("the tables' win is none under the shuttle rule: {0}")]
    Flaw(#[from] Flaw),
}

/// Proves who wins after each opening, which must be decided, and checks the proof. Wins of at most `search` plies are left to search.
///
/// # Panics
/// Panics if `search` is more than 7.
pub fn make(
    game: &Jarmo,
    tables: &Tables,
    openings: &[Opening<JarmoPosition>],
    search: u32,
    made: String,
) -> Result<Proof, MakeError> {
    assert!(search <= MOST_SEARCH, "longer searches may shuttle");
    let game = &game.clone().with_max_plies(0);
    let mut walks = Player::BOTH.map(|winner| Walk {
        game,
        tables,
        winner,
        search,
        numbers: Numbers::new(),
        moves: HashMap::default(),
        left: Vec::new(),
    });
    let mut claims = Vec::new();
    for opening in openings {
        let last = |player| last_action(game, opening, player);
        let position = &opening.position;
        let value = tables.proven(position);
        let winner = match value.map(|value| value.verdict) {
            Some(Verdict::Win) => position.to_move(),
            Some(Verdict::Loss) => !position.to_move(),
            Some(Verdict::Draw) => return Err(MakeError::Drawn(game.position_text(position))),
            None => return Err(MakeError::NoDistance(game.position_text(position))),
        };
        let walk = &mut walks[winner.index()];
        walk.follow(&without_history(position), last(winner))?;
        claims.push(Claim {
            opening: opening.clone(),
            winner,
            plies: u32::MAX,
        });
    }
    let [white, black] = walks.map(|walk| walk.moves);
    let mut all: Vec<(u64, u8)> = white.into_iter().chain(black).collect();
    all.sort_unstable();
    let (keys, actions) = all.into_iter().unzip();
    let mut proof = Proof {
        game: game.clone(),
        made,
        claims,
        search,
        moves: Moves::new(keys, actions),
    };
    // The shuttle rule can delay a win, so the plies are those of the check.
    let mut plies = Vec::new();
    check(&proof, |_, checked| plies.push(checked.plies))?;
    for (claim, plies) in proof.claims.iter_mut().zip(plies) {
        claim.plies = plies;
    }
    Ok(proof)
}

/// A player's last action in an opening.
fn last_action(game: &Jarmo, opening: &Opening<JarmoPosition>, player: Player) -> Option<Action> {
    let before = positions(game, opening.start, &opening.actions);
    let mut acted = before.iter().zip(&opening.actions).rev();
    let last = acted.find(|(position, _)| position.to_move() == player);
    last.map(|(_, &action)| action)
}

/// Collects the moves of one player's strategy.
struct Walk<'a> {
    game: &'a Jarmo,
    tables: &'a Tables,
    winner: Player,
    search: u32,
    numbers: Numbers,
    /// By position: the action.
    moves: HashMap<u64, u8, RandomState>,
    /// Positions with the winner to move that are not followed yet, and the winner's last action.
    left: Vec<(JarmoPosition, Option<Action>)>,
}

impl Walk<'_> {
    fn no_distance(&self, position: &JarmoPosition) -> MakeError {
        MakeError::NoDistance(self.game.position_text(position))
    }

    fn distance(&self, position: &JarmoPosition) -> Result<u32, MakeError> {
        let plies = self.tables.proven(position).and_then(|value| value.plies);
        plies.ok_or_else(|| self.no_distance(position))
    }

    /// Collects the moves that win from a position, after the winner's `last` action.
    fn follow(&mut self, position: &JarmoPosition, last: Option<Action>) -> Result<(), MakeError> {
        match position.to_move() == self.winner {
            true => self.left.push((*position, last)),
            false => self.expect_replies(position, last),
        }
        while let Some((position, last)) = self.left.pop() {
            let number = self.numbers.of(&position);
            if self.moves.contains_key(&number) || self.distance(&position)? <= self.search {
                continue;
            }
            let action = self.choose(&position, last)?;
            self.moves.insert(number, action.0 as u8);
            let next = after(self.game, &position, action);
            self.expect_replies(&next, Some(action));
        }
        Ok(())
    }

    fn expect_replies(&mut self, position: &JarmoPosition, last: Option<Action>) {
        let going_on = replies(self.game, position, None)
            .into_iter()
            .filter(|next| self.game.outcome(&next.position).is_none())
            .map(|next| (next.position, last));
        self.left.extend(going_on);
    }

    /// The action of a quickest win that does not take the last one back, if there is one. Among them one whose
    /// replies are known already.
    fn choose(&self, position: &JarmoPosition, last: Option<Action>) -> Result<Action, MakeError> {
        let values = self.tables.actions(self.game, position);
        let values = values.ok_or_else(|| self.no_distance(position))?;
        let best: Option<Proven> = values.first().map(|value| value.proven);
        let best = values.iter().filter(|value| Some(value.proven) == best);
        let cost = |value: &&ActionValue| {
            let undoes = last.is_some_and(|last| undoes(self.game, last, value.action));
            let next = after(self.game, position, value.action);
            let new = |next: &&Reply| {
                self.game.outcome(&next.position).is_none()
                    && !self.moves.contains_key(&self.numbers.of(&next.position))
            };
            (
                undoes,
                replies(self.game, &next, None).iter().filter(new).count(),
            )
        };
        let chosen = best.min_by_key(cost);
        Ok(chosen.expect("the game is not over").action)
    }
}
