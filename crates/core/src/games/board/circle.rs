//! The circles of the board, and sets of them.

use std::fmt;
use std::ops::{BitAnd, BitOr, BitOrAssign, BitXorAssign, Not};
use std::str::FromStr;

use crate::game::{Player, bits};

/// The number of rows, and of circles in each row.
pub const SIDE: usize = 5;

/// The number of circles.
pub const CIRCLES: usize = SIDE * SIDE;

/// One of the 25 circles, numbered row by row: A1 is 0, B1 is 1, E5 is 24.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Circle(u8);

impl Circle {
    /// The circle with this index.
    ///
    /// # Panics
    /// Panics unless `index < 25`.
    #[inline]
    pub const fn at(index: usize) -> Circle {
        assert!(index < CIRCLES, "there are 25 circles");
        Circle(index as u8)
    }

    /// The index of the circle, below 25.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The column: 0 for A to 4 for E.
    #[inline]
    pub const fn column(self) -> usize {
        self.index() % SIDE
    }

    /// The row: 0 for row 1 to 4 for row 5.
    #[inline]
    pub const fn row(self) -> usize {
        self.index() / SIDE
    }

    /// The circle in this column of the player's home row.
    #[inline]
    pub fn home(player: Player, column: usize) -> Circle {
        debug_assert!(column < SIDE);
        Circle((Circles::home_row_of(player) * SIDE + column) as u8)
    }

    /// All circles, A1 first.
    pub fn all() -> impl DoubleEndedIterator<Item = Circle> {
        (0..CIRCLES as u8).map(Circle)
    }
}

impl fmt::Display for Circle {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let column = b'A' + self.column() as u8;
        write!(out, "{}{}", char::from(column), self.row() + 1)
    }
}

impl FromStr for Circle {
    type Err = &'static str;

    /// Reads `C2` or `c2`.
    fn from_str(text: &str) -> Result<Circle, &'static str> {
        const LAST: u8 = SIDE as u8 - 1;
        let place = |&[column, row]: &[u8; 2]| (column.to_ascii_uppercase().wrapping_sub(b'A'), row.wrapping_sub(b'1'));
        match text.as_bytes().as_array().map(place) {
            Some((column @ ..=LAST, row @ ..=LAST)) => Ok(Circle(row * SIDE as u8 + column)),
            _ => Err("not a circle (A1 to E5)"),
        }
    }
}

/// A set of circles; bit `i` is circle `i`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Circles(pub u32);

impl Circles {
    /// The empty set.
    pub const NONE: Circles = Circles(0);

    /// All 25 circles.
    pub const ALL: Circles = Circles((1 << CIRCLES) - 1);

    /// The row index of a player's home row.
    #[inline]
    pub(crate) const fn home_row_of(player: Player) -> usize {
        match player {
            Player::White => 0,
            Player::Black => SIDE - 1,
        }
    }

    /// A player's home row, where the pieces start.
    #[inline]
    pub const fn home(player: Player) -> Circles {
        Circles(0b11111 << (SIDE * Circles::home_row_of(player)))
    }

    /// A player's goal row: the opponent's home row.
    #[inline]
    pub const fn goal(player: Player) -> Circles {
        Circles::home(match player {
            Player::White => Player::Black,
            Player::Black => Player::White,
        })
    }

    /// The circles of one row as five bits; column A is the lowest.
    #[inline]
    pub const fn row(self, row: usize) -> usize {
        (self.0 >> (SIDE * row)) as usize & 0b11111
    }

    /// Whether the circle is in the set.
    #[inline]
    pub const fn contains(self, circle: Circle) -> bool {
        self.0 >> circle.0 & 1 == 1
    }

    /// Whether the set is empty.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The number of circles in the set.
    #[inline]
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// A set of only the lowest circle. In a row, column A is the lowest.
    #[inline]
    pub const fn lowest(self) -> Circles {
        Circles(self.0 & self.0.wrapping_neg())
    }

    /// The circles of the set, lowest first.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = Circle> {
        bits(self.0.into()).map(|circle| Circle(circle as u8))
    }
}

impl From<Circle> for Circles {
    #[inline]
    fn from(circle: Circle) -> Circles {
        Circles(1 << circle.0)
    }
}

impl BitAnd for Circles {
    type Output = Circles;
    #[inline]
    fn bitand(self, other: Circles) -> Circles {
        Circles(self.0 & other.0)
    }
}

impl BitOr for Circles {
    type Output = Circles;
    #[inline]
    fn bitor(self, other: Circles) -> Circles {
        Circles(self.0 | other.0)
    }
}

impl BitOrAssign for Circles {
    #[inline]
    fn bitor_assign(&mut self, other: Circles) {
        self.0 |= other.0;
    }
}

impl BitXorAssign for Circles {
    #[inline]
    fn bitxor_assign(&mut self, other: Circles) {
        self.0 ^= other.0;
    }
}

impl Not for Circles {
    type Output = Circles;

    /// The circles not in the set.
    #[inline]
    fn not(self) -> Circles {
        Circles(!self.0 & Circles::ALL.0)
    }
}
