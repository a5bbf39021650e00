//! Features of tammi: 6 board planes and 2 planes of numbers, 64 cells each, in the mover's view.
//!
//! Actions are in the mover's view too, so no feature says which player is to move. The threats are the
//! mover's actions, and those the opponent would have if it were the opponent's turn, each in the view of
//! its player.

use super::{Encode, NUMBERS, PLIES_LEFT_CELLS, named_planes, set_count, set_plies_left};
use crate::game::{Game, Mask, Player};
use crate::games::tammi::{MAX_QUIET_LIMIT, SIDE, Square};
use crate::games::{Tammi, TammiPosition};

/// Men and kings of the mover and the opponent, the capturing piece, jumped pieces.
const BOARD_PLANES: usize = 6;

const NUMBER_PLANES: usize = 2;
const CELLS: usize = SIDE * SIDE;

const REPEATS: usize = BOARD_PLANES * CELLS; // two cells: 1 or 2 earlier occurrences
const QUIET_LEFT: usize = REPEATS + 2;
const PLIES_LEFT: usize = QUIET_LEFT + MAX_QUIET_LIMIT as usize;
const END: usize = PLIES_LEFT + PLIES_LEFT_CELLS;
const _: () = assert!(END <= (BOARD_PLANES + NUMBER_PLANES) * CELLS);

impl Encode for Tammi {
    fn planes(&self) -> usize {
        BOARD_PLANES + NUMBER_PLANES
    }

    fn board_planes(&self) -> usize {
        BOARD_PLANES
    }

    fn plane_names(&self) -> Vec<String> {
        let boards = [
            "mover: men",
            "mover: kings",
            "opponent: men",
            "opponent: kings",
            "the piece that is capturing",
            "jumped pieces",
            NUMBERS,
        ];
        let mut names = named_planes(boards.map(str::to_owned), self.planes());
        let threats = "actions of the mover, then of the opponent, counted through the planes";
        names.extend(named_planes([threats.to_owned()], self.threat_planes()));
        names
    }

    fn grid(&self) -> (usize, usize) {
        (SIDE, SIDE)
    }

    #[inline]
    fn features(&self, position: &TammiPosition, mut set: impl FnMut(usize)) {
        let [own, enemy, kings, jumped] = position.mover_view();
        let jumper = position.jumper().map_or(0, |square| 1 << square.index());
        let planes = [own & !kings, own & kings, enemy & !kings, enemy & kings, jumper, jumped];
        for (plane, squares) in planes.into_iter().enumerate() {
            let mut left: u32 = squares;
            while left != 0 {
                let square = Square::at(left.trailing_zeros() as usize);
                set(plane * CELLS + SIDE * square.row() + square.column());
                left &= left - 1;
            }
        }
        set_count(REPEATS, position.repeats().min(2), &mut set);
        let quiet_left = self.quiet_limit().saturating_sub(position.quiet_plies());
        set_count(QUIET_LEFT, quiet_left, &mut set);
        set_plies_left(self, position, PLIES_LEFT, &mut set);
    }

    fn seen_by(&self, position: &TammiPosition, viewer: Player) -> TammiPosition {
        position.seen_by(viewer)
    }

    fn threat_planes(&self) -> usize {
        (2 * self.actions()).div_ceil(CELLS)
    }

    #[inline]
    fn threats(&self, position: &TammiPosition, mut set: impl FnMut(usize)) {
        for (player, actions) in position.possible_moves().into_iter().enumerate() {
            for action in actions.iter() {
                set(player * self.actions() + action.index());
            }
        }
    }
}
