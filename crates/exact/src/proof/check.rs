//! Replays a proof against every reply.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::short::Short;
use super::strategy::{Claim, Numbers, Proof};
use super::streak;
use crate::ExactError;
use crate::tables::Solvable;
use jarmo_core::game::{Action, Game, Mask, Player, Verdict};
use jarmo_core::games::jarmo::{SHUTTLE_LIMIT, Shuttle};
use jarmo_core::games::{Jarmo, JarmoPosition};
use std::fmt::Display;

/// What the check of a claim found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The maximum number of plies until the end.
    pub plies: u32,
    /// How many positions with the winner to move were checked for this claim and those before it.
    pub positions: u64,
}

/// Replays the strategies of a proof against every reply, and calls `tell` after each claim.
///
/// The shuttle rule is followed: the winner's moves are legal with every history that the strategy leads to, and if the
/// rule leaves the opponent no move, the reply is a pass.
pub fn check(proof: &Proof, tell: impl FnMut(&Claim, Checked)) -> Result<(), ExactError> {
    let claims: Vec<&Claim> = proof.claims.iter().collect();
    let stored = |position: &JarmoPosition, _| proof.action(position);
    replay(&proof.game, &claims, proof.search, [stored; 2], tell)
}

/// Replays the strategies of White and Black against every reply, as [`check`] does. A strategy gets a position without
/// history and returns its action there, if it has one. It also gets the player's own last action as a hint, but it
/// must always return the same action for a position. Strategies can omit wins of at most `search` plies.
pub fn replay<S: FnMut(&JarmoPosition, Option<Action>) -> Option<Action>>(
    game: &Jarmo,
    claims: &[&Claim],
    search: u32,
    strategies: [S; 2],
    mut tell: impl FnMut(&Claim, Checked),
) -> Result<(), ExactError> {
    let [white, black] = strategies;
    let mut replays = [(Player::White, white), (Player::Black, black)].map(|(winner, stored)| Replay {
        stored,
        search,
        game,
        winner,
        short: Short::new(game, winner, search),
        numbers: Numbers::default(),
        known: HashMap::default(),
        depth: 0,
    });
    for &claim in claims {
        let replay = &mut replays[claim.winner.index()];
        let plies = replay.claim(claim)?;
        let positions = replay.known.len() as u64;
        tell(claim, Checked { plies, positions });
    }
    Ok(())
}

/// The replay of one player's strategy.
struct Replay<'a, S> {
    stored: S,
    search: u32,
    game: &'a Jarmo,
    winner: Player,
    short: Short<'a>,
    numbers: Numbers,
    /// Positions with the winner to move, in all of which the winner wins.
    known: HashMap<u64, Known, RandomState>,
    /// The number of the winner's actions on the way to the present position.
    depth: u32,
}

/// The maximum number of actions of the winner until the end. This limit keeps a damaged or hostile proof from
/// exhausting the stack.
const MOST_DEPTH: u32 = 120;

/// A position in which the winner is to move.
#[derive(Clone, Copy)]
struct Known {
    /// The winner's action.
    action: u8,
    /// Whether the win was found by search. Then it is short.
    searched: bool,
    /// The maximum number of plies until the end; 0 while the replies to the action are being checked.
    plies: u8,
}

impl<S: FnMut(&JarmoPosition, Option<Action>) -> Option<Action>> Replay<'_, S> {
    fn flaw<T>(&self, problem: impl Display, position: &JarmoPosition) -> Result<T, ExactError> {
        let position = self.game.position_text(&Jarmo::as_solved(position));
        Err(ExactError::new(format_args!("{problem} in {position}")))
    }

    /// The maximum number of plies from the opening's end to the end of the game.
    fn claim(&mut self, claim: &Claim) -> Result<u32, ExactError> {
        let mut position = Jarmo::as_solved(&claim.opening.start);
        for &action in &claim.opening.actions {
            if !self.game.legal(&position).contains(action) {
                return self.flaw("the opening has an illegal action", &position);
            }
            position = self.game.after(&position, action);
        }
        let plies = match position.to_move() == self.winner {
            true => self.wins(&position)?,
            false => self.wins_against_all(&position)?,
        };
        if plies > claim.plies {
            return self.flaw(format!("the win takes {plies} plies and not {}", claim.plies), &position);
        }
        Ok(plies)
    }

    /// The length of the win in plies against the longest defence, with the winner to move.
    ///
    /// The continuation is checked once for every position, as if no move had been made before. If earlier moves form
    /// streaks, the replies that make them longer are checked again, and so are passes.
    fn wins(&mut self, position: &JarmoPosition) -> Result<u32, ExactError> {
        let last = position.shuttle(self.winner).last_move();
        let known = self.strategy(&Jarmo::as_solved(position), last.map(|(action, _)| action))?;
        let plies = u32::from(known.plies);
        let action = Action(known.action.into());
        if known.searched {
            // Neither player can reach the limit of the rule in so few plies.
            let longest = streak(position, Player::White).max(streak(position, Player::Black));
            if u32::from(longest) + plies.div_ceil(2) <= u32::from(SHUTTLE_LIMIT) {
                return Ok(plies);
            }
            return match self.short.win(position) {
                Some((_, plies)) => Ok(plies),
                None => self.flaw("the shuttle rule may forbid the only short win", position),
            };
        }
        if !self.game.legal(position).contains(action) {
            return self.flaw("the shuttle rule forbids the stored move", position);
        }
        let next = self.game.after(position, action);
        if self.game.outcome(&next).is_some() {
            return Ok(plies);
        }
        let mut most = plies;
        for reply in self.game.legal(&next).iter() {
            let next = self.game.after(&next, reply);
            let longer = Player::BOTH.into_iter().any(|player| streak(&next, player) > 1);
            let passed = next.shuttle(!self.winner) == Shuttle::PASS;
            if (longer || passed) && self.game.outcome(&next).is_none() {
                most = most.max(2 + self.wins(&next)?);
            }
        }
        Ok(most)
    }

    /// The length of the win in plies against the longest defence, with the opponent to move.
    fn wins_against_all(&mut self, position: &JarmoPosition) -> Result<u32, ExactError> {
        let mut most = 0;
        for reply in self.game.legal(position).iter() {
            let next = self.game.after(position, reply);
            most = most.max(match self.game.outcome(&next) {
                Some(outcome) if outcome.verdict(self.winner) == Verdict::Win => 0,
                Some(_) => return self.flaw("the game ends without a win", &next),
                None => self.wins(&next)?,
            });
        }
        Ok(1 + most)
    }

    /// The strategy's action and the win that it leads to, checked once for every position.
    fn strategy(&mut self, position: &JarmoPosition, last: Option<Action>) -> Result<Known, ExactError> {
        let key = self.numbers.of(position).expect("the game is not over");
        if let Some(&known) = self.known.get(&key) {
            return match known.plies {
                0 => self.flaw("the strategy goes round in circles", position),
                _ => Ok(known),
            };
        }
        let Some(action) = (self.stored)(position, last) else {
            let Some((action, plies)) = self.short.win(position) else {
                let most = self.search;
                return self.flaw(format!("no move is stored, and no win of {most} plies"), position);
            };
            let known = Known { action: action.0 as u8, searched: true, plies: plies as u8 };
            self.known.insert(key, known);
            return Ok(known);
        };
        if !self.game.legal(position).contains(action) {
            return self.flaw("the stored move is illegal", position);
        }
        let mut known = Known { action: action.0 as u8, searched: false, plies: 0 };
        self.known.insert(key, known);
        let next = self.game.after(position, action);
        let plies = match self.game.outcome(&next) {
            Some(outcome) if outcome.verdict(self.winner) == Verdict::Win => 1,
            Some(_) => return self.flaw("the stored move ends the game without a win", position),
            None => {
                self.depth += 1;
                if self.depth > MOST_DEPTH {
                    return self.flaw("the win takes too many plies", position);
                }
                let plies = 1 + self.wins_against_all(&next)?;
                self.depth -= 1;
                plies
            }
        };
        known.plies = plies as u8; // at most two for each of the winner's actions, whose number is limited
        self.known.insert(key, known);
        Ok(known)
    }
}
