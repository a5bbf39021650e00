//! The inputs for jarmo: 8 board planes and 2 planes of numbers. What jarmo shares with guard is in `board`.

use super::board::BoardFeatures;
use super::set_count;
use crate::game::Player;
use crate::games::JarmoPosition;
use crate::games::board::{Board, BoardAction, CIRCLES};
use crate::games::jarmo::{ARCHERS, SHUTTLE_LIMIT, Shuttle, Shuttles};

// Cells of the planes of numbers. Cell 0 says whether White is to move.
const STREAK: usize = 1;
const STREAK_CELLS: usize = SHUTTLE_LIMIT as usize + 1; // the last cell encodes a pass
const CAPTURED: usize = STREAK + 2 * STREAK_CELLS;

impl BoardFeatures for Shuttles {
    const PLANES: &'static [&'static str] =
        &["archers", "marked archers", "source of the last move", "target of the last move"];
    const NUMBER_PLANES: usize = 2;
    const NUMBER_CELLS: usize = CAPTURED + 2 * ARCHERS as usize;

    #[inline]
    fn of_player(board: &Board, position: &JarmoPosition, player: Player, set: &mut impl FnMut(usize)) {
        let (planes, shuttle) = (Shuttles::planes_of(player), position.shuttle(player));
        let streak = Shuttles::NUMBERS + STREAK + STREAK_CELLS * player.index();
        if let Some((action, count)) = shuttle.last_move() {
            if let BoardAction::Move { from, to } = board.decode(action) {
                set(planes + 2 * CIRCLES + from.index());
                set(planes + 3 * CIRCLES + to.index());
            }
            set_count(streak, count.into(), set);
        } else if shuttle == Shuttle::PASS {
            set(streak + STREAK_CELLS - 1);
        }
        let captured = Shuttles::NUMBERS + CAPTURED + ARCHERS as usize * player.index();
        set_count(captured, position.captured(player), set);
    }
}
