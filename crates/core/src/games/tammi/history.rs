//! The king moves since the last capture or man's move, which is all that the repetition rule needs.

use super::Square;

/// The largest possible limit on plies without a capture, and so the length of the history.
pub const MAX_QUIET_LIMIT: u32 = 60;

/// King moves since the last irreversible move, oldest first, each from its mover's point of view.
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
    /// Walking back, every move toggles its two squares in one player's set of kings. When the toggles of
    /// both players cancel out, the position was the same.
    pub(super) fn push(&mut self, from: Square, to: Square) -> u8 {
        // There is room: the game is over once the limit on quiet plies is reached.
        self.moves[usize::from(self.length)] = (from.0, to.0);
        self.length += 1;
        let mut toggled = [0_u32; 2]; // of the player who just moved, of the opponent
        let mut repeats = 0;
        for (age, &(from, to)) in self.moves[..usize::from(self.length)].iter().rev().enumerate() {
            toggled[age % 2] ^= 1 << from ^ 1 << to;
            repeats += u8::from(age % 2 == 1 && toggled == [0; 2]);
        }
        repeats
    }
}
