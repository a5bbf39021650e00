//! Move generation. A capture in progress must be continued; otherwise captures are compulsory; otherwise there are
//! quiet moves.

use super::squares::{DIAGONALS, DIRECTIONS, FAR_ROW, FORWARD, Square, squares};
use super::{TammiMask, TammiPosition};
use crate::game::Reason;
use crate::games::reasons::{
    BLOCKED, CAPTURE_UNDER_WAY, JUMPED_TWICE, KING_CAPTURES, MAN_BACKWARDS, MAN_FAR, MUST_CAPTURE, NO_PIECE, NOT_EMPTY,
    OTHER_CAPTURES,
};

/// The legal actions, apart from the rules that draw or truncate the game.
pub(super) fn legal(position: &TammiPosition) -> TammiMask {
    let mut legal = TammiMask::default();
    if let Some(jumper) = position.jumper() {
        add_captures(position, jumper, position.kings & jumper.bit() != 0, &mut legal);
        return legal;
    }
    let kings = position.own & position.kings;
    let men = position.own & !position.kings;
    let mut captures = false;
    for king in squares(kings) {
        captures |= add_captures(position, king, true, &mut legal);
    }
    if captures {
        return legal; // rule T3: if a king can capture, a king must
    }
    for man in squares(men & near_enemies(position)) {
        captures |= add_captures(position, man, false, &mut legal);
    }
    if captures {
        return legal;
    }
    let occupied = position.own | position.enemy;
    for king in squares(kings) {
        for direction in 0..DIRECTIONS {
            let free = free_run(king, direction, occupied);
            add_run(first_action(king, direction), free, &mut legal);
        }
    }
    for man in squares(men) {
        for direction in 0..FORWARD {
            let ray = DIAGONALS.ray[man.index()][direction];
            let next = ray & ray.wrapping_neg();
            let free = u32::from(next & !occupied != 0);
            add_run(first_action(man, direction), free, &mut legal);
        }
    }
    legal
}

/// Visits every board from which a move without a capture can lead to `after`, as own pieces, enemy pieces and kings.
/// All are from the point of view of the player who made the move.
#[inline]
pub(super) fn each_quiet_origin(after: [u32; 3], mut visit: impl FnMut([u32; 3])) {
    let [own, enemy, kings] = after;
    let occupied = own | enemy;
    for to in squares(own & kings) {
        for direction in 0..DIRECTIONS {
            let free = free_run(to, direction, occupied);
            let first = first_action(to, direction) as usize;
            for action in first..first + free as usize {
                let moved = to.bit() | DIAGONALS.ends[action].1.bit();
                visit([own ^ moved, enemy, kings ^ moved]);
            }
        }
    }
    // Men, and kings that the move has just crowned.
    let crowned = own & kings & FAR_ROW;
    for to in squares(own & !kings | crowned) {
        for direction in FORWARD..DIRECTIONS {
            let ray = DIAGONALS.ray[to.index()][direction];
            if let Some(from) = squares(ray).last().filter(|from| from.bit() & occupied == 0) {
                visit([own ^ to.bit() ^ from.bit(), enemy, kings & !to.bit()]);
            }
        }
    }
}

/// Whether the piece on `from` can capture a piece that it has not jumped yet.
pub(super) fn can_capture(position: &TammiPosition, from: Square, king: bool) -> bool {
    add_captures(position, from, king, &mut TammiMask::default())
}

/// Why a move along a diagonal is illegal; `between` has the squares between source and target.
pub(super) fn why_illegal(position: &TammiPosition, from: Square, to: Square, between: u32) -> Reason {
    let occupied = position.own | position.enemy;
    let mover = position.to_move;
    let [from_name, to_name] = [from, to].map(|square| square.seen_by(mover));
    let captured = between & position.enemy & !position.jumped;
    let king = position.kings & from.bit() != 0;
    if position.own & from.bit() == 0 {
        NO_PIECE.reason().player(mover).with("place", from_name)
    } else if position.jumper().is_some_and(|jumper| jumper != from) {
        OTHER_CAPTURES.reason().with("place", position.jumper().expect("just tested").seen_by(mover))
    } else if occupied & to.bit() != 0 {
        NOT_EMPTY.reason().with("place", to_name)
    } else if !king && to.index() < from.index() {
        MAN_BACKWARDS.reason()
    } else if between & position.jumped != 0 {
        JUMPED_TWICE.reason()
    } else if between & occupied & !captured != 0 || captured.count_ones() > 1 {
        BLOCKED.reason().with("from", from_name).with("to", to_name)
    } else if !king && between.count_ones() > captured.count_ones() {
        MAN_FAR.reason()
    } else if captured == 0 {
        if position.jumper().is_some() { CAPTURE_UNDER_WAY.reason() } else { MUST_CAPTURE.reason() }
    } else {
        KING_CAPTURES.reason()
    }
}

/// The squares from which an enemy piece may be one diagonal step ahead. Shifts wrap around at the edge, so the set
/// may be too large.
#[inline]
fn near_enemies(position: &TammiPosition) -> u32 {
    position.enemy >> 3 | position.enemy >> 4 | position.enemy >> 5
}

/// Adds the jumps of one piece, and returns whether there are any.
#[inline]
fn add_captures(position: &TammiPosition, from: Square, king: bool, legal: &mut TammiMask) -> bool {
    let occupied = position.own | position.enemy;
    let targets = position.enemy & !position.jumped;
    let mut any = false;
    for direction in 0..if king { DIRECTIONS } else { FORWARD } {
        let Some(victim) = DIAGONALS.nearest(from, direction, occupied) else { continue };
        let distance = from.row().abs_diff(victim.row());
        if victim.bit() & targets == 0 || (!king && distance > 1) {
            continue;
        }
        let landings = free_run(victim, direction, occupied);
        let landings = if king { landings } else { landings.min(1) };
        add_run(first_action(from, direction) + distance as u32, landings, legal);
        any |= landings > 0;
    }
    any
}

/// The number of empty squares beyond `from` up to the first piece or the edge.
#[inline]
fn free_run(from: Square, direction: usize, occupied: u32) -> u32 {
    match DIAGONALS.nearest(from, direction, occupied) {
        None => DIAGONALS.ray[from.index()][direction].count_ones(),
        Some(blocker) => from.row().abs_diff(blocker.row()) as u32 - 1,
    }
}

#[inline]
fn first_action(from: Square, direction: usize) -> u32 {
    DIAGONALS.first_action[from.index()][direction].into()
}

/// Adds `count` consecutive actions, at most seven.
#[inline]
fn add_run(first: u32, count: u32, legal: &mut TammiMask) {
    let run = ((1_u128 << count) - 1) << (first % 64);
    let word = (first / 64) as usize;
    legal.0[word] |= run as u64;
    // Only the last word has no next one, and all runs in it end there.
    if let Some(next) = legal.0.get_mut(word + 1) {
        *next |= (run >> 64) as u64;
    }
}
