//! The evaluation of connect four: circles that would complete four in a row, and stones in the middle columns.

use super::{HasHeuristic, Heuristic, word_key};
use crate::game::{Action, ActionMask, Game, Mask, Player};
use crate::games::connect_four::{BOTTOM, CIRCLES, COLUMNS, column_bits, winning};
use crate::games::{ConnectFour, ConnectFourPosition};

/// For an empty circle that would complete four in a row for a player.
const THREAT: i32 = 40;

/// In addition for such a circle in a row of the player's own parity, because White tends to fill the odd rows and
/// Black the even ones.
const OWN_PARITY: i32 = 25;

/// For a stone in the middle column, and for one in a column beside it.
const MIDDLE: [i32; 2] = [8, 4];

/// The first, third and fifth rows.
const ODD_ROWS: u64 = BOTTOM * 0b010101;

#[inline]
fn side(stones: u64, occupied: u64, own_rows: u64) -> i32 {
    let threats = winning(stones, occupied);
    let middle = COLUMNS / 2;
    let beside = column_bits(middle - 1) | column_bits(middle + 1);
    THREAT * threats.count_ones() as i32
        + OWN_PARITY * (threats & own_rows).count_ones() as i32
        + MIDDLE[0] * (stones & column_bits(middle)).count_ones() as i32
        + MIDDLE[1] * (stones & beside).count_ones() as i32
}

impl Heuristic<ConnectFour> for ConnectFour {
    #[inline]
    fn evaluate(&self, position: &ConnectFourPosition) -> i32 {
        let [white, black] = Player::BOTH.map(|player| position.stones(player));
        let occupied = white | black;
        let score = side(white, occupied, ODD_ROWS) - side(black, occupied, CIRCLES & !ODD_ROWS);
        match position.to_move() {
            Player::White => score,
            Player::Black => -score,
        }
    }

    /// Actions that complete four in a row, or take that circle from the opponent.
    #[inline]
    fn forcing(&self, position: &ConnectFourPosition, legal: &ActionMask<1>) -> ActionMask<1> {
        let [white, black] = Player::BOTH.map(|player| position.stones(player));
        let occupied = white | black;
        let playable = (occupied + BOTTOM) & CIRCLES;
        let hot = (winning(white, occupied) | winning(black, occupied)) & playable;
        let mut forcing = ActionMask::default();
        if hot != 0 {
            for action in legal.iter() {
                if hot & column_bits(action.index()) != 0 {
                    forcing.insert(action);
                }
            }
        }
        forcing
    }

    /// 1 for completing the player's own four, 0 for blocking the opponent's.
    #[inline]
    fn gain(&self, position: &ConnectFourPosition, action: Action) -> i32 {
        let own = position.stones(position.to_move());
        let occupied = own | position.stones(!position.to_move());
        let place = (occupied + BOTTOM) & column_bits(action.index());
        i32::from(winning(own, occupied) & place != 0)
    }

    #[inline]
    fn key(&self, position: &ConnectFourPosition) -> u64 {
        // The key needs no ply, because the ply is the number of stones.
        let [white, black] = Player::BOTH.map(|player| position.stones(player));
        word_key([white, black, self.max_plies().into()])
    }
}

impl HasHeuristic for ConnectFour {
    type Heuristic = ConnectFour;

    fn heuristic(&self) -> Option<ConnectFour> {
        Some(self.clone())
    }
}
