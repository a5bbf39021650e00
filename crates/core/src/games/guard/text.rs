//! Position text of guard: board, to move, start or moved, captured archers, placements, passes, ply.

use super::{Guard, GuardPosition, PASSES_TO_END, PIECES};
use crate::game::{Mask, Player, PositionError, Wording, parse_board, write_board};
use crate::games::board::{BOARD_FIELD, Circle, collect_pieces, piece_letter};
use crate::games::reasons::{MOVE_IS_NO_PASS, TOO_MANY_CAPTURED, TOO_MANY_PIECES, TOO_MANY_PLACEMENTS, TURN_IS_OVER};
use crate::games::text::{fields, parse_number, parse_player};

const FIELDS: [&str; 7] =
    ["board", "to move", "start/moved", "captured archers", "placements in hand", "passes", "ply"];

pub(super) fn write(position: &GuardPosition) -> String {
    let board = write_board(BOARD_FIELD, |place| piece_letter(position.pieces, position.guards, Circle::at(place)));
    let [captured_white, captured_black] = position.captured_archers;
    let [placements_white, placements_black] = position.placements;
    format!(
        "{board} {} {} {captured_white},{captured_black} {placements_white},{placements_black} {} {}",
        position.to_move.letter(),
        if position.moved { "moved" } else { "start" },
        position.passes,
        position.ply
    )
}

pub(super) fn parse(game: &Guard, text: &str) -> Result<GuardPosition, PositionError> {
    let [board, to_move, phase, captured, placements, passes, ply] = fields(text, &FIELDS)?;
    let (pieces, guards) = collect_pieces(&parse_board(BOARD_FIELD, board)?);
    let position = GuardPosition {
        pieces,
        guards,
        to_move: parse_player(to_move)?,
        moved: match phase {
            "start" => false,
            "moved" => true,
            _ => {
                return Err(PositionError::new(FIELDS[2], phase, "expected `start` or `moved`"));
            }
        },
        captured_archers: parse_pair(FIELDS[3], captured)?,
        placements: parse_pair(FIELDS[4], placements)?,
        passes: parse_number("passes", passes)?
            .try_into()
            .ok()
            .filter(|&passes| passes <= PASSES_TO_END)
            .ok_or_else(|| PositionError::new("passes", passes, "expected at most 2, where the game ends"))?,
        ply: parse_number("ply", ply)?,
    };
    for player in Player::BOTH {
        let on_board = position.pieces(player).count();
        let reason = |wording: Wording| wording.reason().player(player).with("n", on_board);
        if on_board > PIECES {
            return Err(PositionError::rule("board", board, reason(TOO_MANY_PIECES).with("most", PIECES)));
        }
        if on_board + position.captured_archers(player) > PIECES {
            let reason = reason(TOO_MANY_CAPTURED).with("most", PIECES - on_board);
            return Err(PositionError::rule(FIELDS[3], captured, reason));
        }
        let max = position.max_placements(player);
        if position.placements(player) > max {
            let reason = reason(TOO_MANY_PLACEMENTS).with("most", max);
            return Err(PositionError::rule(FIELDS[4], placements, reason));
        }
    }
    if position.moved {
        if position.passes > 0 {
            return Err(PositionError::rule("passes", passes, MOVE_IS_NO_PASS.reason()));
        }
        if position.places().is_empty() && !game.moves(&position).is_empty() {
            return Err(PositionError::rule(FIELDS[2], phase, TURN_IS_OVER.reason()));
        }
    }
    Ok(position)
}

/// Reads the numbers of White and Black, such as `1,0`.
fn parse_pair(field: &'static str, text: &str) -> Result<[u8; 2], PositionError> {
    let number = |text: &str| text.parse::<u8>().ok().filter(|&number| u32::from(number) <= PIECES && text.len() == 1);
    text.split_once(',').and_then(|(white, black)| Some([number(white)?, number(black)?])).ok_or_else(|| {
        PositionError::new(field, text, format!("expected two numbers from 0 to {PIECES}, such as `1,0`"))
    })
}
