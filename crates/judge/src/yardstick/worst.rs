//! The exact worst case of a policy: the shortest line in which an adversary makes it lose a result.

use std::collections::HashSet;
use std::hash::Hash;

use serde::{Deserialize, Serialize};

use super::answers::Policy;
use crate::JudgeError;
use crate::accuracy::is_mistake;
use jarmo_core::game::{Action, Game, Mask, Player};
use jarmo_exact::tables::Endgames;

/// What an adversary achieves against a policy whose action depends only on the position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorstCase {
    /// Starts, each from both sides.
    pub starts: u32,
    /// Starts after which the policy keeps every result, against all play.
    pub proven: u32,
    /// Further starts after which it keeps the results in all positions that were looked at.
    pub held: u32,
    /// The positions that were looked at from one start, at most.
    pub positions: u32,
    /// The median number of plies to the first mistake, over the starts that have one.
    pub median_plies: Option<u32>,
}

/// Looks breadth first at everything that an adversary can play from one start.
struct Search<P> {
    seat: Player, // of the policy
    frontier: Vec<P>,
    seen: HashSet<P>,
    end: Option<End>,
}

enum End {
    Proven,
    Held,
    Mistake(u32), // after this many plies
}

impl<P: Copy + Eq + Hash> Search<P> {
    fn new(start: P, seat: Player) -> Search<P> {
        Search { seat, frontier: vec![start], seen: HashSet::from([start]), end: None }
    }

    /// Searches one ply deeper. `chosen` has the policy's action for each position of the frontier where it is to move.
    fn advance<G: Game<Position = P>>(
        &mut self,
        game: &G,
        tables: &dyn Endgames<G>,
        (ply, most): (u32, usize),
        chosen: &mut impl Iterator<Item = Action>,
    ) {
        let mut next = Vec::new();
        for position in std::mem::take(&mut self.frontier) {
            let mut follow = |action| {
                let after = game.after(&position, action);
                // Positions that the tables do not know because of the move limit cannot be judged.
                let goes_on = game.outcome(&after).is_none() && tables.known(game, &after).is_some();
                if goes_on && self.seen.insert(after) {
                    next.push(after);
                }
            };
            if game.to_move(&position) != self.seat {
                game.legal(&position).iter().for_each(follow);
                continue;
            }
            let action = chosen.next().expect("one action per position");
            if is_mistake(game, tables, &position, action) == Some(true) {
                self.end.get_or_insert(End::Mistake(ply));
            }
            follow(action);
        }
        if self.end.is_none() && next.is_empty() {
            self.end = Some(End::Proven);
        } else if self.end.is_none() && self.seen.len() > most {
            self.end = Some(End::Held);
        }
        self.frontier = next;
    }
}

/// Follows the policy's own action, and every action of the adversary. `most` is the number of positions to look at from
/// one start.
pub(super) fn measure<G: Game>(
    game: &G,
    tables: &dyn Endgames<G>,
    starts: &[G::Position],
    most: usize,
    policy: &mut Policy<'_, G>,
) -> Result<WorstCase, JudgeError> {
    let both = starts.iter().flat_map(|&start| Player::BOTH.map(|seat| Search::new(start, seat)));
    let mut searches: Vec<Search<G::Position>> = both.collect();
    for ply in 1.. {
        let mut asks = Vec::new();
        for search in searches.iter().filter(|search| search.end.is_none()) {
            let own = |position: &&G::Position| game.to_move(position) == search.seat;
            asks.extend(search.frontier.iter().filter(own).copied());
        }
        // The same random numbers everywhere, so that the action depends on the position alone.
        let mut chosen = policy.choose(&asks, &vec![0; asks.len()])?.into_iter();
        for search in searches.iter_mut().filter(|search| search.end.is_none()) {
            search.advance(game, tables, (ply, most), &mut chosen);
        }
        let ended = searches.iter().filter(|search| search.end.is_some()).count();
        policy.progress(ended, searches.len());
        if ended == searches.len() {
            break;
        }
    }
    let mut worst = WorstCase { starts: searches.len() as u32, positions: most as u32, ..WorstCase::default() };
    let mut lengths = Vec::new();
    for search in searches {
        match search.end {
            Some(End::Proven) => worst.proven += 1,
            Some(End::Held) | None => worst.held += 1,
            Some(End::Mistake(plies)) => lengths.push(plies),
        }
    }
    lengths.sort_unstable();
    worst.median_plies = lengths.get(lengths.len() / 2).copied();
    Ok(worst)
}
