//! How the solver of the crate connect-four-ai reads positions.

use connect_four_ai::Position;
use jarmo_core::games::ConnectFourPosition;
use jarmo_core::games::connect_four::{COLUMNS, ROWS};

/// The position as the solver reads it: rows from the top, `x` for the player to move, `o` for the other.
pub fn board_of(position: &ConnectFourPosition) -> Position {
    let mut text = String::new();
    for row in (0..ROWS).rev() {
        for column in 0..COLUMNS {
            text.push(match position.at(column, row) {
                None => '.',
                Some(player) if player == position.to_move() => 'x',
                Some(_) => 'o',
            });
        }
        text.push('\n');
    }
    Position::from_board_string(&text).expect("a legal position")
}
