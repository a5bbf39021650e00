//! The 32 dark squares, and the diagonals between them.
//!
//! Squares are numbered row by row from the side of the player to move, who moves towards higher numbers. Rotating
//! the board maps square `s` to `31 - s`.

use std::fmt;
use std::str::FromStr;

use crate::game::{Player, bits};

/// The number of dark squares.
pub const SQUARES: usize = 32;

/// The number of squares in a row, dark and light.
pub const SIDE: usize = 8;

/// The row on which a man becomes a king, from its owner's point of view.
pub(super) const FAR_ROW: u32 = 0xf000_0000;

/// The number of diagonal directions. The first two lead forward.
pub(super) const DIRECTIONS: usize = 4;

/// The number of directions in which a man moves and captures, which are the first ones.
pub(super) const FORWARD: usize = 2;

/// One step in each direction, as (columns, rows).
const STEPS: [(i8, i8); DIRECTIONS] = [(1, 1), (-1, 1), (1, -1), (-1, -1)];

/// The number of actions: one for every ordered pair of squares on the same diagonal.
pub(crate) const ACTIONS: usize = 280;

/// One of the 32 dark squares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Square(pub(super) u8);

impl Square {
    /// The square with this index.
    ///
    /// # Panics
    /// Panics unless `index < 32`.
    #[inline]
    pub const fn at(index: usize) -> Square {
        assert!(index < SQUARES, "there are 32 dark squares");
        Square(index as u8)
    }

    /// The index of the square, below 32.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The row, 0 to 7.
    #[inline]
    pub const fn row(self) -> usize {
        self.index() / 4
    }

    /// The column, 0 to 7.
    #[inline]
    pub const fn column(self) -> usize {
        2 * (self.index() % 4) + self.row() % 2
    }

    /// The set of only this square.
    #[inline]
    pub(super) const fn bit(self) -> u32 {
        1 << self.0
    }

    /// The dark square at this column and row.
    pub const fn on(column: usize, row: usize) -> Option<Square> {
        if column < SIDE && row < SIDE && (column + row).is_multiple_of(2) {
            Some(Square((4 * row + column / 2) as u8))
        } else {
            None
        }
    }

    /// The same square from the other player's point of view.
    #[inline]
    pub const fn turn(self) -> Square {
        Square(SQUARES as u8 - 1 - self.0)
    }

    /// Converts between the point of view of White, which text and drawings use, and that of `player`.
    #[inline]
    pub const fn seen_by(self, player: Player) -> Square {
        match player {
            Player::White => self,
            Player::Black => self.turn(),
        }
    }
}

impl fmt::Display for Square {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let column = b'a' + self.column() as u8;
        write!(out, "{}{}", char::from(column), self.row() + 1)
    }
}

impl FromStr for Square {
    type Err = &'static str;

    /// Reads the name of a dark square, such as `c3`, from White's point of view.
    fn from_str(text: &str) -> Result<Square, &'static str> {
        let square =
            |&[column, row]: &[u8; 2]| Square::on(column.wrapping_sub(b'a').into(), row.wrapping_sub(b'1').into());
        text.as_bytes().as_array().and_then(square).ok_or("not a dark square")
    }
}

/// The squares of a set, lowest first.
#[inline]
pub(super) fn squares(set: u32) -> impl Iterator<Item = Square> {
    bits(set.into()).map(|square| Square(square as u8))
}

/// The diagonals, and the actions along them.
///
/// The actions from a square in one direction are consecutive, nearest target first. Therefore the moves of a king in
/// one direction are a run of bits.
pub(super) struct Diagonals {
    /// `[square][direction]`: all squares beyond it.
    pub(super) ray: [[u32; DIRECTIONS]; SQUARES],
    /// `[square][direction]`: the action to the nearest square.
    pub(super) first_action: [[u16; DIRECTIONS]; SQUARES],
    /// `[action]`: source and target.
    pub(super) ends: [(Square, Square); ACTIONS],
    /// `[action]`: the squares between source and target.
    pub(super) between: [u32; ACTIONS],
}

pub(super) static DIAGONALS: Diagonals = Diagonals::new();

impl Diagonals {
    const fn new() -> Diagonals {
        let mut made = Diagonals {
            ray: [[0; DIRECTIONS]; SQUARES],
            first_action: [[0; DIRECTIONS]; SQUARES],
            ends: [(Square(0), Square(0)); ACTIONS],
            between: [0; ACTIONS],
        };
        let mut action = 0;
        let mut index = 0;
        while index < SQUARES {
            let from = Square(index as u8);
            let mut direction = 0;
            while direction < DIRECTIONS {
                made.first_action[index][direction] = action as u16;
                let mut passed = 0;
                let mut to = step(from, direction);
                while let Some(target) = to {
                    made.ends[action] = (from, target);
                    made.between[action] = passed;
                    passed |= target.bit();
                    action += 1;
                    to = step(target, direction);
                }
                made.ray[index][direction] = passed;
                direction += 1;
            }
            index += 1;
        }
        assert!(action == ACTIONS);
        made
    }

    /// The first square of `set` beyond `from` in a direction.
    #[inline]
    pub(super) fn nearest(&self, from: Square, direction: usize, set: u32) -> Option<Square> {
        let met = self.ray[from.index()][direction] & set;
        if met == 0 {
            None
        } else if direction < FORWARD {
            Some(Square(met.trailing_zeros() as u8))
        } else {
            Some(Square(31 - met.leading_zeros() as u8))
        }
    }

    /// The action from one square to another; `None` if they are not on the same diagonal.
    pub(super) fn action(&self, from: Square, to: Square) -> Option<usize> {
        let direction = (0..DIRECTIONS).find(|&d| self.ray[from.index()][d] & to.bit() != 0)?;
        let distance = from.row().abs_diff(to.row());
        Some(usize::from(self.first_action[from.index()][direction]) + distance - 1)
    }
}

const fn step(from: Square, direction: usize) -> Option<Square> {
    let (columns, rows) = STEPS[direction];
    let column = from.column() as i8 + columns;
    let row = from.row() as i8 + rows;
    if column < 0 || row < 0 { None } else { Square::on(column as usize, row as usize) }
}
