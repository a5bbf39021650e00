//! The king moves since the last capture or man's move: all that the threefold rule needs.

use super::Square;

/// The largest limit on plies without a capture. The history is at most as long.
pub const MOST_QUIET_LIMIT: u32 = 60;

/// King moves since the last move that cannot be undone, oldest first, each as its mover saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct History {
    moves: [(u8, u8); MOST_QUIET_LIMIT as usize], // zeros after the first `length`
    length: u8,
}

impl History {
    pub(super) const EMPTY: History = History {
        moves: [(0, 0); MOST_QUIET_LIMIT as usize],
        length: 0,
    };

    #[inline]
    pub(super) fn clear(&mut self) {
        self.moves[..usize::from(self.length)].fill((0, 0));
        self.length = 0;
    }

    /// Appends a move and counts how often the position after it occurred before in this history.
    ///
    /// Going back, every move toggles its two squares in one player's set of kings; where both
    /// players' toggles cancel out, the position was the same.
    pub(super) fn push(&mut self, from: Square, to: Square) -> u8 {
        // There is room: no move follows when as many plies were quiet as the limit allows.
        self.moves[usize::from(self.length)] = (from.0, to.0);
        self.length += 1;
        let mut toggled = [0_u32; 2]; // of the player who just moved, of the other
        let mut repeats = 0;
        for (age, &(from, to)) in self.moves[..usize::from(self.length)]
            .iter()
            .rev()
            .enumerate()
        {
            toggled[age % 2] ^= 1 << from ^ 1 << to;
            repeats += u8::from(age % 2 == 1 && toggled == [0; 2]);
        }
        repeats
    }
}
