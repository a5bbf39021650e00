//! Features of guard: 4 board planes and 3 planes of numbers, 25 cells each. As in jarmo, planes belong to
//! White and Black, not to the mover. Threats are those of `board`.

use super::{Encode, PLIES_LEFT_CELLS, board, set_bits, set_count, set_plies_left};
use crate::game::Player;
use crate::games::board::{CIRCLES, SIDE};
use crate::games::guard::PIECES;
use crate::games::{Guard, GuardPosition};

/// Per player: pieces, guards.
const BOARD_PLANES: usize = 2 * 2;

const NUMBER_PLANES: usize = 3;

const WHITE_MOVES: usize = BOARD_PLANES * CIRCLES;
const MOVED: usize = WHITE_MOVES + 1;
const PASSED: usize = MOVED + 1; // two cells: 1 or 2 turns in a row were only a pass
const CAPTURED: usize = PASSED + 2;
const PLACEMENTS: usize = CAPTURED + 2 * PIECES as usize;
const PLIES_LEFT: usize = PLACEMENTS + 2 * PIECES as usize;
const END: usize = PLIES_LEFT + PLIES_LEFT_CELLS;
const _: () = assert!(END <= (BOARD_PLANES + NUMBER_PLANES) * CIRCLES);

impl Encode for Guard {
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
        board::plane_names(self.board(), ["pieces", "guards"], self.planes())
    }

    fn grid(&self) -> (usize, usize) {
        (SIDE, SIDE)
    }

    #[inline]
    fn features(&self, position: &GuardPosition, mut set: impl FnMut(usize)) {
        for player in Player::BOTH {
            let index = player.index();
            let planes = index * BOARD_PLANES / 2 * CIRCLES;
            let pieces = position.pieces(player);
            let guards = pieces & position.guards();
            set_bits(planes, pieces.0.into(), &mut set);
            set_bits(planes + CIRCLES, guards.0.into(), &mut set);
            let own = PIECES as usize * index;
            set_count(CAPTURED + own, position.captured_archers(player), &mut set);
            set_count(PLACEMENTS + own, position.placements(player), &mut set);
        }
        if position.to_move() == Player::White {
            set(WHITE_MOVES);
        }
        if position.moved() {
            set(MOVED);
        }
        set_count(PASSED, position.passes(), &mut set);
        set_plies_left(self, position, PLIES_LEFT, &mut set);
    }

    fn seen_by(&self, position: &GuardPosition, viewer: Player) -> GuardPosition {
        position.seen_by(viewer)
    }

    fn threat_planes(&self) -> usize {
        board::threat_planes(self.board())
    }

    #[inline]
    fn threats(&self, position: &GuardPosition, set: impl FnMut(usize)) {
        let pieces = Player::BOTH.map(|player| position.pieces(player));
        board::threats(self.board(), pieces, position.guards(), position.to_move(), set);
    }
}
