//! The rules of connect four: seven columns, six rows, and four stones in a line win. The game is here to compare
//! this program with others.

use std::fmt;

use super::text::{fields, parse_number, parse_player};
use crate::game::{
    Action, ActionError, ActionMask, BoardText, Game, Mask, Outcome, Player, PositionError, Reason, parse_board,
    write_board,
};
use crate::games::reasons::{ALREADY_FOUR, COLUMN_FULL, COLUMN_SHAPE, GAME_OVER, STONE_ABOVE_GAP, STONE_COUNTS};

/// The number of columns.
pub const COLUMNS: usize = 7;

/// The number of rows.
pub const ROWS: usize = 6;

/// Bits per column: one for each row, and an empty one on top, so that lines do not continue in the next column.
pub(crate) const HEIGHT: usize = ROWS + 1;

/// The lowest circle of every column.
pub(crate) const BOTTOM: u64 = 0x0000_0408_1020_4081;

/// All circles.
pub(crate) const CIRCLES: u64 = BOTTOM * ((1 << ROWS) - 1);

/// The highest circle of every column.
const TOP: u64 = BOTTOM << (ROWS - 1);

const FIELDS: [&str; 3] = ["board", "to move", "ply"];

const BOARD: BoardText = BoardText { columns: COLUMNS, rows: ROWS, letters: "wb" };

/// The rules of connect four.
#[derive(Clone, Debug)]
pub struct ConnectFour {
    max_plies: u32,
}

/// A position of connect four. The circle in a column and row is bit `7 * column + row` of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConnectFourPosition {
    stones: [u64; 2],
    pub(crate) to_move: Player, // follows from the stones; stored so that they need not be counted
}

impl ConnectFourPosition {
    /// The player's stones; bit `7 * column + row` is a circle.
    #[inline]
    pub fn stones(&self, player: Player) -> u64 {
        self.stones[player.index()]
    }

    /// The player to move: White if both players have equally many stones.
    #[inline]
    pub fn to_move(&self) -> Player {
        self.to_move
    }

    #[inline]
    fn occupied(&self) -> u64 {
        self.stones[0] | self.stones[1]
    }

    #[inline]
    fn ply(&self) -> u32 {
        self.occupied().count_ones()
    }

    fn is_full(&self) -> bool {
        self.occupied() & TOP == TOP
    }

    /// The stones that belong to a line of four stones of one player; bit `7 * column + row` is a circle.
    pub fn fours(&self) -> u64 {
        let of = |stones: u64| {
            let line = |step: usize| {
                let pairs = stones & stones >> step;
                let first = pairs & pairs >> (2 * step);
                first | first << step | first << (2 * step) | first << (3 * step)
            };
            line(1) | line(HEIGHT - 1) | line(HEIGHT) | line(HEIGHT + 1)
        };
        of(self.stones[0]) | of(self.stones[1])
    }

    /// The player whose stone is in this circle.
    pub fn at(&self, column: usize, row: usize) -> Option<Player> {
        let bit = HEIGHT * column + row;
        Player::BOTH.into_iter().find(|player| self.stones(*player) >> bit & 1 == 1)
    }
}

impl ConnectFour {
    /// The rules. `max_plies` is the move limit (0 for none); no game has more than 42 plies.
    pub fn new(max_plies: u32) -> ConnectFour {
        ConnectFour { max_plies }
    }
}

/// Whether four of these stones stand in a line.
#[inline]
fn has_four(stones: u64) -> bool {
    let line = |step: usize| {
        let pairs = stones & stones >> step;
        pairs & pairs >> (2 * step)
    };
    line(1) | line(HEIGHT - 1) | line(HEIGHT) | line(HEIGHT + 1) != 0
}

/// The empty circles that complete a line of four for these stones.
#[inline]
pub(crate) fn winning(stones: u64, occupied: u64) -> u64 {
    // In a column, only the circle above three stones can complete four.
    let mut found = (stones << 1) & (stones << 2) & (stones << 3);
    for step in [HEIGHT - 1, HEIGHT, HEIGHT + 1] {
        let pair_above = (stones << step) & (stones << (2 * step));
        found |= pair_above & (stones << (3 * step));
        found |= pair_above & (stones >> step);
        let pair_below = (stones >> step) & (stones >> (2 * step));
        found |= pair_below & (stones >> (3 * step));
        found |= pair_below & (stones << step);
    }
    found & CIRCLES & !occupied
}

/// The circles of one column.
#[inline]
pub(crate) fn column_bits(column: usize) -> u64 {
    ((1 << ROWS) - 1) << (HEIGHT * column)
}

impl Game for ConnectFour {
    type Position = ConnectFourPosition;
    type Mask = ActionMask<1>;

    fn id(&self) -> &'static str {
        "connect_four"
    }

    fn actions(&self) -> usize {
        COLUMNS
    }

    #[inline]
    fn start(&self) -> ConnectFourPosition {
        ConnectFourPosition { stones: [0; 2], to_move: Player::White }
    }

    #[inline]
    fn to_move(&self, position: &ConnectFourPosition) -> Player {
        position.to_move()
    }

    #[inline]
    fn ply(&self, position: &ConnectFourPosition) -> u32 {
        position.ply()
    }

    fn max_plies(&self) -> u32 {
        self.max_plies
    }

    fn with_max_plies(self, max_plies: u32) -> ConnectFour {
        ConnectFour { max_plies }
    }

    #[inline]
    fn legal(&self, position: &ConnectFourPosition) -> ActionMask<1> {
        // Only the player who has just moved can have four in a line.
        let opponent = position.stones(!position.to_move());
        if has_four(opponent) | self.is_cut_off(position) {
            return ActionMask::default();
        }
        // Bit 7i is set if column i has room. The product moves bit 7i to bit 42 + i, and its terms do not overlap.
        let room = (!position.occupied() & TOP) >> (ROWS - 1);
        const GATHER: u64 = {
            let mut factor = 0;
            let mut column = 0;
            while column < COLUMNS {
                factor |= 1 << (42 - 6 * column);
                column += 1;
            }
            factor
        };
        ActionMask([room.wrapping_mul(GATHER) >> 42 & 0x7f])
    }

    #[inline]
    fn play(&self, position: &mut ConnectFourPosition, action: Action) {
        debug_assert!(self.legal(position).contains(action), "illegal action");
        let bottom = 1 << (HEIGHT * action.index());
        // Adding the column's bottom bit carries into its lowest empty circle.
        let place = (position.occupied() + bottom) & column_bits(action.index());
        position.stones[position.to_move.index()] |= place & !position.occupied();
        position.to_move = !position.to_move;
    }

    #[inline]
    fn outcome(&self, position: &ConnectFourPosition) -> Option<Outcome> {
        let last = !position.to_move();
        if has_four(position.stones(last)) {
            Some(Outcome::plain(Some(last)))
        } else if position.is_full() {
            Some(Outcome::plain(None))
        } else if self.is_cut_off(position) {
            Some(Outcome::truncated(None))
        } else {
            None
        }
    }

    fn why_illegal(&self, position: &ConnectFourPosition, action: Action) -> Reason {
        if self.outcome(position).is_some() {
            return GAME_OVER.reason();
        }
        let column = column_name(action.index());
        COLUMN_FULL.reason().with("column", column)
    }

    fn position_text(&self, position: &ConnectFourPosition) -> String {
        let board = write_board(BOARD, |place| position.at(place % COLUMNS, place / COLUMNS).map(Player::letter));
        format!("{board} {} {}", position.to_move().letter(), position.ply())
    }

    fn parse_position(&self, text: &str) -> Result<ConnectFourPosition, PositionError> {
        let [board, to_move, ply] = fields(text, &FIELDS)?;
        let mut position = self.start();
        for (place, letter) in parse_board(BOARD, board)? {
            let player = usize::from(letter == 'b');
            position.stones[player] |= 1 << (HEIGHT * (place % COLUMNS) + place / COLUMNS);
        }
        let broken = |reason: Reason| Err(PositionError::rule("board", board, reason));
        let occupied = position.occupied();
        for column in 0..COLUMNS {
            let stones = occupied & column_bits(column);
            let bottom = 1 << (HEIGHT * column);
            // Stones without gaps are a run of ones from the bottom, so adding the bottom bit clears them all.
            if (stones + bottom) & stones != 0 || (stones != 0 && stones & bottom == 0) {
                return broken(STONE_ABOVE_GAP.reason().with("column", column_name(column)));
            }
        }
        let counts = position.stones.map(u64::count_ones);
        if counts[0] != counts[1] && counts[0] != counts[1] + 1 {
            return broken(STONE_COUNTS.reason().with("white", counts[0]).with("black", counts[1]));
        }
        if counts[0] > counts[1] {
            position.to_move = Player::Black;
        }
        if has_four(position.stones(position.to_move())) {
            return broken(ALREADY_FOUR.reason());
        }
        if parse_player(to_move)? != position.to_move() {
            return Err(PositionError::new(
                "to move",
                to_move,
                format!("with these stones it is `{}`", position.to_move().letter()),
            ));
        }
        if parse_number("ply", ply)? != position.ply() {
            return Err(PositionError::new("ply", ply, format!("there are {} stones", position.ply())));
        }
        Ok(position)
    }

    fn action_text(&self, _: &ConnectFourPosition, action: Action) -> String {
        column_name(action.index()).to_string()
    }

    fn parse_action(&self, _: &ConnectFourPosition, text: &str) -> Result<Action, ActionError> {
        match text.as_bytes() {
            [letter] if matches!(letter.to_ascii_uppercase(), b'A'..=b'G') => {
                Ok(Action(u16::from(letter.to_ascii_uppercase() - b'A')))
            }
            _ => Err(ActionError::unreadable(text, COLUMN_SHAPE.reason())),
        }
    }

    fn draw(&self, position: &ConnectFourPosition, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in (0..ROWS).rev() {
            write!(out, "{} ", row + 1)?;
            for column in 0..COLUMNS {
                let letter = position.at(column, row).map_or('.', Player::letter);
                write!(out, " {letter}")?;
            }
            writeln!(out)?;
        }
        writeln!(out, "   A B C D E F G")?;
        writeln!(out, "{} to move, ply {}", position.to_move().name(), position.ply())
    }
}

fn column_name(column: usize) -> char {
    char::from(b'A' + column as u8)
}
