//! The king moves since the last capture or move of a man. The repetition rule needs nothing else, because those two
//! cannot be undone.

use super::Square;

/// The largest limit of plies without a capture that can be set, and thus the length of the history.
pub const MAX_QUIET_LIMIT: u32 = 60;

/// The king moves since the last capture or move of a man, oldest first. Each is stored from the point of view of the
/// player who made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct KingMoves {
    moves: [(u8, u8); MAX_QUIET_LIMIT as usize], // zeros after the first `length`
    length: u8,
}

impl KingMoves {
    pub(super) const EMPTY: KingMoves = KingMoves { moves: [(0, 0); MAX_QUIET_LIMIT as usize], length: 0 };

    #[inline]
    pub(super) fn clear(&mut self) {
        self.moves[..usize::from(self.length)].fill((0, 0));
        self.length = 0;
    }

    /// Appends a move and returns how often the position after it has occurred before.
    ///
    /// Walking back in time, every move toggles its two squares in one player's set of kings. Whenever the toggles of
    /// both players cancel out, the position is the same as now.
    pub(super) fn push(&mut self, from: Square, to: Square) -> u8 {
        // There is room, because the game is over at the limit of plies without a capture.
        self.moves[usize::from(self.length)] = (from.0, to.0);
        self.length += 1;
        let mut toggled = [0_u32; 2]; // of the player who has just moved, and of the opponent
        let mut repeats = 0;
        for (age, &(from, to)) in self.moves[..usize::from(self.length)].iter().rev().enumerate() {
            toggled[age % 2] ^= 1 << from ^ 1 << to;
            repeats += u8::from(age % 2 == 1 && toggled == [0; 2]);
        }
        repeats
    }
}
