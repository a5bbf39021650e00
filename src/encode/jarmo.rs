//! Jarmo's features: 8 board planes and 2 planes of numbers, 25 cells each.
//!
//! The web has no symmetry, so nothing is turned for Black: planes are White's and Black's, and a
//! feature says who is to move.

use super::{Encode, set_bits, set_plies_left};
use crate::game::{Game, Player};
use crate::games::jarmo::Shuttle;
use crate::games::web::{CIRCLES, SIDE, WebAction};
use crate::games::{Jarmo, JarmoPosition};

const BOARD_PLANES: usize = 8; // per player: archers, marked, last move's source and target
const NUMBERS: usize = BOARD_PLANES * CIRCLES; // where the planes of numbers start

// Cells in the first plane of numbers.
const TO_MOVE: usize = NUMBERS; // Black, White
const STREAK: usize = TO_MOVE + 2; // per player: 1, 2, 3, 4 in a row, or a pass
const FINE: usize = STREAK + 2 * 5; // plies left modulo 8
const FIRST_END: usize = FINE + 8;
const _: () = assert!(FIRST_END <= NUMBERS + CIRCLES);

const COARSE: usize = NUMBERS + CIRCLES; // plies left in steps of 8, from 0 to 199

impl Encode for Jarmo {
    fn planes(&self) -> usize {
        BOARD_PLANES + 2
    }

    fn board_planes(&self) -> usize {
        BOARD_PLANES
    }

    fn grid(&self) -> (usize, usize) {
        (SIDE, SIDE)
    }

    #[inline]
    fn features(&self, position: &JarmoPosition, mut set: impl FnMut(usize)) {
        for player in Player::BOTH {
            let index = player.index();
            let planes = 4 * index * CIRCLES;
            let archers = position.archers(player);
            set_bits(planes, archers.0.into(), &mut set);
            let marked = archers & position.marked();
            set_bits(planes + CIRCLES, marked.0.into(), &mut set);
            let shuttle = position.shuttle(player);
            let streak = STREAK + 5 * index;
            if let Some((action, count)) = shuttle.last_move() {
                if let WebAction::Move { from, to } = self.web().decode(action) {
                    set(planes + 2 * CIRCLES + from.index());
                    set(planes + 3 * CIRCLES + to.index());
                }
                set(streak + usize::from(count) - 1);
            } else if shuttle == Shuttle::PASS {
                set(streak + 4);
            }
        }
        set(TO_MOVE + usize::from(position.to_move() == Player::White));
        let left =
            (self.max_plies() > 0).then(|| self.max_plies().saturating_sub(self.ply(position)));
        set_plies_left(left, COARSE, CIRCLES, FINE, &mut set);
    }
}
