//! Features of jarmo: 8 board planes and 2 planes of numbers, 25 cells each. Threats are those of `board`.
//!
//! The board has no symmetry, so it is not rotated for Black: planes belong to White and Black, and a
//! feature says who is to move.

use super::{Encode, PLIES_LEFT_CELLS, board, set_bits, set_count, set_plies_left};
use crate::game::Player;
use crate::games::board::{BoardAction, CIRCLES, SIDE};
use crate::games::jarmo::{ARCHERS, SHUTTLE_LIMIT, Shuttle};
use crate::games::{Jarmo, JarmoPosition};

/// Per player: archers, marked archers, source and target of the last move.
const BOARD_PLANES: usize = 2 * 4;

const NUMBER_PLANES: usize = 2;

const WHITE_MOVES: usize = BOARD_PLANES * CIRCLES;
const STREAK: usize = WHITE_MOVES + 1;
const STREAK_CELLS: usize = SHUTTLE_LIMIT as usize + 1; // the last cell encodes a pass
const CAPTURED: usize = STREAK + 2 * STREAK_CELLS;
const PLIES_LEFT: usize = CAPTURED + 2 * ARCHERS as usize;
const END: usize = PLIES_LEFT + PLIES_LEFT_CELLS;
const _: () = assert!(END <= (BOARD_PLANES + NUMBER_PLANES) * CIRCLES);

impl Encode for Jarmo {
    fn encoder_version(&self) -> u32 {
        3
    }

    fn planes(&self) -> usize {
        BOARD_PLANES + NUMBER_PLANES
    }

    fn board_planes(&self) -> usize {
        BOARD_PLANES
    }

    fn plane_names(&self) -> Vec<String> {
        let of_player = ["archers", "marked archers", "source of the last move", "target of the last move"];
        board::plane_names(self.board(), of_player, self.planes())
    }

    fn grid(&self) -> (usize, usize) {
        (SIDE, SIDE)
    }

    #[inline]
    fn features(&self, position: &JarmoPosition, mut set: impl FnMut(usize)) {
        for player in Player::BOTH {
            let index = player.index();
            let planes = index * BOARD_PLANES / 2 * CIRCLES;
            let archers = position.archers(player);
            let marked = archers & position.marked();
            set_bits(planes, archers.0.into(), &mut set);
            set_bits(planes + CIRCLES, marked.0.into(), &mut set);
            let shuttle = position.shuttle(player);
            let streak = STREAK + STREAK_CELLS * index;
            if let Some((action, count)) = shuttle.last_move() {
                if let BoardAction::Move { from, to } = self.board().decode(action) {
                    set(planes + 2 * CIRCLES + from.index());
                    set(planes + 3 * CIRCLES + to.index());
                }
                set_count(streak, count.into(), &mut set);
            } else if shuttle == Shuttle::PASS {
                set(streak + STREAK_CELLS - 1);
            }
            let captured = CAPTURED + ARCHERS as usize * index;
            set_count(captured, position.captured(player), &mut set);
        }
        if position.to_move() == Player::White {
            set(WHITE_MOVES);
        }
        set_plies_left(self, position, PLIES_LEFT, &mut set);
    }

    fn seen_by(&self, position: &JarmoPosition, viewer: Player) -> JarmoPosition {
        position.seen_by(viewer)
    }

    fn threat_planes(&self) -> usize {
        board::threat_planes(self.board())
    }

    #[inline]
    fn threats(&self, position: &JarmoPosition, set: impl FnMut(usize)) {
        let archers = Player::BOTH.map(|player| position.archers(player));
        board::threats(self.board(), archers, position.marked(), position.to_move(), set);
    }
}
