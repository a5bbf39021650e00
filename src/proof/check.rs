//! Replays a proof against every reply.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::short::Short;
use super::strategy::{Claim, Proof};
use super::{after, after_pass, replies, undoes, without_history};
use crate::game::{Action, Game, Mask, Player, Verdict};
use crate::games::jarmo::SHUTTLE_LIMIT;
use crate::games::{Jarmo, JarmoPosition};

/// What the check of a claim has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The most plies until the end.
    pub plies: u32,
    /// Positions with the winner to move, of this claim and those before it.
    pub positions: u64,
}

/// Why a proof is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem} in {position}")]
pub struct Flaw {
    problem: String,
    position: String,
}

/// Replays the strategies of a proof against every reply, and calls `tell` after each claim.
///
/// The opponent may play more than the rules allow: also moves that the shuttle rule forbids, and passes wherever
/// the rule could leave none. The winner's own moves are legal under every history that the strategy leads to:
/// never does the winner undo the own last move more than three times in a row.
pub fn check(proof: &Proof, mut tell: impl FnMut(&Claim, Checked)) -> Result<(), Flaw> {
    let mut replays = Player::BOTH.map(|winner| Replay {
        proof,
        game: &proof.game,
        winner,
        short: Short::new(&proof.game, winner, proof.search),
        known: HashMap::default(),
        depth: 0,
    });
    for claim in &proof.claims {
        let replay = &mut replays[claim.winner.index()];
        let plies = replay.claim(claim)?;
        let positions = replay.known.len() as u64;
        tell(claim, Checked { plies, positions });
    }
    Ok(())
}

/// The replay of one player's strategy.
struct Replay<'a> {
    proof: &'a Proof,
    game: &'a Jarmo,
    winner: Player,
    short: Short<'a>,
    /// Positions with the winner to move: all of them win.
    known: HashMap<u64, Known, RandomState>,
    /// The winner's actions on the way to the present position.
    depth: u32,
}

/// The most actions of the winner until the end, so that a damaged or hostile proof cannot exhaust the stack.
const MOST_DEPTH: u32 = 120;

/// A position in which the winner is to move.
#[derive(Clone, Copy)]
struct Known {
    /// The winner's action.
    action: u8,
    /// Whether the win was found by search, and is short.
    searched: bool,
    /// The most plies until the end; 0 while its replies are being checked.
    plies: u8,
}

impl Replay<'_> {
    fn flaw<T>(&self, problem: impl Into<String>, position: &JarmoPosition) -> Result<T, Flaw> {
        Err(Flaw {
            problem: problem.into(),
            position: self.game.position_text(position),
        })
    }

    /// The most plies from the opening's end to the end of the game.
    fn claim(&mut self, claim: &Claim) -> Result<u32, Flaw> {
        let mut position = without_history(&claim.opening.start);
        let mut last = [None; 2]; // the players' last actions
        for &action in &claim.opening.actions {
            if !self.game.legal(&position).contains(action) {
                return self.flaw("the opening has an illegal action", &position);
            }
            last[position.to_move().index()] = Some(action);
            self.game.play(&mut position, action);
        }
        let [own, other] = [self.winner, !self.winner].map(|player| last[player.index()]);
        let own = own.map(|own| (own, 1));
        let plies = match position.to_move() == self.winner {
            true => self.wins(&without_history(&position), own, other)?,
            false => self.wins_against_all(&without_history(&position), own, other)?,
        };
        if plies > claim.plies {
            let problem = format!("the win takes {plies} plies and not {}", claim.plies);
            return self.flaw(problem, &position);
        }
        Ok(plies)
    }

    /// The most plies of the win, the winner to move, with the history of one path: `own` is the winner's last
    /// action and its streak, `other` the opponent's last action.
    fn wins(
        &mut self,
        position: &JarmoPosition,
        own: Option<(Action, u8)>,
        other: Option<Action>,
    ) -> Result<u32, Flaw> {
        let known = self.strategy(position)?;
        let action = Action(known.action.into());
        let next = after(self.game, position, action);
        let goes_on = self.game.outcome(&next).is_none();
        let other = other.filter(|_| goes_on);
        let passed = other.and_then(|other| after_pass(self.game, &next, other));
        let streak = match own {
            Some((last, streak)) if undoes(self.game, last, action) => streak + 1,
            _ => 1,
        };
        if streak == 1 && passed.is_none() {
            return Ok(known.plies.into());
        }
        if known.searched {
            // Its moves may all take each other back, if they are few enough.
            let moves_after = known.plies.div_ceil(2) - 1;
            if passed.is_none() && streak + moves_after <= SHUTTLE_LIMIT {
                return Ok(known.plies.into());
            }
            let last = own.map(|(last, _)| last);
            return match self.short.win(position, last, other) {
                Some((_, plies)) => Ok(plies),
                None => self.flaw("the shuttle rule may forbid the only short win", position),
            };
        }
        if streak > SHUTTLE_LIMIT {
            return self.flaw("the shuttle rule may forbid the move", position);
        }
        let mut most = u32::from(known.plies);
        if goes_on && streak > 1 {
            most = most.max(1 + self.wins_against_all(&next, Some((action, streak)), None)?);
        }
        if let Some(passed) = passed {
            most = most.max(2 + self.wins(&passed, Some((action, streak)), None)?);
        }
        Ok(most)
    }

    /// The most plies of the win whatever the opponent, who is to move, replies.
    fn wins_against_all(
        &mut self,
        position: &JarmoPosition,
        own: Option<(Action, u8)>,
        other: Option<Action>,
    ) -> Result<u32, Flaw> {
        let mut nexts: Vec<_> = replies(self.game, position)
            .into_iter()
            .map(|reply| (reply.position, Some(reply.action)))
            .collect();
        let passed = other.and_then(|other| after_pass(self.game, position, other));
        nexts.extend(passed.map(|passed| (passed, None)));
        let mut most = 0;
        for (next, reply) in nexts {
            most = most.max(match self.game.outcome(&next) {
                Some(outcome) if outcome.verdict(self.winner) == Verdict::Win => 0,
                Some(_) => return self.flaw("the game ends without a win", &next),
                None => self.wins(&next, own, reply)?,
            });
        }
        Ok(1 + most)
    }

    /// The strategy's action and what follows from it, checked once for every position.
    fn strategy(&mut self, position: &JarmoPosition) -> Result<Known, Flaw> {
        let key = key(position);
        if let Some(&known) = self.known.get(&key) {
            return match known.plies {
                0 => self.flaw("the strategy goes round in circles", position),
                _ => Ok(known),
            };
        }
        let Some(action) = self.proof.action(position) else {
            let Some((action, plies)) = self.short.win(position, None, None) else {
                let most = self.proof.search;
                return self.flaw(
                    format!("no move is stored, and no win of {most} plies"),
                    position,
                );
            };
            let known = Known {
                action: action.0 as u8,
                searched: true,
                plies: plies as u8,
            };
            self.known.insert(key, known);
            return Ok(known);
        };
        if !self.game.legal(position).contains(action) {
            return self.flaw("the stored move is illegal", position);
        }
        let mut known = Known {
            action: action.0 as u8,
            searched: false,
            plies: 0,
        };
        self.known.insert(key, known);
        let next = after(self.game, position, action);
        let plies = match self.game.outcome(&next) {
            Some(outcome) if outcome.verdict(self.winner) == Verdict::Win => 1,
            Some(_) => return self.flaw("the stored move ends the game without a win", position),
            None => {
                self.depth += 1;
                if self.depth > MOST_DEPTH {
                    return self.flaw("the win takes too many plies", position);
                }
                let plies = 1 + self.wins_against_all(&next, Some((action, 1)), None)?;
                self.depth -= 1;
                plies
            }
        };
        known.plies = plies as u8; // at most two for each action of the winner
        self.known.insert(key, known);
        Ok(known)
    }
}

/// The placement in 61 bits.
fn key(position: &JarmoPosition) -> u64 {
    let [white, black] = Player::BOTH.map(|player| position.archers(player).0);
    let marks = |archers: u32| {
        let circles = (0..25).filter(|circle| archers >> circle & 1 == 1);
        let bits = circles.enumerate();
        bits.fold(0, |bits, (nth, circle)| {
            bits | u64::from(position.marked().0 >> circle & 1) << nth
        })
    };
    u64::from(white)
        | u64::from(black) << 25
        | marks(white) << 50
        | marks(black) << 55
        | (position.to_move().index() as u64) << 60
}
