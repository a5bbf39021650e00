//! The inputs for connect four: 2 board planes of 42 cells with the mover's and the opponent's stones. With a move
//! limit, a third plane encodes the plies left.
//!
//! There are three kinds of threats. First, for each player, the empty circles that complete four in a line,
//! separated by how soon a stone can be dropped there. Second, the lines of four that have stones of only one player,
//! with the pattern of their stones. Third, for each column, the lowest circle that completes four for each player.
//! These circles decide who runs out of safe moves when the other columns are full.

use super::{Encode, Mirror, NUMBERS, PLIES_LEFT_CELLS, named_planes, set_plies_left};
use crate::game::{Game, Player, bits};
use crate::games::connect_four::{BOTTOM, CIRCLES, COLUMNS, HEIGHT, ROWS, column_bits, winning};
use crate::games::{ConnectFour, ConnectFourPosition};

const BOARD_PLANES: usize = 2;
const CELLS: usize = ROWS * COLUMNS;
const _: () = assert!(PLIES_LEFT_CELLS <= CELLS);

/// The number of lines of four.
const LINES: usize = 69;

/// The number of planes per player for circles that complete four. A stone can be dropped there now, after one more
/// stone in the column, or later.
const WAITS: usize = 3;

/// The first threat about lines that have stones of only one player.
const OPEN: usize = 2 * WAITS * CELLS;

/// The number of patterns of stones in such a line: neither none nor all four.
const PATTERNS: usize = (1 << 4) - 2;

/// The first threat about the lowest circles that complete four.
const LOWEST: usize = OPEN + 2 * PATTERNS * LINES;

/// The number of rows in which such a circle can be lowest; one more for columns that have none.
const PLACES: usize = ROWS + 1;

const THREAT_PLANES: usize = (LOWEST + COLUMNS * PLACES * PLACES).div_ceil(CELLS);

impl Encode for ConnectFour {
    fn encoder_version(&self) -> u32 {
        3
    }

    fn planes(&self) -> usize {
        BOARD_PLANES + usize::from(self.max_plies() > 0)
    }

    fn board_planes(&self) -> usize {
        BOARD_PLANES
    }

    fn plane_names(&self) -> Vec<String> {
        let stones = ["mover: stones", "opponent: stones", NUMBERS];
        let mut names: Vec<_> = stones.into_iter().take(self.planes()).map(str::to_owned).collect();
        let waits = ["now", "after one more stone", "later"];
        let of = |player| waits.map(|when| format!("{player}: circles that complete four, to be filled {when}"));
        let rest = "inputs numbered across these planes: lines of four with stones of only the mover, then of only the \
                    opponent, by pattern; then for each column the rows of both players' lowest circles that complete \
                    four";
        let threats = ["mover", "opponent"].into_iter().flat_map(of).chain([rest.to_owned()]);
        names.extend(named_planes(threats, THREAT_PLANES));
        names
    }

    fn grid(&self) -> (usize, usize) {
        (ROWS, COLUMNS)
    }

    fn mirror(&self) -> Option<Mirror> {
        let column = |column: usize| COLUMNS - 1 - column;
        let cell = |index: usize| index - index % COLUMNS + column(index % COLUMNS);
        let threats = self.feature_count();
        let input = |index: usize| match index.checked_sub(threats) {
            None if index < BOARD_PLANES * CELLS => cell(index),
            None => index, // numbers have no mirror image
            Some(circle) if circle < OPEN => threats + cell(circle),
            Some(open) if open < LOWEST => {
                let (line, pattern) = ((open - OPEN) % LINES, (open - OPEN) / LINES);
                let (player, stones) = (pattern / PATTERNS, pattern % PATTERNS + 1);
                let (line, stones) = mirrored_line(line, stones);
                threats + OPEN + (player * PATTERNS + stones - 1) * LINES + line
            }
            Some(place) => match (place - LOWEST) / (PLACES * PLACES) {
                at if at < COLUMNS => index + PLACES * PLACES * column(at) - PLACES * PLACES * at,
                _ => index, // padding
            },
        };
        Some(Mirror {
            inputs: (0..self.input_count()).map(|index| input(index) as u16).collect(),
            actions: (0..COLUMNS).map(|place| column(place) as u16).collect(),
        })
    }

    #[inline]
    fn features(&self, position: &ConnectFourPosition, mut set: impl FnMut(usize)) {
        let mover = position.to_move();
        for (plane, player) in [mover, !mover].into_iter().enumerate() {
            set_circles(plane * CELLS, position.stones(player), &mut set);
        }
        set_plies_left(self, position, BOARD_PLANES * CELLS, &mut set);
    }

    fn seen_by(&self, position: &ConnectFourPosition, viewer: Player) -> ConnectFourPosition {
        let mut seen = *position;
        seen.to_move = viewer;
        seen
    }

    fn threat_planes(&self) -> usize {
        THREAT_PLANES
    }

    #[inline]
    fn threats(&self, position: &ConnectFourPosition, mut set: impl FnMut(usize)) {
        let mover = position.to_move();
        let occupied = position.stones(mover) | position.stones(!mover);
        let now = (occupied + BOTTOM) & CIRCLES;
        let mut completing = [0; 2];
        for (plane, player) in [mover, !mover].into_iter().enumerate() {
            let (own, other) = (position.stones(player), position.stones(!player));
            for (step, starts) in STEPS.into_iter().zip(STARTS) {
                let [first, second, third, fourth] = line_of_four(own, step);
                let mixed = line_of_four(other, step).into_iter().fold(0, |a, b| a | b);
                let open = starts & (first | second | third | fourth) & !(first & second & third & fourth) & !mixed;
                for start in bits(open) {
                    let [first, second, third, fourth] = [first, second, third, fourth].map(|bits| bits >> start & 1);
                    let stones = (first | second << 1 | third << 2 | fourth << 3) as usize;
                    let line = usize::from(LINE_AT[step][start]);
                    set(OPEN + (plane * PATTERNS + stones - 1) * LINES + line);
                }
            }
            let circles = winning(own, occupied);
            completing[plane] = circles;
            for (wait, when) in [now, now << 1, !(now | now << 1)].into_iter().enumerate() {
                set_circles((WAITS * plane + wait) * CELLS, circles & when, &mut set);
            }
        }
        let [own, other] = completing;
        let mut columns = own | other;
        while columns != 0 {
            let column = columns.trailing_zeros() as usize / HEIGHT;
            let [own, other] = [own, other].map(|circles| (circles & column_bits(column)) >> (HEIGHT * column));
            let lowest = |circles: u64| (circles.trailing_zeros() as usize).min(ROWS);
            set(LOWEST + (column * PLACES + lowest(own)) * PLACES + lowest(other));
            columns &= !column_bits(column);
        }
    }
}

/// Calls `set` for every circle of a set, in the plane that starts at `plane_start`.
#[inline]
fn set_circles(plane_start: usize, circles: u64, set: &mut impl FnMut(usize)) {
    for bit in bits(circles) {
        // Sets have one bit per column more than the board has rows.
        let (column, row) = COLUMN_AND_ROW[bit];
        set(plane_start + usize::from(row) * COLUMNS + usize::from(column));
    }
}

/// For all lines in one direction, by their first circle: whether the first, second, third and fourth circle have a
/// stone.
#[inline]
fn line_of_four(stones: u64, step: usize) -> [u64; 4] {
    [stones, stones >> step, stones >> (2 * step), stones >> (3 * step)]
}

/// `[direction]`: how many bits apart neighbours on a line are: up; right and down; right; right and up.
const STEPS: [usize; 4] = [1, HEIGHT - 1, HEIGHT, HEIGHT + 1];

/// `[direction]`: the first circles of all lines.
const STARTS: [u64; 4] = {
    let mut starts = [0; 4];
    let mut direction = 0;
    while direction < 4 {
        let step = STEPS[direction];
        starts[direction] = CIRCLES & CIRCLES >> step & CIRCLES >> (2 * step) & CIRCLES >> (3 * step);
        direction += 1;
    }
    starts
};

/// `[bits apart][first circle]`: the index of the line.
const LINE_AT: [[u8; COLUMNS * HEIGHT]; HEIGHT + 2] = {
    let mut numbers = [[0; COLUMNS * HEIGHT]; HEIGHT + 2];
    let mut number = 0;
    let mut direction = 0;
    while direction < 4 {
        let mut bit = 0;
        while bit < COLUMNS * HEIGHT {
            if STARTS[direction] >> bit & 1 == 1 {
                numbers[STEPS[direction]][bit] = number;
                number += 1;
            }
            bit += 1;
        }
        direction += 1;
    }
    assert!(number as usize == LINES);
    numbers
};

/// The index of a line's mirror image, and the pattern of its stones there.
fn mirrored_line(line: usize, stones: usize) -> (usize, usize) {
    let circles = |step: usize, start: usize| [0, 1, 2, 3].map(|place| start + place * step);
    let mirror = |bit: usize| HEIGHT * (COLUMNS - 1 - bit / HEIGHT) + bit % HEIGHT;
    let lines = || {
        STEPS.into_iter().zip(STARTS).flat_map(|(step, starts)| {
            (0..COLUMNS * HEIGHT).filter(move |&bit| starts >> bit & 1 == 1).map(move |start| circles(step, start))
        })
    };
    let image = lines().nth(line).expect("a line index is below LINES").map(mirror);
    let mut sorted = image;
    sorted.sort_unstable();
    let held = |place: usize| stones >> image.iter().position(|&bit| bit == sorted[place]).unwrap_or(0) & 1;
    let stones = (0..4).map(|place| held(place) << place).sum();
    (lines().position(|line| line == sorted).expect("the mirror image of a line is a line"), stones)
}

/// `[bit of a set of stones]`: column and row.
const COLUMN_AND_ROW: [(u8, u8); COLUMNS * HEIGHT] = {
    let mut table = [(0, 0); COLUMNS * HEIGHT];
    let mut bit = 0;
    while bit < table.len() {
        table[bit] = ((bit / HEIGHT) as u8, (bit % HEIGHT) as u8);
        bit += 1;
    }
    table
};
