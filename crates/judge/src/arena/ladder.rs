//! Ratings of a run's checkpoints, from all its tournaments together.

use serde::{Deserialize, Serialize};

use super::rating::{Bout, Cluster, Estimate, Fit};
use super::standings::{Anchor, Entrant, Standings};

/// All agents of a run's tournaments and their results. It is saved and restored with the run.
///
/// Agents are identified by name, so a checkpoint's name must contain its step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ladder {
    entrants: Vec<Entrant>,
    bouts: Vec<Bout>,
}

impl Ladder {
    /// Adds the results of a tournament.
    pub fn add(&mut self, standings: &Standings) {
        let places: Vec<usize> = standings.entrants().iter().map(|entrant| self.place_of(entrant)).collect();
        for bout in standings.bouts() {
            self.merge(Bout { first: places[bout.first], second: places[bout.second], ..bout });
        }
    }

    /// Adds games to the earlier ones of the same two agents.
    fn merge(&mut self, bout: Bout) {
        let (first, second) = (bout.first, bout.second);
        let same = |known: &&mut Bout| (known.first, known.second) == (first, second);
        let swapped = |known: &&mut Bout| (known.second, known.first) == (first, second);
        if let Some(known) = self.bouts.iter_mut().find(same) {
            known.draws += bout.draws;
            known.clusters.extend(bout.clusters);
        } else if let Some(known) = self.bouts.iter_mut().find(swapped) {
            known.draws += bout.draws;
            known.clusters.extend(bout.clusters.iter().map(Cluster::flip));
        } else {
            self.bouts.push(bout);
        }
    }

    /// All agents and their ratings, in the order in which they were added. The anchor fixes the scale; if
    /// it has not played, the mean is 0.
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
