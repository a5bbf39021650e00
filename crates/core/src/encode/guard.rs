//! The inputs for guard: 4 board planes and 3 planes of numbers. What guard shares with jarmo is in `board`.

use super::board::BoardFeatures;
use super::set_count;
use crate::game::Player;
use crate::games::GuardPosition;
use crate::games::board::{Board, PIECES};
use crate::games::guard::Turn;

// Cells of the planes of numbers. Cell 0 says whether White is to move.
const MOVED: usize = 1;
const PASSED: usize = MOVED + 1; // two cells: the last turn, or the last two, were only a pass
const CAPTURED: usize = PASSED + 2;
const PLACEMENTS: usize = CAPTURED + 2 * PIECES as usize;

impl BoardFeatures for Turn {
    const PLANES: &'static [&'static str] = &["pieces", "guards"];
    const NUMBER_PLANES: usize = 3;
    const NUMBER_CELLS: usize = PLACEMENTS + 2 * PIECES as usize;

    #[inline]
    fn of_player(_: &Board, position: &GuardPosition, player: Player, set: &mut impl FnMut(usize)) {
        let own = Turn::NUMBERS + PIECES as usize * player.index();
        set_count(own + CAPTURED, position.captured_archers(player), set);
        set_count(own + PLACEMENTS, position.placements(player), set);
    }

    #[inline]
    fn of_turn(position: &GuardPosition, set: &mut impl FnMut(usize)) {
        if position.moved() {
            set(Turn::NUMBERS + MOVED);
        }
        set_count(Turn::NUMBERS + PASSED, position.passes(), set);
    }
}
