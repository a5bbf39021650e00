//! Searches a sample of the workers' positions again, because the rules of a game cannot tell real searches from
//! invented ones.
//!
//! Two searches of a position with the same network differ only by their noise. An honest answer is therefore about as
//! far from the learner's search as a second search of the learner. An invented answer is about as far as a null
//! answer: the same policy for other actions, and the opposite value. A key is reported if its answers are nearer to
//! null answers by more than chance.

use std::array;
use std::collections::BTreeMap;
use std::time::Instant;

use super::Shared;
use crate::{FleetError, TICK, pause, unique};
use jarmo_core::env::SavedGame;
use jarmo_core::net::FrozenNet;
use jarmo_core::random::{Draws, below};
use jarmo_selfplay::selfplay::{Episode, Searched};

const SAMPLE: u64 = 8; // positions of a file: about one in 500
const REST: u32 = 19; // times as long as a sample took, so that this takes at most a twentieth of a core
const NETWORKS: usize = 8; // of earlier steps, because games arrive that older networks played

/// The bound for an answer, on a scale from the learner's second search (0) to the null answer (1).
const FAR: f64 = 2.0 / 3.0;

const BIAS: f64 = 0.3; // of a key's values, which are from -1 to 1

const MEMORY: f64 = 1.0 - 1.0 / 256.0; // of what was found earlier, per position
const LEAST: f64 = 32.0; // positions
const SURE: f64 = 5.0; // standard errors

/// A position, as the game up to it, and a worker's search result.
pub(super) struct Found {
    game: SavedGame,
    search: Searched,
}

/// Random positions of games that keep the rules. Nobody else can predict them.
pub(super) fn sample(games: &[&Episode]) -> Vec<Found> {
    let draws = Draws::new(unique(), 0);
    let draw = |number: u64| {
        let Episode { game, searches, .. } = games.get(below(draws.bits(2 * number), games.len() as u32) as usize)?;
        let place = below(draws.bits(2 * number + 1), searches.len().max(1) as u32) as usize;
        let search = searches.get(place).filter(|search| search.policy.len() > 1)?.clone();
        let played = game.actions.len() - searches.len() + place;
        let game = SavedGame { start: game.start.clone(), actions: game.actions[..played].to_vec() };
        Some(Found { game, search })
    };
    (0..SAMPLE).filter_map(draw).collect()
}

/// The evidence about a key: see [`excess`].
type Marks = [Sum; 4];

/// A sum in which older numbers count less and less.
#[derive(Default)]
struct Sum {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Sum {
    fn add(&mut self, number: f64) {
        for (sum, new) in [(&mut self.count, 1.0), (&mut self.sum, number), (&mut self.squares, number * number)] {
            *sum = *sum * MEMORY + new;
        }
    }

    /// Whether the mean is above 0, beyond chance.
    fn is_above(&self) -> bool {
        let mean = self.sum / self.count;
        let variance = (self.squares / self.count - mean * mean).max(1e-6);
        self.count >= LEAST && mean / (variance / self.count).sqrt() > SURE
    }
}

/// How far a worker's policy and value are from the learner's search, beyond their bounds; and how much higher, and lower,
/// its value is.
fn excess(found: &Searched, [own, again]: [&Searched; 2]) -> [f64; 4] {
    let beyond = |far: f64, own: f64, null: f64| far - own - FAR * (null - own);
    let policies = |a: &[f32], b: &[f32]| {
        let parts = a.iter().zip(b).map(|(a, b)| f64::from((a - b).abs()));
        parts.sum::<f64>() / 2.0
    };
    let mut null = found.policy.clone();
    let half = null.len() / 2;
    null.rotate_left(half);
    let value = |search: &Searched| f64::from(search.expected[0] - search.expected[2]);
    let (mine, theirs) = (value(own), value(found));
    let policy = beyond(
        policies(&found.policy, &own.policy),
        policies(&again.policy, &own.policy),
        policies(&null, &own.policy),
    );
    let value = beyond((theirs - mine).abs(), (value(again) - mine).abs(), (-theirs - mine).abs());
    [policy, value, theirs - mine - BIAS, mine - theirs - BIAS]
}

impl Shared {
    /// Remembers a network that workers may have used. If there are too many, it drops networks that are close to
    /// others.
    pub(super) fn remember(&self, step: u64, net: FrozenNet) {
        let networks = &mut self.arrivals().networks;
        networks.insert(step, net);
        networks.retain(|earlier, _| step.saturating_sub(*earlier) <= self.max_age);
        if networks.len() > NETWORKS {
            let steps: Vec<u64> = networks.keys().copied().collect();
            let nearest = steps.windows(3).min_by_key(|steps| steps[2] - steps[0]);
            networks.remove(&nearest.expect("more than three")[1]);
        }
    }

    /// Examines keys until the run is over.
    pub(super) fn examine(&self) {
        let mut all = BTreeMap::<String, Marks>::new();
        let mut rest = TICK;
        while pause(&self.is_over, rest) {
            let begun = Instant::now();
            if let Err(error) = self.examine_one(&mut all) {
                self.warn(format!("searching again: {error}"));
            }
            rest = (begun.elapsed() * REST).max(TICK);
        }
    }

    /// Examines the newest files of the key about which the least is known.
    fn examine_one(&self, all: &mut BTreeMap<String, Marks>) -> Result<(), FleetError> {
        let known = |key: &String| all.get(key).map_or(0, |marks| marks[0].count as u64);
        let (key, found, networks) = {
            let arrivals = &mut *self.arrivals();
            let Some(key) = arrivals.asked.keys().min_by_key(|key| known(key)).cloned() else {
                return Ok(());
            };
            let (weights, found) = arrivals.asked.remove(&key).expect("it is there");
            let networks = &arrivals.networks;
            // A game that this network began can have been played on by any later one.
            let Some((&first, _)) = networks.range(..=weights).next_back() else {
                return Ok(()); // the network of a learner before a restart, which is gone
            };
            (key, found, networks.range(first..).map(|(_, net)| net.clone()).collect::<Vec<_>>())
        };
        let mut least = vec![[f64::INFINITY; 4]; found.len()]; // over networks
        for net in networks {
            let twice = found.iter().flat_map(|found| [found.game.clone(), found.game.clone()]);
            let own = (self.search)(&net, twice.collect()).map_err(FleetError::new)?;
            for ((least, Found { search, .. }), own) in least.iter_mut().zip(&found).zip(own.as_chunks::<2>().0) {
                if let [Some(own), Some(again)] = own {
                    let excess = excess(search, [own, again]);
                    *least = array::from_fn(|part| least[part].min(excess[part]));
                }
            }
        }
        let marks = all.entry(key.clone()).or_default();
        for least in least.iter().filter(|least| least[0].is_finite()) {
            marks.iter_mut().zip(least).for_each(|(sum, number)| sum.add(*number));
        }
        for (sum, what) in marks.iter().zip(["policies", "values", "values", "values"]) {
            if sum.is_above() {
                self.shun(&key, &format!("its {what} are not those of searches with the networks of this run"))?;
            }
        }
        Ok(())
    }
}
