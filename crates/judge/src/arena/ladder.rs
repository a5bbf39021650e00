//! Ratings of a run's checkpoints from all its tournaments together.

use serde::{Deserialize, Serialize};

use super::rating::{Bout, Estimate, Fit};
use super::standings::{Anchor, Entrant, Standings};

/// All agents of a run's tournaments and their results. The run saves and restores it.
///
/// Agents are identified by their names, so the name of a checkpoint must contain its step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ladder {
    entrants: Vec<Entrant>,
    bouts: Vec<Bout>,
}

impl Ladder {
    /// Adds the results of a tournament.
    pub fn add(&mut self, standings: &Standings) {
        let places: Vec<usize> = standings.entrants.iter().map(|entrant| self.place_of(entrant)).collect();
        for bout in standings.bouts() {
            self.merge(Bout { first: places[bout.first], second: places[bout.second], ..bout });
        }
    }

    /// Adds games to earlier ones of the same two agents.
    fn merge(&mut self, bout: Bout) {
        let pair = (bout.first, bout.second);
        let is_same = |known: &&mut Bout| (known.first, known.second) == pair || (known.second, known.first) == pair;
        let Some(known) = self.bouts.iter_mut().find(is_same) else {
            self.bouts.push(bout);
            return;
        };
        let is_swapped = known.first != bout.first;
        let clusters = bout.clusters.iter().map(|one| if is_swapped { one.flip() } else { *one });
        known.clusters.extend(clusters);
        known.draws += bout.draws;
    }

    /// All agents and their ratings, in the order in which they were added. The ratings are relative to the anchor's;
    /// if it has not played, the mean is 0.
    pub fn ratings(&self, anchor: &Anchor) -> Vec<(&Entrant, Estimate)> {
        let fit = Fit::new(self.entrants.len(), &self.bouts);
        let fixed = anchor.among(&self.entrants);
        self.entrants.iter().enumerate().map(|(agent, entrant)| (entrant, fit.rating(agent, fixed))).collect()
    }

    fn place_of(&mut self, entrant: &Entrant) -> usize {
        self.entrants.iter().position(|known| known.name == entrant.name).unwrap_or_else(|| {
            self.entrants.push(entrant.clone());
            self.entrants.len() - 1
        })
    }
}
