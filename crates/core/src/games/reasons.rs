//! The English texts of the reasons why an action or a position is illegal. `play` has tables for other languages
//! with the same keys.

use crate::game::Wording;

macro_rules! wordings {
    ($($name:ident = $key:literal, $english:literal;)*) => {
        $(pub(crate) const $name: Wording = Wording { key: $key, english: $english };)*

        /// The texts of all games in this crate.
        pub const ALL: &[Wording] = &[$($name),*];
    };
}

wordings! {
    // Every game.
    GAME_OVER = "game_over", "the game is over";

    // Jarmo and guard.
    NO_PIECE = "no_piece", "{player} has no piece on {place}";
    AT_GOAL = "at_goal", "the piece on {place} has reached its goal row and never moves again";
    OWN_PIECE = "own_piece", "{player} already has a piece on {place}";
    NO_LINE = "no_line", "no line leads from {from} to {to}";
    NOTHING_TO_CAPTURE = "nothing_to_capture", "there is nothing to capture on {place}; write {move}";
    SHUTTLE = "shuttle", "no endless shuttling: {player} has moved back and forth between {from} and {to} twice and must play another move first";
    NONE_CAPTURED = "none_captured", "{player} has no captured archer";
    NO_ARCHER_CAPTURED = "no_archer_captured", "{player} has no captured archer (captured guards do not return)";
    NO_MARKED_ARCHER = "no_marked_archer", "{player} has no marked archer on the goal row";
    NO_PLACEMENT = "no_placement", "{player} has no placement in hand";
    NOT_EMPTY = "not_empty", "{place} is not empty";
    HOME_ROW_ONLY = "home_row_only", "{player} brings archers back on row {row} only";
    PASS_LAST = "pass_last", "a pass is legal only when nothing else is";
    PASS_AFTER_MOVE = "pass_after_move", "a pass is legal only after the move of a turn, or when nothing else is";
    MOVE_MADE = "move_made", "the move of this turn has been played; bring back an archer or pass";
    NO_CIRCLE = "no_circle", "`{text}` is not a circle (A1 to E5)";
    BOARD_SHAPE = "board_shape", "expected a move A1-C2, a capture A1xC2, @A1 or pass";

    // Tammi.
    OTHER_CAPTURES = "other_captures", "the piece on {place} must continue its capture";
    CAPTURE_UNDER_WAY = "capture_under_way", "the capture in progress must continue";
    MAN_BACKWARDS = "man_backwards", "a man neither moves nor captures backwards";
    JUMPED_TWICE = "jumped_twice", "a piece cannot be jumped twice, and jumped pieces stay on the board until the capture is over";
    BLOCKED = "blocked", "the path from {from} to {to} is blocked";
    MAN_FAR = "man_far", "a man moves one step or jumps over one enemy piece";
    MUST_CAPTURE = "must_capture", "a capture is possible, and capturing is compulsory";
    KING_CAPTURES = "king_captures", "a king can capture, and kings must capture before men";
    TAMMI_SHAPE = "tammi_shape", "expected a move c3-d4 or a jump c3xe5";
    TAMMI_SQUARES = "tammi_squares", "expected two dark squares, as in c3-d4";
    NO_DIAGONAL = "no_diagonal", "{from} and {to} are not on the same diagonal";
    JUMP = "jump", "this is a jump; write {move}";
    NO_ENEMY_BETWEEN = "no_enemy_between", "there is no enemy piece between {from} and {to}";

    // Connect four.
    COLUMN_FULL = "column_full", "column {column} is full";
    COLUMN_SHAPE = "column_shape", "expected a column, A to G";

    // Positions of jarmo and guard.
    TOO_MANY_ARCHERS = "too_many_archers", "{player} has {n} archers, but can have at most {most}";
    TOO_MANY_MARKS = "too_many_marks", "{archers} archers and {marks} marks, but together there are at most {most}, because every mark costs an archer and brings back at most one";
    STREAK = "streak", "the streak is 1 to {most}";
    MOVED_FROM_GOAL = "moved_from_goal", "an archer on its goal row never moves again";
    TOO_MANY_PIECES = "too_many_pieces", "{player} has {n} pieces, but can have at most {most}";
    TOO_MANY_CAPTURED = "too_many_captured", "{player} has {n} pieces on the board and so at most {most} captured archers; with more the guard reserve would be below zero";
    TOO_MANY_PLACEMENTS = "too_many_placements", "{player} has at most {most} placements, one for each guard on the goal row or captured";
    MOVE_IS_NO_PASS = "move_is_no_pass", "expected 0 after `moved`, because a turn with a move is not a pass";
    TURN_IS_OVER = "turn_is_over", "no archer can be placed, so the turn ended with the move";

    // Positions of tammi.
    MAN_AT_END = "man_at_end", "the man on {place} is on its far row, where it would be a king";
    TOO_QUIET = "too_quiet", "expected at most {most}, because the limit is {limit}";
    NOT_THERE = "not_there", "{player} has no piece on {place}";
    CAPTURE_IS_OVER = "capture_is_over", "{place} cannot continue capturing, so the capture would be over";

    // Positions of connect four.
    STONE_ABOVE_GAP = "stone_above_gap", "column {column} has a stone above an empty circle";
    STONE_COUNTS = "stone_counts", "{white} stones of the first player and {black} of the second; the players alternate";
    ALREADY_FOUR = "already_four", "the player to move already has four in a line";
}
