//! What a network sees: the discs of the player to move and of the opponent, and the squares where each can move. With
//! a limit on the length of a game, a third plane of features holds the plies that are left.

use jarmo::encode::{Encode, Mirror, set_bits, set_plies_left};
use jarmo::game::Player;

use super::{Othello, OthelloPosition, PASS, SQUARES, moves};

const BOARD_PLANES: usize = 2;

impl Encode for Othello {
    fn planes(&self) -> usize {
        BOARD_PLANES + usize::from(self.max_plies > 0)
    }

    fn board_planes(&self) -> usize {
        BOARD_PLANES
    }

    fn grid(&self) -> (usize, usize) {
        (8, 8)
    }

    fn features(&self, position: &OthelloPosition, mut set: impl FnMut(usize)) {
        let [own, other] = position.sides();
        set_bits(0, own, &mut set);
        set_bits(SQUARES, other, &mut set);
        set_plies_left(self, position, BOARD_PLANES * SQUARES, &mut set);
    }

    fn seen_by(&self, position: &OthelloPosition, viewer: Player) -> OthelloPosition {
        OthelloPosition { to_move: viewer, ..*position }
    }

    fn threat_planes(&self) -> usize {
        2
    }

    fn threats(&self, position: &OthelloPosition, mut set: impl FnMut(usize)) {
        let [own, other] = position.sides();
        set_bits(0, moves(own, other), &mut set);
        set_bits(SQUARES, moves(other, own), &mut set);
    }

    /// Rows and columns exchanged; the start is its own image.
    fn mirror(&self) -> Option<Mirror> {
        let image = |square: usize| (square % 8 * 8 + square / 8) as u16;
        let limit = BOARD_PLANES * SQUARES..self.feature_count(); // numbers have no mirror image
        let input = |index: usize| match limit.contains(&index) {
            true => index as u16,
            false => (index - index % SQUARES) as u16 + image(index % SQUARES),
        };
        Some(Mirror {
            inputs: (0..self.input_count()).map(input).collect(),
            actions: (0..SQUARES).map(image).chain([PASS.0]).collect(),
        })
    }
}
