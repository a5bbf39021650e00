//! Position text of jarmo: board, to move, White's shuttle, Black's shuttle, ply.

use super::{ARCHERS, Jarmo, JarmoPosition, MOST_FORCE, SHUTTLE_LIMIT, Shuttle};
use crate::game::{Player, PositionError, Reason, parse_board, write_board};
use crate::games::board::{BOARD_FIELD, Circle, Circles, collect_pieces, piece_letter, split_move};
use crate::games::reasons::{MOVED_FROM_GOAL, NO_LINE, STREAK, TOO_MANY_ARCHERS, TOO_MANY_MARKS};
use crate::games::text::{fields, parse_number, parse_player};

const FIELDS: [&str; 5] = ["board", "to move", "white's shuttle", "black's shuttle", "ply"];

pub(super) fn write(game: &Jarmo, position: &JarmoPosition) -> String {
    let board = write_board(BOARD_FIELD, |place| piece_letter(position.archers, position.marked, Circle::at(place)));
    let [white, black] = position.shuttles.map(|shuttle| shuttle_text(game, shuttle));
    format!("{board} {} {white} {black} {}", position.to_move.letter(), position.ply)
}

pub(super) fn parse(game: &Jarmo, text: &str) -> Result<JarmoPosition, PositionError> {
    let [board, to_move, white, black, ply] = fields(text, &FIELDS)?;
    let (archers, marked) = collect_pieces(&parse_board(BOARD_FIELD, board)?);
    let position = JarmoPosition {
        archers,
        marked,
        to_move: parse_player(to_move)?,
        shuttles: [parse_shuttle(game, Player::White, white)?, parse_shuttle(game, Player::Black, black)?],
        ply: parse_number("ply", ply)?,
    };
    for player in Player::BOTH {
        let count = position.archers(player).count();
        if count > ARCHERS {
            let reason = TOO_MANY_ARCHERS.reason().player(player).with("n", count).with("most", ARCHERS);
            return Err(PositionError::rule("board", board, reason));
        }
    }
    if position.force() > MOST_FORCE {
        let marks = position.marked.count();
        let reason = TOO_MANY_MARKS
            .reason()
            .with("archers", position.force() - marks)
            .with("marks", marks)
            .with("most", MOST_FORCE);
        return Err(PositionError::rule("board", board, reason));
    }
    Ok(position)
}

fn shuttle_text(game: &Jarmo, shuttle: Shuttle) -> String {
    match shuttle.last_move() {
        Some((action, streak)) => {
            let text = game.board().action_text(Player::White, Circles::NONE, action);
            format!("{text}*{streak}")
        }
        None if shuttle == Shuttle::PASS => "pass".to_owned(),
        None => "-".to_owned(),
    }
}

fn parse_shuttle(game: &Jarmo, player: Player, text: &str) -> Result<Shuttle, PositionError> {
    let field = FIELDS[2 + player.index()];
    let broken = |reason: Reason| Err(PositionError::rule(field, text, reason));
    match text {
        "-" => return Ok(Shuttle::NONE),
        "pass" => return Ok(Shuttle::PASS),
        _ => {}
    }
    let parts = text.split_once('*').and_then(|(step, streak)| {
        let (from, sign, to) = split_move(step)?;
        let streak = parse_number(field, streak).ok()?;
        (sign == '-').then_some((from, to, streak))
    });
    let Some((from, to, streak)) = parts else {
        let problem = "expected `-`, `pass`, or a move and its streak, such as `A1-C2*3`";
        return Err(PositionError::new(field, text, problem));
    };
    let Some(action) = game.board().move_action(from, to) else {
        return broken(NO_LINE.reason().with("from", from).with("to", to));
    };
    if !(1..=u32::from(SHUTTLE_LIMIT)).contains(&streak) {
        return broken(STREAK.reason().with("most", SHUTTLE_LIMIT));
    }
    let goal = Circles::goal(player);
    if goal.contains(from) || (streak > 1 && goal.contains(to)) {
        return broken(MOVED_FROM_GOAL.reason());
    }
    Ok(Shuttle { last: action.0 as u8, streak: streak as u8 })
}
