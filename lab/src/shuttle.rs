//! The effect of the shuttle rule: small forces solved again with the exact rule.
//!
//! Here a position is a placement plus each player's last move and streak. That makes hundreds of
//! positions per placement, so only the smallest forces can be solved. The solver iterates over all
//! positions until nothing changes, and takes the rules from the game itself.

use std::sync::atomic::{AtomicU8, Ordering};

use rayon::prelude::*;

use jarmo_core::game::{Game, Mask, Player, Proven, Verdict};
use jarmo_core::games::board::{BoardAction, Circle, Circles};
use jarmo_core::games::jarmo::{SHUTTLE_LIMIT, Shuttle};
use jarmo_core::games::{Jarmo, JarmoPosition};
use jarmo_exact::ExactError;
use jarmo_exact::tables::index::{Army, JarmoLayer, LEAST_FORCE, Placement};
use jarmo_exact::tables::{ShuttleBounds, Tables};

/// The highest force that [`shuttle_effect`] solves; it takes 1.2 GiB of memory.
pub const MOST_SHUTTLE_FORCE: u32 = 4;

/// The effect of the shuttle rule on the positions of one force.
#[derive(Clone, Debug)]
pub struct ShuttleEffect {
    /// Archers plus marks.
    pub force: u32,
    /// Every placement with every possible last move of both players, by the longer of the two streaks: a
    /// player's latest moves in a row that each undid the one before, including the last. Index 0 holds
    /// the placements without a last move.
    pub streaks: [Change; STREAKS + 1],
}

impl ShuttleEffect {
    /// Placements without a last move.
    pub fn fresh(&self) -> &Change {
        &self.streaks[0]
    }

    /// All positions.
    pub fn all(&self) -> Change {
        self.streaks.iter().cloned().fold(Change::default(), Change::join)
    }
}

/// Counts of positions whose value differs under the shuttle rule.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// Positions that are not over.
    pub positions: u64,
    /// Positions with the same result after another number of plies.
    pub other_distance: u64,
    /// Positions by the result without the rule and the result with it, each in the order loss, draw, win.
    pub results: [[u64; 3]; 3],
    /// The first position with another result.
    pub example: Option<JarmoPosition>,
}

impl Change {
    /// Positions with another result.
    pub fn other_result(&self) -> u64 {
        let all: u64 = self.results.iter().flatten().sum();
        all - (0..3).map(|verdict| self.results[verdict][verdict]).sum::<u64>()
    }

    fn add(&mut self, position: &JarmoPosition, without: Proven, with: Proven) {
        self.positions += 1;
        let [from, to] = [without, with].map(|proven| proven.verdict as usize);
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

/// Solves all positions up to a force with and without the shuttle rule, and compares the results.
///
/// # Panics
/// Panics if the force is above [`MOST_SHUTTLE_FORCE`].
pub fn shuttle_effect(game: &Jarmo, force: u32) -> Result<Vec<ShuttleEffect>, ExactError> {
    assert!(force <= MOST_SHUTTLE_FORCE, "the highest force that can be solved is {MOST_SHUTTLE_FORCE}");
    let tables = Tables::solve(game, force)?;
    let histories = Histories::solve(game, force);
    Ok((LEAST_FORCE..=force).map(|force| histories.compare(&tables, force)).collect())
}

/// What a bound side holds, compared with the exact results of all positions of a force.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HoldCheck {
    /// Positions that the side does not lose.
    pub not_lost: u64,
    /// Positions among them that it is proven to hold.
    pub held: u64,
    /// Positions that it is said to hold and loses: none, unless the files are wrong.
    pub wrong: u64,
}

impl HoldCheck {
    fn add(mut self, lost: bool, held: bool) -> HoldCheck {
        self.not_lost += u64::from(!lost);
        self.held += u64::from(!lost && held);
        self.wrong += u64::from(lost && held);
        self
    }

    fn join(self, other: HoldCheck) -> HoldCheck {
        HoldCheck {
            not_lost: self.not_lost + other.not_lost,
            held: self.held + other.held,
            wrong: self.wrong + other.wrong,
        }
    }
}

/// Solves all positions up to a force with the shuttle rule, with both players' last moves and streaks, and
/// compares them with what each side is proven to hold: by force, then by player, positions without a move before
/// and all positions.
///
/// # Panics
/// Panics if the force is above [`MOST_SHUTTLE_FORCE`], or if a file of a force up to it is missing.
pub fn check_holds(game: &Jarmo, force: u32, holds: &ShuttleBounds) -> Vec<[[HoldCheck; 2]; 2]> {
    assert!(force <= MOST_SHUTTLE_FORCE, "the highest force that can be solved is {MOST_SHUTTLE_FORCE}");
    let histories = Histories::solve(game, force);
    (LEAST_FORCE..=force).map(|force| histories.check(holds, force)).collect()
}

/// All positions up to a force with their histories, and their values.
struct Histories {
    game: Jarmo,
    layers: Vec<JarmoLayer>,
    starts: Vec<Vec<usize>>, // by layer and placement: the index of its first byte
    bytes: Vec<AtomicU8>,
    degree: usize, // the most lines at a circle
}

/// The byte of a position without a result yet; positions that keep it are drawn.
const UNKNOWN: u8 = 0;

/// The byte of a game that is over and drawn.
const OVER_DRAWN: u8 = 1;

/// The byte of a lost position; 2 more for each ply. That of a won one is 1 more.
const LOST: u8 = 2;

fn byte_of(result: Proven) -> u8 {
    match (result.verdict, result.plies) {
        (Verdict::Draw, None) => UNKNOWN,
        (Verdict::Draw, Some(_)) => OVER_DRAWN,
        (verdict, plies) => {
            let plies = plies.expect("decided results have plies") as u8;
            LOST + 2 * plies + u8::from(verdict == Verdict::Win)
        }
    }
}

fn result_of(byte: u8) -> Proven {
    match byte {
        UNKNOWN => Proven::DRAW,
        OVER_DRAWN => Proven::over(Verdict::Draw),
        _ if byte % 2 == LOST % 2 => Proven::loss(u32::from(byte - LOST) / 2),
        _ => Proven::win(u32::from(byte - LOST) / 2),
    }
}

/// The number of a past that does not restrict the player.
const NO_PAST: usize = 0;

/// The number of a pass as the last action.
const PASSED: usize = 1;

/// The first number of a move as the last action.
const FIRST_MOVE: usize = 2;

const STREAKS: usize = SHUTTLE_LIMIT as usize;

impl Histories {
    fn solve(game: &Jarmo, force: u32) -> Histories {
        let board = game.board();
        let degrees = Circle::all().map(|circle| board.neighbours(circle).count() as usize);
        let mut histories = Histories {
            game: game.clone().with_max_plies(0),
            layers: (LEAST_FORCE..=force).map(JarmoLayer::new).collect(),
            starts: Vec::new(),
            bytes: Vec::new(),
            degree: degrees.max().unwrap_or(0),
        };
        let mut end = 0;
        for layer in &histories.layers {
            let mut starts = Vec::new();
            for index in 0..layer.size {
                let Placement { own, enemy, .. } = layer.placement(index);
                starts.push(end);
                end += histories.pasts(own) * histories.pasts(enemy);
            }
            histories.starts.push(starts);
        }
        histories.bytes = (0..end).map(|_| AtomicU8::new(UNKNOWN)).collect();
        let mut round = 0;
        // The distances that occur have no gaps, so the first empty round is the last.
        while histories.round(round) > 0 {
            round += 1;
        }
        histories
    }

    /// The number of a player's pasts: no restriction, a pass, or a move of one of the archers from a
    /// neighbouring circle, with a streak of one to four.
    fn pasts(&self, army: Army) -> usize {
        FIRST_MOVE + army.archers.count_ones() as usize * self.degree * STREAKS
    }

    /// Finds all positions with a result after `plies`; returns their number.
    fn round(&self, plies: u32) -> u64 {
        let byte = |index: usize| self.bytes[index].load(Ordering::Relaxed);
        self.each(
            move |index| byte(index) == UNKNOWN,
            move |position, index| match self.value(position, plies) {
                Some(found) => {
                    self.bytes[index].store(byte_of(found), Ordering::Relaxed);
                    1
                }
                None => 0,
            },
        )
        .sum()
    }

    /// The result of a position if it comes after exactly `plies`. All positions with earlier results
    /// must be known.
    fn value(&self, position: &JarmoPosition, plies: u32) -> Option<Proven> {
        if let Some(outcome) = self.game.outcome(position) {
            return (plies == 0).then(|| Proven::over(outcome.verdict(position.to_move())));
        }
        let before = plies.checked_sub(1)?;
        let mut all_lost = true;
        for action in self.game.legal(position).iter() {
            let mut next = *position;
            self.game.play(&mut next, action);
            let next = self.proven(&next);
            match (next.verdict, next.plies) {
                (Verdict::Loss, Some(after)) if after == before => return Some(Proven::win(plies)),
                (Verdict::Win, Some(after)) if after <= before => {}
                _ => all_lost = false,
            }
        }
        all_lost.then(|| Proven::loss(plies))
    }

    fn proven(&self, position: &JarmoPosition) -> Proven {
        match self.index(position) {
            Some(index) => result_of(self.bytes[index].load(Ordering::Relaxed)),
            // The player to move has lost the last archer.
            None => Proven::loss(0),
        }
    }

    fn index(&self, position: &JarmoPosition) -> Option<usize> {
        let placement = Placement::of(position);
        let number = position.force().checked_sub(LEAST_FORCE)? as usize;
        let index = self.layers.get(number)?.index(&placement)?;
        let mover = position.to_move();
        let enemies = self.pasts(placement.enemy);
        let history = self.past(position, mover) * enemies + self.past(position, !mover);
        Some(self.starts[number][index] + history)
    }

    /// The number of a player's past. A move that cannot be undone at once does not restrict.
    fn past(&self, position: &JarmoPosition, player: Player) -> usize {
        let shuttle = position.shuttle(player);
        let Some((action, streak)) = shuttle.last_move() else {
            return if shuttle == Shuttle::PASS { PASSED } else { NO_PAST };
        };
        let BoardAction::Move { from, to } = self.game.board().decode(action) else {
            return NO_PAST;
        };
        let own = position.archers(player);
        if !own.contains(to) || Circles::goal(player).contains(to) {
            return NO_PAST;
        }
        let below = |set: Circles, circle: Circle| (set.0 & ((1 << circle.index()) - 1)).count_ones();
        let archer = below(own, to) as usize;
        let slot = below(self.game.board().neighbours(to), from) as usize;
        FIRST_MOVE + (archer * self.degree + slot) * STREAKS + usize::from(streak) - 1
    }

    /// All possible last actions of a player, with their numbers.
    fn all_pasts(&self, position: &JarmoPosition, player: Player) -> Vec<(usize, Shuttle)> {
        let mut pasts = vec![(NO_PAST, Shuttle::NONE), (PASSED, Shuttle::PASS)];
        let own = position.archers(player);
        let board = self.game.board();
        for (archer, to) in own.iter().enumerate() {
            for (slot, from) in board.neighbours(to).iter().enumerate() {
                // Archers on their goal row never move, so no move starts there.
                let stuck = Circles::goal(player).contains(to) || Circles::goal(player).contains(from);
                if stuck || own.contains(from) {
                    continue;
                }
                let action = board.move_action(from, to).expect("the circles are neighbours");
                for streak in 1..=SHUTTLE_LIMIT {
                    let slots = (archer * self.degree + slot) * STREAKS;
                    let number = FIRST_MOVE + slots + usize::from(streak) - 1;
                    pasts.push((number, Shuttle::of_move(action, streak)));
                }
            }
        }
        pasts
    }

    /// Calls `visit` with every position, and the index of its byte, for which `wanted(index)` holds.
    fn each<'a, T: Send + 'a>(
        &'a self,
        wanted: impl Fn(usize) -> bool + Copy + Send + Sync + 'a,
        visit: impl Fn(&JarmoPosition, usize) -> T + Copy + Send + Sync + 'a,
    ) -> impl ParallelIterator<Item = T> + 'a {
        let layers = self.layers.par_iter().zip(&self.starts);
        layers.flat_map(move |(layer, starts)| {
            let placements = starts.par_iter().enumerate();
            placements.flat_map_iter(move |(index, &start)| {
                let placement = layer.placement(index);
                let position = placement.position();
                let mover = position.to_move();
                let enemies = self.pasts(placement.enemy);
                let (own, enemy) = (self.all_pasts(&position, mover), self.all_pasts(&position, !mover));
                own.into_iter().flat_map(move |(one, past)| {
                    let position = position.with_shuttle(mover, past);
                    let first = start + one * enemies;
                    let wanted = move |other: &(usize, Shuttle)| wanted(first + other.0);
                    let others = enemy.clone().into_iter().filter(wanted);
                    others.map(move |(other, past)| visit(&position.with_shuttle(!mover, past), first + other))
                })
            })
        })
    }

    fn check(&self, holds: &ShuttleBounds, force: u32) -> [[HoldCheck; 2]; 2] {
        let nothing: fn() -> [[HoldCheck; 2]; 2] = Default::default;
        self.each(|_| true, |position, index| (*position, self.bytes[index].load(Ordering::Relaxed)))
            .fold(nothing, |mut checks, (position, byte)| {
                let pasts = Player::BOTH.map(|player| self.past(&position, player));
                let counts = position.force() == force && !pasts.contains(&PASSED);
                if counts && self.game.outcome(&position).is_none() {
                    for player in Player::BOTH {
                        let for_mover = result_of(byte).verdict;
                        let lost = match position.to_move() == player {
                            true => for_mover == Verdict::Loss,
                            false => for_mover == Verdict::Win,
                        };
                        let held = holds.holds(&position, player).expect("a file of this force");
                        let [fresh, all] = &mut checks[player.index()];
                        *all = all.add(lost, held);
                        if pasts == [NO_PAST; 2] {
                            *fresh = fresh.add(lost, held);
                        }
                    }
                }
                checks
            })
            .reduce(nothing, |left, right| {
                std::array::from_fn(|player| {
                    std::array::from_fn(|which| left[player][which].join(right[player][which]))
                })
            })
    }

    fn compare(&self, tables: &Tables, force: u32) -> ShuttleEffect {
        let nothing: fn() -> [Change; STREAKS + 1] = Default::default;
        let streaks = self
            .each(|_| true, |position, index| (*position, self.bytes[index].load(Ordering::Relaxed)))
            .fold(nothing, |mut changes, (position, byte)| {
                let without = tables.proven(&position).expect("solved up to this force");
                let pasts = Player::BOTH.map(|player| self.past(&position, player));
                let counts = position.force() == force && !without.is_over();
                if counts && !pasts.contains(&PASSED) {
                    let longest = streak(pasts[0]).max(streak(pasts[1]));
                    changes[longest].add(&position, without, result_of(byte));
                }
                changes
            })
            .reduce(nothing, |left, right| {
                let mut right = right.into_iter();
                left.map(|change| change.join(right.next().expect("both have the same length")))
            });
        ShuttleEffect { force, streaks }
    }
}

/// The streak of the past with this number.
fn streak(past: usize) -> usize {
    past.checked_sub(FIRST_MOVE).map_or(0, |slot| slot % STREAKS + 1)
}
