//! Exact results of connect four late in a game, by alpha-beta search with a table of bounds.

use std::sync::Mutex;

use super::Truth;
use jarmo_core::game::{Action, Game, Mask, Proven};
use jarmo_core::games::connect_four::{COLUMNS, ROWS};
use jarmo_core::games::{ConnectFour, ConnectFourPosition};
use jarmo_exact::tables::ActionValue;
use jarmo_judge::puzzles::Goal;

/// With fewer stones a position takes too long.
const FEWEST_STONES: u32 = 18;

/// Longer wins and losses make no puzzles.
const MOST_PLIES: u32 = 15;

/// The stones of a full board.
const FULL: u32 = (COLUMNS * ROWS) as u32;

/// Bits of a column: its circles, and one that stays empty.
const HEIGHT: usize = ROWS + 1;

/// Columns in the order in which they are searched.
const ORDER: [usize; COLUMNS] = [3, 2, 4, 1, 5, 0, 6];

/// Entries of a table; a prime number.
const ENTRIES: usize = 1_048_573;

/// Solves positions on the threads of a pool.
pub struct Solver {
    tables: Vec<Mutex<Table>>, // one for each thread
}

/// A score is 43 less the number of stones at the end of the game, negative for a loss, and 0 for a draw.
type Score = i32;

/// Upper and lower bounds of scores, by position.
struct Table(Vec<(u64, i8, i8)>);

impl Solver {
    /// A solver for the current rayon pool.
    pub fn new() -> Solver {
        let table = || Mutex::new(Table(vec![(u64::MAX, 0, 0); ENTRIES]));
        Solver { tables: (0..rayon::current_num_threads()).map(|_| table()).collect() }
    }
}

impl Default for Solver {
    fn default() -> Solver {
        Solver::new()
    }
}

impl Truth<ConnectFour> for Solver {
    fn actions(&self, game: &ConnectFour, position: &ConnectFourPosition) -> Option<Vec<ActionValue>> {
        let ply = game.ply(position);
        if ply < FEWEST_STONES || game.outcome(position).is_some() {
            return None;
        }
        let thread = rayon::current_thread_index().unwrap_or(0);
        let mut table = self.tables[thread].lock().expect("no search panics");
        let mut value = |action: Action| {
            let mut next = *position;
            game.play(&mut next, action);
            let score = match game.outcome(&next) {
                Some(outcome) if outcome.winner.is_some() => score_at(ply + 1),
                Some(_) => 0,
                None => {
                    let mover = next.to_move();
                    let (own, other) = (next.stones(mover), next.stones(!mover));
                    -table.score(own, other, (-score_at(ply), score_at(ply)))
                }
            };
            ActionValue { action, proven: proven_of(score, ply) }
        };
        let mut values: Vec<ActionValue> = game.legal(position).iter().map(&mut value).collect();
        values.sort_by_key(|value| std::cmp::Reverse(value.proven.preference()));
        Some(values)
    }

    fn holds(
        &self,
        game: &ConnectFour,
        position: &ConnectFourPosition,
        _: Action,
        goal: Goal,
        plies: Option<u32>,
    ) -> bool {
        let quick = |plies: Option<u32>| plies.is_some_and(|plies| plies <= MOST_PLIES);
        match goal {
            Goal::Win => quick(plies),
            Goal::Draw => self
                .actions(game, position)
                .is_some_and(|values| values[1..].iter().all(|value| quick(value.proven.plies))),
        }
    }
}

/// The score of a win with this many stones at the end.
fn score_at(stones: u32) -> Score {
    FULL as Score + 1 - stones as Score
}

/// The result of an action with this score in a position with `ply` stones.
fn proven_of(score: Score, ply: u32) -> Proven {
    let plies = FULL + 1 - score.unsigned_abs() - ply;
    match score {
        0 => Proven::DRAW,
        1.. => Proven::win(plies),
        _ => Proven::loss(plies),
    }
}

/// Whether these stones have four in a line.
fn has_four(stones: u64) -> bool {
    [1, HEIGHT - 1, HEIGHT, HEIGHT + 1].iter().any(|step| {
        let pairs = stones & stones >> step;
        pairs & pairs >> (2 * step) != 0
    })
}

/// The circle in which a stone in this column comes to lie, if there is one.
fn drop_in(column: usize, taken: u64) -> Option<u64> {
    let lowest = 1 << (HEIGHT * column);
    let free = (taken + lowest) & (((1 << ROWS) - 1) << (HEIGHT * column));
    let circle = free & !taken;
    (circle != 0).then(|| circle & circle.wrapping_neg())
}

impl Table {
    /// The score for the player with the stones `own`, who is to move, within a window. The game is not over.
    fn score(&mut self, own: u64, other: u64, (mut low, mut high): (Score, Score)) -> Score {
        let taken = own | other;
        let ply = taken.count_ones();
        if ply == FULL {
            return 0;
        }
        let mut circles = ORDER.map(|column| drop_in(column, taken));
        if circles.iter().flatten().any(|circle| has_four(own | circle)) {
            return score_at(ply + 1);
        }
        // The other's threats must be met.
        let mut threats = circles.iter().flatten().filter(|circle| has_four(other | *circle));
        if let Some(&first) = threats.next() {
            if threats.next().is_some() {
                return -score_at(ply + 2);
            }
            circles = [None; COLUMNS];
            circles[0] = Some(first);
        }
        let key = own + taken + BOTTOM;
        let place = (key % ENTRIES as u64) as usize;
        let (found, least, most) = self.0[place];
        let (mut least, mut most) = match found == key {
            true => (Score::from(least), Score::from(most)),
            false => (-score_at(ply + 2), score_at(ply + 3).max(0)),
        };
        (low, high) = (low.max(least), high.min(most));
        if low >= high {
            return if least >= high { least } else { most };
        }
        let (mut best, from) = (Score::MIN, low);
        for circle in circles.into_iter().flatten() {
            let score = -self.score(other, own | circle, (-high, -low));
            best = best.max(score);
            low = low.max(score);
            if low >= high {
                break;
            }
        }
        if best > from {
            least = least.max(best);
        }
        if best < high {
            most = most.min(best);
        }
        self.0[place] = (key, least as i8, most as i8);
        best
    }
}

/// The lowest circle of every column.
const BOTTOM: u64 = {
    let (mut bits, mut column) = (0, 0);
    while column < COLUMNS {
        bits |= 1 << (HEIGHT * column);
        column += 1;
    }
    bits
};
