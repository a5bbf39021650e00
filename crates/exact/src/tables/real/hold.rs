//! One byte for a placement with the bound side to move: how far that side holds.

use jarmo_core::games::jarmo::SHUTTLE_LIMIT;

/// Whether the bound side holds a placement with that side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// Not known to hold.
    No,
    /// Holds, whatever the bound side did before.
    Yes,
    /// A single action holds, and it is a move. The side holds unless its last move was the reverse of this
    /// move, with at least this streak.
    Unless {
        /// The number of the move among the moves of the side, by circle of origin, then by target.
        index: u8,
        /// 1 to 4.
        streak: u8,
    },
}

const NO: u8 = 0;
const YES: u8 = 1;
const UNLESS: u8 = 2;

/// Set in the byte of a placement that has to be evaluated again.
pub const WAITING: u8 = 0x80;

/// The most moves of a side that fit into the byte.
pub const MOST_MOVES: usize = ((WAITING - UNLESS) / SHUTTLE_LIMIT) as usize;

impl Hold {
    /// Its byte.
    #[inline(always)]
    pub fn byte(self) -> u8 {
        match self {
            Hold::No => NO,
            Hold::Yes => YES,
            Hold::Unless { index, streak } => UNLESS + index * SHUTTLE_LIMIT + streak - 1,
        }
    }

    /// The meaning of a byte; [`WAITING`] does not count.
    #[inline(always)]
    pub fn of(byte: u8) -> Hold {
        match byte & !WAITING {
            NO => Hold::No,
            YES => Hold::Yes,
            unless => {
                Hold::Unless { index: (unless - UNLESS) / SHUTTLE_LIMIT, streak: (unless - UNLESS) % SHUTTLE_LIMIT + 1 }
            }
        }
    }
}
