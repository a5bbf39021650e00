//! Features of connect four: 2 board planes of 42 cells, the mover's stones and the opponent's. With a
//! limit on the length of a game, a third plane encodes the plies left.
//!
//! The threats of the mover and of the opponent: empty circles that complete four, and lines of four with
//! exactly two of the player's stones and two empty circles.

use super::{Encode, Mirror, NUMBERS, PLIES_LEFT_CELLS, named_planes, set_plies_left};
use crate::game::{Game, Player};
use crate::games::connect_four::{CIRCLES, COLUMNS, HEIGHT, ROWS, winning};
use crate::games::{ConnectFour, ConnectFourPosition};

const BOARD_PLANES: usize = 2;
const CELLS: usize = ROWS * COLUMNS;
const _: () = assert!(PLIES_LEFT_CELLS <= CELLS);

/// The number of lines of four.
const LINES: usize = 69;

/// Where the lines with two stones start, after two planes of circles that complete four.
const PAIRS: usize = 2 * CELLS;

const THREAT_PLANES: usize = 2 + (2 * LINES).div_ceil(CELLS);

impl Encode for ConnectFour {
    fn planes(&self) -> usize {
        BOARD_PLANES + usize::from(self.max_plies() > 0)
    }

    fn board_planes(&self) -> usize {
        BOARD_PLANES
    }

    fn plane_names(&self) -> Vec<String> {
        let stones = ["mover: stones", "opponent: stones", NUMBERS];
        let threats = [
            "mover: circles that complete four",
            "opponent: circles that complete four",
            "lines of four with two stones of one player alone, counted through the planes",
        ];
        let mut names: Vec<_> = stones.into_iter().take(self.planes()).map(str::to_owned).collect();
        names.extend(named_planes(threats.map(str::to_owned), THREAT_PLANES));
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
            Some(threat) if threat < PAIRS => threats + cell(threat),
            Some(threat) => match threat - PAIRS {
                pair if pair < 2 * LINES => threats + PAIRS + pair - pair % LINES + mirrored_line(pair % LINES),
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
        position.seen_by(viewer)
    }

    fn threat_planes(&self) -> usize {
        THREAT_PLANES
    }

    #[inline]
    fn threats(&self, position: &ConnectFourPosition, mut set: impl FnMut(usize)) {
        let mover = position.to_move();
        for (plane, player) in [mover, !mover].into_iter().enumerate() {
            let (own, other) = (position.stones(player), position.stones(!player));
            for (step, starts) in STEPS.into_iter().zip(STARTS) {
                let [first, second, third, fourth] = line_of_four(own, step);
                let mixed = line_of_four(other, step).into_iter().fold(0, |a, b| a | b);
                let odd = first ^ second ^ third ^ fourth;
                let (some, all) = (first | second | third | fourth, first & second & third & fourth);
                let mut pairs = starts & some & !odd & !all & !mixed;
                while pairs != 0 {
                    let line = LINE_AT[step][pairs.trailing_zeros() as usize];
                    set(PAIRS + plane * LINES + usize::from(line));
                    pairs &= pairs - 1;
                }
            }
            set_circles(plane * CELLS, winning(own, own | other), &mut set);
        }
    }
}

/// Sets the features of a set of circles, in the plane that starts at `plane_start`.
#[inline]
fn set_circles(plane_start: usize, circles: u64, set: &mut impl FnMut(usize)) {
    let mut left = circles;
    while left != 0 {
        // A column of the set has one more bit than circles.
        let (column, row) = COLUMN_AND_ROW[left.trailing_zeros() as usize];
        set(plane_start + usize::from(row) * COLUMNS + usize::from(column));
        left &= left - 1;
    }
}

/// By first circle of a line: whether its first, second, third and fourth circles have a stone.
#[inline]
fn line_of_four(stones: u64, step: usize) -> [u64; 4] {
    [stones, stones >> step, stones >> (2 * step), stones >> (3 * step)]
}

/// Bit distance between neighbours on a line, by direction: up, right and down, right, right and up.
const STEPS: [usize; 4] = [1, HEIGHT - 1, HEIGHT, HEIGHT + 1];

/// By direction: the first circles of all lines.
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

/// By step and first circle: the index of the line.
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

/// The index of the mirror image of a line.
fn mirrored_line(line: usize) -> usize {
    let circles = |step: usize, start: usize| [0, 1, 2, 3].map(|place| start + place * step);
    let mirror = |bit: usize| HEIGHT * (COLUMNS - 1 - bit / HEIGHT) + bit % HEIGHT;
    let lines = || {
        STEPS.into_iter().zip(STARTS).flat_map(|(step, starts)| {
            (0..COLUMNS * HEIGHT).filter(move |&bit| starts >> bit & 1 == 1).map(move |start| circles(step, start))
        })
    };
    let mut image = lines().nth(line).expect("a line index is below LINES").map(mirror);
    image.sort_unstable();
    lines().position(|line| line == image).expect("the mirror image of a line is a line")
}

/// By bit of a set of stones: column and row.
const COLUMN_AND_ROW: [(u8, u8); COLUMNS * HEIGHT] = {
    let mut table = [(0, 0); COLUMNS * HEIGHT];
    let mut bit = 0;
    while bit < table.len() {
        table[bit] = ((bit / HEIGHT) as u8, (bit % HEIGHT) as u8);
        bit += 1;
    }
    table
};
