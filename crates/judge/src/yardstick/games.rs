//! Games against the perfect player.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::answers::Policy;
use crate::JudgeError;
use crate::accuracy::is_mistake;
use jarmo_core::env::{Keep, Line, Shard};
use jarmo_core::game::{Action, Game, Player, Verdict};
use jarmo_core::random::{Stream, slot_stream};
use jarmo_exact::agent::{Agent, EndgameAgent, Limit, RandomAgent};
use jarmo_exact::tables::Endgames;

/// A game counts by its exact result after this many plies.
const MOST_PLIES: u64 = 100;

/// Mixed into the seed for the perfect player.
const PERFECT: u64 = 0x7065_7266_6563_745f;

/// Games against the player that keeps the best result, and wins as soon as it can.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PerfectGames {
    /// Games, each start from both sides.
    pub games: u32,
    /// Points: 1 for a win, half for a draw.
    pub points: f64,
    /// Decisions that the tables know.
    pub decisions: u32,
    /// Those that made the result worse.
    pub mistakes: u32,
    /// Games without a mistake.
    pub flawless: u32,
}

/// Plays each start from both sides, all games together.
pub(super) fn play<G: Game>(
    game: &G,
    tables: &Arc<dyn Endgames<G>>,
    starts: &[G::Position],
    seed: u64,
    policy: &mut Policy<'_, G>,
) -> Result<PerfectGames, JudgeError> {
    let count = 2 * starts.len();
    let seats: Vec<Player> = (0..count).map(|slot| Player::BOTH[slot % 2]).collect();
    let open = |slot: usize| Some(Line::at(starts[slot / 2]));
    let mut env = Shard::new(game, 0..count, Keep::default(), open);
    let (mut mistakes, mut verdicts) = (vec![0_u32; count], vec![None; count]);
    let mut all = PerfectGames { games: count as u32, ..PerfectGames::default() };
    let mut actions = vec![Action(0); count];
    // A game leaves the tables only because of the move limit.
    let outside = Box::new(RandomAgent::new(game.clone()));
    let mut perfect = EndgameAgent::new(game.clone(), tables.clone(), outside);
    for ply in 0..MOST_PLIES {
        let open = (0..count).filter(|&slot| !env.is_idle(slot));
        let moves = |slot: &usize| game.to_move(env.position(*slot)) == seats[*slot];
        let (ours, theirs): (Vec<usize>, Vec<usize>) = open.partition(moves);
        if ours.is_empty() && theirs.is_empty() {
            break;
        }
        let positions: Vec<G::Position> = ours.iter().map(|&slot| *env.position(slot)).collect();
        let numbers: Vec<u64> = ours.iter().map(|&slot| (slot as u64) << 32 | ply).collect();
        let chosen = policy.choose(&positions, &numbers)?;
        for ((&slot, position), action) in ours.iter().zip(&positions).zip(chosen) {
            actions[slot] = action;
            if let Some(mistake) = is_mistake(game, tables.as_ref(), position, action) {
                all.decisions += 1;
                mistakes[slot] += u32::from(mistake);
            }
        }
        let positions: Vec<G::Position> = theirs.iter().map(|&slot| *env.position(slot)).collect();
        let stream = |&slot: &usize| slot_stream(seed ^ PERFECT, slot as u64, ply);
        let mut streams: Vec<Stream> = theirs.iter().map(stream).collect();
        let replies = perfect.decide(&positions, &mut streams, Limit::default());
        for (&slot, reply) in theirs.iter().zip(replies) {
            actions[slot] = reply.action;
        }
        env.step(&actions, |ended, _| {
            verdicts[ended.slot] = Some(ended.outcome.verdict(seats[ended.slot]));
            None
        });
        policy.progress((0..count).filter(|&slot| env.is_idle(slot)).count(), count);
    }
    for slot in 0..count {
        let verdict = verdicts[slot].or_else(|| {
            let position = env.position(slot);
            let known = tables.known(game, position)?.verdict;
            Some(if game.to_move(position) == seats[slot] { known } else { known.flip() })
        });
        all.points += 0.5 + 0.5 * f64::from(verdict.unwrap_or(Verdict::Draw).sign());
        all.mistakes += mistakes[slot];
        all.flawless += u32::from(mistakes[slot] == 0);
    }
    Ok(all)
}
