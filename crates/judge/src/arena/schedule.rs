//! Which agents meet, and the order in which the games start.

use serde::Serialize;

use jarmo_core::game::Player;

/// Which agents meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Pairing {
    /// Every agent meets every other agent.
    #[default]
    RoundRobin,
    /// The first agent meets every other agent.
    Gauntlet,
}

impl Pairing {
    /// The bouts between `agents` agents, as the indices of the first and the second agent.
    pub fn bouts(self, agents: usize) -> Vec<(usize, usize)> {
        let firsts = match self {
            Pairing::RoundRobin => agents,
            Pairing::Gauntlet => agents.min(1),
        };
        (0..firsts).flat_map(|first| (first + 1..agents).map(move |second| (first, second))).collect()
    }
}

/// One game of a tournament.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GameId {
    /// The index of its bout.
    pub bout: usize,
    /// The index of its pair in the bout.
    pub pair: u32,
    /// The side that the bout's first agent plays.
    pub first_plays: Player,
}

impl GameId {
    /// The two games of a pair.
    pub(super) fn of_pair(bout: usize, pair: u32) -> [GameId; 2] {
        Player::BOTH.map(|first_plays| GameId { bout, pair, first_plays })
    }

    /// The agents that play White and Black. The argument is the bout's first and second agent.
    pub(super) fn seats(&self, (first, second): (usize, usize)) -> [usize; 2] {
        match self.first_plays {
            Player::White => [first, second],
            Player::Black => [second, first],
        }
    }
}

/// The number of pairs of one bout that start before the next bout's. This is enough to fill batches even with few
/// agents, and so few that reports during the tournament include all bouts.
const PAIRS_IN_A_ROW: u32 = 16;

/// All games, in the order in which they start.
pub(super) fn games(bouts: usize, pairs: u32) -> Vec<GameId> {
    let mut games = Vec::with_capacity(2 * bouts * pairs as usize);
    for block in (0..pairs).step_by(PAIRS_IN_A_ROW as usize) {
        for bout in 0..bouts {
            games.extend((block..pairs.min(block + PAIRS_IN_A_ROW)).flat_map(|pair| GameId::of_pair(bout, pair)));
        }
    }
    games
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn all_agents_meet_or_the_first_meets_all_others() {
        let robin = Pairing::RoundRobin.bouts(4);
        assert_eq!(robin, [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]);
        assert_eq!(Pairing::Gauntlet.bouts(4), [(0, 1), (0, 2), (0, 3)]);
        assert_eq!(Pairing::RoundRobin.bouts(2), Pairing::Gauntlet.bouts(2));
    }

    #[test]
    fn every_game_is_scheduled_once_and_the_games_of_a_pair_are_adjacent() {
        let games = games(3, 40);
        assert_eq!(games.len(), 240);
        assert_eq!(games.iter().collect::<HashSet<_>>().len(), 240);
        for pair in games.chunks(2) {
            assert_eq!((pair[0].bout, pair[0].pair), (pair[1].bout, pair[1].pair));
            assert_ne!(pair[0].first_plays, pair[1].first_plays);
        }
        let early: HashSet<usize> = games[..96].iter().map(|game| game.bout).collect();
        assert_eq!(early.len(), 3, "all bouts start early");
    }
}
