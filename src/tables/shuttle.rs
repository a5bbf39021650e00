//! What the shuttle rule changes: small forces solved again with the rule exactly as it is.
//!
//! Here a position is more than a placement: each player's last move and how often he has gone to
//! and fro belong to it. That makes hundreds of positions out of one placement, so this is for the
//! smallest forces. It goes over all of them again and again, and takes what it knows of the rules
//! from the game itself.

use std::sync::atomic::{AtomicU8, Ordering};

use rayon::prelude::*;

use super::code::{Exact, OVER_DRAWN, lost, won};
use super::index::{Block, LEAST_FORCE, Layer, Placement, Strength};
use super::lines::Blockable;
use super::lookup::Tables;
use super::subsets::bits;
use crate::game::{Game, Mask, Player, Verdict};
use crate::games::jarmo::SHUTTLE_LIMIT;
use crate::games::web::{Circle, Circles, WebAction};
use crate::games::{Jarmo, JarmoPosition};

/// The highest force that [`shuttle_effect`] solves.
///
/// Up to here nobody passes twice in a row: a player who has to pass has two archers at least, so
/// that his opponent, with one, never has to. A pass is then like any action that breaks a shuttle.
pub const MOST_SHUTTLE_FORCE: u32 = 3;

/// What the shuttle rule does to the positions of one force.
#[derive(Clone, Debug)]
pub struct ShuttleEffect {
    /// Archers plus marks.
    pub force: u32,
    /// Placements reached without a shuttle under way.
    pub fresh: Change,
    /// All positions: every placement with everything that can have come just before.
    pub all: Change,
}

/// How many positions are worth something else under the shuttle rule.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// Positions that are not over.
    pub positions: u64,
    /// Positions with the same result that comes earlier or later.
    pub other_distance: u64,
    /// By the result without the rule and the result with it, loss, draw, win: how many positions.
    pub results: [[u64; 3]; 3],
    /// The first position with another result.
    pub example: Option<JarmoPosition>,
}

impl Change {
    /// Positions with another result.
    pub fn other_result(&self) -> u64 {
        let all: u64 = self.results.iter().flatten().sum();
        all - (0..3)
            .map(|verdict| self.results[verdict][verdict])
            .sum::<u64>()
    }

    fn add(&mut self, position: &JarmoPosition, without: Exact, with: Exact) {
        self.positions += 1;
        let [from, to] = [without, with].map(|exact| exact.verdict() as usize);
        self.results[from][to] += 1;
        if from != to {
            self.example = self.example.or(Some(*position));
        } else if without != with {
            self.other_distance += 1;
        }
    }

    fn join(mut self, other: Change) -> Change {
        self.positions += other.positions;
        self.other_distance += other.other_distance;
        for (sum, row) in self.results.iter_mut().zip(other.results) {
            for (sum, count) in sum.iter_mut().zip(row) {
                *sum += count;
            }
        }
        self.example = self.example.or(other.example);
        self
    }
}

/// Solves all positions up to a force with the shuttle rule and holds them against the same without.
///
/// # Panics
/// Panics if the force is above [`MOST_SHUTTLE_FORCE`].
pub fn shuttle_effect(game: &Jarmo, force: u32) -> Result<Vec<ShuttleEffect>, Blockable> {
    assert!(force <= MOST_SHUTTLE_FORCE, "two passes could meet");
    let tables = Tables::solve(game, force)?;
    let histories = Histories::solve(game, force);
    Ok((LEAST_FORCE..=force)
        .map(|force| histories.compare(&tables, force))
        .collect())
}

/// All positions up to a force with their histories, and what they are worth.
struct Histories {
    game: Jarmo,
    layers: Vec<Layer>,
    starts: Vec<Vec<usize>>, // by layer and block: the first of its bytes
    bytes: Vec<AtomicU8>,
}

/// A byte not yet known, which ends as a draw.
const UNKNOWN: u8 = super::code::DRAWN;

/// The most lines at a circle that are told apart.
const SLOTS: usize = 24;

impl Histories {
    fn solve(game: &Jarmo, force: u32) -> Histories {
        let game = game.clone().with_max_plies(0);
        let layers: Vec<Layer> = (LEAST_FORCE..=force).map(Layer::new).collect();
        let mut histories = Histories {
            game,
            layers,
            starts: Vec::new(),
            bytes: Vec::new(),
        };
        let mut end = 0;
        for layer in &histories.layers {
            let mut starts = Vec::new();
            for block in layer.blocks() {
                starts.push(end);
                end += block.len() * histories.histories(block);
            }
            histories.starts.push(starts);
        }
        histories.bytes = (0..end).map(|_| AtomicU8::new(UNKNOWN)).collect();
        let mut round = 0;
        // No distance is missing between those that occur, so an empty round is the last.
        while histories.round(round) > 0 {
            round += 1;
        }
        histories
    }

    /// What can have come before a player's turn: nothing that matters, or a move of one of his
    /// archers from a neighbouring circle, the first to the fourth in a row.
    fn shuttles(&self, strength: Strength) -> usize {
        1 + usize::from(strength.archers) * self.degree() * usize::from(SHUTTLE_LIMIT)
    }

    fn histories(&self, block: &Block) -> usize {
        self.shuttles(block.material.own) * self.shuttles(block.material.enemy)
    }

    fn degree(&self) -> usize {
        let web = self.game.web();
        let degrees = Circle::all().map(|circle| web.neighbours(circle).count() as usize);
        degrees.max().unwrap_or(0).min(SLOTS)
    }

    /// Finds all positions whose result comes after `plies`.
    fn round(&self, plies: u32) -> u64 {
        self.each(|position, index| {
            let byte = &self.bytes[index];
            if byte.load(Ordering::Relaxed) != UNKNOWN {
                return 0;
            }
            let found = self.value(position, plies);
            if let Some(found) = found {
                byte.store(found, Ordering::Relaxed);
            }
            u64::from(found.is_some())
        })
        .sum()
    }

    /// The byte of a position if its result comes after exactly `plies`, where all positions with
    /// nearer results are known.
    fn value(&self, position: &JarmoPosition, plies: u32) -> Option<u8> {
        if let Some(outcome) = self.game.outcome(position) {
            return (plies == 0).then(|| match outcome.verdict(position.to_move()) {
                Verdict::Win => won(0),
                Verdict::Draw => OVER_DRAWN,
                Verdict::Loss => lost(0),
            });
        }
        let before = plies.checked_sub(1)?;
        let mut all_lost = true;
        for action in self.game.legal(position).iter() {
            let mut next = *position;
            self.game.play(&mut next, action);
            match self.exact(&next) {
                Exact::Loss(after) if after == before => return Some(won(plies)),
                Exact::Win(after) if after <= before => {}
                _ => all_lost = false,
            }
        }
        all_lost.then(|| lost(plies))
    }

    fn exact(&self, position: &JarmoPosition) -> Exact {
        match self.index(position) {
            Some(index) => Exact::from_byte(self.bytes[index].load(Ordering::Relaxed)),
            // The player to move has lost his last archer.
            None => Exact::Loss(0),
        }
    }

    fn index(&self, position: &JarmoPosition) -> Option<usize> {
        let placement = Placement::of(position);
        let number = (position.force().checked_sub(LEAST_FORCE)?) as usize;
        let layer = &self.layers[number];
        let index = layer.index(&placement)?;
        let block = layer.blocks().partition_point(|block| block.start <= index) - 1;
        let mover = position.to_move();
        let shuttles = self.shuttles(layer.blocks()[block].material.enemy);
        let history = self.shuttle(position, mover) * shuttles + self.shuttle(position, !mover);
        let block_start = layer.blocks()[block].start;
        let histories = self.histories(&layer.blocks()[block]);
        Some(self.starts[number][block] + (index - block_start) * histories + history)
    }

    /// The number of a player's shuttle; 0 unless he could go on with it.
    fn shuttle(&self, position: &JarmoPosition, player: Player) -> usize {
        let Some((action, streak)) = position.shuttle(player).last_move() else {
            return 0;
        };
        let WebAction::Move { from, to } = self.game.web().decode(action) else {
            return 0;
        };
        let own = position.archers(player);
        if !own.contains(to) || Circles::goal(player).contains(to) {
            return 0;
        }
        let below =
            |set: Circles, circle: Circle| (set.0 & ((1 << circle.index()) - 1)).count_ones();
        let archer = below(own, to) as usize;
        let slot = below(self.game.web().neighbours(to), from) as usize;
        let streaks = usize::from(SHUTTLE_LIMIT);
        1 + (archer * self.degree() + slot) * streaks + usize::from(streak) - 1
    }

    /// The position with this shuttle of a player, if there can be one.
    fn with_shuttle(
        &self,
        position: JarmoPosition,
        player: Player,
        number: usize,
    ) -> Option<JarmoPosition> {
        let Some(number) = number.checked_sub(1) else {
            return Some(position);
        };
        let streaks = usize::from(SHUTTLE_LIMIT);
        let (slot, streak) = (number / streaks, number % streaks + 1);
        let own = position.archers(player);
        let to = bits(own.0).nth(slot / self.degree())?;
        let near = self.game.web().neighbours(Circle::at(to as usize));
        let from = Circle::at(bits(near.0).nth(slot % self.degree())? as usize);
        let to = Circle::at(to as usize);
        if Circles::goal(player).contains(to) || own.contains(from) {
            return None;
        }
        let action = self.game.web().move_action(from, to)?;
        Some(position.with_shuttle(player, action, streak as u8))
    }

    /// What `visit` says of every position and the place of its byte.
    fn each<'a, T: Send + 'a>(
        &'a self,
        visit: impl Fn(&JarmoPosition, usize) -> T + Copy + Send + Sync + 'a,
    ) -> impl ParallelIterator<Item = T> + 'a {
        let blocks = self
            .layers
            .iter()
            .zip(&self.starts)
            .flat_map(|(layer, starts)| {
                let starts = starts.iter().copied();
                layer
                    .blocks()
                    .iter()
                    .zip(starts)
                    .map(move |(block, start)| (layer, block, start))
            });
        let blocks: Vec<_> = blocks.collect();
        blocks
            .into_par_iter()
            .flat_map(move |(layer, block, start)| {
                (0..block.len())
                    .into_par_iter()
                    .flat_map_iter(move |index| {
                        let position = layer.placement(block.start + index).position();
                        let first = start + index * self.histories(block);
                        self.pasts(position, block)
                            .map(move |(history, position)| visit(&position, first + history))
                    })
            })
    }

    /// The positions that a placement stands for, each with its number among them.
    fn pasts(
        &self,
        position: JarmoPosition,
        block: &Block,
    ) -> impl Iterator<Item = (usize, JarmoPosition)> + use<'_> {
        let [own, enemy] =
            [block.material.own, block.material.enemy].map(|strength| self.shuttles(strength));
        let mover = position.to_move();
        (0..own)
            .filter_map(move |one| Some((one, self.with_shuttle(position, mover, one)?)))
            .flat_map(move |(one, position)| {
                (0..enemy).filter_map(move |other| {
                    let position = self.with_shuttle(position, !mover, other)?;
                    Some((one * enemy + other, position))
                })
            })
    }

    fn compare(&self, tables: &Tables, force: u32) -> ShuttleEffect {
        let count = |fresh: bool| {
            self.each(|position, index| {
                let mut change = Change::default();
                let without = tables.exact(position).expect("solved up to this force");
                let history = Player::BOTH.map(|player| self.shuttle(position, player));
                let counts = !without.is_over() && position.force() == force;
                if counts && (!fresh || history == [0, 0]) {
                    let byte = self.bytes[index].load(Ordering::Relaxed);
                    change.add(position, without, Exact::from_byte(byte));
                }
                change
            })
            .reduce(Change::default, Change::join)
        };
        ShuttleEffect {
            force,
            fresh: count(true),
            all: count(false),
        }
    }
}
