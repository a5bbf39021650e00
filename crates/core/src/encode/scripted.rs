//! The inputs for a scripted game: the node. With a move limit, a second plane encodes the plies left. There are no
//! threats.

use super::{Encode, PLIES_LEFT_CELLS, set_plies_left};
use crate::game::{Game, Player};
use crate::games::{Scripted, ScriptedPosition};

impl Encode for Scripted {
    fn planes(&self) -> usize {
        self.board_planes() + usize::from(self.max_plies() > 0)
    }

    fn board_planes(&self) -> usize {
        1
    }

    fn grid(&self) -> (usize, usize) {
        (1, self.nodes().max(PLIES_LEFT_CELLS))
    }

    fn features(&self, position: &ScriptedPosition, mut set: impl FnMut(usize)) {
        set(position.node());
        set_plies_left(self, position, self.cells(), &mut set);
    }

    fn seen_by(&self, position: &ScriptedPosition, _: Player) -> ScriptedPosition {
        *position // the player to move follows from the node
    }
}
