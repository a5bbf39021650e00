//! The text of tammi's positions and actions.

use super::squares::{DIAGONALS, FAR_ROW, squares};
use super::{PIECES, SIDE, Square, Tammi, TammiPosition, moves};
use crate::game::{Action, ActionError, BoardText, Player, PositionError, Reason, parse_board, shorten, write_board};
use crate::games::reasons::{
    CAPTURE_IS_OVER, JUMP, MAN_AT_END, NO_DIAGONAL, NO_ENEMY_BETWEEN, NOT_THERE, TAMMI_SHAPE, TAMMI_SQUARES,
    TOO_MANY_PIECES, TOO_QUIET,
};
use crate::games::text::{fields, parse_number, parse_player};

const FIELDS: [&str; 5] = ["board", "to move", "capture in progress", "plies without capture", "ply"];

const BOARD: BoardText = BoardText { columns: SIDE, rows: SIDE, letters: "wbWB" };

/// The letter of the piece on a square, from White's point of view.
pub(super) fn letter(position: &TammiPosition, square: Square) -> Option<char> {
    let player = Player::BOTH.into_iter().find(|&player| position.pieces(player) & square.bit() != 0)?;
    Some(player.piece_letter(position.kings(player) & square.bit() != 0))
}

pub(super) fn write(position: &TammiPosition) -> String {
    let board = write_board(BOARD, |place| letter(position, Square::on(place % SIDE, place / SIDE)?));
    let capture = position.capture().map_or("-".to_owned(), |(jumper, jumped)| {
        let mut names: Vec<String> = squares(jumped).map(|square| square.to_string()).collect();
        names.sort_unstable();
        format!("{jumper}x{}", names.join(","))
    });
    format!("{board} {} {capture} {} {}", position.to_move.letter(), position.quiet, position.ply)
}

pub(super) fn parse(game: &Tammi, text: &str) -> Result<TammiPosition, PositionError> {
    let [board, to_move, capture, quiet, ply] = fields(text, &FIELDS)?;
    let to_move = parse_player(to_move)?;
    let (pieces, kings) = parse_pieces(board)?;
    let mut position = TammiPosition {
        ply: parse_number("ply", ply)?,
        quiet: parse_quiet(game, capture, quiet)?,
        ..TammiPosition::of_mover_view([pieces[0], pieces[1], kings], Player::White)
    };
    if to_move == Player::Black {
        position.end_turn();
    }
    if capture != "-" {
        parse_capture(&mut position, capture)?;
    }
    Ok(position)
}

/// Reads the number of plies without a capture. It is at most the limit. During a capture it must be below the limit,
/// because the game would otherwise have ended before the capture.
fn parse_quiet(game: &Tammi, capture: &str, text: &str) -> Result<u8, PositionError> {
    let quiet = parse_number(FIELDS[3], text)?;
    let most = game.quiet_limit - u32::from(capture != "-");
    if quiet > most {
        let reason = TOO_QUIET.reason().with("most", most).with("limit", game.quiet_limit);
        return Err(PositionError::rule(FIELDS[3], text, reason));
    }
    Ok(quiet as u8)
}

/// The pieces of White, those of Black, and the kings of both, from White's point of view.
fn parse_pieces(board: &str) -> Result<([u32; 2], u32), PositionError> {
    let error = |problem: String| Err(PositionError::new("board", board, problem));
    let mut pieces = [0; 2];
    let mut kings = 0;
    for (place, letter) in parse_board(BOARD, board)? {
        let (column, row) = (place % SIDE, place / SIDE);
        let Some(square) = Square::on(column, row) else {
            let name = char::from(b'a' + column as u8);
            return error(format!("{name}{} is a light square", row + 1));
        };
        pieces[usize::from(letter.eq_ignore_ascii_case(&'b'))] |= square.bit();
        if letter.is_ascii_uppercase() {
            kings |= square.bit();
        }
    }
    for player in Player::BOTH {
        let own = pieces[player.index()];
        if own.count_ones() > PIECES {
            let reason = TOO_MANY_PIECES.reason().player(player).with("n", own.count_ones()).with("most", PIECES);
            return Err(PositionError::rule("board", board, reason));
        }
        let far_row = match player {
            Player::White => FAR_ROW,
            Player::Black => FAR_ROW.reverse_bits(),
        };
        if let Some(square) = squares(own & !kings & far_row).next() {
            return Err(PositionError::rule("board", board, MAN_AT_END.reason().with("place", square)));
        }
    }
    Ok((pieces, kings))
}

/// Reads a capture in progress, such as `e5xd4,f6`, into a position that is already from the mover's point of view.
fn parse_capture(position: &mut TammiPosition, text: &str) -> Result<(), PositionError> {
    let wrong = |problem: String| PositionError::new(FIELDS[2], text, problem);
    let broken = |reason: Reason| Err(PositionError::rule(FIELDS[2], text, reason));
    let mover = position.to_move;
    let read = |name: &str| {
        let square = name.parse::<Square>().map(|square| square.seen_by(mover));
        square.map_err(|problem| wrong(format!("`{}` is {problem}", shorten(name))))
    };
    let Some((jumper, jumped)) = text.split_once('x') else {
        return Err(wrong("expected `-`, or the capturing piece and the pieces it jumped, such as `e5xd4,f6`".into()));
    };
    let jumper_square = read(jumper)?;
    if position.own & jumper_square.bit() == 0 {
        return broken(NOT_THERE.reason().player(mover).with("place", jumper));
    }
    for name in jumped.split(',') {
        let square = read(name)?;
        if position.enemy & square.bit() == 0 {
            return broken(NOT_THERE.reason().player(!mover).with("place", name));
        }
        if position.jumped & square.bit() != 0 {
            return Err(wrong(format!("{name} is named twice")));
        }
        position.jumped |= square.bit();
    }
    position.jumper = jumper_square.0;
    let king = position.kings & jumper_square.bit() != 0;
    if !moves::can_capture(position, jumper_square, king) {
        return broken(CAPTURE_IS_OVER.reason().with("place", jumper));
    }
    Ok(())
}

pub(super) fn write_action(position: &TammiPosition, action: Action) -> String {
    let (from, to) = DIAGONALS.ends[action.index()];
    let captures = DIAGONALS.between[action.index()] & position.enemy != 0;
    let sign = if captures { 'x' } else { '-' };
    let [from, to] = [from, to].map(|square| square.seen_by(position.to_move));
    format!("{from}{sign}{to}")
}

pub(super) fn parse_action(position: &TammiPosition, text: &str) -> Result<Action, ActionError> {
    let error = |reason: Reason| Err(ActionError::new(text, reason));
    let parts = (text.len() == 5 && text.is_ascii()).then(|| (&text[..2], &text[2..3], &text[3..]));
    let Some((from_name, sign @ ("-" | "x"), to_name)) = parts else {
        return Err(ActionError::unreadable(text, TAMMI_SHAPE.reason()));
    };
    let (Ok(from), Ok(to)) = (from_name.parse::<Square>(), to_name.parse::<Square>()) else {
        return Err(ActionError::unreadable(text, TAMMI_SQUARES.reason()));
    };
    let [from, to] = [from, to].map(|square| square.seen_by(position.to_move));
    let Some(action) = DIAGONALS.action(from, to) else {
        return error(NO_DIAGONAL.reason().with("from", from_name).with("to", to_name));
    };
    let captures = DIAGONALS.between[action] & position.enemy != 0;
    match sign {
        "-" if captures => error(JUMP.reason().with("move", format_args!("{from_name}x{to_name}"))),
        "x" if !captures => error(NO_ENEMY_BETWEEN.reason().with("from", from_name).with("to", to_name)),
        _ => Ok(Action(action as u16)),
    }
}
