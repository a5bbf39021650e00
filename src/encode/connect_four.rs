//! Connect four's features: 2 board planes of 42 cells, the mover's stones and the opponent's. Where
//! a limit on the length is set, a third plane tells the plies left.

use super::{Encode, Mirror, PLIES_LEFT_CELLS, set_plies_left};
use crate::game::Game;
use crate::games::connect_four::{COLUMNS, ROWS};
use crate::games::{ConnectFour, ConnectFourPosition};

const BOARD_PLANES: usize = 2;
const CELLS: usize = ROWS * COLUMNS;
const _: () = assert!(PLIES_LEFT_CELLS <= CELLS);

impl Encode for ConnectFour {
    fn planes(&self) -> usize {
        BOARD_PLANES + usize::from(self.max_plies() > 0)
    }

    fn board_planes(&self) -> usize {
        BOARD_PLANES
    }

    fn grid(&self) -> (usize, usize) {
        (ROWS, COLUMNS)
    }

    fn mirror(&self) -> Option<Mirror> {
        let column = |column: usize| COLUMNS - 1 - column;
        let feature = |feature: usize| match feature / CELLS {
            0..BOARD_PLANES => feature - feature % COLUMNS + column(feature % COLUMNS),
            _ => feature, // a number is the same in a mirror
        };
        Some(Mirror {
            features: (0..self.feature_count())
                .map(|place| feature(place) as u16)
                .collect(),
            actions: (0..COLUMNS).map(|place| column(place) as u16).collect(),
        })
    }

    #[inline]
    fn features(&self, position: &ConnectFourPosition, mut set: impl FnMut(usize)) {
        let mover = position.to_move();
        for (plane, player) in [mover, !mover].into_iter().enumerate() {
            let mut left = position.stones(player);
            while left != 0 {
                // A column of the set has one bit more than it has circles.
                let (column, row) = COLUMN_AND_ROW[left.trailing_zeros() as usize];
                set(plane * CELLS + usize::from(row) * COLUMNS + usize::from(column));
                left &= left - 1;
            }
        }
        set_plies_left(self, position, BOARD_PLANES * CELLS, &mut set);
    }
}

/// Column and row of each bit of a set of stones.
const COLUMN_AND_ROW: [(u8, u8); COLUMNS * (ROWS + 1)] = {
    let mut table = [(0, 0); COLUMNS * (ROWS + 1)];
    let mut bit = 0;
    while bit < table.len() {
        table[bit] = ((bit / (ROWS + 1)) as u8, (bit % (ROWS + 1)) as u8);
        bit += 1;
    }
    table
};
