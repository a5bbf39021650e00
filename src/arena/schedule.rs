//! Who meets whom, and in which order the games are begun.

use serde::Serialize;

use crate::game::Player;

/// Who meets whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Pairing {
    /// Everybody meets everybody.
    #[default]
    RoundRobin,
    /// The first meets all others.
    Gauntlet,
}

impl Pairing {
    /// The bouts among so many agents: first and second of each.
    pub fn bouts(self, agents: usize) -> Vec<(usize, usize)> {
        let firsts = match self {
            Pairing::RoundRobin => agents,
            Pairing::Gauntlet => agents.min(1),
        };
        (0..firsts)
            .flat_map(|first| (first + 1..agents).map(move |second| (first, second)))
            .collect()
    }
}

/// One game of a tournament.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GameId {
    /// The bout it belongs to, by its place among the bouts.
    pub bout: usize,
    /// The pair within the bout.
    pub pair: u32,
    /// Which side the bout's first agent plays.
    pub first_plays: Player,
}

/// Pairs of one bout that are begun one after another before it is the next bout's turn: enough to fill
/// batches with few agents, few enough that a table shown while games run is about all bouts.
const PAIRS_IN_A_ROW: u32 = 16;

/// All games in the order in which they are begun.
pub(super) fn games(bouts: usize, pairs: u32) -> Vec<GameId> {
    let mut games = Vec::with_capacity(2 * bouts * pairs as usize);
    for block in (0..pairs).step_by(PAIRS_IN_A_ROW as usize) {
        for bout in 0..bouts {
            for pair in block..pairs.min(block + PAIRS_IN_A_ROW) {
                games.extend(Player::BOTH.map(|first_plays| GameId {
                    bout,
                    pair,
                    first_plays,
                }));
            }
        }
    }
    games
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn everybody_meets_everybody_or_the_first_meets_all_others() {
        let robin = Pairing::RoundRobin.bouts(4);
        assert_eq!(robin, [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]);
        assert_eq!(Pairing::Gauntlet.bouts(4), [(0, 1), (0, 2), (0, 3)]);
        assert_eq!(Pairing::RoundRobin.bouts(2), Pairing::Gauntlet.bouts(2));
    }

    #[test]
    fn every_game_is_scheduled_once_and_both_sides_of_a_pair_follow_each_other() {
        let games = games(3, 40);
        assert_eq!(games.len(), 240);
        assert_eq!(games.iter().collect::<HashSet<_>>().len(), 240);
        for pair in games.chunks(2) {
            assert_eq!((pair[0].bout, pair[0].pair), (pair[1].bout, pair[1].pair));
            assert_ne!(pair[0].first_plays, pair[1].first_plays);
        }
        let early: HashSet<usize> = games[..96].iter().map(|game| game.bout).collect();
        assert_eq!(early.len(), 3, "all bouts begin early");
    }
}
