//! The inputs for tammi, from the mover's point of view: 6 board planes and 2 planes of numbers, with 64 cells each.
//!
//! Actions are from the mover's point of view, too, so no feature says which player is to move. There are three kinds
//! of threats. First, the mover's actions, and those that the opponent would have if it were the opponent's turn,
//! each from its player's point of view. Second, those of them after which the other player cannot capture. Third,
//! the control of each square: for a piece, what it is, whether it can move and whether it is attacked; for an empty
//! square, who can reach and who attacks it.

use super::{Encode, NUMBERS, PLIES_LEFT_CELLS, named_planes, set_count, set_plies_left};
use crate::game::{Mask, Player, bits};
use crate::games::tammi::{ACTIONS, Control, MAX_QUIET_LIMIT, SIDE, SQUARES, Square};
use crate::games::{Tammi, TammiPosition};

/// Men and kings of the mover, men and kings of the opponent, the piece that is capturing, jumped pieces.
const BOARD_PLANES: usize = 6;

const NUMBER_PLANES: usize = 2;
const CELLS: usize = SIDE * SIDE;

const REPEATS: usize = BOARD_PLANES * CELLS; // two cells: 1 or 2 earlier occurrences
const QUIET_LEFT: usize = REPEATS + 2;
const PLIES_LEFT: usize = QUIET_LEFT + MAX_QUIET_LIMIT as usize;
const END: usize = PLIES_LEFT + PLIES_LEFT_CELLS;
const FEATURES: usize = (BOARD_PLANES + NUMBER_PLANES) * CELLS;
const _: () = assert!(END <= FEATURES);

/// The first of the actions after which the other player cannot capture. The inputs before it are encoder version 2.
const SAFE: usize = (2 * ACTIONS).next_multiple_of(CELLS);

/// The first input for the control of squares.
const CONTROL: usize = SAFE + 2 * ACTIONS;

/// The number of states of an empty square: which players can reach it, and which attack it. State 0 sets no input.
const EMPTY: usize = 1 << 4;

/// The number of states of a player's piece: man or king, whether it can move, and whether it is attacked once, twice
/// or not.
const PIECE: usize = 2 * 2 * 3;

/// The number of states of a square.
const STATES: usize = EMPTY + 2 * PIECE;

const THREATS: usize = CONTROL + STATES * SQUARES;

impl Encode for Tammi {
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
        let planes = SAFE / CELLS;
        let actions = "inputs numbered across these planes: actions of the mover, then of the opponent";
        names.extend(named_planes([actions.to_owned()], planes));
        let rest = "inputs numbered across these planes: the actions after which the other player cannot capture, in \
                    the same order; then for each square its piece, whether it can move and is attacked, or who can \
                    reach and who attacks the empty square";
        names.extend(named_planes([rest.to_owned()], self.threat_planes() - planes));
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
            for square in bits(squares.into()).map(Square::at) {
                set(plane * CELLS + SIDE * square.row() + square.column());
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
        THREATS.div_ceil(CELLS)
    }

    #[inline]
    fn threats(&self, position: &TammiPosition, mut set: impl FnMut(usize)) {
        let moves = position.possible_moves();
        let safe = position.safe_moves(&moves);
        for (start, actions) in [0, ACTIONS, SAFE, SAFE + ACTIONS].into_iter().zip(moves.iter().chain(&safe)) {
            for action in actions.iter() {
                set(start + action.index());
            }
        }
        let [own, enemy, kings, _] = position.mover_view();
        let [ours, theirs] = position.control();
        for square in 0..SQUARES {
            let at = |set: u32| (set >> square & 1) as usize;
            let piece = |by: &Control, of: &Control| {
                6 * at(kings) + 3 * at(by.mobile) + at(of.attacked) + at(of.attacked_twice)
            };
            let state = if at(own) == 1 {
                EMPTY + piece(&ours, &theirs)
            } else if at(enemy) == 1 {
                EMPTY + PIECE + piece(&theirs, &ours)
            } else {
                at(ours.reached) + 2 * at(theirs.reached) + 4 * at(ours.attacked) + 8 * at(theirs.attacked)
            };
            if state > 0 {
                set(CONTROL + STATES * square + state);
            }
        }
    }
}
